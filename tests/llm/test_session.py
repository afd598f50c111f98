"""Sessions that ask a language model: usage, budgets, the cache, traces that replays repeat."""

from __future__ import annotations

import json
import random
import re
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sqlwright import api
from sqlwright.errors import ConfigError
from sqlwright.llm.keeping.recording import Recorder
from sqlwright.llm.options import LlmOptions
from sqlwright.llm.scripted import Asked, Script, ScriptedEndpoint, ScriptedModel
from sqlwright.running.trace import find_trace, read_trace
from sqlwright.types import Answer
from tests.llm.asking import RECIPE
from tests.llm.gates import gate
from tests.llm.server import ModelServer, constant

SQL = "SELECT count(*) FROM customers"
QUESTION = "How many customers live in Munchen?"

SAMPLES = """
name: sampled
steps:
  - retrieval.values
  - samples: {count: 6, workers: WORKERS, steps: [tests.llm.asking:AskPlainly: {n: 2}]}
  - repair.execution_guided
  - selection.first_valid
"""


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    path = tmp_path / "plain.yaml"
    path.write_text(RECIPE)
    return path


@pytest.fixture
def ask(database_files: dict[str, Path], plain: Path, tmp_path: Path) -> Callable[..., Answer]:
    """Asks the shop with the plain recipe."""

    def asked(**options: Any) -> Answer:
        options = {"recipe": str(plain), "home": tmp_path / "home", "environ": {}} | options
        with api.open(database_files["shop"], allow_code=True, **options) as session:
            return session.ask(QUESTION)

    return asked


def test_an_answer_says_what_it_cost_by_step(ask: Callable[..., Answer]) -> None:
    with gate(SQL) as (model, _):
        answer = ask(models={"llm": model})
    assert answer.status == "answered"
    assert answer.usage.calls == 1
    assert set(answer.usage_by_step) == {"ask_plainly"}
    assert answer.usage_by_step["ask_plainly"] == answer.usage
    form = answer.to_dict()
    assert form["usage_by_step"]["ask_plainly"]["prompt_tokens"] == answer.usage.prompt_tokens > 0


def test_no_model_for_a_recipe_that_needs_one_is_told(ask: Callable[..., Answer]) -> None:
    with pytest.raises(ConfigError) as caught:
        ask()
    assert "-m provider/model" in caught.value.hint


def test_a_budget_that_does_not_reach_leaves_the_step_out_and_says_so(
    ask: Callable[..., Answer],
) -> None:
    with gate(SQL) as (model, endpoint):
        answer = ask(models={"llm": model}, budget="0 calls")
    assert endpoint.calls == []
    assert answer.status == "failed"
    assert any("budget" in warning.text for warning in answer.warnings)


def test_the_same_question_is_not_paid_for_twice_unless_told(
    ask: Callable[..., Answer], tmp_path: Path
) -> None:
    with ModelServer(answer=lambda _: SQL) as server:
        options = {"model": "openai-compatible/m", "base_url": server.url}
        first = ask(**options)
        second = ask(**options)
        assert (first.usage.calls, first.usage.cached) == (2, 0)
        assert (second.usage.calls, second.usage.cached) == (0, 2)
        assert second.rows == first.rows
        assert ask(**options, cache=False).usage.calls == 2
        assert ask(**options, record=False).usage.calls == 2
        assert len(server.seen) == 6
    assert len(list((tmp_path / "home" / "replies").rglob("*.json"))) == 2


def test_the_trace_has_every_call_with_the_origin_of_its_text(
    ask: Callable[..., Answer], tmp_path: Path
) -> None:
    with gate(SQL) as (model, _):
        answer = ask(models={"llm": model})
    trace = read_trace(find_trace(tmp_path / "home" / "traces", answer.trace_id))
    (call,) = [event for event in trace.events if event["kind"] == "call"]
    assert (call["step"], call["model"], call["n"]) == ("ask_plainly", "scripted/model", 2)
    origins = [origin for origin, _ in call["messages"][0]["text"]]
    assert origins[0] == "template"
    assert {"schema", "value", "question"} <= set(origins)
    assert [reply["text"] for reply in call["replies"]] == [SQL, SQL]
    assert trace.answer["usage_by_step"]["ask_plainly"]["calls"] == 1
    assert (trace.start["privacy"], trace.start["budget"]) == ("full", "no limit")


CLOCKS = re.compile(r'"((kept_)?seconds|elapsed)": [0-9.e-]+')


def without_clocks(path: Path) -> str:
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    for key in ("id", "time"):
        lines[0].pop(key)
    for line in lines:
        line.pop("times", None)
    return CLOCKS.sub("", "\n".join(json.dumps(line, sort_keys=True) for line in lines))


def test_two_runs_over_one_recording_leave_the_same_trace_with_pools_or_without(
    ask: Callable[..., Answer], tmp_path: Path
) -> None:
    recipes = {}
    for workers in (1, 6):
        recipes[workers] = tmp_path / f"workers{workers}" / "sampled.yaml"
        recipes[workers].parent.mkdir()
        recipes[workers].write_text(SAMPLES.replace("WORKERS", str(workers)))
    path = tmp_path / "run.jsonl"

    def reply(asked: Asked) -> str:
        return f"SELECT {asked.seed % 3}"

    with gate(Script(otherwise=reply), recorder=Recorder(path)) as (model, _):
        ask(models={"llm": model}, recipe=str(recipes[6]))
    traces = []
    for workers in (1, 6, 6):
        home = tmp_path / f"home{len(traces)}"
        answer = ask(llm=LlmOptions(replay=path), recipe=str(recipes[workers]), home=home)
        assert answer.status == "answered"
        assert answer.usage.cached == 12
        traces.append(without_clocks(find_trace(home / "traces", answer.trace_id)))
    traces = [re.sub(r'"workers": \d+', "", trace) for trace in traces]
    assert traces[0] == traces[1] == traces[2]


def test_cancelled_at_any_moment_the_best_at_hand_is_there_at_once(
    database_files: dict[str, Path], plain: Path, tmp_path: Path
) -> None:
    generator = random.Random(7)
    with (
        ModelServer(answer=lambda _: SQL, latency=constant(0.15)) as server,
        api.open(
            database_files["shop"],
            recipe=str(plain),
            allow_code=True,
            home=tmp_path / "home",
            model="openai-compatible/m",
            base_url=server.url,
            cache=False,
        ) as session,
    ):
        session.warm()
        for _ in range(20):
            cancelled = threading.Event()
            timer = threading.Timer(generator.uniform(0, 0.4), cancelled.set)
            timer.start()
            answer = session.ask(QUESTION, cancelled=cancelled)
            assert answer.status in {"answered", "failed"}
            timer.join()
            assert server.idle(within=2.0)
    for path in (tmp_path / "home").rglob("*.jsonl"):
        assert path.read_text().endswith("\n")


def test_a_scripted_model_takes_the_place_of_any(ask: Callable[..., Answer]) -> None:
    double = ScriptedModel(Script(otherwise=SQL))
    assert ask(models={"llm": double}).status == "answered"
    assert double.requests[0][0] == "ask_plainly"


def test_closing_a_session_closes_its_models(
    database_files: dict[str, Path], plain: Path, tmp_path: Path
) -> None:
    with ModelServer(answer=lambda _: SQL, latency=constant(30)) as server:
        session = api.open(
            database_files["shop"], recipe=str(plain), allow_code=True,
            home=tmp_path / "home", model="openai-compatible/m", base_url=server.url,
        )  # fmt: skip
        answers: list[Answer] = []
        asking = threading.Thread(target=lambda: answers.append(session.ask(QUESTION)))
        asking.start()
        while not server.seen:
            time.sleep(0.005)
        session.close()
        asking.join(5)
        assert [answer.status for answer in answers] == ["failed"]
        assert server.idle()


def test_the_time_of_an_answer_is_that_of_the_clock(
    ask: Callable[..., Answer], tmp_path: Path
) -> None:
    recipe = tmp_path / "sampled.yaml"
    recipe.write_text(SAMPLES.replace("WORKERS", "6"))
    endpoint = ScriptedEndpoint(Script(otherwise=SQL), seconds=0.05)
    with gate(endpoint=endpoint) as (model, _):
        answer = ask(models={"llm": model}, recipe=str(recipe))
    asking = [time.seconds for time in answer.times if time.step.endswith("AskPlainly")]
    assert len(asking) == 6
    assert max(asking) <= answer.seconds
    assert answer.to_dict()["seconds"] == pytest.approx(answer.seconds, abs=1e-6)
