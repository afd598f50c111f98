"""The neighbours of a query: queries that differ from it in one place, as mistakes do.

Most of them mean something else, some the same; nobody here says which.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlglot import exp

from sqlwright.schema import Schema, Table
from sqlwright.sql.names import source_nodes, stored_table
from sqlwright.sql.tree import node_text, query_tree
from sqlwright.sql.tree_facts.nodes import row_count

_COMPARISONS: dict[type[exp.Expr], tuple[type[exp.Binary], ...]] = {
    exp.GT: (exp.GTE, exp.LT),
    exp.GTE: (exp.GT, exp.EQ),
    exp.LT: (exp.LTE, exp.GT),
    exp.LTE: (exp.LT, exp.EQ),
    exp.EQ: (exp.NEQ, exp.GTE, exp.LTE),
    exp.NEQ: (exp.EQ, exp.GT),
    exp.Like: (exp.EQ, exp.NEQ),
}
_AGGREGATES: dict[type[exp.Expr], tuple[type[exp.AggFunc], ...]] = {
    exp.Max: (exp.Min,),
    exp.Min: (exp.Max,),
    exp.Sum: (exp.Avg, exp.Max),
    exp.Avg: (exp.Sum, exp.Min),
}


def neighbours(sql: str, schema: Schema) -> tuple[str, ...]:
    """Each another text, in the order of the places in the query; none where the text is no
    query."""
    tree = query_tree(sql, schema.dialect)
    if tree is None:
        return ()
    found: dict[str, None] = {}
    for number, node in enumerate(tree.walk(bfs=False)):
        for change in _changes(node, schema):
            whole = tree.copy()
            place = next(one for at, one in enumerate(whole.walk(bfs=False)) if at == number)
            text = node_text(change(place) or whole, schema.dialect)
            if text:
                found[text] = None
    found.pop(node_text(tree, schema.dialect), None)
    return tuple(found)


Edit = Callable[[exp.Expr], exp.Expr | None]
"""Changes a node of a copy; the new whole query where the node was the whole, else None."""


def _changes(node: exp.Expr, schema: Schema) -> Iterator[Edit]:
    """The ways to change one node."""
    for kind in _COMPARISONS.get(type(node), ()):
        yield _replaced(kind, both=True)
    for other in _AGGREGATES.get(type(node), ()):
        yield _replaced(other)
    if isinstance(node, exp.Column):
        yield from _columns(node, schema)
    elif isinstance(node, exp.SetOperation):
        yield from _sets(node)
    else:
        yield from _OF_ONE_NODE.get(type(node), _none)(node)


def _put(place: exp.Expr, new: exp.Expr) -> exp.Expr | None:
    """Put a node in another's place; the new node where that was the whole query."""
    if place.parent is None:
        return new
    place.replace(new)
    return None


def _out(place: exp.Expr) -> None:
    place.pop()


def _replaced(kind: type[exp.Expr], *, both: bool = False) -> Edit:
    def edit(place: exp.Expr) -> exp.Expr | None:
        if both:
            return _put(place, kind(this=place.this.copy(), expression=place.expression.copy()))
        return _put(place, kind(this=place.this.copy()))

    return edit


def _arm(name: str) -> Edit:
    return lambda place: _put(place, place.args[name].copy())


def _none(node: exp.Expr) -> Iterator[Edit]:
    """Nothing to change."""
    del node
    yield from ()


def _connectives(node: exp.Expr) -> Iterator[Edit]:
    """The other connective, and each condition alone."""
    yield _replaced(exp.Or if isinstance(node, exp.And) else exp.And, both=True)
    yield _arm("this")
    yield _arm("expression")


def _keys(node: exp.Expr) -> Iterator[Edit]:
    """A key of ORDER BY the other way round, or left out beside others."""
    yield _turned
    if node.parent is not None and len(node.parent.expressions) > 1:
        yield _out


def _limits(node: exp.Expr) -> Iterator[Edit]:
    """One row more, one less."""
    rows = row_count(node)
    for count in () if rows is None else (rows - 1, rows + 1):
        if count > 0:
            yield _limited(count)


def _literals(node: exp.Expr) -> Iterator[Edit]:
    """Another value a little beside it."""
    if isinstance(node.parent, (exp.Limit, exp.Offset, exp.Ordered, exp.Group)):
        return
    for text in _beside(node.name, is_text=node.is_string):
        new = exp.Literal(this=text, is_string=node.is_string)
        yield lambda place, new=new: _put(place, new.copy())  # type: ignore[misc]


def _beside(text: str, *, is_text: bool) -> tuple[str, ...]:
    if not is_text:
        try:
            number = float(text)
        except ValueError:
            return ()
        return tuple(f"{number + step:g}" for step in (-1, 1)) if number < 1e6 else ()
    bare = text.strip("%")
    return (bare, f"{bare}%", f"%{bare}") if bare != text else (f"{text}x",)


def _counts(node: exp.Expr) -> Iterator[Edit]:
    inner = node.this
    if isinstance(inner, exp.Distinct):
        yield lambda one: _put(one, exp.Count(this=one.this.expressions[0].copy()))
    elif not isinstance(inner, exp.Star):
        yield lambda one: _put(one, exp.Count(this=exp.Distinct(expressions=[one.this.copy()])))
        yield lambda one: _put(one, exp.Count(this=exp.Star()))


def _turned(place: exp.Expr) -> None:
    descending = not place.args.get("desc")
    place.set("desc", descending)
    place.set("nulls_first", not descending)


def _limited(count: int) -> Edit:
    return lambda place: _put(place, exp.Limit(expression=exp.Literal.number(count)))


def _joined(place: exp.Expr) -> None:
    """An outer join for an inner one, and the other way round."""
    place.set("side", None if place.args.get("side") else "LEFT")
    place.set("kind", None)


def _distinct(place: exp.Expr) -> None:
    place.set("distinct", None if place.args.get("distinct") else exp.Distinct())


def _sets(node: exp.SetOperation) -> Iterator[Edit]:
    """Another set operation, and each side alone."""
    yield _arm("this")
    yield _arm("expression")
    for kind in (exp.Union, exp.Intersect, exp.Except):
        for distinct in (True, False) if kind is exp.Union else (True,):
            if type(node) is not kind or bool(node.args.get("distinct")) != distinct:
                yield _combined(kind, distinct=distinct)


def _combined(kind: type[exp.SetOperation], *, distinct: bool) -> Edit:
    def edit(place: exp.Expr) -> exp.Expr | None:
        parts = {name: value for name, value in place.copy().args.items() if value is not None}
        return _put(place, kind(**{**parts, "distinct": distinct}))

    return edit


def _columns(node: exp.Column, schema: Schema) -> Iterator[Edit]:
    """The next column of its table in its place."""
    table = _table_of(node, schema)
    names = [] if table is None else [column.name for column in table.columns]
    folded = [name.casefold() for name in names]
    if node.name.casefold() not in folded or len(names) < 2:
        return
    following = names[(folded.index(node.name.casefold()) + 1) % len(names)]

    def edit(place: exp.Expr) -> None:
        place.set("this", exp.to_identifier(following, quoted=True))

    yield edit


def _table_of(node: exp.Column, schema: Schema) -> Table | None:
    """The stored table that a column is of, by its nearest SELECT alone."""
    select = node.find_ancestor(exp.Select)
    for source in () if select is None else source_nodes(select):
        if isinstance(source, exp.Table):
            table = stored_table(schema, source)
            named = node.table.casefold() in {"", source.alias_or_name.casefold()}
            if table is not None and named and table.column(node.name) is not None:
                return table
    return None


_OF_ONE_NODE: dict[type[exp.Expr], Callable[[exp.Expr], Iterator[Edit]]] = {
    exp.And: _connectives,
    exp.Or: _connectives,
    exp.Not: lambda _: iter((_arm("this"),)),
    exp.In: lambda _: iter((lambda one: _put(one, exp.Not(this=one.copy())),)),
    exp.Literal: _literals,
    exp.Count: _counts,
    exp.Ordered: _keys,
    exp.Where: lambda _: iter((_out,)),
    exp.Having: lambda _: iter((_out,)),
    exp.Order: lambda _: iter((_out,)),
    exp.Limit: _limits,
    exp.Join: lambda _: iter((_joined,)),
    exp.Select: lambda _: iter((_distinct,)),
}
"""The changes that go by the kind of node alone."""
