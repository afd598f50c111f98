"""Cells of MySQL: what each type becomes. Runs in worker processes.

DECIMAL is a Decimal; DATE a date, DATETIME and TIMESTAMP a datetime in the session's zone; TIME a
timedelta, since it holds spans of up to 838 hours and below zero; BIT a whole number; JSON, ENUM
and SET their text; binary strings and geometry bytes. Dates that no calendar has (0000-00-00,
2024-00-00) stay the text that the server writes.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from typing import Any

from pymysql.constants import FIELD_TYPE
from pymysql.converters import conversions

_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d{1,6})?)")
_SPAN = re.compile(r"(-?)(\d{1,3}):(\d\d):(\d\d)(?:\.(\d{1,6}))?")


def _date(text: str) -> datetime.date | str:
    try:
        return datetime.date.fromisoformat(text) if _DATE.fullmatch(text) else text
    except ValueError:
        return text


def _moment(text: str) -> datetime.datetime | str:
    found = _MOMENT.fullmatch(text)
    try:
        return datetime.datetime.fromisoformat(text) if found else text
    except ValueError:
        return text


def _span(text: str) -> datetime.timedelta | str:
    found = _SPAN.fullmatch(text)
    if found is None:
        return text
    sign, hours, minutes, seconds, fraction = found.groups()
    span = datetime.timedelta(
        hours=int(hours),
        minutes=int(minutes),
        seconds=int(seconds),
        microseconds=int((fraction or "").ljust(6, "0")),
    )
    return -span if sign else span


def _bits(data: bytes) -> int:
    return int.from_bytes(data)


def make_conversions() -> dict[Any, Any]:
    """PyMySQL's table of conversions, with ours for what it gives otherwise."""
    ours: dict[int, Callable[[Any], object]] = {
        FIELD_TYPE.BIT: _bits,
        FIELD_TYPE.DATE: _date,
        FIELD_TYPE.DATETIME: _moment,
        FIELD_TYPE.TIMESTAMP: _moment,
        FIELD_TYPE.TIME: _span,
    }
    return {**conversions, **ours}
