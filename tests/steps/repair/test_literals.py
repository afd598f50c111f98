"""Literals mended in any SQL, without a model, and only where that finds something."""

from __future__ import annotations

import pytest

from sqlwright.protocols import Context, Run, Workspace
from sqlwright.schema import SchemaView
from sqlwright.steps.repair.literals import LiteralRepair
from sqlwright.types import Candidate, Question, State


def repaired(workspace: Workspace, sql: str) -> Candidate:
    state = State(
        Question("?"),
        SchemaView(workspace.schema),
        looked_up=("retrieval.values",),
        candidates=(Candidate(sql, "test", sample=2),),
    )
    (candidate,) = LiteralRepair()(state, Context(workspace, Run())).candidates
    return candidate


@pytest.mark.parametrize(
    ("sql", "mended"),
    [
        (
            "SELECT name FROM customers WHERE city = 'Munchen' -- 'Munchen' is Munich",
            "SELECT name FROM customers WHERE city = 'München' -- 'Munchen' is Munich",
        ),
        (
            "WITH o AS (SELECT * FROM orders WHERE status = 'Canceled') SELECT total FROM o",
            "WITH o AS (SELECT * FROM orders WHERE status = 'cancelled') SELECT total FROM o",
        ),
        (
            "SELECT ROW_NUMBER() OVER (ORDER BY id) FROM customers WHERE city LIKE '%munchen%'",
            "SELECT ROW_NUMBER() OVER (ORDER BY id) FROM customers WHERE city LIKE '%München%'",
        ),
        (
            "SELECT count(*) FROM orders o JOIN customers c ON c.id = o.customer_id "
            "WHERE c.city = 'MÜNCHEN' AND o.status = 'Open'",
            "SELECT count(*) FROM orders o JOIN customers c ON c.id = o.customer_id "
            "WHERE c.city = 'München' AND o.status = 'open'",
        ),
    ],
)
def test_what_is_not_stored_is_replaced_and_nothing_else(
    shop_workspace: Workspace, sql: str, mended: str
) -> None:
    candidate = repaired(shop_workspace, sql)
    assert candidate.sql == mended
    assert candidate.parent is not None
    assert candidate.parent.sql == sql
    assert candidate.sample == 2
    assert candidate.values
    assert all(match.value in mended for match in candidate.values)
    assert "; ".join(map(str, candidate.warnings)) == candidate.note


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT name FROM customers WHERE city IN ('Munchen', 'Copenhagen')",  # finds something
        "SELECT name FROM customers WHERE city = 'Munchen' AND country = 'Peru'",  # still nothing
        "SELECT name FROM customers WHERE city <> 'Munchen' AND id = 99",  # excludes
        "SELECT total FROM orders WHERE placed = '2026-01-06'",  # another day
        "SELECT id FROM customers WHERE name = 'Copenhagen'",  # no similar one in the column
        "SELECT nme FROM customers WHERE city = 'Munchen'",  # fails
        "SELECT total FROM orders WHERE status = 'oen'",  # too little alike
        "not SQL",
    ],
)
def test_what_it_can_not_mend_stays(shop_workspace: Workspace, sql: str) -> None:
    candidate = repaired(shop_workspace, sql)
    assert (candidate.sql, candidate.parent, candidate.warnings) == (sql, None, ())
    assert candidate.result is not None
