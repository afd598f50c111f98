"""How sure an answer of a language model is: what there is to go by, no invented probability."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sqlwright import api
from sqlwright.cli.views.answer import answer_lines
from sqlwright.events import QueryExecuted
from sqlwright.llm.scripted import Script, ScriptedModel, When
from sqlwright.protocols import Run
from sqlwright.running.trace import find_trace, read_trace
from sqlwright.steps.selection.second_opinion import Work
from sqlwright.types import Answer, Basis, ExecutionResult, Sign
from tests.cli.rendering import look, rendered
from tests.scripted import ScriptedCritic, scripted_models

QUESTION = "How many customers live in Germany?"
COUNTED = "SELECT count(*) FROM customers WHERE country = 'Germany'"
ALSO = "SELECT count(id) FROM customers WHERE country = 'Germany'"
OTHER = "SELECT count(*) FROM customers"
NAMED = "SELECT name FROM customers WHERE country = 'Germany'"
BROKEN = "SELECT count(*) FROM nowhere"
SUMMED = "SELECT sum(o.total) FROM orders AS o JOIN lines AS l ON l.order_id = o.id"
SURE = ScriptedCritic(missing=())

Ask = Callable[..., Answer]


@pytest.fixture
def ask(database_files: dict[str, Path], tmp_path: Path) -> Ask:
    """Asks the shop by a recipe, with the queries a language model replies and those the embedded
    parser writes."""

    def asked(
        replies: Sequence[str],
        *written: str,
        recipe: str = "chess-ir-ss-cg",
        overrides: Sequence[str] = (),
        rules: Sequence[When] = (),
        critic: ScriptedCritic = SURE,
        question: str = QUESTION,
        **options: Any,
    ) -> Answer:
        queries = [f"```sql\n{sql}\n```" for sql in replies]
        script = Script([*rules, When("generation.direct", queries)], "no")
        models = scripted_models(*written, critic=critic) | {"llm": ScriptedModel(script)}
        with api.open(
            database_files["shop"],
            recipe=recipe,
            overrides=overrides,
            models=models,
            home=tmp_path / "home",
            **options,
        ) as session:
            return session.ask(question)

    return asked


def samples(number: int) -> tuple[str, str]:
    return f"samples.count={number}", "samples.workers=1"


def test_one_query_has_nothing_to_be_compared_with(ask: Ask) -> None:
    answer = ask([COUNTED], recipe="baseline")
    assert answer.confidence is None
    assert answer.basis == Basis("none", 1, 1)
    assert answer.doubt == ""
    assert "1 query, nothing to compare it with" in str(answer)
    assert "%" not in str(answer)


@pytest.mark.parametrize(
    ("replies", "agreeing", "of", "doubted"),
    [
        ([COUNTED, ALSO, OTHER, COUNTED], 3, 4, False),
        ([COUNTED, ALSO, BROKEN, OTHER], 2, 4, False),
        ([COUNTED, OTHER, BROKEN, SUMMED], 1, 4, True),
    ],
)
def test_samples_that_agree_are_counted(
    ask: Ask, replies: list[str], agreeing: int, of: int, doubted: bool
) -> None:
    answer = ask(replies, recipe="baseline", overrides=samples(4))
    assert answer.confidence is None
    assert answer.basis == Basis("agreement", agreeing, of)
    words = f"{agreeing} of {of} samples agree"
    assert words in str(answer)
    assert answer.doubt == (f"only {words}" if doubted else "")
    assert (f"Not sure: only {words}" in str(answer)) is doubted


def test_other_results_come_by_the_samples_behind_them(ask: Ask) -> None:
    replies = [COUNTED, OTHER, SUMMED, SUMMED, COUNTED, COUNTED]
    answer = ask(replies, recipe="baseline", overrides=samples(6))
    assert [candidate.sql for candidate in answer.alternatives] == [SUMMED, OTHER]
    assert all(candidate.confidence is None for candidate in answer.alternatives)


@pytest.mark.parametrize(
    ("written", "favours"), [((ALSO, OTHER), True), ((COUNTED,), True), ((NAMED, COUNTED), False)]
)
def test_the_embedded_models_own_answer_stands_beside_it(
    ask: Ask, written: tuple[str, ...], favours: bool
) -> None:
    critic = replace(SURE, probabilities={written[0]: 0.9})
    answer = ask([COUNTED], *written, critic=critic)
    assert answer.sql == COUNTED
    assert answer.answered_by == "language_model"
    (sign,) = answer.basis.signs
    assert (sign.kind, sign.favours) == ("second_opinion", favours)
    assert sign.text in str(answer)
    assert (answer.basis.agreeing, answer.basis.of) == (1, 1)
    assert answer.doubt == ""


def test_it_votes_in_nothing(ask: Ask) -> None:
    _ = (agreeing := ask([OTHER], COUNTED, ALSO))
    assert agreeing.sql == OTHER
    assert not agreeing.alternatives


def test_faults_that_a_machine_reads_are_told(ask: Ask) -> None:
    answer = ask([SUMMED], SUMMED, question="What is the total of all orders?")
    assert answer.sql == SUMMED
    told = [sign.text for sign in answer.basis.signs if sign.kind == "machine_check"]
    assert any("more than once" in text for text in told)


def test_a_phrase_that_its_query_leaves_out_is_a_reason_to_doubt_it(ask: Ask) -> None:
    answer = ask([OTHER], COUNTED)
    told = "nothing in this query stands for “Germany”; customers.country holds 'Germany': use it?"
    assert answer.sql == OTHER
    assert answer.doubt == told
    assert told in [sign.text for sign in answer.basis.signs if sign.kind == "machine_check"]
    assert str(answer).count(told) == 1
    assert answer.account is not None
    assert [phrase.text for phrase in answer.account.unanswered] == ["Germany"]
    phrases = answer.to_dict()["account"]["phrases"]
    (left,) = [phrase for phrase in phrases if phrase["text"] == "Germany"]
    assert left["value"]["column"] == "country"
    assert left["message"] == told


def test_a_query_that_answers_every_phrase_says_by_what(ask: Ask) -> None:
    answer = ask([COUNTED], COUNTED)
    assert answer.account is not None
    answers = {phrase.text: phrase.answer for phrase in answer.account.phrases}
    assert answers["Germany"] == "customers.country = 'Germany'"
    assert answers["How many"] == "a count"
    assert "nothing" not in str(answer).split("how sure")[0]
    assert "customers.country = &#39;Germany&#39;" in answer._repr_html_()


@pytest.mark.parametrize(("answerable", "doubted"), [(0.9, False), (0.1, True)])
def test_words_that_nothing_explains_are_told(ask: Ask, answerable: float, doubted: bool) -> None:
    critic = ScriptedCritic(missing=("moon",), answerable=answerable)
    answer = ask([COUNTED], NAMED, critic=critic)
    (sign,) = [one for one in answer.basis.signs if one.kind == "unexplained"]
    assert "“moon”" in sign.text
    assert (answer.doubt == sign.text) is doubted
    assert str(answer).count("“moon”") == 1


def test_unit_tests_that_it_passes_are_told(ask: Ask) -> None:
    verdict = json.dumps(
        {
            "reasoning": "",
            "verdicts": [
                {"number": 1, "verdict": "failed"},
                {"number": 2, "verdict": "passed"},
            ],
        }
    )
    answer = ask(
        [COUNTED, COUNTED, COUNTED, NAMED],
        recipe="chess-ir-cg-ut",
        overrides=("samples.count=2", "samples.workers=1", "parallel.workers=1"),
        rules=(
            When("selection.generate_tests", '["It names the customers."]'),
            When("selection.evaluate_tests", verdict),
        ),
    )
    assert answer.sql == NAMED
    assert answer.basis.signs[0] == Sign("tests", "it passes 1 of 1 unit tests", True)
    assert (answer.basis.agreeing, answer.basis.of) == (1, 4)
    assert answer.doubt == ""


def test_no_second_opinion_on_a_language_that_the_embedded_models_cannot_read(ask: Ask) -> None:
    answer = ask([COUNTED], OTHER, question="Wie viele Kunden wohnen in Deutschland?")
    assert (answer.sql, answer.basis.signs) == (COUNTED, ())


def test_what_takes_too_long_to_work_out_is_told(ask: Ask) -> None:
    answer = ask([COUNTED], OTHER, overrides=("second_opinion.seconds=0",))
    assert (answer.sql, answer.basis.signs) == (COUNTED, ())
    told = "there is no second opinion on the query: it takes over 0 s to work out"
    assert ("left_out", told) in [(note.kind, note.text) for note in answer.warnings]


def test_its_time_is_that_of_its_own_work_and_ends_with_the_question() -> None:
    """Waiting is no work; queries are, which other processes run; another thread's time isn't
    looked at."""
    now = [100.0]
    run = Run(seconds=1_000.0, clock=lambda: now[0])
    work = Work(run, 60.0)
    now[0] = 1_000.0
    assert work() < 60.0
    work.executed(QueryExecuted("SELECT 1", ExecutionResult(elapsed=50.0)))
    before = work()
    assert before >= 50.0
    with ThreadPoolExecutor(1) as other:
        other.submit(sum, range(100_000)).result()
        assert other.submit(work).result() == before
    now[0] = 1_100.0
    assert work() == 60.0


def test_it_can_be_left_out(ask: Ask) -> None:
    answer = ask([COUNTED], OTHER, overrides=("second_opinion.enabled=false",))
    assert answer.basis.signs == ()
    assert all(time.step != "selection.second_opinion" for time in answer.times)


def test_every_form_of_an_answer_has_it_and_none_a_percentage(ask: Ask, tmp_path: Path) -> None:
    answer = ask([COUNTED], NAMED)
    form = answer.to_dict()
    assert form["confidence"] is None
    assert form["basis"] == {
        "kind": "none",
        "agreeing": 1,
        "of": 1,
        "signs": [
            {
                "kind": "second_opinion",
                "text": "the embedded models give another result",
                "favours": False,
            }
        ],
        "fitted_to": "",
    }
    for shown in (
        str(answer),
        answer._repr_html_(),
        rendered(answer_lines(answer, look(100)), 100),
    ):
        assert "1 query, nothing to compare it with" in shown
        assert "the embedded models give another result" in shown
        assert " sure" not in shown.replace("how sure", "")
    trace = read_trace(find_trace(tmp_path / "home" / "traces", answer.trace_id))
    assert trace.answer["confidence"] is None
    assert trace.answer["basis"]["of"] == 1
    # The second opinion's own candidates are no step of the question.
    assert [time.step for time in answer.times].count("generation.embedded") == 0
    assert "selection.second_opinion" in [time.step for time in answer.times]


def test_a_fitted_probability_is_called_one(ask: Ask) -> None:
    answer = ask([], COUNTED, recipe="local", critic=replace(SURE, otherwise=0.8))
    assert (answer.confidence, answer.basis) == (0.8, Basis("calibrated"))
    assert "80%" in str(answer)


def test_words_are_of_no_matter_where_the_embedded_models_agree(ask: Ask) -> None:
    answer = ask([COUNTED], ALSO, critic=ScriptedCritic(missing=("moon",), answerable=0.9))
    assert [sign.kind for sign in answer.basis.signs] == ["second_opinion"]


def test_the_critic_says_how_sure_a_stand_in_is(ask: Ask) -> None:
    answer = ask(["no query"], COUNTED, critic=replace(SURE, otherwise=0.8))
    assert (answer.answered_by, answer.confidence) == ("stand_in", 0.8)
    assert answer.basis == Basis("calibrated")


def test_the_queries_of_a_stand_in_are_no_samples_that_agree(ask: Ask, tmp_path: Path) -> None:
    recipe = tmp_path / "unjudged.yaml"
    recipe.write_text(
        "name: unjudged\nsteps:\n  - samples: {count: 1, steps: [generation.direct]}\n"
        "  - stand_in:\n      steps: [retrieval.values, schema_linking.embedded, "
        "generation.embedded, repair.execution_guided]\n"
        "  - selection.largest_cluster\n"
    )
    answer = ask(["no query"], COUNTED, ALSO, NAMED, recipe=str(recipe))
    assert (answer.answered_by, answer.basis) == ("stand_in", Basis("none", 0, 3))
    assert "3 queries, nothing judged them" in str(answer)
