"""Expressions as SQL of an engine that holds every value to its type."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sqlwright.errors import UnsupportedQuery
from sqlwright.local.form import nodes as f
from sqlwright.local.form.sequence.symbols import TEXT_FORMATS
from sqlwright.local.form.walking import own
from sqlwright.local.form.write.expressions import ExpressionWriter, quote_literal
from sqlwright.local.form.write.functions import CALLS, PRECEDENCE, combined
from sqlwright.local.form.write.kinds import ADDED_SPANS, NUMBERS, Kind, Kinds, is_number
from sqlwright.local.form.write.moments import MomentWriter, fits_as_moment
from sqlwright.local.form.write.words import Words
from sqlwright.sql.dialects import Nulls

_TEXTS = frozenset({"upper", "lower", "length", "trim", "trim_of", "replace", "instr"})
_NUMERIC = frozenset({"abs", "sqrt", "power", "sign", "ceiling", "floor"})
_CUT = frozenset({"substr", "substr_to"})
_AMOUNTS = {
    "amount": (("$", ""), ("€", ""), (",", "")),
    "amount_comma": (("€", ""), (" ", ""), (".", ""), (",", ".")),
    "decimal_comma": (("€", ""), (" ", ""), (",", ".")),
}
"""Characters of a text that is an amount, each with its replacement in a number."""
_ADDED = frozenset({"sum", "avg", "total", "median", "stddev", "stddev_pop", "percentile"})


@dataclass(frozen=True, slots=True)
class Around:
    """The things by which the expressions of one SELECT are written."""

    words: Words
    kinds: Kinds
    column: Callable[[f.Column | f.DerivedColumn], str]
    query: Callable[[f.Query], str]
    can_be_null: Callable[[f.Expression], bool]
    nulls: Nulls
    """The place that the engine gives NULL in an order."""


class TypedWriter(ExpressionWriter):
    """Writes what one SELECT works out of single rows."""

    def __init__(self, around: Around) -> None:
        super().__init__(around.column, around.query)
        self.words = around.words
        self.kinds = around.kinds
        self.can_be_null = around.can_be_null
        self._nulls = around.nulls
        self._moments = MomentWriter(around.words, around.kinds, self.expression, self.number)

    def expression(self, node: f.Expression) -> str:
        match node:
            case f.Literal(value):
                return self.constant(value)
            case f.Subquery(f.Select() as query) if _may_have_rows(query):
                # SQLite takes the first row, others fail where there is a second.
                return f"({self._query(replace(query, limit=1))})"
            case f.Conditional(condition, then, otherwise):
                branches = self.united([then] if otherwise is None else [then, otherwise])
                rest = "" if otherwise is None else f" ELSE {branches[1]}"
                return f"CASE WHEN {self.condition(condition)} THEN {branches[0]}{rest} END"
        return super().expression(node)

    def constant(self, value: str | float) -> str:
        """A constant, exact. Raises UnsupportedQuery for what the engine can't take."""
        if isinstance(value, str) and "\0" in value:
            raise UnsupportedQuery("a constant holds a NUL")
        text = quote_literal(value)
        if isinstance(value, str) and self.words.backslash:
            return text.replace("\\", "\\\\")
        if text.endswith("9e999"):
            raise UnsupportedQuery("a constant is too large")
        return text

    # ---- values brought to a kind

    def text(self, node: f.Expression) -> str:
        """An expression as a text."""
        if isinstance(node, f.Literal):
            return self.constant(node.value if isinstance(node.value, str) else str(node.value))
        if self.kinds.of(node) == "text":
            return self.expression(node)
        return self.words.text.format(self.expression(node))

    def number(self, node: f.Expression) -> str:
        """An expression as a number; what a text begins with."""
        part = self.part_number(node)
        if part is not None:
            return part
        kind = self.kinds.of(node)
        if kind in NUMBERS:
            return self.expression(node)
        if kind in {"span", "array"}:
            # Its text begins with digits that say nothing without what follows.
            raise UnsupportedQuery(f"no number is read of a value of kind {kind}")
        if kind == "boolean":
            return self.words.whole.format(self.expression(node))
        if isinstance(node, f.Literal) and is_number(str(node.value)):
            return str(node.value).strip()
        return self.words.number.format(self.text(node))

    def part_number(self, node: f.Expression) -> str | None:
        """A part of a date as a number; None of anything else."""
        return self._moments.number_of(node)

    def _number_operand(self, node: f.Expression, least: int) -> str:
        text = self.number(node)
        if self.kinds.of(node) not in NUMBERS:
            return text
        loose = self._binds(node) < least or (isinstance(node, f.Literal) and text[:1] == "-")
        return f"({text})" if loose else text

    def whole_number(self, node: f.Expression) -> str:
        """An expression as an integer."""
        part = self.part_number(node)
        if part is not None:
            return part
        kind = self.kinds.of(node)
        if kind in {"integer", "days", "boolean"}:
            return self.number(node)
        return self.words.integer.format(self.number(node))

    def united(self, nodes: Sequence[f.Expression]) -> list[str]:
        """Expressions that give one value by turns, of one kind."""
        kinds: set[Kind] = {self.kinds.of(node) for node in nodes}
        typed = [node for node in nodes if not isinstance(node, f.Literal)]
        if len(kinds) > 1 and len({self.kinds.of(node) for node in typed}) == 1:
            own_kind = self.kinds.of(typed[0])
            constants = [node for node in nodes if isinstance(node, f.Literal)]
            if all(fits_as_moment(one.value, own_kind) for one in constants):
                return [self.expression(node) for node in nodes]
        if len(kinds) == 1 or kinds <= NUMBERS or kinds == {"date", "timestamp"}:
            return [self.expression(node) for node in nodes]
        return [self.text(node) for node in nodes]

    # ---- aggregates and windows

    def _aggregate(self, node: f.Aggregate) -> str:
        operand = node.operand
        word = "DISTINCT " if node.distinct else ""
        if isinstance(operand, f.Star):
            return f"{node.function.upper()}(*)"
        if node.function in ADDED_SPANS and self.kinds.of(operand) == "span":
            return self._added_spans(node, operand)
        inner = self._added(node.function, operand)
        return self._called(node, word, inner)

    def _added_spans(self, node: f.Aggregate, operand: f.Expression) -> str:
        addend, total = self.words.added_spans
        word = "DISTINCT " if node.distinct else ""
        return total.format(self._called(node, word, addend.format(self.expression(operand))))

    def _called(self, node: f.Aggregate, word: str, inner: str) -> str:
        if node.function not in self.words.aggregates:
            return f"{node.function.upper()}({word}{inner})"
        at = "" if node.at is None else f"{node.at / 100:g}"
        return self.words.aggregates[node.function].format(word, inner, at)

    def _added(self, function: str, operand: f.Expression) -> str:
        if function in _ADDED:
            return self.number(operand)
        if function == "group_concat":
            return self.text(operand)
        if function in {"min", "max"} and self.kinds.of(operand) == "boolean":
            return self.number(operand)
        return self.expression(operand)

    def _window(self, node: f.Window) -> str:
        inner = node.operand
        if isinstance(inner, f.Star) or inner is None or node.function not in {"sum", "avg"}:
            return super()._window(node)
        if self.kinds.of(inner) in NUMBERS:
            return super()._window(node)
        marked = super()._window(
            f.Window(node.function, f.Star(None), node.partition, node.order, node.moving)
        )
        return marked.replace("(*)", f"({self.number(inner)})", 1)

    def term(self, term: f.OrderTerm) -> str:
        """A term of ORDER BY; NULL isn't the greatest, and nobody asked for it to be the least."""
        text = super().term(term)
        first = term.descending and self._nulls == "large" and self.words.nulls
        return f"{text} NULLS LAST" if first and self.can_be_null(term.expression) else text

    # ---- arithmetic and functions

    def _arithmetic(self, node: f.Arithmetic) -> str:
        own_level = PRECEDENCE[node.operator]
        match node.operator:
            case "||":
                return self.words.joined.format(
                    self._text_operand(node.left, own_level),
                    self._text_operand(node.right, own_level + 1),
                )
            case "/":
                return self._quotient(node)
            case "%":
                sides = (self.whole_number(node.left), self.whole_number(node.right))
                left = sides[0] if self._binds(node.left) >= own_level else f"({sides[0]})"
                return f"{left} % {self._divisor(node.right, sides[1])}"
            case "ratio" | "percent":
                left = self._fraction(node.left)
                divisor = self._divisor(node.right, self._number_operand(node.right, own_level + 1))
                return (
                    f"{left} * 100 / {divisor}"
                    if node.operator == "percent"
                    else f"{left} / {divisor}"
                )
        left = self._number_operand(node.left, own_level)
        return f"{left} {node.operator} {self._number_operand(node.right, own_level + 1)}"

    def _text_operand(self, node: f.Expression, least: int) -> str:
        text = self.text(node)
        loose = self._binds(node) < least and self.kinds.of(node) == "text"
        return f"({text})" if loose else text

    def _quotient(self, node: f.Arithmetic) -> str:
        kinds = {self.kinds.of(node.left), self.kinds.of(node.right)}
        divisor = self._divisor(node.right, self._number_operand(node.right, 3))
        left = self._number_operand(node.left, 2)
        if kinds <= {"integer", "boolean"}:
            whole = _is_integer(node.left) and _is_integer(node.right)
            return (self.words.quotient if whole else self.words.whole_quotient).format(
                left, divisor
            )
        if not kinds & {"decimal", "real"}:
            left = self._fraction(node.left)
        return f"{left} / {divisor}"

    def _fraction(self, node: f.Expression) -> str:
        """A number that divides without being cut to an integer."""
        if self.kinds.of(node) in {"decimal", "real"} or self.words.fraction == "{}":
            return self._number_operand(node, 2)
        return self.words.fraction.format(self.number(node))

    def _divisor(self, node: f.Expression, text: str) -> str:
        """A divisor; NULL in place of zero, by which SQLite divides to NULL."""
        if isinstance(node, f.Literal) and node.value not in {0, "0"}:
            return text
        return f"NULLIF({text}, 0)"

    def _function(self, node: f.Function) -> str:
        short = combined(node)
        if short is not None:
            template, inner = short
            return self._pieces(template, inner)
        moment = self._moments.function(node)
        if moment is not None:
            return moment
        return self._call(node.name, node.arguments)

    def _call(self, name: str, arguments: Sequence[f.Expression]) -> str:
        calls = self.words.calls
        if name in _TEXTS:
            return calls[name].format(*map(self.text, arguments))
        if name in _NUMERIC:
            return calls[name].format(*map(self.number, arguments))
        if name in _CUT:
            return self._cut(name, arguments)
        if name in _AMOUNTS:
            return self._amount(name, arguments[0])
        match name:
            case "round" | "round_to":
                places = [self._small(argument) for argument in arguments[1:]]
                number = self.number(arguments[0])
                if self.kinds.of(arguments[0]) not in {"integer", "decimal"}:
                    number = self.words.decimal.format(number)
                return calls[name].format(number, *places)
            case "real":
                return self._as_real(arguments[0])
            case "integer":
                return self.whole_number(arguments[0])
            case "text":
                return self.text(arguments[0])
            case "coalesce" | "nullif":
                return calls[name].format(*self.united(arguments))
            case "greatest" | "least":
                return self._extreme(name, arguments)
        return self._text_of_date(name, arguments[0])

    def _as_real(self, node: f.Expression) -> str:
        number = self.number(node)
        return number if self.kinds.of(node) == "real" else self.words.real.format(number)

    def _extreme(self, name: str, arguments: Sequence[f.Expression]) -> str:
        """The greatest or least of two; NULL if one is, which not all engines say of themselves."""
        text = self.words.calls[name].format(*self.united(arguments))
        unsure = [self.expression(one) for one in arguments if self.can_be_null(one)]
        if not unsure or not self.words.nulls:
            return text
        tests = " AND ".join(f"{one} IS NOT NULL" for one in unsure)
        return f"CASE WHEN {tests} THEN {text} END"

    def _cut(self, name: str, arguments: Sequence[f.Expression]) -> str:
        calls, text = self.words.calls, self.text(arguments[0])
        start, rest = arguments[1], [self._small(one) for one in arguments[2:]]
        if isinstance(start, f.Literal) and type(start.value) is int and start.value < 0:
            last = calls["last"].format(text, -start.value)
            return calls[name].format(last, 1, *rest) if rest else last
        return calls[name].format(text, self._small(start), *rest)

    def _small(self, node: f.Expression) -> str:
        """A place in a text or a number of digits."""
        text = self.whole_number(node)
        plain = isinstance(node, f.Literal) and type(node.value) is int
        return text if plain else self.words.small.format(text)

    def _amount(self, name: str, node: f.Expression) -> str:
        if self.kinds.of(node) in NUMBERS:
            return self.number(node)
        text = self.text(node)
        for old, new in _AMOUNTS[name]:
            text = f"REPLACE({text}, '{old}', '{new}')"
        return self.words.number.format(text)

    def _text_of_date(self, name: str, node: f.Expression) -> str:
        """A date that is written day first, month first or without marks, as year, month, day."""
        if name not in TEXT_FORMATS:
            raise UnsupportedQuery(f"{name} isn't known in this dialect")
        return self._pieces(CALLS[name], node)

    def _pieces(self, template: str, inner: f.Expression) -> str:
        text = self.text(inner)
        pieces = [piece.format(text) for piece in template.split(" || ")]
        whole = pieces[0]
        for piece in pieces[1:]:
            whole = self.words.joined.format(whole, piece)
        return f"({whole})" if len(pieces) > 1 else whole

    def _binds(self, node: f.Expression) -> int:
        """The precedence of what is written; 4 where that stands in parentheses or is a call."""
        if isinstance(node, f.Arithmetic):
            joined = node.operator == "||" and "||" not in self.words.joined
            return 4 if joined else PRECEDENCE[node.operator]
        return 4


def _may_have_rows(query: f.Select) -> bool:
    """True of a query that can have more rows than one."""
    if query.limit is not None and query.limit <= 1:
        return False
    aggregates = any(True for _ in own((query.items, query.having), f.Aggregate))
    return bool(query.group_by) or not aggregates


def _is_integer(node: f.Expression) -> bool:
    """True of what is an integer to an engine, too, that makes decimals of sums and parts of dates.
    Its kind is known to be an integer."""
    match node:
        case f.Column() | f.Literal():
            return True
        case f.Aggregate("count"):
            return True
        case f.Arithmetic("+" | "-" | "*", left, right):
            return _is_integer(left) and _is_integer(right)
    return False
