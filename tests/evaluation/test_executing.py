"""Questions asked by processes: the same records as by threads, whatever becomes of a worker."""

from __future__ import annotations

import os
import signal
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sqlwright.errors import ConfigError, UserError
from sqlwright.lab.datasets.example import Dataset
from sqlwright.lab.datasets.spider import load_spider
from sqlwright.lab.evaluation import records
from sqlwright.lab.evaluation.executing.executor import LOST
from sqlwright.lab.evaluation.records import Record
from sqlwright.lab.evaluation.run import EvaluationSettings, evaluate
from sqlwright.llm.options import LlmOptions
from sqlwright.running.trace import read_trace
from tests.evaluation.ending import ending_recipe
from tests.evaluation.sets import GERMAN, SWEDISH, answering, spider_set

ASKED = {f"Who is German, number {number}?": GERMAN for number in range(4)} | {
    "Who is Swedish?": SWEDISH,
    "Who is Swedish, or rather Danish?": "SELECT name FROM customers WHERE country = 'Denmark'",
}


@pytest.fixture
def dataset(tmp_path: Path, database_files: dict[str, Path]) -> Dataset:
    return load_spider(spider_set(tmp_path / "set", database_files["shop"], ASKED, databases=3))


def ending(tmp_path: Path, **options: Any) -> EvaluationSettings:
    return EvaluationSettings(recipe=ending_recipe(tmp_path), allow_code=True, **options)


def told(folder: Path) -> list[Record]:
    """The records of a run without their times."""
    return [replace(record, seconds=0.0, times={}) for record in records.stream(folder)]


def with_question(dataset: Dataset, text: str, place: int = 2) -> Dataset:
    """The data set with another text for one of its questions."""
    examples = list(dataset.examples)
    examples[place] = replace(examples[place], question=text)
    return replace(dataset, examples=tuple(examples))


def workers() -> list[int]:
    """The worker processes that this one has started."""
    listed = subprocess.run(
        ["ps", "-A", "-ww", "-o", "pid=,ppid=,args="], capture_output=True, text=True, check=True
    )
    rows = (line.split(None, 2) for line in listed.stdout.splitlines())
    return [
        int(row[0])
        for row in rows
        if int(row[1]) == os.getpid() and "evaluation.executing.on_this_machine" in row[-1]
    ]


def test_embedded_models_answer_the_same_in_threads_and_in_processes(
    dataset: Dataset, tmp_path: Path
) -> None:
    evaluate(dataset, EvaluationSettings(limit=10), tmp_path / "threads")
    evaluate(dataset, EvaluationSettings(limit=10, workers=2), tmp_path / "processes")
    assert told(tmp_path / "processes") == told(tmp_path / "threads")
    assert len(told(tmp_path / "threads")) == 10


def test_a_worker_that_is_killed_costs_nothing(dataset: Dataset, tmp_path: Path) -> None:
    killed, notices = [], []

    def killing(done: int, total: int, record: Record | None) -> None:
        if done in {3, 9}:
            killed.append(workers()[0])
            os.kill(killed[-1], signal.SIGKILL)

    asked = ending(tmp_path)
    evaluate(dataset, asked, tmp_path / "whole")
    evaluate(
        dataset, replace(asked, workers=2), tmp_path / "out",
        progress=killing, notice=notices.append,
    )  # fmt: skip
    assert told(tmp_path / "out") == told(tmp_path / "whole")
    assert len(set(killed)) == 2
    assert all("SIGKILL" in line for line in notices)
    assert workers() == []


@pytest.mark.parametrize("text", ["It ends.", "It raises.", "It hangs."])
def test_a_question_that_costs_three_workers_is_failed_and_the_run_goes_on(
    dataset: Dataset, tmp_path: Path, text: str
) -> None:
    patience = 6.0 if text == "It hangs." else 60.0
    asked, notices = ending(tmp_path, workers=2, question_seconds=patience), []
    hostile = with_question(dataset, text)
    summary = evaluate(hostile, asked, tmp_path / "out", notice=notices.append)
    evaluate(dataset, ending(tmp_path), tmp_path / "whole")
    assert summary["questions"] == 18
    (failed,) = [one for one in told(tmp_path / "out") if one.status == "failed"]
    assert (failed.id, failed.question, failed.message) == ("dev-00002", text, LOST)
    others = [one for one in told(tmp_path / "out") if one.id != failed.id]
    assert others == [one for one in told(tmp_path / "whole") if one.id != failed.id]
    reason = {"It ends.": "SIGKILL", "It raises.": "a mistake in a step", "It hangs.": "no reply"}
    assert [reason[text] in line for line in notices] == [True] * 3
    assert [line.split(" is ")[0] for line in notices] == ["dev-00002"] * 3


def test_a_question_that_costs_one_worker_is_answered(dataset: Dataset, tmp_path: Path) -> None:
    text = f"Who is German? It ends once: {tmp_path / 'mark'}"
    summary = evaluate(with_question(dataset, text), ending(tmp_path, workers=1), tmp_path / "out")
    assert (tmp_path / "mark").exists()
    assert summary["status"] == {"answered": 18}


def test_a_database_that_is_missing_is_left_out(dataset: Dataset, tmp_path: Path) -> None:
    dataset.examples[6].database.unlink()
    beside, alone = (
        evaluate(dataset, ending(tmp_path, workers=count), tmp_path / str(count))
        for count in (2, 0)
    )
    assert beside["skipped"] == alone["skipped"]
    assert list(beside["skipped"]) == ["shop2"]
    assert told(tmp_path / "2") == told(tmp_path / "0")


def test_what_would_end_every_question_ends_the_run(dataset: Dataset, tmp_path: Path) -> None:
    asked = EvaluationSettings(
        recipe="baseline", llm=LlmOptions("nobody/model"), workers=2, home=tmp_path / "home"
    )
    with pytest.raises(ConfigError, match="nobody"):
        evaluate(dataset, asked, tmp_path / "out")
    assert workers() == []


@pytest.mark.parametrize("count", [0, 2])
def test_traces_are_kept_in_the_folder(dataset: Dataset, tmp_path: Path, count: int) -> None:
    evaluate(dataset, ending(tmp_path, workers=count, traces=True), tmp_path / "out")
    found = sorted((tmp_path / "out" / "traces").rglob("*.jsonl"))
    assert [path.parent.name for path in found] == [f"shop{n}" for n in (1, 2, 3) for _ in range(6)]
    trace = read_trace(found[0])
    assert trace.start["question"] == "Who is German, number 0?"
    assert trace.answer["sql"] == GERMAN
    assert found[0].stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"executor": "threads", "workers": 2}, "workers are processes"),
        ({"workers": 2, "jobs": 2}, "one question at a time"),
        ({"workers": 2, "models": answering({})}, "stay in this process"),
        ({"workers": -1}, "at least 0"),
    ],
)
def test_settings_that_do_not_go_together_are_refused(
    dataset: Dataset, tmp_path: Path, options: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(UserError, match=complaint):
        evaluate(dataset, EvaluationSettings(**options), tmp_path / "out")
