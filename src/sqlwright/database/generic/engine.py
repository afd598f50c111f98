"""Any SQLAlchemy dialect inside a worker process. Each statement is rolled back, its rows come in
chunks, and where the dialect has a way to be read-only it is used. The schema is told by the
dialect's inspector."""

from __future__ import annotations

import contextlib
import datetime
import decimal
import json
import os
import re
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import sqlalchemy
from sqlalchemy.dialects.postgresql.named_types import NamedType
from sqlalchemy.engine.interfaces import Dialect
from sqlalchemy.engine.reflection import Inspector, ObjectKind
from sqlalchemy.exc import DisconnectionError, OperationalError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from sqlwright.database.failures import READ_FAILURES, Failure, Refused, read_failure
from sqlwright.database.workers.engine import OfServer

if TYPE_CHECKING:
    from typing import Literal

    from sqlwright.types import Cell

    Row = tuple[Cell, ...]

SYSTEMS = frozenset({
    "information_schema", "pg_catalog", "pg_toast", "pg_internal", "mysql", "performance_schema",
    "sys", "system", "guest", "db_owner", "db_accessadmin", "db_securityadmin", "db_ddladmin",
    "db_backupoperator", "db_datareader", "db_datawriter", "db_denydatareader", "db_denydatawriter",
    "crdb_internal", "pg_extension",
})  # fmt: skip
"""Namespaces that hold engines' own tables, folded."""
ONE_NAMESPACE = frozenset({"oracle"})
"""Dialects whose namespaces are logins, most of them the engine's own: the login's own is read."""
UNREAD = object()
"""In place of what the engine failed to tell of a table."""


def described(connection: sqlalchemy.Connection) -> Iterator[str]:
    """Each table and view as JSON, those of the usual namespace first, with the parts that the
    engine failed to tell. Raises SQLAlchemyError."""
    inspector = sqlalchemy.inspect(connection)
    names = _told(inspector, inspector.get_schema_names)
    known = () if names is UNREAD else names or ()
    usual = inspector.default_schema_name or _alike(inspector, known)
    if names is UNREAD and inspector.dialect.name not in ONE_NAMESPACE:
        yield json.dumps(_note("", "Only the usual namespace is read: others can't be listed."))
    for namespace in _namespaces(inspector, usual, known):
        for told in _of_namespace(inspector, namespace, usual):
            yield json.dumps(told)


def stored_name(dialect: Dialect, name: str) -> str:
    """A name as the engine keeps it: SQLAlchemy writes the upper case of some engines small."""
    denormalize = getattr(dialect, "denormalize_name", None)
    if not getattr(dialect, "requires_name_normalize", False) or denormalize is None:
        return name
    return str(denormalize(name))


def _namespaces(inspector: Inspector, usual: str | None, names: Sequence[str]) -> list[str | None]:
    """The namespaces to read; None is the usual one."""
    if inspector.dialect.name in ONE_NAMESPACE:
        return [None]
    others = [name for name in names if name != usual and name.casefold() not in SYSTEMS]
    return [None, *(name for name in others if not name.startswith(("pg_toast", "pg_temp")))]


def _alike(inspector: Inspector, names: Sequence[str]) -> str | None:
    """The namespace that has the very tables that names alone reach, where the dialect doesn't name
    the usual one."""
    tables = set(inspector.get_table_names())

    def listed(name: str) -> Any:
        return _told(inspector, partial(inspector.get_table_names, schema=name))

    return next((one for one in names if tables and set(_items(listed(one))) == tables), None)


def _of_namespace(
    inspector: Inspector, namespace: str | None, usual: str | None
) -> Iterator[dict[str, Any]]:
    listing = partial(inspector.get_table_names, schema=namespace)
    # The failure of the usual one is the connection's.
    tables: Any = listing() if namespace is None else _told(inspector, listing)
    if tables is UNREAD:
        yield _note(str(namespace), f"{namespace} is left out: its tables can't be listed.")
        return
    views = [
        _told(inspector, partial(inspector.get_view_names, schema=namespace)),
        _told(inspector, partial(inspector.get_materialized_view_names, schema=namespace)),
    ]
    if UNREAD in views:
        name = namespace or usual or "the database"
        yield _note(namespace or "", f"{name}: its views can't be listed.")
    tables, views = tables or (), [name for told in views for name in _items(told)]
    kinds = dict.fromkeys(tables, "table") | dict.fromkeys(views, "view")
    if not kinds:
        return
    columns = _all(inspector, "columns", namespace, kinds)
    keys = _all(inspector, "pk_constraint", namespace, kinds)
    links = _all(inspector, "foreign_keys", namespace, kinds)
    comments = _all(inspector, "table_comment", namespace, kinds)

    def stored(name: Any) -> str:
        return stored_name(inspector.dialect, str(name))

    for name, kind in kinds.items():
        found = {
            "columns": columns.get(name),
            "primary key": keys.get(name),
            "foreign keys": links.get(name),
            "comment": comments.get(name),
        }
        yield {
            "name": stored(name),
            "namespace": "" if namespace is None else stored(namespace),
            "usual": stored(usual) if usual else "",
            "kind": kind,
            "comment": _fields(found["comment"]).get("text") or "",
            "key": [*map(stored, _fields(found["primary key"]).get("constrained_columns") or ())],
            "columns": [_column(one, stored) for one in _items(found["columns"])],
            "keys": [_link(one, stored) for one in _items(found["foreign keys"])],
            "unread": [part for part, told in found.items() if told is UNREAD],
        }


def _note(namespace: str, note: str) -> dict[str, Any]:
    """A note on a namespace, in the place of a table."""
    return {"name": "", "namespace": namespace, "usual": "", "note": note, "columns": []}


def _fields(told: Any) -> Mapping[str, Any]:
    return {} if told is UNREAD else dict(told or {})


def _items(told: Any) -> Sequence[Any]:
    return () if told is UNREAD else told or ()


def _column(column: Mapping[str, Any], stored: Callable[[Any], str]) -> dict[str, Any]:
    return {
        "name": stored(column["name"]),
        "type": _declared(column["type"]),
        "nullable": bool(column.get("nullable", True)),
        "comment": column.get("comment") or "",
        "generated": column.get("computed") is not None,
    }


def _declared(kind: Any) -> str:
    """A type as it is declared; an enumeration that has a name by that, since it is no text."""
    named = getattr(kind, "name", None) if isinstance(kind, NamedType) else None
    return str(named or kind)


def _link(found: Mapping[str, Any], stored: Callable[[Any], str]) -> list[Any]:
    namespace = found.get("referred_schema")
    return [
        [stored(one) for one in found["constrained_columns"]],
        stored(namespace) if namespace else "",
        stored(found["referred_table"]),
        [stored(one) for one in found["referred_columns"]],
    ]


def _all(
    inspector: Inspector, part: str, namespace: str | None, names: Mapping[str, str]
) -> dict[str, Any]:
    """Columns, keys or comment of each table: asked for all together, or one by one where the
    dialect can't or one of them can't be read. None where the dialect tells nothing, UNREAD where
    the engine failed to."""
    together, singly = getattr(inspector, f"get_multi_{part}"), getattr(inspector, f"get_{part}")
    found = _told(inspector, partial(together, schema=namespace, kind=ObjectKind.ANY))
    if found is not None and found is not UNREAD:
        return {name: told for (_, name), told in found.items()}
    return {name: _told(inspector, partial(singly, name, schema=namespace)) for name in names}


def _told(inspector: Inspector, ask: Callable[[], Any]) -> Any:
    try:
        return ask()
    except NotImplementedError:
        return None
    except SQLAlchemyError:
        # Some engines take no other statement in the transaction of one that failed.
        if isinstance(inspector.bind, sqlalchemy.Connection):
            inspector.bind.rollback()
        return UNREAD


CHUNK_ROWS = 500
"""Rows that are fetched at a time, so that no answer is held whole."""
STREAMED = {"stream_results": True, "yield_per": CHUNK_ROWS, "no_parameters": True}
"""Options of a query: without parameters a % is one, whatever the driver writes places with."""
INTROSPECT = "sqlwright:schema"
"""A reading that isn't SQL: the schema by the inspector, a row a table, as JSON."""
READ_ONLY = {
    "clickhouse": "SET readonly = 1",
    "clickhousedb": "SET readonly = 1",
    "chdb": "SET readonly = 1",
    "oracle": "SET TRANSACTION READ ONLY",
    "trino": "START TRANSACTION READ ONLY",
    **dict.fromkeys(
        ("cockroachdb", "redshift", "postgresql"),
        "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY",
    ),
}
"""Statements that make a session read-only, by SQLAlchemy's name of the dialect; where there is
none the login alone keeps it from writing."""
BY_TRANSACTION = frozenset({"oracle", "trino"})
"""Dialects whose statement holds for one transaction."""
_EXACT = (
    bool, int, float, str, bytes, decimal.Decimal, datetime.date, datetime.time,
    datetime.timedelta, uuid.UUID,
)  # fmt: skip


class SqlalchemyConnection:
    """A connection for both kinds of SQL. Whoever interrupts it ends the process soon after."""

    phase: Literal["prepare", "run"] = "run"

    def __init__(self, opening: Mapping[str, Any]) -> None:
        os.environ.update(opening["environment"])
        self._cursor: Any = None
        self._engine = sqlalchemy.create_engine(opening["url"], poolclass=NullPool)
        sqlalchemy.event.listen(self._engine, "before_cursor_execute", self._remember)
        self._connect()

    def _connect(self) -> None:
        self._connection = self._engine.connect()
        self._only_reads = False

    def _settle(self) -> None:
        """Make the session read-only, once, or each transaction. Inspectors set things, so it is
        done after them. What is set for the session is committed: a rollback would undo it."""
        name = self._engine.dialect.name
        statement = READ_ONLY.get(name)
        if statement and not self._only_reads:
            self._connection.exec_driver_sql(statement).close()
            if name not in BY_TRANSACTION:
                self._connection.commit()
        self._only_reads = True

    def execute(self, sql: str, explain: str = "") -> tuple[tuple[str, ...], Iterator[Row]]:
        """Column names and a lazy iterator of rows. Raises Refused or SQLAlchemy's errors."""
        if explain:
            raise Refused("this engine's plans aren't read")
        self._settle()
        result = self._connection.exec_driver_sql(sql, execution_options=STREAMED)
        if not result.returns_rows:
            raise Refused("only a query may run")
        return tuple(map(str, result.keys())), (tuple(map(_cell, row)) for row in result)

    def rows(self, sql: str, parameters: Sequence[Cell] = ()) -> Iterator[Row]:
        """Rows one by one; a parameter's place is the driver's own."""
        if sql == INTROSPECT:
            if self._only_reads:
                self._connection.close()
                self._connect()
            return ((told,) for told in described(self._connection))
        return self._read(sql, parameters)

    def _read(self, sql: str, parameters: Sequence[Cell]) -> Iterator[Row]:
        """The rows of a reading. One that fails is rolled back: some engines take no other
        statement in its transaction."""
        try:
            self._settle()
            given = tuple(parameters) or None
            result = self._connection.exec_driver_sql(sql, given, execution_options=STREAMED)
            for row in result:
                yield tuple(map(_cell, row))
        except SQLAlchemyError:
            self.finish()
            raise

    def shown(self, tables: Collection[str]) -> dict[str, list[str]]:
        """Nothing: no table shows what others hold."""
        del tables
        return {}

    def finish(self) -> None:
        """Roll the query's transaction back."""
        self._connection.rollback()
        if self._engine.dialect.name in BY_TRANSACTION:
            self._only_reads = False

    def interrupt(self) -> None:
        """Have the driver stop the running statement, where it can; the process is killed else.
        Raises whatever the driver does."""
        for owner in (self._cursor, getattr(self._raw, "driver_connection", None)):
            cancel = getattr(owner, "cancel", None)
            if callable(cancel):
                cancel()
                return

    def close(self) -> None:
        """Close at once."""
        with contextlib.suppress(SQLAlchemyError):
            self._connection.close()
        self._engine.dispose()

    @property
    def _raw(self) -> Any:
        """SQLAlchemy's holder of the driver's connection; None once it is closed."""
        with contextlib.suppress(SQLAlchemyError):
            return self._connection.connection
        return None

    def _remember(self, *arguments: Any) -> None:
        """Keep the driver's cursor, which `before_cursor_execute` tells second."""
        self._cursor = arguments[1]


def _cell(value: Any) -> Any:
    """A value as one that results hold: an array is a tuple, anything unknown its text."""
    if value is None or isinstance(value, _EXACT):
        return value
    if isinstance(value, (list, tuple)):
        return tuple(map(_cell, value))
    if isinstance(value, (bytearray, memoryview)):
        return bytes(value)
    if isinstance(value, dict):
        return json.dumps(value, default=str, ensure_ascii=False)
    return str(value)


_THING = r"(?:table|view|relation|object|column|identifier|expression identifier|field)"
_MISSING = re.compile(
    rf"(?:unknown|invalid|no such|missing|unrecognized|undefined) (?:\w+ )?{_THING}"
    rf"|{_THING} (?:name )?[^ ;]* *(?:does ?n[o']t exist|cannot be (?:resolved|found)|not found)"
    r"|ORA-00942|ORA-00904",
    re.IGNORECASE,
)
_COLUMN = re.compile(r"column|identifier|field|ORA-00904", re.IGNORECASE)
_QUOTED = re.compile(r"[\"'`\[]([^\"'`\]]+)[\"'`\]]")
FAILURES = (Exception,)
"""Exceptions of running a query: a driver that nothing is known of may raise anything, and this is
the end of a process."""
LONGEST_MESSAGE = 500
"""Characters of a driver's message that are told."""


def explain_failure(error: BaseException) -> Failure:
    """The failure that an exception of a connection stands for."""
    if isinstance(error, Refused):
        return Failure("unsafe", str(error))
    if isinstance(error, SQLAlchemyError):
        lost = getattr(error, "connection_invalidated", False)
        message = _in_a_line(str(getattr(error, "orig", None) or error))[:LONGEST_MESSAGE]
        if lost or isinstance(error, DisconnectionError):
            return Failure("unavailable", f"the connection was lost ({message})")
        known = isinstance(error, OperationalError) and getattr(error, "statement", None) is None
        return Failure("unavailable", message) if known else _of_query(message)
    if isinstance(error, READ_FAILURES):
        return read_failure(error)
    message = _in_a_line(f"{type(error).__name__}: {error}")[:LONGEST_MESSAGE]
    return Failure("unavailable", f"the driver failed ({message})")


def _of_query(message: str) -> Failure:
    """A query's failure. Whether a name is missing is read from the words that most engines have
    for it; one that has others gets no advice."""
    found = _MISSING.search(message)
    if found is None:
        return Failure("sql", message)
    column = _COLUMN.search(found[0]) and "table" not in found[0].lower()
    quoted = _QUOTED.search(message, found.start()) or _QUOTED.search(message)
    name = quoted[1] if quoted else ""
    return Failure("sql", message, "unknown_column" if column else "unknown_table", name)


def _in_a_line(message: str) -> str:
    """A driver's message without the place in the query that some point at below it."""
    told = message.partition("\nLINE ")[0]
    return "; ".join(line.strip() for line in told.splitlines() if line.strip())


class _Sqlalchemy(OfServer):
    """`workers.engine.Engine` for what SQLAlchemy reaches. An unknown driver may need threads,
    files and the network, so no right is given up but what limits and the kill take."""

    failures = FAILURES
    threads = 16
    idle_bytes = 2 * 1024 * 1024 * 1024
    addresses = 64 * 1024 * 1024 * 1024

    def start(self, folder: str) -> list[str]:
        """Nothing can be given up."""
        del folder
        return []

    def guarded(self, opening: Mapping[str, Any]) -> SqlalchemyConnection:
        return SqlalchemyConnection(opening)

    def trusted(self, opening: Mapping[str, Any]) -> SqlalchemyConnection:
        return SqlalchemyConnection(opening)

    def explain(self, error: BaseException) -> Failure:
        return explain_failure(error)


ENGINE = _Sqlalchemy()
