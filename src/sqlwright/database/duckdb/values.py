"""Values of DuckDB as cells: what the library can't hand out as it is, it is asked for as text."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqlwright.types import Cell

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
