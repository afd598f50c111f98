"""Conditions as SQL of an engine that compares only values of one kind.

SQLite compares whatever it is given: a number with a text by what the column was declared as. Here
what differs is brought to one kind, to a text where nothing else is sure not to fail.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from sqlwright.errors import UnsupportedQuery
from sqlwright.local.form import nodes as f
from sqlwright.local.form.write.expressions import like_pattern
from sqlwright.local.form.write.kinds import MOMENTS, NUMBERS, Kind, arms, is_number, is_span
from sqlwright.local.form.write.moments import fits_as_moment, greatest_part
from sqlwright.local.form.write.ranges import DAY, Cut, Ranged, cut_of, ranged
from sqlwright.local.form.write.settled import as_texts
from sqlwright.local.form.write.typed import TypedWriter

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
