"""Days and moments as people write them: shapes as formats of DuckDB's."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

ORDERS = {"dmY": "day first", "mdY": "month first", "dmy": "day first", "mdy": "month first",
          "ymd": "year first", "Ymd": "year first"}  # fmt: skip
"""The orders in which people write dates of numbers, and what they are called."""
_DIGITS = re.compile("[89]")
_DATE = re.compile(r"(9{1,4})([-./ ])(9{1,2})\2(9{1,4})")
_NAMED = re.compile(r"(?:9{1,2}([-. /]|\. )([A-Za-z]{3,9})(\.?,?[-. /])(9{4}|9{2})|"
                    r"([A-Za-z]{3,9}) 9{1,2}(,? )9{4})")  # fmt: skip
_TIME = re.compile(r"(T|,? +)9{1,2}:9{2}(:9{2})?([.,]9+)?( ?[AaPp][Mm])?")
_CLOCK = re.compile(r"9{1,2}:9{2}(:9{2})?([.,]9+)?( ?[AaPp][Mm])?")
_ZONE = re.compile(r"9999-99-99[T ]99:99(:99)?(\.9+)?( ?Z|[+-]99(:?99)?)")


@dataclass(frozen=True, slots=True)
class Day:
    """The way in which the cells of one shape write a day, a moment or a time."""

    kind: str
    """DATE, TIMESTAMP, TIMESTAMP WITH TIME ZONE or TIME."""
    formats: Mapping[str, str]
    """Formats that it may have, by the order of their parts."""
    plain: bool = False
    """True if DuckDB reads it without a format."""


def day_of(shape: str) -> Day | None:
    """The day that a shape is; None for another thing."""
    shape = _DIGITS.sub("9", shape)
    if _ZONE.fullmatch(shape):
        return Day("TIMESTAMP WITH TIME ZONE", {"": "%Y-%m-%d %H:%M:%S%z"}, plain=True)
    if clock := _CLOCK.fullmatch(shape):
        written = _clock(*clock.groups())
        return Day("TIME", {"": written}, plain=shape == "99:99:99")
    for pattern, orders in ((_DATE, _numbered), (_NAMED, _named)):
        found = pattern.match(shape)
        formats = orders(found) if found else {}
        if not formats:
            continue
        assert found is not None
        rest = shape[found.end() :]
        time = _TIME.fullmatch(rest)
        plain = "Ymd" in formats and found[2] == "-" and len(found[0]) == 10
        if not rest:
            return Day("DATE", formats, plain=plain)
        if time:
            after = time[1] + _clock(*time.groups()[1:])
            told = {order: one + after for order, one in formats.items()}
            return Day("TIMESTAMP", told, plain=plain and not time[4] and "," not in rest)
    return None


def _numbered(found: re.Match[str]) -> dict[str, str]:
    first, sep, _, last = found.groups()
    if len(first) == 4 and len(last) <= 2:
        orders = ["Ymd"]
    elif len(first) <= 2 and len(last) == 4:
        orders = ["dmY"] if sep == "." else ["dmY", "mdY"]
    elif len(first) <= 2 and len(last) == 2:
        orders = ["dmy"] if sep == "." else ["ymd", "dmy", "mdy"]
    else:
        return {}
    return {order: sep.join(f"%{part}" for part in order) for order in orders}


def _named(found: re.Match[str]) -> dict[str, str]:
    day, month, sep, year, first, after = found.groups()
    name = "%b" if len(month or first) == 3 else "%B"
    if first:
        return {"": f"{name} %d{after}%Y"}
    return {"": f"%d{day}{name}{sep}{'%y' if len(year) == 2 else '%Y'}"}


def _clock(seconds: str | None, parts: str | None, noon: str | None) -> str:
    written = ("%I" if noon else "%H") + ":%M" + (":%S" if seconds else "")
    written += f"{parts[0]}%f" if parts else ""
    return written + (noon[:-2] + "%p" if noon else "")
