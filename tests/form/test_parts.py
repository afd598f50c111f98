"""What belongs to a form: its parts by kind, its sources, the operations it says."""

from __future__ import annotations

from typing import Any

import pytest

from sqlwright.local.form import nodes as f
from sqlwright.local.form.lacking import OPERATIONS, asked_operations
from sqlwright.local.form.read.sql import read_sql
from sqlwright.local.form.scopes import borrowed, mentions, replace_columns
from sqlwright.local.form.walking import changed, exchanged, inside, own, own_tables, selects
from sqlwright.local.form.write.sql import write_sql
from sqlwright.schema import ColumnRef
from tests.form.notation import cases
from tests.form.walks import SHOP


def read(sql: str) -> f.Select:
    form = read_sql(sql, SHOP)
    assert isinstance(form, f.Select)
    return form


@pytest.mark.parametrize("case", cases("form/parts.yaml"), ids=lambda case: case["sql"])
def test_what_belongs_to_a_query(case: dict[str, Any]) -> None:
    form = read(case["sql"])
    assert [_name(node) for node in mentions(form)] == case["mentions"]
    assert [node.ref.column for node in inside(form, f.Column)] == case["columns"]
    clauses = (form.items, form.where, form.group_by, form.having, form.order_by)
    outside = [one for part in clauses for one in own(part, f.Column)]
    assert [node.ref.column for node in outside] == case["outside"]
    assert sorted(own_tables(form)) == case["tables"]
    assert len(list(selects(form))) == case["selects"]


def _name(node: f.Source | int) -> str | int:
    if isinstance(node, int):
        return node
    return node.table if node.instance == 1 else f"{node.table} {node.instance}"


@pytest.mark.parametrize("case", cases("form/lacking.yaml"), ids=lambda case: case["text"])
def test_operations_that_a_text_asks_for(case: dict[str, Any]) -> None:
    text = case["text"]
    found = {one.name: match.group() for one in OPERATIONS if (match := one.asked.search(text))}
    assert found == case["asks"]
    said = {text[start:end] for start, end in asked_operations(text)}
    assert said >= set(case["asks"].values())
    assert bool(said) == bool(case["asks"])


@pytest.mark.parametrize("case", cases("form/said.yaml"), ids=lambda case: case["sql"])
def test_operations_that_a_form_says(case: dict[str, Any]) -> None:
    (operation,) = (one for one in OPERATIONS if one.name == case["operation"])
    assert operation.said(read_sql(case["sql"], SHOP)) is case["said"]


def test_names_of_operations_are_words_of_columns() -> None:
    named = {one.name: one.names for one in OPERATIONS if one.names}
    assert named == {
        "median": ("median",),
        "standard deviation": ("deviation", "std", "stddev"),
        "variance": ("variance",),
        "percentile": ("percentile", "quartile", "decile", "quantile"),
        "running total": ("running", "cumulative"),
        "change over time": ("growth", "grow", "yoy", "mom"),
        "share": ("percent", "percentage", "pct", "share", "proportion", "ratio", "rate"),
    }


BORROWS = (
    "SELECT name FROM customer WHERE EXISTS (SELECT 1 FROM orders WHERE customer_id = customer.id)"
)


def test_a_nested_query_borrows_from_the_one_around_it() -> None:
    (_, inner) = selects(read(BORROWS))
    assert list(borrowed(inner)) == [f.Source("customer")]
    assert list(borrowed(read(BORROWS))) == []


def test_columns_are_replaced_where_they_are_borrowed_too() -> None:
    def to_person(node: f.Column | f.Star) -> f.Column | f.Star:
        if isinstance(node, f.Column) and node.ref.table == "customer":
            assert not node.outer
            return f.Column(ColumnRef("person", node.ref.column))
        return node

    assert write_sql(replace_columns(read(BORROWS), to_person), SHOP) == (
        "SELECT name FROM person WHERE EXISTS (SELECT 1 FROM orders WHERE customer_id = person.id)"
    )
    union = "SELECT name FROM customer WHERE id IN (SELECT id FROM orders WHERE total = customer.id"
    union += " UNION SELECT id FROM product WHERE name = customer.id)"
    found = write_sql(replace_columns(read(union), to_person), SHOP)
    assert found.count("person.id") == 2
    assert "customer." not in found


def test_columns_of_nested_queries_are_their_own() -> None:
    form = read("SELECT id FROM orders WHERE total IN (SELECT total FROM orders)")

    def to_id(node: f.Column | f.Star) -> f.Column | f.Star:
        return f.Column(ColumnRef("orders", "id"))

    assert write_sql(replace_columns(form, to_id), SHOP) == (
        "SELECT id FROM orders WHERE id IN (SELECT total FROM orders)"
    )


def test_stars_are_replaced_but_not_those_of_nested_queries() -> None:
    form = read("SELECT count(*) FROM orders WHERE id IN (SELECT count(*) FROM product)")

    def to_line(node: f.Column | f.Star) -> f.Column | f.Star:
        return f.Star("line") if isinstance(node, f.Star) else node

    found = [node.table for node in inside(replace_columns(form, to_line), f.Star)]
    assert found == ["line", "product"]


def test_one_node_is_exchanged_wherever_it_stands() -> None:
    form = read(
        "SELECT total FROM orders WHERE total > 3 AND id IN (SELECT id FROM orders WHERE total = 3)"
    )
    three, four = f.Literal(3), f.Literal(4)
    assert write_sql(exchanged(form, three, four), SHOP) == (
        "SELECT total FROM orders WHERE total > 4 AND id IN (SELECT id FROM orders WHERE total = 4)"
    )
    assert exchanged(form, f.Literal("3"), four) == form


def test_inner_nodes_are_changed_first() -> None:
    form = read("SELECT abs(total + 1) FROM orders")
    kinds: list[str] = []

    def note(node: object) -> object:
        kinds.append(type(node).__name__)
        return node

    assert changed(form, note) == form
    assert kinds.index("Literal") < kinds.index("Arithmetic") < kinds.index("Function")
    assert kinds[-1] == "Select"


def test_constants_of_different_types_differ() -> None:
    assert f.Literal(1) != f.Literal(1.0)
    assert f.Literal(1) != f.Literal("1")
    assert f.Literal(1) == f.Literal(1)
    assert len({f.Literal(1), f.Literal(1.0), f.Literal("1"), f.Literal(1)}) == 3
