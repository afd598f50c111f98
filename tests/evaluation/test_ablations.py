"""Each shipped ablation does what its name says: judged by what is really asked and written."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from sqlwright import api
from sqlwright.llm.scripted import Asked, Script, ScriptedModel, When
from sqlwright.recipes.ablation_lists import ablations, find_ablation
from sqlwright.types import Answer, State
from tests.evaluation.sets import GERMAN, SWEDISH
from tests.scripted import scripted_models

QUESTION = "Which customers are from Germany?"
KEYWORDS, DIRECT, REVISE, TESTS, JUDGE = (
    "retrieval.extract_keywords",
    "generation.direct",
    "repair.revise",
    "selection.generate_tests",
    "selection.evaluate_tests",
)
FILTER, TABLES, COLUMNS = (
    f"schema_linking.{name}" for name in ("filter_columns", "select_tables", "select_columns")
)
CITY = "the town where the customer lives"
PLACED = "the day on which the order came in"


@dataclass
class Ran:
    """One question, answered by an ablation with a model that follows a script."""

    answer: Answer
    state: State
    requests: list[tuple[str, str, str]]
    """Model, step and prompt."""

    def prompts(self, step: str) -> list[str]:
        return [prompt for _, name, prompt in self.requests if name == step]

    def steps(self) -> set[str]:
        return {name for _, name, _ in self.requests}

    def models(self, step: str) -> set[str]:
        return {model for model, name, _ in self.requests if name == step}


def judged(asked: Asked) -> str:
    """The first query or test passes, no other."""
    number = int(re.findall(r"each of the (\d+) (?:quer|test)", asked.prompt)[-1])
    verdicts = [
        {"number": n, "verdict": "passed" if n == 1 else "failed"} for n in range(1, number + 1)
    ]
    return json.dumps({"reasoning": "", "verdicts": verdicts})


def written_tests(asked: Asked) -> str:
    number = int(re.findall(r"Write (\d+) test", asked.prompt)[-1])
    return json.dumps({"reasoning": "", "tests": [f"It is test {n}." for n in range(number)]})


def script(writes: Any) -> Script:
    attempts = count()
    chosen = [{"table": "customers", "columns": ["name", "country"]}]
    filtered = [
        {"table": "customers", "columns": ["name", "country", "city"]},
        {"table": "orders", "columns": ["placed"]},
    ]
    return Script([
        When(KEYWORDS, '["Germany", "customers"]'),
        When(lambda asked: asked.step == FILTER and "You are shown one column" in asked.prompt,
             '{"reasoning": "", "relevant": "yes"}'),
        When(FILTER, json.dumps({"reasoning": "", "tables": filtered})),
        When(TABLES, '{"reasoning": "", "tables": ["customers"]}'),
        When(COLUMNS, json.dumps({"reasoning": "", "tables": chosen})),
        When(DIRECT, writes),
        When(REVISE, lambda asked: f"SELECT wrong{next(attempts)} FROM customers"),
        When(TESTS, written_tests),
        When(JUDGE, judged),
    ])  # fmt: skip


@pytest.fixture
def ran(tmp_path: Path, database_files: dict[str, Path]) -> Callable[..., Ran]:
    described = tmp_path / "described"
    described.mkdir()
    for table, column, text in (("customers", "city", CITY), ("orders", "placed", PLACED)):
        with (described / f"{table}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["original_column_name", "column_name", "column_description",
                             "data_format", "value_description"])  # fmt: skip
            writer.writerow([column, "", text, "", ""])

    def run(name: str, writes: Any = GERMAN, question: str = QUESTION) -> Ran:
        one = find_ablation(name)
        plot = script(writes)
        names = set(re.findall(r"\.model=(\S+)", " ".join(one.overrides)))
        asked = {model: ScriptedModel(plot, name=model) for model in ("llm", *names)}
        with api.open(
            database_files["shop"],
            recipe=one.recipe,
            overrides=one.overrides,
            descriptions=described,
            home=tmp_path / "home",
            models=scripted_models(GERMAN, **asked),
            prepare=False,
            record=False,
        ) as session:
            answer, state = session.run(question)
        requests = [
            (model, step, "\n\n".join(str(message.text) for message in request.messages))
            for model, scripted in asked.items()
            for step, request in scripted.requests
        ]
        return Ran(answer, state, requests)

    return run


FAULTY = "SELECT nonsense FROM customers"


def test_all_tools_are_asked(ran: Callable[..., Ran]) -> None:
    whole = ran("all-tools", FAULTY)
    assert whole.steps() == {KEYWORDS, FILTER, TABLES, COLUMNS, DIRECT, REVISE}
    assert whole.state.values
    assert len(whole.prompts(REVISE)) == 3
    assert len(whole.prompts(FILTER)) == 1
    assert "quantity INTEGER" not in whole.prompts(TABLES)[0]


def test_without_retrieval_nothing_is_looked_up(ran: Callable[..., Ran]) -> None:
    found = ran("without-retrieval", question="Who lives in the town of Munich?")
    assert (found.state.values, found.state.descriptions) == ((), ())
    assert KEYWORDS not in found.steps()
    assert ran("chess-ir-ss-cg", question="Who lives in the town of Munich?").state.values


def test_without_retrieval_all_descriptions_and_a_random_example_are_shown(
    ran: Callable[..., Ran],
) -> None:
    """Section 4.3: "we retrieved a random example and included column descriptions for all"."""
    found = ran("without-retrieval", FAULTY)
    for step in (TABLES, COLUMNS):
        assert CITY in found.prompts(step)[0], step
    (written, whole) = (last_schema(f.prompts(DIRECT)[0]) for f in (found, ran("all-tools")))
    values = "Germany", "Denmark", "Sweden"
    assert sum(f"'{value}'" in whole for value in values) == 3
    assert sum(f"'{value}'" in written for value in values) == 1


def test_without_context_values_are_still_found(ran: Callable[..., Ran]) -> None:
    found = ran("without-context")
    assert found.state.values
    assert found.state.descriptions == ()
    assert not any(CITY in prompt for _, _, prompt in found.requests)
    whole = ran("chess-ir-ss-cg")
    assert whole.state.descriptions
    assert any(CITY in prompt for _, _, prompt in whole.requests)


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("without-filter-column", FILTER),
        ("without-select-tables", TABLES),
        ("without-select-columns", COLUMNS),
        ("without-revise", REVISE),
    ],
)
def test_without_a_tool_it_alone_is_never_asked(
    ran: Callable[..., Ran], name: str, step: str
) -> None:
    assert ran("all-tools", FAULTY).steps() - ran(name, FAULTY).steps() == {step}


def last_schema(prompt: str) -> str:
    """What comes after the worked examples' schemas: that of the question."""
    return prompt.rpartition("CREATE TABLE customers")[2]


def test_what_a_tool_would_have_taken_away_is_shown_without_it(ran: Callable[..., Ran]) -> None:
    assert "city" not in last_schema(ran("all-tools").prompts(DIRECT)[0])
    assert "city" in last_schema(ran("without-select-columns").prompts(DIRECT)[0])
    assert "quantity INTEGER" not in ran("all-tools").prompts(TABLES)[0]
    assert "quantity INTEGER" in ran("without-filter-column").prompts(TABLES)[0]
    assert "placed" not in last_schema(ran("all-tools").prompts(COLUMNS)[0])
    assert "placed" in last_schema(ran("without-select-tables").prompts(COLUMNS)[0])


def test_one_revision_is_one(ran: Callable[..., Ran]) -> None:
    assert len(ran("one-revision", FAULTY).prompts(REVISE)) == 1


def check_one_call_a_column(prompts: list[str]) -> None:
    named = [re.findall(r"^Table: (\w+)\nColumn: (\w+)$", p, re.MULTILINE) for p in prompts]
    judged = [columns[-1] for columns in named]
    assert all("You are shown one column" in prompt for prompt in prompts)
    assert len(set(judged)) == len(prompts)
    assert {("lines", "quantity"), ("orders", "total"), ("orders", "placed")} <= set(judged)


def test_the_filter_asks_once_for_each_column(ran: Callable[..., Ran]) -> None:
    check_one_call_a_column(ran("filter-per-column").prompts(FILTER))
    assert "You are shown columns" in ran("all-tools").prompts(FILTER)[0]


def test_the_embedded_filter_asks_nothing_and_narrows(ran: Callable[..., Ran]) -> None:
    found = ran("filter-embedded")
    assert FILTER not in found.steps()
    assert found.state.columns


@pytest.fixture
def alternating() -> Callable[[Asked], str]:
    turns = count()
    return lambda asked: SWEDISH if next(turns) == 0 else GERMAN


def shown_tests(prompt: str) -> int:
    return len(set(re.findall(r"It is test \d+\.", prompt)))


@pytest.mark.parametrize(
    ("name", "number"), [("tests-1", 1), ("tests-5", 5), ("tests-10", 10), ("tests-20", 20)]
)
def test_so_many_tests_are_judged(
    ran: Callable[..., Ran], name: str, number: int, alternating: Any
) -> None:
    found = ran(name, alternating)
    assert re.search(rf"Write {number} test", found.prompts(TESTS)[0])
    assert len(found.prompts(JUDGE)) == number


def test_without_tests_the_most_frequent_result_is_taken(
    ran: Callable[..., Ran], alternating: Any
) -> None:
    found = ran("tests-0", alternating)
    assert {TESTS, JUDGE} & found.steps() == set()
    assert found.answer.sql == GERMAN


def test_the_whole_recipe_asks_for_ten(ran: Callable[..., Ran], alternating: Any) -> None:
    assert "Write 10 tests" in ran("chess-ir-cg-ut", alternating).prompts(TESTS)[0]


def test_a_candidate_is_judged_by_all_tests(ran: Callable[..., Ran], alternating: Any) -> None:
    prompts = ran("tests-per-candidate", alternating).prompts(JUDGE)
    assert [shown_tests(prompt) for prompt in prompts] == [10, 10]
    both = [SWEDISH.rpartition(" ")[2], GERMAN.rpartition(" ")[2]]
    assert all(sum(f"country = {country}" in prompt for country in both) == 1
               for prompt in prompts)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "candidates", "selected"),
    [
        ("pass-at-1", 1, False),
        ("pass-at-5", 5, False),
        ("pass-at-1-selected", 1, True),
        ("pass-at-5-selected", 5, True),
    ],
)
def test_so_many_candidates_over_the_schema(
    ran: Callable[..., Ran], name: str, candidates: int, selected: bool
) -> None:
    found = ran(name)
    assert len(found.prompts(DIRECT)) == candidates
    assert ({FILTER, TABLES, COLUMNS} <= found.steps()) is selected
    assert all(("quantity" in p.rpartition("CREATE TABLE customers")[2]
                or "CREATE TABLE lines" in p) is not selected
               for p in found.prompts(DIRECT))  # fmt: skip


G35, G4 = "openai/gpt-3.5-turbo", "openai/gpt-4-turbo"
TUNED, LLAMA = "vllm/deepseek-coder-tuned", "vllm/llama-3-70b"


@pytest.mark.parametrize(
    ("name", "filtering", "writing", "rest"),
    [
        ("engines-gpt35-tuned-gpt4", G35, TUNED, G4),
        ("engines-gpt35-gpt4-gpt4", G35, G4, G4),
        ("engines-gpt35", G35, G35, G35),
        ("engines-llama", LLAMA, LLAMA, LLAMA),
        ("engines-llama-tuned", LLAMA, TUNED, LLAMA),
    ],
)
def test_an_engine_list_has_each_model_do_its_part(
    ran: Callable[..., Ran], name: str, filtering: str, writing: str, rest: str
) -> None:
    found = ran(name, FAULTY)
    assert found.models(FILTER) == {filtering}
    assert found.models(DIRECT) == {writing}
    for step in (KEYWORDS, TABLES, COLUMNS, REVISE):
        assert found.models(step) == {rest}, step
    check_one_call_a_column(found.prompts(FILTER))
    tuned = ran("chess-ir-ss-cg").prompts(DIRECT)[0]
    assert (len(found.prompts(DIRECT)[0]) < len(tuned) / 2) is (writing == TUNED)


def test_no_list_is_without_a_test() -> None:
    folder = Path(__file__).parents[1]
    files = [Path(__file__), *folder.glob("recipes/test_*.py")]
    text = "".join(file.read_text(encoding="utf-8") for file in files)
    assert [name for name in ablations() if f'"{name}"' not in text] == []
