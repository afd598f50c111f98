"""Days, months and years as queries name them: ISO 8601, cut to their precision."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterable
from dataclasses import dataclass

_ISO = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?\Z")


@dataclass(frozen=True, slots=True)
class Period:
    """A day, a month or a year: 1997-05-03, 1997-05, 1997."""

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
            return f"{self.iso}-{_days(self.iso)}"
        return self.iso

    @property
    def after(self) -> str:
        """The day after its last one; empty after the year 9999, the last that engines share."""
        year, month, day = (int(part) for part in self.last.split("-"))
        if day < _days(self.last):
            return f"{self.last[:8]}{day + 1:02d}"
        if month < 12:
            return f"{year:04d}-{month + 1:02d}-01"
        return f"{year + 1:04d}-01-01" if year < 9999 else ""

    @property
    def before(self) -> str:
        """The day before its first one; empty before the year 1."""
        year, month, day = (int(part) for part in self.first.split("-"))
        if day > 1:
            return f"{self.first[:8]}{day - 1:02d}"
        if month > 1:
            return Period(f"{year:04d}-{month - 1:02d}").last
        return f"{year - 1:04d}-12-31" if year > 1 else ""


def is_bound(iso: str, operator: str, texts: Iterable[str]) -> bool:
    """True if a comparison with a time is one with the day next to it in some of a query's texts:
    after 1990 is from 1991-01-01 on, and before 1990 is up to 1989-12-31."""
    period = period_of(iso)
    if period is None or operator not in {"<", ">", "<=", ">="}:
        return False
    day = period.after if operator in {">", "<="} else period.before
    return bool(day) and any(text[:10] == day for text in texts)


def _days(iso: str) -> int:
    """The number of days in a date's month."""
    return monthrange(int(iso[:4]), int(iso[5:7]))[1]


def period_of(value: str | float) -> Period | None:
    """The time that a constant names; None for others. A whole number may be a year."""
    found = _ISO.match(str(value)) if isinstance(value, str | int) else None
    if found is None:
        return None
    year, month, day = (int(part or 1) for part in found.groups())
    if not (year >= 1 and 1 <= month <= 12 and 1 <= day <= monthrange(year, month)[1]):
        return None
    return Period(str(value))


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
