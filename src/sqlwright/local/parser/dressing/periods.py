"""Days, months and years as a query compares with them, and as columns store them."""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import dataclass

from sqlwright.form import nodes as f
from sqlwright.form.stored import Stored

_ISO = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?\Z")
_COMPACT = re.compile(r"(\d{4})(\d{2})(\d{2})\Z")


@dataclass(frozen=True, slots=True)
class Period:
    """A day, a month or a year. ISO 8601, cut to its precision: 1997, 1997-05, 1997-05-03."""

    iso: str

    @property
    def first(self) -> str:
        """Its first day."""
        return self.iso + "-01-01"[len(self.iso) - 4 :]

    @property
    def last(self) -> str:
        """Its last day."""
        if len(self.iso) == 4:
            return f"{self.iso}-12-31"
        if len(self.iso) == 7:
            return f"{self.iso}-{monthrange(int(self.iso[:4]), int(self.iso[5:]))[1]}"
        return self.iso


def period_of(value: str | float) -> Period | None:
    """The time that a constant names; None for others. A whole number may be a year."""
    found = _ISO.match(str(value)) if isinstance(value, str | int) else None
    if found is None:
        return None
    year, month, day = (int(part or 1) for part in found.groups())
    if not (year >= 1 and 1 <= month <= 12 and 1 <= day <= monthrange(year, month)[1]):
        return None
    return Period(str(value))


def stored_day(day: str, stored: Stored) -> f.Literal:
    """An ISO day as a column without times of day stores it."""
    year, month, last = day.split("-")
    if stored.way == "compact":
        return f.Literal(int(year + month + last) if stored.number else year + month + last)
    ends = (last, month) if stored.way == "dmy" else (month, last)
    return f.Literal(stored.mark.join((*ends, year)))


def day_of(value: str | float) -> str | None:
    """The ISO day of one without marks, such as 20240131; None for others."""
    found = _COMPACT.match(str(value)) if isinstance(value, str | int) else None
    iso = "-".join(found.groups()) if found else ""
    return iso if iso and period_of(iso) else None


def starting(day: str) -> Period | None:
    """The longest period, a month or a year, that begins with a day."""
    if day.endswith("-01-01"):
        return Period(day[:4])
    return Period(day[:7]) if day.endswith("-01") else None


def ending(day: str) -> Period | None:
    """The longest period, a month or a year, that ends with a day."""
    if day.endswith("-12-31"):
        return Period(day[:4])
    month = Period(day[:7])
    return month if month.last == day else None


def iso_of(value: str | float, stored: Stored) -> str | None:
    """The ISO day that a constant is which a column is compared with; None for others."""
    if isinstance(value, str) and len(value) == 10 and period_of(value):
        return value
    if stored.way == "compact":
        return day_of(value)
    if stored.way in {"dmy", "mdy"} and isinstance(value, str) and len(value) == 10:
        first, second, year = value[:2], value[3:5], value[6:]
        iso = f"{year}-{second}-{first}" if stored.way == "dmy" else f"{year}-{first}-{second}"
        return iso if stored.mark and value[2] == stored.mark and period_of(iso) else None
    return None
