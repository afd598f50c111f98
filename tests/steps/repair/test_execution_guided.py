"""Execution-guided repair: runs everything, mends literals, never makes a query worse."""

from __future__ import annotations

import threading

import pytest

from sqlwright.local.steps.execution_guided import SOURCE, ExecutionGuidedRepair
from sqlwright.protocols import Context, Run, Workspace
from sqlwright.schema import ColumnRef, SchemaView
from sqlwright.sql.reading import read_facts
from sqlwright.types import Candidate, Note, Question, State, ValueMatch


def repaired(
    workspace: Workspace, *sql: str | Candidate, run: Run | None = None, **options: float
) -> tuple[Candidate, ...]:
    written = tuple(
        one if isinstance(one, Candidate) else Candidate(one, "test", -1.0) for one in sql
    )
    state = State(Question("?"), SchemaView(workspace.schema), candidates=written)
    state = state.evolve(looked_up=("retrieval.values",))
    step = ExecutionGuidedRepair(**options)  # type: ignore[arg-type]
    return step(state, Context(workspace, run or Run())).candidates


MENDED = {
    "SELECT name FROM customers WHERE city = 'Munchen'": "'München'",
    "SELECT name FROM customers WHERE city = 'MÜNCHEN'": "'München'",
    "SELECT name FROM customers WHERE city = 'Copenhaagen'": "'Copenhagen'",
    "SELECT name FROM customers WHERE city IN ('Munchen', 'Nowhere')": "'München'",
    "SELECT name FROM customers WHERE 'copenhagen' = city": "'Copenhagen'",
    "SELECT name FROM customers WHERE city LIKE '%munchen%'": "München",
    "SELECT COUNT(*) FROM orders WHERE status = 'Open'": "'open'",
    "SELECT MAX(total) FROM orders WHERE status = 'canceled'": "'cancelled'",
    "SELECT o.total FROM orders o JOIN customers c ON o.customer_id = c.id "
    "WHERE c.name = 'Bo Carlson'": "'Bo Carlsen'",
    "SELECT name FROM customers WHERE id IN "
    "(SELECT customer_id FROM orders WHERE status = 'Shipped')": "'shipped'",
}


@pytest.mark.parametrize("sql", MENDED)
def test_a_literal_that_is_not_stored_gives_way_to_a_similar_one(
    shop_workspace: Workspace, sql: str
) -> None:
    (mended,) = repaired(shop_workspace, sql)
    assert MENDED[sql] in mended.sql
    assert mended.source == SOURCE
    assert mended.parent is not None
    assert mended.parent.sql == sql
    assert mended.parent.result is not None
    assert mended.result is not None
    assert mended.result.rows
    assert mended.score < -1.0
    assert "which is similar" in mended.note
    assert Note("replaced", mended.note) in mended.warnings
    assert mended.form is not None
    assert mended.form.facts(shop_workspace.schema) == read_facts(mended.sql, shop_workspace.schema)


LEFT = [
    "SELECT name FROM customers WHERE city = 'München'",  # right already
    "SELECT name FROM customers WHERE city = 'Xqzzw'",  # nothing like it is stored
    "SELECT name FROM customers WHERE city = 'München' AND country = 'Denmark'",  # both stored
    "SELECT name FROM customers WHERE city != 'Munchen'",  # finds rows as it is
    "SELECT name FROM customers WHERE city <> 'Munchen' AND id > 100",  # negated
    "SELECT name FROM customers WHERE country = 'Munchen'",  # stored in another column
    "SELECT total FROM orders WHERE total > 1000",  # a number
    "SELECT name FROM customers WHERE city = 'Munchen' AND id = 2",  # finds nothing all the same
]


@pytest.mark.parametrize("sql", LEFT)
def test_other_queries_are_left_as_they_are(shop_workspace: Workspace, sql: str) -> None:
    (left,) = repaired(shop_workspace, sql)
    assert (left.sql, left.parent) == (sql, None)
    assert left.result is not None


def test_the_replaced_value_becomes_evidence(shop_workspace: Workspace) -> None:
    column = ColumnRef("customers", "city")
    other = ValueMatch("x", ColumnRef("orders", "status"), "open", 1.0)
    wrong = ValueMatch("Munchen", column, "Munchen", 0.5)
    written = Candidate(
        "SELECT name FROM customers WHERE city = 'Munchen'", "test", values=(other, wrong)
    )
    (mended,) = repaired(shop_workspace, written)
    assert [(m.column, m.value) for m in mended.values] == [
        (other.column, "open"),
        (column, "München"),
    ]
    assert mended.values[1].phrase == "Munchen"


def test_what_the_form_cannot_say_is_executed_and_left(shop_workspace: Workspace) -> None:
    sql = "SELECT name FROM customers WHERE city = 'Munchen' OR name GLOB 'A*'"
    (left,) = repaired(shop_workspace, sql)
    assert (left.sql, left.parent) == (sql, None)
    assert left.result is not None
    assert left.result.ok


def test_errors_are_kept_as_data(shop_workspace: Workspace) -> None:
    broken, unsafe, good = repaired(
        shop_workspace, "SELECT nope FROM orders", "DELETE FROM orders", "SELECT 1"
    )
    assert broken.result is not None
    assert broken.result.error is not None
    assert broken.result.error.kind == "sql"
    assert unsafe.result is not None
    assert unsafe.result.error is not None
    assert unsafe.result.error.kind == "unsafe"
    assert good.result is not None
    assert good.result.rows == ((1,),)


def test_repairs_that_meet_become_one(shop_workspace: Workspace) -> None:
    sql = "SELECT customers.name FROM customers WHERE customers.city = '{}'"
    first, *rest = repaired(shop_workspace, sql.format("Munchen"), sql.format("MUNCHEN"))
    assert "München" in first.sql
    assert rest == []


def test_only_so_many_are_repaired(shop_workspace: Workspace) -> None:
    first, second = repaired(
        shop_workspace,
        "SELECT name FROM customers WHERE city = 'Munchen'",
        "SELECT id FROM customers WHERE city = 'Munchen'",
        repaired=1,
    )
    assert first.parent is not None
    assert second.parent is None


def test_a_stopped_run_leaves_the_rest_unexecuted(shop_workspace: Workspace) -> None:
    cancelled = threading.Event()
    cancelled.set()
    queries = repaired(shop_workspace, "SELECT 1", "SELECT 2", run=Run(cancelled=cancelled))
    assert [c.result for c in queries] == [None, None]


def test_the_first_candidate_has_the_limit_of_a_query_the_rest_share(
    shop_workspace: Workspace,
) -> None:
    first, second = repaired(shop_workspace, "SELECT 1", "SELECT 2", seconds=0.0)
    assert first.result is not None
    assert second.result is None
