"""A query that shows whether another one's LIMIT cuts through rows that are equal by its order."""

from __future__ import annotations

from sqlwright.sql.tree import node_text, query_tree
from sqlwright.sql.tree_facts.nodes import row_count


def tied_rows(sql: str, dialect: str = "sqlite") -> str | None:
    """The query with its keys of ORDER BY shown and one row more kept; None where there is no
    ORDER BY with a plain LIMIT, or DISTINCT, whose rows would be others."""
    from sqlglot import exp

    tree = query_tree(sql, dialect)
    if not isinstance(tree, exp.Select) or tree.args.get("distinct") is not None:
        return None
    order, limit = tree.args.get("order"), row_count(tree.args.get("limit"))
    if order is None or limit is None or limit < 1 or tree.args.get("offset") is not None:
        return None
    wider = tree.copy()
    given = {item.alias.lower(): item.this for item in tree.expressions if item.alias}
    keys = []
    for key in order.expressions:
        meant = key.this if isinstance(key, exp.Ordered) else key
        if isinstance(meant, exp.Literal):
            if not meant.name.isdigit() or not 0 < int(meant.name) <= len(tree.expressions):
                return None
            meant = tree.expressions[int(meant.name) - 1].unalias()
        if isinstance(meant, exp.Column) and not meant.table:
            meant = given.get(meant.name.lower(), meant)
        keys.append(meant.copy())
    shown = [exp.alias_(key, f"key{number}") for number, key in enumerate(keys)]
    wider.set("expressions", [*(item.copy() for item in tree.expressions), *shown])
    wider.set("limit", exp.Limit(expression=exp.Literal.number(limit + 1)))
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
