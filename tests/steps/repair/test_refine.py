"""Refining by outcome: which results are looked at again, what the model sees, what is kept."""

from __future__ import annotations

from typing import Any

import pytest

from sqlwright.llm.scripted import Script, ScriptedModel
from sqlwright.messages import Missing
from sqlwright.protocols import Context, Limits, Run, Workspace
from sqlwright.running.combinators import named
from sqlwright.running.control_flow import repeat_until
from sqlwright.running.sequences import SubQuestions
from sqlwright.schema import ColumnRef, SchemaView
from sqlwright.steps.conditions import ACCEPTED
from sqlwright.steps.generation.sub_sql import SubSql
from sqlwright.steps.repair.execute import ExecuteCandidates
from sqlwright.steps.repair.refine import Refine
from sqlwright.types import Candidate, Question, State, SubQuestion
from tests.golden import assert_prompt

RIGHT = "SELECT name FROM customers WHERE city = 'Copenhagen'"
ROWS = "SELECT name FROM customers"
ERROR = "SELECT nme FROM customers"
SYNTAX = "SELECT name FROM customers WHERE ("
EMPTY = "SELECT name FROM customers WHERE city = 'Nowhere'"
NESTED = "SELECT name FROM customers WHERE id = (SELECT max(id) + 1 FROM customers)"
SOME_NULL = "SELECT name, city FROM customers"
ALL_NULL = "SELECT NULL, NULL FROM customers"
ONE_NULL = "SELECT NULL, 1"
LATE_NULL = "SELECT 1 FROM customers, orders UNION ALL SELECT 1 UNION ALL SELECT NULL"
WITHOUT_NULL = "SELECT name, city FROM customers WHERE city IS NOT NULL"


def start(workspace: Workspace, sql: str, **known: Any) -> State:
    state = State(Question("Who lives in Copenhagen?"), SchemaView(workspace.schema), **known)
    return state.evolve(candidates=(Candidate(sql, "test", by_model=True),))


def refined(
    workspace: Workspace, state: State, *replies: Any, run: Run | None = None, **options: Any
) -> tuple[State, ScriptedModel]:
    model = ScriptedModel(Script(otherwise=list(replies) or "I would rather not."))
    context = Context(workspace, run or Run(seed=1), {"llm": model})
    return Refine(**options)(state, context), model


def prompts(model: ScriptedModel) -> list[str]:
    return ["\n\n".join(str(m.text) for m in one.messages) for _, one in model.requests]


@pytest.mark.parametrize(
    ("sql", "looked_at"),
    [
        (ERROR, True),
        (SYNTAX, True),
        ("DROP TABLE customers", True),
        (EMPTY, True),
        (NESTED, True),
        (SOME_NULL, True),
        (ROWS, False),
        (RIGHT, False),
        (ALL_NULL, False),
        ("SELECT NULL", False),
        (ONE_NULL, False),
        (LATE_NULL, False),
    ],
)
def test_the_outcome_decides_who_is_looked_at_again(
    sql: str, looked_at: bool, shop_workspace: Workspace
) -> None:
    context = Context(shop_workspace, Run())
    executed = ExecuteCandidates()(start(shop_workspace, sql), context)
    assert ACCEPTED(executed, context) is not looked_at
    state, model = refined(shop_workspace, start(shop_workspace, sql))
    assert bool(model.requests) is looked_at
    assert state.candidates[0].sql == sql
    assert ACCEPTED(state, context)  # settled, since no reply could be used


@pytest.mark.parametrize(
    ("name", "sql", "told"),
    [
        ("error", ERROR, "It failed with an error: no such column: nme"),
        ("empty", EMPTY, "It ran, but found no rows."),
        ("nested", NESTED, "It ran, but found no rows."),
        ("null", SOME_NULL, "It ran, but some of its first rows hold NULL."),
    ],
)
def test_each_outcome_is_told(name: str, sql: str, told: str, shop_workspace: Workspace) -> None:
    _, model = refined(shop_workspace, start(shop_workspace, sql))
    assert_prompt(f"refine_{name}", model.requests[0][1].messages)
    (instructions, shown) = (str(message.text) for message in model.requests[0][1].messages)
    assert told in shown
    assert ("a query within it" in instructions) is (name == "nested")
    assert instructions.count("=== Example") == (2 if name == "nested" else 0)


@pytest.mark.parametrize(
    "inner",
    [
        "SELECT customer_id FROM orders WHERE status = 'lost'",
        "SELECT max(customer_id) FROM orders WHERE status = 'lost'",
        "SELECT customer_id FROM orders WHERE status = 'lost' ORDER BY total LIMIT 1",
    ],
)
def test_only_a_query_compared_with_what_another_computes_is_nested(
    inner: str, shop_workspace: Workspace
) -> None:
    sql = f"SELECT name FROM customers WHERE id IN ({inner})"
    _, model = refined(shop_workspace, start(shop_workspace, sql))
    nested = "a query within it" in str(model.requests[0][1].messages[0].text)
    assert nested is ("max" in inner or "LIMIT" in inner)


def test_a_timeout_is_told_in_words(shop_workspace: Workspace) -> None:
    endless = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    )
    run = Run(seed=1, limits=Limits(seconds=2))
    state, model = refined(shop_workspace, start(shop_workspace, endless), RIGHT, run=run)
    assert "stopped because it takes too long" in prompts(model)[0]
    assert state.candidates[0].sql == RIGHT


def test_the_whole_schema_is_shown_where_a_column_is_not_there(shop_workspace: Workspace) -> None:
    narrow = SchemaView(shop_workspace.schema).narrowed([ColumnRef("customers", "name")])
    shown = []
    for sql in (ERROR, SYNTAX):
        state = start(shop_workspace, sql).evolve(view=narrow)
        after, model = refined(shop_workspace, state)
        assert after.view == narrow
        shown.append("CREATE TABLE lines" in prompts(model)[0])
    assert shown == [True, False]


@pytest.mark.parametrize(
    ("old", "new", "kept"),
    [
        (ERROR, RIGHT, True),
        (ERROR, EMPTY, True),
        (ERROR, SYNTAX, True),  # of two errors the later one: refining goes on from it
        (EMPTY, RIGHT, True),
        (EMPTY, NESTED, False),
        (EMPTY, ERROR, False),
        (SOME_NULL, WITHOUT_NULL, True),
        (SOME_NULL, "SELECT name, city, id FROM customers", False),
        (SOME_NULL, EMPTY, False),
        (SOME_NULL, ERROR, False),
    ],
)
def test_the_old_query_stays_unless_the_new_one_is_better(
    old: str, new: str, kept: bool, shop_workspace: Workspace
) -> None:
    state, _ = refined(shop_workspace, start(shop_workspace, old), f"So:\n```sql\n{new}\n```")
    (candidate,) = state.candidates
    if kept:
        assert (candidate.sql, candidate.parent and candidate.parent.sql) == (new, old)
        assert candidate.source == "repair.refine"
    else:
        assert (candidate.sql, [one.sql for one in candidate.tried]) == (old, [new])


@pytest.mark.parametrize(
    ("rounds", "replies", "calls"),
    [
        (2, [ERROR.replace("nme", "nm"), ERROR.replace("nme", "n"), RIGHT], 2),
        (2, [ERROR.replace("nme", "nm"), RIGHT], 2),
        (2, [RIGHT], 1),
        (1, [ERROR.replace("nme", "nm"), RIGHT], 1),
    ],
)
def test_there_are_two_rounds_at_most(
    rounds: int, replies: list[str], calls: int, shop_workspace: Workspace
) -> None:
    model = ScriptedModel(Script(otherwise=replies))
    body = repeat_until(ACCEPTED, named(Refine()), rounds=rounds)
    state = body(
        ExecuteCandidates()(start(shop_workspace, ERROR), Context(shop_workspace, Run())),
        Context(shop_workspace, Run(seed=1), {"llm": model}),
    )
    assert len(model.requests) == calls
    assert state.candidates[0].sql == replies[calls - 1]
    assert len({request.seed for _, request in model.requests}) == calls


def test_what_was_tried_in_vain_is_shown_the_next_time(shop_workspace: Workspace) -> None:
    state, _ = refined(shop_workspace, start(shop_workspace, EMPTY), ERROR)
    _, model = refined(shop_workspace, state, RIGHT)
    assert "These were tried instead and are no better:\n\nSELECT nme" in prompts(model)[0]


@pytest.mark.parametrize("bad", ["", "No.", Missing("unavailable", "down")])
def test_a_bad_reply_costs_no_query(bad: Any, shop_workspace: Workspace) -> None:
    state, _ = refined(shop_workspace, start(shop_workspace, EMPTY), bad)
    assert [one.sql for one in state.candidates] == [EMPTY]
    assert [note.kind for note in state.warnings] == ["model"]


@pytest.mark.parametrize(
    ("options", "sql"), [({"empty": False}, EMPTY), ({"null_rows": 0}, SOME_NULL)]
)
def test_a_reason_can_be_switched_off(
    options: dict[str, Any], sql: str, shop_workspace: Workspace
) -> None:
    _, model = refined(shop_workspace, start(shop_workspace, sql), **options)
    assert model.requests == []


def test_options_are_bounded() -> None:
    for option in ("nested_shots", "examples", "null_rows"):
        with pytest.raises(ValueError, match=option):
            Refine(**{option: -1})


def test_each_sub_query_is_refined_before_the_next_is_built_on_it(
    shop_workspace: Workspace,
) -> None:
    parts = ("Who is there?", "Who lives in Copenhagen?")

    def says(one: Any) -> str:
        asked = one.prompt.rpartition("\nQuestion: ")[2]
        if one.step == "repair.refine":
            return RIGHT if asked.startswith(parts[1]) else ROWS
        return EMPTY if asked.startswith(parts[1]) else ERROR

    model = ScriptedModel(Script(otherwise=says))
    rounds = repeat_until(ACCEPTED, named(Refine()), rounds=2)
    body = SubQuestions((named(SubSql()), named(ExecuteCandidates()), rounds))
    asked = State(Question(parts[1]), SchemaView(shop_workspace.schema))
    asked = asked.evolve(sub_questions=tuple(map(SubQuestion, parts)))
    state = body(asked, Context(shop_workspace, Run(seed=1), {"llm": model}))
    steps = [step for step, _ in model.requests]
    assert steps == ["generation.sub_sql", "repair.refine"] * 2
    told = prompts(model)
    assert f"Question: {parts[0]}\n" in told[1]
    assert f"By this query:\n{ROWS}\n" in told[2]
    (candidate,) = state.candidates
    assert (candidate.sql, candidate.goal) == (RIGHT, "")
    assert len({request.seed for _, request in model.requests}) == 4
