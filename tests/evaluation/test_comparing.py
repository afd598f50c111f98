"""Ablations run over the same questions and compared pair by pair."""

import json

import pytest

from sqlwright.errors import ConfigError
from sqlwright.lab.datasets.spider import load_spider
from sqlwright.lab.evaluation import records
from sqlwright.lab.evaluation.ablation import ablate
from sqlwright.lab.evaluation.intervals import PairedDifference
from sqlwright.lab.evaluation.run import EvaluationSettings
from tests.evaluation.sets import GERMAN, SWEDISH, answering, spider_set

FAULTY = "SELECT nonsense FROM customers"
ASKED = {f"Who is German, number {number}?": GERMAN for number in range(4)} | {
    "Who is Swedish?": SWEDISH
}


@pytest.fixture
def dataset(tmp_path, database_files):
    return load_spider(spider_set(tmp_path / "set", database_files["shop"], ASKED))


@pytest.fixture
def settings(tmp_path):
    """A model that needs a revision for every query but that of the Swedes."""
    models = answering({
        "generation.direct": lambda asked: SWEDISH if "Who is Swedish" in asked.prompt else FAULTY,
        "repair.revise": GERMAN,
    })  # fmt: skip
    return EvaluationSettings(models=models, home=tmp_path / "home")


def test_an_ablation_is_compared_with_its_recipe(dataset, settings, tmp_path):
    table = ablate(dataset, ["without-revise"], settings, tmp_path / "out")
    whole, without = table["rows"]
    assert (whole["name"], without["name"]) == ("all-tools", "without-revise")
    assert "difference" not in whole
    assert (whole["execution_accuracy"]["hits"], without["execution_accuracy"]["hits"]) == (5, 1)
    pair = without["difference"]
    assert (pair["gained"], pair["lost"], pair["both"], pair["neither"]) == (0, 4, 1, 0)
    assert pair["value"] == pytest.approx(-0.8)
    assert pair["low"] < -0.8 < pair["high"] < 0
    assert json.loads((tmp_path / "out" / "ablations.json").read_text()) == json.loads(
        json.dumps(table)
    )
    described = json.loads((tmp_path / "out" / "without-revise" / "run.json").read_text())
    assert described["ablation"] == "without-revise"
    assert described["overrides"][0] == "repeat_until.enabled=false"


def test_each_has_a_folder_and_goes_on_there(dataset, settings, tmp_path):
    first = ablate(dataset, ["one-revision", "baseline"], settings, tmp_path / "out")
    assert [row["name"] for row in first["rows"]] == ["all-tools", "one-revision", "baseline"]
    (tmp_path / "out" / "one-revision" / records.PREDICTIONS).unlink()
    asked = []
    again = ablate(
        dataset,
        ["one-revision", "baseline"],
        settings,
        tmp_path / "out",
        progress=lambda name: lambda done, total, record: asked.append((name, record is not None)),
    )
    assert {name for name, fresh in asked if fresh} == {"one-revision"}
    assert [r["execution_accuracy"] for r in again["rows"]] == [
        r["execution_accuracy"] for r in first["rows"]
    ]


@pytest.mark.parametrize(
    ("name", "before"),
    [
        ("pass-at-5-selected", ["pass-at-1", "pass-at-5"]),
        ("tests-0", ["chess-ir-cg-ut"]),
        ("pass-at-1", []),
    ],
)
def test_what_it_is_compared_with_comes_first(dataset, settings, tmp_path, name, before):
    table = ablate(dataset, [name], settings, tmp_path / "out")
    assert [row["name"] for row in table["rows"]] == [*before, name]


def test_overrides_change_all_of_them(dataset, settings, tmp_path):
    changed = EvaluationSettings(
        models=settings.models, home=settings.home, overrides=["repeat_until.rounds=2"]
    )
    ablate(dataset, ["without-filter-column"], changed, tmp_path / "out")
    for name in ("all-tools", "without-filter-column"):
        described = json.loads((tmp_path / "out" / name / "run.json").read_text())
        assert described["overrides"][-1] == "repeat_until.rounds=2"


def test_a_name_that_is_none_gets_the_nearest(dataset, settings, tmp_path):
    with pytest.raises(ConfigError, match="did you mean 'without-revise'"):
        ablate(dataset, ["without-revis"], settings, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("pair", "low", "high"),
    [
        # Newcombe (1998), "Improved confidence intervals for the difference between binomial
        # proportions based on paired data", table II, method 10.
        (PairedDifference(20, 12, 2, 16), 0.0562, 0.3292),
        (PairedDifference(0, 0, 0, 0), -1.0, 1.0),
    ],
)
def test_the_interval_of_a_paired_difference(pair, low, high):
    assert pair.interval == pytest.approx((low, high), abs=5e-5)


def test_mcnemar_s_exact_test():
    assert PairedDifference(50, 12, 2, 36).p == pytest.approx(0.01293945)
    assert PairedDifference(50, 3, 3, 44).p == 1.0
    assert PairedDifference(50, 0, 0, 50).p == 1.0
