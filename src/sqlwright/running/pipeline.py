"""Runs a recipe on a question: one error policy, times, events, and the answer at the end.

The policy. What the user can put right (UserError) goes to the caller. Anything else of ours that
a step raises, cancellation and deadline included, ends the steps but not the question: the best
candidate at hand is the answer, with a warning that says what happened.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from sqlwright import candidates as pool
from sqlwright.english.second_question import second_question_note
from sqlwright.errors import Cancelled, SqlwrightError, UserError
from sqlwright.presentation.answer import NO_ROWS, percent, shortened_words
from sqlwright.protocols import Context, EventSink, Run, Step, Workspace
from sqlwright.running.parallel import LEFT_OUT
from sqlwright.schema import ColumnRef, Schema, SchemaView
from sqlwright.sql.guard import columns_used, tables_used
from sqlwright.types import (
    Answer,
    Candidate,
    ExecutionResult,
    QueryPart,
    Question,
    State,
    StepTime,
    ValueMatch,
)

ALTERNATIVES = 4
"""Other results shown at most."""
GRACE = 0.3
"""Seconds a run that ran out of time gets to execute its best candidate, if none was."""
DOUBTFUL = 0.5
"""Below this confidence the answer says so."""
AS_LIKELY = 2 / 3
"""Of the confidence: another result that has this much is told as a reason for doubt."""
UNJUDGED = 0.5
"""Confidence at most of an answer that was cut short before anything judged it."""


@dataclass(frozen=True)
class Pipeline:
    """A recipe's step and its name."""

    recipe: str
    step: Step

    def run(
        self,
        question: Question,
        workspace: Workspace,
        models: Mapping[str, Any],
        run: Run,
    ) -> tuple[Answer, State]:
        """The answer and the state it was drawn from. Raises UserError and nothing else of ours."""
        start = State(question, SchemaView(workspace.schema))
        if note := second_question_note(question.text):
            start = start.warn(note)
        context = Context(workspace, run, models)
        stopped, began = "", run.clock()
        with _recording(run, start) as record:
            try:
                state = self.step(start, context)
            except SqlwrightError as error:
                if isinstance(error, UserError):
                    raise
                stopped = _told(error, record.current)
                state = _at_hand(record.state, context, error)
        answer = _assembled(state, workspace, stopped)
        answer = replace(
            answer,
            recipe=self.recipe,
            times=tuple(record.times),
            seconds=run.clock() - began,
            usage=run.spending.total,
            usage_by_step=run.spending.by_step,
        )
        return answer, state


@dataclass
class _Record:
    """An event sink that remembers the last state and the times, then passes events on."""

    state: State
    sink: EventSink
    times: list[StepTime] = field(default_factory=list)
    current: str = ""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, kind: str, payload: Mapping[str, Any]) -> None:
        with self.lock:
            if kind == "begin":
                self.current = str(payload["step"])
            elif kind == "merged":
                self.state = payload["state"]
            elif kind == "step":
                self.state = payload["state"]
                self.times.append(StepTime(str(payload["step"]), float(payload["seconds"])))
        self.sink(kind, payload)


@contextmanager
def _recording(run: Run, start: State) -> Iterator[_Record]:
    record = _Record(start, run.events)
    run.events = record
    try:
        yield record
    finally:
        run.events = record.sink


def _told(error: SqlwrightError, step: str) -> str:
    if isinstance(error, Cancelled):
        return f"stopped early: {error}"
    told = f"{step} failed: {error}" if step else str(error)
    return f"{told}. {error.hint}" if error.hint else told


def _at_hand(state: State, context: Context, error: SqlwrightError) -> State:
    """The state with its best candidate selected, executed if there is a moment left for it."""
    ranked = pool.rank(candidate for candidate in state.candidates if not candidate.goal)
    if state.selected is not None or state.refusal is not None or not ranked:
        return state
    if not any(pool.valid(candidate) for candidate in ranked):
        run = context.run
        if isinstance(error, Cancelled):  # a moment more when out of time, none when cancelled
            run = run.fork(run.events, seconds=GRACE)
        ranked = pool.rank(pool.execute(ranked, context.workspace.database, run))
    return state.evolve(selected=ranked[0], candidates=ranked, confidence=None)


def _assembled(state: State, workspace: Workspace, stopped: str) -> Answer:
    """What the state comes to. Refused goes before answered, answered before failed."""
    chosen = state.selected
    answer = Answer(
        status="failed",
        question=state.question.text,
        sql=None if chosen is None else chosen.sql,
        dialect=workspace.database.dialect,
        alternatives=_alternatives(state),
        extra={"tables": state.tables[:20], "columns": state.columns[:40]},
    )
    told = (stopped,) if stopped else ()
    if state.refusal is not None:
        return replace(
            answer,
            status="refused",
            sql=None,
            message=state.refusal.message,
            suggestion=state.refusal.suggestion,
            confidence=_clipped(state.confidence),
            warnings=_once(told, state.warnings, workspace.notes),
            extra={**answer.extra, "refusal": state.refusal.reason},
        )
    if chosen is not None and chosen.result is not None and chosen.result.ok:
        return _answered(answer, state, chosen, workspace, told)
    message, suggestion = _failure(chosen, stopped, state.warnings)
    warnings = _once(_beside(message, state.warnings), workspace.notes)
    return replace(answer, message=message, suggestion=suggestion, warnings=warnings)


def _answered(
    answer: Answer, state: State, chosen: Candidate, workspace: Workspace, told: tuple[str, ...]
) -> Answer:
    from sqlwright.sql.in_words.query import read_query

    result = chosen.result or ExecutionResult()
    columns = chosen.columns or columns_used(chosen.sql, workspace.schema)
    reading = read_query(chosen.sql, workspace.schema, chosen.values)
    told_values = {match for part in reading for match in _matches(part)}
    confidence = _confidence(state, chosen)
    if told and state.confidence is None:
        # The only query that ran has all of the score, which says nothing about the others.
        confidence = min(confidence, UNJUDGED)
    if state.confidence is None:
        confidence = pool.held(chosen, confidence)
    doubt = _doubt(state, chosen, answer.alternatives, confidence, told)
    warnings = _once(
        told,
        tuple(veto.message for veto in chosen.vetoes),
        tuple(veto.done for veto in chosen.mended),
        chosen.warnings,
        _remarks(result),
        state.warnings,
        workspace.notes,
    )
    return replace(
        answer,
        status="answered",
        columns=result.columns,
        rows=result.rows,
        truncated=result.truncated,
        shortened=result.shortened,
        confidence=confidence,
        doubt=doubt,
        values=tuple(match for match in chosen.values if match in told_values),
        reading=reading,
        used_columns=columns,
        used_tables=_tables(chosen.sql, columns, workspace.schema),
        warnings=tuple(warning for warning in warnings if warning != doubt),
    )


def _doubt(
    state: State,
    chosen: Candidate,
    others: tuple[Candidate, ...],
    confidence: float,
    told: tuple[str, ...],
) -> str:
    """The main reason for being less than half sure; empty otherwise. What it tells is no note."""
    if confidence >= DOUBTFUL:
        return ""
    result = chosen.result or ExecutionResult()
    found = told or tuple(veto.message for veto in chosen.vetoes)
    found = found or (() if result.rows else (NO_ROWS,))
    found = found or chosen.warnings or _nothing(result)
    if found:
        return found[0]
    if state.answerable is not None and state.answerable < DOUBTFUL:
        return "the database may not hold what is asked"
    rival = max((other.confidence or 0.0 for other in others), default=0.0)
    if rival and rival >= confidence * AS_LIKELY:
        return f"another query with another result is about as likely ({percent(rival)})"
    return "no query that was tried fits the question well"


def _matches(part: QueryPart) -> tuple[ValueMatch, ...]:
    """The phrases behind a condition of the query."""
    return () if part.condition is None else part.condition.matches


def _failure(chosen: Candidate | None, stopped: str, warnings: tuple[str, ...]) -> tuple[str, str]:
    if stopped:
        return stopped, ""
    if chosen is not None and chosen.result is not None and chosen.result.error is not None:
        return (
            f"the query failed: {chosen.result.error.message}",
            "Ask in other words, or correct the query and run it yourself.",
        )
    lost = [warning for warning in warnings if warning.startswith(LEFT_OUT)]
    if lost:  # other words wouldn't help against a model that doesn't reply, or replies no SQL
        return f"no query could be written: {lost[-1].removeprefix(LEFT_OUT)}", ""
    return (
        "no query could be written for this question",
        "Ask in other words, naming tables or columns of the database.",
    )


def _beside(message: str, warnings: tuple[str, ...]) -> tuple[str, ...]:
    """The warnings whose cause the message doesn't tell already."""
    cause = message.rpartition(" failed: ")[2].removeprefix("no query could be written: ")
    return tuple(warning for warning in warnings if not warning.endswith(cause))


def _alternatives(state: State) -> tuple[Candidate, ...]:
    """One candidate for each other result, the surest first."""
    chosen = state.selected
    ours = [candidate for candidate in state.candidates if not candidate.goal]
    ours.sort(key=lambda candidate: -(candidate.confidence or 0.0))
    first = [] if chosen is None else [chosen]
    groups = pool.group_by_result([*first, *ours])
    if chosen is not None and pool.valid(chosen):
        groups = groups[1:]
    return tuple(group.best for group in groups[:ALTERNATIVES])


def _confidence(state: State, chosen: Candidate) -> float:
    """The selection's own, else the share of the score that went to this result."""
    if state.confidence is not None:
        return _clipped(state.confidence)
    ran = [candidate for candidate in state.candidates if pool.valid(candidate)]
    shares = dict(zip(map(id, ran), pool.shares(ran), strict=True))
    for group in pool.group_by_result(ran):
        if any(candidate.sql == chosen.sql for candidate in group.candidates):
            return _clipped(sum(shares[id(candidate)] for candidate in group.candidates))
    return 0.0


def _clipped(confidence: float | None) -> float:
    # A comparison with NaN is false, so NaN ends as 0.
    return min(confidence, 1.0) if confidence is not None and confidence > 0 else 0.0


def _remarks(result: ExecutionResult) -> tuple[str, ...]:
    """What to know about the rows before relying on them. That they are cut, `truncated` says."""
    return (*shortened_words(result), *_nothing(result))


def _nothing(result: ExecutionResult) -> tuple[str, ...]:
    return ("the query found nothing but NULL",) if result.rows and result.empty else ()


def _tables(sql: str, columns: tuple[ColumnRef, ...], schema: Schema) -> tuple[str, ...]:
    """Tables the query reads, by their stored names."""
    names = tables_used(sql) or tuple(ref.table for ref in columns)
    stored = (schema.table(name) for name in names)
    return tuple(dict.fromkeys(table.name for table in stored if table is not None))


def _once(*warnings: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(warning for group in warnings for warning in group))
