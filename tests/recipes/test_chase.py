"""CHASE-SQL as a whole: who is asked what, how often, and what becomes of a bad endpoint."""

from __future__ import annotations

import itertools
import json
import re
import threading
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from benchmarks.answering import Responder
from benchmarks.llm_critical_path import longest, stages
from benchmarks.setting import Watched, model_on

from sqlwright import api
from sqlwright.events import ModelCalled
from sqlwright.llm.endpoint import Throttle
from sqlwright.llm.scripted import Asked
from sqlwright.recipes.ablation_lists import find_ablation
from tests.llm.server import ModelServer
from tests.recipes.asking import Ask, ask_a_hundred, ask_once
from tests.scripted import scripted_models

QUESTION = "Which customers are from Germany?"
RIGHT = "SELECT name FROM customers WHERE country = 'Germany'"
WRONG = "SELECT city FROM customers WHERE country = 'Germany'"
ERROR = "SELECT nme FROM customers"
EMPTY = "SELECT name FROM customers WHERE id = 99"
WRITER, FIXER, JUDGE, MAKER = (
    "generation.direct",
    "repair.revise",
    "selection.pairwise",
    "generation.make_examples",
)
GENERATORS = {
    "by divide and conquer": "Work by divide and conquer",
    "by query plan": "make a plan as the database's engine",
    "by examples": "Other questions about this database:",
}
BY_COLUMN = "like those above"
"""Words of the prompt for examples over linked columns, which that by SQL feature hasn't."""
EXAMPLES = json.dumps(
    {"examples": [{"question": "Who is there?", "sql": "SELECT name FROM customers"}]}
)


@pytest.fixture
def ask(database_files: dict[str, Path], tmp_path: Path) -> Ask:
    """A question through CHASE-SQL."""
    shop, home = database_files["shop"], tmp_path / "home"
    return partial(ask_once, shop, home, "chase", RIGHT, question=QUESTION)


def writing(query: Callable[[Asked], str | None]) -> Callable[[Asked], Any]:
    """Replies of a model that writes these queries and makes one example."""

    def says(asked: Asked) -> Any:
        if asked.step == MAKER:
            return EXAMPLES
        return query(asked) if asked.step in {WRITER, FIXER} else None

    return says


def test_three_generators_write_seven_candidates_each(ask: Ask) -> None:
    answer, state, requests = ask(writing(lambda asked: RIGHT))
    written = [prompt for step, prompt in requests if step == WRITER]
    for words in GENERATORS.values():
        mine = [prompt for prompt in written if words in prompt]
        assert len(mine) == 7
        assert len(set(mine)) > 1  # tables and columns stand in another order
    assert len(state.candidates) == len(written) == 21
    assert answer.sql == RIGHT
    assert answer.basis.agreeing == 21


def test_examples_are_made_once_and_columns_linked_for_them_alone(ask: Ask) -> None:
    _, _, requests = ask(writing(lambda asked: RIGHT))
    counts = Counter(step for step, _ in requests)
    assert counts[MAKER] == 2
    assert counts["schema_linking.select_tables"] == 1
    for step, prompt in requests:
        if step == WRITER:
            assert "Who is there?" in prompt or GENERATORS["by examples"] not in prompt
            assert all(f"CREATE TABLE {name} (" in prompt for name in ("customers", "lines"))


def test_examples_by_feature_are_made_while_columns_are_linked(ask: Ask) -> None:
    begun = threading.Event()
    waited: list[bool] = []

    def says(asked: Asked) -> Any:
        if asked.step == MAKER and BY_COLUMN not in asked.prompt:
            begun.set()
        if asked.step == "schema_linking.select_tables":
            waited.append(begun.wait(20))
        return writing(lambda one: RIGHT)(asked)

    ask(says, "samples.count=1")
    assert waited == [True]


def test_both_kinds_of_examples_follow_each_other_in_turn_and_come_once(ask: Ask) -> None:
    feature = [("Who is there?", "SELECT name FROM customers"), ("All?", "SELECT * FROM customers")]
    column = [("Where?", "SELECT city FROM customers"), ("Who?", "SELECT name  FROM customers;")]

    def says(asked: Asked) -> Any:
        if asked.step == MAKER:
            made = column if BY_COLUMN in asked.prompt else feature
            return json.dumps({"examples": [{"question": q, "sql": sql} for q, sql in made]})
        return writing(lambda one: RIGHT)(asked)

    _, _, requests = ask(says)
    shown = {
        tuple(re.findall(r"^Question: (.+)$", prompt.split("Other questions")[1], re.MULTILINE)[:3])
        for step, prompt in requests
        if step == WRITER and GENERATORS["by examples"] in prompt
    }
    assert shown == {("Who is there?", "Where?", "All?")}


def test_the_critical_path_takes_the_longer_way_to_the_examples(
    database_files: dict[str, Path], tmp_path: Path
) -> None:
    """Keywords, linking, examples over linked columns, a query: a second each. Examples by SQL
    feature are made beside the linking."""
    watched = Watched()
    with (
        ModelServer(answer=Responder(faulty=0.0)) as server,
        model_on(server, Throttle(concurrency=16, seconds=60.0)) as (model, _),
        api.open(
            database_files["shop"],
            recipe="chase",
            overrides=("samples.count=2", "selection.pairwise.enabled=false"),
            models=scripted_models(RIGHT, llm=model),
            home=tmp_path / "home",
            prepare=False,
            record=False,
        ) as session,
    ):
        session.ask(QUESTION, on_event=watched)
    calls = [one for one in watched.kept if isinstance(one, ModelCalled)]

    def path(feature: float) -> float:
        latencies = {}
        for one in calls:
            texts = tuple(str(message.text) for message in one.messages)
            by_feature = one.step == MAKER and not any(BY_COLUMN in text for text in texts)
            latencies[texts, one.seed] = feature if by_feature else 1.0
        return longest(stages(watched, latencies))

    assert sum(one.step == MAKER for one in calls) == 2
    assert [path(1.0), path(3.0), path(5.0)] == [4.0, 5.0, 7.0]


@pytest.mark.parametrize("clusters", [3, 4])
def test_every_two_results_meet_in_both_orders_once(clusters: int, ask: Ask) -> None:
    queries = [f"SELECT name FROM customers LIMIT {n}" for n in range(1, clusters + 1)]

    def says(asked: Asked) -> Any:
        if asked.step == JUDGE:
            return json.dumps({"reasoning": "", "better": "A"})
        return writing(lambda one: queries[one.seed % clusters])(asked)

    _, state, requests = ask(says)
    assert {one.sql for one in state.candidates} == set(queries)
    judged = [prompt for step, prompt in requests if step == JUDGE]
    pairs = [
        tuple(re.search(rf"Query {letter}:\n(.+)", prompt)[1] for letter in "AB")  # type: ignore[index]
        for prompt in judged
    ]
    assert sorted(pairs) == sorted(itertools.permutations(queries, 2))


def test_nobody_judges_where_all_agree(ask: Ask) -> None:
    _, _, requests = ask(writing(lambda asked: RIGHT))
    assert JUDGE not in {step for step, _ in requests}


def test_two_results_meet_twice_however_many_wrote_them(ask: Ask) -> None:
    def one_is_right(asked: Asked) -> str:
        return RIGHT if asked.seed % 5 == 0 or "Other questions" in asked.prompt else WRONG

    def says(asked: Asked) -> Any:
        if asked.step == JUDGE:
            first = asked.prompt.split("Query A:\n")[1].split("\n")[0]
            return json.dumps({"reasoning": "", "better": "A" if first == RIGHT else "B"})
        return writing(one_is_right)(asked)

    answer, state, requests = ask(says)
    assert len({one.sql for one in state.candidates}) == 2
    assert [step for step, _ in requests].count(JUDGE) == 2
    assert answer.sql == RIGHT


@pytest.mark.parametrize("faulty", [ERROR, EMPTY])
def test_the_fixer_mends_an_error_and_an_empty_result_in_at_most_three_rounds(
    faulty: str, ask: Ask
) -> None:
    few = "samples.count=1"
    _, state, requests = ask(writing(lambda asked: faulty if asked.step == WRITER else RIGHT), few)
    assert [step for step, _ in requests].count(FIXER) == 3  # one for each candidate
    assert {one.sql for one in state.candidates} == {RIGHT}
    tries = iter(range(99))

    def never(asked: Asked) -> str:
        return faulty if asked.step == WRITER else f"SELECT wrong{next(tries)} FROM customers"

    _, _, requests = ask(writing(never), few)
    assert [step for step, _ in requests].count(FIXER) == 3 * 3


def test_a_null_and_an_unknown_text_are_no_fault_for_the_fixer(ask: Ask) -> None:
    null = "SELECT max(city) FROM customers WHERE name = 'Nobody'"
    _, _, requests = ask(writing(lambda asked: null), "samples.count=1")
    assert FIXER not in {step for step, _ in requests}


def varied(asked: Asked) -> Any:
    """A model that writes two kinds of queries by turns, and judges."""
    by_seed = RIGHT if asked.seed % 2 else WRONG
    return writing(lambda one: by_seed)(asked)


def ablated(ask: Ask, name: str) -> tuple[Counter[str], list[str]]:
    """How often each step asked by an ablation, and the prompts of the writer."""
    one = find_ablation(name)
    assert one.recipe == "chase"
    says = writing(lambda asked: EMPTY) if "fix" in name else varied
    _, _, requests = ask(says, *one.overrides)
    prompts = [prompt for step, prompt in requests if step == WRITER]
    return Counter(step for step, _ in requests), prompts


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("chase", JUDGE),
        ("selector-self-consistency", ""),
        ("selector-ranker", "selection.ranker"),
        ("selector-random", ""),
        ("selector-multi-sample", "selection.multi_sample"),
        ("selector-independent", "selection.independent"),
        ("selector-letter", JUDGE),
        ("selector-logprobs", JUDGE),
        ("selector-critic", ""),
    ],
)
def test_a_selector_takes_the_place_of_another(name: str, asked: str, ask: Ask) -> None:
    counts, prompts = ablated(ask, name)
    assert len(prompts) == 21
    assert {step for step in counts if step.startswith("selection.")} == ({asked} - {""})
    assert counts[JUDGE] == (2 if asked == JUDGE else 0)


@pytest.mark.parametrize(
    ("name", "left", "each"),
    [
        ("without-division", {"by query plan", "by examples"}, 7),
        ("without-query-plan", {"by divide and conquer", "by examples"}, 7),
        ("without-examples", {"by divide and conquer", "by query plan"}, 7),
        ("one-by-division", {"by divide and conquer"}, 1),
        ("one-by-plan", {"by query plan"}, 1),
        ("one-by-examples", {"by examples"}, 1),
        ("ten-by-division-cool", {"by divide and conquer"}, 10),
        ("ten-by-division-hot", {"by divide and conquer"}, 10),
        ("ten-by-plan-cool", {"by query plan"}, 10),
        ("ten-by-plan-hot", {"by query plan"}, 10),
        ("ten-by-examples-cool", {"by examples"}, 10),
        ("ten-by-examples-hot", {"by examples"}, 10),
    ],
)
def test_generators_are_left_out(name: str, left: set[str], each: int, ask: Ask) -> None:
    counts, prompts = ablated(ask, name)
    wrote = Counter(
        kind for prompt in prompts for kind, words in GENERATORS.items() if words in prompt
    )
    assert wrote == dict.fromkeys(left, each)
    assert counts[MAKER] == (2 if "by examples" in left else 0)


def test_the_baseline_with_the_fixer_is_asked_as_the_baseline_is(
    ask: Ask, database_files: dict[str, Path], tmp_path: Path
) -> None:
    says = writing(lambda one: RIGHT if one.step == FIXER else ERROR)
    shop, home = database_files["shop"], tmp_path / "home"
    _, bare, plain = ask_once(shop, home, "baseline", RIGHT, says, question=QUESTION)
    _, fixed, requests = ask(says, *find_ablation("one-by-baseline").overrides)
    assert [one for one in requests if one[0] == WRITER] == plain
    assert {step for step, _ in requests} == {WRITER, FIXER}
    assert [[one.sql for one in state.candidates] for state in (bare, fixed)] == [[ERROR], [RIGHT]]


@pytest.mark.parametrize(
    "name",
    [
        "without-fixer",
        "one-by-plan-unfixed",
        "one-by-division-unfixed",
        "one-by-examples-unfixed",
    ],
)
def test_without_the_fixer_nothing_is_mended(name: str, ask: Ask) -> None:
    assert ablated(ask, name)[0][FIXER] == 0


def test_query_plans_have_a_short_form(ask: Ask) -> None:
    _, prompts = ablated(ask, "query-plan-short")
    shown = [prompt for prompt in prompts if "outline how the database's engine" in prompt]
    assert len(shown) == 7
    assert all("1. Scan " in prompt and "Deliver\n" not in prompt for prompt in shown)
    assert not any(GENERATORS["by query plan"] in prompt for prompt in prompts)


def test_without_lsh_no_stored_value_is_looked_up(ask: Ask) -> None:
    text = "Which customers live in Munchen?"
    shown = []
    for name in ("chase", "without-lsh"):
        overrides = find_ablation(name).overrides
        _, state, requests = ask(varied, *overrides, "samples.count=1", question=text)
        asked = "retrieval.extract_keywords" in {step for step, _ in requests}
        shown.append((bool(state.values), asked))
    assert shown == [(True, True), (False, False)]


@pytest.mark.parametrize(
    ("name", "kinds"), [("examples-by-feature", 1), ("examples-by-column", 1), ("chase", 2)]
)
def test_kinds_of_examples(name: str, kinds: int, ask: Ask) -> None:
    assert ablated(ask, name)[0][MAKER] == kinds


@pytest.mark.parametrize(("name", "used"), [("examples-unchecked", True), ("chase", False)])
def test_examples_are_used_as_they_are_written(name: str, used: bool, ask: Ask) -> None:
    wrong = EXAMPLES.replace("FROM customers", "FROM clients")

    def says(asked: Asked) -> Any:
        return wrong if asked.step == MAKER else varied(asked)

    _, _, requests = ask(says, *find_ablation(name).overrides, "samples.count=1")
    assert any("FROM clients" in prompt for step, prompt in requests if step == WRITER) is used


@pytest.mark.slow
def test_no_question_of_a_hundred_is_lost_where_a_fifth_of_the_replies_is_bad(
    database_files: dict[str, Path], tmp_path: Path
) -> None:
    answers, spoiled = ask_a_hundred(
        database_files["shop"], tmp_path, "chase", RIGHT, "samples.count=2", faulty=0.2
    )
    assert [answer.question for answer in answers if answer.status != "answered"] == []
    assert spoiled > 200
