"""The only module that opens DuckDB's connections.

A guarded connection holds generated SQL twice: `statement_check` refuses what a query may not name,
and the configuration, locked before the first query, lets the engine reach no file but its own,
load nothing and change nothing. Most of what is set here is named by
https://duckdb.org/docs/stable/operations_manual/securing_duckdb/overview, which says that SQL is
like code all the same: the process around it (`workers/confinement.py`) is the boundary.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any, Protocol

import duckdb

from sqlwright.database.duckdb.readable import readable, showing
from sqlwright.database.duckdb.statement_check import check_tree
from sqlwright.database.failures import Refused
from sqlwright.sql.tokens import quote_text

if TYPE_CHECKING:
    from typing import Literal

    from sqlwright.types import Cell

    Row = tuple[Cell, ...]

Reading = Callable[[Any], "Cell"]

_ITEMS = re.compile(r"^(.*)\[\d*\]$", re.DOTALL)
_STRUCTURED = ("STRUCT(", "MAP(", "UNION(", "VARIANT")
_MONTHS = re.compile(r"year|month")
_DAYS = re.compile(r"(-?\d+) days?")
_NANOSECONDS = re.compile(r"\.\d{6}\d*[1-9]")
"""A fraction of a second that Python can't hold: the moment stays a text."""
_CLOCK = re.compile(r"(-?)(\d+):(\d+):(\d+)(?:\.(\d+))?$")


def is_plain(kind: str) -> bool:
    """True if values of a type come as they are."""
    return _expression(kind, "x") == "x"


def written(kinds: Sequence[str]) -> str:
    """The columns c0, c1, ... of these types as a SELECT list that the library can hand out."""
    return ", ".join(_expression(kind, f"c{number}") for number, kind in enumerate(kinds))


def reading(kind: str) -> Reading | None:
    """The function that makes a cell of what comes for a type; None where it is one."""
    items = _ITEMS.match(kind)
    if items is not None:
        inner = reading(items[1])
        if inner is None:
            return _tuple
        return lambda found: None if found is None else tuple(map(inner, found))
    return _READINGS.get(_family(kind))


def _expression(kind: str, name: str) -> str:
    """SQL for a value of a type; the name itself where it comes as it is."""
    items = _ITEMS.match(kind)
    if items is not None:
        # Names of lambdas are counted by depth, or an inner one would hide an outer one.
        inner = _expression(items[1], f"{name}_")
        if inner == f"{name}_":
            return name
        return f"list_transform({name}, lambda {name}_: {inner})"
    if kind.startswith(_STRUCTURED) and not kind.startswith(("UNION(", "VARIANT")):
        return f"CAST(to_json({name}) AS VARCHAR)"
    if kind.startswith("GEOMETRY"):
        return f"ST_AsText({name})"
    if kind.startswith(_STRUCTURED) or _family(kind) in _AS_TEXT:
        return f"CAST({name} AS VARCHAR)"
    return name


def _family(kind: str) -> str:
    if kind.startswith("TIMESTAMP"):
        return "TIMESTAMP"
    return kind.partition("(")[0]


def _tuple(found: Any) -> Cell:
    if isinstance(found, (list, tuple)):
        return tuple(_tuple(one) for one in found)
    return found  # type: ignore[no-any-return]  # what the library gives is a cell


def _date(found: str | None) -> Cell:
    return _or_text(date.fromisoformat, found)


def _timestamp(found: str | None) -> Cell:
    return _or_text(datetime.fromisoformat, found)


def _time(found: str | None) -> Cell:
    return _or_text(time.fromisoformat, found)


def _or_text(read: Callable[[str], Cell], found: str | None) -> Cell:
    if found is None or _NANOSECONDS.search(found):
        return found
    try:
        return read(found)
    except ValueError:  # infinity, and years that Python has none of
        return found


def _interval(found: str | None) -> Cell:
    """A span of days and less; one of months, whose length isn't known, stays text."""
    if found is None or _MONTHS.search(found):
        return found
    days, clock = _DAYS.search(found), _CLOCK.search(found)
    whole = timedelta(days=int(days[1])) if days else timedelta()
    if clock is None:
        return whole
    sign, hours, minutes, seconds, part = clock.groups()
    rest = timedelta(
        hours=int(hours), minutes=int(minutes), seconds=int(seconds),
        microseconds=int((part or "0").ljust(6, "0")[:6]),
    )  # fmt: skip
    return whole - rest if sign else whole + rest


def _whole(found: str | None) -> Cell:
    return None if found is None else int(found)


_AS_TEXT = frozenset({"DATE", "TIMESTAMP", "TIME_NS", "INTERVAL", "BIGNUM", "VARINT", "BIT"})
_READINGS: dict[str, Reading] = {
    "DATE": _date,
    "TIMESTAMP": _timestamp,
    "TIME_NS": _time,
    "INTERVAL": _interval,
    "BIGNUM": _whole,
    "VARINT": _whole,
}


class Filled(Protocol):
    """A connection that isn't locked yet."""

    def execute(self, sql: str, parameters: object = None) -> object:
        """Run a statement with its parameters."""
        ...

    def register_filesystem(self, filesystem: Any) -> None:
        """Let it read files by a file system of fsspec's."""
        ...


Fill = Callable[[Filled, Mapping[str, Any]], None]
"""Given a connection and an opening, makes tables in its memory, or lets it read other files.
Raises ReadFailed."""

SQL_BYTES = 1_000_000
"""UTF-8 bytes of a statement at most."""
CATALOG = "sqlwright_stored"
"""The name by which a file is known to its connection; a name that no namespace in it has, since
DuckDB takes `a.b` for either."""
EXPLAINS = frozenset({"", "EXPLAIN (FORMAT JSON)"})
"""Words before a query that has to be explained."""
_CHUNK_ROWS = 256
"""Rows that are fetched at a time."""
_ASYNC_THREADS = 2
"""Threads that read ahead, from DuckDB 2.0. It starts eight; without any, reading many Parquet
files may wait for ever."""
_BESIDE_BYTES = 64 * 1024 * 1024
"""Bytes of the memory allowed that are left to the library, beside its buffers."""
_LEAST_BYTES = 48 * 1024 * 1024
"""Bytes that the buffers get at least, however little memory is allowed."""
_SETTINGS = {
    "enable_external_access": False,
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "allow_unsigned_extensions": False,
    "allow_persistent_secrets": False,
    "allow_unredacted_secrets": False,
    "allow_extension_repositories": "forbidden",
    "python_enable_replacements": False,
    "python_scan_all_frames": False,
    "enable_external_file_cache": False,
    "catalog_error_max_schemas": 0,
    "lock_configuration": True,
}
"""Set in this order once what is to be read is attached; what a version lacks is left out."""


class DuckDBSession:
    """One DuckDB instance, configured and locked. Not thread-safe, but `interrupt` may come from
    another thread."""

    def __init__(self, opening: Mapping[str, Any], machine: Machine) -> None:
        """`opening` names a file to attach, or files that views over them may read. Raises the
        library's errors."""
        self.memory = machine.memory
        self._connection = duckdb.connect(":memory:", config=machine.config)
        try:
            self._set_up(opening, machine)
        except BaseException:
            self._connection.close()
            raise

    def _set_up(self, opening: Mapping[str, Any], machine: Machine) -> None:
        run = self._connection.execute
        settings = dict(_SETTINGS)
        if "file" in opening:
            run(f"ATTACH {quote_text(opening['file'])} AS {CATALOG} (READ_ONLY)")
            run(f"USE {CATALOG}")
            run("DETACH memory")
        else:
            if machine.fill is not None:
                machine.fill(self._connection, opening)
            # Without a list, external access off would keep the views from their files, too.
            paths = ", ".join(map(quote_text, opening["paths"]))
            run(f"SET allowed_paths = [{paths}]")
            if settings.pop("enable_external_access") is False:
                run("SET enable_external_access = false")
            for made in opening["views"]:
                run(made)
        if machine.zone:
            run(f"SET TimeZone = {quote_text(machine.zone)}")
        for name, value in settings.items():
            if name in machine.settings:
                run(f"SET {name} = {quote_text(value) if isinstance(value, str) else value}")

    def described(
        self, sql: str, parameters: Sequence[Cell] = ()
    ) -> tuple[tuple[str, ...], list[str]]:
        """A query's columns' names and types; nothing of it runs."""
        told = self._connection.execute(f"DESCRIBE {sql}", list(parameters)).fetchall()
        return tuple(str(row[0]) for row in told), [str(row[1]) for row in told]

    def rows(
        self, sql: str, kinds: Sequence[str], parameters: Sequence[Cell] = ()
    ) -> Iterator[Row]:
        """The rows of a query whose columns have these types. It runs with the first of them."""
        if not all(map(is_plain, kinds)):
            names = ", ".join(f"c{number}" for number in range(len(kinds)))
            body = _without_end(sql)
            sql = f"SELECT {written(kinds)} FROM ({body}\n) AS t({names})"
        self._connection.execute(sql, list(parameters))
        readings = [(at, read) for at, kind in enumerate(kinds) if (read := reading(kind))]
        while found := self._connection.fetchmany(_CHUNK_ROWS):
            for row in found:
                if not readings:
                    yield row
                    continue
                cells = list(row)
                for at, read in readings:
                    cells[at] = read(cells[at])
                yield tuple(cells)

    def all(self, sql: str, parameters: Sequence[Cell] = ()) -> list[tuple[Any, ...]]:
        """All rows of a statement of our own, as the library gives them."""
        return self._connection.execute(sql, list(parameters)).fetchall()

    def tree(self, sql: str) -> dict[str, Any]:
        """The one query of a text as the library's parser reads it. Raises Refused and the
        library's errors."""
        statements = self._connection.extract_statements(sql)
        if len(statements) != 1:
            raise Refused("only one statement may run" if statements else "there is no statement")
        if not _is_query(statements[0]):
            raise Refused("only a plain query may run")
        try:
            tree: dict[str, Any] = json.loads(self.all("SELECT json_serialize_sql(?)", [sql])[0][0])
        except RecursionError:
            raise Refused("the query is nested too deeply") from None
        if tree.get("error") or len(tree["statements"]) != 1:
            raise Refused("only a plain query may run")
        return tree

    def view_tree(self, create: str) -> dict[str, Any] | None:
        """The query of a CREATE VIEW as the library's parser reads it; None where it can't be
        told."""
        data = create.encode()
        with contextlib.suppress(Refused, duckdb.Error):
            for place, kind in duckdb.tokenize(create):
                if kind == duckdb.token_type.keyword and data[place : place + 2].upper() == b"AS":
                    return self.tree(data[place + 2 :].decode())
        return None

    def drop_result(self) -> None:
        """Let go of what a query that wasn't read to its end holds."""
        self._connection.execute("SELECT 1").fetchall()

    def interrupt(self) -> None:
        """Stop the running query soon, from any thread; nothing if it is being closed."""
        with contextlib.suppress(duckdb.Error):
            self._connection.interrupt()

    def close(self) -> None:
        self._connection.close()


class Machine:
    """The settings that every connection of a process has in common."""

    def __init__(self, threads: int, fill: Fill | None = None) -> None:
        """Read once, before no other file can be opened: the time zone and what can be set."""
        self.fill = fill
        connection = duckdb.connect(":memory:", config={"threads": threads})
        settings = connection.execute("SELECT name, value FROM duckdb_settings()").fetchall()
        connection.close()
        known = {str(name): value for name, value in settings}
        self.settings = frozenset(known)
        self.zone = str(known.get("TimeZone") or "")
        self.memory = ""
        self.config: dict[str, str | bool | int | float | list[str]] = {
            "threads": threads,
            "temp_directory": "",
        }
        if "async_threads" in known:
            self.config["async_threads"] = _ASYNC_THREADS

    def set_memory(self, size: int) -> None:
        """The most that the next connection's buffers may take, in bytes: what it is allowed less
        what the library takes beside them. Where it meets the system's limit first, a thread of its
        own may end the process."""
        buffers = max(size - _BESIDE_BYTES, _LEAST_BYTES)
        self.memory = self.config["memory_limit"] = f"{buffers // 1_000_000}MB"


class GuardedConnection:
    """A connection that only answers queries over some tables."""

    def __init__(self, opening: Mapping[str, Any], machine: Machine) -> None:
        """With a list of tables among `opening`, nothing else can be read."""
        self._opening, self._machine = opening, machine
        self._session = DuckDBSession(opening, machine)
        self._phase: Literal["prepare", "run"] = "prepare"
        try:
            self._names = readable(self._session, opening.get("tables"), _functions(opening))
        except BaseException:
            self._session.close()
            raise

    def execute(self, sql: str, explain: str = "") -> tuple[tuple[str, ...], Iterator[Row]]:
        """Column names and a lazy iterator of rows; with `explain` those of the query's plan, and
        nothing of it runs. Raises Refused, ReadFailed or the library's errors."""
        self._phase = "prepare"
        if explain not in EXPLAINS:
            raise Refused("only a plan may be asked for")
        if "\0" in sql:
            raise Refused("the text contains a NUL character")
        if len(sql.encode()) > SQL_BYTES:
            raise Refused("the query is too long")
        if self._session.memory != self._machine.memory:  # its configuration is locked
            self._session.close()
            self._session = DuckDBSession(self._opening, self._machine)
        check_tree(self._session.tree(sql), self._names)
        if explain:
            rows = self._session.all(f"{explain} {sql}")
            return ("kind", "plan"), iter(rows)
        names, kinds = self._session.described(sql)
        self._phase = "run"
        return names, self._session.rows(sql, kinds)

    @property
    def phase(self) -> Literal["prepare", "run"]:
        """Stage that the last query reached: only prepared, or run, if only to its first row."""
        return self._phase

    def finish(self) -> None:
        """Let go of the last query's result."""
        self._session.drop_result()

    def interrupt(self) -> None:
        """Stop the running query soon, from any thread."""
        self._session.interrupt()

    def close(self) -> None:
        self._session.close()


class TrustedConnection:
    """A read-only connection for SQL that sqlwright itself wrote; what it reads may still come from
    anybody."""

    def __init__(self, opening: Mapping[str, Any], machine: Machine) -> None:
        self._session = DuckDBSession(opening, machine)
        self._functions = _functions(opening)

    def rows(self, sql: str, parameters: Sequence[Cell] = ()) -> Iterator[Row]:
        """Rows one by one. Raises the library's errors."""
        _, kinds = self._session.described(sql, parameters)
        return self._session.rows(sql, kinds, parameters)

    def shown(self, tables: Sequence[str]) -> dict[str, list[str]]:
        """Listed views by what they read of tables that aren't listed, or call of functions that
        the database defines and that might."""
        return showing(self._session, tables, self._functions)

    def interrupt(self) -> None:
        """Stop the running query soon, from any thread."""
        self._session.interrupt()

    def close(self) -> None:
        self._session.close()


def _functions(opening: Mapping[str, Any]) -> frozenset[tuple[str, str]]:
    """Folded namespaces and names of the macros that may be called."""
    return frozenset((space, own) for space, own in opening.get("functions", ()))


def _is_query(statement: duckdb.Statement) -> bool:
    try:
        return bool(statement.type == duckdb.StatementType.SELECT)
    except ValueError:  # a kind that the binding has no name for
        return False


def _without_end(sql: str) -> str:
    """The one statement of a text without the semicolon that ends it."""
    data = sql.encode()
    for place, _ in duckdb.tokenize(sql):
        if data[place : place + 1] == b";":
            return data[:place].decode()
    return sql
