"""The traces of a run's questions: one file each, in a folder for each database."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

from sqlwright.boundary.home import make_private
from sqlwright.lab.evaluation.records import Record

FOLDER = "traces"

_ODD = re.compile(r"[^0-9A-Za-z_.-]|^\.")


def trace_path(folder: Path, record: Record) -> Path:
    """The place of the trace of a record's question, if it was kept."""
    return folder / FOLDER / _name(record.db_id) / f"{_name(record.id)}.jsonl"


def write_trace(folder: Path, record: Record, trace: str) -> None:
    """Keep a question's trace; it holds values of the database, so nobody else may read it."""
    path = trace_path(folder, record)
    make_private(path.parent)
    aside = path.with_name(path.name + ".part")
    handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(handle, "w", encoding="utf-8") as file:  # noqa: PTH123 - from a descriptor
        file.write(trace)
    aside.replace(path)


def _name(text: str) -> str:
    """A text as the name of a file; another one has another name."""
    plain = _ODD.sub("_", text)[:100]
    return plain if plain == text else f"{plain}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"
