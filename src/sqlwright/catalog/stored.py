"""Columns whose dates and amounts have to be converted before a query can use them, by profile."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from sqlwright.english.vocabulary import KEY_WORDS, vocabulary
from sqlwright.english.words import is_participle, split_name
from sqlwright.schema import ColumnRef, Schema
from sqlwright.types.stored import AmountWay, Formats, Stored

if TYPE_CHECKING:
    from sqlwright.catalog.records import ColumnProfile

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
