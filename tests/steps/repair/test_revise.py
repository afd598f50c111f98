"""Revision by a language model: what it is shown, when it is asked, which query is kept."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from sqlwright.candidates import execute, history
from sqlwright.errors import BudgetSpent
from sqlwright.llm.scripted import Says, Script, ScriptedModel, When
from sqlwright.messages import Missing
from sqlwright.protocols import Context, Run, Workspace
from sqlwright.running.combinators import named, sequence
from sqlwright.running.control_flow import repeat_until
from sqlwright.schema import ColumnRef, SchemaView
from sqlwright.steps.conditions import NO_FAULT
from sqlwright.steps.repair.execute import ExecuteCandidates
from sqlwright.steps.repair.revise import Revise
from sqlwright.types import Candidate, Question, State, ValueMatch
from tests.golden import assert_prompt

FAULTS: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parents[2] / "cases" / "literals" / "faults.yaml").read_text("utf-8")
)
ROWS = "SELECT name FROM customers"
EMPTY = "SELECT name FROM customers WHERE id = 99"
NULL = "SELECT max(total) FROM orders WHERE id = 99"
ERROR = "SELECT nme FROM customers"
OTHER_ERROR = "SELECT nam FROM customers"
THIRD_ERROR = "SELECT n FROM customers"
UNKNOWN = "SELECT id FROM customers WHERE name = 'Copenhagen'"


def start(workspace: Workspace, *sql: str, text: str = "Who?", **known: Any) -> State:
    candidates = tuple(Candidate(one, "test", sample=n) for n, one in enumerate(sql, start=1))
    known = {"looked_up": ("retrieval.entities",), **known}
    return State(Question(text), SchemaView(workspace.schema), candidates=candidates, **known)


def answering(*replies: Any) -> ScriptedModel:
    return ScriptedModel(Script([When("repair.revise", list(replies))]))


def fenced(sql: str) -> str:
    return f"The cause.\n\n```sql\n{sql}\n```"


def revised(
    workspace: Workspace, model: ScriptedModel, state: State, rounds: int = 1, **options: Any
) -> State:
    loop = repeat_until(NO_FAULT, named(Revise(**options)), rounds=rounds)
    return sequence(ExecuteCandidates(), loop)(state, Context(workspace, Run(), {"llm": model}))


@pytest.mark.parametrize(
    ("old", "new", "taken"),
    [
        (ERROR, ROWS, True),
        (ERROR, EMPTY, True),
        (ERROR, OTHER_ERROR, True),
        (EMPTY, ROWS, True),
        (EMPTY, "SELECT name FROM customers WHERE id = 98", False),
        (EMPTY, ERROR, False),
        (NULL, ROWS, True),
        (NULL, EMPTY, False),
        (UNKNOWN, "SELECT id FROM customers WHERE city = 'Copenhagen' AND id = 99", True),
        (UNKNOWN, "SELECT id FROM customers WHERE name = 'München'", False),
        ("SELECT count(*) FROM orders WHERE status <> 'Cancelled'",
         "SELECT count(*) FROM orders WHERE status <> 'cancelled'", True),
        (EMPTY, "SELECT load_extension('x')", False),
    ],
)  # fmt: skip
def test_a_query_is_replaced_by_a_better_one_only(
    shop_workspace: Workspace, old: str, new: str, taken: bool
) -> None:
    after = revised(shop_workspace, answering(fenced(new)), start(shop_workspace, old))
    (kept,) = after.candidates
    assert kept.sql == (new if taken else old)
    assert kept.result is not None
    if taken:
        assert [one.sql for one in history(kept)] == [new, old]
        assert (kept.source, kept.sample, kept.plan) == ("repair.revise", 1, "The cause.")
        assert kept.note.startswith("revised: it ")
    else:
        assert [one.sql for one in kept.tried] == [new]


def test_nobody_is_asked_about_a_query_without_fault(shop_workspace: Workspace) -> None:
    model = answering()
    state = start(shop_workspace, ROWS, "SELECT count(*) FROM orders WHERE id = 99")
    after = revised(shop_workspace, model, state)
    assert model.requests == []
    assert [one.sql for one in after.candidates] == [one.sql for one in state.candidates]
    # Outside of a loop neither.
    Revise()(state, Context(shop_workspace, Run(), {"llm": model}))
    assert model.requests == []


@pytest.mark.parametrize("case", FAULTS, ids=lambda case: str(case["sql"])[:70])
def test_the_loop_and_the_step_agree(shop_workspace: Workspace, case: dict[str, Any]) -> None:
    model = answering("no query")
    context = Context(shop_workspace, Run(), {"llm": model})
    state = ExecuteCandidates()(start(shop_workspace, case["sql"]), context)
    wanted = not NO_FAULT(state, context)
    after = Revise(machine=False)(state, context)
    assert bool(model.requests) is wanted
    assert NO_FAULT(after, context)  # settled, since no reply could be used


def test_options_out_of_range_are_refused() -> None:
    with pytest.raises(ValueError, match="examples"):
        Revise(examples=-1)


@pytest.mark.parametrize("option", ["empty", "nulls", "literals"])
def test_a_reason_can_be_switched_off(shop_workspace: Workspace, option: str) -> None:
    query = {
        "empty": EMPTY,
        "nulls": NULL,
        "literals": "SELECT name FROM customers WHERE city IN ('Munchen', 'Copenhagen')",
    }[option]
    model = answering()
    after = revised(shop_workspace, model, start(shop_workspace, query), **{option: False})
    assert (model.requests, after.candidates[0].sql) == ([], query)


def test_what_the_machine_noticed_is_shown(shop_workspace: Workspace) -> None:
    fan_out = (
        "SELECT sum(o.total) FROM orders AS o JOIN lines AS l ON l.order_id = o.id "
        "WHERE l.quantity > 0"
    )
    model = answering(fenced(fan_out))
    state = ExecuteCandidates()(start(shop_workspace, fan_out), Context(shop_workspace, Run()))
    Revise(always=True)(state, Context(shop_workspace, Run(), {"llm": model}))
    instructions, shown = (str(message.text) for message in model.requests[0][1].messages)
    assert "Noticed by machine: sum may count rows of orders more than once" in shown
    assert instructions.count("=== Example") == 3
    assert "Noticed by machine" in instructions.split("=== Example 2")[0].split("=== Example 1")[1]


@pytest.mark.parametrize("query", [EMPTY, NULL, ROWS])
def test_a_right_query_that_is_kept_is_among_the_examples(
    query: str, shop_workspace: Workspace
) -> None:
    model = answering(fenced(query))
    state = ExecuteCandidates()(start(shop_workspace, query), Context(shop_workspace, Run()))
    Revise(always=True)(state, Context(shop_workspace, Run(), {"llm": model}))
    assert "The query stays as it is." in str(model.requests[0][1].messages[0].text)


@pytest.mark.parametrize(
    ("reading", "said"), [("letter", "to the letter"), ("sense", "can't mean what it says")]
)
def test_evidence_is_followed_to_the_letter_or_by_its_sense(
    reading: Any, said: str, shop_workspace: Workspace
) -> None:
    model = answering(fenced(ROWS))
    asked = start(shop_workspace, ERROR).evolve(question=Question("Who is it?", "it means Ada"))
    revised(shop_workspace, model, asked, evidence=reading)
    assert said in str(model.requests[0][1].messages[0].text)


def test_what_was_tried_is_shown_and_a_repetition_ends_it(shop_workspace: Workspace) -> None:
    second = "SELECT name FROM customers WHERE id = 98"
    model = answering(fenced(second), fenced(EMPTY))
    after = revised(shop_workspace, model, start(shop_workspace, EMPTY), rounds=5)
    assert len(model.requests) == 2
    assert second in str(model.requests[1][1].messages[-1].text)
    (kept,) = after.candidates
    assert kept.sql == EMPTY
    assert [one.sql for one in kept.tried] == [second, EMPTY]


@pytest.mark.parametrize(
    "repeated", [ERROR, "select  nme\nFROM customers -- as it was\n;", f"{ERROR} "]
)
def test_a_reply_that_repeats_a_failed_query_ends_the_asking(
    shop_workspace: Workspace, repeated: str
) -> None:
    model = answering(fenced(OTHER_ERROR), fenced(repeated), fenced(ROWS))
    after = revised(shop_workspace, model, start(shop_workspace, ERROR), rounds=5)
    (kept,) = after.candidates
    assert [one.sql for one in history(kept)] == [OTHER_ERROR, ERROR]
    assert len(model.requests) == 2
    assert len(kept.tried) == 1


def test_each_round_draws_by_a_seed_of_its_own(shop_workspace: Workspace) -> None:
    model = answering(fenced(THIRD_ERROR), fenced(OTHER_ERROR), fenced(ROWS))
    revised(shop_workspace, model, start(shop_workspace, ERROR), rounds=3)
    assert len({request.seed for _, request in model.requests}) == 3


def test_rounds_go_on_from_what_is_better(shop_workspace: Workspace) -> None:
    model = answering(fenced(OTHER_ERROR), fenced(EMPTY), fenced(ROWS))
    after = revised(shop_workspace, model, start(shop_workspace, ERROR), rounds=3)
    (kept,) = after.candidates
    assert [one.sql for one in history(kept)] == [ROWS, EMPTY, OTHER_ERROR, ERROR]
    assert len(model.requests) == 3


def test_rounds_are_bounded(shop_workspace: Workspace) -> None:
    number = iter(range(100))
    model = ScriptedModel(Script(otherwise=lambda asked: f"SELECT n{next(number)}"))
    revised(shop_workspace, model, start(shop_workspace, ERROR), rounds=3)
    assert len(model.requests) == 3


@pytest.mark.parametrize(
    "reply", ["No idea.", "", "```sql\nDROP TABLE customers\n```", Missing("unavailable", "down")]
)
def test_a_reply_that_can_not_be_used_keeps_the_query(
    shop_workspace: Workspace, reply: Any
) -> None:
    model = answering(reply)
    after = revised(shop_workspace, model, start(shop_workspace, EMPTY), rounds=3)
    assert after.candidates[0].sql == EMPTY
    assert len(after.warnings) == 1
    assert len(model.requests) <= 2  # the second one asks for another form


def test_of_several_each_is_asked_about_and_a_bad_reply_costs_its_own(
    shop_workspace: Workspace,
) -> None:
    says: Says = lambda asked: "nothing" if "id = 99" in asked.prompt else fenced(ROWS)  # noqa: E731
    model = ScriptedModel(Script(otherwise=says))
    after = revised(shop_workspace, model, start(shop_workspace, ERROR, ROWS, EMPTY))
    assert [one.sql for one in after.candidates] == [ROWS, ROWS, EMPTY]
    assert [one.sample for one in after.candidates] == [1, 2, 3]
    assert after.warnings == ()


def test_a_spent_budget_leaves_the_mending_to_the_machine(shop_workspace: Workspace) -> None:
    munich = "SELECT name FROM customers WHERE city = 'Munchen'"
    model = answering(Missing("budget", "spent"))
    context = Context(shop_workspace, Run(), {"llm": model})
    with pytest.raises(BudgetSpent):
        Revise(machine=False)(start(shop_workspace, munich), context)
    assert Revise.cheaper == "repair.literals"


def test_the_machine_comes_first_and_makes_a_call_needless(shop_workspace: Workspace) -> None:
    munich = "SELECT name FROM customers WHERE city = 'Munchen'"
    model = answering()
    (kept,) = revised(shop_workspace, model, start(shop_workspace, munich)).candidates
    assert kept.sql == "SELECT name FROM customers WHERE city = 'München'"
    assert model.requests == []


def test_the_machine_also_mends_what_is_replied(shop_workspace: Workspace) -> None:
    typo = "SELECT name FROM customers WHERE city = 'Munchen'"
    (kept,) = revised(
        shop_workspace, answering(fenced(typo)), start(shop_workspace, ERROR)
    ).candidates
    assert [one.sql for one in history(kept)] == [typo.replace("un", "ün"), typo, ERROR]


@pytest.mark.parametrize(
    ("reply", "kept"),
    [
        (ROWS, ROWS),
        ("SELECT name, city FROM customers", "SELECT name, city FROM customers"),
        (EMPTY, ROWS),
        (ERROR, ROWS),
    ],
)
def test_every_query_can_be_looked_at_with_its_result(
    shop_workspace: Workspace, reply: str, kept: str
) -> None:
    model = answering(fenced(reply))
    context = Context(shop_workspace, Run(), {"llm": model})
    after = Revise(always=True)(start(shop_workspace, ROWS), context)
    assert after.candidates[0].sql == kept
    assert "Ada Brandt" in str(model.requests[0][1].messages[-1].text)


@pytest.mark.parametrize(
    ("name", "sql", "options"),
    [
        ("error", ERROR, {}),
        ("literal", UNKNOWN, {}),
        ("always", ROWS, {"always": True}),
        ("again", EMPTY, {}),
    ],
)
def test_the_prompt(
    shop_workspace: Workspace, name: str, sql: str, options: dict[str, Any]
) -> None:
    model = answering(fenced(sql))
    state = start(shop_workspace, sql, text="Who lives in Copenhagen?")
    if name == "again":
        tried = [
            Candidate("SELECT id FROM customers WHERE id = 98", "test"),
            Candidate(NULL, "test"),
        ]
        ran = execute(tried, shop_workspace.database, Run())
        state = state.evolve(candidates=(replace(state.candidates[0], tried=ran),))
    Revise(**options)(state, Context(shop_workspace, Run(), {"llm": model}))
    assert_prompt(f"repair_revise_{name}", model.requests[0][1].messages)


def test_what_the_view_hides_is_not_shown(shop_workspace: Workspace) -> None:
    model = answering(fenced(ROWS))
    view = SchemaView(shop_workspace.schema).narrowed([ColumnRef("customers", "name")])
    state = start(shop_workspace, ERROR).evolve(view=view)
    Revise()(state, Context(shop_workspace, Run(), {"llm": model}))
    shown = str(model.requests[0][1].messages[-1].text)
    assert "customers" in shown
    assert "country" not in shown
    assert "orders" not in shown


def test_no_stored_value_is_left_in_it_where_values_stay_home(shop_workspace: Workspace) -> None:
    match = ValueMatch("Munich", ColumnRef("customers", "city"), "München", 0.9)
    model = answering(fenced(ROWS))
    query = "SELECT name FROM customers WHERE city = 'München' AND name = 'Ada'"
    state = start(shop_workspace, query, text="Who is it?", values=(match,))
    state = state.evolve(
        candidates=tuple(Candidate(one.sql, "test", values=(match,)) for one in state.candidates)
    )
    Revise()(state, Context(shop_workspace, Run(), {"llm": model}))
    messages = model.requests[0][1].messages
    shown = "".join(str(message.text.without("value")) for message in messages)
    whole = "".join(str(message.text) for message in messages)
    assert "München" in whole
    for stored in ("München", "Ada Brandt", "Copenhagen", "shipped"):
        assert stored not in shown
    ours = "".join(s.text for s in messages[-1].text.spans if s.origin == "template")
    assert "It ran, but found no rows." in ours


def test_a_mender_that_declines_leaves_the_query_and_is_not_asked_again(
    shop_workspace: Workspace,
) -> None:
    model = answering("CANNOT: no such city is stored.")
    after = revised(shop_workspace, model, start(shop_workspace, EMPTY), rounds=3)
    assert len(model.requests) == 1
    (kept,) = after.candidates
    assert (kept.sql, after.declines) == (EMPTY, ())
    assert [one.note for one in kept.tried] == ["declined: no such city is stored."]
