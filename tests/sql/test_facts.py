"""What a query says, as facts: by its tree, by its form, and that both agree."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sqlwright.errors import UnsupportedQuery
from sqlwright.local.form.facts import form_facts
from sqlwright.local.form.nodes import Query
from sqlwright.local.form.read.sql import read_sql
from sqlwright.local.form.sequence.grammar import delinearize
from sqlwright.local.form.write.sql import write_sql
from sqlwright.schema import Schema
from sqlwright.sql.facts import Comparison, QueryFacts, Term
from sqlwright.sql.reading import read_facts
from tests.form.walks import ODD, SCHEMAS, SHOP, walk

FOLDER = Path(__file__).parents[1] / "cases"
CASES: list[dict[str, Any]] = yaml.safe_load((FOLDER / "facts" / "queries.yaml").read_text("utf-8"))


def stated(schema: Schema) -> Iterator[tuple[str, Query]]:
    """Every query in the cases that the form can say over a schema, and its form."""
    for path in sorted(FOLDER.rglob("*.yaml")):
        for sql in queries_in(yaml.safe_load(path.read_text("utf-8"))):
            try:
                yield sql, read_sql(sql, schema)
            except UnsupportedQuery:
                continue


def queries_in(case: object) -> Iterator[str]:
    if isinstance(case, str) and case.lstrip()[:6].casefold() == "select":
        yield case
    for part in case.values() if isinstance(case, dict) else case if isinstance(case, list) else ():
        yield from queries_in(part)


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["title"]))
def test_what_a_query_says(case: dict[str, Any]) -> None:
    facts = read_facts(case["sql"], SHOP)
    assert facts is not None
    told = shown(facts)
    assert {key: told[key] for key in case if key in told} == {
        key: value for key, value in case.items() if key not in {"title", "sql"}
    }


def test_what_is_no_query_says_nothing() -> None:
    assert read_facts("DELETE FROM orders", SHOP) is None
    assert read_facts("SELECT FROM", SHOP) is None
    assert read_facts("VALUES (1)", SHOP) is None


@pytest.mark.parametrize("schema", [SHOP, ODD], ids=lambda schema: str(schema.name))
def test_both_readings_agree_on_every_query_that_the_form_holds(schema: Schema) -> None:
    found = 0
    for sql, form in stated(schema):
        try:
            written = write_sql(form, schema)
        except UnsupportedQuery:
            continue
        assert form_facts(form, schema) == read_facts(written, schema), sql
        found += 1
    assert found >= (40 if schema is SHOP else 1)


@settings(deadline=None, max_examples=200, suppress_health_check=[HealthCheck.too_slow])
@given(schema=st.sampled_from(SCHEMAS), steps=st.lists(st.integers(0, 10_000), max_size=80))
def test_both_readings_agree_on_whatever_the_grammar_says(schema: Schema, steps: list[int]) -> None:
    form = delinearize(walk(steps, schema))
    try:
        written = write_sql(form, schema)
    except UnsupportedQuery:
        return
    assert form_facts(form, schema) == read_facts(written, schema)


def shown(facts: QueryFacts) -> dict[str, Any]:
    """Facts in the notation of the cases."""
    first = facts.first
    return {
        "tables": list(facts.tables),
        "selects": len(facts.selects),
        "shown": [term_text(term) for term in first.shown],
        "joins": [
            " ".join([join.kind, *(f"{left}={right}" for left, right in join.pairs)])
            for join in first.joins
        ],
        "on": list(map(str, first.on)),
        "where": list(map(str, first.where)),
        "grouping": [term_text(term) for term in first.grouping],
        "order": [term_text(k.term) + " desc" * k.descending for k in facts.order],
        "limit": facts.limit,
        "connectives": first.connectives,
        "compares": [comparison_text(one) for one in facts.comparisons],
        "operations": [f"{one.operator} {one.left} {one.right}" for one in facts.operations],
        "constants": [one.text for one in facts.constants],
        "texts": sorted(facts.texts),
        "dates": [date.part for term in first.shown for date in term.dates],
        "columns": list(map(str, facts.columns)),
    }


def comparison_text(one: Comparison) -> str:
    sides = [term_text(one.left), one.operator, ", ".join(map(term_text, one.right))]
    words = ["not"] * one.negated + [side for side in sides if side and side != "()"]
    return " ".join(words)


def term_text(term: Term) -> str:
    if term.column is not None:
        return str(term.column)
    if term.constant is not None:
        return repr(term.constant.value)
    if term.aggregate is not None:
        inner = term_text(term.aggregate.argument)
        return f"{term.aggregate.function}({'distinct ' * term.aggregate.distinct}{inner})"
    if term.star:
        return "*"
    parts = [*map(str, term.columns), *(one.text for one in term.constants)]
    return f"({', '.join([*parts, *(f'query {place}' for place in term.queries)])})"
