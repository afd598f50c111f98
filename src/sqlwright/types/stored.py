"""Columns whose values aren't written as SQLite reads dates and numbers.

A form may speak of such a column as if they were; what has to be done to it is put in afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal as OneOf

from sqlwright.schema import ColumnRef

DateWay = OneOf["dmy", "mdy", "compact", "year_month", "seconds", "milliseconds"]
AmountWay = OneOf["amount", "amount_comma"]

ORDERED: frozenset[str] = frozenset({"compact", "year_month", "seconds", "milliseconds"})
"""Ways in which the order of the stored values is that of the times."""


@dataclass(frozen=True, slots=True)
class Stored:
    """The way in which the values of a column are written."""

    way: DateWay | AmountWay
    """31/01/2024, 01/31/2024, 20240131, 2024-01, seconds or milliseconds since 1970; 1,234.50 and
    1.234,50."""
    number: bool = False
    """Days without marks are stored as whole numbers, not as texts."""
    timed: bool = False
    """A time of day stands behind the day."""
    mark: str = ""
    """The mark between day, month and year."""
    signs: tuple[tuple[str, str], ...] = ()
    """The signs before or within an amount (currencies, blanks, the parenthesis of a negative
    one), and what a number has there instead."""
    sample: str = field(default="", compare=False)
    """A stored value."""

    @property
    def is_date(self) -> bool:
        return not self.way.startswith("amount")

    @property
    def ordered(self) -> bool:
        """True if the stored values sort as what they mean."""
        return self.way in ORDERED


Formats = Mapping[ColumnRef, Stored]
"""The ways of columns that SQLite's functions wouldn't read; all others are as they seem."""
