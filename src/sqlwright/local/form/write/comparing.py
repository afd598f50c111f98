"""Conditions as SQL of an engine that compares only values of one kind.

SQLite compares whatever it is given: a number with a text by what the column was declared as. Here
what differs is brought to one kind, to a text where nothing else is sure not to fail.

A comparison of a date with '2024-02' is one with all of that February: from its first day to before
the day after its last one. Such a range says the same of dates and of times, and indexes and
partitions serve it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from sqlwright.errors import UnsupportedQuery
from sqlwright.local.form import nodes as f
from sqlwright.local.form.walking import inside
from sqlwright.local.form.write.expressions import like_pattern
from sqlwright.local.form.write.kinds import (
    MOMENTS,
    NUMBERS,
    Kind,
    Kinds,
    arms,
    is_date,
    is_number,
    is_span,
    is_timestamp,
)
from sqlwright.local.form.write.moments import fits_as_moment, greatest_part
from sqlwright.local.form.write.settled import as_texts
from sqlwright.local.form.write.typed import TypedWriter
from sqlwright.types.periods import Period, period_of

YEAR, MONTH, DAY, TIME = 4, 7, 10, 19
"""Characters of ISO 8601 down to each precision."""
_PARTS = {"year": YEAR, "year_month": MONTH, "date": DAY}
_PATTERNS = {"%Y": YEAR, "%Y-%m": MONTH, "%Y-%m-%d": DAY, "%F": DAY}
_EXCHANGED: dict[str, f.ComparisonOperator] = {
    "=": "=", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<=",
}  # fmt: skip


class Cut(NamedTuple):
    """A date or time, and how much of it is compared."""

    moment: f.Expression
    length: int
    is_day: bool
    """True of a date, which has no time of day."""


class Range(NamedTuple):
    """Times from one on to before another; either may be empty for no bound."""

    start: str
    """A day, or a day and a time of day."""
    end: str


class Ranged(NamedTuple):
    """A condition as times of which a moment is in one."""

    moment: f.Expression
    ranges: Sequence[Range]
    negated: bool


def cut_of(node: f.Expression, kinds: Kinds) -> Cut | None:
    """The moment that an expression is, or is the beginning of; None for others."""
    match node:
        case f.Function("integer", (f.Function("year", (moment,)),)):
            length = YEAR
        case f.Function("strftime", (f.Literal(str(pattern)), moment)) if pattern in _PATTERNS:
            length = _PATTERNS[pattern]
        case f.Function(name, (moment,)) if name in _PARTS:
            length = _PARTS[name]
        case _:
            moment, length = node, TIME
    kind = kinds.of(moment)
    if kind not in MOMENTS or isinstance(moment, f.Literal):
        return None
    return Cut(moment, min(length, DAY) if kind == "date" else length, is_day=kind == "date")


def ranged(node: f.Condition, cut: Callable[[f.Expression], Cut | None]) -> Ranged | None:
    """A comparison of a moment, by `cut`, with times that are longer than itself, as ranges; None
    for every other condition."""
    match node:
        case f.Comparison(operator, f.Literal(value), operand):
            return _compared(_EXCHANGED[operator], cut(operand), value)
        case f.Comparison(operator, operand, f.Literal(value)):
            return _compared(operator, cut(operand), value)
        case f.Between(operand, f.Literal(low), f.Literal(high), negated):
            return _between(cut(operand), low, high, negated=negated)
        case f.InList(operand, values, negated):
            return _among(cut(operand), [one.value for one in values], negated=negated)
        case f.Like(kind, operand, f.Literal(value), negated) if kind in {"starts", "contains"}:
            text = str(value).rstrip("-") if kind == "starts" else str(value)
            found = cut(operand)
            # A pattern of one day is a range, too: no date is like a text.
            found = None if found is None else found._replace(is_day=False)
            return _compared("!=" if negated else "=", found, text)
    return None


def _compared(operator: f.ComparisonOperator, cut: Cut | None, value: str | float) -> Ranged | None:
    period = None if cut is None else _within(value, cut)
    if cut is None or period is None or _is_plain([period], cut):
        return None
    if operator not in {"=", "!="} and _is_moment([value], cut):
        return None
    if operator in {">=", "<"}:
        bound = Range(period.first, "") if operator == ">=" else Range("", period.first)
    elif not period.after:
        return None
    elif operator in {">", "<="}:
        bound = Range(period.after, "") if operator == ">" else Range("", period.after)
    elif _is_repeatable(cut.moment):
        bound = Range(period.first, period.after)
    else:
        return None
    return Ranged(cut.moment, [bound], operator == "!=")


def _between(
    cut: Cut | None, low: str | float, high: str | float, *, negated: bool
) -> Ranged | None:
    if cut is None or not _is_repeatable(cut.moment):
        return None
    first, last = _within(low, cut), _within(high, cut)
    if last is None or not last.after or (first is not None and _is_plain([first, last], cut)):
        return None
    if _is_moment([low, high], cut):
        return None
    if first is not None:
        return Ranged(cut.moment, [Range(first.first, last.after)], negated)
    if cut.length == TIME and isinstance(low, str) and is_timestamp(low):
        return Ranged(cut.moment, [Range(low, last.after)], negated)
    return None


def _among(cut: Cut | None, values: Sequence[str | float], *, negated: bool) -> Ranged | None:
    if cut is None or not _is_repeatable(cut.moment):
        return None
    periods = [_within(value, cut) for value in values]
    known = [period for period in periods if period is not None and period.after]
    if len(known) < len(periods) or _is_plain(known, cut):
        return None
    return Ranged(cut.moment, _joined(known), negated)


def _joined(periods: Sequence[Period]) -> list[Range]:
    """Ranges of periods, one for those that follow one another."""
    found: list[Range] = []
    for period in sorted(periods, key=lambda one: (one.first, one.last)):
        if found and period.first <= found[-1].end:
            found[-1] = Range(found[-1].start, max(found[-1].end, period.after))
        else:
            found.append(Range(period.first, period.after))
    return found


def _within(value: str | float, cut: Cut) -> Period | None:
    """The time that a constant is, where it is as long as what is compared or longer."""
    period = period_of(value)
    return period if period is not None and len(period.iso) <= cut.length else None


def _is_plain(periods: Sequence[Period], cut: Cut) -> bool:
    """True of dates that are compared with days, which is no matter of ranges."""
    return cut.is_day and cut.length == DAY and all(len(one.iso) == DAY for one in periods)


def _is_moment(values: Sequence[str | float], cut: Cut) -> bool:
    """True of times that are compared with days or times, not equal to them: there SQL, the form's
    too, takes a day for its first moment. A day as a whole is what the form's `date` compares."""
    texts = [value for value in values if isinstance(value, str)]
    whole = len(texts) == len(values) and all(is_date(one) or is_timestamp(one) for one in texts)
    return cut.length == TIME and whole


def _is_repeatable(node: f.Expression) -> bool:
    """True of what may be written twice."""
    costly = (f.Subquery, f.Window, f.Conditional)
    return not any(True for kind in costly for _ in inside(node, kind))


_TRUE = frozenset({"1", "t", "true", "y", "yes", "on", "1.0"})
_FALSE = frozenset({"0", "f", "false", "n", "no", "off", "0.0"})
_NUMERALS = re.compile(r"\d|^-?infinity$")
"""A sign that a text may be a date or time."""
_EQUAL = frozenset({"=", "!="})


class ConditionWriter(TypedWriter):
    """Writes expressions and conditions of one SELECT."""

    def condition(self, node: f.Condition) -> str:
        found = ranged(node, self.cut)
        if found is not None:
            return self._ranged(found)
        match node:
            case f.Comparison(operator, left, right):
                array, element = (right, left) if isinstance(left, f.Literal) else (left, right)
                if operator in _EQUAL and self._is_array(array) and isinstance(element, f.Literal):
                    return self._held(array, [element], negated=operator == "!=")
                near, far = self._compared(left, [right], equal=operator in _EQUAL)
                return f"{near} {operator} {far[0]}"
        return super().condition(node)

    def _negatable(self, node: f.Between | f.InList | f.InQuery | f.Like) -> str:
        word = "NOT " if node.negated else ""
        match node:
            case f.Between(operand, low, high):
                text, (first, last) = self._compared(operand, [low, high], equal=False)
                return f"{text} {word}BETWEEN {first} AND {last}"
            case f.InList(operand, values, negated) if self._is_array(operand):
                return self._held(operand, values, negated=negated)
            case f.InList(operand, values):
                text, found = self._compared(operand, values, equal=True)
                return f"{text} {word}IN ({', '.join(found)})"
            case f.InQuery(operand, query):
                return self._in_query(operand, query, word)
            case f.Like():
                return self._like(node, word)

    def _in_query(self, operand: f.Expression, query: f.Query, word: str) -> str:
        kinds = {self.kinds.of(operand), self.kinds.of_item(query, 0)}
        _check_alike(kinds)
        alike = len(kinds) == 1 or kinds <= NUMBERS or kinds <= MOMENTS
        stars = any(isinstance(one.items[0], f.Star) for one in arms(query))
        text = self.expression(operand) if alike or stars else self.text(operand)
        if not (alike or stars):
            query = as_texts(query, [0])
        inner = self._query(query)
        limited = isinstance(query, f.SetOperation) or query.limit is not None
        if limited and not self.words.limits_within:
            inner = f"SELECT * FROM ({inner}) AS found"
        return f"{text} {word}IN ({inner})"

    def _like(self, node: f.Like, word: str) -> str:
        phrase = str(node.phrase.value)
        if self.kinds.of(node.operand) == "boolean":
            near, far = self._with_truths(node.operand, [phrase.strip("%")], equal=True)
            return f"{near} {'!=' if node.negated else '='} {far[0]}"
        is_word = re.search(r"[^\W\d_]", phrase) and not _NUMERALS.search(phrase)
        if is_word and self.cut(node.operand) is not None:
            raise UnsupportedQuery(f"no date compares with {phrase!r}")
        pattern = like_pattern(node.kind, phrase)
        # LIKE that minds case is the plainer word where no letter has one.
        cased = pattern.lower() != pattern.upper()
        like = self.words.like if cased else "LIKE"
        text = f"{self.text(node.operand)} {word}{like} {self.constant(pattern)}"
        escaped = node.kind != "matches" and re.search(r"[\\%_]", phrase)
        if escaped and not self.words.backslash:
            return text + r" ESCAPE '\'"
        if not escaped and "\\" in pattern and self.words.escapes:
            return text + " ESCAPE ''"
        return text

    # ---- times that are ranges of days

    def cut(self, node: f.Expression) -> Cut | None:
        """The moment that an expression is, or is the beginning of; None for others."""
        return cut_of(node, self.kinds)

    def _ranged(self, found: Ranged) -> str:
        moment = self.expression(found.moment)
        texts = []
        for one in found.ranges:
            bounds = ((sign, day) for sign, day in ((">=", one.start), ("<", one.end)) if day)
            tests = [f"{moment} {sign} {self._bound(found.moment, day)}" for sign, day in bounds]
            texts.append(" AND ".join(tests))
        whole = " OR ".join(texts)
        if found.negated:
            return f"NOT ({whole})"
        return f"({whole})" if len(texts) > 1 else whole

    def _bound(self, moment: f.Expression, bound: str) -> str:
        """A day or time as a constant of its type, of the session's time zone."""
        bound = bound.replace("T", " ")
        if self.kinds.is_zoned(moment) and self.words.instant:
            return self.words.instant.format(self.constant(bound))
        word = "DATE" if len(bound) == DAY else "TIMESTAMP"
        return f"{word} {self.constant(bound)}"

    # ---- elements of arrays

    def _is_array(self, node: f.Expression) -> bool:
        is_column = isinstance(node, f.Column) and self.kinds.of(node) == "array"
        return is_column and bool(self.words.contains)

    def _held(self, column: f.Expression, elements: Sequence[f.Literal], *, negated: bool) -> str:
        """That an array holds one of some elements. What equals no whole array may be in it."""
        assert isinstance(column, f.Column)
        kind, array = self.kinds.of_element(column), self.expression(column)
        if kind in NUMBERS:
            if not all(is_number(str(one.value)) for one in elements):
                raise UnsupportedQuery("an array of numbers holds no text")
            written = [_as_number(one.value) for one in elements]
        else:
            written = [self.text(one) for one in elements]
            array = array if kind == "text" else self.words.texts.format(array)
        tests = [self.words.contains.format(array, one) for one in written]
        if negated:
            return f"NOT ({' OR '.join(tests)})" if len(tests) > 1 else f"NOT {tests[0]}"
        return f"({' OR '.join(tests)})" if len(tests) > 1 else tests[0]

    # ---- what is compared

    def _compared(
        self, operand: f.Expression, others: Sequence[f.Expression], *, equal: bool
    ) -> tuple[str, list[str]]:
        """An expression and what it is compared with, of one kind."""
        first = others[0]
        if isinstance(operand, f.Literal) and not isinstance(first, f.Literal) and len(others) == 1:
            text, found = self._compared(first, [operand], equal=equal)
            return found[0], [text]
        constants = [one for one in others if isinstance(one, f.Literal)]
        if len(constants) == len(others) and not isinstance(operand, f.Literal):
            return self._with_constants(operand, constants, equal=equal)
        return self._with_values(operand, others, equal=equal)

    def _with_constants(
        self, operand: f.Expression, constants: Sequence[f.Literal], *, equal: bool
    ) -> tuple[str, list[str]]:
        kind = self.kinds.of(operand)
        values = [one.value for one in constants]
        if kind == "span":
            return self.expression(operand), [self._span(value) for value in values]
        if kind == "boolean":
            return self._with_truths(operand, values, equal=equal)
        part = self.part_number(operand)
        if (kind in NUMBERS or part is not None) and all(map(_is_number, values)):
            if any(float(value) > greatest_part(operand) for value in values):
                raise UnsupportedQuery(f"no part of a date compares with {values}")
            return part or self.expression(operand), [_as_number(value) for value in values]
        labels = equal and all(self.kinds.has_label(operand, value) for value in values)
        if labels:
            return self.expression(operand), [self.constant(value) for value in values]
        if kind in MOMENTS and all(fits_as_moment(value, "timestamp") for value in values):
            return self.expression(operand), [self._bound(operand, str(one)) for one in values]
        is_dated = kind == "time" or part is not None or self.cut(operand) is not None
        for value in values:
            if kind in NUMBERS or (is_dated and not _NUMERALS.search(str(value))):
                told = "date" if is_dated else "number"
                raise UnsupportedQuery(f"no {told} compares with {value!r}")
        return self.text(operand), [self.text(one) for one in constants]

    def _with_truths(
        self, operand: f.Expression, values: Sequence[str | float], *, equal: bool
    ) -> tuple[str, list[str]]:
        """A truth value and what it is compared with. Raises UnsupportedQuery for a text that is
        none."""
        truths = [_truth(value) for value in values]
        if equal and None not in truths:
            return self.expression(operand), [str(truth).upper() for truth in truths]
        if all(_is_number(value) and 0 <= float(value) <= 1 for value in values):
            return self.number(operand), [_as_number(value) for value in values]
        raise UnsupportedQuery(f"no truth value compares with {', '.join(map(repr, values))}")

    def _with_values(
        self, operand: f.Expression, others: Sequence[f.Expression], *, equal: bool
    ) -> tuple[str, list[str]]:
        nodes = [operand, *others]
        kinds: set[Kind] = {
            self.kinds.of(node) for node in nodes if not isinstance(node, f.Literal)
        }
        constants = [node.value for node in nodes if isinstance(node, f.Literal)]
        _check_alike(kinds)
        if "span" in kinds:
            if len(kinds) > 1:
                raise UnsupportedQuery("a span of time compares with spans alone")
            texts = [
                self._span(node.value) if isinstance(node, f.Literal) else self.expression(node)
                for node in nodes
            ]
            return texts[0], texts[1:]
        if kinds <= NUMBERS | {"boolean"} and kinds != {"boolean"}:
            if all(map(_is_number, constants)):
                texts = [self.number(node) for node in nodes]
                return texts[0], texts[1:]
        elif kinds <= MOMENTS or len(kinds) == 1:
            kind: Kind = "timestamp" if "timestamp" in kinds else next(iter(kinds), "text")
            if kind == "text" or all(fits_as_moment(value, kind) for value in constants):
                texts = [self._plain(node, kind) for node in nodes]
                return texts[0], texts[1:]
        elif not equal and kinds & NUMBERS:
            texts = [self.number(node) for node in nodes]
            return texts[0], texts[1:]
        texts = [self.text(node) for node in nodes]
        return texts[0], texts[1:]

    def _span(self, value: str | float) -> str:
        """A constant as a span of time. Raises UnsupportedQuery where it has no unit."""
        if not self.words.span or not is_span(value):
            raise UnsupportedQuery(f"{value!r} is no span of time")
        return self.words.span.format(self.constant(str(value)))

    def _plain(self, node: f.Expression, kind: Kind) -> str:
        return self.text(node) if kind == "text" else self.expression(node)


def _check_alike(kinds: Collection[Kind]) -> None:
    """Raises UnsupportedQuery where no value of one kind can be one of another."""
    rest = set(kinds) - NUMBERS
    of_times = rest & (MOMENTS | {"time"})
    if (of_times and len(rest) < len(kinds)) or ("boolean" in rest and len(rest) > 1):
        raise UnsupportedQuery(f"no values compare of the kinds {', '.join(sorted(kinds))}")


def _is_number(value: str | float) -> bool:
    return not isinstance(value, str) or is_number(value)


def _as_number(value: str | float) -> str:
    return str(value).strip() if isinstance(value, str) else repr(value)


def _truth(value: str | float) -> bool | None:
    text = str(value).strip().casefold()
    return True if text in _TRUE else False if text in _FALSE else None
