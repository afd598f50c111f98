"""A SQLite file that can't be written through: schema, guarded queries, trusted reading."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from sqlwright.database.address import Address, file_of
from sqlwright.database.functions import no_functions
from sqlwright.database.guarded import (
    SCHEMA_SECONDS,
    GuardedDatabase,
    failed_result,
    no_such_table,
    result_of,
    stop_at,
)
from sqlwright.database.reader import DatabaseReader
from sqlwright.database.sqlite.failures import FAILURES, explain_failure, needs_copy
from sqlwright.database.sqlite.files import DatabaseFile, FileSource, Token, check_file
from sqlwright.database.sqlite.introspect import read_schema
from sqlwright.database.sqlite.pages import page_digests
from sqlwright.database.sqlite.stored import Stored, read_stored
from sqlwright.database.workers.pool import Pool
from sqlwright.database.workers.process import Stop, WorkerStopped
from sqlwright.errors import ConfigError, DatabaseUnavailable, UnsafeQuery
from sqlwright.protocols import Limits, Run
from sqlwright.schema import Schema, fold_name
from sqlwright.sql.guard import check_query
from sqlwright.sql.tokens import quote_name
from sqlwright.sql.tree import StopReading
from sqlwright.types import ErrorCause, ExecutionResult
from sqlwright.types.plans import QueryCost

_HINTS: Mapping[ErrorCause, str] = {
    "not_started": "Files are read by processes of their own, which that keeps from starting.",
    "locked": "Close the program that holds it, or try again in a moment.",
    "damaged": "If it is encrypted, decrypt a copy; else restore a backup, or try "
    "`sqlite3 FILE .recover`.",
    "slow": "It may have very many tables, all of which SQLite reads first, or views of views that "
    "multiply: ask a copy that has only what you need.",
}

OPEN_SECONDS = 3.0
"""The time that opening a file may take; waiting for another program's lock takes one."""
_PLAN_LIMITS = Limits(seconds=5.0, rows=20_000)
"""Nothing of a query runs when it is explained; compiling it is a matter of milliseconds."""
_DEEPEST = 10
"""Levels of a plan that are indented."""
_ATTEMPTS = 3
"""Attempts at most to run a query on a database that another program changes meanwhile."""


class SqliteDatabase(GuardedDatabase):
    """`protocols.Database` over one file. All methods may be called from any thread.

    The file is opened for a moment in this process too (`schema`, `reader`). POSIX drops all of a
    process's locks on a file when any descriptor of it is closed, so a program that writes the same
    file through another SQLite library should do that from another process, or not meanwhile.
    """

    estimates = False
    hints = _HINTS
    hint = "Check that the file and its folder may be read."

    def __init__(
        self, path: Path, tables: Collection[str] | None = None, pool: Pool | None = None
    ) -> None:
        """With `tables` nothing but these tables and views is known of or can be read; with `pool`
        its workers run the queries. Raises DatabaseUnavailable, and ConfigError for a table that
        isn't there and for a view that reads one that may not be read."""
        self._file = DatabaseFile(path)
        self._stored: tuple[Token, Stored] | None = None
        super().__init__(pool)
        try:
            with self.reader(seconds=SCHEMA_SECONDS) as connection:
                if tables is not None:
                    self._tables = self._named(tables, connection)
        except BaseException:
            self.close()
            raise

    @classmethod
    def at(
        cls,
        address: Address,
        tables: Collection[str] | None = None,
        functions: Collection[str] = (),
    ) -> SqliteDatabase:
        if functions:
            raise no_functions(str(file_of(address)), "a SQLite file holds no functions")
        return cls(file_of(address), tables)

    @classmethod
    def check_address(cls, address: Address) -> None:
        """Raise DatabaseUnavailable when the file can't be a readable SQLite database."""
        check_file(file_of(address))

    @property
    def dialect(self) -> str:
        return "sqlite"

    @property
    def path(self) -> Path:
        """The file, absolute."""
        return self._file.path

    @property
    def url(self) -> str:
        return f"sqlite:///{self._file.path}"

    @property
    def identity(self) -> str:
        return str(self._file.path.resolve())

    def schema(self, *, seconds: float = SCHEMA_SECONDS) -> Schema:
        """Tables, views, columns and declared keys, read afresh. Raises DatabaseUnavailable, also
        when that takes longer than so many seconds."""
        with (
            self.reader(seconds=min(seconds, SCHEMA_SECONDS)) as connection,
            self._reading_errors(),
        ):
            schema = read_schema(connection, self._file.path.stem, self._tables)
        return schema if self._tables is None else schema.only(self._tables)

    def cost(self, sql: str, run: Run) -> QueryCost:
        """The plan; SQLite estimates nothing."""
        outline = self._answer(sql, run, _PLAN_LIMITS, "EXPLAIN QUERY PLAN")
        if outline.error is not None:
            return QueryCost(error=outline.error)
        depth: dict[Any, int] = {}
        lines = []
        for number, parent, _, detail in outline.rows:
            depth[number] = depth.get(parent, -1) + 1
            lines.append("  " * min(depth[number], _DEEPEST) + str(detail))
        return QueryCost(outline=tuple(lines))

    def fingerprint(self) -> str:
        """Changes when the stored data may have changed; some microseconds."""
        with self._lock:
            parts = (*self._file.token(), self._file.change_counter())
        return "-".join(f"{part:x}" for part in parts)

    def size(self) -> int:
        """Bytes of the file."""
        return self._file.path.stat().st_size

    def table_marks(
        self, schema: Schema, stop: StopReading | None = None
    ) -> Mapping[str, str] | None:
        """Digests of the pages that hold each table."""
        with self.reader() as connection, self._reading_errors():
            return page_digests(self._file.path, schema, connection, stop or (lambda: None))

    def close(self) -> None:
        """End the worker processes and remove temporary copies. Safe to call twice."""
        if not self._closed:
            super().close()
            with self._lock:
                self._file.close()

    def _source(self) -> FileSource:
        with self._lock:
            return self._file.source()

    def _connect(self, seconds: float | None) -> DatabaseReader:
        source = self._source()
        try:
            return self._open_checked(source, seconds)
        except FAILURES as error:
            # SQLite tries for long to make sense of a log's index that is none.
            stuck = source.mode == "live" and explain_failure(error).kind == "interrupted"
            if source.mode == "copy" or not (stuck or needs_copy(error)):
                raise self._unavailable(explain_failure(error)) from error
        with self._lock:
            self._file.require_copy(source)
        with self._reading_errors():
            return self._open_checked(self._source(), seconds)

    def _open_checked(self, source: FileSource, seconds: float | None) -> DatabaseReader:
        reader = DatabaseReader(self._pool, self._request_of(source, Limits()), seconds)
        try:
            with reader.within(OPEN_SECONDS):
                list(reader.rows("SELECT count(*) FROM sqlite_schema"))
        except BaseException:
            reader.close()
            raise
        return reader

    def _check(self, sql: str, stop: StopReading | None) -> None:
        stored = self._stored_now()
        check_query(sql, self.dialect, views=stored.views, hidden=stored.hidden, stop=stop)

    def _before_check(self) -> None:
        self._stored_now()

    def _stored_now(self) -> Stored:
        with self._lock:
            token, known = self._file.token(), self._stored
        if known is not None and known[0] == token:
            return known[1]
        with self.reader(seconds=SCHEMA_SECONDS) as connection, self._reading_errors():
            stored = read_stored(connection, self._tables)
        with self._lock:
            if known is None or known[1] != stored:
                self._checked.clear()
            self._stored = (token, stored)
        return stored

    def _named(self, tables: Collection[str], connection: DatabaseReader) -> tuple[str, ...]:
        """Tables by their stored names. Raises ConfigError."""
        with self._reading_errors():
            everything = read_stored(connection, ())
        by_name = {fold_name(name): name for name in everything.names} | {
            name: name for name in everything.names
        }
        absent = [name for name in tables if name not in by_name and fold_name(name) not in by_name]
        if absent:
            raise no_such_table(absent[0], everything.names, str(self._file.path))
        named = tuple(dict.fromkeys(by_name.get(n) or by_name[fold_name(n)] for n in tables))
        self._require_own_data(named, connection)
        stored = everything.without(named)
        until = time.monotonic() + Limits().seconds
        for view in named:
            if view in stored.views:
                try:
                    check_query(f"SELECT * FROM {quote_name(view)}", views=stored.views,
                                hidden=stored.hidden, stop=stop_at(until))  # fmt: skip
                except WorkerStopped:
                    raise DatabaseUnavailable(
                        f"{self._file.path}: what the view {view} reads takes too long to check.",
                        hint="Leave the view out of the tables.",
                    ) from None
                except UnsafeQuery as error:
                    raise ConfigError(
                        f"the view {view} can't be among the tables: {error} among them",
                        hint="List what it reads, too, or leave the view out.",
                    ) from None
        return named

    def _require_own_data(self, named: Collection[str], connection: DatabaseReader) -> None:
        """Raise ConfigError for a virtual table that shows what other tables hold."""
        with self._reading_errors():
            shown = connection.shown(named)
        for name, others in shown.items():
            raise ConfigError(
                f"{name} can't be among the tables: it shows what {others[0]} holds",
                hint=f"List {others[0]}, too, or leave {name} out.",
            )

    def _request(self, limits: Limits) -> dict[str, Any]:
        return self._request_of(self._source(), limits)

    def _request_of(self, source: FileSource, limits: Limits) -> dict[str, Any]:
        # An immutable opening has to be renewed at every change. The others see changes themselves,
        # unless the file was overwritten by one with the same count of changes.
        renewed = source.mode in {"immutable", "copy"}
        return self._limited(limits) | {
            "place": source.place,
            "opening": {
                "uri": source.uri,
                "token": source.token if renewed else source.token[:3],
                "tables": None if self._tables is None else list(self._tables),
            },
            "holds_locks": source.mode == "live",
        }

    def _run(self, what: Mapping[str, str], limits: Limits, stop: Stop) -> ExecutionResult:
        for attempt in range(1, _ATTEMPTS + 1):
            source = self._source()
            request = self._request_of(source, limits) | dict(what)
            head, rows = self._pool.ask(request, stop)
            if attempt < _ATTEMPTS:
                if source.mode == "immutable" and self._file.token() != source.token:
                    continue  # written meanwhile, without a lock to prevent it
                if head.get("copy") and source.mode != "copy":
                    with self._lock:
                        self._file.require_copy(source)
                    continue
            return result_of(head, rows)
        return failed_result("unavailable", "the database is being changed all the time; try again")
