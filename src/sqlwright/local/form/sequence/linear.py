"""The form as a sequence of symbols.

Clauses come in SQL's order without separators; a query ends with `end`; operators of arithmetic,
functions and aggregates stand before their operands, comparisons between theirs; AND binds tighter
than OR, parentheses do the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlwright.errors import UnsupportedQuery
from sqlwright.local.form import nodes as f
from sqlwright.local.form.sequence.symbols import (
    BY_NAME,
    FIRST_CONSTANTS,
    ITEMS,
    WINDOW_AGGREGATES,
    Keyword,
    Symbol,
    TableSymbol,
)

_INSTANCES = {2: "second", 3: "third"}
SHORT = 3
"""Symbols of a term that ORDER BY says again though it is shown."""
_ONE, _ZERO = f.Literal(1), f.Literal(0)


def linearize(form: f.Query) -> tuple[Symbol, ...]:
    """The canonical sequence of a form. Raises UnsupportedQuery when the symbols can't say it."""
    return tuple(_query(form, whole=True))


def _word(name: str) -> Keyword:
    try:
        return BY_NAME[name]
    except KeyError:
        raise UnsupportedQuery(f"the form has no symbol for {name!r}") from None


def _query(query: f.Query, *, whole: bool = False) -> Iterator[Symbol]:
    """A query and its end; `whole`: it can't borrow columns of another."""
    yield from _arms(query, whole=whole)
    yield _word("end")


def _arms(query: f.Query, *, whole: bool) -> Iterator[Symbol]:
    if isinstance(query, f.SetOperation):
        yield from _arms(query.left, whole=whole)
        yield _word(query.operator)
        yield from _arms(query.right, whole=whole)
    else:
        yield from _select(query, whole=whole)


def _select(select: f.Select, *, whole: bool) -> Iterator[Symbol]:
    for derived in select.derived:
        yield _word("with")
        yield from _query(derived, whole=True)
    yield _word("select")
    if select.distinct:
        yield _word("distinct")
    for item in select.items:
        yield from _expression(item)
    if select.extra:
        yield _word("from")
        for source in select.extra:
            yield from _source(source)
    for join in select.joins:
        yield _word("left" if join.outer else "join")
        yield from _expression(join.left)
        yield from _expression(join.right)
        if join.condition is not None:
            yield _word("on")
            yield from _condition(join.condition)
    for source in select.crossed:
        yield _word("cross")
        yield from _source(source)
    numbered = whole and not any(isinstance(i, f.Star | f.Literal) for i in select.items)
    yield from _clauses(select, select.items[: len(ITEMS)] if numbered else ())


def _clauses(select: f.Select, numbered: Sequence[f.Expression | f.Star]) -> Iterator[Symbol]:
    if select.where is not None:
        yield _word("where")
        yield from _disjunction(select.where)
    if select.group_by:
        yield _word("group")
        for expression in select.group_by:
            yield from _expression(expression)
    if select.having is not None:
        yield _word("having")
        yield from _disjunction(select.having)
    if select.keep is not None:
        yield _word("keep")
        yield from _condition(select.keep)
    for term in select.order_by:
        yield _word("desc" if term.descending else "asc")
        yield from _sorted_by(term.expression, numbered)
    if select.limit == 1:
        yield _word("limit_1")
    elif select.limit is not None:
        yield _word("limit")
        yield _literal(f.Literal(select.limit))
    if select.offset is not None:
        yield _word("offset")
        yield _literal(f.Literal(select.offset))


def _sorted_by(
    expression: f.Expression, numbered: Sequence[f.Expression | f.Star]
) -> Iterator[Symbol]:
    """A term of ORDER BY; a long one that is shown anyway by its number."""
    symbols = tuple(_expression(expression))
    if len(symbols) > SHORT and expression in numbered:
        yield _word("shown")
        yield _word(ITEMS[numbered.index(expression)])
    else:
        yield from symbols


def _source(source: f.Source) -> Iterator[Symbol]:
    yield from _instance(source.instance)
    yield TableSymbol(source.table)


def _instance(instance: int) -> Iterator[Symbol]:
    if instance != 1:
        name = _INSTANCES.get(instance)
        if name is None:
            raise UnsupportedQuery(f"a table appears {instance} times in one FROM clause")
        yield _word(name)


def _literal(literal: f.Literal) -> Symbol:
    if literal.value == "":
        return _word("empty")
    if type(literal.value) is int and str(literal.value) in FIRST_CONSTANTS:
        return _word(str(literal.value))
    return literal


def _expression(node: f.Expression | f.Star) -> Iterator[Symbol]:  # noqa: C901 - one case a kind
    match node:
        case f.Column(ref, instance, outer):
            if outer:
                yield _word("outer")
            yield from _instance(instance)
            yield ref
        case f.DerivedColumn(table, item):
            yield _word(f"derived_{table}")
            yield _word(f"item_{item}")
        case f.Star(name):
            yield _word("rows") if name is None else TableSymbol(name)
        case f.Literal():
            yield _literal(node)
        case f.Aggregate("sum", f.Conditional(condition, then, otherwise), False) if (
            then == _ONE and otherwise == _ZERO
        ):
            yield _word("count_if")
            yield from _condition(condition)
        case f.Aggregate(function, operand, distinct, at):
            yield _word(function)
            if at is not None:
                yield _literal(f.Literal(at))
            if distinct:
                yield _word("distinct")
            yield from _expression(operand)
        case f.Window():
            yield from _window(node)
        case f.Arithmetic(operator, left, right):
            yield _word(operator)
            yield from _expression(left)
            yield from _expression(right)
        case f.Function("strftime", (f.Literal() as pattern, *operands)):
            # The grammar takes nothing but a pointer here, so an empty pattern isn't `empty`.
            yield _word("strftime")
            yield pattern
            for operand in operands:
                yield from _expression(operand)
        case f.Function(name, arguments):
            yield _word(name)
            for argument in arguments:
                yield from _expression(argument)
        case f.Conditional(condition, then, otherwise):
            yield _word("when" if otherwise is None else "iif")
            yield from _condition(condition)
            yield from _expression(then)
            if otherwise is not None:
                yield from _expression(otherwise)
        case f.Subquery(query):
            yield from _query(query)


def _window(window: f.Window) -> Iterator[Symbol]:
    if window.function in WINDOW_AGGREGATES:
        yield _word("over")
    yield _word(window.function)
    if window.operand is not None:
        yield from _expression(window.operand)
    for expression in window.partition:
        yield _word("per")
        yield from _expression(expression)
    for term in window.order:
        yield _word("desc" if term.descending else "asc")
        yield from _expression(term.expression)
    if window.moving is not None:
        yield _word("moving")
        yield _literal(f.Literal(window.moving))
    yield _word("end")


def _disjunction(condition: f.Condition) -> Iterator[Symbol]:
    operands = condition.operands if isinstance(condition, f.Or) else (condition,)
    for index, operand in enumerate(operands):
        if index:
            yield _word("or")
        members = operand.operands if isinstance(operand, f.And) else (operand,)
        for place, member in enumerate(members):
            if place:
                yield _word("and")
            yield from _condition(member)


def _condition(node: f.Condition) -> Iterator[Symbol]:
    match node:
        case f.And() | f.Or():
            yield _word("(")
            yield from _disjunction(node)
            yield _word(")")
        case f.Not(operand):
            yield _word("not")
            yield from _condition(operand)
        case f.Exists(query, negated):
            yield _word("not_exists" if negated else "exists")
            yield from _query(query)
        case f.Comparison(operator, left, right):
            yield from _expression(left)
            yield _word(operator)
            yield from _expression(right)
        case f.Between(operand, low, high, negated):
            yield from _expression(operand)
            yield _word("not_between" if negated else "between")
            yield from _expression(low)
            yield from _expression(high)
        case f.InList(operand, values, negated):
            yield from _expression(operand)
            yield _word("not_in" if negated else "in")
            for value in values:
                yield _literal(value)
            yield _word("end")
        case f.InQuery(operand, query, negated):
            yield from _expression(operand)
            yield _word("not_in" if negated else "in")
            yield from _query(query)
        case f.Like(kind, operand, phrase, negated):
            yield from _expression(operand)
            yield _word(f"not_{kind}" if negated else kind)
            yield phrase
        case f.IsNull(operand, negated):
            yield from _expression(operand)
            yield _word("not_null" if negated else "is_null")
