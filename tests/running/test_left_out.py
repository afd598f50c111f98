"""Words of a question that a language model's query leaves out are told."""

from __future__ import annotations

import pytest

from sqlwright.protocols import Workspace
from sqlwright.running.left_out import left_out
from sqlwright.schema import SchemaView
from sqlwright.types import Candidate, Question, State


@pytest.mark.parametrize(
    ("question", "sql", "told"),
    [
        ("How many customers live in Berlin?",
         "SELECT COUNT(*) FROM customers WHERE city = 'Munich'",
         ["“Berlin”, unless 'Munich' does"]),
        ("How many customers live in Munich?",
         "SELECT COUNT(*) FROM customers WHERE city = 'Munich'", []),
        ("Orders with a total above 333", "SELECT id FROM orders WHERE total > 25", ["“333”"]),
        ("Orders with a total above 250", "SELECT id FROM orders WHERE total > 250", []),
        ('Which customer is called "Bo"?', "SELECT id FROM customers", ["“Bo”"]),
        ("How many orders are there?", "SELECT COUNT(*) FROM orders", []),
    ],
)  # fmt: skip
def test_what_nothing_stands_for(
    question: str, sql: str, told: list[str], shop_workspace: Workspace
) -> None:
    schema = shop_workspace.schema
    state = State(Question(question), SchemaView(schema))
    notes = left_out(state, Candidate(sql, "direct", by_model=True), schema)
    assert [note.text for note in notes] == [
        f"nothing in this query stands for {text}" for text in told
    ]
    assert not left_out(state, Candidate(sql, "embedded"), schema)
