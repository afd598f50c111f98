"""Knowledge of a database: its schema and a profile of every table and column, and which columns
hold dates and amounts that have to be converted before a query can use them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from sqlwright.catalog.formats import Format
from sqlwright.english.vocabulary import KEY_WORDS, vocabulary
from sqlwright.english.words import is_participle, split_name
from sqlwright.schema import ColumnRef, ForeignKey, Schema
from sqlwright.types import Cell
from sqlwright.types.stored import AmountWay, Formats, Stored

CERTAIN = 0.95
"""Least share of a column's different values that must be written alike; chosen."""
_PADDED = re.compile(r"\d\d([/.-])\d\d\1\d{4}(?: \d\d:\d\d(?::\d\d)?)?\Z")
_TIMED = re.compile(r"\d \d\d:\d\d")
_DECIMAL_COMMA = re.compile(r",\d{1,2}(?!\d)")
_DECIMAL_POINT = re.compile(r"\.\d+\D*\Z")
_BEFORE = re.compile(r"[^\d.,+\-\s]+(?=\s*[+-]?\d)")
_SCALED = re.compile(r"\d\s?(?:[kKmMbB]\b|million|billion|thousand)")
_TIME_WORDS = vocabulary(
    """at begin beginning clock date day deadline due end epoch expiry expires finish login
    logout moment ms on sec seconds since stamp start time timestamp ts unix until utc when"""
)
"""Words of names and descriptions that speak of a point in time, beside participles; `ms` where
the values are such."""
_SECONDS = (315_532_800, 4_102_444_800)
"""1980 and 2100 in seconds since 1970: numbers between are plausible times."""
_LATELY = (1_000_000_000_000, 2_050_000_000_000)
"""2001 and 2034 in milliseconds since 1970: numbers between are times, whatever they are called."""


def stored_columns(columns: Mapping[ColumnRef, ColumnProfile], schema: Schema) -> Formats:
    """The ways in which columns are written that SQLite's functions wouldn't read. Columns
    that are written in several ways are left out."""
    found = {ref: _stored(ref, profile, schema) for ref, profile in columns.items()}
    return {ref: stored for ref, stored in found.items() if stored is not None}


def _stored(ref: ColumnRef, profile: ColumnProfile, schema: Schema) -> Stored | None:
    names = {form.name for form in profile.formats if form.share >= CERTAIN}
    if profile.main_storage in {"integer", "real"}:
        if profile.main_storage != "integer":
            return None
        if "date_compact" in names:
            return Stored("compact", number=True, sample=_sample(profile))
        return None if names else _epoch(ref, profile, schema)
    seen = [*(value for value, _ in profile.frequent), profile.minimum, profile.maximum]
    texts = [value for value in seen if isinstance(value, str) and value.strip()]
    if not texts or profile.main_storage != "text":
        return None
    if names & {"date_dmy", "date_mdy"}:
        return _parted(texts, month_first="date_mdy" in names)
    if "date_compact" in names:
        return Stored("compact", sample=texts[0])
    if "year_month" in names and all("-" in text for text in texts):
        return Stored("year_month", sample=texts[0])
    if names & {"money", "percent", "number_grouped", "number_comma"}:
        return _amount(texts, names)
    return None


def _sample(profile: ColumnProfile) -> str:
    return str(profile.frequent[0][0] if profile.frequent else profile.maximum)


def _parted(texts: Sequence[str], *, month_first: bool) -> Stored | None:
    """Days whose parts have fixed places; None where they are written shorter."""
    padded = [found for text in texts if (found := _PADDED.match(text))]
    if len(padded) < CERTAIN * len(texts):
        return None
    marks = Counter(found[1] for found in padded)
    mark = next(iter(marks)) if len(marks) == 1 else ""
    timed = any(_TIMED.search(text) for text in texts)
    return Stored("mdy" if month_first else "dmy", timed=timed, mark=mark, sample=padded[0][0])


def _epoch(ref: ColumnRef, profile: ColumnProfile, schema: Schema) -> Stored | None:
    """Seconds or milliseconds since 1970: numbers that can be such, in a column that is called a
    time or by what happened then; numbers that hardly can be anything else, in any."""
    column = schema.column(ref)
    described = "" if column is None else column.description
    words = {*split_name(ref.column), *re.findall(r"[a-z]+", described.lower())}
    seen = [value for value, _ in profile.frequent]
    numbers = [n for n in (profile.maximum, *seen) if isinstance(n, int) and n > 0]
    is_key = ref in schema.all_keys or words & set(KEY_WORDS)
    if not words & _TIME_WORDS and not any(map(is_participle, split_name(ref.column))):
        ends = (profile.minimum, profile.maximum)
        if is_key or not all(isinstance(n, int) and _LATELY[0] < n < _LATELY[1] for n in ends):
            return None
    low, high = _SECONDS
    for way, factor in (("seconds", 1), ("milliseconds", 1_000)):
        within = sum(low * factor <= number < high * factor for number in numbers)
        if numbers and within >= CERTAIN * len(numbers):
            sample = str(numbers[-1])
            if way == "seconds":
                return Stored("seconds", number=True, timed=True, sample=sample)
            return Stored("milliseconds", number=True, timed=True, sample=sample)
    return None


def _amount(texts: Sequence[str], names: set[str]) -> Stored | None:
    if any(map(_SCALED.search, texts)):
        return None
    comma = any(map(_DECIMAL_COMMA.search, texts))
    if "number_text" in names:
        # 25.000 may be thousands or a decimal number; round ones are thousands.
        comma = all(text.endswith("00") for text in texts)
        if not comma:
            return None
    elif comma and any(map(_DECIMAL_POINT.search, texts)):
        comma = not any(text.rfind(".") > text.rfind(",") for text in texts if "," in text)
    way: AmountWay = "amount_comma" if comma else "amount"
    known = "€" if comma else "$"
    before = {sign for text in texts for sign in _BEFORE.findall(text.lstrip("("))} - {known}
    if any(re.search(r"\d['’]\d", text) for text in texts):
        before |= {mark for mark in "'’" if any(mark in text for text in texts)}
    if not comma and any(re.search(r"\d \d", text) for text in texts):
        before.add(" ")
    signs = [(sign, "") for sign in sorted(before, key=lambda sign: (-len(sign), sign))]
    if any(text.startswith("(") for text in texts):
        signs.insert(0, ("(", "-"))
    return Stored(way, signs=tuple(signs), sample=texts[0])


Indexing = Literal["whole", "part", "none", "free_text", "identifier", "blank", "waiting"]
"""State of a column in the value index: every text, some of them, no text stored at all, left out
as long free text, left out as opaque identifiers, nothing but blanks, not read yet."""

ISO = frozenset({"iso_date", "iso_datetime"})

ENUMERATION_VALUES = 3
"""Different values of a column at most that count as an enumeration, such as yes, no and
unknown."""
LISTED_VALUES = 12
"""Different values of a column at most that the parser is told, named in the question or not."""
LISTED_LENGTH = 24
"""Characters of each of them at most."""
ENUMERATION_LENGTH = 32
"""Characters of each of them at most. Chosen: a prompt shows all of them."""


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """Measurements of a column's values."""

    storage: Mapping[str, int] = field(default_factory=dict)
    """Cells by how SQLite stores or would store them: integer, real, text, blob; a truth is an
    integer, a date a text. NULLs are in `nulls`."""
    rows: int = 0
    """Rows looked at: all of them unless `sampled`."""
    nulls: int = 0
    distinct: int = 0
    """Different values, NULL apart. An estimate unless `distinct_exact`."""
    distinct_exact: bool = True
    minimum: Cell = None
    """Least value of the storage class that prevails (numbers or text), dates as ISO text; texts
    are cut at 200 characters."""
    maximum: Cell = None
    formats: tuple[Format, ...] = ()
    frequent: tuple[tuple[Cell, int], ...] = ()
    """Most frequent values with their rows among those looked at, most frequent first."""
    sampled: bool = False
    """True if only part of the rows was read."""
    mean_length: float = 0.0
    """Characters per text value, averaged over distinct ones."""
    indexing: Indexing = "waiting"
    missing: tuple[tuple[str, int], ...] = ()
    """Texts that stand for no value, the empty one first, with their rows among those looked at."""
    odd: tuple[tuple[Cell, int], ...] = ()
    """The most frequent values of the rarer kind, of a column with both numbers and texts, without
    `missing`, with their rows."""

    @property
    def unique(self) -> bool:
        """True if every row is known to hold a different value."""
        return (
            not self.sampled
            and self.distinct_exact
            and self.rows > 0
            and self.nulls == 0
            and self.distinct == self.rows
        )

    @property
    def complete(self) -> bool:
        """True if `frequent` holds every value there is."""
        return not self.sampled and self.distinct_exact and len(self.frequent) == self.distinct

    @property
    def main_storage(self) -> str:
        """The storage class most cells have; empty when there are none but NULLs."""
        return max(self.storage, key=lambda kind: self.storage[kind], default="")


@dataclass(frozen=True, slots=True)
class TableProfile:
    """Size of a table and how much of it was read."""

    rows: int = 0
    rows_exact: bool = True
    sampled: bool = False
    note: str = ""
    """The reason why it wasn't read, or not wholly."""


@dataclass(frozen=True)
class Catalog:
    """A schema with descriptions and inferred joins, and a profile of every table and column."""

    schema: Schema
    tables: Mapping[str, TableProfile] = field(default_factory=dict)
    """Profiles by the table's exact name."""
    columns: Mapping[ColumnRef, ColumnProfile] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    """Sentences about what was left out or couldn't be read."""
    unmatched: Mapping[ForeignKey, str] = field(default_factory=dict)
    """Declared keys of which few values are found where they lead, and how few, in words."""
    steady: Catalog | None = field(default=None, compare=False)
    """The part that doesn't depend on how much time there was to read, where that is less: prompts
    show this, so that the same question makes the same prompt. None: all of it."""

    def enumerations(self) -> dict[ColumnRef, tuple[str, ...]]:
        """All values of the columns that hold at most three different short texts and nothing
        else but NULL, the most frequent first. Columns only sampled are not among them."""
        return dict(self._enumerations)

    @cached_property
    def listed(self) -> Mapping[ColumnRef, tuple[str, ...]]:
        """All values, the most frequent first, of the columns that hold few different short texts
        and nothing else but NULL and empty texts. Columns only sampled are not among them."""
        found: dict[ColumnRef, tuple[str, ...]] = {}
        for ref, profile in self.columns.items():
            if not profile.complete or not 0 < profile.distinct <= LISTED_VALUES + 1:
                continue
            texts = [value for value, _ in profile.frequent if isinstance(value, str)]
            short = tuple(text for text in texts if text.strip() and len(text) <= LISTED_LENGTH)
            blank = sum(not text.strip() for text in texts)
            if 0 < len(short) <= LISTED_VALUES and len(short) + blank == profile.distinct:
                found[ref] = short
        return found

    @cached_property
    def dates(self) -> Mapping[ColumnRef, bool]:
        """For columns whose values are written alike: True if SQLite's functions read them as
        dates, whatever the column is declared as. Columns that hold dates are among them."""
        return {
            ref: any(form.name in ISO for form in profile.formats)
            for ref, profile in self.columns.items()
            if profile.formats
        }

    @cached_property
    def stored(self) -> Formats:
        """Columns whose dates and amounts have to be converted before a query can use them."""
        return stored_columns(self.columns, self.schema)

    @cached_property
    def _enumerations(self) -> dict[ColumnRef, tuple[str, ...]]:
        found: dict[ColumnRef, tuple[str, ...]] = {}
        for ref, profile in self.columns.items():
            if not profile.complete or not 0 < profile.distinct <= ENUMERATION_VALUES:
                continue
            texts = tuple(value for value, _ in profile.frequent if isinstance(value, str))
            if len(texts) == profile.distinct and all(
                text.strip() and len(text) <= ENUMERATION_LENGTH for text in texts
            ):
                found[ref] = texts
        return found
