"""Questions side by side: the same records in the same order, resumed and interrupted."""

import json
import sqlite3
import threading
from contextlib import closing
from dataclasses import replace

import pytest

from sqlwright.errors import DatabaseUnavailable, DatasetError
from sqlwright.lab.datasets.spider import load_spider
from sqlwright.lab.evaluation import records
from sqlwright.lab.evaluation.run import EvaluationSettings, evaluate
from tests.evaluation.sets import GERMAN, SWEDISH, answering, spider_set

ASKED = {f"Who is German, number {number}?": GERMAN for number in range(6)} | {
    f"Who is Swedish, number {number}?": SWEDISH for number in range(3)
}


@pytest.fixture
def dataset(tmp_path, database_files):
    return load_spider(spider_set(tmp_path / "set", database_files["shop"], ASKED, databases=3))


class Meeting:
    """A reply that waits until so many questions are being asked at the same time."""

    def __init__(self, parties):
        self.barrier = threading.Barrier(parties, timeout=30)

    def __call__(self, asked):
        self.barrier.wait()
        return GERMAN


def settings(tmp_path, reply=GERMAN, **options):
    models = answering({"generation.direct": reply})
    return EvaluationSettings(recipe="baseline", models=models, home=tmp_path / "home", **options)


def told(folder):
    return [
        replace(record, seconds=0.0, times={})
        for record in records.read(folder)
    ]  # fmt: skip


def test_records_are_the_same_and_in_the_same_order(dataset, tmp_path):
    alone = evaluate(dataset, settings(tmp_path), tmp_path / "alone")
    beside = evaluate(dataset, settings(tmp_path, jobs=5), tmp_path / "beside")
    assert told(tmp_path / "beside") == told(tmp_path / "alone")
    assert len(told(tmp_path / "alone")) == len(ASKED) * 3
    times = ("seconds", "seconds_per_step")
    assert {k: v for k, v in beside.items() if k not in times} == {
        k: v for k, v in alone.items() if k not in times
    }


def test_so_many_are_really_asked_at_once(dataset, tmp_path):
    # 27 questions meet in nines: with fewer than nine at once nobody would ever come through.
    summary = evaluate(dataset, settings(tmp_path, Meeting(9), jobs=9), tmp_path / "out")
    assert summary["execution_accuracy"]["hits"] == 18


def test_progress_is_told_of_each(dataset, tmp_path):
    seen = []
    evaluate(
        dataset,
        settings(tmp_path, jobs=4),
        tmp_path / "out",
        progress=lambda done, total, record: seen.append((done, total)),
    )
    assert seen == [(number, 27) for number in range(28)]


def test_an_interruption_keeps_what_was_answered_and_goes_on_there(dataset, tmp_path):
    out, asked = tmp_path / "out", []

    def interrupted(done, total, record):
        if done == 7:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluate(dataset, settings(tmp_path, jobs=3), out, progress=interrupted)
    kept = {record.id for record in records.read(out)}
    assert len(kept) >= 7
    evaluate(
        dataset,
        settings(tmp_path, jobs=3),
        out,
        progress=lambda done, total, record: asked.append(record.id if record else None),
    )
    assert len(asked) == 1 + 27 - len(kept)
    assert not kept & set(asked)
    evaluate(dataset, settings(tmp_path), tmp_path / "whole")
    assert told(out) == told(tmp_path / "whole")


def test_what_an_interruption_cut_short_is_not_recorded(dataset, tmp_path):
    """The question under way ends with what it has, which isn't what the recipe would have said."""
    second = threading.Event()

    def reply(asked):
        if "number 0" in asked.prompt:
            second.wait(30)
            return GERMAN
        return GERMAN

    def interrupted(done, total, record):
        if record is not None:
            second.set()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluate(dataset, settings(tmp_path, reply, jobs=2), tmp_path / "out", progress=interrupted)
    assert all("number 0" not in r.question for r in records.read(tmp_path / "out"))


def test_a_database_that_is_missing_is_left_out_in_one_line(dataset, tmp_path):
    (tmp_path / "set" / "database" / "shop2" / "shop2.sqlite").unlink()
    lines = []
    summary = evaluate(dataset, settings(tmp_path), tmp_path / "out", notice=lines.append)
    assert summary["questions"] == 18
    assert summary["execution_accuracy"]["total"] == 18
    assert summary["skipped"]["shop2"]["questions"] == 9
    (line,) = lines
    assert line.startswith("shop2 is left out with 9 questions: ")
    assert "shop2.sqlite" in line


def test_without_any_database_it_fails(dataset, tmp_path):
    for number in (1, 2, 3):
        (tmp_path / "set" / "database" / f"shop{number}" / f"shop{number}.sqlite").unlink()
    with pytest.raises(DatabaseUnavailable):
        evaluate(dataset, settings(tmp_path), tmp_path / "out")


def test_databases_are_prepared_first_where_that_is_asked_for(dataset, tmp_path):
    lines = []
    asked = settings(tmp_path, prepare=True)
    evaluate(dataset, asked, tmp_path / "out", notice=lines.append)
    assert lines == ["preparing shop1", "preparing shop2", "preparing shop3"]
    assert len(list((tmp_path / "home" / "databases").glob("*/manifest.json"))) == 3
    assert json.loads((tmp_path / "out" / "run.json").read_text())["prepare"] is True
    with pytest.raises(DatasetError, match="another prepare"):
        evaluate(dataset, settings(tmp_path), tmp_path / "out")


def test_a_database_of_which_not_all_is_known_is_named(dataset, tmp_path):
    evaluate(dataset, settings(tmp_path, prepare=True), tmp_path / "prepared")
    with closing(sqlite3.connect(dataset.examples[0].database)) as connection:
        connection.execute("INSERT INTO customers VALUES (5, 'Eve Fox', 'Oslo', 'Norway')")
        connection.commit()
    lines = []
    evaluate(dataset, settings(tmp_path), tmp_path / "out", notice=lines.append)
    assert lines == ["shop1: not all of its values are known; --prepare reads them"]


@pytest.mark.parametrize(
    ("recipe", "overrides", "made"),
    [
        ("msc", (), ["values.vectors"]),
        ("msc", ("retrieval.nearest_values.enabled=false",), []),
        ("chase", ("retrieval.entities.values=minhash",), ["minhash-datasketch"]),
        ("mag", (), []),
    ],
)
def test_what_the_recipe_reads_is_prepared_and_no_more(dataset, tmp_path, recipe, overrides, made):
    options = {"overrides": overrides, "limit": 1}
    asked = replace(settings(tmp_path, **options), recipe=recipe)
    lines = {"without": [], "with": []}
    evaluate(dataset, asked, tmp_path / "without", notice=lines["without"].append)
    assert [line for line in lines["without"] if "--prepare makes" in line] == (
        [f"shop1: the recipe reads {made[0]}, which --prepare makes"] if made else []
    )
    asked = replace(asked, prepare=True)
    evaluate(dataset, asked, tmp_path / "with", notice=lines["with"].append)
    assert lines["with"] == ["preparing shop1"]
    (folder,) = (tmp_path / "home" / "databases").glob("*")
    kept = [name for name in ("values.vectors", "minhash-datasketch", "minhash-rensa")
            if any(folder.glob(f"{name}*"))]  # fmt: skip
    assert kept == made


def test_no_questions_at_once_is_refused(dataset, tmp_path):
    with pytest.raises(DatasetError, match="at least 1"):
        evaluate(dataset, settings(tmp_path, jobs=0), tmp_path / "out")
