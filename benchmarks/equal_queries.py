"""Rewrites of SQL queries that mean the same, each with the reason: used by `perturbed.py`.

They mean the same on every database that keeps the declared keys and NOT NULL, up to the order of
rows that gold doesn't settle.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.query_mutants import Mutant, _tables, parsed
from sqlglot import exp

from sqlwright.schema import Schema


def rewrites_of(sql: str, schema: Schema) -> list[Mutant]:
    """Every rewrite of one change, each text once."""
    tree = parsed(sql)
    if tree is None:
        return []
    found: dict[str, str] = {}
    for number, node in enumerate(list(tree.walk())):
        for name, new in _rewrite(node, schema):
            whole = tree.copy()
            place = list(whole.walk())[number]
            if place is whole:
                whole = new
            else:
                place.replace(new)
            found.setdefault(whole.sql(dialect="sqlite"), name)
    for name, text in _whole(tree, schema):
        found.setdefault(text, name)
    found.pop(tree.sql(dialect="sqlite"), None)
    return [Mutant(name, text) for text, name in found.items()]


def _rewrite(node: exp.Expr, schema: Schema) -> Iterator[tuple[str, exp.Expr]]:
    mirrored = {exp.GT: exp.LT, exp.LT: exp.GT, exp.GTE: exp.LTE, exp.LTE: exp.GTE}
    mirrored |= {exp.EQ: exp.EQ, exp.NEQ: exp.NEQ}
    if type(node) in mirrored:  # a < b is b > a
        kind = mirrored[type(node)]
        yield "sides", kind(this=node.expression.copy(), expression=node.this.copy())
    opposite = {exp.GT: exp.LTE, exp.LT: exp.GTE, exp.GTE: exp.LT, exp.LTE: exp.GT}
    opposite |= {exp.EQ: exp.NEQ, exp.NEQ: exp.EQ}
    if type(node) in opposite:  # NOT of the opposite, unknown where the other is
        kind = opposite[type(node)]
        inner = kind(this=node.this.copy(), expression=node.expression.copy())
        yield "not", exp.Not(this=exp.Paren(this=inner))
    if isinstance(node, exp.Between):  # as the standard defines it
        low, high = node.args["low"], node.args["high"]
        both = exp.and_(
            exp.GTE(this=node.this.copy(), expression=low.copy()),
            exp.LTE(this=node.this.copy(), expression=high.copy()),
        )
        yield "between", exp.Paren(this=both)
    if isinstance(node, (exp.And, exp.Or)):  # both commute
        turned = type(node)(this=node.expression.copy(), expression=node.this.copy())
        yield "and/or turned", exp.Paren(this=turned)
    if isinstance(node, exp.In) and node.args.get("expressions"):  # as the standard defines it
        equal = [exp.EQ(this=node.this.copy(), expression=e.copy()) for e in node.expressions]
        yield "in list", exp.Paren(this=exp.or_(*equal))
    if isinstance(node, exp.Count) and isinstance(node.this, exp.Star):
        # 1 is never NULL
        yield "count one", exp.Count(this=exp.Literal.number(1))
        yield from _count_key(node, schema)
    if isinstance(node, exp.In) and node.args.get("query") is not None:
        yield from _exists(node)
    if isinstance(node, exp.Select):
        yield from _select(node, schema)
    if isinstance(node, exp.Union) and node.args.get("distinct"):
        # a set united with itself once more is the same set
        same = exp.Union(this=node.copy(), expression=node.expression.copy(), distinct=True)
        if not node.args.get("order") and not node.args.get("limit"):
            yield "union again", same


def _count_key(node: exp.Count, schema: Schema) -> Iterator[tuple[str, exp.Expr]]:
    """A primary key of one column is never NULL where no outer join makes it so."""
    select = node.find_ancestor(exp.Select)
    if select is None or any(join.args.get("side") for join in select.args.get("joins") or ()):
        return
    for alias, table in _tables(select, schema)[:1]:
        if len(table.primary_key) == 1:
            key = exp.column(exp.to_identifier(table.primary_key[0], quoted=True), table=alias)
            yield "count key", exp.Count(this=key)


def _exists(node: exp.In) -> Iterator[tuple[str, exp.Expr]]:
    """IN and EXISTS agree in WHERE under no NOT, where unknown and false are both left out."""
    around = node.parent
    while isinstance(around, (exp.And, exp.Or, exp.Paren)):
        around = around.parent
    query = node.args["query"]
    inner = query.this if isinstance(query, exp.Subquery) else query
    if not isinstance(around, exp.Where) or not isinstance(inner, exp.Select):
        return
    plain = not any(inner.args.get(part) for part in ("group", "limit", "having", "distinct"))
    shown = inner.expressions[0].unalias()
    if plain and isinstance(shown, exp.Column) and len(inner.expressions) == 1:
        # the derived table keeps the names within from meeting those around
        held = exp.Subquery(
            this=inner.copy(), alias=exp.TableAlias(this=exp.to_identifier("held_rows"))
        )
        held.this.set("expressions", [exp.alias_(shown.copy(), "held_value")])
        around_column = node.this
        if isinstance(around_column, exp.Column):
            equal = exp.EQ(
                this=exp.column("held_value", table="held_rows"), expression=around_column.copy()
            )
            yield (
                "exists",
                exp.Exists(this=exp.select(exp.Literal.number(1)).from_(held).where(equal)),
            )


def _select(node: exp.Select, schema: Schema) -> Iterator[tuple[str, exp.Expr]]:
    yield "condition true", node.copy().where("1 = 1")  # true of every row
    joins = node.args.get("joins") or []
    starred = any(item.find(exp.Star) and not item.find(exp.Count) for item in node.expressions)
    inner = len(joins) == 1 and not joins[0].args.get("side") and joins[0].args.get("on")
    start = node.args.get("from_") or node.args.get("from")
    if inner and not starred and start is not None:  # an inner join commutes
        turned = node.copy()
        first = turned.args.get("from_") or turned.args.get("from")
        join = turned.args["joins"][0]
        left, right = first.this.copy(), join.this.copy()
        first.this.replace(right)
        join.this.replace(left)
        yield "join turned", turned
    if inner:  # an inner join is a product under a condition
        comma = node.copy()
        condition = comma.args["joins"][0].args["on"].copy()
        comma.args["joins"][0].set("on", None)
        yield "join as where", comma.where(condition)
    tables = _tables(node, schema)
    group = node.args.get("group")
    plain = not any(node.args.get(part) for part in ("group", "having", "distinct"))
    if plain and len(tables) == 1 and not joins and not node.find(exp.AggFunc):
        names = {item.unalias().name.lower() for item in node.expressions}
        key = {name.lower() for name in tables[0][1].primary_key}
        if key and key <= names:  # rows with their whole key differ from one another
            distinct = node.copy()
            distinct.set("distinct", exp.Distinct())
            yield "distinct key", distinct
    shown = [item.unalias() for item in node.expressions]
    columns = all(isinstance(one, exp.Column) and not isinstance(one.this, exp.Star)
                  for one in shown)  # fmt: skip
    if node.args.get("distinct") and columns and not group and not node.args.get("order"):
        grouped = node.copy()
        grouped.set("distinct", None)
        # each group is one distinct row
        yield "distinct as group", grouped.group_by(*[one.copy() for one in shown])
    if group is not None and len(group.expressions) == 1 and len(tables) == 1 and not joins:
        # a second key that follows from the first makes no new groups
        yield "group twice", node.copy().group_by(group.expressions[0].copy())


def _whole(tree: exp.Expr, schema: Schema) -> Iterator[tuple[str, str]]:
    del schema
    text = tree.sql(dialect="sqlite")
    ordered = tree.args.get("order") is not None or tree.args.get("limit") is not None
    if not ordered and isinstance(tree, exp.Select):
        names = [item.alias_or_name for item in tree.expressions]
        if len({name.lower() for name in names}) == len(names) and all(names):
            # a query of all that one query gives is that query
            yield "wrapped", f"SELECT * FROM ({text}) AS held_rows"
            yield "common table", f"WITH held_rows AS ({text}) SELECT * FROM held_rows"
