"""A connection by SQLAlchemy. Each statement is rolled back, its rows come in chunks, and where the
dialect has a way to be read-only it is used."""

from __future__ import annotations

import contextlib
import datetime
import decimal
import json
import os
import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool

from sqlwright.database.failures import Refused
from sqlwright.database.generic.introspect import described

if TYPE_CHECKING:
    from typing import Literal

    from sqlwright.types import Cell

    Row = tuple[Cell, ...]

CHUNK_ROWS = 500
"""Rows that are fetched at a time, so that no answer is held whole."""
INTROSPECT = "sqlwright:schema"
"""A reading that isn't SQL: the schema by the inspector, a row a table, as JSON."""
READ_ONLY = {
    "clickhouse": "SET readonly = 1",
    "clickhousedb": "SET readonly = 1",
    "chdb": "SET readonly = 1",
    "oracle": "SET TRANSACTION READ ONLY",
    "trino": "START TRANSACTION READ ONLY",
    "cockroachdb": "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY",
    "redshift": "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY",
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
        # Without parameters a % is one, whatever the driver writes places with.
        self._connection = self._engine.connect().execution_options(
            stream_results=True, yield_per=CHUNK_ROWS, no_parameters=True
        )
        self._only_reads = False

    def _settle(self) -> None:
        """Make the session read-only, once, or each transaction. Inspectors set things, so it is
        done after them."""
        statement = READ_ONLY.get(self._engine.dialect.name)
        if statement and not self._only_reads:
            self._connection.exec_driver_sql(statement).close()
        self._only_reads = True

    def execute(self, sql: str, explain: str = "") -> tuple[tuple[str, ...], Iterator[Row]]:
        """Column names and a lazy iterator of rows. Raises Refused or SQLAlchemy's errors."""
        if explain:
            raise Refused("this engine's plans aren't read")
        self._settle()
        result = self._connection.exec_driver_sql(sql)
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
            result = self._connection.exec_driver_sql(sql, tuple(parameters) or None)
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
