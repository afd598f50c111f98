"""Runs whose requests go in the vendors' batches: what is sent, what comes of every end of a batch,
and that nothing is paid for twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sqlwright.errors import ConfigError, UserError
from sqlwright.lab.datasets.example import Dataset
from sqlwright.lab.datasets.spider import load_spider
from sqlwright.lab.evaluation import records
from sqlwright.lab.evaluation.run import EvaluationSettings, evaluate
from sqlwright.llm.models import Models
from sqlwright.llm.options import LlmOptions, ModelOptions
from sqlwright.llm.prices import load_prices
from tests.evaluation.sets import GERMAN, spider_set
from tests.llm.asking import RECIPE
from tests.llm.batch_server import BatchServer
from tests.llm.server import ModelServer
from tests.waiting import comes

ASKED = {f"Who is German, number {n}?": GERMAN for n in range(4)}
PRICE = {"prompt_price": 1.0, "reply_price": 10.0}
VENDORS = ("openai-compatible", "anthropic")


@pytest.fixture
def dataset(tmp_path: Path, database_files: dict[str, Path]) -> Dataset:
    """Four questions; each takes two samples."""
    return load_spider(spider_set(tmp_path / "set", database_files["shop"], ASKED))


def settings(url: str, folder: Path, vendor: str, **more: Any) -> EvaluationSettings:
    recipe = folder / "plain.yaml"
    recipe.write_text(RECIPE)
    base = url.removesuffix("/v1") if vendor == "anthropic" else url
    model = ModelOptions(f"{vendor}/m", base_url=base, **PRICE)
    asked = EvaluationSettings(
        recipe=str(recipe),
        allow_code=True,
        home=folder / "home",
        llm=LlmOptions("m", models={"m": model}),
        executor="batches",
        pace=0.1,
    )
    return replace(asked, **more)


def says(body: Any) -> str:
    return GERMAN


def told(folder: Path) -> list[tuple[str, str | None, str]]:
    return [(one.id, one.sql, one.status) for one in records.read(folder)]


@pytest.mark.parametrize("vendor", VENDORS)
def test_questions_go_in_one_batch_and_answers_are_those_of_threads(
    dataset: Dataset, tmp_path: Path, vendor: str
) -> None:
    lines: list[str] = []
    with BatchServer(says, looks=2) as server:
        asked = settings(server.url, tmp_path, vendor)
        summary = evaluate(dataset, asked, tmp_path / "out", notice=lines.append)
        assert len(server.batches) == 1
        sent = len(server.requests)
        again = evaluate(dataset, asked, tmp_path / "again")
        assert len(server.batches) == 1
        assert server.alone == []
    with ModelServer(answer=lambda _: GERMAN) as alone:
        beside = settings(alone.url, tmp_path, vendor, executor="threads", home=tmp_path / "other")
        evaluate(dataset, beside, tmp_path / "threads")
    assert told(tmp_path / "out") == told(tmp_path / "threads") == told(tmp_path / "again")
    assert sent == 8
    assert summary["usage"]["in all"]["calls"] == sent
    assert again["fresh"]["usage"]["in all"]["calls"] == sent
    assert again["fresh"]["tokens"] == summary["fresh"]["tokens"]
    assert any("batch batch_0 sent with" in line for line in lines)
    assert any("in_progress" in line for line in lines)
    for body in server.requests:
        assert "stream" not in body


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_request_that_failed_in_a_batch_is_what_it_is_alone(
    dataset: Dataset, tmp_path: Path, vendor: str
) -> None:
    """What failed for a passing reason goes in the next batch; what was refused fails."""

    def fails(body: Any) -> int:
        text = json.dumps(body["messages"])
        passing = "number 1" in text and len(server.batches) == 1
        return 400 if "number 2" in text else 529 if passing else 0

    with BatchServer(says, fails=fails) as server:
        evaluate(dataset, settings(server.url, tmp_path, vendor), tmp_path / "out")
        first, second = server.batches.values()
        assert len(first.requests) == 8
        assert len(second.requests) == 2
        assert all("number 1" in json.dumps(body) for body in second.requests.values())
    statuses = {one.question: one.status for one in records.read(tmp_path / "out")}
    assert statuses == {q: "failed" if "number 2" in q else "answered" for q in ASKED}


@pytest.mark.parametrize("vendor", VENDORS)
def test_what_expired_in_a_batch_goes_in_the_next(
    dataset: Dataset, tmp_path: Path, vendor: str
) -> None:
    with BatchServer(says, ends=["expired"]) as server:
        evaluate(dataset, settings(server.url, tmp_path, vendor), tmp_path / "out")
        first, second = server.batches.values()
        assert len(second.requests) == len(first.requests) // 2
    assert {one.status for one in records.read(tmp_path / "out")} == {"answered"}


@pytest.mark.parametrize("vendor", VENDORS)
def test_a_cancelled_batch_ends_the_run_which_goes_on_without_paying_twice(
    dataset: Dataset, tmp_path: Path, vendor: str
) -> None:
    with BatchServer(says, ends=["cancelled"]) as server:
        asked = settings(server.url, tmp_path, vendor)
        with pytest.raises(UserError, match=r"batch_0 at .*cancelled.*--resume"):
            evaluate(dataset, asked, tmp_path / "out")
        assert all(one.status == "answered" for one in records.read(tmp_path / "out"))
        evaluate(dataset, asked, tmp_path / "out")
        assert len(server.requests) == len(server.batches["batch_0"].requests)
    assert len(records.read(tmp_path / "out")) == 4
    assert {one.status for one in records.read(tmp_path / "out")} == {"answered"}


KILLED = """
import sys
from pathlib import Path
from sqlwright.lab.datasets.spider import load_spider
from sqlwright.lab.evaluation.run import evaluate
from tests.evaluation.test_batches import settings

folder = Path(sys.argv[2])
evaluate(load_spider(folder / "set"), settings(sys.argv[1], folder, sys.argv[3]), folder / "out")
"""


def test_a_run_that_was_killed_takes_up_the_batch_that_it_sent(
    dataset: Dataset, tmp_path: Path
) -> None:
    with BatchServer(says, ends=["open"]) as server:
        asked = settings(server.url, tmp_path, VENDORS[0])
        process = subprocess.Popen(
            [sys.executable, "-c", KILLED, server.url, str(tmp_path), VENDORS[0]]
        )
        assert comes(lambda: was_sent(tmp_path))
        process.kill()
        process.wait(60)
        goes_on(server, dataset, asked, tmp_path)


def test_a_run_that_was_interrupted_takes_up_the_batch_that_it_sent(
    dataset: Dataset, tmp_path: Path
) -> None:
    def interrupt() -> None:
        comes(lambda: was_sent(tmp_path))
        os.kill(os.getpid(), signal.SIGINT)

    with BatchServer(says, ends=["open"]) as server:
        asked = settings(server.url, tmp_path, VENDORS[1])
        asked = replace(asked, llm=replace(asked.llm, cache=False))
        threading.Thread(target=interrupt).start()
        with pytest.raises(KeyboardInterrupt):
            evaluate(dataset, asked, tmp_path / "out")
        goes_on(server, dataset, asked, tmp_path)


def was_sent(folder: Path) -> bool:
    journal = folder / "out" / "batches.jsonl"
    return journal.exists() and journal.read_text().endswith("\n")


def goes_on(server: BatchServer, dataset: Dataset, asked: EvaluationSettings, folder: Path) -> None:
    """A run that has sent its first batch ends with the answers of that one."""
    assert records.read(folder / "out") == []
    server.batches["batch_0"].end = "completed"
    evaluate(dataset, asked, folder / "out")
    assert len(server.batches) == 1
    assert [one.status for one in records.read(folder / "out")] == ["answered"] * 4


def test_a_batch_that_its_vendor_refuses_ends_the_run_in_its_words(
    dataset: Dataset, tmp_path: Path
) -> None:
    with BatchServer(says, ends=["failed"]) as server:
        asked = settings(server.url, tmp_path, "openai-compatible")
        with pytest.raises(UserError, match="model not found in line 1"):
            evaluate(dataset, asked, tmp_path / "out")
    with (
        BatchServer(says, refuses=[403]) as server,
        pytest.raises(UserError, match="403"),
    ):
        evaluate(dataset, settings(server.url, tmp_path, "anthropic"), tmp_path / "other")
    assert records.read(tmp_path / "out") == records.read(tmp_path / "other") == []


def test_a_vendor_without_time_for_a_batch_is_asked_again(dataset: Dataset, tmp_path: Path) -> None:
    with BatchServer(says, refuses=[503, 429]) as server:
        evaluate(dataset, settings(server.url, tmp_path, "anthropic", pace=0.005), tmp_path / "out")
        assert len(server.requests) == 8
    assert {one.status for one in records.read(tmp_path / "out")} == {"answered"}


def test_steps_after_one_another_go_in_batches_after_one_another(
    dataset: Dataset, tmp_path: Path
) -> None:
    with BatchServer(lambda _: "no query at all") as server:
        asked = settings(
            server.url, tmp_path, "openai-compatible", recipe="baseline", stand_in=False
        )
        evaluate(dataset, asked, tmp_path / "out")
        sizes = [len(batch.requests) for batch in server.batches.values()]
    assert len(sizes) > 1
    assert sizes[0] == 4


@pytest.mark.parametrize("vendor", ["google"])
def test_a_model_without_batches_is_refused(dataset: Dataset, tmp_path: Path, vendor: str) -> None:
    asked = settings("http://127.0.0.1:9", tmp_path, vendor)
    with pytest.raises(ConfigError, match="no batches are known"):
        evaluate(dataset, asked, tmp_path / "out")


class NoBatches:
    """Batches that nothing is asked of."""

    def transport(self, address: Any) -> Any:
        raise AssertionError


@pytest.mark.parametrize(
    ("entry", "share"),
    [
        (ModelOptions("openai/gpt-4.1"), 0.5),
        (ModelOptions("openai/gpt-4.1", prompt_price=2.0, reply_price=8.0), 1.0),
    ],
)
def test_what_a_user_says_of_a_price_holds_in_batches(entry: ModelOptions, share: float) -> None:
    options = LlmOptions("m", models={"m": entry}, batches=NoBatches())
    environ = {"OPENAI_API_KEY": "k"}
    model: Any = Models({}, options, environ=environ)["llm"]
    assert model.price.cost(1_000_000, 0) == pytest.approx(2.0 * share)


def test_batches_cost_half_at_the_vendors_that_say_so() -> None:
    prices = load_prices()
    assert prices.batches == {"anthropic": 0.5, "openai": 0.5}
    whole = prices.of("openai/gpt-4.1")
    assert whole is not None
    half = whole.times(0.5)
    assert half.cost(1_000, 500, 300) == pytest.approx(whole.cost(1_000, 500, 300) / 2)
