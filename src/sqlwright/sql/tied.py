"""A query that shows whether another one's LIMIT cuts through rows that are equal by its order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlwright.sql.names import numbered_item
from sqlwright.sql.tree import node_text, query_tree
from sqlwright.sql.tree_facts.nodes import row_count

if TYPE_CHECKING:
    from sqlglot import exp


@dataclass(frozen=True, slots=True)
class Cut:
    """An ORDER BY with a LIMIT, and the query that shows what stands around its ends."""

    sql: str
    keys: tuple[str, ...]
    """The keys of the order as they are written; they are the last columns shown."""
    first: int
    """Rows left out before the first one that is kept."""
    rows: int
    """Rows kept."""
    whole: bool
    """True if it is the whole query, not one within it."""


def cuts(sql: str, dialect: str, more: int) -> Iterator[Cut]:
    """The LIMITs of a query that can be looked at by themselves, the whole query's first, with some
    rows more kept; none of a DISTINCT, whose rows would be others. What stands within a query and
    names columns of the one around it fails when it is run."""
    from sqlglot import exp

    tree = query_tree(sql, dialect)
    for select in () if tree is None else tree.find_all(exp.Select):
        found = _row_of_extreme(select, more) if dialect == "sqlite" else None
        if found is not None:
            yield Cut(*found, first=0, rows=1, whole=select is tree)
        keys, limit = _keys(select), row_count(select.args.get("limit"))
        skipped = row_count(select.args.get("offset")) or 0
        if not keys or limit is None or limit < 1 or skipped < 0 or select.args.get("distinct"):
            continue
        wider = select.copy()
        given = None if tree is None else tree.args.get("with_")
        if given is not None and select is not tree and select.find_ancestor(exp.CTE) is None:
            wider.set("with_", given.copy())
        shown = [exp.alias_(key.copy(), f"key{number}") for number, key in enumerate(keys)]
        wider.set("expressions", [*wider.expressions, *shown])
        wider.set("limit", exp.Limit(expression=exp.Literal.number(skipped + limit + more)))
        wider.set("offset", None)
        written = tuple(node_text(key, dialect) for key in keys)
        yield Cut(node_text(wider, dialect), written, skipped, limit, select is tree)


def _row_of_extreme(select: exp.Select, more: int) -> tuple[str, tuple[str, ...]] | None:
    """SQLite takes what stands beside one MAX or MIN from its row: the rows in that order, and
    the aggregate; None for any other SELECT."""
    from sqlglot import exp

    calls = [call for item in select.expressions for call in item.find_all(exp.AggFunc)]
    bare = any(isinstance(item.unalias(), exp.Column) for item in select.expressions)
    grouped = select.args.get("group") or select.args.get("limit") or select.args.get("having")
    if len(calls) != 1 or not isinstance(calls[0], exp.Max | exp.Min) or not bare or grouped:
        return None
    call, wider = calls[0], select.copy()
    shown = [item.unalias() for item in wider.expressions]
    own = [call.this.copy() if item == call else item.copy() for item in shown]
    wider.set("expressions", [*own, exp.alias_(call.this.copy(), "key0")])
    key = exp.Ordered(this=call.this.copy(), desc=isinstance(call, exp.Max), nulls_first=False)
    wider.set("order", exp.Order(expressions=[key]))
    return node_text(wider.limit(1 + more), "sqlite"), (node_text(call),)


def _keys(select: exp.Select) -> list[exp.Expr]:
    """The expressions that a SELECT orders by; none where one isn't known."""
    from sqlglot import exp

    given = {item.alias.lower(): item.this for item in select.expressions if item.alias}
    order = select.args.get("order")
    keys = []
    for key in () if order is None else order.expressions:
        meant = numbered_item(key.this if isinstance(key, exp.Ordered) else key, select)
        if isinstance(meant, exp.Literal):
            return []
        plain = isinstance(meant, exp.Column) and not meant.table
        keys.append(given.get(meant.name.lower(), meant) if plain else meant)
    return keys


def with_equal_rows(sql: str, dialect: str) -> str | None:
    """The query with its rows ranked, and all kept whose rank is within its LIMIT; None where there
    is no ORDER BY with a plain LIMIT, or where what it shows can't be named."""
    from sqlglot import exp

    tree = query_tree(sql, dialect)
    if not isinstance(tree, exp.Select) or tree.args.get("offset") is not None or not _keys(tree):
        return None
    inner, limit = tree.copy(), row_count(tree.args.get("limit"))
    names = [item.alias_or_name or f"item_{n}" for n, item in enumerate(inner.expressions, 1)]
    if not limit or "*" in names or len({name.lower() for name in names}) < len(names):
        return None
    own = next(name for name in ("place", "place_in_order") if name not in map(str.lower, names))
    ranks = exp.Window(this=exp.Rank(), order=inner.args["order"].copy())
    quoted = [exp.to_identifier(name, quoted=True) for name in names]
    shown = zip(inner.expressions, quoted, strict=True)
    items = [exp.alias_(item.unalias(), name) for item, name in shown]
    inner.set("expressions", [*items, exp.alias_(ranks, own)])
    for name in ("limit", "order", "with_"):
        inner.set(name, None)
    most = exp.LTE(this=exp.column(own), expression=exp.Literal.number(limit))
    wider = exp.select(*(exp.Column(this=name.copy()) for name in quoted))
    wider = wider.from_(inner.subquery("ranked")).where(most).order_by(exp.column(own))
    if tree.args.get("with_") is not None:
        wider.set("with_", tree.args["with_"].copy())
    return node_text(wider, dialect) or None


def ranked(sql: str, dialect: str) -> str | None:
    """The query with RANK in the place of each ROW_NUMBER, which numbers equal rows alike; None
    where there is none."""
    from sqlglot import exp

    tree = query_tree(sql, dialect)
    if tree is None or tree.find(exp.RowNumber) is None or tree.find(exp.Predicate) is None:
        return None
    wider = tree.copy()
    for call in list(wider.find_all(exp.RowNumber)):
        if isinstance(call.parent, exp.Window) and call.parent.args.get("order") is not None:
            call.replace(exp.Rank())
    return node_text(wider, dialect) or None


def settled_order(
    sql: str, columns: int, dialect: str = "sqlite", *, descending: bool
) -> str | None:
    """The query with rows that are equal by an ORDER BY, or kept by a LIMIT without one, put in the
    order of what is shown. None where nothing is ordered or limited. `columns` is how many the
    whole query shows."""
    from sqlglot import exp

    tree = query_tree(sql, dialect)
    if tree is None:
        return None
    wider, found = tree.copy(), False
    for query in [one for one in wider.walk() if isinstance(one, exp.Query)]:
        order, limit = query.args.get("order"), query.args.get("limit")
        if order is None and limit is None:
            continue
        if query is wider:
            count = columns
        elif any(one.find(exp.Star, bfs=False) for one in query.selects):
            continue
        else:
            count = len(query.selects)
        keys = [
            exp.Ordered(
                this=exp.Literal.number(place + 1), desc=descending, nulls_first=not descending
            )
            for place in range(count)
        ]
        own = [key.copy() for key in order.expressions] if order is not None else []
        query.set("order", exp.Order(expressions=[*own, *keys]))
        found = True
    return node_text(wider, dialect) or None if found else None


def settled_groups(sql: str, dialect: str = "sqlite", *, highest: bool) -> str | None:
    """The query with the highest or the lowest value of a group in place of each column that it
    shows of a group as it comes. Both give the same where all rows of a group agree. None where
    nothing is grouped; with MIN or MAX SQLite takes the row in which that is."""
    from sqlglot import exp

    tree = query_tree(sql, dialect)
    if tree is None:
        return None
    wider, found = tree.copy(), False
    for select in list(wider.find_all(exp.Select)):
        calls = [call for item in select.expressions for call in item.find_all(exp.AggFunc)]
        if not (calls or select.args.get("group")):
            continue
        if any(isinstance(call, exp.Min | exp.Max) for call in calls):
            continue
        for item in select.expressions:
            shown = item.unalias()
            if isinstance(shown, exp.Column) and not isinstance(shown.this, exp.Star):
                one = shown.copy()
                shown.replace(exp.Max(this=one) if highest else exp.Min(this=one))
                found = True
    return node_text(wider, dialect) or None if found else None
