"""Reads SQL's expressions, windows and conditions into the form, those that mean the same alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar, cast

from sqlglot import exp

from sqlwright.errors import UnsupportedQuery
from sqlwright.local.form import nodes as f
from sqlwright.local.form.read import patterns
from sqlwright.local.form.read.names import NameScope
from sqlwright.local.form.read.patterns import DATES, read_date_call, read_moment
from sqlwright.local.form.sequence.delinear import combine
from sqlwright.local.form.sequence.symbols import WINDOW_AGGREGATES


def split_pattern(pattern: str) -> tuple[f.LikeKind, str]:
    """A LIKE pattern as a kind and a phrase: plain for all kinds but `matches`."""
    starts, ends = pattern.endswith("%"), pattern.startswith("%")
    phrase = pattern[1 if ends else 0 : len(pattern) - 1 if starts else None]
    if not phrase or "%" in phrase or "_" in phrase or not (starts or ends):
        return "matches", pattern
    return ("contains" if starts and ends else "starts" if starts else "ends"), phrase


def negate(condition: f.Condition) -> f.Condition:
    """The opposite of a condition, without NOT where it has a form of its own."""
    if isinstance(condition, f.Between | f.InList | f.InQuery | f.Like | f.IsNull | f.Exists):
        return replace(condition, negated=not condition.negated)
    return f.Not(condition)


def ranges(operands: list[f.Condition]) -> list[f.Condition]:
    """`x >= a AND x <= b` side by side as BETWEEN."""
    result: list[f.Condition] = []
    for operand in operands:
        last = result[-1] if result else None
        if (
            isinstance(operand, f.Comparison)
            and isinstance(last, f.Comparison)
            and operand.left == last.left
            and {operand.operator, last.operator} == {">=", "<="}
        ):
            low, high = (last, operand) if last.operator == ">=" else (operand, last)
            result[-1] = f.Between(operand.left, low.right, high.right)
        else:
            result.append(operand)
    return result


def simplify(node: f.Arithmetic) -> f.Expression:
    """One spelling for real divisions: 1.0 * a / b, CAST(a AS REAL) / b, a * 100.0 / b."""
    if node.operator == "*":
        for factor, other in ((node.left, node.right), (node.right, node.left)):
            if factor == f.Literal(1.0):
                return f.Function("real", (other,))
    if node.operator != "/":
        return node
    left, right = node.left, node.right
    match left, right:
        case f.Function("real", (value,)), _:
            return f.Arithmetic("ratio", value, right)
        case f.Arithmetic("*", f.Function("real", (value,)), f.Literal(100 | 100.0)), _:
            return f.Arithmetic("percent", value, right)
        case f.Arithmetic("*", f.Literal(100 | 100.0), f.Function("real", (value,))), _:
            return f.Arithmetic("percent", value, right)
        case f.Arithmetic("*", f.Literal(float(100.0)), value), _:
            return f.Arithmetic("percent", value, right)
        case f.Arithmetic("*", value, f.Literal(float(100.0))), _:
            return f.Arithmetic("percent", value, right)
        case _, f.Function("real", (value,)):
            return f.Arithmetic("ratio", left, value)
        case _, f.Literal(float(value)) if value.is_integer() and value:
            return f.Arithmetic("ratio", left, f.Literal(int(value)))
    return node


_RANKS: dict[type[exp.Expr], f.WindowName] = {
    exp.RowNumber: "row_number",
    exp.Rank: "rank",
    exp.DenseRank: "dense_rank",
}
_NEIGHBOURS: dict[type[exp.Expr], f.WindowName] = {
    exp.Lag: "lag",
    exp.Lead: "lead",
    exp.FirstValue: "first_value",
}


def read_window(node: exp.Window, read: Callable[[exp.Expr], f.Expression]) -> f.Window:
    """A window. Raises UnsupportedQuery for frames other than running ones and the last rows, for
    steps of several rows and for windows by name."""
    if node.alias or node.args.get("first"):
        raise UnsupportedQuery("a window by name isn't part of the form")
    function, operand = _function(node.this, read)
    order = node.args.get("order")
    terms = tuple(
        f.OrderTerm(read(term.this), bool(term.args.get("desc")))
        for term in (order.expressions if order is not None else ())
    )
    if not terms and function not in WINDOW_AGGREGATES:
        raise UnsupportedQuery(f"{function} without an order isn't part of the form")
    partition = tuple(map(read, node.args.get("partition_by") or ()))
    moving = _moving(node.args.get("spec"))
    if moving is not None and (not terms or function not in WINDOW_AGGREGATES):
        raise UnsupportedQuery("a window of some rows without an order isn't part of the form")
    return f.Window(function, operand, partition, terms, moving)


def _function(
    node: exp.Expr, read: Callable[[exp.Expr], f.Expression]
) -> tuple[f.WindowName, f.Expression | f.Star | None]:
    kind = type(node)
    if kind in _RANKS:
        return _RANKS[kind], None
    if isinstance(node, exp.Ntile):
        return "ntile", read(node.this)
    if kind in _NEIGHBOURS:
        step, default = node.args.get("offset"), node.args.get("default")
        if default is not None or (step is not None and step.name != "1"):
            raise UnsupportedQuery(f"{kind.__name__} over several rows isn't part of the form")
        return _NEIGHBOURS[kind], read(node.this)
    aggregate = _AGGREGATES.get(kind)
    if aggregate not in WINDOW_AGGREGATES or node.args.get("expressions"):
        raise UnsupportedQuery(f"{kind.__name__} as a window isn't part of the form")
    operand = node.this
    if isinstance(operand, exp.Star | exp.Literal) and kind is exp.Count:
        return "count", f.Star(None)
    return cast("f.WindowName", aggregate), read(operand)


def _moving(spec: exp.Expr | None) -> int | None:
    """The number of rows a frame goes over; None where it is SQL's own."""
    if spec is None:
        return None
    start, side = spec.args.get("start"), spec.args.get("start_side")
    end = spec.args.get("end") or "CURRENT ROW"
    if end != "CURRENT ROW" or side != "PRECEDING":
        raise UnsupportedQuery("a window with rows behind this one isn't part of the form")
    if start == "UNBOUNDED":
        # Rows that the order leaves equal have no order among them either way.
        return None
    if isinstance(start, exp.Literal) and start.this.isdigit() and spec.args["kind"] == "ROWS":
        return int(start.this) + 1
    raise UnsupportedQuery("a window over a range isn't part of the form")


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

    def __init__(self, scope: NameScope, query: Callable[[exp.Expr, NameScope], f.Query]) -> None:
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
