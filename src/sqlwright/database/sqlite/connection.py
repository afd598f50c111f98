"""The only module that talks to the SQLite binding.

The binding is apsw rather than the standard library's sqlite3: it brings its own, current SQLite on
every platform, can set the switches SQLite's advice for untrusted SQL asks for on Python 3.11 too
(DEFENSIVE, TRUSTED_SCHEMA and the like), can cap SQLite's heap, and tells whether a statement is an
EXPLAIN or writes before it runs.

`GuardedConnection` is the first of the two layers that keep generated SQL harmless, and it holds on
its own: https://www.sqlite.org/security.html names most of what is set here.

Limits a guarded connection to some of the stored tables; the others seem not to exist.

With a list of tables, every query is first prepared against a mirror: an empty database in memory
that holds the listed tables and nothing else. What it doesn't know fails there, with SQLite's own
words, so that a hidden table and one that doesn't exist can't be told apart by any text.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import apsw

from sqlwright.database.failures import Refused
from sqlwright.database.sqlite.allowed import FUNCTIONS, SCHEMA_TABLES, TABLE_FUNCTIONS
from sqlwright.database.sqlite.failures import NO_TABLE
from sqlwright.schema import fold_name
from sqlwright.sql.pieces import without_end
from sqlwright.sql.tokens import quote_name

if TYPE_CHECKING:
    from typing import Literal

    from sqlwright.types import Cell

    Row = tuple[Cell, ...]


def _text(data: bytes) -> str:
    return data.decode("utf-8", errors="replace")


def _tolerant(sql: str, count: int) -> str:
    """The same query with texts and blobs as hexadecimal digits behind a mark.

    For results with text that isn't valid UTF-8, which the binding can't hand out.
    """
    body = without_end(sql)
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


class Statement:
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
        """True once anything has been run, so that what goes wrong may quote stored data."""
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


_STORED = """
    SELECT name, CASE WHEN sql LIKE 'CREATE VIRTUAL %' THEN 'virtual' ELSE type END
    FROM sqlite_schema WHERE type IN ('table', 'view')
"""
_OBJECTS = """
    WITH l AS MATERIALIZED (SELECT name, type FROM pragma_table_list WHERE schema = 'main')
    SELECT s.name, l.type, s.sql, s.tbl_name, s.type
    FROM sqlite_schema AS s LEFT JOIN l ON l.name = s.name AND s.type IN ('table', 'view')
    ORDER BY s.type = 'view', s.type = 'index', s.rowid
"""


class Readable(NamedTuple):
    """Names, folded as SQLite folds them."""

    named: frozenset[str]
    """Tables that a query may name."""
    internal: frozenset[str] = frozenset()
    """Tables in which a virtual table keeps its own data: read by its module while a query runs,
    besides."""
    mirrored: tuple[str, ...] | None = None
    """CREATE texts of the listed tables, their indexes and views; None without a list."""


def stored_tables(connection: apsw.Connection, listed: Collection[str] | None) -> Readable:
    """All stored tables and views, or the listed ones (folded names). Runs without the authorizer:
    some modules (R*Tree) prepare their internal writes when their table is first looked at, and
    need no more than that to be read."""
    # Only what a list of tables needs asks SQLite for their kinds: it goes through every view then.
    objects = list(Statement(connection).rows(_STORED if listed is None else _OBJECTS))
    tables = [(str(name), str(kind)) for name, kind, *_ in objects if kind is not None]
    for name, kind in tables:
        if kind == "virtual":
            with contextlib.suppress(apsw.Error):
                connection.execute(f"SELECT 1 FROM {quote_name(name)} LIMIT 0")
    stored = {fold_name(name) for name, _ in tables}
    stored -= {name for name in stored if name.startswith("sqlite_")}
    if listed is None:
        return Readable(frozenset(stored | SCHEMA_TABLES | TABLE_FUNCTIONS))
    named = stored.intersection(listed) - set(map(fold_name, shown_by(connection, listed)))
    texts = tuple(
        str(sql)
        for name, _, sql, owner, kind in objects
        if sql and kind != "trigger" and fold_name(str(owner if kind == "index" else name)) in named
    )
    internal = _own_data(tables, listed) - named
    # A stored table that bears a table function's name takes its place.
    return Readable(frozenset(named | (TABLE_FUNCTIONS - stored)), internal, texts)


def shown_by(connection: apsw.Connection, listed: Collection[str]) -> dict[str, list[str]]:
    """The listed virtual tables that show what others hold, with the names of those: a full-text
    index of another table's content answers for it, a vocabulary lists the words of an index."""
    objects = Statement(connection).rows(_OBJECTS)
    tables = [(str(name), str(kind)) for name, kind, *_ in objects if kind]
    allowed = _own_data(tables, listed).union(listed)
    found = {}
    for name, kind in tables:
        if kind == "virtual" and fold_name(name) in listed:
            others = [read for read in _read_by(connection, name) if fold_name(read) not in allowed]
            if others:
                found[name] = others
    return found


def _own_data(tables: Iterable[tuple[str, str]], listed: Collection[str]) -> frozenset[str]:
    """The shadow tables of the listed virtual tables, by their exact names.

    `tables` are names and kinds as `pragma_table_list` gives them. SQLite, too, finds a shadow
    table's owner by what stands before the last underscore.
    """
    tables = list(tables)
    owners = {fold_name(name) for name, kind in tables if kind == "virtual"} & set(listed)
    shadows = (fold_name(name) for name, kind in tables if kind == "shadow")
    return frozenset(name for name in shadows if name.rpartition("_")[0] in owners)


def _read_by(connection: apsw.Connection, name: str) -> list[str]:
    """Tables that a virtual table reads besides itself when it is read."""
    seen: dict[str, None] = {}

    def note(action: int, first: str | None, *_: str | None) -> int:
        if action == apsw.SQLITE_READ:
            seen[first or ""] = None
        return apsw.SQLITE_OK

    before = connection.authorizer
    connection.authorizer = note
    try:
        # Some can't be read without a MATCH, or have lost what they read; they have no row to give.
        with contextlib.suppress(apsw.Error):
            for _ in connection.execute(f"SELECT * FROM {quote_name(name)} LIMIT 1"):
                break
    except UnicodeDecodeError:
        pass
    finally:
        connection.authorizer = before
    # An R*Tree asks how many rows ANALYZE counted of its own table.
    return [read for read in seen if fold_name(read) not in {fold_name(name), "sqlite_stat1"}]


def make_mirror(connection: apsw.Connection, texts: Iterable[str]) -> None:
    """Make listed tables in an empty database in memory. What can't be made isn't there."""
    for text in texts:
        cursor = connection.cursor()
        cursor.exec_trace = _first_alone()
        with contextlib.suppress(apsw.Error):
            cursor.execute(text)


def _first_alone() -> apsw.ExecTracer:
    """Lets one statement run: a hostile file may hold more in a table's text."""
    seen = 0

    def trace(*_: object) -> bool:
        nonlocal seen
        seen += 1
        return seen == 1

    return trace


BUSY_MILLISECONDS = 1_000
"""Milliseconds to wait at most for another program's lock on the file."""
SQL_BYTES = 1_000_000
"""UTF-8 bytes of a statement at most (SQLITE_LIMIT_SQL_LENGTH)."""
CELL_CEILING = 64 * 1024 * 1024
"""No text or blob larger than this is ever made; larger stored ones can't be read."""
EXPLAINS = {"": 0, "EXPLAIN": 1, "EXPLAIN QUERY PLAN": 2}
"""Words before a query that has to be explained, and the number by which the binding knows them."""
_IN_MEMORY = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_MEMORY
_PRAGMAS = frozenset({"data_version", "module_list"})
"""Full-text search asks for one, the check of what a query reads for the other. Alone, neither has
a SELECT to run."""

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
    connection = _switched(uri, apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    connection.set_busy_timeout(BUSY_MILLISECONDS)
    connection.execute("PRAGMA query_only=ON")
    connection.execute("PRAGMA temp_store=MEMORY")
    connection.execute("PRAGMA cell_size_check=ON")
    # A mapped file reads a quarter faster, but a program that shortens it meanwhile would end this
    # process with a bus error. A larger cache than the usual 2 MB gets half of that back.
    connection.execute("PRAGMA mmap_size=0")
    connection.execute("PRAGMA cache_size=-16000")
    return connection


def _switched(name: str, flags: int) -> apsw.Connection:
    # Without a cache of statements, each is prepared, and so authorized, every time it runs.
    connection = apsw.Connection(name, flags=flags, statementcachesize=0)
    for switch, value in _SWITCHES.items():
        connection.config(switch, value)
    return connection


def _limit(connection: apsw.Connection) -> apsw.Connection:
    for limit, value in _LIMITS.items():
        connection.limit(limit, value)
    return connection


class _Prepared:
    """The first statement of a text: prepared, and kept from running."""

    def __init__(self) -> None:
        self.text = ""
        self.runs = False

    def note(self, cursor: apsw.Cursor, text: str, _bindings: Any) -> bool:
        self.text, self.runs = text, cursor.has_vdbe
        return False


class GuardedConnection:
    """A connection that only answers queries. Not thread-safe, but `interrupt` may come from
    another thread."""

    def __init__(self, uri: str, tables: Collection[str] | None = None) -> None:
        """With `tables`, by their stored names, nothing else can be read, the schema neither."""
        self._connection = _limit(_open(uri))
        self._listed = None if tables is None else frozenset(map(fold_name, tables))
        self._modules = frozenset(
            fold_name(str(name)) for (name,) in self._connection.execute("PRAGMA module_list")
        )
        self._denied, self._selects, self._explain = "", 0, 0
        self._unstored: set[str] = set()
        self._statement: Statement | None = None
        self._mirror: apsw.Connection | None = None
        self._readable = Readable(frozenset())
        self._now = self._readable.named
        self._look()

    def execute(self, sql: str, explain: str = "") -> tuple[tuple[str, ...], Iterator[Row]]:
        """Column names and a lazy iterator of rows; with `explain`, a key of `EXPLAINS`, those of
        the query's plan, and nothing of it runs. Raises Refused or the binding's errors."""
        self._statement, self._explain = None, EXPLAINS[explain]
        if "\0" in sql:
            raise Refused("the text contains a NUL character")
        try:
            return self._execute(sql, explain)
        except (apsw.AuthError, apsw.SQLError) as error:
            if not self._look_again(error):
                raise self._refusal(error) from None
        try:
            return self._execute(sql, explain)
        except apsw.AuthError as error:
            raise self._refusal(error) from None

    @property
    def phase(self) -> Literal["prepare", "run"]:
        """Stage that the last query reached: only prepared, or run, if only to its first row."""
        began = self._statement is not None and self._statement.began
        return "run" if began else "prepare"

    def finish(self) -> None:
        """Nothing: the next statement ends this one."""

    def interrupt(self) -> None:
        """Stop the running query soon, from any thread."""
        self._connection.interrupt()

    def close(self) -> None:
        """Close at once, statements or not."""
        self._connection.close(True)
        if self._mirror is not None:
            self._mirror.close(True)

    def _before_statement(self, cursor: apsw.Cursor, seen: int) -> None:
        if seen > 1:
            raise Refused("only one statement may run")
        if cursor.is_explain != self._explain or not cursor.is_readonly or not self._selects:
            raise Refused("only a plain query may run")
        self._check_unstored(self._connection)
        self._now = self._readable.named | self._readable.internal

    def _execute(self, sql: str, explain: str) -> tuple[tuple[str, ...], Iterator[Row]]:
        self._statement = None
        if self._mirror is not None:
            self._prepare(self._mirror, sql)
        self._begin()
        statement = self._statement = Statement(self._connection, self._before_statement)
        rows = statement.rows(f"{explain} {sql}" if explain else sql)
        return statement.names, rows

    def _prepare(self, mirror: apsw.Connection, sql: str) -> None:
        """Have the mirror prepare all of a text, and run nothing of it."""
        statements = 0
        while sql.strip():
            found = _Prepared()
            cursor = mirror.cursor()
            cursor.exec_trace = found.note
            self._begin()
            with contextlib.suppress(apsw.ExecTraceAbort):
                cursor.execute(sql)
            self._check_unstored(mirror)
            statements += found.runs
            if statements > 1:
                raise Refused("only one statement may run")
            if not found.text or not sql.startswith(found.text):
                return
            sql = sql[len(found.text) :]

    def _begin(self) -> None:
        self._denied, self._selects = "this statement is not allowed", 0
        self._now = self._readable.named
        self._unstored.clear()

    def _check_unstored(self, connection: apsw.Connection) -> None:
        """Refuse what was taken for a common table expression and is a module's table: some modules
        come into being only when a statement that names them is prepared."""
        if not self._unstored:
            return
        known = {fold_name(str(name)) for (name,) in connection.execute("PRAGMA module_list")}
        for name in sorted(self._unstored & known):
            raise Refused(f"reading {name} is not allowed")

    def _refusal(self, error: apsw.Error) -> Exception:
        if isinstance(error, apsw.SQLError) or self._denied.startswith(NO_TABLE):
            return error if isinstance(error, apsw.SQLError) else apsw.SQLError(self._denied)
        return Refused(self._denied)

    def _authorize(
        self, action: int, first: str | None, second: str | None, _db: str | None, _by: str | None
    ) -> int:
        if action in {apsw.SQLITE_SELECT, apsw.SQLITE_RECURSIVE}:
            self._selects += 1
            return apsw.SQLITE_OK
        if action == apsw.SQLITE_PRAGMA and first in _PRAGMAS and second is None:
            return apsw.SQLITE_OK
        if action == apsw.SQLITE_FUNCTION:
            if fold_name(second or "") in FUNCTIONS:
                return apsw.SQLITE_OK
            self._denied = f"the function {second} is not allowed"
        elif action == apsw.SQLITE_READ:
            name = fold_name(first or "")
            # Without a column, the name may be a common table expression's: it isn't stored, but
            # it isn't provided by a module either. With a list, the mirror has told them apart.
            if name in self._now:
                return apsw.SQLITE_OK
            if not second and self._is_expression(name):
                self._unstored.add(name)
                return apsw.SQLITE_OK
            self._denied = f"reading {first} is not allowed"
            if self._listed is not None and not self._is_provided(name):
                self._denied = f"{NO_TABLE}{first}"
        else:
            code = apsw.mapping_authorizer_function.get(action, str(action))
            self._denied = f"{str(code).removeprefix('SQLITE_')} is not allowed"
        return apsw.SQLITE_DENY

    def _is_expression(self, name: str) -> bool:
        return name not in self._readable.internal and not self._is_provided(name)

    def _is_provided(self, name: str) -> bool:
        return name in self._modules or name.startswith(("pragma_", "sqlite_"))

    def _look(self) -> None:
        """Read the stored names; with a list, mirror what it names."""
        self._connection.authorizer = None
        try:
            readable = stored_tables(self._connection, self._listed)
        finally:
            self._connection.authorizer = self._authorize
        if readable.mirrored is not None and readable.mirrored != self._readable.mirrored:
            mirror = _limit(_switched(":memory:", _IN_MEMORY))
            make_mirror(mirror, readable.mirrored)
            mirror.authorizer = self._authorize
            self._mirror = mirror
        self._readable = readable

    def _look_again(self, error: apsw.Error) -> bool:
        """Read the stored names again; True when trying again makes sense: they changed, or a
        module had to read its own tables anew."""
        if isinstance(error, apsw.SQLError) and self._mirror is None:
            return False
        before = self._readable
        self._look()
        return self._readable != before or bool(self._readable.internal)


class TrustedConnection:
    """A read-only connection for SQL that sqlwright itself wrote; what it reads may still come from
    anybody."""

    def __init__(self, uri: str) -> None:
        self._connection = _open(uri)
        self._connection.limit(apsw.SQLITE_LIMIT_LENGTH, CELL_CEILING)

    def rows(self, sql: str, parameters: Sequence[Cell] = ()) -> Iterator[Row]:
        """Rows one by one, as stored; text that isn't valid UTF-8 with replacement characters.

        Raises the binding's errors, which `explain_failure` sorts.
        """
        return Statement(self._connection).rows(sql, parameters)

    def shown(self, tables: Collection[str]) -> dict[str, list[str]]:
        """Listed virtual tables by what they show of tables that aren't listed."""
        return shown_by(self._connection, frozenset(map(fold_name, tables)))

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


def set_memory(size: int) -> None:
    """Cap what SQLite may allocate in this process, in bytes."""
    apsw.hard_heap_limit(size)


def warm_up() -> None:
    """Read what SQLite reads once and for all, before no other file can be opened: the system's
    random numbers and the time zone."""
    connection = apsw.Connection(":memory:")
    connection.execute("SELECT random(), datetime(0, 'unixepoch', 'localtime')")
    connection.close()
