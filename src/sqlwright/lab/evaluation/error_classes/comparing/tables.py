"""Differences between the tables that two queries read and the ways they join them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sqlwright.lab.evaluation.error_classes.classes import Finding
from sqlwright.lab.evaluation.error_classes.reading.said import Said
from sqlwright.lab.evaluation.error_classes.reading.subjects import Pair


def tables_differ(gold: Said, query: Said) -> Iterator[Finding]:
    """Tables that one query reads and the other doesn't, and joins that differ.

    A table that is joined by its own key and of which nothing else is read changes nothing, and a
    table that only leads from one to another is part of the join.
    """
    missing = [name for name in gold.facts.tables if name not in query.facts.tables]
    extra = [name for name in query.facts.tables if name not in gold.facts.tables]
    kinds = {name: _kind(name, gold, query) for name in missing}
    others = {name: _kind(name, query, gold) for name in extra}
    instead = [name for name in extra if others[name] == "table"]
    for name in missing:
        read = f" (it reads {instead[0]})" if kinds[name] == "table" and instead else ""
        if kinds[name] == "table":
            yield Finding("table", f"gold reads {name}, the query doesn't{read}")
        elif kinds[name] == "join":
            yield Finding("join", f"gold joins {name}, the query doesn't")
    for name in extra:
        if others[name] == "table":
            yield Finding("table", f"the query reads {name}, gold doesn't")
        elif others[name] == "join":
            yield Finding("join", f"the query joins {name}, gold doesn't")
    yield from _joins_differ(gold, query)


def _kind(name: str, own: Said, other: Said) -> str:
    """The use that a query makes of a table that only it reads: `table`, `join` or, if it changes
    nothing, empty."""
    read = {ref for ref in own.read if ref.table == name}
    elsewhere = {own.same.root(ref) for ref in other.facts.columns}
    if any(own.same.root(ref) not in elsewhere for ref in read):
        return "table"
    joined = {ref.column for pair in own.asked.pairs for ref in pair if ref.table == name}
    if not joined:
        return "table"
    table = own.schema.table(name)
    if table is not None and joined == set(table.primary_key):
        return ""
    return "table" if read else "join"


def _joins_differ(gold: Said, query: Said) -> Iterator[Finding]:
    ours = _odd_pairs(gold) - _sorted(query.asked.apart)
    theirs = _odd_pairs(query) - _sorted(gold.asked.apart)
    for pair in sorted(ours - theirs):
        tables = {ref.table for ref in pair}
        other = next((p for p in sorted(theirs - ours) if {ref.table for ref in p} == tables), None)
        if other is not None:
            yield Finding("join", f"gold joins {_said(pair)}, the query {_said(other)}")
        elif tables <= set(query.facts.tables):
            yield Finding("join", f"gold joins {_said(pair)}, the query doesn't")
    for pair in sorted(theirs - ours):
        tables = {ref.table for ref in pair}
        if tables <= set(gold.facts.tables) and not any(
            {ref.table for ref in p} == tables for p in ours - theirs
        ):
            yield Finding("join", f"the query joins {_said(pair)}, gold doesn't")
    both = set(gold.facts.tables) == set(query.facts.tables)
    if both and len(gold.facts.tables) > 1 and _crossed(gold) != _crossed(query):
        first, second = ("gold", "the query")[:: 1 if _crossed(gold) else -1]
        yield Finding("join", f"{first} combines every row with every other, {second} doesn't")
    if _outer(gold) != _outer(query) and gold.asked.excludes == query.asked.excludes:
        first, second = ("gold", "the query")[:: 1 if _outer(gold) else -1]
        yield Finding("join", f"{first} keeps rows that join no other, {second} doesn't")


def _odd_pairs(said: Said) -> set[Pair]:
    """Joined columns that no key makes the same, each pair sorted."""
    return _sorted(
        one for one in said.asked.pairs if said.same.root(one[0]) != said.same.root(one[1])
    )


def _sorted(pairs: Iterable[Pair]) -> set[Pair]:
    return {(min(pair), max(pair)) for pair in pairs}


def _said(pair: Pair) -> str:
    return f"{pair[0]} = {pair[1]}"


def _crossed(said: Said) -> bool:
    """True if tables stand beside one another that nothing joins."""
    joined = {ref.table for pair in said.asked.pairs for ref in pair}
    return any(len(one.tables) > 1 and not set(one.tables) & joined for one in said.facts.selects)


def _outer(said: Said) -> bool:
    """True if an outer join keeps rows that no condition drops again."""
    asked = {ref.table for one in said.facts.selects for ref in (*one.where,)}
    tables = [
        pair[1].table if pair[1].table != first else pair[0].table
        for one in said.facts.selects
        for first in one.tables[:1]
        for join in one.joins
        if join.kind == "left"
        for pair in join.pairs
    ]
    return any(table not in asked for table in tables)
