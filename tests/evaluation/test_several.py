"""A budget of all questions together, an estimate of what they take, a run for each seed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sqlwright.errors import ConfigError
from sqlwright.lab.datasets.example import Dataset
from sqlwright.lab.datasets.spider import load_spider
from sqlwright.lab.evaluation import records
from sqlwright.lab.evaluation.run import EvaluationSettings, evaluate
from sqlwright.lab.evaluation.several import estimate, evaluate_seeds
from sqlwright.llm.options import LlmOptions, ModelOptions
from sqlwright.spending import Budget, parse_budget
from tests.evaluation.sets import GERMAN, SWEDISH, spider_set
from tests.llm.asking import RECIPE
from tests.llm.server import ModelServer

ASKED = {f"Who is German, number {n}?": GERMAN for n in range(6)}


@pytest.fixture
def dataset(tmp_path: Path, database_files: dict[str, Path]) -> Dataset:
    """Six questions of each of two databases; each takes two calls."""
    return load_spider(spider_set(tmp_path / "set", database_files["shop"], ASKED, databases=2))


def settings(
    server: ModelServer, folder: Path, budget: str = "", **more: Any
) -> EvaluationSettings:
    recipe = folder / "plain.yaml"
    recipe.write_text(RECIPE)
    price = {"prompt_price": 1.0, "reply_price": 10.0} if more.pop("priced", True) else {}
    models = {"m": ModelOptions("openai-compatible/m", base_url=server.url, **price)}
    limit = parse_budget(budget) if budget else Budget()
    llm = LlmOptions("m", models=models, run_budget=limit)
    asked = EvaluationSettings(recipe=str(recipe), allow_code=True, home=folder / "home", llm=llm)
    return replace(asked, **more)


@pytest.mark.parametrize("jobs", [1, 4])
def test_a_run_ends_with_its_budget_and_goes_on_with_more(
    dataset: Dataset, tmp_path: Path, jobs: int
) -> None:
    out = tmp_path / "out"
    with ModelServer(answer=lambda _: GERMAN) as server:
        ended = evaluate(dataset, settings(server, tmp_path, "9 calls", jobs=jobs), out)
        sent, told = len(server.seen), ended["run_budget"]
        assert sent <= 9
        asked = {one.id for one in records.read(out)}
        assert asked.isdisjoint(told["not_asked"])
        assert len(asked) + len(told["not_asked"]) == 12
        assert told["not_asked"]
        assert (told["limit"], told["spent"]["calls"]) == ("9 calls", sent)
        assert all(one.status == "answered" for one in records.read(out))
        assert "ended" not in json.loads((out / "run.json").read_text())

        again = evaluate(dataset, settings(server, tmp_path, "9 calls", jobs=jobs), out)
        assert len(server.seen) <= 9
        whole = evaluate(dataset, settings(server, tmp_path, "24 calls", jobs=jobs), out)
        assert len(server.seen) == 24
    assert set(again["run_budget"]["not_asked"]) <= set(told["not_asked"])
    assert whole["run_budget"]["not_asked"] == []
    assert whole["questions"] == 12
    assert "ended" in json.loads((out / "run.json").read_text())


@pytest.mark.parametrize(
    ("budget", "most"), [("$0.001", 0.001), ("2k tokens", None), ("0 calls", 0.0)]
)
def test_no_more_is_spent_than_the_budget_of_the_run(
    dataset: Dataset, tmp_path: Path, budget: str, most: float | None
) -> None:
    with ModelServer(answer=lambda _: GERMAN) as server:
        ended = evaluate(dataset, settings(server, tmp_path, budget, jobs=3), tmp_path / "out")
    spent = ended["run_budget"]["spent"]
    assert ended["run_budget"]["not_asked"]
    if most is not None:
        assert spent["cost"] <= most
    assert spent["prompt_tokens"] + spent["reply_tokens"] <= 2_000


def test_a_question_s_own_budget_ends_no_run(dataset: Dataset, tmp_path: Path) -> None:
    with ModelServer(answer=lambda _: GERMAN) as server:
        asked = settings(server, tmp_path, "100 calls")
        asked = replace(asked, llm=replace(asked.llm, budget=Budget(calls=0)))
        ended = evaluate(dataset, asked, tmp_path / "out")
    assert ended["run_budget"]["not_asked"] == []
    assert {one.status for one in records.read(tmp_path / "out")} == {"failed"}


@pytest.mark.parametrize(
    ("changed", "told"),
    [({"workers": 2}, "can't share a budget"), ({"priced": False}, "price of m")],
)
def test_a_budget_that_can_t_be_kept_is_refused(
    dataset: Dataset, tmp_path: Path, changed: dict[str, Any], told: str
) -> None:
    with (
        ModelServer(answer=lambda _: GERMAN) as server,
        pytest.raises(ConfigError, match=told),
    ):
        evaluate(dataset, settings(server, tmp_path, "$1", **changed), tmp_path / "out")


def test_an_estimate_says_what_all_questions_take_and_what_it_spent(
    dataset: Dataset, tmp_path: Path
) -> None:
    with ModelServer(answer=lambda _: GERMAN) as server:
        asked = settings(server, tmp_path, jobs=4)
        first = estimate(dataset, asked)
        sent = len(server.seen)
        again = estimate(dataset, asked)
        assert (sent, len(server.seen)) == (16, 16)
        whole = evaluate(dataset, asked, tmp_path / "out")
    assert (first["questions"], first["asked"]) == (12, 8)
    assert first["calls"] == {"value": 24, "low": 24, "high": 24}
    assert first["tokens"]["low"] <= whole["fresh"]["tokens"]["in_all"] <= first["tokens"]["high"]
    assert first["cost"]["value"] == pytest.approx(whole["fresh"]["cost"]["in_all"], rel=0.1)
    assert first["hours"]["value"] > 0
    assert (first["spent"]["calls"], again["spent"]["calls"]) == (16, 0)
    for name in ("calls", "tokens", "cost"):
        assert again[name] == pytest.approx(first[name])


def test_an_estimate_without_a_price_says_none(dataset: Dataset, tmp_path: Path) -> None:
    with ModelServer(answer=lambda _: GERMAN) as server:
        told = estimate(dataset, settings(server, tmp_path, priced=False))
    assert told["cost"] is None
    assert told["calls"]["value"] == 24


def test_seeds_are_runs_of_their_own_with_a_mean_over_them(
    dataset: Dataset, tmp_path: Path
) -> None:
    out = tmp_path / "out"

    def says(asked: Any) -> str:
        return GERMAN if asked.body["seed"] % 7 else SWEDISH

    with ModelServer(answer=says) as server:
        asked = settings(server, tmp_path)
        first = evaluate_seeds(dataset, asked, out, 3)
        sent = len(server.seen)
        again = evaluate_seeds(dataset, asked, out, 3)
        assert len(server.seen) == sent
        assert json.loads((out / "seeds.json").read_text())["runs"][2]["seed"] == 2
        short = settings(server, tmp_path, f"{sent + 30} calls")
        more = evaluate_seeds(dataset, short, tmp_path / "short", 2)
    assert first["execution_accuracy"] == again["execution_accuracy"]
    assert first["execution_accuracy"]["runs"] == 3
    assert [one["questions"] for one in first["runs"]] == [12, 12, 12]
    seen = [json.loads((out / f"seed-{n}" / "run.json").read_text())["seed"] for n in range(3)]
    assert seen == [None, 1, 2]
    assert more["execution_accuracy"]["runs"] == 2
