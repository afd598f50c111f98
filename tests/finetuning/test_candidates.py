"""Files of candidates: written question by question, gone on with, and read without what leaks."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from training.parts import part_of

from sqlwright import api
from sqlwright.errors import ConfigError, DatasetError
from sqlwright.lab.datasets.example import Dataset, Example
from sqlwright.lab.datasets.spider import HELD_BACK, load_split
from sqlwright.lab.finetuning.candidates.generators import (
    EMBEDDED,
    embedded_databases,
    fold_of,
    outside,
    trained_databases,
)
from sqlwright.lab.finetuning.candidates.reading import read_candidates
from sqlwright.lab.finetuning.candidates.sampling import SamplingPlan, sample
from sqlwright.llm.scripted import Script, ScriptedModel, When
from sqlwright.recipes.loading import load_recipe
from sqlwright.session import Session
from tests.finetuning.sampling_child import COUNT, WRITTEN, questions, sampled
from tests.scripted import scripted_models

GOLD = "SELECT count(*) FROM customers"
LINE = {"question_id": "q", "db_id": "shop", "source": "cases", "candidates": [{"sql": GOLD}]}


def written(path: Path, header: Mapping[str, Any], *lines: Mapping[str, Any]) -> Path:
    whole = {"header": 1, "recipe": "msc", "model": "small/model", **header}
    path.write_text("".join(json.dumps(row) + "\n" for row in (whole, *lines)), "utf-8")
    return path


# Reading


@pytest.mark.parametrize(
    ("header", "model", "kept", "unknown"),
    [
        ({"trained_on": ["bank"]}, "", 1, 0),
        ({"trained_on": ["bank", "shop"]}, "", 0, 0),
        ({"trained_on": []}, "", 1, 0),
        ({}, "", 1, 1),
        ({"fold": "0/2", "folded": ["bank", "shop"]}, "", 0, 0),
        ({"fold": "1/2", "folded": ["bank", "shop"]}, "", 1, 0),
        ({"fold": "1/2", "folded": ["bank", "shop"], "trained_on": ["shop"]}, "", 0, 0),
        ({"trained_on": ["bank"]}, EMBEDDED, 1, 0),
        ({}, EMBEDDED, 1, 0),
    ],
)
def test_only_candidates_of_generators_that_did_not_see_the_database_are_read(
    header: Any, model: str, kept: int, unknown: int, tmp_path: Path
) -> None:
    line = {**LINE, "candidates": [{"sql": GOLD, "model": model}]}
    sets = read_candidates([written(tmp_path / "one.jsonl", header, line)])
    assert len(sets.of("cases", "q", "shop")) == kept
    assert (sets.dropped, sets.unknown) == (1 - kept, unknown)
    (told,) = sets.generators
    assert (told["kept"], told["dropped"], told["unknown"]) == (kept, 1 - kept, unknown)
    json.dumps(told)


def test_the_embedded_models_are_refused_where_they_were_trained(tmp_path: Path) -> None:
    seen = min(embedded_databases())
    line = {**LINE, "db_id": seen, "candidates": [{"sql": GOLD, "model": EMBEDDED}]}
    sets = read_candidates([written(tmp_path / "one.jsonl", {"trained_on": []}, line)])
    assert list(sets.of("cases", "q", seen)) == []
    assert sets.dropped == 1


@pytest.mark.data
@pytest.mark.skipif("SQLWRIGHT_DATA" not in os.environ, reason="SQLWRIGHT_DATA is not set")
def test_the_embedded_models_databases_are_those_of_their_training() -> None:
    data = Path(os.environ["SQLWRIGHT_DATA"])
    split = load_split(data)
    bird = {row["db_id"] for row in json.loads((data / "bird/train/train.json").read_text("utf-8"))}
    questions = Path(__file__).parents[2] / "training" / "data" / "questions"
    own = {path.stem for path in questions.glob("*.jsonl") if part_of(path.stem) == "fit"}
    assert embedded_databases() == split.fit | (bird - HELD_BACK) | own
    assert not embedded_databases() & (split.dev | split.valid | split.calib)


def test_several_files_are_one_and_each_counts_once(tmp_path: Path) -> None:
    first = written(tmp_path / "one.jsonl", {"trained_on": []}, LINE)
    other = {**LINE, "candidates": [{"sql": "SELECT 2", "model": "other"}]}
    second = written(tmp_path / "two.jsonl", {"trained_on": [], "hinted": True}, other)
    found = read_candidates([first, second, first]).of("cases:train, 20, seed 1", "q", "shop")
    assert [(one.sql, one.model, one.hinted) for one in found] == [
        (GOLD, "small/model", False),
        ("SELECT 2", "other", True),
    ]


def test_a_question_of_another_data_set_isnt_taken_for_it(tmp_path: Path) -> None:
    rows = [{**LINE, "source": name} for name in ("one", "two")]
    sets = read_candidates([written(tmp_path / "one.jsonl", {}, *rows)])
    assert len(sets.of("one", "q", "shop")) == 1
    assert sets.of("three", "q", "shop") == ()
    assert sets.of("one", "q", "bank") == ()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "is empty"),
        ("no json\n", "line 1 isn't a line of candidates"),
        ('{"recipe": "msc"}\n', "line 1: model: Field required"),
        ('{"recipe": "msc", "model": "m", "sort": 1}\n', "line 1: sort: Extra inputs"),
        ('{"recipe": "msc", "model": "m"}\n{"question_id": 3}\n', "line 2: question_id"),
    ],
)
def test_what_is_no_file_of_candidates_is_told(text: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(text, "utf-8")
    with pytest.raises(DatasetError, match=told):
        read_candidates([path])


def test_no_files_and_missing_ones_are_told(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="no candidates"):
        read_candidates([])
    with pytest.raises(DatasetError, match="can't be read"):
        read_candidates([tmp_path / "absent.jsonl"])


def test_folds_divide_all_and_a_generator_sees_none_of_its_own() -> None:
    names = ["d", "a", "c", "b", "e"]
    assert [sorted(fold_of(names, f"{n}/2")) for n in range(2)] == [["a", "c", "e"], ["b", "d"]]
    assert sorted(outside(names, "0/2")) == ["b", "d"]
    with pytest.raises(ConfigError, match="isn't a fold"):
        fold_of(names, "2/2")


def test_a_run_tells_the_databases_of_its_set(tmp_path: Path) -> None:
    run, built = tmp_path / "run", tmp_path / "set"
    for folder in (run, built):
        folder.mkdir()
    digests = {"train.jsonl": "a1", "held_out.jsonl": "b2"}
    record = {"role": "generator", "set": digests, "set_folder": str(built)}
    (run / "run.json").write_text(json.dumps(record), "utf-8")
    with pytest.raises(DatasetError, match="doesn't tell the databases"):
        trained_databases(run)
    told = {"databases": {"train": ["shop"], "held_out": ["bank"]}, "digests": digests}
    (built / "set.json").write_text(json.dumps(told), "utf-8")
    assert trained_databases(run) == {"shop"}
    told |= {"digests": digests | {"train.jsonl": "c3"}, "databases": {"train": []}}
    (built / "set.json").write_text(json.dumps(told), "utf-8")
    with pytest.raises(DatasetError, match="another set"):
        trained_databases(run)


# Writing


def test_a_sampling_that_was_killed_goes_on_without_losing_or_repeating(
    database_files: dict[str, Path], tmp_path: Path
) -> None:
    out, database = tmp_path / "candidates.jsonl", database_files["shop"]
    child = [sys.executable, "-m", "tests.finetuning.sampling_child", str(database), str(out)]
    for until in (3, 7):
        killed = subprocess.run(
            [*child, str(tmp_path / "home"), str(until)],
            capture_output=True,
            timeout=100,
            check=False,
        )
        assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()
        assert not out.read_bytes().endswith(b"\n")
        assert len(out.read_bytes().splitlines()) == until + 2  # the header, and the stump
    report = sampled(database, out, tmp_path / "home")
    assert (report.questions, report.passed_over, report.unopened) == (COUNT, 0, ())
    rows = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert [row["question_id"] for row in rows[1:]] == [f"q{n}" for n in range(COUNT)]
    sets = read_candidates([out])
    assert [one.sql for one in sets.of("many", "q5", "shop")] == list(WRITTEN)
    assert rows[0]["trained_on"] == sorted(embedded_databases())
    before = out.read_bytes()
    assert sampled(database, out, tmp_path / "home").candidates == 0
    assert out.read_bytes() == before


def asked_of(database: Path, *overrides: str) -> tuple[Any, Any]:
    """A way to open sessions by msc with a model of three queries, and that model."""
    replies = iter(f"SELECT count(*) FROM {name}" for name in ("orders", "lines", "orders") * 20)
    model = ScriptedModel(Script([When("generation.direct", lambda _: next(replies))], "[]"))

    def opened(example: Example) -> Session:
        return api.open(
            example.database, recipe="msc", overrides=overrides, record=False, prepare=False,
            models=scripted_models(llm=model), stand_in=False,
        )  # fmt: skip

    return opened, model


def test_the_steps_run_up_to_the_selection_that_would_ask_a_model(
    database_files: dict[str, Path], tmp_path: Path
) -> None:
    database, out = database_files["shop"], tmp_path / "plain.jsonl"
    few = Dataset("few", questions(database).examples[:2])
    opened, model = asked_of(database)
    plan = SamplingPlan(few, load_recipe("msc"), "scripted", out, trained_on=frozenset({"bank"}))
    report = sample(plan, opened)
    assert (report.questions, report.candidates) == (2, 6)
    asked = [one.step for one in model.script.asked]
    assert "selection.multi_sample" not in asked
    assert asked.count("generation.direct") == 6
    found = read_candidates([out]).of("few", "q0", "shop")
    assert sorted({one.sql for one in found}) == [
        "SELECT count(*) FROM lines", "SELECT count(*) FROM orders",
    ]  # fmt: skip
    assert {one.model for one in found} == {"scripted"}


def test_hints_are_given_where_no_candidate_was_right(
    database_files: dict[str, Path], tmp_path: Path
) -> None:
    database, out = database_files["shop"], tmp_path / "hinted.jsonl"
    few = Dataset("few", questions(database).examples[:3])
    right = [{**LINE, "question_id": "q0"}]
    wrong = [{**LINE, "question_id": "q1", "candidates": [{"sql": "SELECT 1"}]}]
    first = written(tmp_path / "first.jsonl", {}, *right, *wrong)
    opened, model = asked_of(database)
    plan = SamplingPlan(
        few, load_recipe("msc"), "scripted", out, hinted=True, only_without_right=first
    )
    report = sample(plan, opened)
    assert (report.questions, report.passed_over) == (1, 2)
    prompts = [
        "\n".join(str(message.text) for message in request.messages)
        for step, request in model.requests
        if step == "generation.direct"
    ]
    assert prompts
    assert all(GOLD in prompt for prompt in prompts)
    found = read_candidates([out])
    assert found.of("few", "q0", "shop") == ()
    assert all(one.hinted for one in found.of("few", "q1", "shop"))


def test_questions_that_no_model_answered_are_asked_again(
    database_files: dict[str, Path], tmp_path: Path
) -> None:
    database, out = database_files["shop"], tmp_path / "down.jsonl"
    few = Dataset("few", questions(database).examples[:2])
    plan = SamplingPlan(few, load_recipe("msc"), "scripted", out)

    def down(example: Example) -> Session:
        model = ScriptedModel(Script(otherwise="I would rather not."))
        return api.open(
            example.database, recipe="msc", models=scripted_models(llm=model), stand_in=False,
            record=False, prepare=False,
        )  # fmt: skip

    report = sample(plan, down)
    assert (report.questions, report.empty) == (0, 2)
    assert sample(plan, asked_of(database)[0]).questions == 2


def test_a_file_of_another_plan_is_refused(database_files: dict[str, Path], tmp_path: Path) -> None:
    database, out = database_files["shop"], tmp_path / "plain.jsonl"
    written(out, {"recipe": "local", "model": "another"}, LINE)
    before = out.read_bytes()
    with pytest.raises(DatasetError, match=r"sampled otherwise: .*model was 'another'"):
        sampled(database, out, tmp_path / "home")
    assert out.read_bytes() == before


def test_a_hint_for_models_that_read_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="a hint changes nothing"):
        SamplingPlan(
            Dataset("none", ()), load_recipe("local"), "", tmp_path / "x.jsonl", hinted=True
        )


def test_a_database_that_cant_be_opened_is_told_and_the_rest_is_sampled(
    database_files: dict[str, Path], tmp_path: Path
) -> None:
    there = questions(database_files["shop"]).examples[0]
    gone = Example("q", "gone", "How many?", GOLD, tmp_path / "gone.sqlite")
    opened, _ = asked_of(database_files["shop"])
    plan = SamplingPlan(
        Dataset("two", (gone, there)), load_recipe("msc"), "scripted", tmp_path / "x.jsonl"
    )
    report = sample(plan, opened)
    assert report.questions == 1
    assert "gone" in report.unopened[0]
