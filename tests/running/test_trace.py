"""Traces: complete, masked, private, bounded; a disk that fails costs the trace only."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from sqlwright.api import Session
from sqlwright.errors import WorkspaceError
from sqlwright.events import ModelCalled, StepEnded, StepStarted
from sqlwright.messages import Message, Text
from sqlwright.running.trace import (
    FORMAT,
    VERSION,
    TraceWriter,
    find_trace,
    list_traces,
    mask,
    read_trace,
)
from sqlwright.schema import Schema, SchemaView
from sqlwright.types import Candidate, ExecutionResult, Question, State
from tests.cli import hostile

Open = Callable[..., Session]


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    return tmp_path / "home" / "traces"


def test_a_question_leaves_a_whole_record(open_scripted: Open, traces: Path) -> None:
    session = open_scripted("SELECT COUNT(*) FROM orders", "SELECT nope FROM orders")
    answer = session.ask("How many orders?")
    trace = read_trace(find_trace(traces, answer.trace_id))
    start = trace.start
    assert (start["format"], start["version"]) == (FORMAT, VERSION)
    assert start["question"] == "How many orders?"
    assert start["recipe"]["name"] == "local"
    assert start["limits"]["rows"] == 1000
    assert {"seed", "sqlwright", "python", "database", "fingerprint", "time"} <= set(start)
    assert [step["step"] for step in trace.steps] == [time.step for time in answer.times]
    written = next(s for s in trace.steps if s["step"] == "generation.embedded")
    assert [c["sql"] for c in written["changes"]["candidates"]] == [
        "SELECT COUNT(*) FROM orders",
        "SELECT nope FROM orders",
    ]
    ran = [event for event in trace.events if event["kind"] == "execution"]
    assert [event["result"]["row_count"] for event in ran] == [1, 0]
    assert "nope" in ran[1]["result"]["error"]["message"]
    assert trace.answer["status"] == "answered"
    assert trace.answer["sql"] == answer.sql
    assert trace.answer["seconds"] > 0


def test_a_refusal_is_recorded_too(open_scripted: Open, traces: Path) -> None:
    answer = open_scripted().ask("Delete all orders")
    assert answer.status == "refused"
    assert read_trace(find_trace(traces, answer.trace_id)).answer["status"] == "refused"


def test_files_are_private(open_scripted: Open, traces: Path) -> None:
    open_scripted("SELECT 1").ask("How many orders?")
    (path,) = traces.iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(traces.stat().st_mode) == 0o700


def test_the_list_has_the_newest_first(open_scripted: Open, traces: Path) -> None:
    session = open_scripted("SELECT 1")
    ids = [session.ask(f"How many orders in {year}?").trace_id for year in (2024, 2025, 2026)]
    listed = list_traces(traces)
    assert [summary.id for summary in listed] == ids[::-1]
    assert listed[0].question == "How many orders in 2026?"
    assert listed[0].status == "answered"
    assert len(list_traces(traces, limit=2)) == 2
    assert list_traces(traces / "absent") == []


def test_no_trace_is_left_when_none_is_wanted(open_scripted: Open, traces: Path) -> None:
    answer = open_scripted("SELECT 1", record=False).ask("How many orders?")
    assert answer.status == "answered"
    assert answer.trace_id == ""
    assert not traces.exists()


def test_a_folder_that_cannot_be_written_costs_the_trace_not_the_answer(
    open_scripted: Open, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("in the way")
    answer = open_scripted("SELECT 1", home=tmp_path / "file").ask("How many orders?")
    assert answer.status == "answered"
    assert answer.trace_id == ""
    assert any("not recorded" in warning.text for warning in answer.warnings)


def test_only_the_newest_are_kept(tmp_path: Path) -> None:
    for place in range(6):
        writer = TraceWriter(tmp_path, f"2026-{place}", kept=3)
        writer(StepStarted("s", 0))
        writer.close()
    assert sorted(path.stem for path in tmp_path.iterdir()) == ["2026-3", "2026-4", "2026-5"]


def test_a_trace_is_found_by_its_beginning(tmp_path: Path) -> None:
    for name in ("20261101-a", "20261102-b", "20261102-c"):
        (tmp_path / f"{name}.jsonl").write_text("")
    assert find_trace(tmp_path, "20261101").stem == "20261101-a"
    assert find_trace(tmp_path).stem == "20261102-c"
    for wrong, message in (
        ("20261102", "2 traces begin"),
        ("2027", "no trace"),
        ("../../etc/passwd", "not a trace id"),
        ("*", "not a trace id"),
    ):
        with pytest.raises(WorkspaceError, match=message):
            find_trace(tmp_path, wrong)
    with pytest.raises(WorkspaceError, match="no traces yet"):
        find_trace(tmp_path / "absent")


def test_a_line_cut_by_a_kill_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    start = {"kind": "start", "format": FORMAT, "version": VERSION, "question": "q"}
    path.write_text(json.dumps(start) + '\n{"kind": "step", "st')
    trace = read_trace(path)
    assert trace.start["question"] == "q"
    assert trace.events == ()
    assert list_traces(tmp_path)[0].status == ""


def test_a_trace_of_a_newer_form_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps({"kind": "start", "format": FORMAT, "version": VERSION + 1}))
    with pytest.raises(WorkspaceError, match="can't read"):
        read_trace(path)


SECRETS = {
    "https://ada:hunter2@example.org/x": "https://***@example.org/x",
    "postgresql://u:p@ss@host/db": "postgresql://***@host/db",
    "https://x.org/?token=abc&y=1": "https://x.org/?***&y=1",
    "use sk-abcdefghijklmnop1234 please": "use *** please",
    "Authorization: Bearer abcdef0123456789": "Authorization: ***",
    "AKIAABCDEFGHIJKLMNOP": "***",
    "ghp_abcdefghijklmnopqrstuvwxyz": "***",
    "AIzaabcdefghijklmnopqrstuvw": "***",
    "gsk_abcdefghijklmnopqrst": "***",
    "SELECT token FROM t WHERE password = 'x'": "SELECT token FROM t WHERE password = 'x'",
    "the ratio 3:4 @ noon": "the ratio 3:4 @ noon",
}


@pytest.mark.parametrize("text", SECRETS)
def test_credentials_are_masked_and_nothing_else(text: str) -> None:
    assert mask(text) == SECRETS[text]


def test_a_credential_in_a_question_never_reaches_the_disk(
    open_scripted: Open, traces: Path
) -> None:
    open_scripted("SELECT 1").ask("How many orders did sk-abcdefghijklmnop1234 place?")
    (path,) = traces.iterdir()
    assert "abcdefghijklmnop" not in path.read_text("utf-8")


def test_results_are_kept_by_their_first_rows_and_long_texts_cut(tmp_path: Path) -> None:
    result = ExecutionResult(("a",), tuple(("x" * 100_000,) for _ in range(50)))
    state = State(Question("q"), SchemaView(Schema("s", ())))
    after = state.evolve(candidates=tuple(Candidate("s", "t", result=result) for _ in range(100)))
    writer = TraceWriter(tmp_path, "x")
    writer(StepEnded("s", 0.1, state, after))
    writer.close()
    assert writer.path.stat().st_size < 3_000_000
    (event,) = read_trace(writer.path).events
    assert set(event["changes"]) == {"candidates"}
    assert event["changes"]["candidates"][0]["result"]["row_count"] == 50
    assert event["changes"]["candidates"][-1] == "and 40 more"


def test_a_prompt_is_kept_with_its_origins_masked_and_cut(tmp_path: Path) -> None:
    spans = [Text.of(f"column_{n} ", "schema") + Text.of("v ", "value") for n in range(5_000)]
    secret = Text.of("sk-canary0123", "question") + Text.of("456789abcdefgh", "question")
    whole = secret + Text.join("", spans)
    writer = TraceWriter(tmp_path, "x")
    messages = (Message("system", secret), Message("user", whole))
    writer(ModelCalled("s", "m", 1, 0.0, 0, 10, messages, (), (), 0, 0, 0, 0, 0, (), None, 0.0))
    writer.close()
    (event,) = read_trace(writer.path).events
    assert event["messages"][0] == {"role": "system", "text": [["question", "***"]]}
    shown = event["messages"][1]["text"]
    assert shown[:3] == [["question", "***"], ["schema", "column_0 "], ["value", "v "]]
    assert shown[-1] == ["template", f"\u2026 ({len(str(whole)):,} characters)"]
    assert sum(len(text) for _, text in shown) < 25_000


def test_hostile_text_in_a_trace_stays_text(tmp_path: Path) -> None:
    texts = hostile.texts()
    writer = TraceWriter(tmp_path, "x")
    for text in texts.values():
        writer(StepStarted(text, 0))
    writer.close()
    lines = writer.path.read_text("utf-8").splitlines()
    assert len(lines) == len(texts)
    assert not hostile.acting("".join({c for line in lines for c in line}))
