"""A SQLite file that can't be written through: schema, guarded queries, trusted reading."""

from __future__ import annotations

import hashlib
import os
import time
from collections import defaultdict
from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlwright.database.address import Address, file_of
from sqlwright.database.failures import READ_FAILURES, read_failure
from sqlwright.database.functions import no_functions
from sqlwright.database.guarded import (
    SCHEMA_SECONDS,
    GuardedDatabase,
    failed_result,
    no_such_table,
    require_own,
    result_of,
    stop_at,
)
from sqlwright.database.reader import DatabaseReader
from sqlwright.database.sqlite.allowed import TABLE_FUNCTIONS
from sqlwright.database.sqlite.failures import FAILURES, explain_failure, needs_copy
from sqlwright.database.sqlite.files import DatabaseFile, FileSource, Token, check_file
from sqlwright.database.workers.pool import Pool
from sqlwright.database.workers.process import Stop, WorkerStopped
from sqlwright.errors import ConfigError, DatabaseUnavailable, UnsafeQuery
from sqlwright.protocols import Limits, Run
from sqlwright.schema import Column, ForeignKey, Schema, Table, fold_name
from sqlwright.sql.guard import check_query
from sqlwright.sql.tokens import quote_name, view_body
from sqlwright.sql.tree import StopReading
from sqlwright.types import ErrorCause, ExecutionResult
from sqlwright.types.plans import QueryCost

if TYPE_CHECKING:
    from sqlwright.sql.tree import StopReading

_TABLES = """
    SELECT s.name, l.type, s.sql
    FROM sqlite_schema AS s JOIN pragma_table_list AS l ON l.name = s.name AND l.schema = 'main'
    WHERE s.type IN ('table', 'view') AND l.type <> 'shadow'
        AND s.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
    ORDER BY s.rowid
"""
_COLUMNS = """
    SELECT s.name, x.name, x.type, x."notnull", x.pk, x.hidden
    FROM sqlite_schema AS s, pragma_table_xinfo(s.name) AS x
    WHERE s.type IN ('table', 'view') {one}
    ORDER BY s.rowid, x.cid
"""
_KEYS = """
    SELECT s.name, k.id, k.seq, k."table", k."from", k."to"
    FROM sqlite_schema AS s, pragma_foreign_key_list(s.name) AS k
    WHERE s.type = 'table' {one}
    ORDER BY s.rowid, k.id DESC, k.seq
"""
_HIDDEN, _GENERATED = 1, {2, 3}
LONGEST_DEFINITION = 4_000
"""Characters of a view's query that is kept; a longer one isn't, since half of one misleads."""


def read_schema(
    connection: DatabaseReader, name: str, only: Collection[str] | None = None
) -> Schema:
    """The whole schema, or that of some tables only, in stored order. Raises the binding's errors
    when the file is damaged."""
    rows = connection.rows(_TABLES)
    listed = [(str(n), str(k), str(sql)) for n, k, sql in rows if only is None or n in only]
    kinds = {table: kind for table, kind, _ in listed}
    definitions = {table: _view_query(sql) for table, kind, sql in listed if kind == "view"}
    columns: dict[str, list[tuple[Column, int]]] = defaultdict(list)
    for table, column, declared, required, key, hidden in _each(connection, _COLUMNS, kinds, only):
        if table in kinds and hidden != _HIDDEN:
            made = Column(
                name=str(column),
                type=str(declared or "").removesuffix("GENERATED ALWAYS").rstrip(),
                nullable=not required,
                generated=hidden in _GENERATED,
            )
            columns[table].append((made, key))
    tables = tuple(
        Table(
            name=table,
            columns=tuple(column for column, _ in columns[table]),
            primary_key=tuple(
                c.name for c, _ in sorted((p for p in columns[table] if p[1]), key=lambda p: p[1])
            ),
            kind="view" if kind == "view" else "table",
            definition=definitions.get(table, ""),
        )
        for table, kind in kinds.items()
        if columns[table]
    )
    schema = Schema(name, tables)
    return Schema(name, tables, tuple(_foreign_keys(_each(connection, _KEYS, kinds, only), schema)))


def _view_query(create: str) -> str:
    """The query of a view; empty where it can't be read or is too long."""
    try:
        query = view_body(create).strip()
    except UnsafeQuery:
        return ""
    return query if len(query) <= LONGEST_DEFINITION else ""


def _each(
    connection: DatabaseReader, sql: str, names: Collection[str], only: object
) -> list[tuple[Any, ...]]:
    """All rows at once; when one object spoils that (a view of a lost table, a virtual table of an
    unknown module), object by object without the broken ones."""
    try:
        some = "" if only is None else f"AND s.name IN ({', '.join('?' * len(names))})"
        return list(connection.rows(sql.format(one=some), tuple(names) if some else ()))
    except FAILURES as error:
        if explain_failure(error).kind != "sql":
            raise
    rows: list[tuple[Any, ...]] = []
    for name in names:
        try:
            rows += connection.rows(sql.format(one="AND s.name = ?"), (name,))
        except FAILURES as error:
            if explain_failure(error).kind != "sql":
                raise
    return rows


def _foreign_keys(rows: Iterable[tuple[Any, ...]], schema: Schema) -> Iterable[ForeignKey]:
    grouped: dict[tuple[str, int], list[tuple[Any, ...]]] = defaultdict(list)
    for table, key, _, target, near, far in rows:
        grouped[table, key].append((target, near, far))
    seen = set()
    for (name, _), parts in grouped.items():
        table, target = schema.table(name), schema.table(str(parts[0][0]))
        if table is None or target is None:
            continue
        near_columns = _stored(table, [near for _, near, _ in parts])
        far_names = [far for _, _, far in parts]
        if all(far is None for far in far_names):
            far_columns: tuple[str, ...] | None = target.primary_key
        else:
            far_columns = _stored(target, far_names)
        if near_columns and far_columns and len(near_columns) == len(far_columns):
            found = ForeignKey(table.name, near_columns, target.name, far_columns)
            if found not in seen:
                seen.add(found)
                yield found


def _stored(table: Table, names: Iterable[Any]) -> tuple[str, ...] | None:
    columns = [table.column(str(name)) for name in names]
    if any(column is None for column in columns):
        return None
    return tuple(column.name for column in columns if column is not None)


# A fingerprint per table from the pages that hold it, so that only changed tables are read again.
#
# SQLite's own statistics table says which pages belong to which table; their bytes are hashed
# straight from the file, at about the speed of the disk. Unlike row counts or the highest row
# number this notices a value changed in place.
#
# Not covered, and then None is returned: files with a write-ahead log or a journal beside them (the
# pages in the file aren't the data), and SQLite builds without `dbstat`.

_RUN_PAGES = 256
"""Neighbouring pages read at once at most."""


def page_digests(
    path: Path, schema: Schema, reader: DatabaseReader, stop: StopReading
) -> dict[str, str] | None:
    """A digest of the pages of every table by its name; of what has no pages of its own (views,
    virtual tables) of all tables, listed or not, and all definitions. None when it can't be told.
    Raises `ReadFailed` when the file can't be read, and whatever `stop` raises."""
    real = path.resolve()
    if any(_has_content(real, suffix) for suffix in ("-wal", "-journal")):
        return None
    try:
        made = {
            str(name): str(sql)
            for name, sql in reader.rows(
                "SELECT name, sql FROM sqlite_schema WHERE type IN ('table', 'view') ORDER BY name"
            )
        }
        (size,) = next(iter(reader.rows("PRAGMA page_size")))
        pages: dict[str, list[int]] = {}
        for name, number in reader.rows("SELECT name, pageno FROM dbstat"):
            stop()
            if str(name) in made and isinstance(number, int):
                pages.setdefault(str(name), []).append(number)
    except READ_FAILURES as error:
        if read_failure(error).kind in {"interrupted", "unavailable"}:
            raise
        return None
    if not isinstance(size, int):
        return None
    try:
        digests = _hashed(real, size, pages, stop)
    except OSError:
        return None
    every = hashlib.sha256(repr((made, sorted(digests.items()))).encode()).hexdigest()
    return {table.name: digests.get(table.name, every) for table in schema.tables}


def _has_content(path: Path, suffix: str) -> bool:
    try:
        return path.with_name(path.name + suffix).stat().st_size > 0
    except OSError:
        return False


def _hashed(
    path: Path, size: int, pages: Mapping[str, list[int]], stop: StopReading
) -> dict[str, str]:
    digests: dict[str, str] = {}
    # Closing a descriptor drops this process's POSIX locks on the file, so this must not run
    # while a statement is open on it; callers finish theirs first.
    descriptor = os.open(path, os.O_RDONLY)
    try:
        for name, numbers in pages.items():
            digest = hashlib.blake2b(digest_size=16)
            for first, count in _runs(sorted(numbers)):
                stop()
                digest.update(first.to_bytes(8, "little"))
                digest.update(os.pread(descriptor, count * size, (first - 1) * size))
            digests[name] = digest.hexdigest()
    finally:
        os.close(descriptor)
    return digests


def _runs(numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Runs of consecutive pages as (first, count), none too long to hold."""
    first = count = 0
    for number in numbers:
        if count and number == first + count and count < _RUN_PAGES:
            count += 1
            continue
        if count:
            yield first, count
        first, count = number, 1
    if count:
        yield first, count


@dataclass(frozen=True)
class Stored:
    """Names of a file's tables and views."""

    names: frozenset[str]
    """Names of tables and views."""
    views: Mapping[str, str]
    """Their CREATE VIEW texts."""
    hidden: Container[str] = frozenset()
    """Names that may not be read, as `fold_name` gives it."""

    def without(self, tables: Collection[str]) -> Stored:
        """The same with everything hidden but these tables, the schema's own included. A stored
        table that bears a table function's name takes its place."""
        functions = TABLE_FUNCTIONS.difference(map(fold_name, self.names))
        return replace(self, hidden=Others(frozenset(map(fold_name, tables)) | functions))


@dataclass(frozen=True)
class Others:
    """All names but the listed ones: whether something of that name is stored makes no difference,
    so that no answer can tell."""

    listed: frozenset[str]
    """The names as `fold_name` gives them."""

    def __contains__(self, name: object) -> bool:
        return name not in self.listed


def read_stored(connection: DatabaseReader, tables: Collection[str] | None) -> Stored:
    """As SQLite reads its schema: whatever is stored is text up to a NUL, and the kind's case
    makes no difference."""
    rows = [
        (str(name).partition("\0")[0], fold_name(str(kind).partition("\0")[0]), str(sql))
        for name, kind, sql in connection.rows(
            "SELECT CAST(name AS TEXT), CAST(type AS TEXT), CAST(sql AS TEXT) FROM sqlite_schema"
        )
    ]
    views = {name: sql for name, kind, sql in rows if kind == "view"}
    stored = Stored(frozenset(name for name, kind, _ in rows if kind in {"table", "view"}), views)
    return stored if tables is None else stored.without(tables)


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
        with self._reading_errors():  # a virtual table may show what other tables hold
            require_own(connection.shown(named))
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
