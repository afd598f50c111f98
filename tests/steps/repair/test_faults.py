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
    return State(Question("?"), SchemaView(workspace.schema), candidates=candidates), context


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


@pytest.mark.parametrize(
    ("message", "sql", "hidden"),
    [
        ("no such column: nme", "SELECT nme FROM t", False),
        ('near "FORM": syntax error', "SELECT 1 FORM t", False),
        ('near "Secret": syntax error', "SELECT 1 WHERE 'Secret' 'Secret'", True),
        ("malformed JSON", "SELECT json(a) FROM t", True),
        ("anything not foreseen: Secret", "SELECT 1", True),
    ],
)
def test_a_message_that_may_quote_data_counts_as_data(message: str, sql: str, hidden: bool) -> None:
    told = error_text(ExecutionError("sql", message), sql).without("value")
    assert (message not in str(told)) is hidden


def test_other_errors_are_told_in_our_own_words() -> None:
    told = error_text(ExecutionError("timeout", "stopped after 10 s"), "SELECT 1")
    assert told == Text.of(
        "It was stopped because it takes too long; find a way with less work.", "template"
    )
