"""Candidates of questions that were answered here, from the traces that the user judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sqlwright.lab.datasets.selection import Selection
from sqlwright.lab.evaluation.golden.judged import LONGEST, NAME, load_traces
from sqlwright.lab.finetuning.candidates.generators import EMBEDDED
from sqlwright.lab.finetuning.candidates.lines import CandidateLine, Header, QuestionLine
from sqlwright.running.trace import Trace, read_trace


def traced(folder: Path) -> Iterator[tuple[Header, list[QuestionLine]]]:
    """By recipe and model, the candidates of the judged questions of a folder of traces. What a
    language model was trained on isn't known. Raises DatasetError and WorkspaceError."""
    by_generator: dict[tuple[str, str], list[QuestionLine]] = {}
    for example in load_traces(folder, Selection()).examples:
        trace = read_trace(folder / f"{example.id}.jsonl")
        recipe: Any = trace.start.get("recipe")
        name = str(recipe.get("name", "") if isinstance(recipe, dict) else recipe)
        model = str(trace.start.get("model") or "")
        line = QuestionLine(
            question_id=example.id,
            db_id=example.db_id,
            source=NAME,
            candidates=tuple(_candidates(trace, model)),
        )
        by_generator.setdefault((name, model or EMBEDDED), []).append(line)
    for (name, model), lines in sorted(by_generator.items()):
        yield Header(recipe=name, model=model, sources=({"name": NAME},)), lines


def _candidates(trace: Trace, model: str) -> Iterator[CandidateLine]:
    """The candidates that ran, as they were last. Queries that the trace cuts are left out."""
    kept: list[Any] = []
    for step in trace.steps:
        changes = step.get("changes")
        if isinstance(changes, Mapping) and isinstance(changes.get("candidates"), list):
            kept = changes["candidates"]
    for one in kept:
        if not isinstance(one, dict) or one.get("goal") or not one.get("result"):
            continue
        sql, source = one.get("sql"), str(one.get("source", ""))
        if isinstance(sql, str) and len(sql) <= LONGEST:
            own = not model or source == "generation.embedded"
            yield CandidateLine(sql=sql, model=EMBEDDED if own else str(one.get("model") or model))
