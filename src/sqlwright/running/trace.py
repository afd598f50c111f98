"""Records of runs: one JSON Lines file per question, and its reader.

The first line names the format and its version and describes the run (question, recipe, versions,
seed, limits, database); then one line per event: a step with what it changed, an execution with
its result; the last one is the answer. Secrets are masked, results are kept by their first rows,
files are 0600. A line is written when its event happens, so a killed run leaves what it did.

A trace holds values of the database. It never leaves the machine on its own.
"""

from __future__ import annotations

import json
import os
import platform
import re
import threading
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import sqlwright
from sqlwright.boundary.feedback import ENDING, Feedback, feedback_on
from sqlwright.boundary.home import make_private
from sqlwright.boundary.secrets import mask
from sqlwright.boundary.text import readable, to_json
from sqlwright.errors import WorkspaceError
from sqlwright.events import BranchesMerged, Event, RunEnded, RunStarted, StepEnded
from sqlwright.messages import Message
from sqlwright.presentation.answer import candidate_to_dict, note_to_dict, plain, result_to_dict
from sqlwright.protocols import Run, Workspace
from sqlwright.schema import Detail, SchemaView
from sqlwright.types import Answer, Candidate, ExecutionResult, Judgement, Note, Question, State

FORMAT = "sqlwright-trace"
VERSION = 1
"""Version of the format; grows when a reader has to tell old files from new ones."""
KEPT = 500
"""Traces kept per folder; the oldest without feedback go first. Chosen, as the next four."""
UNTOLD = frozenset({"question", "measures"})
"""Fields of a state that no step's changes tell: what is said once, and numbers for models."""
SHOWN_ROWS = 5
"""Rows kept of a result."""
SHOWN_ITEMS = 60
"""Items kept of a list."""
SHOWN_CHARACTERS = 4_000
"""Characters kept of a text."""
SHOWN_PROMPT = 20_000
"""Characters kept of one message to a language model."""

_NAME = re.compile(r"^[0-9A-Za-z_-]+$")


class TraceWriter:
    """An event sink that writes one file. A full or read-only disk costs the trace, not the answer.

    `problem` says why nothing (more) could be written; empty while all is well.
    """

    def __init__(self, folder: Path, run_id: str, *, kept: int = KEPT) -> None:
        self.path = folder / f"{run_id}.jsonl"
        self.problem = ""
        self._kept = kept
        self._lock = threading.Lock()
        self._handle: int | None = None

    def __call__(self, event: Event) -> None:
        if not event.recorded:
            return
        line = to_json({"kind": event.kind, **_encoded(event)}) + "\n"
        with self._lock:
            if self.problem:
                return
            try:
                if self._handle is None:
                    self._handle = self._open()
                os.write(self._handle, line.encode("utf-8"))
            except OSError as error:
                self.problem = error.strerror or str(error)

    def close(self) -> None:
        """Finish the file and drop the oldest ones beyond the number kept."""
        with self._lock:
            if self._handle is not None:
                os.close(self._handle)
                self._handle = None
                _prune(self.path.parent, self._kept)

    def _open(self) -> int:
        make_private(self.path.parent)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND
        return os.open(self.path, flags, 0o600)


@dataclass(frozen=True, slots=True)
class TraceSummary:
    """One line of a list of traces."""

    id: str
    path: Path
    time: str
    """Start of the run, ISO 8601, UTC."""
    question: str
    database: str
    recipe: str
    status: str
    """Empty for a run that never ended."""
    sql: str | None = None
    confidence: float = 0.0
    seconds: float = 0.0
    feedback: str = ""
    """Right, wrong or corrected; empty where the user said nothing of it."""


@dataclass(frozen=True, slots=True)
class Trace:
    """A trace read back. `start` and `answer` are its first and last events; both may be empty."""

    id: str
    start: Mapping[str, Any] = field(default_factory=dict)
    events: tuple[Mapping[str, Any], ...] = ()
    answer: Mapping[str, Any] = field(default_factory=dict)
    feedback: Feedback | None = None

    @property
    def steps(self) -> tuple[Mapping[str, Any], ...]:
        """The steps in the order they ended."""
        return tuple(event for event in self.events if event["kind"] == "step")


def list_traces(folder: Path, *, limit: int | None = None) -> list[TraceSummary]:
    """The newest first. A folder that isn't there has none."""
    paths = sorted(folder.glob("*.jsonl"), reverse=True) if folder.is_dir() else []
    return [_summary(read_trace(path), path) for path in paths[:limit]]


def find_trace(folder: Path, run_id: str = "") -> Path:
    """The trace with that id or unique beginning of one; the newest without. Raises
    WorkspaceError."""
    if run_id and not _NAME.match(run_id):
        raise WorkspaceError(f"{run_id!r} is not a trace id", hint="`sqlwright trace` lists them.")
    found = sorted(folder.glob(f"{run_id}*.jsonl")) if folder.is_dir() else []
    if not found:
        which = f"no trace {run_id!r}" if run_id else "no traces yet"
        raise WorkspaceError(
            f"{which} in {folder}", hint="`sqlwright trace` lists those there are."
        )
    if run_id and len(found) > 1 and not (folder / f"{run_id}.jsonl").exists():
        raise WorkspaceError(f"{len(found)} traces begin with {run_id!r}", hint="Give more of it.")
    return folder / f"{run_id}.jsonl" if (folder / f"{run_id}.jsonl").exists() else found[-1]


def read_trace(path: Path) -> Trace:
    """One trace. A last line cut short by a kill is left out. Raises WorkspaceError."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise WorkspaceError(f"{path} can't be read: {error.strerror}") from None
    events = list(_lines(text))
    start = events[0] if events and events[0]["kind"] == "start" else {}
    if start and (start.get("format") != FORMAT or start.get("version", 0) > VERSION):
        raise WorkspaceError(
            f"{path} is in a form this version can't read ({start.get('version')!r})",
            hint="A newer sqlwright wrote it.",
        )
    ends = [event for event in events if event["kind"] == "answer"]
    middle = tuple(e for e in events if e["kind"] not in {"start", "answer"})
    return Trace(path.stem, start, middle, ends[-1] if ends else {}, feedback_on(path))


class Recording:
    """A run put on record: its events go to a trace, if there is a folder for it, and to the run's
    own sink. A context manager."""

    def __init__(self, folder: Path | None, run: Run) -> None:
        self._writer = None if folder is None else TraceWriter(folder, run.id)
        self._sink = run.events
        self.run = run.fork(self._record)
        """The same run, recorded."""

    def __enter__(self) -> Recording:
        return self

    def __exit__(self, *_: object) -> None:
        if self._writer is not None:
            self._writer.close()

    def begin(
        self, question: Question, workspace: Workspace, recipe: Mapping[str, Any], model: str
    ) -> None:
        """Write the first line: what it takes to run the question again. `recipe` is as it was
        loaded, `model` the language model used by default."""
        run = self.run
        self._record(
            RunStarted(
                id=run.id,
                time=datetime.now(UTC).isoformat(timespec="milliseconds"),
                question=question.text,
                evidence=question.evidence,
                history=question.history,
                database=workspace.database.url,
                fingerprint=workspace.database.fingerprint(),
                recipe=recipe,
                seed=run.seed,
                seconds=run.seconds,
                limits=asdict(run.limits),
                model=model,
                budget=str(run.spending.budget),
                privacy=run.privacy,
                sqlwright=sqlwright.__version__,
                python=platform.python_version(),
                notes=workspace.notes,
                stand_in=run.stand_in,
            )
        )

    def end(self, answer: Answer) -> Answer:
        """Write the last line. The answer with the trace's id, or with a warning why there is no
        trace."""
        self._record(RunEnded(answer, self.run.clock() - self.run.started))
        if self._writer is None:
            return answer
        if self._writer.problem:
            problem = f"this question was not recorded: {self._writer.problem}"
            note = Note("record", problem)
            return replace(answer, warnings=(*answer.warnings, note))
        return replace(answer, trace_id=self.run.id)

    def _record(self, event: Event) -> None:
        if self._writer is not None:
            self._writer(event)
        self._sink(event)


def _outcome(answer: Answer, seconds: float) -> dict[str, Any]:
    """The last line of a trace."""
    return {
        "status": answer.status,
        "sql": answer.sql,
        "dialect": answer.dialect,
        "answered_by": answer.answered_by,
        "confidence": answer.confidence,
        "basis": answer.basis,
        "doubt": answer.doubt,
        "message": answer.message,
        "suggestion": answer.suggestion,
        "columns": answer.columns,
        "row_count": len(answer.rows),
        "truncated": answer.truncated,
        "warnings": [note_to_dict(note) for note in answer.warnings],
        "times": answer.times,
        "usage": answer.usage,
        "usage_by_step": answer.usage_by_step,
        "tiers": answer.tiers,
        "alternatives": [candidate.sql for candidate in answer.alternatives],
        "seconds": seconds,
    }


def _lines(text: str) -> Iterator[dict[str, Any]]:
    for line in text.split("\n"):
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict) and isinstance(event.get("kind"), str):
            yield event


def _summary(trace: Trace, path: Path) -> TraceSummary:
    start, answer = trace.start, trace.answer
    recipe = start.get("recipe") or {}
    return TraceSummary(
        id=trace.id,
        path=path,
        time=str(start.get("time", "")),
        question=str(start.get("question", "")),
        database=str(start.get("database", "")),
        recipe=str(recipe.get("name", "") if isinstance(recipe, dict) else recipe),
        status=str(answer.get("status", "")),
        sql=answer.get("sql"),
        confidence=float(answer.get("confidence") or 0.0),
        seconds=float(answer.get("seconds") or 0.0),
        feedback="" if trace.feedback is None else trace.feedback.word,
    )


def _prune(folder: Path, kept: int) -> None:
    with os.scandir(folder) as entries:
        names = {entry.name for entry in entries}
    judged = {name.removesuffix(ENDING) for name in names if name.endswith(ENDING)}
    traces = {name.removesuffix(".jsonl") for name in names if name.endswith(".jsonl")}
    for name in sorted(traces - judged, reverse=True)[kept:]:
        (folder / f"{name}.jsonl").unlink(missing_ok=True)


def _encoded(event: Event) -> dict[str, Any]:
    """An event's fields as JSON types: changed ones of states, of the answer those not in steps."""
    if isinstance(event, RunEnded):
        return {k: _item(value) for k, value in _outcome(event.answer, event.seconds).items()}
    values = {each.name: getattr(event, each.name) for each in fields(event)}
    line = {name: _item(value) for name, value in values.items() if not isinstance(value, State)}
    if isinstance(event, RunStarted):
        return {"format": FORMAT, "version": VERSION, **line}
    if isinstance(event, StepEnded):
        line["changes"] = _changes(event.before, event.after)
    if isinstance(event, BranchesMerged):
        line["changes"] = _changes(None, event.state)
    return line


def _changes(before: State | None, after: State) -> dict[str, Any]:
    """The fields a step changed, as they are now."""
    changed = (
        f.name
        for f in fields(State)
        if before is None or getattr(before, f.name) is not getattr(after, f.name)
    )
    return {name: _item(getattr(after, name)) for name in changed if name not in UNTOLD}


def _item(value: Any) -> Any:
    if isinstance(value, Candidate):
        goal = {"goal": readable(value.goal)} if value.goal else {}
        return _clipped(candidate_to_dict(value, rows=SHOWN_ROWS) | goal)
    if isinstance(value, ExecutionResult):
        return _clipped(result_to_dict(value, rows=SHOWN_ROWS))
    if isinstance(value, SchemaView):
        return _view(value)
    if isinstance(value, Message):
        return _message(value)
    if isinstance(value, tuple) and value and isinstance(value[0], Judgement):
        return plain(value)  # short, and a figure needs them all
    if isinstance(value, tuple | list) and not hasattr(value, "_asdict"):
        shown = [_item(item) for item in value[:SHOWN_ITEMS]]
        return [*shown, f"and {len(value) - SHOWN_ITEMS} more"] if value[SHOWN_ITEMS:] else shown
    return _clipped(plain(value))


def _message(message: Message) -> dict[str, Any]:
    """A message to a language model, its text as (origin, text) in order."""
    spans: list[list[str]] = []
    room = SHOWN_PROMPT
    for span in message.text.spans:
        if room <= 0:
            whole = sum(len(each.text) for each in message.text.spans)
            spans.append(["template", f"\u2026 ({whole:,} characters)"])
            break
        if spans and spans[-1][0] == span.origin:
            spans[-1][1] += span.text[: 2 * room]
        else:
            spans.append([span.origin, span.text[: 2 * room]])
        room -= len(span.text)
    shown = [[origin, _cut(text, SHOWN_PROMPT)] for origin, text in spans]
    entry: dict[str, Any] = {"role": message.role, "text": shown}
    if message.tool_calls:
        entry["tool_calls"] = _clipped(plain(message.tool_calls))
    return entry


def _cut(text: str, most: int) -> str:
    # Masked before it is cut, so that half a credential isn't left at the end.
    masked = mask(readable(text[: 2 * most]))
    return f"{masked[:most]}\u2026 ({len(text):,} characters)" if len(text) > most else masked


def _clipped(value: Any) -> Any:
    match value:
        case str():
            return _cut(value, SHOWN_CHARACTERS)
        case dict():
            return {key: _clipped(item) if item else item for key, item in value.items()}
        case list():
            return [_clipped(item) for item in value]
        case _:
            return value


def _view(view: SchemaView) -> dict[str, Any]:
    shown = dict.fromkeys(Detail, 0)
    for ref in view.schema.columns:
        shown[view.detail(ref)] += 1
    return {detail.value: count for detail, count in shown.items()}
