"""Mutants of SQL queries, and rewrites that mean the same: used by `perturbed.py`.

Written apart from `sqlwright.sql.neighbours`, by which the metric chooses its copies. OWN names the
operators that have no counterpart there. A rewrite means the same on every database that keeps the
declared keys and NOT NULL; each says in its comment why.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import sqlglot
from sqlglot import exp

from sqlwright.schema import Schema, Table

OWN = frozenset({
    "another question", "two changes", "condition added", "key replaced", "group replaced",
    "coalesce", "shown dropped", "join dropped", "offset", "extreme for order", "in subquery all",
    "rounded", "count of another", "like widened",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Mutant:
    operator: str
    sql: str


def mutants_of(sql: str, schema: Schema) -> list[Mutant]:
    """Every mutant of one change, each text once."""
    tree = parsed(sql)
    if tree is None:
        return []
    found: dict[str, str] = {}
    for number, node in enumerate(list(tree.walk())):
        for operator, new in _mutate(node, schema):
            copy = tree.copy()
            place = list(copy.walk())[number]
            text = _text(_swap(copy, place, new))
            if text and text not in found:
                found[text] = operator
    found.pop(_text(tree), None)
    return [Mutant(operator, text) for text, operator in found.items()]


def parsed(sql: str) -> exp.Expr | None:
    try:
        tree = sqlglot.parse_one(sql, dialect="sqlite")
    except (sqlglot.errors.SqlglotError, TypeError, RecursionError):
        return None
    return tree if isinstance(tree, exp.Query) else None


def _text(tree: exp.Expr | None) -> str:
    return "" if tree is None else tree.sql(dialect="sqlite")


def _swap(whole: exp.Expr, place: exp.Expr, new: exp.Expr | None) -> exp.Expr | None:
    if place is whole:
        return new
    if new is None:
        place.pop()
    else:
        place.replace(new)
    return whole


def _mutate(node: exp.Expr, schema: Schema) -> Iterator[tuple[str, exp.Expr | None]]:
    yield from _comparison(node)
    yield from _condition(node)
    yield from _literal(node)
    yield from _aggregate(node)
    yield from _select(node, schema)
    yield from _order(node)
    yield from _combination(node)
    if isinstance(node, exp.Column):
        yield from _column(node, schema)


def _comparison(node: exp.Expr) -> Iterator[tuple[str, exp.Expr]]:
    boundary = {exp.GT: exp.GTE, exp.GTE: exp.GT, exp.LT: exp.LTE, exp.LTE: exp.LT}
    turned = {exp.GT: exp.LT, exp.GTE: exp.LTE, exp.LT: exp.GT, exp.LTE: exp.GTE}
    sides = {"this": node.this, "expression": node.args.get("expression")}
    if not isinstance(node, exp.Binary):
        return
    copies = {name: side.copy() for name, side in sides.items() if isinstance(side, exp.Expr)}
    having = node.find_ancestor(exp.Having) is not None
    if type(node) in boundary:
        yield "having boundary" if having else "boundary", boundary[type(node)](**copies)
        yield "comparison turned", turned[type(node)](**copies)
    elif isinstance(node, exp.EQ) and node.find_ancestor(exp.Join) is None:
        yield "equal to unequal", exp.NEQ(**copies)
        yield "equal to bound", exp.GTE(**copies)
        yield "equal to bound", exp.LTE(**copies)
    elif isinstance(node, exp.NEQ):
        yield "equal to unequal", exp.EQ(**copies)
        yield "equal to bound", exp.LT(**copies)


def _condition(node: exp.Expr) -> Iterator[tuple[str, exp.Expr | None]]:
    if isinstance(node, (exp.And, exp.Or)):
        other = exp.Or if isinstance(node, exp.And) else exp.And
        yield "and/or", other(this=node.this.copy(), expression=node.expression.copy())
        yield "condition dropped", node.this.copy()
        yield "condition dropped", node.expression.copy()
    elif isinstance(node, (exp.Where, exp.Having)):
        yield "condition dropped", None
    elif isinstance(node, exp.In):
        yield "in/not in", exp.Not(this=node.copy())
        inner = node.args.get("query")
        select = inner.this if isinstance(inner, exp.Subquery) else inner
        if isinstance(select, exp.Select) and select.args.get("where") is not None:
            wider = node.copy()
            wider.args["query"].find(exp.Where).pop()
            yield "in subquery all", wider
    elif isinstance(node, exp.Not) and isinstance(node.this, exp.In):
        yield "in/not in", node.this.copy()
    elif isinstance(node, exp.Between):
        low, high = node.args["low"], node.args["high"]
        yield (
            "boundary",
            exp.and_(
                exp.GT(this=node.this.copy(), expression=low.copy()),
                exp.LTE(this=node.this.copy(), expression=high.copy()),
            ),
        )
        yield (
            "boundary",
            exp.and_(
                exp.GTE(this=node.this.copy(), expression=low.copy()),
                exp.LT(this=node.this.copy(), expression=high.copy()),
            ),
        )


def _literal(node: exp.Expr) -> Iterator[tuple[str, exp.Expr]]:
    if not isinstance(node, exp.Literal):
        return
    if isinstance(node.parent, exp.Limit):
        count = int(node.name) if node.name.isdigit() else 0
        for step in (-1, 1):
            if count + step > 0:
                yield "limit", exp.Literal.number(count + step)
        return
    if isinstance(node.parent, (exp.Ordered, exp.Offset, exp.Group)):
        return
    if not node.is_string:
        try:
            number = float(node.name)
        except ValueError:
            return
        for step in (-1, 1):
            yield "number by one", exp.Literal.number(f"{number + step:g}")
        return
    bare = node.name.strip("%")
    if isinstance(node.parent, exp.Like):
        if bare and node.name != f"%{bare}%":
            yield "like widened", exp.Literal.string(f"%{bare}%")
        if bare:
            yield "like narrowed", exp.Literal.string(bare)
        return
    for text in (bare.lower(), bare.upper(), bare[:-1], f"{bare}s"):
        if text != node.name:
            yield "text changed", exp.Literal.string(text)
    yield "text changed", exp.Literal.string("something else")


def _aggregate(node: exp.Expr) -> Iterator[tuple[str, exp.Expr]]:
    swapped = {exp.Max: exp.Min, exp.Min: exp.Max, exp.Sum: exp.Avg, exp.Avg: exp.Sum}
    if type(node) in swapped:
        yield "aggregate swapped", swapped[type(node)](this=node.this.copy())
        if isinstance(node, exp.Avg):
            yield "rounded", exp.Round(this=node.copy())
        if isinstance(node.this, exp.Column):
            zero = exp.Coalesce(this=node.this.copy(), expressions=[exp.Literal.number(0)])
            yield "coalesce", type(node)(this=zero)
    if isinstance(node, exp.Count):
        inner = node.this
        if isinstance(inner, exp.Distinct):
            yield "count distinct", exp.Count(this=inner.expressions[0].copy())
        elif not isinstance(inner, exp.Star):
            yield "count distinct", exp.Count(this=exp.Distinct(expressions=[inner.copy()]))
            yield "count star", exp.Count(this=exp.Star())


def _select(node: exp.Expr, schema: Schema) -> Iterator[tuple[str, exp.Expr]]:
    if not isinstance(node, exp.Select):
        return
    toggled = node.copy()
    toggled.set("distinct", None if node.args.get("distinct") else exp.Distinct())
    yield "distinct", toggled
    tables = _tables(node, schema)
    for alias, table in tables:
        for column in table.columns[:4]:
            name = exp.column(exp.to_identifier(column.name, quoted=True), table=alias)
            extra = exp.Not(this=exp.Is(this=name, expression=exp.Null()))
            yield "condition added", node.copy().where(extra)
            if node.find(exp.Count) is not None:
                wider = node.copy()
                for count in list(wider.find_all(exp.Count)):
                    if isinstance(count.this, exp.Star):
                        count.replace(exp.Count(this=name.copy()))
                        yield "count of another", wider
                        break
    for number, join in enumerate(node.args.get("joins") or ()):
        if join.args.get("on") is not None:
            outer = node.copy()
            changed = outer.args["joins"][number]
            changed.set("side", None if join.args.get("side") else "LEFT")
            changed.set("kind", None)
            yield "outer join", outer
    for number in range(len(node.expressions)) if len(node.expressions) > 1 else ():
        fewer = node.copy()
        fewer.expressions[number].pop()
        yield "shown dropped", fewer
    if node.args.get("limit") is not None and node.args.get("offset") is None:
        later = node.copy()
        later.set("offset", exp.Offset(expression=exp.Literal.number(1)))
        yield "offset", later


def _order(node: exp.Expr) -> Iterator[tuple[str, exp.Expr | None]]:
    if isinstance(node, exp.Ordered):
        turned = node.copy()
        turned.set("desc", not node.args.get("desc"))
        turned.set("nulls_first", None)
        yield "asc/desc", turned
        if node.parent is not None and len(node.parent.expressions) > 1:
            yield "order key dropped", None
    elif isinstance(node, exp.Order):
        yield "order dropped", None
    elif isinstance(node, exp.Group) and len(node.expressions) > 1:
        for number in range(len(node.expressions)):
            fewer = node.copy()
            fewer.expressions[number].pop()
            yield "group replaced", fewer


def _combination(node: exp.Expr) -> Iterator[tuple[str, exp.Expr]]:
    if not isinstance(node, exp.SetOperation):
        return
    parts = {
        name: value.copy() if isinstance(value, exp.Expr) else value
        for name, value in node.args.items()
        if value is not None and name != "distinct"
    }
    yield "one side", node.this.copy()
    yield "one side", node.expression.copy()
    kinds = {"union": exp.Union, "intersect": exp.Intersect, "except": exp.Except}
    for kind in kinds.values():
        if type(node) is not kind:
            yield "set operation", kind(**parts, distinct=True)
    if isinstance(node, exp.Union):
        yield "union/union all", exp.Union(**parts, distinct=not node.args.get("distinct"))
    if isinstance(node, exp.Except):
        swapped = dict(parts, this=parts["expression"], expression=parts["this"])
        yield "set operation", exp.Except(**swapped, distinct=True)


def _column(node: exp.Column, schema: Schema) -> Iterator[tuple[str, exp.Expr]]:
    select = node.find_ancestor(exp.Select)
    for alias, table in () if select is None else _tables(select, schema):
        if node.table.lower() not in {"", alias.lower()}:
            continue
        own = table.column(node.name)
        if own is None:
            continue
        joined = node.find_ancestor(exp.Join, exp.Select)
        grouped = node.find_ancestor(exp.Group, exp.Select)
        name = "key replaced" if isinstance(joined, exp.Join) else "column swapped"
        name = "group replaced" if isinstance(grouped, exp.Group) else name
        for other in table.columns:
            if other.name != own.name and other.type == own.type:
                new = node.copy()
                new.set("this", exp.to_identifier(other.name, quoted=True))
                yield name, new
        return


def _tables(select: exp.Expr, schema: Schema) -> list[tuple[str, Table]]:
    """The stored tables of a SELECT's FROM clause by their aliases."""
    start = select.args.get("from_") or select.args.get("from")
    nodes = [] if start is None else [start.this]
    nodes += [join.this for join in select.args.get("joins") or ()]
    found = []
    for node in nodes:
        table = schema.table(node.name) if isinstance(node, exp.Table) else None
        if table is not None:
            found.append((node.alias_or_name, table))
    return found
