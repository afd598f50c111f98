"""Days as columns store them."""

from __future__ import annotations

import re

from sqlwright.local.form import nodes as f
from sqlwright.types.periods import period_of
from sqlwright.types.stored import Stored

_COMPACT = re.compile(r"(\d{4})(\d{2})(\d{2})\Z")


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
