"""Conditions as SQL of an engine that compares only values of one kind.

SQLite compares whatever it is given: a number with a text by what the column was declared as. Here
what differs is brought to one kind, to a text where nothing else is sure not to fail.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from sqlwright.form import nodes as f
from sqlwright.form.write.expressions import like_pattern
from sqlwright.form.write.kinds import MOMENTS, NUMBERS, Kind, arms, is_number
from sqlwright.form.write.moments import fits_as_moment
from sqlwright.form.write.settled import as_texts
from sqlwright.form.write.typed import TypedWriter

_TRUE = frozenset({"1", "t", "true", "y", "yes", "1.0"})
_FALSE = frozenset({"0", "f", "false", "n", "no", "0.0"})
_EQUAL = frozenset({"=", "!="})


class ConditionWriter(TypedWriter):
    """Writes expressions and conditions of one SELECT."""

    def condition(self, node: f.Condition) -> str:
        match node:
            case f.Comparison(operator, left, right):
                near, far = self._compared(left, [right], equal=operator in _EQUAL)
                return f"{near} {operator} {far[0]}"
        return super().condition(node)

    def _negatable(self, node: f.Between | f.InList | f.InQuery | f.Like) -> str:
        word = "NOT " if node.negated else ""
        match node:
            case f.Between(operand, low, high):
                text, (first, last) = self._compared(operand, [low, high], equal=False)
                return f"{text} {word}BETWEEN {first} AND {last}"
            case f.InList(operand, values):
                text, found = self._compared(operand, values, equal=True)
                return f"{text} {word}IN ({', '.join(found)})"
            case f.InQuery(operand, query):
                return self._in_query(operand, query, word)
            case f.Like():
                return self._like(node, word)

    def _in_query(self, operand: f.Expression, query: f.Query, word: str) -> str:
        kinds = {self.kinds.of(operand), self.kinds.of_item(query, 0)}
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

    # ---- what is compared

    def _compared(
        self, operand: f.Expression, others: Sequence[f.Expression], *, equal: bool
    ) -> tuple[str, list[str]]:
        """An expression and what it is compared with, of one kind."""
        if isinstance(operand, f.Literal) and len(others) == 1:
            if not isinstance(others[0], f.Literal):
                text, found = self._compared(others[0], [operand], equal=equal)
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
        numbers = all(not isinstance(value, str) or is_number(value) for value in values)
        part = self.part_number(operand)
        if (kind in NUMBERS or part is not None) and numbers:
            return part or self.expression(operand), [_as_number(value) for value in values]
        if kind == "boolean" and equal:
            truths = [_truth(value) for value in values]
            if None not in truths:
                return self.expression(operand), [str(truth).upper() for truth in truths]
        if kind == "boolean" and all(not isinstance(value, str) for value in values):
            return self.number(operand), [self.constant(value) for value in values]
        if all(fits_as_moment(value, kind) for value in values):
            return self.expression(operand), [self.constant(value) for value in values]
        return self.text(operand), [self.text(one) for one in constants]

    def _with_values(
        self, operand: f.Expression, others: Sequence[f.Expression], *, equal: bool
    ) -> tuple[str, list[str]]:
        nodes = [operand, *others]
        kinds: set[Kind] = {
            self.kinds.of(node) for node in nodes if not isinstance(node, f.Literal)
        }
        constants = [node.value for node in nodes if isinstance(node, f.Literal)]
        if kinds <= NUMBERS | {"boolean"} and kinds != {"boolean"}:
            if all(not isinstance(value, str) or is_number(value) for value in constants):
                texts = [self.number(node) for node in nodes]
                return texts[0], texts[1:]
        elif kinds <= MOMENTS or len(kinds) == 1:
            kind = "timestamp" if "timestamp" in kinds else next(iter(kinds), "text")
            if kind == "text" or all(fits_as_moment(value, kind) for value in constants):
                texts = [self._plain(node, kind) for node in nodes]
                return texts[0], texts[1:]
        elif not equal and kinds & NUMBERS:
            texts = [self.number(node) for node in nodes]
            return texts[0], texts[1:]
        texts = [self.text(node) for node in nodes]
        return texts[0], texts[1:]

    def _plain(self, node: f.Expression, kind: Kind) -> str:
        return self.text(node) if kind == "text" else self.expression(node)


def _as_number(value: str | float) -> str:
    return str(value).strip() if isinstance(value, str) else repr(value)


def _truth(value: str | float) -> bool | None:
    text = str(value).strip().casefold()
    return True if text in _TRUE else False if text in _FALSE else None
