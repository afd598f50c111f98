"""Shapes of texts in columns, counted by DuckDB over all rows: every digit a 9, the rest as it is.

A column of any length has few of them where it holds numbers or days, and they say how it is
written. Numbers are read from them as people write them: signs between and around the digits,
units.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sqlwright.database.reader import DatabaseReader
from sqlwright.english.vocabulary import UNITS
from sqlwright.sql.tokens import quote_text

MISSING = frozenset({
    "-", "--", "–", "—", ".", "?", "n/a", "#n/a", "na", "n.a.", "nan", "null", "nil", "none",
    "#null!", "#value!", "#ref!", "#div/0!", "#name?", "#num!", "\\n", "(null)", "(blank)",
    "missing", "unknown",
})  # fmt: skip
"""In small letters. A text alone is no proof: the column's other values are."""


WHOLE, BOOLEAN, OTHER, MARK = "i", "b", "x", "m"
"""Shapes of: whole numbers without leading zeros, true and false, texts that are neither number nor
day, and (before the text itself) texts that may stand for no value."""
BLANKS = "' \t\r\n' || chr(160) || chr(8239)"
"""Characters around a text that count for nothing, as DuckDB's SQL."""
_MOST = 300
"""Shapes of a column that are brought over; the others are rare, and are no numbers then."""
_NUMBER = r"[^0-9]{0,20}[0-9][0-9.,''’ \x{a0}\x{202f}]*([eE][+-]?[0-9]+)?[^0-9]{0,20}"
_DAY = r"([0-9]{1,4}[-./ ]+[0-9A-Za-z]{1,9}|[A-Za-z]{3,9}\.? [0-9]{1,2})[-./, ]+[0-9]{1,4}"
_TIME = r"[0-9]{1,2}:[0-9]{2}.*"
_SHAPE = rf"""CASE
WHEN regexp_full_match(t, '-?(0|[1-9][0-9]{{0,17}})') THEN '{WHOLE}'
WHEN lower(t) IN (MARKS) THEN '{MARK}' || t
WHEN lower(t) IN ('true', 'false') THEN '{BOOLEAN}'
WHEN length(t) <= 40 AND regexp_full_match(t, '{_NUMBER}|({_DAY}|{_TIME}).{{0,24}}')
THEN replace(regexp_replace(translate(t, '12345678', '99999999'),
  '^([^0-9]*)0([0-9])', '\18\2'), '0', '9')
ELSE '{OTHER}' END"""
"""A leading zero is an 8."""


@dataclass(frozen=True, slots=True)
class Seen:
    """The cells of one shape."""

    count: int
    example: str


Shapes = Mapping[str, Seen]


def shapes_of(
    connection: DatabaseReader, query: str, rows: int | None = None
) -> dict[str, dict[str, Seen]]:
    """The shapes of each column of a query that gives texts, by the columns' names, of all rows or
    the first ones; the commonest first. Empty cells aren't counted."""
    limit = f" LIMIT {rows}" if rows else ""
    shape = _SHAPE.replace("MARKS", ", ".join(map(quote_text, sorted(MISSING))))
    told = connection.rows(
        f"SELECT c, s, count(*) AS n, min(t) FROM (SELECT c, t, {shape} AS s FROM "
        f"(SELECT c, trim(v, {BLANKS}) AS t FROM (UNPIVOT (FROM ({query}){limit}) ON COLUMNS(*) "
        "INTO NAME c VALUE v)) WHERE t <> '') GROUP BY c, s "
        f"QUALIFY row_number() OVER (PARTITION BY c ORDER BY n DESC, s) <= {_MOST} ORDER BY n DESC"
    )
    found: dict[str, dict[str, Seen]] = {}
    for name, own, count, example in told:
        found.setdefault(str(name), {})[str(own)] = Seen(int(str(count)), str(example))
    return found


_PARTS = re.compile(r"([^89]*)([89][89.,'’ \u00a0\u202f]*?(?:[eE][+-]?9+)?)([^89]*)")
_GROUPS = "[89]{1,3}(?:(?P<sep>[%s'’ \u00a0\u202f])9{3})(?:(?P=sep)9{3})*"
_INDIAN = "[89]{1,2}(?:,9{2})+,9{3}"
_WRITTEN = {
    ".": re.compile(rf"(?:{_GROUPS % ','}|{_INDIAN}|[89]+)(?P<rest>\.9+)?(?:[eE][+-]?9+)?"),
    ",": re.compile(rf"(?:{_GROUPS % '.'}|[89]+)(?P<rest>,9+)?"),
}
"""Numbers by their decimal sign, as shapes."""
_DIGITS = r"[0-9][0-9.,''’ \x{a0}\x{202f}]*(?:[eE][+-]?[0-9]+)?"
_BETWEEN = r"([0-9]{1,3}([%s''’ \x{a0}\x{202f}][0-9]{3})+|[0-9]*)"
_STRICT = {
    ".": _BETWEEN % ","
    + r"(\.[0-9]+)?([eE][+-]?[0-9]+)?|[0-9]{1,2}(,[0-9]{2})+,[0-9]{3}(\.[0-9]+)?",
    ",": _BETWEEN % "." + r"(,[0-9]+)?",
}
_MINUS = "-−–"
_ABOUT = frozenset({"approx", "approximately", "about", "around", "circa", "ca", "~", "≈", "+"})
"""Words before a number that change nothing of it but how exact it is."""
_MONEY = re.compile(
    r"[$€£¥₹₽₩₪₺₫₴฿]|(?:US|A|C|NZ|HK|S|R)\$|kr|zł|Kč|Ft|Fr\.?|Rs\.?|(?:EUR|USD|GBP|CHF|JPY|CNY|INR|"
    r"AUD|CAD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|RON|BRL|MXN|ZAR|TRY|RUB|KRW|SGD|HKD)"
)
_MEASURES = frozenset(name for units in UNITS for name in units) | set("%‰°mglhs") | {
    "km/h", "mph", "m²", "m³", "m2", "m3", "ft", "in", "lb", "lbs", "oz", "kW", "kWh", "MWh", "MW",
    "ml", "cl", "dl", "ha", "°C", "°F", "Hz", "MHz", "GHz", "bar", "µg", "µm", "pct",
}  # fmt: skip
_WORD = re.compile(r"\s[a-zäöüéèçñ]{2,10}\.?")


@dataclass(frozen=True, slots=True)
class Number:
    """The way in which the cells of one shape write a number."""

    shape: str
    count: int
    signs: Mapping[str, tuple[str, bool]]
    """Decimal signs that it may have: the sign between thousands then, and whether there are
    decimals."""
    unit: str
    odd: bool
    """True if its sign isn't a minus before the digits, or something else stands around them."""
    zeros: bool
    """True if it begins with a zero that says nothing in a number."""


def number_of(shape: str, seen: Seen) -> Number | None:
    """The number that a shape is; None for another thing."""
    if shape == WHOLE:
        signs = {".": ("", False), ",": ("", False)}
        return Number(shape, seen.count, signs, "", odd=False, zeros=False)
    found = _PARTS.fullmatch(shape)
    if found is None:
        return None
    head, digits, tail = found.groups()
    if head in {".", ",", "-.", "-,"}:
        head, digits = head[:-1], f"9{head[-1]}{digits}"
    signs = {
        sign: (match["sep"] or ("," if sign == "." and "," in digits else ""), bool(match["rest"]))
        for sign, pattern in _WRITTEN.items() if (match := pattern.fullmatch(digits))
    }  # fmt: skip
    unit = _unit(head, tail)
    if not signs or unit is None:
        return None
    return Number(
        shape, seen.count, signs, unit, odd=head.strip() not in {"", "-"} or bool(tail.strip()),
        zeros=digits.startswith("8") and digits[1:2].isdigit(),
    )  # fmt: skip


def _unit(head: str, tail: str) -> str | None:
    """The unit around a number, empty if it has none; None where it is none."""
    before = _words(head)
    after = tail.strip()
    if "(" in head or ")" in tail:
        if not (head.count("(") == tail.count(")") == 1):
            return None
        after = after.replace(")", "").strip()
    after = after.lstrip(_MINUS).strip()
    if before and not _MONEY.fullmatch(before):
        return None
    if after and not (
        _MONEY.fullmatch(after) or after in _MEASURES or after.lower().rstrip(".s") in _MEASURES
        or _WORD.fullmatch(tail)
    ):  # fmt: skip
        return None
    return after.rstrip(".") if not before else before if not after else None


def _words(head: str) -> str:
    """The words before a number, without signs, brackets and those that say how exact it is."""
    words = re.sub(f"[{_MINUS}(+]", " ", head).split()
    return " ".join(one for one in words if one.lower().strip(".:") not in _ABOUT)


def signs_of(numbers: Iterable[Number]) -> dict[str, tuple[str, bool]]:
    """The decimal signs that all these may have, with the sign between thousands and whether there
    are decimals."""
    found: dict[str, tuple[str, bool]] = {}
    numbers = list(numbers)
    for sign in _WRITTEN:
        told = [one.signs.get(sign) for one in numbers]
        between = {one[0] for one in told if one} - {""}
        if None not in told and len(between) <= 1:
            found[sign] = ("".join(between), any(one[1] for one in told if one))
    return found


def unit_of(numbers: Iterable[Number]) -> str | None:
    """The one unit of all that have any; None for several."""
    counts: Counter[str] = Counter()
    for one in numbers:
        if one.unit:
            counts[one.unit] += one.count
    return None if len({unit.lower() for unit in counts}) > 1 else next(iter(counts), "")


def expression(cell: str, kind: str, decimal: str, *, odd: bool) -> str:
    """The SQL of a text as a number; it fails for what is none."""
    digits = f"regexp_extract({cell}, '{_DIGITS}')" if odd else cell
    kept = "[^0-9,+-]" if decimal == "," else "[^0-9.eE+-]"
    plain = f"regexp_replace({digits}, '{kept}', '', 'g')"
    if decimal == ",":
        plain = f"replace({plain}, ',', '.')"
    around = "[^0-9]*" if odd else "[+-]?"
    written = f"regexp_full_match({cell}, '{around}({_STRICT[decimal]}){around if odd else ''}')"
    value = f"CAST(CASE WHEN {written} THEN {plain} ELSE {cell} END AS {kind})"
    if not odd:
        return value
    minus = f"regexp_matches({cell}, '^[^0-9]*[(−–-]|[0-9][ .]*[−–-][^0-9]*$')"
    return f"CASE WHEN {minus} THEN -{value} ELSE {value} END"
