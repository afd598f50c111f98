"""The question of a trace, for a golden set."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlwright.errors import WorkspaceError
from sqlwright.lab.evaluation.golden.adding import NewQuestion
from sqlwright.running.trace import SHOWN_CHARACTERS, Trace, find_trace, read_trace


@dataclass(frozen=True, slots=True)
class Traced:
    """A question on record."""

    new: NewQuestion
    follows: bool
    """True if earlier questions were handed on with it: alone it may mean something else."""


def traced_question(path: Path, sql: str = "") -> Traced:
    """The question, evidence and database of a trace, with the query of its answer or a better one.
    Raises WorkspaceError where the trace has no query or not the whole of it."""
    trace = read_trace(path)
    if not trace.start:
        raise WorkspaceError(f"{path} is no trace", hint="`sqlwright trace` lists those there are.")
    start = _asked(trace, path.parent)
    chosen = sql or trace.answer.get("sql")
    if not chosen or (not sql and trace.answer.get("status") != "answered"):
        raise WorkspaceError(
            f"the trace {trace.id} has no answer", hint="Give the right query with --sql."
        )
    texts = (str(start.get("question") or ""), str(start.get("evidence") or ""), str(chosen))
    kept = texts[:2] if sql else texts
    if any(len(text) > SHOWN_CHARACTERS for text in kept):
        raise WorkspaceError(
            f"the trace {trace.id} keeps only the beginning of its texts",
            hint="Write the question into the file by hand.",
        )
    question, evidence, query = texts
    new = NewQuestion(question, query, evidence, str(trace.start.get("database") or ""))
    return Traced(new, bool(start.get("history")))


def _asked(trace: Trace, folder: Path) -> dict[str, Any]:
    """The first line of the trace; of one in which a reading was chosen that of the question."""
    of = next((str(e.get("of") or "") for e in trace.events if e["kind"] == "choice"), "")
    if not of:
        return dict(trace.start)
    try:
        return dict(read_trace(find_trace(folder, of)).start) or dict(trace.start)
    except WorkspaceError:  # the older one is gone: the question is here, too
        return dict(trace.start)
