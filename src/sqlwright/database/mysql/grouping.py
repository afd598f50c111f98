"""The rest of a group that its keys determine: MySQL knows it, MariaDB does not."""

from __future__ import annotations

from sqlwright.schema import ColumnRef, Schema
from sqlwright.sql.facts import QueryFacts, SelectFacts


def is_determined(facts: QueryFacts, schema: Schema) -> bool:
    """True if each group of each SELECT has one value of all that it shows, orders by or compares:
    columns of its key, of a table whose primary key that holds, or equal to one by an inner join.
    False also where that can't be told."""
    return all(
        _one_value(select, facts, place, schema)
        for place, select in enumerate(facts.selects)
        if select.grouping or any(term.aggregates for term in select.shown)
    )


def _one_value(select: SelectFacts, facts: QueryFacts, place: int, schema: Schema) -> bool:
    if select.derived or len(set(select.tables)) < len(select.tables):
        return False
    known = {term.column for term in select.grouping if term.column is not None}
    pairs = [pair for join in select.joins if join.kind == "inner" for pair in join.pairs]
    before = -1
    while len(known) > before:
        before = len(known)
        known |= {ref for pair in pairs if known & set(pair) for ref in pair}
        for table in filter(None, map(schema.table, select.tables)):
            if table.primary_key and {ColumnRef(table.name, c) for c in table.primary_key} <= known:
                known |= {ColumnRef(table.name, column.name) for column in table.columns}
    terms = [*select.shown, *(key.term for key in select.order)]
    for one in facts.comparisons:
        if one.select == place and one.clause == "having":
            terms += [one.left, *one.right]
    return all(
        term.aggregate is not None
        or (bool(term.dates) and term in select.grouping)
        or (not term.queries and set(term.columns) <= known)
        for term in terms
    )
