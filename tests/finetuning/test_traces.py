"""Feedback on traced answers: kept, shown, asked again as a data set, and taught from."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sqlwright.api import Session
from sqlwright.boundary.feedback import ENDING, feedback_file, feedback_on
from sqlwright.errors import DatasetError, UserError, WorkspaceError
from sqlwright.events import StepStarted
from sqlwright.lab.datasets.registry import load_dataset
from sqlwright.lab.evaluation.golden.judged import judge
from sqlwright.lab.finetuning.candidates.generators import EMBEDDED
from sqlwright.lab.finetuning.candidates.reading import read_candidates
from sqlwright.prepare.storage import inventory
from sqlwright.running.trace import TraceWriter, list_traces, read_trace
from sqlwright.types import Turn

Open = Callable[..., Session]
COUNT = "SELECT count(*) FROM customers"
ALL = "SELECT count(*) FROM orders"


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    return tmp_path / "home" / "traces"


@pytest.fixture
def asked(open_scripted: Open, traces: Path) -> Callable[..., Path]:
    def ask(question: str = "How many customers are there?", **options: Any) -> Path:
        answer = open_scripted(COUNT, ALL).ask(question, **options)
        return traces / f"{answer.trace_id}.jsonl"

    return ask


def test_the_newest_feedback_counts_and_is_private(asked: Callable[..., Path]) -> None:
    trace = asked()
    assert read_trace(trace).feedback is None
    judge(trace, right=True)
    assert [one.feedback for one in list_traces(trace.parent)] == ["right"]
    judge(trace, right=False, sql=ALL)
    said = feedback_on(trace)
    assert said is not None
    assert (said.word, said.sql) == ("corrected", ALL)
    assert read_trace(trace).feedback == said
    assert stat.S_IMODE(feedback_file(trace).stat().st_mode) == 0o600
    assert sorted(path.name for path in trace.parent.iterdir()) == [
        f"{trace.stem}{ENDING}", trace.name,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("DELETE FROM customers", "doesn't run"),
        ("SELECT nope FROM customers", "no such column"),
        ("SELECT 1; DROP TABLE orders", "doesn't run"),
        ("not sql", "doesn't run"),
    ],
)
def test_a_query_that_doesnt_read_or_run_is_refused(
    sql: str, told: str, asked: Callable[..., Path]
) -> None:
    trace = asked()
    with pytest.raises(UserError, match=told):
        judge(trace, right=False, sql=sql)
    assert feedback_on(trace) is None


def test_what_has_no_answer_cant_be_right(open_scripted: Open, traces: Path) -> None:
    refused = traces / f"{open_scripted().ask('Delete all orders').trace_id}.jsonl"
    with pytest.raises(WorkspaceError, match="no query that could be right"):
        judge(refused, right=True)
    judge(refused, right=False, sql=COUNT)
    (example,) = load_dataset("traces", traces).examples
    assert example.gold_sql == COUNT


def test_judged_questions_are_a_data_set(
    asked: Callable[..., Path], database_files: dict[str, Path]
) -> None:
    right, wrong, corrected, follows, unsaid = (
        asked(),
        asked("How many orders are there?"),
        asked("How many open orders are there?", evidence="open means status 'open'"),
        asked("And of these?", history=(Turn("How many?", COUNT),)),
        asked("How many lines are there?"),
    )
    judge(right, right=True)
    judge(wrong, right=False)
    judge(corrected, right=False, sql=f"{ALL} WHERE status = 'open'")
    judge(follows, right=True)
    dataset = load_dataset("traces", right.parent)
    assert dataset.name == "traces"
    assert [(one.id, one.gold_sql, one.evidence, one.tags) for one in dataset.examples] == [
        (right.stem, COUNT, "", {"feedback": "right"}),
        (
            corrected.stem,
            f"{ALL} WHERE status = 'open'",
            "open means status 'open'",
            {"feedback": "corrected"},
        ),
    ]
    assert {one.database for one in dataset.examples} == {database_files["shop"]}
    assert {one.db_id for one in dataset.examples} == {"shop"}
    assert dataset.left_out == (
        "1 question left out: they follow other questions",
        "1 question left out: they were called wrong, and no right query was given",
    )
    assert unsaid.stem not in {one.id for one in dataset.examples}


def test_their_candidates_are_those_of_the_trace(asked: Callable[..., Path]) -> None:
    judge(asked(), right=True)
    trace = asked("How many orders are there?")
    judge(trace, right=False, sql=ALL)
    sets = read_candidates([trace.parent])
    assert [(one.sql, one.model) for one in sets.of("traces", trace.stem, "shop")] == [
        (COUNT, EMBEDDED),
        (ALL, EMBEDDED),
    ]
    assert (sets.dropped, sets.unknown) == (0, 0)
    assert sum(one["kept"] for one in sets.generators) == 4


def test_what_is_judged_outlives_other_traces_and_goes_with_a_purge(
    asked: Callable[..., Path], tmp_path: Path
) -> None:
    trace = asked()
    judge(trace, right=True)
    for number in range(3):
        writer = TraceWriter(trace.parent, f"3000-{number}", kept=2)
        writer(StepStarted("s", 0))
        writer.close()
    assert sorted(path.stem for path in trace.parent.glob("*.jsonl")) == [
        trace.stem, "3000-1", "3000-2",
    ]  # fmt: skip
    for kept in inventory.traces(tmp_path / "home"):
        kept.remove()
    assert list(trace.parent.iterdir()) == []


@pytest.mark.parametrize("text", ["", "[]", '{"right": 1}', '{"right": true, "sql": 3}'])
def test_feedback_that_somebody_broke_is_told(text: str, asked: Callable[..., Path]) -> None:
    trace = asked()
    feedback_file(trace).write_text(text, "utf-8")
    with pytest.raises(WorkspaceError, match="is no feedback"):
        read_trace(trace)
    with pytest.raises(DatasetError, match="no questions") as told:
        load_dataset("traces", trace.parent)
    assert "can't be read" in told.value.hint


def test_databases_of_one_name_are_told_apart(asked: Callable[..., Path], tmp_path: Path) -> None:
    for place in ("one", "two"):
        trace = asked(f"How many customers are there in {place}?")
        judge(trace, right=True)
        rows = [json.loads(line) for line in trace.read_text("utf-8").splitlines()]
        rows[0]["database"] = f"sqlite:///{tmp_path}/{place}/shop.sqlite"
        trace.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    found = load_dataset("traces", trace.parent).examples
    assert [(one.db_id, one.database.parent.name) for one in found] == [
        ("shop", "one"),
        ("shop-2", "two"),
    ]
