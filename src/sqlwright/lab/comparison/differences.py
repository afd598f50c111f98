"""Differences of queries: each is read into statements about its sides, which are compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlwright.candidates import facts_of
from sqlwright.lab.comparison.names import ASPECTS, Aspect
from sqlwright.lab.comparison.records import QueryDifference
from sqlwright.schema import Schema
from sqlwright.sql.facts import JoinFact, QueryFacts, Term
from sqlwright.sql.in_words.query import read_query, shown_items
from sqlwright.types import Candidate, QueryPart

Statements = Mapping[Aspect, tuple[str, ...]]

_ASPECT_OF: dict[str, Aspect] = {
    "query": "queries",
    "join": "joins",
    "where": "conditions",
    "having": "conditions",
    "case": "conditions",
    "order": "order",
    "other": "other",
}
"""Aspects by the kind of a part in words. What is shown is told apart, item by item."""


def differences(queries: Mapping[str, Candidate], schema: Schema) -> tuple[QueryDifference, ...]:
    """Statements that not every query makes, aspect by aspect; `queries` are by recipe."""
    said = {name: statements(query, schema) for name, query in queries.items()}
    found = []
    for aspect in ASPECTS:
        by_recipe = {name: told.get(aspect, ()) for name, told in said.items()}
        shared = _shared(list(by_recipe.values()))
        own = {
            name: tuple(text for text in told if text not in shared)
            for name, told in by_recipe.items()
        }
        if any(own.values()):
            found.append(QueryDifference(aspect, shared, own))
    return tuple(found)


def statements(query: Candidate, schema: Schema) -> Statements:
    """Statements of a query, by its facts and in words; nothing of a text that is no query."""
    parts = read_query(query.sql, schema)
    told: dict[Aspect, list[str]] = {aspect: [] for aspect in ASPECTS}
    facts = facts_of(query, schema)
    if facts is not None:
        told["tables"] += facts.tables
        told["joins"] += (text for one in facts.selects for text in _joins(one.joins))
        told["grouping"] += _grouping(facts)
    told["shown"] += shown_items(query.sql, schema)
    if facts is not None and facts.first.distinct:
        told["shown"].append("without repeats")
    for part in parts:
        aspect = _ASPECT_OF.get(part.kind)
        if aspect is not None:
            told[aspect].append(_text(part))
    return {aspect: tuple(dict.fromkeys(texts)) for aspect, texts in told.items()}


def _shared(told: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    if not told:
        return ()
    return tuple(text for text in told[0] if all(text in other for other in told[1:]))


def _joins(joins: Sequence[JoinFact]) -> list[str]:
    """Joins over columns, each pair in one order whoever wrote it; inner ones by their columns
    alone."""
    kinds = {"left": " (left)", "other": " (outer)"}
    texts = []
    for join in joins:
        for pair in join.pairs:
            near, far = sorted(map(str, pair))
            texts.append(f"{near} = {far}{kinds.get(join.kind, '')}")
    return texts


def _grouping(facts: QueryFacts) -> list[str]:
    return [text for one in facts.selects for term in one.grouping if (text := _named(term))]


def _named(term: Term) -> str:
    if term.column is not None:
        return str(term.column)
    names = ", ".join(map(str, term.columns))
    return f"an expression of {names}" if names else ""


def _text(part: QueryPart) -> str:
    return part.text.rstrip(":") if part.condition is None else part.text
