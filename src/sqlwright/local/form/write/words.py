"""The words that a dialect has for the form's functions; `engines.py` has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Words:
    """One dialect's functions as templates. Frozen."""

    calls: Mapping[str, str]
    """Functions of the form by name, their arguments as texts, numbers or moments already."""
    parts: Mapping[str, str]
    """Texts made of a moment, by the letter of STRFTIME's pattern."""
    numbers: Mapping[str, str]
    """The same as numbers."""
    aggregates: Mapping[str, str]
    """Those whose name or shape isn't SQLite's, by operand."""
    number: str
    """The number that a text begins with; NULL where it begins with none."""
    moment: str
    """A text as a moment; NULL where it is none, if the engine can say that."""
    day: str
    """A moment or a text of one as a date."""
    text: str
    """A value as text."""
    integer: str
    """A number without its fraction."""
    small: str
    """An integer as functions want it."""
    whole: str
    """A truth as 1 or 0."""
    real: str
    """A number as a binary fraction."""
    decimal: str
    """A number as a decimal fraction, which rounds as it is written."""
    fraction: str
    """A whole number that divides without being cut."""
    quotient: str
    """The whole part of a quotient."""
    whole_quotient: str
    """The same of whole numbers that the engine holds as decimals, such as sums."""
    picked: str
    """A column's value in the first row of a group, by an order."""
    picked_number: str
    """The same of a number, where that makes a difference."""
    like: str
    """LIKE that ignores case."""
    escapes: bool
    """A backslash in a pattern is special without being told."""
    backslash: bool
    """A backslash in a constant is special."""
    nulls: bool
    """NULLS FIRST and NULLS LAST can be said."""
    moved: Mapping[str, tuple[str, str]]
    """A date moved, by unit: by a constant, by a value."""
    joined: str
    """Two texts as one."""
    days_between: str
    """Days between two dates."""
    codes: Mapping[str, str]
    """Codes of parts of dates within a pattern, by the letter of STRFTIME's."""
    pattern: str
    """A moment by a pattern."""
    contains: str = ""
    """An array that holds an element; empty where there are no arrays."""
    texts: str = ""
    """An array's elements as texts."""
    span: str = ""
    """A span of time as a constant; empty where there are none."""
    instant: str = ""
    """A day or time of the session's time zone as a constant of a type that has one, where that
    is planned better than a plain one."""
    added_spans: tuple[str, str] = ("{}", "{}")
    """A span as it can be added up, and a sum of these as a span again."""
    limits_within: bool = True
    """A query after IN may have a limit."""
