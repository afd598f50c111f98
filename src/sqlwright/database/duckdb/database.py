"""A DuckDB file that can't be written through: schema, guarded queries, trusted reading."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlwright.boundary.text import counted
from sqlwright.database.address import Address, file_of
from sqlwright.database.duckdb.driver import LIBRARIES, require_driver
from sqlwright.database.duckdb.introspect import read_schema
from sqlwright.database.duckdb.readable import MACROS, body_query
from sqlwright.database.failures import READ_FAILURES, read_failure
from sqlwright.database.functions import MOST_LABELS, Name, stored_functions, written
from sqlwright.database.guarded import (
    SCHEMA_SECONDS,
    GuardedDatabase,
    failed_result,
    named_tables,
    require_own,
    stop_at,
)
from sqlwright.database.missing import missing
from sqlwright.database.reader import DatabaseReader
from sqlwright.database.workers.engine import Place
from sqlwright.database.workers.process import CRASHES, WorkerDied
from sqlwright.errors import ConfigError, DatabaseUnavailable, UnsafeQuery
from sqlwright.protocols import Limits, RowReader, Run
from sqlwright.schema import Schema, Table, fold_name
from sqlwright.sql.dialects import DUCKDB
from sqlwright.sql.guard import check_query
from sqlwright.sql.guards.rules import Own, Readable
from sqlwright.sql.tree import StopReading
from sqlwright.types import ErrorCause, ExecutionResult
from sqlwright.types.functions import OwnFunction
from sqlwright.types.plans import QueryCost
from sqlwright.types.results import ExecutionError

# Marks of the tables in a DuckDB file, by what they hold.
#
# Where DuckDB keeps a table tells nothing: blocks that were freed are written again, and a value
# that all rows share isn't in a block at all. So a mark is a digest of the rows themselves, in
# their order: SHA-256 of each row, in which every value is written with its length before it and
# no value as none, and SHA-256 over all of these. Two contents of one mark would be a collision
# of SHA-256.
#
# A table whose digest could cost more than reading it again, since of large tables only a part is
# read, has the mark of the whole file. So has one with types whose different values may read alike.

MOST_ROWS = 500_000
"""Rows of a table that has a digest, at most. Digests of so many take about a third of the time in
which the 200,000 are read that are read by default."""
MOST_SECONDS = 2.0
"""Seconds that one digest may take."""
ALL_SECONDS = 20.0
"""Seconds that all of them may take; after that the other tables have none."""
_SIZES = """
    SELECT schema_name, table_name, estimated_size FROM duckdb_tables()
    WHERE database_name = current_catalog() AND NOT internal AND NOT temporary
"""
_ALIKE = re.compile(r"\b(?:UNION|VARIANT|GEOMETRY|ANY|AGGREGATE_STATE)\b", re.IGNORECASE)
"""Types, or parts of them, whose text doesn't tell all. A field of such a name does no harm."""


def read_marks(
    reader: DatabaseReader, schema: Schema, whole: str, stop: StopReading
) -> dict[str, str]:
    """The mark of each table by its name; `whole` is the file's. Raises ReadFailed when the file
    can't be read, and whatever `stop` raises."""
    sizes = {
        str(own) if space == DUCKDB.namespace else f"{space!s}.{own!s}": size
        for space, own, size in reader.rows(_SIZES)
    }
    until = time.monotonic() + ALL_SECONDS
    marks = {}
    for table in schema.tables:
        stop()
        rows = sizes.get(table.name)
        small = isinstance(rows, int) and rows <= MOST_ROWS and time.monotonic() < until
        if table.kind == "table":
            marks[table.name] = (small and _digest(reader, table)) or whole
    return marks


def _digest(reader: DatabaseReader, table: Table) -> str:
    """Empty where there is none."""
    names = {fold_name(column.name) for column in table.columns}
    if "rowid" in names or any(_ALIKE.search(column.type) for column in table.columns):
        return ""
    texts = (f"CAST({DUCKDB.quoted(column.name)} AS VARCHAR)" for column in table.columns)
    row = " || ".join(f"coalesce(strlen({text}) || ':' || {text}, '-')" for text in texts)
    try:
        with reader.within(MOST_SECONDS):
            ((digest,),) = reader.rows(
                f"SELECT sha256(coalesce(string_agg(sha256({row}), '' ORDER BY rowid), ''))"
                f" FROM {DUCKDB.table(table)}"
            )
    except READ_FAILURES as error:
        if read_failure(error).kind == "unavailable":
            raise
        return ""
    return str(digest)


# Macros and enumerations of a DuckDB file: which of them a query may use.
#
# A macro is SQL text that takes the place of its call, so its body is held to what holds a query.

_TYPES = """
    SELECT schema_name, type_name, labels FROM duckdb_types()
    WHERE database_name = current_catalog() AND NOT internal AND logical_type = 'ENUM'
"""


@dataclass(frozen=True, slots=True)
class Macros:
    """A file's own macros and enumerations, as far as queries may use them."""

    own: Own
    named: tuple[OwnFunction, ...]
    bodies: tuple[tuple[str, str], ...]
    """Each named macro's name and its body as a query."""


def stored_macros(connection: RowReader) -> list[Name]:
    """Every macro of the file. Raises ReadFailed."""
    return [(str(space), str(own)) for space, own, *_ in connection.rows(MACROS)]


def read_macros(connection: RowReader, named: Collection[Name], schema: Schema) -> Macros:
    """The macros that are named, and the enumerations of a schema's columns. Raises ReadFailed."""
    found, bodies, others = [], [], set()
    for space, own, kind, body, names, types, comment in connection.rows(MACROS):
        name = (str(space), str(own))
        if name not in named:
            if space == DUCKDB.namespace:
                others.add(fold_name(str(own)))
            continue
        usual = space == DUCKDB.namespace
        found.append(
            OwnFunction(
                str(own), "" if usual else str(space), _arguments(names, types),
                "rows" if kind == "table_macro" else "", str(comment or ""),
            )
        )  # fmt: skip
        bodies.append((written(name, DUCKDB.namespace), body_query(str(kind), str(body))))
    calls = frozenset(name for one in named for name in _spelled(one))
    shown = {column.labels for table in schema.tables for column in table.columns if column.labels}
    types_used = frozenset(
        name
        for space, own, labels in connection.rows(_TYPES)
        if isinstance(labels, tuple) and tuple(map(str, labels))[:MOST_LABELS] in shown
        for name in _spelled((str(space), str(own)))
    )
    own_names = Own(calls, types_used, frozenset(others))
    return Macros(own_names, tuple(found), tuple(bodies))


def _spelled(name: Name) -> list[str]:
    """The names that a query may use for it."""
    space, own = map(fold_name, name)
    return [f"{space}.{own}", *([own] if space == DUCKDB.namespace else [])]


def _arguments(names: object, types: object) -> str:
    if not isinstance(names, tuple):
        return ""
    kinds = types if isinstance(types, tuple) else ()
    return ", ".join(
        f"{name} {kinds[at]}" if at < len(kinds) and kinds[at] else str(name)
        for at, name in enumerate(names)
    )


_ROWS = "Estimated Cardinality"
_SHOWN = ("Table", "Function", "Filters", "Conditions", "Groups", "Aggregates", "Order By", "Top")
"""Entries of a step that are shown."""
_MOST_CHARACTERS = 120
"""Characters of a step's line that are shown at most; the rest is cut."""
_DEEPEST = 10
"""Levels of a plan that are indented."""


def read_cost(plan: str) -> QueryCost:
    """The cost that a plan in JSON tells."""
    try:
        roots = json.loads(plan)
        steps = [step for root in roots for step in _steps(root, 0)]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return QueryCost(error=ExecutionError("sql", "the engine's plan can't be read"))
    scanned = [_number(step) for _, step in steps if not step.get("children")]
    rows = next((n for _, step in steps if (n := _number(step)) is not None), None)
    known = [number for number in scanned if number is not None]
    return QueryCost(
        rows=rows,
        scanned_rows=sum(known) if known else None,
        outline=tuple("  " * min(depth, _DEEPEST) + _line(step) for depth, step in steps),
    )


def _steps(step: Mapping[str, Any], depth: int) -> Iterator[tuple[int, Mapping[str, Any]]]:
    yield depth, step
    for child in step.get("children", ()):
        yield from _steps(child, depth + 1)


def _number(step: Mapping[str, Any]) -> float | None:
    written = (step.get("extra_info") or {}).get(_ROWS)
    try:
        return None if written is None else float(str(written))
    except ValueError:
        return None


def _line(step: Mapping[str, Any]) -> str:
    told = step.get("extra_info") or {}
    parts = []
    for key in _SHOWN:
        value = told.get(key)
        if value:
            text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
            parts.append(text.replace('"sqlwright_stored".', "").replace("sqlwright_stored.", ""))
    name = str(step.get("name", "")).replace("_", " ").strip().capitalize()
    text = f"{name} {'; '.join(parts)}".replace("\n", " ").strip()
    text = text if len(text) <= _MOST_CHARACTERS else text[: _MOST_CHARACTERS - 1] + "…"
    rows = _number(step)
    return text if rows is None else f"{text} (about {counted(round(rows), 'row')})"


PLAN_LIMITS = Limits(seconds=5.0, rows=10, cell_bytes=4 * 1024 * 1024)
"""Limits of asking for a plan, one text in JSON."""
LIGHT_BYTES = 256 * 1024 * 1024
"""Memory that every query may take; DuckDB's buffers are larger than SQLite's."""
GRACE_SECONDS = 0.2
"""Seconds that an interrupted query may take to stop: DuckDB looks between chunks of rows."""
_MAGIC = (8, b"DUCK")
_HINTS: Mapping[ErrorCause, str] = {
    "not_started": "Files are read by processes of their own, which that keeps from starting.",
    "locked": "DuckDB lets nobody read a file that is open for writing: close the program that "
    "holds it, or give a copy.",
    "damaged": "If it is encrypted, give a copy that isn't; if a newer DuckDB wrote it, upgrade "
    "the package duckdb; else restore a backup.",
    "slow": "It may have views of views that multiply: drop those in a copy.",
}


class DuckdbBased(GuardedDatabase):
    """The part that DuckDB files and other files that DuckDB reads have in common."""

    hints = _HINTS
    hint = "Check that the file and its folder may be read."

    @property
    def dialect(self) -> str:
        return DUCKDB.name

    def cost(self, sql: str, run: Run) -> QueryCost:
        """The engine's estimate of a query, nothing of which runs. Every failure is in it."""
        result = self._answer(sql, run, PLAN_LIMITS, DUCKDB.plan)
        if result.error is not None:
            return QueryCost(error=result.error)
        return read_cost(str(result.rows[0][-1]))

    def _check(self, sql: str, stop: StopReading | None) -> None:
        readable, own = self._readable()
        check_query(sql, self.dialect, readable=readable, own=own, stop=stop)

    def _died(self, error: WorkerDied) -> ExecutionResult:
        if error.signal in CRASHES and not self._closed:
            return failed_result("memory", "the query needs more memory than it is allowed")
        return super()._died(error)

    def _readable(self) -> tuple[Readable, Own]:
        """Names of the tables and views that a query may read, and of functions and types
        that it may use."""
        raise NotImplementedError


class DuckdbDatabase(DuckdbBased):
    """`protocols.Database` over one file. All methods may be called from any thread.

    While a query runs, and for half a second after, other programs can't open the file for writing.
    """

    def __init__(
        self,
        path: Path,
        tables: Collection[str] | None = None,
        functions: Collection[str] = (),
    ) -> None:
        """With `tables` nothing but these tables and views is known of or can be read; the macros
        `functions` may be called. Raises DatabaseUnavailable, and ConfigError for a table or macro
        that isn't there and for a view or macro that reads what may not be read."""
        check_file(path)
        self._path = path
        self._file = path.resolve()
        folder = self._file.parent
        found = folder.stat()
        self._place = Place(
            "duckdb", LIBRARIES, str(folder), found.st_dev, found.st_ino,
            GRACE_SECONDS, LIGHT_BYTES,
        )  # fmt: skip
        self._known: tuple[str, frozenset[tuple[str, ...]], Macros] | None = None
        self._functions: tuple[Name, ...] = ()
        super().__init__()
        try:
            if functions:
                self._functions = self._named_functions(functions)
            if tables is not None:
                self._tables = self._named(tables)
            self._readable()
            if functions:
                self._require_safe()
        except BaseException:
            self.close()
            raise

    @classmethod
    def at(
        cls,
        address: Address,
        tables: Collection[str] | None = None,
        functions: Collection[str] = (),
    ) -> DuckdbDatabase:
        return cls(file_of(address), tables, functions)

    @classmethod
    def check_address(cls, address: Address) -> None:
        """Raise DatabaseUnavailable when the file can't be a readable DuckDB database."""
        check_file(file_of(address))

    @property
    def path(self) -> Path:
        """The file, absolute."""
        return self._path

    @property
    def url(self) -> str:
        return f"duckdb:///{self._path}"

    @property
    def identity(self) -> str:
        return str(self._file)

    def schema(self, *, seconds: float = SCHEMA_SECONDS) -> Schema:
        """Tables, views, columns and declared keys, read afresh. Raises DatabaseUnavailable, also
        when that takes longer than so many seconds."""
        with (
            self.reader(seconds=min(seconds, SCHEMA_SECONDS)) as connection,
            self._reading_errors(),
        ):
            schema = read_schema(connection, self._path.stem)
        return schema if self._tables is None else schema.only(self._tables)

    @property
    def functions(self) -> tuple[OwnFunction, ...]:
        return self._look().named if self._functions else ()

    def fingerprint(self) -> str:
        """Changes when the stored data may have changed; some microseconds."""
        return file_token(self._file) + "".join(
            f"/{file_token(log)}" for log in (self._log(),) if log.exists()
        )

    def table_marks(
        self, schema: Schema, stop: StopReading | None = None
    ) -> Mapping[str, str] | None:
        """Digests of what the tables hold, of large ones the file's own; see `marks`."""
        whole = self.fingerprint()
        with self.reader() as connection, self._reading_errors():
            return read_marks(connection, schema, whole, stop or (lambda: None))

    def size(self) -> int:
        """Bytes of the file and its log."""
        try:
            log = self._log().stat().st_size
        except OSError:
            log = 0
        return self._file.stat().st_size + log

    def _log(self) -> Path:
        return self._file.with_name(f"{self._file.name}.wal")

    def _request(self, limits: Limits) -> dict[str, Any]:
        try:
            token = self.fingerprint()
        except OSError as error:
            raise DatabaseUnavailable(f"{self._path}: {error.strerror}.") from None
        return self._limited(limits) | {
            "place": self._place,
            "opening": {
                "file": str(self._file),
                "token": token,
                "tables": None if self._tables is None else list(self._tables),
                "functions": [list(map(fold_name, name)) for name in self._functions],
            },
            "holds_locks": True,
        }

    def _before_check(self) -> None:
        self._look()

    def _readable(self) -> tuple[Readable, Own]:
        """As stored when the file last changed; with a list, what is on it."""
        macros = self._look()
        with self._lock:
            assert self._known is not None
            return self._known[1], macros.own

    def _look(self) -> Macros:
        """Read tables and macros again where the file has changed."""
        token = self.fingerprint()
        with self._lock:
            known = self._known
        if known is not None and known[0] == token:
            return known[2]
        schema = self.schema()
        names = frozenset(table.path for table in schema.tables)
        with self.reader(seconds=SCHEMA_SECONDS) as connection, self._reading_errors():
            macros = read_macros(connection, self._functions, schema)
        with self._lock:
            if known is None or known[1:] != (names, macros):
                self._checked.clear()
            self._known = (token, names, macros)
        return macros

    def _named_functions(self, functions: Collection[str]) -> tuple[Name, ...]:
        """Macros by their stored names. Raises ConfigError."""
        with self.reader(seconds=SCHEMA_SECONDS) as connection, self._reading_errors():
            there = stored_macros(connection)
        return stored_functions(functions, there, DUCKDB.namespace, str(self._path))

    def _require_safe(self) -> None:
        """Raise ConfigError for a macro whose own text doesn't pass both layers: it runs with the
        query that calls it."""
        readable, own = self._readable()
        until = stop_at(time.monotonic() + SCHEMA_SECONDS)
        for name, body in self._look().bodies:
            try:
                check_query(body, self.dialect, readable=readable, own=own, stop=until)
            except UnsafeQuery as error:
                raise self._unsafe(
                    f"the macro {name} can't be among the functions: {error}"
                ) from None
        tried = self._answer("SELECT 1", Run(), Limits())
        if tried.error is not None:
            raise self._unsafe(tried.error.message)

    def _unsafe(self, message: str) -> ConfigError:
        return ConfigError(
            f"{self._path}: {message}",
            hint="Leave it out of functions, or list what it reads or calls, too.",
        )

    def _named(self, tables: Collection[str]) -> tuple[str, ...]:
        """Tables by their stored names. Raises ConfigError."""
        schema = self.schema()
        named = named_tables(tables, schema, str(self._path))
        with self.reader(seconds=SCHEMA_SECONDS) as connection, self._reading_errors():
            require_own(connection.shown(named), "it reads {}")
        return named


def check_file(path: Path) -> None:
    """Raise DatabaseUnavailable unless the file looks like a DuckDB database and can be read."""
    require_driver(str(path))
    offset, magic = _MAGIC
    try:
        if path.is_dir():
            raise DatabaseUnavailable(f"{path} is a folder, not a DuckDB database.")
        if not path.exists():
            raise missing(path)
        if not path.is_file():
            raise DatabaseUnavailable(f"{path} is not a regular file.")
        with path.open("rb") as file:
            head = file.read(offset + len(magic))
    except OSError as error:
        raise DatabaseUnavailable(
            f"{path} can't be read: {error.strerror}.", hint=DuckdbBased.hint
        ) from None
    if head[offset:] != magic:
        raise DatabaseUnavailable(
            f"{path} is not a DuckDB database.",
            hint="Check the path; `sqlite:///PATH` opens a SQLite file.",
        )


def file_token(path: Path) -> str:
    """Changes when the file was replaced or written, also by a program that sets the time of the
    last change back: the time of its entry in the file system can't be set."""
    found = path.stat()
    parts = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
    return "-".join(f"{part:x}" for part in parts)
