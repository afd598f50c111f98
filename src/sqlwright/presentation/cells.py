"""Values that SQLite lacks, for people and as JSON: decimals, dates, moments, spans of time, UUIDs,
arrays. Texts, blobs, integers and real numbers are `answer.py`'s.

JSON has a decimal as a number where reading it back as a real number or an integer gives the very
same value, and else as a text of its digits; dates, times and moments as ISO 8601 writes them, a
span of time as its duration (`P1DT2H`), an array as a list. People and CSV get decimals with all
their digits but the zeros that pad them, moments with a blank in the middle, a span of time as
`1 day 02:00:00`.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from sqlwright.boundary.text import counted

LONGEST_PLAIN = 40
"""Digits of a decimal that is written without an exponent."""
MOST_ZEROS = 6
"""Decimal places beyond which zeros at the end are left out: no money is kept so."""
_EXACT = 2**53
"""Integers below it are exact whoever reads them."""

TYPED = (Decimal, date, time, timedelta, UUID, tuple)
"""The kinds of values that this module writes; a moment (`datetime`) is a date, too."""


def plain_text(cell: object) -> str:
    """A value's whole text as people read it; controls are left in it."""
    match cell:
        case None:
            return "NULL"
        case bool():
            return str(cell).lower()
        case bytes():
            return f"x'{cell.hex()}'"
        case tuple():
            return f"[{', '.join(map(plain_text, cell))}]"
        case Decimal():
            return decimal_text(cell)
        case timedelta():
            return _span_text(cell)
        case _:
            return str(cell)


def typed_to_json(cell: object, within: Callable[[Any], Any]) -> Any:
    """A value of one of the kinds of `TYPED` as a JSON type; `within` gives an array's members."""
    match cell:
        case tuple():
            return [within(one) for one in cell]
        case Decimal():
            return _decimal_to_json(cell)
        case timedelta():
            return _duration(cell)
        case date() | time():
            return cell.isoformat()
        case _:
            return str(cell)


def decimal_text(number: Decimal) -> str:
    """A decimal with all its digits but zeros at the end of many places, without an exponent where
    that isn't too long."""
    if not number.is_finite():
        return str(number)
    _, _, exponent = number.as_tuple()
    if isinstance(exponent, int) and exponent < -MOST_ZEROS:
        number = _without_zeros(number)
    short = -LONGEST_PLAIN < number.adjusted() < LONGEST_PLAIN
    return f"{number:f}" if short else str(number)


def _without_zeros(number: Decimal) -> Decimal:
    """The same number; engines pad averages with zeros up to sixteen places."""
    return Decimal(f"{number:f}".rstrip("0").rstrip("."))


def _decimal_to_json(number: Decimal) -> int | float | str:
    if number.is_finite():
        if number == number.to_integral_value() and abs(number) < _EXACT:
            return int(number)
        if Decimal(repr(float(number))) == number:
            return float(number)
    return decimal_text(number)


def _parts(span: timedelta) -> tuple[str, int, int, int, int, str]:
    """A span's sign, days, hours, minutes, seconds, and fraction of a second as it is written."""
    sign, span = ("-", -span) if span < timedelta() else ("", span)
    minutes, seconds = divmod(span.seconds, 60)
    fraction = f".{span.microseconds:06d}".rstrip("0") if span.microseconds else ""
    return sign, span.days, minutes // 60, minutes % 60, seconds, fraction


def _span_text(span: timedelta) -> str:
    sign, days, hours, minutes, seconds, fraction = _parts(span)
    clock = f"{sign}{hours:02d}:{minutes:02d}:{seconds:02d}{fraction}"
    return f"{sign}{counted(days, 'day')} {clock}" if days else clock


def _duration(span: timedelta) -> str:
    sign, days, hours, minutes, seconds, fraction = _parts(span)
    clock = f"{hours}H" * bool(hours) + f"{minutes}M" * bool(minutes)
    clock += f"{seconds}{fraction}S" if seconds or fraction else ""
    if not days and not clock:
        clock = "0S"
    return f"{sign}P" + f"{days}D" * bool(days) + f"T{clock}" * bool(clock)
