"""A sequence of symbols as a form: recursive descent over the grammar of `linear`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from sqlwright.errors import UnsupportedQuery
from sqlwright.local.form import nodes as f
from sqlwright.local.form.sequence.symbols import (
    AGGREGATES,
    ARITHMETIC,
    COMPARISONS,
    CONSTANTS,
    DERIVED,
    FUNCTIONS,
    ITEMS,
    LIKES,
    NEIGHBOURS,
    RANKS,
    SET_OPERATORS,
    WINDOW_AGGREGATES,
    WINDOWS,
    Keyword,
    Symbol,
    TableSymbol,
    keyword_name,
)
from sqlwright.schema import ColumnRef

EXPRESSION_STARTS = frozenset(
    (
        *AGGREGATES,
        *ARITHMETIC,
        *FUNCTIONS,
        *CONSTANTS,
        *DERIVED,
        *WINDOWS,
        *("count_if", "iif", "when", "outer", "second", "third", "select", "with"),
    )
)
"""Keywords an expression may start with."""


def delinearize(symbols: Sequence[Symbol]) -> f.Query:
    """The form of a sequence. Raises UnsupportedQuery when the sequence isn't one of the grammar
    (one that `GrammarState` calls finished always is)."""
    reader = _Cursor(symbols)
    form = reader.query()
    reader.expect_end()
    return form


class _Cursor:
    """Recursive descent over a sequence."""

    def __init__(self, symbols: Sequence[Symbol]) -> None:
        self._symbols = symbols
        self._place = 0

    def _peek(self) -> Symbol | None:
        return self._symbols[self._place] if self._place < len(self._symbols) else None

    def _name(self) -> str:
        """The keyword at the cursor, or '' for another symbol."""
        return keyword_name(self._peek())

    def _take(self) -> Symbol:
        symbol = self._peek()
        if symbol is None:
            raise UnsupportedQuery("the sequence breaks off")
        self._place += 1
        return symbol

    def _accept(self, *names: str) -> str:
        name = self._name()
        if name in names:
            self._place += 1
            return name
        return ""

    def _fail(self) -> UnsupportedQuery:
        return UnsupportedQuery(f"unexpected symbol {self._peek()} at place {self._place}")

    def _expect(self, name: str) -> None:
        if not self._accept(name):
            raise self._fail()

    def expect_end(self) -> None:
        """Raise unless everything has been read."""
        if self._peek() is not None:
            raise self._fail()

    def query(self) -> f.Query:
        """A query and its `end`."""
        query: f.Query = self._select()
        while operator := self._accept(*SET_OPERATORS):
            query = f.SetOperation(cast("Any", operator), query, self._select())
        self._expect("end")
        return query

    def _select(self) -> f.Select:
        derived: list[f.Query] = []
        while self._accept("with"):
            derived.append(self.query())
        self._expect("select")
        distinct = bool(self._accept("distinct"))
        items = [self._item()]
        while self._starts_expression():
            items.append(self._item())
        extra: list[f.Source] = []
        if self._accept("from"):
            extra.append(self._source())
            while isinstance(self._peek(), TableSymbol) or self._name() in {"second", "third"}:
                extra.append(self._source())
        joins: list[f.Join] = []
        crossed: list[f.Source] = []
        while kind := self._accept("join", "left", "cross"):
            if kind == "cross":
                crossed.append(self._source())
            else:
                ends = (self._joined(), self._joined())
                condition = self._condition() if self._accept("on") else None
                joins.append(f.Join(*ends, kind == "left", condition))
        where = self._disjunction() if self._accept("where") else None
        group_by = self._many(self.expression) if self._accept("group") else ()
        having = self._disjunction() if self._accept("having") else None
        keep = self._kept() if self._accept("keep") else None
        order_by = self._order(items)
        limit = 1 if self._accept("limit_1") else None
        if limit is None and self._accept("limit"):
            limit = self._integer()
        offset = self._integer() if self._accept("offset") else None
        return f.Select(
            tuple(items),
            distinct,
            tuple(derived),
            tuple(extra),
            tuple(joins),
            tuple(crossed),
            where,
            group_by,
            having,
            keep,
            order_by,
            limit,
            offset,
        )

    def _kept(self) -> f.Comparison:
        condition = self._condition()
        if isinstance(condition, f.Comparison) and isinstance(condition.left, f.Window):
            return condition
        raise UnsupportedQuery("only what a window is compared with can be kept")

    def _order(self, items: Sequence[f.Expression | f.Star] = ()) -> tuple[f.OrderTerm, ...]:
        terms = []
        while direction := self._accept("asc", "desc"):
            term = self._shown(items) if self._accept("shown") else self.expression()
            terms.append(f.OrderTerm(term, direction == "desc"))
        return tuple(terms)

    def _shown(self, items: Sequence[f.Expression | f.Star]) -> f.Expression:
        place = self._item_number()
        item = items[place - 1] if place <= len(items) else None
        if item is None or isinstance(item, f.Star):
            raise UnsupportedQuery(f"there is no item {place} to order by")
        return item

    def _item_number(self) -> int:
        item = self._accept(*ITEMS)
        if not item:
            raise self._fail()
        return ITEMS.index(item) + 1

    def _many(self, read: Callable[[], f.Expression]) -> tuple[f.Expression, ...]:
        found = [read()]
        while self._starts_expression():
            found.append(read())
        return tuple(found)

    def _starts_expression(self) -> bool:
        symbol = self._peek()
        if isinstance(symbol, Keyword):
            return symbol.name in EXPRESSION_STARTS
        return symbol is not None

    def _item(self) -> f.Expression | f.Star:
        symbol = self._peek()
        if isinstance(symbol, TableSymbol):
            self._place += 1
            return f.Star(symbol.name)
        return self.expression()

    def _source(self) -> f.Source:
        instance = self._instance()
        symbol = self._take()
        if not isinstance(symbol, TableSymbol):
            raise UnsupportedQuery(f"{symbol} is not a table")
        return f.Source(symbol.name, instance)

    def _instance(self) -> int:
        name = self._accept("second", "third")
        return {"": 1, "second": 2, "third": 3}[name]

    def _joined(self) -> f.Column | f.DerivedColumn:
        expression = self.expression()
        if isinstance(expression, f.Column | f.DerivedColumn):
            return expression
        raise UnsupportedQuery("a join needs columns")

    def _integer(self) -> int:
        literal = self._constant()
        if isinstance(literal.value, int):
            return literal.value
        try:
            return int(literal.value)
        except (ValueError, OverflowError):
            raise UnsupportedQuery(f"{literal.value!r} is not a number of rows") from None

    def _constant(self) -> f.Literal:
        symbol = self._take()
        if isinstance(symbol, f.Literal):
            return symbol
        if isinstance(symbol, Keyword) and symbol.name in CONSTANTS:
            return f.Literal(CONSTANTS[symbol.name])
        raise UnsupportedQuery(f"{symbol} is not a constant")

    def expression(self) -> f.Expression:
        """One expression."""
        symbol = self._peek()
        if isinstance(symbol, ColumnRef):
            self._place += 1
            return f.Column(symbol)
        if isinstance(symbol, f.Literal):
            self._place += 1
            return symbol
        if isinstance(symbol, Keyword):
            return self._worded(symbol.name)
        raise self._fail()

    def _worded(self, name: str) -> f.Expression:
        if name in {"select", "with"}:
            return f.Subquery(self.query())
        if name not in EXPRESSION_STARTS:
            raise self._fail()
        if name in CONSTANTS:
            return self._constant()
        if name in {"second", "third"}:
            return self._column(outer=False)
        self._place += 1
        if name == "outer":
            return self._column(outer=True)
        if name in DERIVED:
            return f.DerivedColumn(DERIVED.index(name) + 1, self._item_number())
        if name in WINDOWS:
            return self._window(name)
        if name in ARITHMETIC:
            return f.Arithmetic(cast("Any", name), self.expression(), self.expression())
        if name in FUNCTIONS:
            return f.Function(name, tuple(self.expression() for _ in range(FUNCTIONS[name])))
        if name == "count_if":
            return f.Aggregate("sum", f.Conditional(self._condition(), f.Literal(1), f.Literal(0)))
        if name in {"iif", "when"}:
            condition, then = self._condition(), self.expression()
            return f.Conditional(condition, then, self.expression() if name == "iif" else None)
        return self._aggregate(name)

    def _column(self, *, outer: bool) -> f.Column:
        instance = self._instance()
        symbol = self._take()
        if not isinstance(symbol, ColumnRef):
            raise UnsupportedQuery(f"{symbol} is not a column")
        return f.Column(symbol, instance, outer)

    def _aggregate(self, name: str) -> f.Aggregate:
        function: Any = name
        if name == "count" and self._accept("rows"):
            return f.Aggregate(function, f.Star(None))
        at = self._integer() if name == "percentile" else None
        distinct = bool(self._accept("distinct"))
        symbol = self._peek()
        if name == "count" and isinstance(symbol, TableSymbol):
            self._place += 1
            return f.Aggregate(function, f.Star(symbol.name), distinct)
        return f.Aggregate(function, self.expression(), distinct, at)

    def _window(self, name: str) -> f.Window:
        operand: f.Expression | f.Star | None = None
        if name == "over":
            name = self._accept(*WINDOW_AGGREGATES)
            if not name:
                raise self._fail()
            counted = name == "count" and self._accept("rows")
            operand = f.Star(None) if counted else self._item()
        elif name == "ntile":
            operand = f.Literal(self._integer())
        elif name in NEIGHBOURS:
            operand = self.expression()
        else:
            assert name in RANKS
        partition = []
        while self._accept("per"):
            partition.append(self.expression())
        order = self._order()
        moving = self._integer() if self._accept("moving") else None
        self._expect("end")
        return f.Window(cast("Any", name), operand, tuple(partition), order, moving)

    def _disjunction(self) -> f.Condition:
        operands = [self._conjunction()]
        while self._accept("or"):
            operands.append(self._conjunction())
        return combine(f.Or, operands)

    def _conjunction(self) -> f.Condition:
        operands = [self._condition()]
        while self._accept("and"):
            operands.append(self._condition())
        return combine(f.And, operands)

    def _condition(self) -> f.Condition:
        if self._accept("("):
            condition = self._disjunction()
            self._expect(")")
            return condition
        if self._accept("not"):
            return f.Not(self._condition())
        if name := self._accept("exists", "not_exists"):
            return f.Exists(self.query(), name == "not_exists")
        operand = self.expression()
        if operator := self._accept(*COMPARISONS):
            return f.Comparison(cast("Any", operator), operand, self.expression())
        if name := self._accept("is_null", "not_null"):
            return f.IsNull(operand, name == "not_null")
        if name := self._accept("between", "not_between"):
            return f.Between(operand, self.expression(), self.expression(), name != "between")
        if name := self._accept("in", "not_in"):
            return self._among(operand, negated=name == "not_in")
        for kind in LIKES:
            if name := self._accept(kind, f"not_{kind}"):
                return f.Like(cast("Any", kind), operand, self._constant(), name != kind)
        raise self._fail()

    def _among(self, operand: f.Expression, *, negated: bool) -> f.Condition:
        if self._name() in {"select", "with"}:
            return f.InQuery(operand, self.query(), negated)
        values = [self._constant()]
        while not self._accept("end"):
            values.append(self._constant())
        return f.InList(operand, tuple(values), negated)


def combine(kind: type[f.And] | type[f.Or], operands: Sequence[f.Condition]) -> f.Condition:
    """Operands under one connective: flattened, and a lone one as itself."""
    flat: list[f.Condition] = []
    for operand in operands:
        flat.extend(operand.operands if isinstance(operand, kind) else (operand,))
    return flat[0] if len(flat) == 1 else kind(tuple(flat))
