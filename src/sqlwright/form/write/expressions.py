"""Names, constants, expressions and conditions as SQLite's SQL."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from sqlwright.errors import UnsupportedQuery
from sqlwright.form import nodes as f
from sqlwright.sql.tokens import quote_text

_PRECEDENCE = {"||": 3, "*": 2, "/": 2, "%": 2, "ratio": 2, "percent": 2, "+": 1, "-": 1}
_CALLS = {
    "abs": "ABS({})",
    "round": "ROUND({})",
    "round_to": "ROUND({}, {})",
    "upper": "UPPER({})",
    "lower": "LOWER({})",
    "length": "LENGTH({})",
    "trim": "TRIM({})",
    "trim_of": "TRIM({}, {})",
    "replace": "REPLACE({}, {}, {})",
    "substr": "SUBSTR({}, {})",
    "substr_to": "SUBSTR({}, {}, {})",
    "instr": "INSTR({}, {})",
    "real": "CAST({} AS REAL)",
    "integer": "CAST({} AS INTEGER)",
    "text": "CAST({} AS TEXT)",
    "year": "STRFTIME('%Y', {})",
    "month": "STRFTIME('%m', {})",
    "day": "STRFTIME('%d', {})",
    "strftime": "STRFTIME({}, {})",
    "date": "DATE({})",
    "time": "TIME({})",
    "datetime": "DATETIME({})",
    "julianday": "JULIANDAY({})",
    "coalesce": "COALESCE({}, {})",
    "nullif": "NULLIF({}, {})",
    "greatest": "MAX({}, {})",
    "least": "MIN({}, {})",
    "now": "'now'",
}


def quote_literal(value: str | float) -> str:
    """A constant as SQL, exact. Raises UnsupportedQuery for half of a surrogate pair."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise UnsupportedQuery("a constant isn't valid Unicode") from None
        quoted = quote_text(value)
        if "\0" in value:
            # SQL text ends at a NUL, so it has to be computed.
            return "(" + quoted.replace("\0", "' || CHAR(0) || '") + ")"
        return quoted
    if isinstance(value, float) and not math.isfinite(value):
        return "NULL" if math.isnan(value) else ("9e999" if value > 0 else "-9e999")
    return repr(value)


class ExpressionWriter:
    """Writes the expressions and conditions of one SELECT; `column` and `query` write its columns
    and its subqueries."""

    def __init__(
        self,
        column: Callable[[f.Column | f.DerivedColumn], str],
        query: Callable[[f.Query], str],
    ) -> None:
        self._column = column
        self._query = query

    def expression(self, node: f.Expression) -> str:
        """An expression as SQL."""
        match node:
            case f.Column() | f.DerivedColumn():
                return self._column(node)
            case f.Literal(value):
                return quote_literal(value)
            case f.Aggregate(function, operand, distinct):
                word = "DISTINCT " if distinct else ""
                inner = "*" if isinstance(operand, f.Star) else self.expression(operand)
                return f"{function.upper()}({word}{inner})"
            case f.Arithmetic():
                return self._arithmetic(node)
            case f.Function(name, arguments):
                return _CALLS[name].format(*map(self.expression, arguments))
            case f.Conditional(condition, then, otherwise):
                rest = "" if otherwise is None else f" ELSE {self.expression(otherwise)}"
                test = self.condition(condition)
                return f"CASE WHEN {test} THEN {self.expression(then)}{rest} END"
            case f.Subquery(query):
                return f"({self._query(query)})"

    def _arithmetic(self, node: f.Arithmetic) -> str:
        own = _PRECEDENCE[node.operator]
        right = self._operand(node.right, own + 1)
        if node.operator in {"ratio", "percent"}:
            left = f"CAST({self.expression(node.left)} AS REAL)"
            return f"{left} * 100 / {right}" if node.operator == "percent" else f"{left} / {right}"
        return f"{self._operand(node.left, own)} {node.operator} {right}"

    def _operand(self, node: f.Expression, least: int) -> str:
        """An operand, in parentheses where it binds less tightly than `least`."""
        text = self.expression(node)
        loose = isinstance(node, f.Arithmetic) and _PRECEDENCE[node.operator] < least
        negative = isinstance(node, f.Literal) and text.startswith("-")
        return f"({text})" if loose or negative else text

    def condition(self, node: f.Condition) -> str:
        """A condition as SQL."""
        match node:
            case f.And(operands):
                return " AND ".join(self._member(operand) for operand in operands)
            case f.Or(operands):
                return " OR ".join(map(self.condition, operands))
            case f.Not(operand):
                return f"NOT ({self.condition(operand)})"
            case f.Exists(query, negated):
                return f"{'NOT ' if negated else ''}EXISTS ({self._query(query)})"
            case f.Comparison(operator, left, right):
                return f"{self.expression(left)} {operator} {self.expression(right)}"
            case f.IsNull(operand, negated):
                return f"{self.expression(operand)} IS {'NOT ' if negated else ''}NULL"
            case _:
                return self._negatable(node)

    def _member(self, node: f.Condition) -> str:
        text = self.condition(node)
        return f"({text})" if isinstance(node, f.Or) else text

    def _negatable(self, node: f.Between | f.InList | f.InQuery | f.Like) -> str:
        operand = self.expression(node.operand)
        word = "NOT " if node.negated else ""
        match node:
            case f.Between(_, low, high):
                bounds = f"{self.expression(low)} AND {self.expression(high)}"
                return f"{operand} {word}BETWEEN {bounds}"
            case f.InList(_, values):
                texts = ", ".join(quote_literal(value.value) for value in values)
                return f"{operand} {word}IN ({texts})"
            case f.InQuery(_, query):
                return f"{operand} {word}IN ({self._query(query)})"
            case f.Like(kind, _, phrase):
                return f"{operand} {word}LIKE {_pattern(kind, str(phrase.value))}"


def like_pattern(kind: f.LikeKind, phrase: str) -> str:
    """The pattern that a LIKE compares with; a backslash in one that isn't `matches` makes the
    letter after it plain."""
    if kind == "matches":
        return phrase
    escaped = re.sub(r"([\\%_])", r"\\\1", phrase)
    return f"{'' if kind == 'starts' else '%'}{escaped}{'' if kind == 'ends' else '%'}"


def _pattern(kind: f.LikeKind, phrase: str) -> str:
    pattern = quote_literal(like_pattern(kind, phrase))
    plain = kind == "matches" or not re.search(r"[\\%_]", phrase)
    return pattern if plain else pattern + r" ESCAPE '\'"
