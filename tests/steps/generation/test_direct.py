"""Candidates by a language model: what it is shown, and what becomes of its replies."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from sqlwright.errors import BudgetSpent, ConfigError, MalformedReply, ModelFailed
from sqlwright.llm.scripted import Script, ScriptedModel, When
from sqlwright.messages import Capabilities, Missing
from sqlwright.prompts.sampling import Sampling
from sqlwright.protocols import Context, Run, Workspace
from sqlwright.running.combinators import named
from sqlwright.running.control_flow import samples
from sqlwright.schema import ColumnRef, SchemaView
from sqlwright.steps.generation.direct import DirectGeneration
from sqlwright.types import DescriptionMatch, Question, State, Turn, ValueMatch
from tests.golden import assert_prompt

REPLY = "Customers by city.\n\n```sql\nSELECT name FROM customers\nWHERE city = 'München'\n```"
SQL = "SELECT name FROM customers\nWHERE city = 'München'"
MUNICH = ValueMatch("Munich", ColumnRef("customers", "city"), "München", 0.9, 2)
PROMPTS = [
    "divide_and_conquer",
    "query_plan",
    "query_plan_short",
    "zero_shot",
    "short",
    "chain_of_thought",
    "fine_tuned",
]


def state(workspace: Workspace, text: str = "Who lives in Munich?", **known: Any) -> State:
    question = Question(text, known.pop("evidence", ""), known.pop("history", ()))
    return State(question, SchemaView(workspace.schema), **known)


def answering(*replies: str | Missing, **models: Any) -> tuple[ScriptedModel, dict[str, Any]]:
    model = ScriptedModel(Script([When("generation.direct", list(replies))]))
    return model, {"llm": model, **models}


@pytest.mark.parametrize("name", PROMPTS)
def test_each_prompt_shows_schema_values_history_question_and_evidence(
    shop_workspace: Workspace, name: str
) -> None:
    model, models = answering(REPLY)
    asked = state(
        shop_workspace,
        evidence="Munich is written München",
        history=(Turn("Who has ordered?", "SELECT DISTINCT customer_id FROM orders"),),
        values=(MUNICH,),
    )
    after = DirectGeneration(f"generation/{name}")(asked, Context(shop_workspace, Run(), models))
    assert [candidate.sql for candidate in after.candidates] == [SQL]
    ((_, request),) = model.requests
    assert_prompt(f"generation_{name}", request.messages)


def test_only_what_it_would_have_shown_is_told_to_be_left_out(shop_workspace: Workspace) -> None:
    script = Script([When("generation.direct", [REPLY])])
    model = ScriptedModel(script, capabilities=Capabilities(remote=False, context_tokens=3_250))
    after = DirectGeneration()(
        state(shop_workspace), Context(shop_workspace, Run(), {"llm": model})
    )
    (note,) = after.warnings
    assert "no stored values of columns" in note.text
    assert "rows" not in note.text


def test_the_schema_can_be_shown_in_one_line_per_column(shop_workspace: Workspace) -> None:
    model, models = answering(REPLY)
    step = DirectGeneration("generation/zero_shot", style="compact", examples=1)
    step(state(shop_workspace), Context(shop_workspace, Run(), models))
    assert_prompt("generation_zero_shot_compact", model.requests[0][1].messages)


@pytest.mark.parametrize("name", PROMPTS)
def test_no_stored_value_is_left_where_values_stay_home(
    shop_workspace: Workspace, name: str
) -> None:
    model, models = answering(REPLY)
    asked = state(shop_workspace, text="Who is it?", values=(MUNICH,))
    DirectGeneration(f"generation/{name}")(asked, Context(shop_workspace, Run(), models))
    messages = model.requests[0][1].messages
    assert "München" in "".join(str(message.text) for message in messages)
    shown = "".join(str(message.text.without("value")) for message in messages)
    for stored in ("München", "Ada Brandt", "shipped", "2026-01-05", "120.5"):
        assert stored not in shown


def told(model: ScriptedModel) -> str:
    """The last part of the first prompt."""
    return str(model.requests[0][1].messages[-1].text)


def test_values_are_shown_nearest_first_and_few_of_a_phrase(shop_workspace: Workspace) -> None:
    model, models = answering(REPLY)
    city, name = ColumnRef("customers", "city"), ColumnRef("customers", "name")
    far = [ValueMatch("Ada", name, f"Ada {n}", 0.5 - n / 100) for n in range(9)]
    same = [ValueMatch("open", ColumnRef("orders", f), "open", 1.0) for f in ("status", "placed")]
    asked = state(shop_workspace, values=(*far, MUNICH, ValueMatch("x", city, "Xi", 0.2), *same))
    step = DirectGeneration("generation/zero_shot")
    step(asked, Context(shop_workspace, Run(), models))
    shown = told(model)
    few = ", ".join(f"'Ada {n}' (like \"Ada\")" for n in range(5))
    assert f"e.g. {few}, 'Ada Brandt'" in shown
    assert "e.g. 'München' (like \"Munich\"), 'Xi' (like \"x\"), 'Copenhagen'" in shown
    assert "one of 'open' (like \"open\"), 'shipped', 'cancelled'" in shown
    assert shown.count("'München'") == 1
    assert 'marked (like "...")' in shown


@pytest.mark.parametrize("phrase", ["Munich", "MÜNCHEN", "münchen"])
def test_what_a_mark_means_is_said_wherever_one_is_shown(
    shop_workspace: Workspace, phrase: str
) -> None:
    model, models = answering(REPLY)
    asked = state(shop_workspace, values=(replace(MUNICH, phrase=phrase),))
    DirectGeneration("generation/zero_shot")(asked, Context(shop_workspace, Run(), models))
    assert f'(like "{phrase}")' in told(model)
    assert "A name spelled nearly so means the stored value" in told(model)


def test_what_was_looked_up_in_vain_is_told(shop_workspace: Workspace) -> None:
    model, models = answering(REPLY)
    searched = ("Munich", "Germny", "Customers", "2026", "who", "age in 2026", "AB-12")
    asked = state(shop_workspace, values=(MUNICH,)).evolve(searched=searched)
    DirectGeneration("generation/zero_shot")(asked, Context(shop_workspace, Run(), models))
    said = 'Looked up among the stored values, and nothing like it found: "Germny", "AB-12"\n'
    assert said in told(model)
    kept = str(model.requests[0][1].messages[-1].text.without("value"))
    assert "Germny" not in kept


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (
            "Who ordered last month?",
            "Today is 2026-03-20, a Friday. The newest dates stored: 2026-03-01 (orders.placed).",
        ),
        ("Who has ordered so far?", "Today is 2026-03-20"),
        ("Wer hat im letzten Monat bestellt und wie viele sind es?", "Today is 2026-03-20"),
        ("Who ordered in March 2026?", ""),
    ],
)
def test_today_is_told_where_it_matters(
    shop_workspace: Workspace, question: str, said: str
) -> None:
    model, models = answering(REPLY)
    asked = State(Question(question), SchemaView(shop_workspace.schema))
    run = Run(today=date(2026, 3, 20))
    DirectGeneration("generation/zero_shot")(asked, Context(shop_workspace, run, models))
    assert said in told(model) if said else "Today" not in told(model)
    assert "2026-03-01" not in str(model.requests[0][1].messages[-1].text.without("value"))


def described(shop: Workspace, words: str) -> Workspace:
    """The shop with a description of every column."""
    tables = tuple(
        replace(
            table,
            columns=tuple(replace(c, description=f"{c.name}: {words}") for c in table.columns),
        )
        for table in shop.schema.tables
    )
    return replace(shop, schema=replace(shop.schema, tables=tables))


@pytest.mark.parametrize(
    ("option", "words", "shown"),
    [
        ("all", "what it is", {"city", "status"}),
        ("retrieved", "what it is", {"city"}),
        ("auto", "what it is", {"city", "status"}),
        ("auto", "what it means " * 60, {"city"}),  # more than a tenth of the context
    ],
)
def test_descriptions_are_all_shown_while_they_fit(
    shop_workspace: Workspace, option: Any, words: str, shown: set[str]
) -> None:
    workspace = described(shop_workspace, words)
    model = ScriptedModel(
        Script(otherwise=REPLY), capabilities=Capabilities(remote=False, context_tokens=8_192)
    )
    city = DescriptionMatch(ColumnRef("customers", "city"), "label", "city", 0.9)
    asked = State(Question("Who?"), SchemaView(workspace.schema), descriptions=(city,))
    step = DirectGeneration("generation/zero_shot", descriptions=option)
    step(asked, Context(workspace, Run(), {"llm": model}))
    assert {name for name in ("city", "status") if f"{name}: what it" in told(model)} == shown


def test_a_random_value_of_each_column_is_the_same_for_a_seed(shop_workspace: Workspace) -> None:
    def shown(seed: int) -> str:
        model, models = answering(REPLY)
        step = DirectGeneration("generation/zero_shot", values="random")
        step(state(shop_workspace), Context(shop_workspace, Run(seed=seed), models))
        return told(model)

    assert shown(1) == shown(1)
    assert len({shown(seed) for seed in range(5)}) > 1
    assert "one of" not in shown(1)
    assert shown(1).count("'open'") + shown(1).count("'shipped'") <= 1


def test_what_the_view_hides_is_not_shown(shop_workspace: Workspace) -> None:
    model, models = answering(REPLY)
    view = SchemaView(shop_workspace.schema).narrowed([ColumnRef("customers", "name")])
    step = DirectGeneration("generation/zero_shot")
    asked = state(shop_workspace, values=(MUNICH,)).evolve(view=view)
    step(asked, Context(shop_workspace, Run(), models))
    shown = str(model.requests[0][1].messages[-1].text)
    assert "customers" in shown
    assert "country" not in shown
    assert "orders" not in shown
    assert "München" not in shown  # of a column that is hidden


def test_a_candidate_knows_where_it_comes_from(shop_workspace: Workspace) -> None:
    _, models = answering(REPLY)
    asked = state(shop_workspace, values=(MUNICH,), sample=3)
    (written,) = DirectGeneration()(asked, Context(shop_workspace, Run(), models)).candidates
    assert (written.source, written.sample) == ("generation.direct", 3)
    assert written.plan == "Customers by city."
    assert written.values == (MUNICH,)
    assert [str(column) for column in written.columns] == ["customers.name", "customers.city"]


def test_samples_differ_in_seed_and_order_and_the_first_has_the_stored_order(
    shop_workspace: Workspace,
) -> None:
    def prompts(seed: int) -> list[tuple[str, int]]:
        model, models = answering(REPLY)
        step = named(DirectGeneration("generation/zero_shot", sampling=Sampling(temperature=0.5)))
        context = Context(shop_workspace, Run(seed=seed), models)
        after = samples(4, step)(state(shop_workspace), context)
        assert [candidate.sample for candidate in after.candidates] == [1, 2, 3, 4]
        assert {request.temperature for _, request in model.requests} == {0.5}
        return [(str(r.messages[-1].text), r.seed) for _, r in model.requests]

    first = prompts(1)
    assert first == prompts(1)
    assert len({seed for _, seed in first}) == 4
    assert len({text for text, _ in first}) > 1
    assert first[0][0] == prompts(2)[0][0]
    assert first[1:] != prompts(2)[1:]


def test_orders_differ_between_samples_questions_and_generators(
    shop_workspace: Workspace,
) -> None:
    def orders(prompt: str, text: str) -> list[str]:
        model, models = answering(REPLY)
        step = named(DirectGeneration(f"generation/{prompt}"))
        samples(6, step)(state(shop_workspace, text), Context(shop_workspace, Run(seed=1), models))
        schemas = [str(request.messages[-1].text) for _, request in model.requests]
        return [text.split("Question:")[0] for text in schemas][1:]

    seen = [
        tuple(orders(prompt, text))
        for prompt in ("divide_and_conquer", "query_plan")
        for text in ("Who lives in Munich?", "Who has ordered a lamp?")
    ]
    assert all(len(set(one)) == len(one) for one in seen)
    for place in range(5):
        assert len({one[place] for one in seen}) > 2


def test_the_worked_examples_that_fit_are_shown(shop_workspace: Workspace) -> None:
    def shown(text: str, prompt: str = "divide_and_conquer", **options: Any) -> list[str]:
        model, models = answering(REPLY)
        step = DirectGeneration(f"generation/{prompt}", **options)
        step(state(shop_workspace, text), Context(shop_workspace, Run(), models))
        instructions = str(model.requests[0][1].messages[0].text)
        return re.findall(r"^Question: (.+)$", instructions, re.MULTILINE)

    each = "How many appointments has each patient kept?"
    share = "What percentage of those invited to the hearing screening took part?"
    run = "Which plots grew potatoes in at least three consecutive years?"
    unknown = "How many copies do the branches in Fisher Hill own?"
    assert len(shown("Who lives in Munich?")) == 2  # a question of one step
    assert len(shown("How many percent of the orders has each customer in Munich?")) > 2
    assert len(shown("Who lives in Munich?", shots=4)) == 4
    assert each in shown("How many orders has each customer?")
    assert share in shown("What percentage of orders are open?")
    assert share not in shown("How many orders has each customer?")
    assert run in shown("Who ordered in consecutive months?")
    # Something is named, and nothing stored was found that resembles it.
    assert shown("Who lives in Fernside?", shots=2)[1] == unknown
    assert unknown not in shown("Who has ordered last?", shots=2)
    assert shown("Wer wohnt in München?", shots=2)[1] == unknown
    assert len(shown("Who lives in Munich?", shots=7)) == 7
    assert len(shown("Who lives in Munich?", "query_plan", shots=6)) == 6
    assert shown("Who lives in Munich?", shots=0) == []
    few = shown("What percentage of orders are open?", shots=2)
    assert few == shown("What percentage of orders are open?", shots=3)[:2]  # the last goes first


@pytest.mark.parametrize(
    ("reading", "said"), [("letter", "to the letter"), ("sense", "can't mean what it says")]
)
def test_evidence_is_followed_to_the_letter_or_by_its_sense(
    reading: Any, said: str, shop_workspace: Workspace
) -> None:
    model, models = answering(REPLY)
    step = DirectGeneration(evidence=reading)
    asked = state(shop_workspace).evolve(question=Question("Who is it?", "it means Ada"))
    step(asked, Context(shop_workspace, Run(), models))
    rules = str(model.requests[0][1].messages[0].text)
    told = [text for text in ("to the letter", "can't mean what it says") if text in rules]
    assert told == [said]


def test_several_replies_to_one_prompt_are_several_candidates(shop_workspace: Workspace) -> None:
    model = ScriptedModel(Script(otherwise=lambda asked: f"SELECT {asked.sample}"))
    step = DirectGeneration("generation/fine_tuned", sampling=Sampling(n=3, temperature=0.7))
    context = Context(shop_workspace, Run(), {"llm": model})
    written = step(state(shop_workspace), context).candidates
    assert [(one.sql, one.sample) for one in written] == [
        ("SELECT 0", 1),
        ("SELECT 1", 2),
        ("SELECT 2", 3),
    ]


def test_wrong_sql_is_a_candidate_and_no_sql_is_asked_for_again(shop_workspace: Workspace) -> None:
    _, models = answering("I can't say.", "```sql\nSELECT FROM WHERE\n```")
    (written,) = DirectGeneration()(
        state(shop_workspace), Context(shop_workspace, Run(), models)
    ).candidates
    assert written.sql == "SELECT FROM WHERE"


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        ("My query:", MalformedReply),
        (Missing("unavailable", "down"), ModelFailed),
        (Missing("budget", "spent"), BudgetSpent),
    ],
)
def test_a_sample_without_a_query_is_raised(
    shop_workspace: Workspace, reply: str | Missing, error: type[Exception]
) -> None:
    _, models = answering(reply)
    with pytest.raises(error):
        DirectGeneration()(state(shop_workspace), Context(shop_workspace, Run(), models))


def test_of_several_samples_a_bad_one_is_left_out(shop_workspace: Workspace) -> None:
    _, models = answering("SELECT 1", "no", "still no", "SELECT 3")
    step = named(DirectGeneration("generation/zero_shot"))
    after = samples(3, step)(state(shop_workspace), Context(shop_workspace, Run(), models))
    assert [(one.sql, one.sample) for one in after.candidates] == [("SELECT 1", 1), ("SELECT 3", 3)]
    assert len(after.warnings) == 1


def test_a_prompt_and_worked_examples_of_ones_own(
    shop_workspace: Workspace, tmp_path: Path
) -> None:
    path = tmp_path / "query_plan.jinja"
    path.write_text(
        "{% for one in demonstrations %}{{ one.question }}\n{% endfor %}{{ question }}", "utf-8"
    )
    model, models = answering("SELECT 1")
    context = Context(shop_workspace, Run(), models)
    DirectGeneration(str(path), shots=9)(state(shop_workspace), context)
    text = str(model.requests[0][1].messages[0].text)
    assert "Who wrote the most recently published title" in text
    assert text.endswith("Who lives in Munich?")
    with pytest.raises(ConfigError, match="can't be read"):
        DirectGeneration("generation/absent")(state(shop_workspace), context)


def test_options_out_of_range_are_refused() -> None:
    with pytest.raises(ValueError, match="examples"):
        DirectGeneration(examples=-1)
    with pytest.raises(ValueError, match="shots"):
        DirectGeneration(shots=-1)


def test_nothing_is_asked_without_a_question_or_a_schema(shop_workspace: Workspace) -> None:
    model, models = answering(REPLY)
    context = Context(shop_workspace, Run(), models)
    hidden = SchemaView(shop_workspace.schema).narrowed(())
    for asked in (state(shop_workspace, " "), state(shop_workspace).evolve(view=hidden)):
        assert DirectGeneration()(asked, context) == asked
    assert model.requests == []
