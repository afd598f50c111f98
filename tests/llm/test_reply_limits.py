"""Limits of replies: text by step, reasoning on top, twice as many where one ends for length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.answering import Responder
from benchmarks.setting import Place, Watched, model_on, open_session

from sqlwright.events import ModelCalled
from sqlwright.llm.reply_limits import REASONING, ReplyLimits
from sqlwright.llm.scripted import Asked, Script, ScriptedEndpoint
from sqlwright.messages import Capabilities, Reply
from sqlwright.prompts.sampling import REPLY_TOKENS, Sampling
from sqlwright.spending import Budget
from sqlwright.types import Answer, State
from tests.llm.doubles import QUICK
from tests.llm.gates import a_run, gate, request, texts
from tests.llm.reasoning import Reasoning
from tests.llm.server import Answerer, ModelServer

SMALL = ("samples.count=2", "selection.generate_tests.tests=2")
WRITER = "generation.direct"


def asked_of(
    answer: Answerer, recipe: str, place: Place, overrides: Sequence[str]
) -> tuple[Answer, State, list[ModelCalled], ModelServer]:
    """A question through a whole recipe, with this model at an endpoint on loopback."""
    watched = Watched()
    with (
        ModelServer(answer=answer) as server,
        model_on(server, QUICK) as (model, _),
        open_session(place, recipe, model, overrides, record=False) as session,
    ):
        question = "List the names of the customers with the most orders."
        answer_, state = session.run(question, on_event=watched)
        assert server.idle()
    return answer_, state, watched.of(ModelCalled), server


def written(calls: Sequence[ModelCalled]) -> list[str]:
    """What the writer's samples say, in order."""
    return [text for call in calls if call.step == WRITER for text in texts(call.replies)]


@pytest.mark.parametrize("told", [True, False], ids=["told", "untold"])
@pytest.mark.parametrize(
    ("recipe", "overrides"), [("chess-ir-ss-cg", ()), ("chess-ir-cg-ut", SMALL)]
)
def test_a_model_that_thinks_loses_no_candidate_and_is_asked_nothing_twice(
    recipe: str,
    overrides: Sequence[str],
    told: bool,
    database_files: dict[str, Path],
    tmp_path: Path,
) -> None:
    place = Place(database_files["shop"], tmp_path / "home")
    plain, before, said, quick = asked_of(Responder(), recipe, place, overrides)
    thinking = Reasoning(Responder(), told=told)
    answer, after, calls, slow = asked_of(thinking, recipe, place, overrides)
    assert answer.status == plain.status == "answered"
    # Those of one step are sent side by side, and come back in any order.
    assert sorted(written(calls)) == sorted(written(said))
    assert [c.sql for c in after.candidates] == [c.sql for c in before.candidates]
    assert not [each for each in slow.seen if each.repeat]
    # The first reply teaches what the model takes; from then on it is given that at once.
    assert len(slow.seen) <= len(quick.seen) + 4
    reasoned = answer.usage.reasoning_tokens
    assert reasoned >= 10_000 * len(quick.seen) if told else reasoned == 0


def needing(tokens: int, text: str = "SELECT 1", seen: str = "") -> Script:
    """A model that gets to its reply only within so many tokens."""

    def says(asked: Asked) -> Reply:
        if asked.max_tokens < tokens:
            return Reply(seen, finish="length", reply_tokens=asked.max_tokens)
        return Reply(text, reply_tokens=tokens)

    return Script(otherwise=says)


def limits(endpoint: ScriptedEndpoint) -> list[int]:
    return [call.limit for call in endpoint.calls]


@pytest.mark.parametrize(("seen", "more"), [("", 1_000 + 24_576), ("SELECT 1 AS", 0)])
def test_a_reply_that_ends_for_length_is_asked_for_once_with_more_room(
    seen: str, more: int
) -> None:
    """With room for reasoning, where nothing but that can have taken the tokens."""
    with gate(needing(1_001, seen=seen)) as (model, endpoint):
        (samples,) = model.complete([request("q", seed=7)], a_run(), step="s")
    assert texts(samples) == ["SELECT 1"]
    assert limits(endpoint) == [1_000, max(2_000, 1_000 + more)]
    assert {call.seed for call in endpoint.calls} == {7}


def test_only_the_samples_that_were_cut_are_asked_for_again() -> None:
    def says(asked: Asked) -> Reply:
        cut = asked.seed == 2 and asked.max_tokens < 1_500
        return Reply("", finish="length") if cut else Reply(f"reply {asked.seed}")

    with gate(Script(otherwise=says)) as (model, endpoint):
        (samples,) = model.complete([request("q", n=4, seed=0)], a_run(), step="s")
    assert texts(samples) == ["reply 0", "reply 1", "reply 2", "reply 3"]
    assert [(call.n, call.seed, call.limit) for call in endpoint.calls] == [
        (4, 0, 1_000),
        (1, 2, 26_576),
    ]


@pytest.mark.parametrize(
    ("can", "asked"),
    [
        (Capabilities(n=True, reply_tokens=1_500), [1_000, 1_500]),
        (Capabilities(n=True, context_tokens=2_011), [1_000, 2_000]),
        (Capabilities(n=True, context_tokens=1_200), [1_000]),  # 191 more aren't worth a request
    ],
)
def test_a_limit_stays_within_model_and_context(can: Capabilities, asked: list[int]) -> None:
    def says(asked: Asked) -> Reply:
        return Reply(f"SELECT {asked.max_tokens}", finish="length")

    endpoint = ScriptedEndpoint(Script(otherwise=says), capabilities=can)
    with gate(endpoint=endpoint) as (model, _):
        (samples,) = model.complete([request("qq")], a_run(), step="s")
    assert limits(endpoint) == asked
    assert texts(samples) == [f"SELECT {asked[-1]}"]  # what there is of it, rather than nothing


def test_what_is_whole_is_taken_though_it_was_cut() -> None:
    script = Script(otherwise=Reply('{"a": 1} and so on', finish="length"))
    with gate(script) as (model, endpoint):
        whole = request("q", is_whole=lambda text: "}" in text)
        (samples,) = model.complete([whole], a_run(), step="s")
    assert texts(samples) == ['{"a": 1} and so on']
    assert limits(endpoint) == [1_000]


def test_without_budget_for_more_the_cut_reply_stands() -> None:
    with gate(Script(otherwise=Reply("SELECT 1", finish="length"))) as (model, endpoint):
        run = a_run(Budget(tokens=1_500))
        (samples,) = model.complete([request("q")], run, step="s")
    assert texts(samples) == ["SELECT 1"]
    assert run.spending.total.calls == len(endpoint.calls) <= 2


@pytest.mark.parametrize(
    ("settings", "can", "allowed"),
    [
        (ReplyLimits(), Capabilities(), 0),
        (ReplyLimits(), Capabilities(reasoning=True), REASONING["medium"]),
        (ReplyLimits(reasoning="high"), Capabilities(), REASONING["high"]),
        (ReplyLimits(reasoning="none"), Capabilities(reasoning=True), 0),
        (ReplyLimits(reasoning="high", reasoning_tokens=500), Capabilities(), 500),
    ],
)
def test_reasoning_comes_on_top_of_the_text(
    settings: ReplyLimits, can: Capabilities, allowed: int
) -> None:
    endpoint = ScriptedEndpoint(Script(otherwise="yes"), capabilities=replace(can, n=True))
    with gate(endpoint=endpoint, limits=settings) as (model, _):
        model.complete([request("q")], a_run(), step="s")
    assert limits(endpoint) == [1_000 + allowed]


def test_what_replies_took_is_given_to_the_next() -> None:
    with gate(needing(10_000)) as (model, endpoint):
        for prompt in ("first", "second"):
            model.complete([request(prompt)], a_run(), step="s")
    assert limits(endpoint) == [1_000, 26_576, 12_250]


def test_each_step_has_a_limit_of_its_own_unless_the_recipe_names_one() -> None:
    assert Sampling().reply_limit("retrieval.extract_keywords") == 512
    assert Sampling().reply_limit("generation.direct") == 4_096
    assert Sampling(max_tokens=99).reply_limit("retrieval.extract_keywords") == 99


def test_the_steps_with_limits_are_those_there_are() -> None:
    from sqlwright.recipes.registry import STEPS

    assert set(REPLY_TOKENS) - {"agent"} <= set(STEPS)
