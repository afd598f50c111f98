"""A question added to a golden set, and told."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from pathlib import Path

from sqlwright.cli.terminal.console import Screen
from sqlwright.cli.terminal.text import clean, clean_block
from sqlwright.database import open_database
from sqlwright.evaluation.golden.adding import NewQuestion, add_question, stored_result
from sqlwright.evaluation.golden.traced import traced_question

ALONE = "it followed other questions; a golden set keeps it alone, so say all that it means"


def add_traced(screen: Screen, file: Path, trace: Path, *, sql: str, with_result: bool) -> None:
    """Add the question of a trace. Raises WorkspaceError, DatasetError, DatabaseUnavailable and
    UnsafeQuery."""
    found = traced_question(trace, sql)
    new = found.new
    if with_result:
        with closing(open_database(new.database)) as database:
            new = replace(new, expected=stored_result(database, new.sql))
    add_question(file, new)
    tell_added(screen, file, new, follows=found.follows)


def tell_added(screen: Screen, file: Path, new: NewQuestion, *, follows: bool) -> None:
    """Say what was added and where."""
    rows = "" if new.expected is None else f", with {len(new.expected.rows):,} rows"
    screen.note(f"added to {clean(str(file), 400)}{rows}: {clean(new.question, 400)}", style="")
    for line in clean_block(new.sql, 4_000).split("\n"):
        screen.note(f"  {line}")
    if follows:
        screen.note(ALONE, style="warning")
