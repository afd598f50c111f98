"""The only module that talks to the SQLite binding.

The binding is apsw rather than the standard library's sqlite3: it brings its own, current SQLite on
every platform, can set the switches SQLite's advice for untrusted SQL asks for on Python 3.11 too
(DEFENSIVE, TRUSTED_SCHEMA and the like), can cap SQLite's heap, and tells whether a statement is an
EXPLAIN or writes before it runs.

`GuardedConnection` is the first of the two layers that keep generated SQL harmless, and it holds on
its own: https://www.sqlite.org/security.html names most of what is set here.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import islice
from os.path import dirname
from typing import TYPE_CHECKING, Any

import apsw

from sqlwright.database.allowed import FUNCTIONS, SCHEMA_TABLES, TABLE_FUNCTIONS

if TYPE_CHECKING:
    from typing import Literal

    from sqlwright.types import Cell

    Row = tuple[Cell, ...]

BUSY_MILLISECONDS = 1_000
SQL_BYTES = 1_000_000
CELL_CEILING = 64 * 1024 * 1024
"""No text or blob larger than this is ever made; larger stored ones can't be read."""

_LIMITS = {
    apsw.SQLITE_LIMIT_LENGTH: CELL_CEILING,
    apsw.SQLITE_LIMIT_SQL_LENGTH: SQL_BYTES,
    apsw.SQLITE_LIMIT_COLUMN: 2_000,
    apsw.SQLITE_LIMIT_EXPR_DEPTH: 500,
    apsw.SQLITE_LIMIT_COMPOUND_SELECT: 100,
    apsw.SQLITE_LIMIT_VDBE_OP: 250_000,
    apsw.SQLITE_LIMIT_FUNCTION_ARG: 100,
    apsw.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 1_000,
    apsw.SQLITE_LIMIT_VARIABLE_NUMBER: 100,
    apsw.SQLITE_LIMIT_ATTACHED: 0,
    apsw.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
    apsw.SQLITE_LIMIT_WORKER_THREADS: 0,
}
_SWITCHES = {
    apsw.SQLITE_DBCONFIG_DEFENSIVE: 1,
    apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA: 0,
    apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER: 0,
    apsw.SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER: 0,
    apsw.SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION: 0,
    apsw.SQLITE_DBCONFIG_ENABLE_ATTACH_CREATE: 0,
    apsw.SQLITE_DBCONFIG_ENABLE_ATTACH_WRITE: 0,
    apsw.SQLITE_DBCONFIG_WRITABLE_SCHEMA: 0,
    # Many people, and many benchmark queries, write "Paris" where SQL wants 'Paris'.
    apsw.SQLITE_DBCONFIG_DQS_DML: 1,
    apsw.SQLITE_DBCONFIG_DQS_DDL: 1,
}


def _open(uri: str) -> apsw.Connection:
    # Without a cache of statements, each is prepared, and so authorized, every time it runs.
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    connection = apsw.Connection(uri, flags=flags, statementcachesize=0)
    for switch, value in _SWITCHES.items():
        connection.config(switch, value)
    connection.set_busy_timeout(BUSY_MILLISECONDS)
    connection.execute("PRAGMA query_only=ON")
    connection.execute("PRAGMA temp_store=MEMORY")
    connection.execute("PRAGMA cell_size_check=ON")
    # A mapped file reads a quarter faster, but a program that shortens it meanwhile would end this
    # process with a bus error. A larger cache than the usual 2 MB gets half of that back.
    connection.execute("PRAGMA mmap_size=0")
    connection.execute("PRAGMA cache_size=-16000")
    return connection


def _text(data: bytes) -> str:
    return data.decode("utf-8", errors="replace")


def _tolerant(sql: str, count: int) -> str:
    """The same query with texts and blobs as hexadecimal digits behind a mark.

    For results with text that isn't valid UTF-8, which the binding can't hand out.
    """
    body = sql.rstrip().rstrip(";")
    names = [f"c{i}" for i in range(count)]
    cells = ", ".join(
        f"CASE typeof({n}) WHEN 'text' THEN 't' || hex({n}) "
        f"WHEN 'blob' THEN 'b' || hex({n}) ELSE {n} END"
        for n in names
    )
    return f"WITH tolerant({', '.join(names)}) AS ({body}\n) SELECT {cells} FROM tolerant"


def _tolerant_row(row: Row) -> Row:
    return tuple(
        cell
        if not isinstance(cell, str)
        else (bytes.fromhex(cell[1:]) if cell[0] == "b" else _text(bytes.fromhex(cell[1:])))
        for cell in row
    )


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


class Refused(Exception):
    """The guarded connection refused a statement."""


class _Statement:
    """Runs one query on a connection and remembers its column names, rows or not."""

    def __init__(
        self,
        connection: apsw.Connection,
        check: Callable[[apsw.Cursor, int], None] | None = None,
    ) -> None:
        self._connection = connection
        self._check = check
        self._seen = 0
        self.began = False
        """Whether anything has been run, so that what goes wrong may quote stored data."""
        self.names: tuple[str, ...] = ()

    def rows(self, sql: str, parameters: Sequence[Cell] = ()) -> Iterator[Row]:
        """Check and start the query; the rows come lazily. Text that isn't valid UTF-8 comes with
        replacement characters."""
        cursor = self._connection.cursor()
        cursor.exec_trace = self._before
        first: UnicodeDecodeError | None = None
        try:
            cursor.execute(sql, parameters)
        except UnicodeDecodeError as error:
            first = error
        return self._iterate(cursor, sql, parameters, first)

    def _iterate(
        self,
        cursor: apsw.Cursor,
        sql: str,
        parameters: Sequence[Cell],
        failed: UnicodeDecodeError | None,
    ) -> Iterator[Row]:
        given = 0
        if failed is None:
            try:
                for row in cursor:
                    yield row
                    given += 1
            except UnicodeDecodeError:
                pass
            else:
                return
        cursor.close(True)
        self._seen = 0
        names = self.names
        again = self._connection.cursor()
        again.exec_trace = self._before
        again.execute(_tolerant(sql, len(names)), parameters)
        self.names = names
        yield from map(_tolerant_row, islice(again, given, None))

    def _before(self, cursor: apsw.Cursor, _sql: str, _bindings: Any) -> bool:
        if not cursor.has_vdbe:
            return True
        self._seen += 1
        if self._check is not None:
            self._check(cursor, self._seen)
        try:
            self.names = tuple(name for name, *_ in cursor.get_description())
        except UnicodeDecodeError:
            raise apsw.SQLError("a column's name is not valid UTF-8: name the columns") from None
        self.began = True
        return True


class GuardedConnection:
    """A connection that only answers queries. Not thread-safe, but `interrupt` may come from
    another thread."""

    def __init__(self, uri: str, tables: Collection[str] | None = None) -> None:
        """With `tables`, by their stored names, nothing else can be read, the schema neither."""
        self._connection = _open(uri)
        for limit, value in _LIMITS.items():
            self._connection.limit(limit, value)
        self._allowed = None if tables is None else frozenset(name.lower() for name in tables)
        self._hidden: frozenset[str] = frozenset()
        self._tables = self._stored_tables()
        self._modules = frozenset(
            str(name).lower() for (name,) in self._connection.execute("PRAGMA module_list")
        )
        self._denied, self._selects = "", 0
        self._statement: _Statement | None = None
        self._connection.authorizer = self._authorize

    def execute(self, sql: str) -> tuple[tuple[str, ...], Iterator[Row]]:
        """Column names and a lazy iterator of rows. Raises Refused or the binding's errors."""
        self._statement = None
        if "\0" in sql:
            raise Refused("the text contains a NUL character")
        try:
            return self._execute(sql)
        except apsw.AuthError:
            if not self._refresh_tables():
                raise Refused(self._denied) from None
        try:
            return self._execute(sql)
        except apsw.AuthError:
            raise Refused(self._denied) from None

    @property
    def phase(self) -> Literal["prepare", "run"]:
        """How far the last query came: only prepared, or run, if only to its first row."""
        began = self._statement is not None and self._statement.began
        return "run" if began else "prepare"

    def interrupt(self) -> None:
        """Stop the running query soon, from any thread."""
        self._connection.interrupt()

    def close(self) -> None:
        """Close at once, statements or not."""
        self._connection.close(True)

    def _before_statement(self, cursor: apsw.Cursor, seen: int) -> None:
        if seen > 1:
            raise Refused("only one statement may run")
        if cursor.is_explain or not cursor.is_readonly or not self._selects:
            raise Refused("only a plain query may run")

    def _execute(self, sql: str) -> tuple[tuple[str, ...], Iterator[Row]]:
        self._denied, self._selects = "this statement is not allowed", 0
        statement = self._statement = _Statement(self._connection, self._before_statement)
        rows = statement.rows(sql)
        return statement.names, rows

    def _authorize(
        self, action: int, first: str | None, second: str | None, _db: str | None, _by: str | None
    ) -> int:
        if action in {apsw.SQLITE_SELECT, apsw.SQLITE_RECURSIVE}:
            self._selects += 1
            return apsw.SQLITE_OK
        if action == apsw.SQLITE_PRAGMA and (first, second) == ("data_version", None):
            return apsw.SQLITE_OK  # full-text search asks for it; alone it has no SELECT to run
        if action == apsw.SQLITE_FUNCTION:
            if (second or "").lower() in FUNCTIONS:
                return apsw.SQLITE_OK
            self._denied = f"the function {second} is not allowed"
        elif action == apsw.SQLITE_READ:
            name = (first or "").lower()
            # Without a column, the name may be a common table expression's: it isn't stored, but
            # it isn't provided by a module either.
            unstored = not second and name not in self._hidden and not self._is_provided(name)
            if name in self._tables or unstored:
                return apsw.SQLITE_OK
            self._denied = f"reading {first} is not allowed"
        else:
            code = apsw.mapping_authorizer_function.get(action, str(action))
            self._denied = f"{str(code).removeprefix('SQLITE_')} is not allowed"
        return apsw.SQLITE_DENY

    def _is_provided(self, name: str) -> bool:
        return name in self._modules or name.startswith(("pragma_", "sqlite_"))

    def _stored_tables(self) -> frozenset[str]:
        """Runs without the authorizer: some modules (R*Tree) prepare their internal writes when
        their table is first looked at, and need no more than that to be read."""
        rows = _Statement(self._connection).rows(
            "SELECT name, sql LIKE 'CREATE VIRTUAL %' FROM sqlite_schema "
            "WHERE type IN ('table', 'view')"
        )
        stored, modules = set(), []
        for name, virtual in list(rows):
            stored.add(str(name).lower())
            if virtual:
                modules.append(f"{str(name).lower()}_")
                with contextlib.suppress(apsw.Error):
                    self._connection.execute(f"SELECT 1 FROM {_quoted(str(name))} LIMIT 0")
        internal = {name for name in stored if name.startswith("sqlite_")}
        if self._allowed is None:
            return frozenset((stored - internal) | SCHEMA_TABLES | TABLE_FUNCTIONS)
        # A virtual table reads the tables in which it keeps its own data.
        own = tuple(prefix for prefix in modules if prefix[:-1] in self._allowed)
        kept = {name for name in stored - internal if name in self._allowed or name.startswith(own)}
        self._hidden = frozenset(stored - kept)
        return frozenset(kept | TABLE_FUNCTIONS)

    def _refresh_tables(self) -> bool:
        """Read the stored names again; True when they changed, so that trying again makes sense."""
        before = self._tables
        self._connection.authorizer = None
        try:
            self._tables = self._stored_tables()
        finally:
            self._connection.authorizer = self._authorize
        return self._tables != before


class TrustedConnection:
    """A read-only connection in this process, for SQL that sqlwright itself wrote."""

    def __init__(self, uri: str) -> None:
        self._connection = _open(uri)

    def rows(self, sql: str, parameters: Sequence[Cell] = ()) -> Iterator[Row]:
        """Rows one by one, as stored; text that isn't valid UTF-8 with replacement characters.

        Raises the binding's errors, which `explain_failure` sorts.
        """
        return _Statement(self._connection).rows(sql, parameters)

    def interrupt(self) -> None:
        """Stop the running query soon, from any thread."""
        self._connection.interrupt()

    def close(self) -> None:
        """Close at once, statements or not."""
        self._connection.close(True)


def settle(path: str) -> None:
    """Finish what a journal or log beside a private copy holds, so that it can be read alone."""
    connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
        connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
        connection.execute("SELECT count(*) FROM sqlite_schema")
        connection.execute("PRAGMA journal_mode=DELETE")
    finally:
        connection.close(True)


FAILURES = (apsw.Error, MemoryError, UnicodeEncodeError)
"""What running a query may raise, besides Refused."""


def binding_folder() -> str:
    """Where the binding was imported from."""
    return dirname(dirname(apsw.__file__))  # noqa: PTH120  pathlib would slow the worker's start


def set_heap_limit(size: int) -> None:
    """Cap what SQLite may allocate in this process, in bytes."""
    apsw.hard_heap_limit(size)


def explain_failure(error: BaseException) -> tuple[str, str]:
    """An ExecutionError's kind and message for what a connection raised.

    The kind "interrupted" is the caller's to name: it knows whether it was time or a person.
    """
    if isinstance(error, Refused):
        return "unsafe", str(error)
    if isinstance(error, apsw.InterruptError):
        return "interrupted", "interrupted"
    if isinstance(error, (MemoryError, apsw.NoMemError)):
        return "memory", "the query needs more memory than it is allowed"
    if isinstance(error, apsw.TooBigError):
        return "memory", "the query makes a text or blob larger than is allowed"
    if isinstance(error, (apsw.BusyError, apsw.LockedError)):
        return "unavailable", "the database is locked by another program"
    if isinstance(error, (apsw.CorruptError, apsw.NotADBError, apsw.FormatError)):
        return "unavailable", f"the database file is damaged or encrypted ({error})"
    if isinstance(error, (apsw.CantOpenError, apsw.IOError, apsw.ReadOnlyError)):
        return "unavailable", f"the database can't be read ({error})"
    if isinstance(error, UnicodeEncodeError):
        return "sql", "the SQL text is not valid Unicode"
    return "sql", str(error)


def needs_copy(error: BaseException) -> bool:
    """True when SQLite would have to write to read the file: a journal was left by a crash."""
    return isinstance(error, (apsw.ReadOnlyError, apsw.CantOpenError))
