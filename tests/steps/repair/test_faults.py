"""What gives a reason to look at a query again, and what doesn't."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from sqlwright.candidates import execute
from sqlwright.messages import Text
from sqlwright.protocols import Context, Run, Workspace
from sqlwright.schema import ColumnRef, Detail, SchemaView
from sqlwright.steps.conditions import NO_FAULT
from sqlwright.steps.repair.faults import FaultRule, error_text, settled
from sqlwright.types import Candidate, ExecutionError, ExecutionResult, Question, State

CASES: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parents[2] / "cases" / "literals" / "faults.yaml").read_text("utf-8")
)


def looked_at(workspace: Workspace, sql: str) -> tuple[State, Context]:
    context = Context(workspace, Run())
    candidates = execute([Candidate(sql, "test")], workspace.database, context.run)
    state = State(
        Question("?"),
        SchemaView(workspace.schema),
        looked_up=("retrieval.values",),
        candidates=candidates,
    )
    return state, context


@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case["sql"])[:70])
def test_faults(shop_workspace: Workspace, case: dict[str, Any]) -> None:
    state, context = looked_at(shop_workspace, case["sql"])
    faults = list(FaultRule().faults(state.candidates[0], state, context))
    assert [[fault.kind, str(fault.told)] for fault in faults] == case["faults"]
    assert NO_FAULT(state, context) is not bool(case["faults"])


def test_what_was_not_executed_is_to_be_looked_at(shop_workspace: Workspace) -> None:
    context = Context(shop_workspace, Run())
    state = State(Question("?"), SchemaView(shop_workspace.schema))
    assert NO_FAULT(state, context)
    assert not NO_FAULT(state.evolve(candidates=(Candidate("SELECT 1", "test"),)), context)


@pytest.mark.parametrize("kind", ["cancelled", "unavailable"])
def test_what_ended_for_another_reason_is_not_the_querys_fault(
    shop_workspace: Workspace, kind: Any
) -> None:
    ended = ExecutionResult(error=ExecutionError(kind, "ended"))
    candidate = Candidate("SELECT 1", "test", result=ended)
    state = State(Question("?"), SchemaView(shop_workspace.schema), candidates=(candidate,))
    assert NO_FAULT(state, Context(shop_workspace, Run()))


def test_each_kind_can_be_switched_off(shop_workspace: Workspace) -> None:
    rule = FaultRule(empty=False, nulls=False, literals=False)
    for sql in (
        "SELECT name FROM customers WHERE city = 'Munchen'",
        "SELECT max(total) FROM orders WHERE id > 99",
    ):
        state, context = looked_at(shop_workspace, sql)
        assert list(rule.faults(state.candidates[0], state, context)) == []


def test_a_hidden_column_is_not_told_of(shop_workspace: Workspace) -> None:
    state, context = looked_at(shop_workspace, "SELECT id FROM customers WHERE name = 'Copenhagen'")
    hidden = SchemaView(shop_workspace.schema, {ColumnRef("customers", "city"): Detail.HIDDEN})
    faults = FaultRule().faults(state.candidates[0], state.evolve(view=hidden), context)
    assert [fault.kind for fault in faults] == ["empty"]


@pytest.mark.parametrize(
    ("tried", "ended"),
    [
        ((), False),
        (("SELECT 2",), False),
        (("SELECT 2", "SELECT 3"), False),
        (("SELECT  1 ;",), True),
        (("SELECT 0",), True),
        (("SELECT 2", "SELECT 2"), True),
        (("",), True),
    ],
)
def test_a_repair_has_ended_when_it_comes_back_to_a_query(
    tried: tuple[str, ...], ended: bool
) -> None:
    attempts = tuple(Candidate(sql, "test") for sql in tried)
    parent = Candidate("SELECT 0", "test")
    assert settled(Candidate("SELECT 1", "test", parent=parent, tried=attempts)) is ended


UNSAID = [
    "SELECT json_extract('{}', (SELECT group_concat(name) FROM customers) || "
    "char(32,110,111,32,115,117,99,104,32))",
    "SELECT abs(-9223372036854775808) FROM customers",
    "SELECT json(name) FROM customers",
    "SELECT ntile(id - id) OVER () FROM customers",
    "SELECT json_extract('{\"a\":1}', '$' || name) FROM customers",
]
"""What fails once rows are read; the messages may quote them."""
SAID = {
    "SELECT nme FROM customers": "no such column: nme",
    "SELECT name FORM customers WHERE": "can't be read",
    "SELECT name FROM customer": "no such table: customer",
    "SELECT sum(sum(id)) FROM customers": "misuse of aggregate",
    "SELECT id FROM customers JOIN orders": "ambiguous column name: id",
}


@pytest.mark.parametrize("sql", UNSAID)
def test_what_fails_while_it_runs_is_told_without_the_engines_words(
    shop_workspace: Workspace, sql: str
) -> None:
    told = _told(shop_workspace, sql)
    assert str(told.without("value")) == "It failed while it ran."
    assert str(told).startswith("It failed with an error: ")


@pytest.mark.parametrize("sql", list(SAID))
def test_what_fails_before_it_runs_is_told(shop_workspace: Workspace, sql: str) -> None:
    assert SAID[sql] in str(_told(shop_workspace, sql).without("value"))


def _told(workspace: Workspace, sql: str) -> Text:
    candidate = Candidate(sql, "test", by_model=True)
    (candidate,) = execute([candidate], workspace.database, Run())
    (fault,) = FaultRule().of_result(candidate, Question("?"))
    return fault.told


@pytest.mark.parametrize(
    ("message", "sql", "by_model", "hidden"),
    [
        ("no such column: nme", "SELECT nme FROM t", True, False),
        ('near "Secret": syntax error', "SELECT 1 WHERE 'Secret' 'Secret'", True, False),
        ('near "Secret": syntax error', "SELECT 1 WHERE 'Secret' 'Secret'", False, True),
        ('near "987": syntax error', "SELECT a FROM t LIMIT 1 987", False, True),
    ],
)
def test_a_message_that_quotes_what_a_query_of_ours_has_from_the_data_counts_as_data(
    message: str, sql: str, by_model: bool, hidden: bool
) -> None:
    error = ExecutionError("sql", message, "prepare")
    told = error_text(error, Candidate(sql, "test", by_model=by_model), Question("?"))
    assert (message not in str(told.without("value"))) is hidden


def test_other_errors_are_told_in_our_own_words() -> None:
    error = ExecutionError("timeout", "stopped after 10 s")
    told = error_text(error, Candidate("SELECT 1", "test"), Question("?"))
    assert told == Text.of(
        "It was stopped because it takes too long; find a way with less work.", "template"
    )
