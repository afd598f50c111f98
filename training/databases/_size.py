"""How large a database is."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Size:
    """Tables (views aside), their columns and rows, and references to rows that aren't there, by
    table."""

    tables: int
    columns: int
    rows: int
    broken: dict[str, int]


def size(path: Path) -> Size:
    """The size of a SQLite file."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        listed = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        tables = [name for (name,) in listed if not name.startswith("sqlite_")]
        columns = [len(connection.execute(f'SELECT * FROM "{t}"').description) for t in tables]
        rows = [connection.execute(f'SELECT COUNT(*) FROM "{t}"').fetchone()[0] for t in tables]
        broken = Counter(row[0] for row in connection.execute("PRAGMA foreign_key_check"))
    return Size(len(tables), sum(columns), sum(rows), dict(broken))
