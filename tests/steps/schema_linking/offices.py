"""A database of three tables that are too wide to be told whole, as tests of linking share it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlwright.llm.scripted import Script, ScriptedModel
from sqlwright.messages import Capabilities
from sqlwright.prepare import open_workspace, prepare
from sqlwright.protocols import Context, Run, Workspace
from tests.scripted import ScriptedLinker

SQL = """
CREATE TABLE offices (
  office_id INTEGER PRIMARY KEY, town TEXT, opened TEXT, area INTEGER, head TEXT, phone TEXT,
  floor INTEGER, rent REAL, state TEXT, remark TEXT
);
CREATE TABLE clerks (
  clerk_id INTEGER PRIMARY KEY, office_id INTEGER REFERENCES offices (office_id), name TEXT,
  born TEXT, pay REAL, grade TEXT, room TEXT, hired TEXT, left_on TEXT, remark TEXT
);
CREATE TABLE files (
  file_no TEXT PRIMARY KEY, clerk_id INTEGER REFERENCES clerks (clerk_id), subject TEXT,
  opened TEXT, closed TEXT, pages INTEGER, shelf TEXT, state TEXT, fee REAL, remark TEXT
);
INSERT INTO offices VALUES (1, 'Ulm', '2001-01-01', 90, 'Ada', '1', 1, 9.5, 'open', 'x'),
  (2, 'Hof', '2002-02-02', 80, 'Bo', '2', 2, 8.5, 'shut', 'y');
INSERT INTO clerks VALUES (1, 1, 'Ada', '1970-01-01', 10, 'A', 'r1', '2001-01-01', NULL, 'x'),
  (2, 2, 'Bo', '1971-01-01', 11, 'B', 'r2', '2002-01-01', '2020-01-01', 'y');
INSERT INTO files VALUES ('F1', 1, 'trees', '2003-01-01', NULL, 9, 's1', 'open', 1.5, 'x'),
  ('F2', 2, 'roads', '2004-01-01', '2005-01-01', 8, 's2', 'shut', 2.5, 'y');
"""


def made(folder: Path) -> Path:
    """The database's file."""
    path = folder / "offices.sqlite"
    with closing(sqlite3.connect(path)) as database:
        database.executescript(SQL)
        database.commit()
    return path


def opened(path: Path, *, prepared: bool = False) -> Workspace:
    """The workspace, prepared in a folder beside the database or in memory alone."""
    folder = path.parent / ("prepared" if prepared else "absent")
    if prepared and not folder.exists():
        prepare(str(path), folder=folder)
    return open_workspace(str(path), folder=folder)


def asking(
    workspace: Workspace,
    *replies: Any,
    tokens: int = 128_000,
    remote: bool = False,
    name: str = "scripted/model",
    run: Run | None = None,
) -> tuple[Context, Script]:
    """A context whose language model gives these replies in turn, and its script."""
    script = Script(otherwise=replies[0] if replies and callable(replies[0]) else list(replies))
    capabilities = Capabilities(remote=remote, context_tokens=tokens)
    model = ScriptedModel(script, name=name, capabilities=capabilities)
    models = {"llm": model, "linker": ScriptedLinker()}
    return Context(workspace, run or Run(seed=3), models), script
