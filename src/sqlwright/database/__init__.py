"""Databases, read safely: `open_database` is the way in.

Generated SQL passes two independent layers. `sqlwright.sql.guard` reads the parse tree; the
connection (a folder for each engine) can't write, reach outside its database or use more than it
was allowed, and lives in a process of its own (`workers/worker.py`) that can be killed at any
moment (`workers/pool.py`).

Internal: may change without notice.
"""

from __future__ import annotations

import importlib
import re
from typing import TYPE_CHECKING

from sqlwright.errors import DatabaseUnavailable

if TYPE_CHECKING:
    from collections.abc import Collection

    from sqlwright.database.address import Address
    from sqlwright.database.guarded import GuardedDatabase
    from sqlwright.protocols import Run

__all__ = ["ENGINES", "check_address", "expected_dialect", "open_database"]

ENGINES = {
    "generic": "sqlwright.database.generic.database:SqlalchemyDatabase",
    "mysql": "sqlwright.database.mysql.database:MysqlDatabase",
    "postgres": "sqlwright.database.postgres.database:PostgresDatabase",
    "sqlite": "sqlwright.database.sqlite.database:SqliteDatabase",
    "duckdb": "sqlwright.database.duckdb.database:DuckdbDatabase",
    "files": "sqlwright.database.files.database:FilesDatabase",
}
"""Classes of databases by the name of their engine, loaded when one is opened."""


def expected_dialect(url_or_path: str) -> str:
    """The dialect of queries on a database that isn't open, as far as its address tells."""
    from sqlwright.database.address import parse_address

    address = parse_address(url_or_path)
    if address.engine == "generic":
        return re.split(r"[+:]", address.url, maxsplit=1)[0]
    return "duckdb" if address.engine == "files" else address.engine


def open_database(
    url_or_path: str,
    *,
    tables: Collection[str] | None = None,
    functions: Collection[str] = (),
    run: Run | None = None,
) -> GuardedDatabase:
    """Open a database for reading, by bare path or URL.

    With `tables` it is as if there were no others; `functions` of its own may be called. The
    worker process that will run generated SQL
    starts in the background. `run` bounds the time that looking through files takes. Raises
    DatabaseUnavailable, saying what is wrong with the file or URL and what to do about it,
    ConfigError for tables and functions that aren't there, and Cancelled.
    """
    from sqlwright.database.address import parse_address

    address = parse_address(url_or_path)
    opened = _engine(address).at(address, tables, functions)
    try:
        opened.begin(run)
    except BaseException:
        opened.close()
        raise
    return opened


def check_address(address: Address) -> None:
    """Raise DatabaseUnavailable when it is plain, without connecting, that nothing is there to be
    opened: no such file, a package that isn't installed."""
    _engine(address).check_address(address)


def _engine(address: Address) -> type[GuardedDatabase]:
    if address.engine not in ENGINES:
        kind = address.url.partition(":")[0] if address.path is None else address.engine
        raise DatabaseUnavailable(
            f"'{kind}' databases are not supported yet; SQLite files are.",
            hint="Give the path of a SQLite file, such as shop.db or sqlite:///data/shop.db.",
        )
    module, _, name = ENGINES[address.engine].partition(":")
    found: type[GuardedDatabase] = getattr(importlib.import_module(module), name)
    return found
