"""Databases, read safely: `open_database` is the way in.

Generated SQL passes two independent layers. `sqlwright.sql.guard` reads the parse tree; the
connection (`connection.py`) can't write, reach outside its file or use more than it was allowed,
and lives in a process of its own (`worker.py`) that can be killed at any moment (`pool.py`).

Internal: may change without notice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from sqlwright.database.sqlite import SqliteDatabase

__all__ = ["open_database"]


def open_database(url_or_path: str, *, tables: Collection[str] | None = None) -> SqliteDatabase:
    """Open a SQLite file for reading, by bare path or `sqlite:///` URL.

    With `tables` it is as if there were no others. The worker process that will run generated SQL
    starts in the background. Raises DatabaseUnavailable, saying what is wrong with the file or URL
    and what to do about it, and ConfigError for tables that aren't there.
    """
    from sqlwright.database.address import parse_address
    from sqlwright.database.sqlite import SqliteDatabase

    return SqliteDatabase(parse_address(url_or_path), tables)
