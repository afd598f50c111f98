"""Values of PostgreSQL as `types.Cell`: what Python has no type for comes as the server's text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psycopg import DataError
from psycopg.adapt import Loader
from psycopg.types import TypeInfo
from psycopg.types.array import register_array
from psycopg.types.datetime import (
    DateLoader,
    IntervalLoader,
    TimeLoader,
    TimestampLoader,
    TimestamptzLoader,
    TimetzLoader,
)

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg.abc import Buffer

    from sqlwright.types import Cell

_AS_TEXT = (
    "json", "jsonb", "inet", "cidr", "record",
    "int4range", "int8range", "numrange", "daterange", "tsrange", "tstzrange",
    "int4multirange", "int8multirange", "nummultirange", "datemultirange", "tsmultirange",
    "tstzmultirange",
)  # fmt: skip
"""Types that the driver has classes of its own for."""
_TEXTS = ("text", "varchar", "bpchar", "name", '"char"')
ARRAYS = """
    SELECT e.typname, a.typelem, a.oid FROM pg_catalog.pg_type a
    JOIN pg_catalog.pg_type e ON e.oid = a.typelem AND e.typarray = a.oid
    WHERE a.typcategory = 'A' AND a.oid >= 16384 AND e.typtype IN ('e', 'b', 'd')
    ORDER BY a.oid LIMIT 1000
"""
"""Arrays of the database's own types: name and number of the element, number of the array."""


class _Text(Loader):
    """Text that isn't valid UTF-8 comes with replacement characters."""

    def load(self, data: Buffer) -> str:
        return bytes(data).decode("utf-8", "replace")


class _Date(DateLoader):
    def load(self, data: Buffer) -> Any:
        return _or_text(super().load, data)


class _Time(TimeLoader):
    def load(self, data: Buffer) -> Any:
        return _or_text(super().load, data)


class _Timetz(TimetzLoader):
    def load(self, data: Buffer) -> Any:
        return _or_text(super().load, data)


class _Timestamp(TimestampLoader):
    def load(self, data: Buffer) -> Any:
        return _or_text(super().load, data)


class _Timestamptz(TimestamptzLoader):
    def load(self, data: Buffer) -> Any:
        return _or_text(super().load, data)


class _Interval(IntervalLoader):
    """Months and years have no length, so they stay a text."""

    def load(self, data: Buffer) -> Any:
        if b"mon" in bytes(data) or b"year" in bytes(data):
            return bytes(data).decode()
        return _or_text(super().load, data)


_MOMENTS: dict[str, type[Loader]] = {
    "date": _Date,
    "time": _Time,
    "timetz": _Timetz,
    "timestamp": _Timestamp,
    "timestamptz": _Timestamptz,
    "interval": _Interval,
}


def register(connection: Connection[Any]) -> bool:
    """Have a connection give cells. True for a database whose texts are bytes of any encoding: the
    server has to be kept from taking them for UTF-8."""
    adapters = connection.adapters
    for name, loader in _MOMENTS.items():
        adapters.register_loader(name, loader)
    for name in _AS_TEXT:
        adapters.register_loader(name, _Text)
    if connection.info.parameter_status("server_encoding") != "SQL_ASCII":
        return False
    for name in _TEXTS:
        adapters.register_loader(name, _Text)
    adapters.register_loader(0, _Text)
    return True


def register_own(connection: Connection[Any], rows: list[tuple[Any, ...]]) -> None:
    """Have a connection give arrays of the database's own types as arrays; the rows of `ARRAYS`."""
    for name, element, array in rows:
        register_array(TypeInfo(str(name), int(element), int(array)), connection)


def as_cell(value: Any) -> Cell:
    """A value with arrays as tuples."""
    return tuple(map(as_cell, value)) if type(value) is list else value


def _or_text(load: Any, data: Buffer) -> Any:
    """The value, or the server's text of one that Python can't hold: infinity, a year of five
    digits, one before Christ, 24 o'clock."""
    try:
        return load(data)
    except (DataError, OverflowError, ValueError):
        return bytes(data).decode("utf-8", "replace")
