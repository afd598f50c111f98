"""Turns words of the question into the constants that a query compares with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlwright.english.as_trained import Word
from sqlwright.english.vocabulary import MONTHS
from sqlwright.local.form.nodes import Literal
from sqlwright.local.form.sequence.grammar import Allowed
from sqlwright.local.form.sequence.symbols import (
    COMPARISONS,
    FUNCTIONS,
    LATER_CONSTANTS,
    TEXT_FORMATS,
    Keyword,
    Symbol,
    keyword_name,
)
from sqlwright.local.parser.pointers import Span, fold, number_of, span_text
from sqlwright.schema import ColumnRef, Schema
from sqlwright.sql.declared_types import type_feature
from sqlwright.types import Question, ValueMatch

_WHOLE = frozenset({"=", "!=", "in", "not_in"})
"""Comparisons with a whole stored value."""

_OUTSIDE = frozenset({*COMPARISONS, "between", "not_between", "in", "not_in"})
"""Keywords after which constants stand."""

_PARTS = {
    "year": 4,
    "month": 2,
    "day": 2,
    "strftime": 2,
    "hour": 2,
    "minute": 2,
    "week": 2,
    "weekday": 1,
}
"""Functions that give a part of a date, as a text of at least so many digits."""

_TEXTS = frozenset(
    {"substr", "substr_to", "upper", "lower", "trim", "trim_of", "replace", "text"}
    | {"year_month", "month_day", "weekday_name", "month_name", *TEXT_FORMATS}
)
"""Functions that give a text, which no number equals either."""


class Grounding:
    """Makes constants for one question over one schema.

    `values` and `enumerations` give the stored spellings that a compared text is replaced by.
    """

    def __init__(
        self,
        question: Question,
        words: Sequence[Word],
        schema: Schema,
        values: Sequence[ValueMatch],
        enumerations: Mapping[ColumnRef, Sequence[str]],
    ) -> None:
        self._question = question
        self._words = words
        self._schema = schema
        self._values = values
        self._enumerations = enumerations

    def literal(self, span: Span, symbols: Sequence[Symbol], allowed: Allowed) -> Literal:
        """The constant that the words of a span stand for after `symbols`."""
        said = span_text(span, self._words, self._question)
        number = number_of(said)
        if allowed.integer and isinstance(number, int):
            return Literal(number)
        plain = said.strip().strip("\"'“”‘’`") or said
        if allowed.text:
            return Literal(plain)
        function = compared_function(symbols)
        # SQLite's date functions give texts, "07" for July, and no number equals a text.
        if function in _PARTS:
            return Literal(_of_date(function, plain, number))
        if function in _TEXTS:
            return Literal(plain)
        column, operator = compared_column(symbols)
        if number is not None and not self._holds_texts(column):
            return Literal(number)
        if column is not None and operator in _WHOLE:
            return Literal(self._stored(plain, column, span))
        return Literal(plain)

    def is_single(self, first: int, symbols: Sequence[Symbol], allowed: Allowed) -> bool:
        """True if a constant that begins at a word is that word alone: numbers are, unless they
        are compared with a column of texts."""
        if allowed.integer:
            return True
        column, _ = compared_column(symbols)
        if allowed.text or (column is not None and self.kind(column) == "text-type"):
            return False
        return number_of(self._words[first].text) is not None

    def _holds_texts(self, ref: ColumnRef | None) -> bool:
        """True if a constant compared with the column is better a text. SQLite's dates are texts
        under numeric affinity: a text that looks like a number is still compared as one."""
        return ref is not None and self.kind(ref) in {"text-type", "time-type"}

    def kind(self, ref: ColumnRef) -> str:
        """The type feature of a column, by its declaration."""
        column = self._schema.column(ref)
        return type_feature(column.type) if column else ""

    def _stored(self, text: str, column: ColumnRef, span: Span) -> str:
        """The stored spelling nearest to a text, else the text."""
        wanted = fold(text)
        start, end = self._words[span.first].start, self._words[span.last].end
        # Spans of values are characters of the question, which the evidence's words aren't in.
        evidence = self._words[span.first].evidence
        best: tuple[float, str] | None = None
        for match in self._values:
            if match.column != column:
                continue
            if fold(match.value) == wanted:
                return match.value
            overlaps = match.span is not None and match.span[0] < end and start < match.span[1]
            if overlaps and not evidence and (best is None or match.score > best[0]):
                best = (match.score, match.value)
        for value in self._enumerations.get(column, ()):
            if fold(value) == wanted:
                return value
        return best[1] if best else text


def compared_column(symbols: Sequence[Symbol]) -> tuple[ColumnRef | None, str]:
    """The bare column that the next constant is compared with, and the comparison's name.

    None when it is compared with an aggregate, a function or an expression.
    """
    place = len(symbols) - 1
    while place >= 0 and _is_constant(symbols[place]):
        place -= 1  # the values before it in a list, the lower bound of a range
    if place < 1:
        return None, ""
    operator, column = symbols[place], symbols[place - 1]
    if not isinstance(operator, Keyword) or operator.name not in _OUTSIDE:
        return None, ""
    if not isinstance(column, ColumnRef):
        return None, operator.name
    before = symbols[place - 2] if place > 1 else None
    if isinstance(before, Keyword) and before.name not in _CONDITION_STARTS:
        return None, operator.name
    return column, operator.name


def compared_function(symbols: Sequence[Symbol]) -> str:
    """The function whose value the next constant is compared with; empty for anything else."""
    end = len(symbols)
    while end and _is_constant(symbols[end - 1]):
        end -= 1
    if not end or keyword_name(symbols[end - 1]) not in _OUTSIDE:
        return ""
    start = end - 1
    while start and keyword_name(symbols[start - 1]) not in _CONDITIONS:
        start -= 1
    inside = {keyword_name(symbol) for symbol in symbols[start : end - 1]}
    name = keyword_name(symbols[start])
    return name if name in FUNCTIONS and not inside & {"select", "end"} else ""


def _of_date(part: str, said: str, number: float | None) -> str:
    """A part of a date as SQLite gives it: a text, which no number ever equals."""
    if part != "year":
        number = MONTHS.get(said.casefold(), number)
    return f"{number:0{_PARTS[part]}d}" if isinstance(number, int) else said


def _is_constant(symbol: Symbol) -> bool:
    return isinstance(symbol, Literal) or (
        isinstance(symbol, Keyword) and (symbol.name.isdigit() or symbol.name in LATER_CONSTANTS)
    )


_CONDITIONS = frozenset(
    {"where", "having", "and", "or", "not", "(", "count_if", "iif", "when", "on"}
)
"""Keywords after which a condition begins."""

_CONDITION_STARTS = _CONDITIONS | {"outer", "second", "third"}
"""The same with the marks before a column of an outer query or of another instance of its table."""
