"""A connection by SQLAlchemy. Each statement is rolled back, its rows come in chunks, and where the
dialect has a way to be read-only it is used."""

from __future__ import annotations

import contextlib
import datetime
import decimal
import json
import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import sqlalchemy
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool

from sqlwright.database.failures import Refused

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
_EXACT = (
    bool, int, float, str, bytes, decimal.Decimal, datetime.date, datetime.time,
    datetime.timedelta, uuid.UUID,
)  # fmt: skip


class SqlalchemyConnection:
    """A connection for both kinds of SQL. Whoever interrupts it ends the process soon after."""

    phase: Literal["prepare", "run"] = "run"

    def __init__(self, opening: Mapping[str, Any]) -> None:
        self._engine = sqlalchemy.create_engine(opening["url"], poolclass=NullPool)
        self._connection = self._engine.connect().execution_options(
            stream_results=True, yield_per=CHUNK_ROWS
        )
        statement = READ_ONLY.get(self._engine.dialect.name)
        self._inspected = self._inspect() if opening["introspects"] else []
        if statement:
            self._connection.exec_driver_sql(statement).close()

    def execute(self, sql: str, explain: str = "") -> tuple[tuple[str, ...], Iterator[Row]]:
        """Column names and a lazy iterator of rows. Raises Refused or SQLAlchemy's errors."""
        if explain:
            raise Refused("this engine's plans aren't read")
        result = self._connection.exec_driver_sql(sql)
        if not result.returns_rows:
            raise Refused("only a query may run")
        return tuple(map(str, result.keys())), (tuple(map(_cell, row)) for row in result)

    def rows(self, sql: str, parameters: Sequence[Cell] = ()) -> Iterator[Row]:
        """Rows one by one; a parameter's place is the driver's own."""
        if sql == INTROSPECT:
            return iter(self._inspected or self._inspect())
        result = self._connection.exec_driver_sql(sql, tuple(parameters) or None)
        return (tuple(map(_cell, row)) for row in result)

    def shown(self, tables: Collection[str]) -> dict[str, list[str]]:
        """Nothing: no table shows what others hold."""
        del tables
        return {}

    def finish(self) -> None:
        """Roll the query's transaction back."""
        self._connection.rollback()

    def interrupt(self) -> None:
        """Nothing: SQLAlchemy can't stop a statement; the process is killed."""

    def close(self) -> None:
        """Close at once."""
        with contextlib.suppress(SQLAlchemyError):
            self._connection.close()
        self._engine.dispose()

    def _inspect(self) -> list[Row]:
        inspector = sqlalchemy.inspect(self._connection)
        kinds = [("table", name) for name in inspector.get_table_names()]
        kinds += [("view", name) for name in _asked(inspector.get_view_names)]
        return [
            (json.dumps(_described(inspector, kind, name)),) for kind, name in dict.fromkeys(kinds)
        ]


def _described(inspector: Any, kind: str, name: str) -> dict[str, Any]:
    comment = dict(_asked(lambda: inspector.get_table_comment(name).items()))
    key = dict(_asked(lambda: inspector.get_pk_constraint(name).items()))
    return {
        "name": name,
        "kind": kind,
        "comment": comment.get("text") or "",
        "key": list(key.get("constrained_columns") or ()),
        "columns": [
            {
                "name": str(column["name"]),
                "type": str(column["type"]),
                "nullable": bool(column.get("nullable", True)),
                "comment": column.get("comment") or "",
                "generated": column.get("computed") is not None,
            }
            for column in inspector.get_columns(name)
        ],
        "keys": [
            [
                list(found["constrained_columns"]),
                str(found["referred_table"]),
                list(found["referred_columns"]),
            ]
            for found in _asked(lambda: inspector.get_foreign_keys(name))
            if not found.get("referred_schema")
        ],
    }


def _asked(ask: Any) -> Any:
    """The answer of an inspector; nothing where its dialect has none."""
    try:
        return ask()
    except (NotImplementedError, SQLAlchemyError):
        return ()


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
