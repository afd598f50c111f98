"""What a run takes with nothing in the cache is told whether or not its replies were at hand."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sqlwright.lab.datasets.spider import load_spider
from sqlwright.lab.evaluation import records
from sqlwright.lab.evaluation.ablation import ablate
from sqlwright.lab.evaluation.run import EvaluationSettings, evaluate
from sqlwright.llm.keeping.cache import ReplyCache
from sqlwright.llm.options import LlmOptions, ModelOptions
from sqlwright.llm.scripted import Script, ScriptedEndpoint
from sqlwright.messages import Capabilities, Reply
from sqlwright.types import Usage
from tests.evaluation.sets import GERMAN, SWEDISH, spider_set
from tests.llm.asking import RECIPE
from tests.llm.gates import a_run, gate, request
from tests.llm.server import ModelServer, constant, in_order

ASKED = {"Who is German?": GERMAN, "Who is Swedish?": SWEDISH}
PRICED = {"m": ModelOptions("openai-compatible/m", prompt_price=1.0, reply_price=10.0)}
COLUMNS = ("calls", "prompt_tokens", "reply_tokens", "cost")


def settings(server: ModelServer, folder: Path, **more: Any) -> EvaluationSettings:
    models = {"m": replace(PRICED["m"], base_url=server.url)}
    return EvaluationSettings(home=folder / "home", llm=LlmOptions("m", models=models), **more)


def columns(summary: Any) -> dict[str, list[Any]]:
    """Of each step, and in all, what the tables' cost columns show."""
    usage = summary["fresh"]["usage"]
    return {step: [used[name] for name in COLUMNS] for step, used in usage.items()}


@pytest.mark.parametrize("fault", ["", "empty", "server_error", "few"])
def test_a_second_run_fills_the_same_cost_columns(
    tmp_path: Path, database_files: dict[str, Path], fault: str
) -> None:
    recipe = tmp_path / "plain.yaml"
    recipe.write_text(RECIPE)
    dataset = load_spider(spider_set(tmp_path / "set", database_files["shop"], ASKED))
    with ModelServer(
        answer=lambda _: GERMAN, faults=in_order(fault), latency=constant(0.2)
    ) as server:
        asked = settings(server, tmp_path, recipe=str(recipe), allow_code=True)
        first = evaluate(dataset, asked, tmp_path / "first")
        sent = len(server.seen)
        again = evaluate(dataset, asked, tmp_path / "again")
        assert len(server.seen) == sent
    used = first["usage"]["in all"]
    assert columns(first)["in all"] == [sent, *(used[name] for name in COLUMNS[1:])]
    assert used["cost"] > 0
    assert columns(again).keys() == columns(first).keys()
    for step, told in columns(first).items():
        assert columns(again)[step] == pytest.approx(told)
    assert again["fresh"]["by_text"] == 0
    for key in ("calls", "tokens", "cost"):
        mean, before = again["fresh"][key]["per_question"], first["fresh"][key]["per_question"]
        assert mean == pytest.approx(before)
    sent_again = again["usage"]["in all"]
    assert [sent_again[name] for name in COLUMNS] == [0, 0, 0, 0.0]
    assert sent_again["cached"] == 4
    for one, other in zip(
        records.read(tmp_path / "first"), records.read(tmp_path / "again"), strict=True
    ):
        assert one.saved_seconds == 0
        assert other.saved_seconds > 0


def test_an_ablation_that_shares_the_cache_costs_what_it_costs_alone(
    tmp_path: Path, database_files: dict[str, Path]
) -> None:
    dataset = load_spider(spider_set(tmp_path / "set", database_files["shop"], ASKED))
    name = "selector-self-consistency"
    with ModelServer(answer=lambda _: f"```sql\n{GERMAN}\n```") as server:
        alone = ablate(dataset, [name], settings(server, tmp_path / "alone"), tmp_path / "apart")
        shared = settings(server, tmp_path / "shared")
        evaluate(dataset, replace(shared, recipe="chase"), tmp_path / "whole")
        sent = len(server.seen)
        beside = ablate(dataset, [name], shared, tmp_path / "beside")
        assert len(server.seen) == sent
    for one, other in zip(alone["rows"], beside["rows"], strict=True):
        assert [other["fresh"][n] for n in COLUMNS] == pytest.approx(
            [one["fresh"][n] for n in COLUMNS]
        )
        assert one["fresh"]["calls"] > 0
        assert other["usage"]["calls"] == 0


def test_samples_of_one_request_share_what_it_took(tmp_path: Path) -> None:
    endpoint = ScriptedEndpoint(Script(otherwise="yes"), capabilities=Capabilities(n=True))
    first, again = a_run(), a_run()
    with gate(endpoint=endpoint, cache=ReplyCache(tmp_path)) as (model, _):
        model.complete([request("q", n=3)], first, step="s")
        model.complete([request("q", n=3)], again, step="s")
    sent, kept = first.spending.total, again.spending.total
    assert kept.cached == 3
    assert kept.fresh[:4] == pytest.approx(sent.fresh[:4])


def test_replies_kept_by_an_earlier_version_are_counted_by_their_text(tmp_path: Path) -> None:
    first, again = a_run(), a_run()
    with gate("yes", cache=ReplyCache(tmp_path)) as (model, _):
        model.complete([request("q")], first, step="s")
        for path in tmp_path.rglob("*.json"):
            kept = json.loads(path.read_text())
            del kept["reply"]["took"]
            path.write_text(json.dumps(kept))
        model.complete([request("q")], again, step="s")
    total = again.spending.total
    assert (total.cached, total.kept_by_text, total.calls) == (1, 1, 0)
    assert total.fresh[:4] == pytest.approx(first.spending.total.fresh[:4])


@pytest.mark.parametrize(
    "took",
    [
        "5",
        "{}",
        '{"calls": -1, "prompt_tokens": 1, "reply_tokens": 1, "cost": 0, "seconds": 0}',
        '{"calls": 1, "prompt_tokens": 1, "reply_tokens": 1, "cost": "0", "seconds": 0}',
    ],
)
def test_damaged_costs_count_as_none(tmp_path: Path, took: str) -> None:
    cache = ReplyCache(tmp_path)
    cache.put("ab" * 32, Reply("SELECT 1"))
    (path,) = tmp_path.rglob("*.json")
    kept = json.loads(path.read_text())
    path.write_text(json.dumps(kept | {"reply": kept["reply"] | {"took": json.loads(took)}}))
    found = cache.get("ab" * 32)
    assert found is not None
    assert found.took is None
    assert Usage().fresh == (0, 0, 0, 0.0, 0.0)
