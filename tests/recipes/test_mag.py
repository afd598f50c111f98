"""MAG-SQL as a whole: who is asked what, what is built on what, what a bad endpoint costs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from sqlwright import api
from sqlwright.llm.scripted import Asked, Script
from sqlwright.recipes.ablation_lists import find_ablation
from sqlwright.running.trace import find_trace, read_trace
from sqlwright.schema import Detail
from tests.llm.gates import gate
from tests.recipes.asking import Ask, ask_a_hundred, ask_once
from tests.scripted import scripted_models

QUESTION = "Which customers from Germany live in München -- and ordered: what?"
PARTS = ("Which customers are from Germany?", "Which customers from Germany live in München?")
TAKEN_APART = json.dumps(
    {
        "targets": "customers",
        "conditions": ["from Germany", "live in München", "ordered"],
        "sub_questions": [*PARTS, "Which customers?"],
    }
)
FIRST = "SELECT name FROM customers WHERE country = 'Germany'"
SECOND = f"{FIRST} AND city = 'München'"
RIGHT = f"{SECOND} AND id IN (SELECT customer_id FROM orders)"
QUERIES = {PARTS[0]: FIRST, PARTS[1]: SECOND, QUESTION: RIGHT}
ERROR = "SELECT nme FROM customers"
EMPTY = "SELECT name FROM customers WHERE country = 'Germania'"
NULLS = "SELECT name, city FROM customers"
DECOMPOSER, WRITER, REFINER = "generation.decompose", "generation.sub_sql", "repair.refine"


def asked_now(prompt: str) -> str:
    """The question or sub-question at the end of a prompt."""
    return prompt.rpartition("\nQuestion: ")[2].partition("\n")[0]


def right(asked: Asked) -> Any:
    """A model that takes the question apart and makes no mistake."""
    return TAKEN_APART if asked.step == DECOMPOSER else QUERIES[asked_now(asked.prompt)]


@pytest.fixture
def ask(database_files: dict[str, Path], tmp_path: Path) -> Ask:
    """A question through MAG-SQL."""
    shop, home = database_files["shop"], tmp_path / "home"
    return partial(ask_once, shop, home, "mag", RIGHT, question=QUESTION)


def test_a_query_for_each_sub_question_is_built_on_the_last(ask: Ask) -> None:
    answer, state, requests = ask(right)
    assert Counter(step for step, _ in requests)[DECOMPOSER] == 1
    written = [prompt for step, prompt in requests if step == WRITER]
    assert [asked_now(prompt) for prompt in written] == [*PARTS, QUESTION]
    assert f"Answered already: {PARTS[0]}\nBy this query:\n{FIRST}\n" in written[1]
    assert f"Answered already: {PARTS[1]}\nBy this query:\n{SECOND}\n" in written[2]
    assert REFINER not in {step for step, _ in requests}
    assert (answer.sql, [one.sql for one in state.candidates]) == (RIGHT, [RIGHT])
    assert [one.text for one in state.sub_questions] == [*PARTS, QUESTION]
    assert answer.warnings == ()


def test_the_writer_sees_the_soft_schema_and_the_values_found(ask: Ask) -> None:
    _, _, requests = ask(right)
    for step, prompt in requests:
        if step == WRITER:
            shown = prompt.rpartition("Database schema:\n")[2]
            assert shown.startswith("customers: id INTEGER, name TEXT, city TEXT, country TEXT\n")
            assert "orders.customer_id = customers.id" in shown
            assert "customers.country = 'Germany'" in shown


@pytest.mark.parametrize(("faulty", "told"), [
    (ERROR, "no such column: nme"), (EMPTY, "found no rows"), (NULLS, "first rows hold NULL"),
])  # fmt: skip
def test_each_sub_query_is_refined_at_most_twice(faulty: str, told: str, ask: Ask) -> None:
    tries = iter(range(99))

    def never(asked: Asked) -> Any:
        if asked.step == DECOMPOSER:
            return TAKEN_APART
        return faulty if asked.step == WRITER else f"SELECT wrong{next(tries)} FROM customers"

    _, _, requests = ask(never)
    refined = [prompt for step, prompt in requests if step == REFINER]
    assert Counter(asked_now(prompt) for prompt in refined) == dict.fromkeys([*PARTS, QUESTION], 2)
    assert told in refined[0]


def test_what_was_refined_is_built_on(ask: Ask) -> None:
    def says(asked: Asked) -> Any:
        part = asked_now(asked.prompt)
        return ERROR if (asked.step, part) == (WRITER, PARTS[0]) else right(asked)

    answer, _, requests = ask(says)
    assert [step for step, _ in requests] == [DECOMPOSER, WRITER, REFINER, WRITER, WRITER]
    assert f"By this query:\n{FIRST}\n" in requests[3][1]
    assert answer.sql == RIGHT


def test_a_trace_tells_the_sub_questions_and_the_query_for_each(ask: Ask, tmp_path: Path) -> None:
    answer, _, _ = ask(right, record=True)
    (path,) = tmp_path.rglob(f"{answer.trace_id}*.jsonl")
    trace = read_trace(find_trace(path.parent, answer.trace_id))
    told = [event["text"] for event in trace.events if event["kind"] == "sub_question"]
    assert told == [*PARTS, QUESTION]
    written = [
        (last["sql"], last.get("goal"))
        for step in trace.steps
        if step["step"] == WRITER
        for last in step["changes"]["candidates"][-1:]
    ]
    assert written == [(FIRST, PARTS[0]), (SECOND, PARTS[1]), (RIGHT, None)]


@pytest.mark.parametrize("calls", range(6))
def test_a_budget_that_ends_early_never_gives_a_part_for_the_answer(
    calls: int, database_files: dict[str, Path], tmp_path: Path
) -> None:
    def reply(asked: Asked) -> str:
        taken = "You take questions" in asked.prompt
        return TAKEN_APART if taken else QUERIES[asked_now(asked.prompt)]

    with (
        gate(Script(otherwise=reply)) as (model, _),
        api.open(
            database_files["shop"],
            recipe="mag",
            models={**scripted_models(), "llm": model},
            home=tmp_path / "home",
            prepare=False,
            record=False,
            stand_in=False,
            budget=f"{calls} calls",
        ) as session,
    ):
        answer, state = session.run(QUESTION)
    assert answer.usage.calls <= calls
    assert answer.sql == (RIGHT if calls else None)
    assert [one.goal for one in state.candidates] == ([""] if calls else [])
    assert bool(answer.warnings) is (calls < 4)


def counted(ask: Ask, says: Callable[[Asked], Any], name: str) -> Counter[str]:
    """The number of requests of each step, by an ablation."""
    one = find_ablation(name)
    assert one.recipe == "mag"
    return Counter(step for step, _ in ask(says, *one.overrides)[2])


def test_no_question_of_a_hundred_is_lost_where_a_fifth_of_the_replies_is_bad(
    database_files: dict[str, Path], tmp_path: Path
) -> None:
    answers, spoiled = ask_a_hundred(database_files["shop"], tmp_path, "mag", RIGHT, faulty=0.2)
    assert [answer.question for answer in answers if answer.sql is None] == []
    assert spoiled > 60
    # The model's own mistakes, which it didn't mend.
    failed = [answer.message for answer in answers if answer.status != "answered"]
    assert len(failed) < 5
    assert [message for message in failed if not message.startswith("the query failed: ")] == []


def fails(asked: Asked) -> Any:
    """A model that takes the question apart and writes nothing but errors, each another one."""
    return TAKEN_APART if asked.step == DECOMPOSER else f"SELECT wrong{asked.seed} FROM customers"


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("mag", {DECOMPOSER: 1, WRITER: 3, REFINER: 6}),
        ("without-decomposer", {WRITER: 1, REFINER: 2}),
        ("without-refiner", {DECOMPOSER: 1, WRITER: 3}),
        ("refined-once", {DECOMPOSER: 1, WRITER: 3, REFINER: 3}),
    ],
)
def test_an_agent_is_left_out(name: str, wanted: dict[str, int], ask: Ask) -> None:
    counts = counted(ask, fails, name)
    agents = {
        step: count for step, count in counts.items() if step in {DECOMPOSER, WRITER, REFINER}
    }
    assert agents == wanted


SUMMARIES, LINKER = "schema_linking.summarise_tables", "schema_linking.entities"
LARGE = (f"{SUMMARIES}.columns=0", f"{LINKER}.columns=0")
"""No schema is so small that nothing is linked."""


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("mag", {SUMMARIES, LINKER}),
        ("without-summaries", {LINKER}),
        ("without-linker", set()),
    ],
)
def test_a_part_of_the_linker_is_left_out(name: str, asked: set[str], ask: Ask) -> None:
    def says(one: Asked) -> Any:
        return None if one.step.startswith("schema_linking.") else right(one)

    overrides = find_ablation(name).overrides
    left = [
        one for one in LARGE if f"{one.partition('.columns')[0]}.enabled=false" not in overrides
    ]
    _, state, requests = ask(says, *overrides, *left)
    steps = Counter(step for step, _ in requests)
    assert {step for step in steps if step.startswith("schema_linking.")} == asked
    assert bool(state.summaries) is (SUMMARIES in asked)
    linked = [prompt for step, prompt in requests if step == LINKER]
    assert all((state.summaries[0].text in prompt) for prompt in linked if state.summaries)
    brief = [ref for ref in state.view.visible if state.view.detail(ref) is Detail.BRIEF]
    assert bool(brief) is (LINKER in asked)


def test_a_small_schema_is_shown_whole_without_a_call(ask: Ask) -> None:
    _, state, requests = ask(right)
    assert not [step for step, _ in requests if step.startswith("schema_linking.")]
    assert state.view.visible_schema().column_count == state.view.schema.column_count


def test_without_the_decomposer_the_question_is_asked_from_scratch(ask: Ask) -> None:
    answer, _, requests = ask(right, *find_ablation("without-decomposer").overrides)
    (prompt,) = [prompt for step, prompt in requests if step == WRITER]
    assert asked_now(prompt) == QUESTION
    assert "Answered already" not in prompt
    assert answer.sql == RIGHT


@pytest.mark.parametrize(("name", "found"), [("mag", True), ("without-values", False)])
def test_without_value_retrieval_no_stored_value_is_shown(name: str, found: bool, ask: Ask) -> None:
    _, state, requests = ask(right, *find_ablation(name).overrides)
    assert bool(state.values) is found
    written = [prompt for step, prompt in requests if step == WRITER]
    assert all(("Stored values that" in prompt) is found for prompt in written)
