"""Names, constants, expressions and conditions as SQLite's SQL."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from sqlwright.errors import UnsupportedQuery
from sqlwright.local.form import nodes as f
from sqlwright.local.form.write.functions import AROUND, CALLS, PRECEDENCE, WHOLE, combined
from sqlwright.sql.tokens import quote_text


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
            case f.Aggregate():
                return self._aggregate(node)
            case f.Window():
                return self._window(node)
            case f.Arithmetic():
                return self._arithmetic(node)
            case f.Function():
                return self._function(node)
            case f.Conditional(condition, then, otherwise):
                rest = "" if otherwise is None else f" ELSE {self.expression(otherwise)}"
                test = self.condition(condition)
                return f"CASE WHEN {test} THEN {self.expression(then)}{rest} END"
            case f.Subquery(query):
                return f"({self._query(query)})"

    def _aggregate(self, node: f.Aggregate) -> str:
        inner = "*" if isinstance(node.operand, f.Star) else self.expression(node.operand)
        if node.function in WHOLE:
            factor = inner if isinstance(node.operand, f.Star) else self._operand(node.operand, 2)
            return WHOLE[node.function].format(inner, factor)
        word = "DISTINCT " if node.distinct else ""
        at = "" if node.at is None else f", {node.at}"
        return f"{node.function.upper()}({word}{inner}{at})"

    def _window(self, node: f.Window) -> str:
        operand = node.operand
        inner = "" if operand is None else "*"
        if operand is not None and not isinstance(operand, f.Star):
            inner = self.expression(operand)
        parts = []
        if node.partition:
            parts.append("PARTITION BY " + ", ".join(map(self.expression, node.partition)))
        if node.order:
            parts.append("ORDER BY " + ", ".join(map(self.term, node.order)))
        if node.moving is not None:
            before = max(node.moving - 1, 0)
            parts.append(f"ROWS BETWEEN {before} PRECEDING AND CURRENT ROW")
        return f"{node.function.upper()}({inner}) OVER ({' '.join(parts)})"

    def term(self, term: f.OrderTerm) -> str:
        """A term of ORDER BY."""
        return self.expression(term.expression) + (" DESC" if term.descending else "")

    def _function(self, node: f.Function) -> str:
        short = combined(node)
        if short is not None:
            template, inner = short
            return template.format(self._operand(inner, 4))
        if node.name in AROUND:
            return self._moved(node)
        if node.name in PRECEDENCE:
            texts = [self._operand(argument, 4) for argument in node.arguments]
        else:
            texts = [self.expression(argument) for argument in node.arguments]
        return CALLS[node.name].format(*texts)

    def _moved(self, node: f.Function) -> str:
        """A date so many days, months or years away."""
        sign, unit = AROUND[node.name]
        moment, count = node.arguments
        if isinstance(count, f.Literal) and type(count.value) is int and count.value >= 0:
            modifier = f"'{sign}{count.value} {unit}'"
        else:
            modifier = f"'{sign}' || {self._operand(count, 4)} || ' {unit}'"
        return f"DATE({self.expression(moment)}, {modifier})"

    def _arithmetic(self, node: f.Arithmetic) -> str:
        own = PRECEDENCE[node.operator]
        right = self._operand(node.right, own + 1)
        if node.operator in {"ratio", "percent"}:
            left = f"CAST({self.expression(node.left)} AS REAL)"
            return f"{left} * 100 / {right}" if node.operator == "percent" else f"{left} / {right}"
        return f"{self._operand(node.left, own)} {node.operator} {right}"

    def _operand(self, node: f.Expression, least: int) -> str:
        """An operand, in parentheses where it binds less tightly than `least`."""
        text = self.expression(node)
        loose = precedence(node) < least
        negative = isinstance(node, f.Literal) and text.startswith("-")
        return f"({text})" if loose or negative else text

    def condition(self, node: f.Condition) -> str:
        """A condition as SQL."""
        match node:
            case f.And(operands):
                return " AND ".join(self.member(operand) for operand in operands)
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

    def member(self, node: f.Condition) -> str:
        """A condition as one of several that all hold."""
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


def precedence(node: f.Expression) -> int:
    """The precedence of the outermost operator of what is written; 4 without one."""
    match node:
        case f.Arithmetic(operator):
            return PRECEDENCE[operator]
        case f.Function(name):
            short = combined(node)
            return PRECEDENCE.get(name, 4) if short is None else 3
    return 4


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
