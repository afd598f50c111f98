"""Reads SQL's expressions and conditions into the form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

from sqlglot import exp

from sqlwright.errors import UnsupportedQuery
from sqlwright.local.form import nodes as f
from sqlwright.local.form.read import patterns
from sqlwright.local.form.read.moments import DATES, read_date_call, read_moment
from sqlwright.local.form.read.names import Scope
from sqlwright.local.form.read.spelling import negate, ranges, simplify, split_pattern
from sqlwright.local.form.read.windows import read_window
from sqlwright.local.form.sequence.delinear import combine

_COMPARISONS: dict[type[exp.Expr], f.ComparisonOperator] = {
    exp.EQ: "=",
    exp.NullSafeEQ: "=",
    exp.NEQ: "!=",
    exp.LT: "<",
    exp.GT: ">",
    exp.LTE: "<=",
    exp.GTE: ">=",
}
_FLIPPED: dict[str, f.ComparisonOperator] = {
    "=": "=",
    "!=": "!=",
    "<": ">",
    ">": "<",
    "<=": ">=",
    ">=": "<=",
}
_ARITHMETIC: dict[type[exp.Expr], f.ArithmeticOperator] = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.Mod: "%",
    exp.DPipe: "||",
}
_AGGREGATES: dict[type[exp.Expr], f.AggregateName] = {
    exp.Count: "count",
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
    exp.GroupConcat: "group_concat",
    exp.Median: "median",
    exp.Stddev: "stddev",
    exp.StddevSamp: "stddev",
    exp.StddevPop: "stddev_pop",
}
_CALLS: dict[type[exp.Expr], tuple[str, tuple[str, ...]]] = {
    exp.Abs: ("abs", ("this",)),
    exp.Upper: ("upper", ("this",)),
    exp.Lower: ("lower", ("this",)),
    exp.Length: ("length", ("this",)),
    exp.Nullif: ("nullif", ("this", "expression")),
    exp.Replace: ("replace", ("this", "expression", "replacement")),
    exp.StrPosition: ("instr", ("this", "substr")),
    exp.Sqrt: ("sqrt", ("this",)),
    exp.Pow: ("power", ("this", "expression")),
    exp.Sign: ("sign", ("this",)),
    exp.Ceil: ("ceiling", ("this",)),
    exp.Floor: ("floor", ("this",)),
}
_OPTIONAL: dict[type[exp.Expr], tuple[str, str, tuple[str, ...]]] = {
    exp.Round: ("round", "round_to", ("this", "decimals")),
    exp.Trim: ("trim", "trim_of", ("this", "expression")),
    exp.Substring: ("substr", "substr_to", ("this", "start", "length")),
}
"""Short name, name with the last argument, arguments."""
_REAL = {"FLOAT", "DOUBLE", "REAL"}
_INTEGER = {"INT", "BIGINT", "SMALLINT", "TINYINT", "MEDIUMINT", "INTEGER", "UINT"}
_TEXT = {"TEXT", "VARCHAR", "CHAR", "NVARCHAR", "NCHAR"}
_CONDITIONS: tuple[type[exp.Expr], ...] = (
    exp.And,
    exp.Or,
    exp.Not,
    exp.Between,
    exp.In,
    exp.Like,
    exp.Is,
    exp.Exists,
    *_COMPARISONS,
)


class ExpressionReader:
    """Reads the expressions of one SELECT."""

    def __init__(self, scope: Scope, query: Callable[[exp.Expr, Scope], f.Query]) -> None:
        self._scope = scope
        self._query = query
        self._unfolding: set[str] = set()

    # ---- expressions

    def expression(self, node: exp.Expr) -> f.Expression:
        """One expression. Raises UnsupportedQuery for what the form doesn't have."""
        kind = type(node)
        if kind in _ARITHMETIC:
            return self._arithmetic(_ARITHMETIC[kind], node)
        if kind in _CALLS:
            name, arguments = _CALLS[kind]
            found = f.Function(name, tuple(self._argument(node, key) for key in arguments))
            return patterns.call(found)
        if kind in _OPTIONAL:
            short, long, keys = _OPTIONAL[kind]
            given = [key for key in keys if node.args.get(key) is not None]
            name = long if len(given) == len(keys) else short
            called = f.Function(name, tuple(self._argument(node, key) for key in given))
            return patterns.call(called)
        if kind in _AGGREGATES:
            return self._aggregate(_AGGREGATES[kind], node)
        if isinstance(node, _CONDITIONS):
            return f.Conditional(self.condition(node), f.Literal(1), f.Literal(0))
        reader = self._READERS.get(kind)
        if reader is None:
            raise UnsupportedQuery(f"{kind.__name__} isn't part of the form")
        read: f.Expression = reader(self, node)
        return read

    def _argument(self, node: exp.Expr, key: str) -> f.Expression:
        argument = node.args.get(key)
        if argument is None:
            raise UnsupportedQuery(f"{type(node).__name__} lacks an argument")
        return self.expression(argument)

    def _inner(self, node: exp.Expr) -> f.Expression:
        return self.expression(node.this)

    def _column(self, node: exp.Column) -> f.Expression:
        name, qualifier = node.name, node.table
        found = self._scope.find(name, qualifier)
        if found is not None:
            return found
        if qualifier:
            raise UnsupportedQuery(f"no such column: {qualifier}.{name}")
        item = self._scope.alias(name)
        if item is not None and name not in self._unfolding:
            self._unfolding.add(name)
            try:
                return self.expression(item)
            finally:
                self._unfolding.discard(name)
        identifier = node.this
        quoted = isinstance(identifier, exp.Identifier) and identifier.args.get("quoted")
        if quoted and self._scope.quotes_texts:
            # SQLite takes a double-quoted name that is no column for a text.
            return f.Literal(name)
        raise UnsupportedQuery(f"no such column: {name}")

    def ordering(self, node: exp.Expr) -> f.Expression:
        """A term of ORDER BY: a name of an item and a number of an item count first."""
        if isinstance(node, exp.Column) and not node.table:
            item = self._scope.alias(node.name)
            if item is not None:
                return self.expression(item)
        return self.grouping(node)

    def grouping(self, node: exp.Expr) -> f.Expression:
        """A term of GROUP BY: a whole number is the number of an item, from 1."""
        if isinstance(node, exp.Literal) and not node.is_string:
            place = int(node.this) if node.this.isdigit() else 0
            if not 1 <= place <= len(self._scope.items):
                raise UnsupportedQuery(f"there is no item {node.this}")
            return self.expression(self._scope.items[place - 1].unalias())
        return self.expression(node)

    def _literal(self, node: exp.Literal) -> f.Literal:
        text: str = node.this
        if node.is_string:
            return f.Literal(text)
        try:
            return f.Literal(int(text))
        except ValueError:
            pass
        try:
            return f.Literal(float(text))
        except ValueError:
            raise UnsupportedQuery(f"{text} is not a number") from None

    def _negative(self, node: exp.Neg) -> f.Expression:
        operand = self.expression(node.this)
        if isinstance(operand, f.Literal) and not isinstance(operand.value, str):
            return f.Literal(-operand.value)
        return f.Arithmetic("-", f.Literal(0), operand)

    def _arithmetic(self, operator: f.ArithmeticOperator, node: exp.Expr) -> f.Expression:
        left, right = self.expression(node.this), self.expression(node.expression)
        simple = simplify(f.Arithmetic(operator, left, right))
        if isinstance(simple, f.Function):
            return patterns.call(simple)
        return patterns.operation(simple) if isinstance(simple, f.Arithmetic) else simple

    def _aggregate(self, name: f.AggregateName, node: exp.Expr) -> f.Expression:
        operand = node.this
        distinct = isinstance(operand, exp.Distinct)
        if distinct:
            if len(operand.expressions) != 1:
                raise UnsupportedQuery(f"{name} of several columns")
            operand = operand.expressions[0]
        if any(node.args.get(key) for key in ("expressions", "separator", "count")):
            raise UnsupportedQuery(f"{name} with more than one argument")
        while isinstance(operand, exp.Paren):
            operand = operand.this
        if name == "count" and not distinct and isinstance(operand, exp.Star | exp.Literal):
            return f.Aggregate("count", f.Star(None))
        return f.Aggregate(name, self.expression(operand), distinct)

    def _extreme(self, node: exp.Expr) -> f.Expression:
        name = "greatest" if isinstance(node, exp.Greatest) else "least"
        return self._folded(name, node)

    def _folded(self, name: str, node: exp.Expr) -> f.Expression:
        """A function of two or more arguments as nested calls."""
        arguments = [self.expression(part) for part in (node.this, *node.expressions)]
        result = arguments.pop()
        while arguments:
            result = f.Function(name, (arguments.pop(), result))
        return result

    def _coalesce(self, node: exp.Expr) -> f.Expression:
        return self._folded("coalesce", node)

    def _cast(self, node: exp.Cast) -> f.Expression:
        kind = node.to.this
        name = kind.name if hasattr(kind, "name") else str(kind)
        for function, names in (("real", _REAL), ("integer", _INTEGER), ("text", _TEXT)):
            if name in names:
                return patterns.call(f.Function(function, (self.expression(node.this),)))
        raise UnsupportedQuery(f"CAST AS {name}")

    def _strftime(self, node: exp.TimeToStr) -> f.Expression:
        pattern = self.expression(node.args["format"])
        if not (isinstance(pattern, f.Literal) and isinstance(pattern.value, str)):
            raise UnsupportedQuery("a date format that isn't a constant")
        return patterns.part_of(pattern, read_moment(node.this, self.expression))

    def _date(self, node: exp.Date) -> f.Expression:
        if node.expressions or node.args.get("zone"):
            raise UnsupportedQuery("a date with modifiers")
        return patterns.day_of(read_moment(node.this, self.expression))

    def _anonymous(self, node: exp.Anonymous) -> f.Expression:
        name, arguments = str(node.this).upper(), node.expressions
        if name == "TOTAL" and len(arguments) == 1:
            return f.Aggregate("total", self.expression(arguments[0]))
        if name == "PERCENTILE" and len(arguments) == 2:
            return self._percentile(*arguments)
        if arguments and (name in DATES or name == "STRFTIME"):
            return read_date_call(name, arguments, self.expression)
        raise UnsupportedQuery(f"the function {name} isn't part of the form")

    def _percentile(self, operand: exp.Expr, at: exp.Expr) -> f.Expression:
        share = self.expression(at)
        if not (isinstance(share, f.Literal) and not isinstance(share.value, str)):
            raise UnsupportedQuery("a percentile that isn't a constant")
        if share.value != int(share.value) or share.value < 0:
            raise UnsupportedQuery("a percentile that isn't a whole number")
        return f.Aggregate("percentile", self.expression(operand), at=int(share.value))

    def _filtered(self, node: exp.Filter) -> f.Expression:
        """An aggregate over some of the rows, by CASE."""
        whole = self.expression(node.this)
        if not isinstance(whole, f.Aggregate):
            raise UnsupportedQuery("FILTER without an aggregate")
        value = f.Literal(1) if isinstance(whole.operand, f.Star) else whole.operand
        condition = self.condition(node.expression.this)
        return replace(whole, operand=f.Conditional(condition, value))

    def _window(self, node: exp.Window) -> f.Expression:
        return read_window(node, self.expression)

    def _if(self, node: exp.If) -> f.Expression:
        otherwise = node.args.get("false")
        return f.Conditional(
            self.condition(node.this),
            self.expression(node.args["true"]),
            self._optional(otherwise),
        )

    def _optional(self, node: exp.Expr | None) -> f.Expression | None:
        return None if node is None or isinstance(node, exp.Null) else self.expression(node)

    def _case(self, node: exp.Case) -> f.Expression:
        result = self._optional(node.args.get("default"))
        subject = None if node.this is None else self.expression(node.this)
        for branch in reversed(node.args["ifs"]):
            if subject is None:
                condition = self.condition(branch.this)
            else:
                condition = f.Comparison("=", subject, self.expression(branch.this))
            result = f.Conditional(condition, self.expression(branch.args["true"]), result)
        if result is None:
            raise UnsupportedQuery("CASE without a branch")
        return patterns.cases(result) if isinstance(result, f.Conditional) else result

    def _subquery(self, node: exp.Expr) -> f.Expression:
        return f.Subquery(self._query(node, self._scope))

    def _boolean(self, node: exp.Boolean) -> f.Literal:
        return f.Literal(int(node.this))

    def _variance(self, node: exp.Expr) -> f.Expression:
        deviation: f.AggregateName = "stddev" if isinstance(node, exp.Variance) else "stddev_pop"
        return f.Function("power", (self._aggregate(deviation, node), f.Literal(2)))

    _READERS: ClassVar[dict[type[exp.Expr], Callable[..., Any]]] = {
        exp.Column: _column,
        exp.Literal: _literal,
        exp.Paren: _inner,
        exp.Alias: _inner,
        exp.Neg: _negative,
        exp.Greatest: _extreme,
        exp.Least: _extreme,
        exp.Coalesce: _coalesce,
        exp.Cast: _cast,
        exp.TimeToStr: _strftime,
        exp.Date: _date,
        exp.Anonymous: _anonymous,
        exp.Filter: _filtered,
        exp.Window: _window,
        exp.If: _if,
        exp.Case: _case,
        exp.Subquery: _subquery,
        exp.Select: _subquery,
        exp.Boolean: _boolean,
        exp.Variance: _variance,
        exp.VariancePop: _variance,
    }

    # ---- conditions

    def condition(self, node: exp.Expr) -> f.Condition:
        """One condition. Raises UnsupportedQuery for what the form doesn't have."""
        if isinstance(node, exp.Paren):
            return self.condition(node.this)
        if isinstance(node, exp.And | exp.Or):
            kind = f.And if isinstance(node, exp.And) else f.Or
            operands = [self.condition(part) for part in node.flatten()]
            return combine(kind, ranges(operands) if kind is f.And else operands)
        if isinstance(node, exp.Not):
            return negate(self.condition(node.this))
        if type(node) in _COMPARISONS:
            return self._comparison(_COMPARISONS[type(node)], node)
        found = self._special(node)
        if found is None:
            return f.Comparison("!=", self.expression(node), f.Literal(0))
        return negate(found) if node.args.get("negate") else found

    def _comparison(self, operator: f.ComparisonOperator, node: exp.Expr) -> f.Condition:
        left, right = self.expression(node.this), self.expression(node.expression)
        if isinstance(left, f.Literal):
            return f.Comparison(_FLIPPED[operator], right, left)
        return f.Comparison(operator, left, right)

    def _special(self, node: exp.Expr) -> f.Condition | None:
        if isinstance(node, exp.Between):
            if node.args.get("symmetric"):
                raise UnsupportedQuery("BETWEEN SYMMETRIC isn't part of the form")
            operand, low, high = (self._argument(node, key) for key in ("this", "low", "high"))
            return f.Between(operand, low, high)
        if isinstance(node, exp.In):
            return self._in(node)
        if isinstance(node, exp.Like):
            return self._like(node)
        if isinstance(node, exp.Is):
            if not isinstance(node.expression, exp.Null):
                return self._comparison("=", node)
            return f.IsNull(self.expression(node.this))
        if isinstance(node, exp.Exists):
            return f.Exists(self._query(node.this, self._scope))
        return None

    def _in(self, node: exp.In) -> f.Condition:
        operand = self.expression(node.this)
        query = node.args.get("query")
        if query is not None:
            return f.InQuery(operand, self._query(query, self._scope))
        values = [self.expression(value) for value in node.expressions]
        if len(values) == 1 and isinstance(values[0], f.Subquery):
            return f.InQuery(operand, values[0].query)
        constants = tuple(value for value in values if isinstance(value, f.Literal))
        if not values or len(constants) != len(values):
            raise UnsupportedQuery("IN with anything but constants")
        return f.InList(operand, constants)

    def _like(self, node: exp.Like) -> f.Condition:
        operand, pattern = self.expression(node.this), self.expression(node.expression)
        if not isinstance(pattern, f.Literal):
            raise UnsupportedQuery("LIKE with a pattern that isn't a constant")
        kind, phrase = split_pattern(str(pattern.value))
        return f.Like(kind, operand, f.Literal(phrase))
