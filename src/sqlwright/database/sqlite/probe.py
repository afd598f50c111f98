"""The guard tried on a database made for it: what `doctor` tells about this machine."""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlwright.database import open_database
from sqlwright.protocols import Limits, Run
from sqlwright.types import ExecutionResult

PROBES = (
    ("a write", "DELETE FROM t"),
    ("a write inside a WITH", "WITH x AS (SELECT 1) INSERT INTO t SELECT 2 FROM x"),
    ("a second statement", "SELECT 1; DROP TABLE t"),
    ("attaching a file", "ATTACH DATABASE 'other.db' AS other"),
    ("changing a setting", "PRAGMA writable_schema = ON"),
    ("loading code", "SELECT load_extension('evil')"),
    ("reading files", "SELECT readfile('/etc/passwd')"),
    ("copying itself out", "VACUUM INTO 'copy.db'"),
)
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
ENDLESS_SECONDS = 0.3
"""Seconds of the endless query: long enough to begin, short for who waits for the check."""


@dataclass(frozen=True, slots=True)
class Probe:
    """The result of the probe."""

    passed: tuple[str, ...]
    """Forbidden things that were let through."""
    changed: bool
    """True if a byte of the database's folder changed."""
    endless: ExecutionResult
    works: ExecutionResult
    """A query after the endless one."""
    confinement: Sequence[str]
    """Rights that the worker processes have given up, by name."""


def probe_guard() -> Probe:
    """Try what a guarded connection must refuse. Raises DatabaseUnavailable."""
    with tempfile.TemporaryDirectory(prefix="sqlwright-doctor-") as folder:
        path = Path(folder) / "probe.sqlite"
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.executescript("CREATE TABLE t(i); INSERT INTO t VALUES (1);")
        before = _digest(Path(folder))
        database = open_database(str(path))
        try:
            passed = [what for what, sql in PROBES if database.execute(sql, Run()).error is None]
            limits = Limits(seconds=ENDLESS_SECONDS)
            endless = database.execute(ENDLESS, Run(), limits=limits)
            works = database.execute("SELECT i FROM t", Run())
            holds = database.confinement
        finally:
            database.close()
        return Probe(tuple(passed), _digest(Path(folder)) != before, endless, works, holds)


def engine_version() -> str:
    """The version of SQLite that queries run on."""
    import apsw

    return str(apsw.sqlite_lib_version())


def _digest(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}
