"""Recognises formats of stored values (dates, money, codes and the like) from the values alone.

A format says how a value has to be written in a query's literal, or what has to be done to it
before it can be compared or summed. Names of columns play no part.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from sqlwright.english.vocabulary import MONTHS, WEEKDAYS

ENOUGH = 0.9
"""Share of the values that must be written in a way for it to be called the column's format."""

_BOOLEAN_PAIRS = (
    frozenset({"y", "n"}),
    frozenset({"yes", "no"}),
    frozenset({"t", "f"}),
    frozenset({"true", "false"}),
    frozenset({"on", "off"}),
)

_ISO_DATE = re.compile(r"\d{4}-(?:0?[1-9]|1[0-2])-(?:0?[1-9]|[12]\d|3[01])\Z")
_ISO_DATETIME = re.compile(
    r"\d{4}-\d{1,2}-\d{1,2}[ T]\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?\Z"
)
_COMPACT_DATE = re.compile(
    r"(?:(?:1[5-9]|20|21)\d{2}|9999)(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\Z"
)
"""Days without marks; the year 9999 stands for no end."""
_YEAR_MONTH = re.compile(
    r"(?:(?:1[5-9]|20|21)\d{2}-(?:0[1-9]|1[0-2])|(?:19|20)\d{2}(?:0[1-9]|1[0-2]))\Z"
)
_PARTED_DATE = re.compile(
    r"(\d{1,2})([/.-])(\d{1,2})\2(\d{4}|\d{2})"
    r"(?:[ T]\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?: ?[AaPp][Mm])?)?\Z"
)
_NAMED_MONTH_DATE = re.compile(
    r"(?:\d{1,2}(?:st|nd|rd|th)?[ -]([A-Za-z]{3,9})[ ,-]+\d{2,4}"
    r"|([A-Za-z]{3,9})\.? \d{1,2}(?:st|nd|rd|th)?,? \d{4})\Z"
)
_YEAR = re.compile(r"(?:1[5-9]|20|21)\d{2}\Z")
_TIME = re.compile(r"(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)?(?: ?[AaPp][Mm])?\Z")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\Z")
_GROUPED_NUMBER = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?\Z")
_EU_NUMBER = re.compile(r"[+-]?(?:\d{1,3}(?:\.\d{3})+(?:,\d+)?|\d+,\d{1,2})\Z")
_CURRENCY = r"(?:[$€£¥₹₩₽₺฿]|(?:USD|EUR|GBP|JPY|CHF|CAD|AUD|INR|CNY|US\$|R\$|kr|zł)\b)"
_AMOUNT = r"[+-]?\d[\d,.' ]*(?:\s?(?:[kKmMbB]|million|billion|thousand)\b)?"
_MONEY = re.compile(rf"[(+-]?\s?(?:{_CURRENCY}\s?{_AMOUNT}|{_AMOUNT}\s?{_CURRENCY})\)?\Z")
_PERCENT = re.compile(r"[+-]?\d+(?:[.,]\d+)?\s?%\Z")
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[A-Za-z]{2,}\Z")
_URL = re.compile(r"(?:https?|ftp)://\S+\Z|www\.\S+\.\S+\Z", re.IGNORECASE)
_UUID = re.compile(r"\{?[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\}?\Z", re.IGNORECASE)
_HEX = re.compile(r"(?:0x)?(?:[0-9a-f]{16,}|[0-9A-F]{16,})\Z")
_IP = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}\Z")
_PHONE = re.compile(r"\+?\(?\d[\d() ./-]{5,18}\d(?:\s?(?:x|ext\.?)\s?\d+)?\Z")
_JSON = re.compile(r"(?:\{.*\}|\[.*\])\Z", re.DOTALL)


class Format(NamedTuple):
    """One way values of a column are written.

    `name` is one of: iso_date, iso_datetime, date_mdy, date_dmy, date_ambiguous, date_words,
    date_compact, year_month, year, month_name, weekday_name, time, boolean, money, percent,
    number_text, number_grouped, number_comma, email, url, phone, ip, uuid, hash, json, code.
    """

    name: str
    share: float
    """Share of the distinct values looked at that are written so, in (0, 1]."""
    pattern: str = ""
    """Shape of a code: A and a stand for letters, 9 for a digit, + for one or more of them."""


def _is_uniform_phone(text: str) -> bool:
    digits = sum(map(str.isdigit, text))
    return (
        7 <= digits <= 15
        and _PHONE.match(text) is not None
        and (text[0] in "+(" or any(mark in text for mark in "- .()"))
        and not _NUMBER.match(text)
        and not _IP.match(text)
        and not _ISO_DATE.match(text)
        and not _ISO_DATETIME.match(text)
        and not _PARTED_DATE.match(text)
    )


def _is_hash(text: str) -> bool:
    """A long run of hexadecimal digits that isn't just a long number."""
    return _HEX.match(text) is not None and not text.isdigit() and any(map(str.isdigit, text))


def _is_named_date(text: str) -> bool:
    found = _NAMED_MONTH_DATE.match(text)
    return found is not None and (found[1] or found[2]).casefold() in MONTHS


def _regular(pattern: re.Pattern[str]) -> Callable[[str], bool]:
    return lambda text: pattern.match(text) is not None


_TESTS: tuple[tuple[str, Callable[[str], bool]], ...] = (
    ("iso_date", _regular(_ISO_DATE)),
    ("iso_datetime", _regular(_ISO_DATETIME)),
    ("year", _regular(_YEAR)),
    ("date_compact", _regular(_COMPACT_DATE)),
    ("year_month", _regular(_YEAR_MONTH)),
    ("date_words", _is_named_date),
    ("month_name", lambda text: text.casefold().rstrip(".") in MONTHS),
    ("weekday_name", lambda text: text.casefold().rstrip(".") in WEEKDAYS),
    ("time", _regular(_TIME)),
    ("percent", _regular(_PERCENT)),
    ("money", _regular(_MONEY)),
    ("email", _regular(_EMAIL)),
    ("url", _regular(_URL)),
    ("uuid", _regular(_UUID)),
    ("hash", _is_hash),
    ("ip", _regular(_IP)),
    ("number_text", _regular(_NUMBER)),
    ("number_grouped", lambda text: bool(_GROUPED_NUMBER.match(text) or _NUMBER.match(text))),
    ("number_comma", lambda text: bool(_EU_NUMBER.match(text))),
    ("json", lambda text: _JSON.match(text) is not None),
)


def recognise_formats(values: Sequence[str]) -> tuple[Format, ...]:
    """The formats of a column's distinct texts, the most specific first; empty when none fits.

    `values` is a sample of distinct stored texts; a thousand are plenty. A format is told when at
    least nine tenths of the non-blank ones are written so.
    """
    texts = [stripped for value in values if (stripped := value.strip())]
    if not texts:
        return ()
    if (boolean := _boolean(texts)) is not None:
        return (boolean,)
    found: list[Format] = []
    for name, test in _TESTS:
        share = _share(test, texts)
        if share >= ENOUGH:
            found.append(Format(name, share))
    found.extend(_parted_dates(texts))
    names = {form.name for form in found}
    if "number_text" in names:  # plain numbers are trivially also "grouped" ones
        found = [form for form in found if form.name != "number_grouped"]
    if found:
        return tuple(found)
    share = _share(_is_uniform_phone, texts)
    if share >= ENOUGH:
        return (Format("phone", share),)
    code = _code(texts)
    return (code,) if code else ()


def recognise_number_formats(values: Iterable[int | float]) -> tuple[Format, ...]:
    """Formats of a column's distinct numbers: year, date_compact, boolean; empty when none fits."""
    numbers = list(values)
    if not numbers:
        return ()
    distinct = set(numbers)
    if distinct <= {0, 1} and len(distinct) == 2:
        return (Format("boolean", 1.0),)
    whole = [number for number in numbers if isinstance(number, int) or number.is_integer()]
    share = sum(1_700 <= number <= 2_100 for number in whole) / len(numbers)
    if share >= ENOUGH:
        return (Format("year", share),)
    dates = sum(
        bool(_COMPACT_DATE.match(str(int(number)))) for number in whole if math.isfinite(number)
    )
    if dates / len(numbers) >= ENOUGH:
        return (Format("date_compact", dates / len(numbers)),)
    return ()


def is_opaque(formats: Sequence[Format]) -> bool:
    """True if such values are identifiers that nobody would type in a question."""
    return any(form.name in {"uuid", "hash"} for form in formats)


def shape(text: str) -> str:
    """The shape of a code: letters as A or a, digits as 9, the rest as it stands.

    >>> shape("AB-1234")
    'AA-9999'
    """
    return "".join(
        "9" if char.isdigit() else "A" if char.isupper() else "a" if char.isalpha() else char
        for char in text
    )


def _share(test: Callable[[str], bool], texts: Sequence[str]) -> float:
    """Share of texts that pass; 0 as soon as too many have failed."""
    allowed = len(texts) * (1 - ENOUGH)
    failed = 0
    for text in texts:
        if not test(text):
            failed += 1
            if failed > allowed:
                return 0.0
    return 1 - failed / len(texts)


def _boolean(texts: Sequence[str]) -> Format | None:
    folded = {text.casefold() for text in texts}
    if folded in _BOOLEAN_PAIRS or folded == {"0", "1"}:
        return Format("boolean", 1.0)
    return None


def _parted_dates(texts: Sequence[str]) -> list[Format]:
    """Dates of three numbers with the year last. Which of the others is the month is told from
    those that can't be one; where every number could be either, or neither order fits all of
    them, the format is ambiguous."""
    matches = [found for text in texts if (found := _PARTED_DATE.match(text))]
    share = len(matches) / len(texts)
    if share < ENOUGH:
        return []
    first = [int(found[1]) for found in matches]
    second = [int(found[3]) for found in matches]
    if max(first) > 31 or max(second) > 31:
        return []
    if max(first) > 12 >= max(second):
        return [Format("date_dmy", share)]
    if max(second) > 12 >= max(first):
        return [Format("date_mdy", share)]
    dotted = all(found[2] == "." for found in matches)
    both = max(first) > 12
    return [Format("date_dmy" if dotted and not both else "date_ambiguous", share)]


def _code(texts: Sequence[str]) -> Format | None:
    """A shape shared by nearly all values: the very same one, or with runs of any length where
    there are digits. (Words in capitals are not codes unless short and all of one length.)"""
    if len(texts) < 2 or any(len(text) > 32 for text in texts):
        return None
    for written in (shape, _loose_shape):
        pattern, count = Counter(map(written, texts)).most_common(1)[0]
        capitals = (
            len(pattern) <= 6 and "A" in pattern and "a" not in pattern and "+" not in pattern
        )
        if ("9" in pattern or capitals) and " " not in pattern and count / len(texts) >= ENOUGH:
            return Format("code", count / len(texts), pattern)
    return None


def _loose_shape(text: str) -> str:
    return re.sub(r"([Aa9])\1*", r"\1+", shape(text))
