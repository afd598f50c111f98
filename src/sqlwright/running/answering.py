"""Building the answer from the state in which a recipe ended.

Sets the answer's status, rows, confidence, reason for doubt, alternatives and notes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from sqlwright import candidates as pool
from sqlwright.boundary.text import percent
from sqlwright.caveats import Look, examined, faulty
from sqlwright.confidence.calibration import log_odds, probability
from sqlwright.errors import Cancelled
from sqlwright.presentation.accounting import named_words
from sqlwright.presentation.answer import NO_ROWS, shortened_words
from sqlwright.presentation.sureness import agreement_words
from sqlwright.protocols import Workspace
from sqlwright.running.declined import declined_note, mostly_declined, refusal_of
from sqlwright.running.grounds import Caution, author_of, basis_of
from sqlwright.running.left_out import left_out
from sqlwright.running.trust import FAULTY, NOTHING_FITTED, Sure, Trust
from sqlwright.schema import ColumnRef, Schema, SchemaView
from sqlwright.sql.reading import columns_used, tables_used
from sqlwright.types import (
    CAVEATS,
    FINDINGS,
    Answer,
    Basis,
    Candidate,
    Choice,
    ExecutionResult,
    Note,
    QueryPart,
    Question,
    QuestionBack,
    State,
    StepTime,
    ValueMatch,
)

ALTERNATIVES = 4
"""Other results shown at most; chosen."""
DOUBTFUL = 0.5
"""Confidence below which the answer says so; chosen: more likely wrong than right."""
OF_QUERY = FINDINGS | CAVEATS | {
    "vetoed", "mended", "unanswered", "converted", "shortened", "only_null", "equal_rows",
}  # fmt: skip
"""Kinds of notes that are about one query and its rows."""
AS_LIKELY = 2 / 3
"""Share of the confidence from which another result is named as a reason for doubt; chosen."""


def answer_from(
    state: State, workspace: Workspace, stopped: Note | None, trust: Trust = NOTHING_FITTED
) -> Answer:
    """The answer in a state: refused, else answered, else failed.

    `stopped` is the note on the error that ended the steps early; None when none did. `trust` says
    how sure the answer may be.
    """
    state, sure = trust.cautioned(state, workspace.schema)
    chosen = state.selected
    answer = Answer(
        status="failed",
        question=state.question.text,
        sql=None if chosen is None else chosen.sql,
        dialect=workspace.database.dialect,
        answered_by=None if chosen is None else author_of(chosen, state),
        alternatives=_alternatives(state),
        tiers=state.tiers,
    )
    told = (stopped,) if stopped else ()
    known = tuple(Note("database", text) for text in workspace.notes)
    refusal = state.refusal or refusal_of(state)
    if refusal is not None:
        return replace(
            answer,
            status="refused",
            sql=None,
            answered_by=None,
            message=refusal.message,
            suggestion=refusal.suggestion,
            confidence=_clipped(state.confidence),
            interval=sure.interval,
            warnings=_once(told, state.warnings, known),
            refusal=refusal.reason,
        )
    if chosen is not None and chosen.result is not None and chosen.result.ok:
        return _answered(answer, state, chosen, workspace, told, sure=sure)
    message, suggestion, cause = _failure(chosen, stopped, state.warnings)
    # What the message tells already isn't told again.
    others = tuple(
        note
        for note in state.warnings
        if (not cause or note.cause != cause) and note.text not in message
    )
    warnings = _once(others, known)
    return replace(answer, message=message, suggestion=suggestion, warnings=warnings)


def never_begun(question: Question, error: Cancelled, dialect: str) -> tuple[Answer, State]:
    """The answer and state of a run that ended while its database was still being opened."""
    answer = Answer("failed", question.text, None, dialect, message=f"stopped early: {error}")
    return answer, State(question, SchemaView(Schema("", ())))


def chosen_answer(
    answer: Answer, choice: Choice, workspace: Workspace, caution: Caution | None = None
) -> Answer:
    """The answer by a reading that was chosen of its question back.

    It is as sure as that one of the readings is right; the others are ruled out. Times and usage
    are those of the search, which stays the only one.
    """
    asked = answer.question_back
    offered = () if asked is None else asked.choices
    others = tuple(_ruled_out(one.candidate) for one in offered if one is not choice)
    taken, sure, interval = choice.candidate, answer.confidence, answer.interval
    basis = answer.basis
    if asked is not None and choice is not asked.taken:
        agreeing = _agreeing(basis, asked.taken.candidate, taken)
        basis = replace(basis, agreeing=agreeing, signs=())
    if asked is not None and sure is not None:
        whole = _any_right([sure * one.share / asked.taken.share for one in offered])
        interval = _moved(interval, log_odds(whole) - log_odds(sure))
        taken, sure = replace(taken, confidence=whole), whole
    state = State(
        Question(answer.question),
        SchemaView(workspace.schema),
        values=taken.values,
        candidates=(taken, *others, *answer.alternatives),
        selected=taken,
        confidence=sure,
        basis=basis,
        warnings=tuple(note for note in answer.warnings if note.kind not in OF_QUERY),
    )
    return replace(
        answer_from(state, workspace, None, Trust(caution=caution)),
        interval=interval,
        basis=basis,
        recipe=answer.recipe,
        tiers=answer.tiers,
        times=answer.times,
        seconds=answer.seconds,
        usage=answer.usage,
        usage_by_step=answer.usage_by_step,
    )


def _any_right(sure: Sequence[float]) -> float:
    """The probability that one of several readings is right, each for itself: what is told of each
    leaves the others too much room for a sum."""
    return 1.0 - prod(1.0 - min(one, 1.0) for one in sure)


def _ruled_out(other: Candidate) -> Candidate:
    return other if other.confidence is None else replace(other, confidence=0.0)


def _agreeing(basis: Basis, first: Candidate, other: Candidate) -> int:
    """The samples that agree with another result than the one that a basis tells of."""
    return round(basis.agreeing * (other.share or 0.0) / first.share) if first.share else 0


def _moved(interval: tuple[float, float] | None, by: float) -> tuple[float, float] | None:
    """An interval moved by log odds."""
    if interval is None:
        return None
    low, high = (probability(log_odds(end) + by) for end in interval)
    return low, high


def query_answer(sql: str, result: ExecutionResult, look: Look) -> Answer:
    """The answer for a user's own query, with what the data do to it and what its tables lack."""
    schema, notes = look.schema, examined(Candidate(sql, "user", result=result), look).told()
    answer = Answer(
        status="answered" if result.ok else "failed",
        question="",
        sql=sql,
        dialect=schema.dialect,
        columns=result.columns,
        rows=result.rows,
        truncated=result.truncated,
        shortened=result.shortened,
        warnings=(*notes, *_shortened(result)),
        times=(StepTime("execute", result.elapsed),),
        seconds=result.elapsed,
        confidence=None,
        message="" if result.error is None else result.error.message,
        error=result.error,
    )
    if not result.ok:
        return answer
    from sqlwright.sql.in_words.query import read_query

    tables, columns = tables_used(sql, schema.dialect), columns_used(sql, schema)
    told = read_query(sql, schema)
    answer = replace(answer, reading=told, used_tables=tables, used_columns=columns)
    named = [(ref.table, ref.column) for ref in columns]
    lacking = (*look.database.doubted(tables, named), "")
    noticed = (
        Note("database", text) for text in look.database.noticed(tables) if text != lacking[0]
    )
    return replace(answer, doubt=lacking[0], warnings=(*answer.warnings, *noticed))


def _answered(
    answer: Answer,
    state: State,
    chosen: Candidate,
    workspace: Workspace,
    told: tuple[Note, ...],
    *,
    sure: Sure,
) -> Answer:
    from sqlwright.sql.in_words.query import read_query

    result = chosen.result or ExecutionResult()
    columns = chosen.columns or columns_used(chosen.sql, workspace.schema)
    reading = read_query(chosen.sql, workspace.schema, chosen.values)
    tables = _tables(chosen.sql, columns, workspace.schema)
    noticed = workspace.database.noticed(tables)
    lacking = workspace.database.doubted(tables, [(ref.table, ref.column) for ref in columns])
    told_values = {match for part in reading for match in _matches(part)}
    most = FAULTY if lacking else 1.0
    confidence = None if state.confidence is None else min(_clipped(state.confidence), most)
    interval = sure.interval and (min(sure.interval[0], most), min(sure.interval[1], most))
    basis = _grounds(state, chosen, sure)
    if confidence is None:
        doubt = _unmeasured_doubt(chosen, basis)
        if mostly_declined(state) and not doubt:
            doubt = declined_note(state)[0].text
    else:
        doubt = _doubt(state, chosen, answer.alternatives, confidence, told)
    doubt = lacking[0] if lacking and not told else doubt
    read = [veto.message for veto in chosen.vetoes] + [veto.done for veto in chosen.mended]
    read += [sign.text for sign in basis.signs]
    warnings = _once(
        told,
        tuple(note for note in state.warnings if note.kind == "stand_in"),
        declined_note(state),
        tuple(Note("vetoed", veto.message) for veto in chosen.vetoes),
        tuple(Note("mended", veto.done) for veto in chosen.mended),
        tuple(Note("unanswered", text) for text in named_words(chosen.account, read)),
        left_out(state, chosen, workspace.schema),
        chosen.warnings,
        _remarks(result),
        state.warnings,
        tuple(Note("database", text) for text in (*workspace.notes, *noticed)),
    )
    return replace(
        answer,
        status="answered",
        columns=result.columns,
        rows=result.rows,
        truncated=result.truncated,
        shortened=result.shortened,
        confidence=confidence,
        interval=interval,
        basis=basis,
        doubt=doubt,
        values=tuple(match for match in chosen.values if match in told_values),
        account=chosen.account,
        reading=reading,
        used_columns=columns,
        used_tables=tables,
        question_back=_asked_back(state, chosen),
        warnings=tuple(note for note in warnings if note.text != doubt),
    )


def _asked_back(state: State, chosen: Candidate) -> QuestionBack | None:
    """The question back, if the answer goes by its first choice: no later step chose otherwise."""
    asked = state.question_back
    return asked if asked is not None and asked.taken.candidate.id == chosen.id else None


def _doubt(
    state: State,
    chosen: Candidate,
    others: tuple[Candidate, ...],
    confidence: float,
    told: tuple[Note, ...],
) -> str:
    """The main reason for being less than half sure; empty otherwise. What it tells is no note."""
    if confidence >= DOUBTFUL:
        return ""
    result = chosen.result or ExecutionResult()
    noted = [note.text for note in told] or [veto.message for veto in chosen.vetoes]
    noted = noted or ([] if result.rows else [NO_ROWS])
    weak = (note for note in chosen.warnings if note.kind != "converted")
    noted = noted or [note.text for note in (*weak, *_nothing(result))]
    if noted:
        return noted[0]
    if state.answerable is not None and state.answerable < DOUBTFUL:
        return "the database may not hold what is asked"
    rival = max((other.confidence or 0.0 for other in others), default=0.0)
    if rival and rival >= confidence * AS_LIKELY:
        return f"another query with another result is about as likely ({percent(rival)})"
    return "no query that was tried fits the question well"


def _matches(part: QueryPart) -> tuple[ValueMatch, ...]:
    """The phrases behind a condition of the query."""
    return () if part.condition is None else part.condition.matches


def _failure(
    chosen: Candidate | None, stopped: Note | None, notes: tuple[Note, ...]
) -> tuple[str, str, str]:
    """The message, a suggestion, and the message of the error that is the cause, if any."""
    if stopped is not None:
        return stopped.text, "", stopped.cause
    if chosen is not None and chosen.result is not None and chosen.result.error is not None:
        cause = chosen.result.error.message
        advice = "Ask in other words, or correct the query and run it yourself."
        if chosen.result.error.kind == "costly":
            advice = "Ask for less, or allow more: --max-scan, max_scan= in Python."
        return f"the query failed: {cause}", advice, cause
    lost = [note.cause for note in notes if note.kind == "left_out"]
    absent = next((note.text for note in notes if note.kind == "stand_in"), "")
    if absent:
        last = lost[-1] if lost else ""
        return f"{absent}: {last}" if last else absent, "", last
    if lost:  # other words wouldn't help against a model that doesn't reply, or replies no SQL
        return f"no query could be written: {lost[-1]}", "", lost[-1]
    if chosen is not None and chosen.result is None:
        return (
            "the query that was selected was never run",
            "Unless time ran out, the recipe selects before it runs any: put repair.execute "
            "before the selection.",
            "",
        )
    return (
        "no query could be written for this question",
        "Ask in other words, naming tables or columns of the database.",
        "",
    )


def _alternatives(state: State) -> tuple[Candidate, ...]:
    """One candidate for each other result, the surest first."""
    chosen = state.selected
    ours = sorted(state.for_question, key=lambda one: -(one.confidence or one.share or 0.0))
    first = [] if chosen is None else [chosen]
    groups = pool.group_by_result([*first, *ours])
    if chosen is not None and pool.valid(chosen):
        groups = groups[1:]
    return tuple(group.best for group in groups[:ALTERNATIVES])


def _grounds(state: State, chosen: Candidate, sure: Sure) -> Basis:
    """The grounds for how sure the answer is."""
    if state.confidence is None:
        return basis_of(state, chosen)
    asked = (state.basis if state.tiers else None) or Basis()
    basis = basis_of(state, chosen) if sure.counted else asked
    return replace(basis, kind="calibrated", fitted_to=sure.fitted_to)


def _unmeasured_doubt(chosen: Candidate, basis: Basis) -> str:
    """The main reason to doubt an answer that has no probability; empty where nothing speaks
    strongly against it. No number is compared with a threshold that was meant for probabilities."""
    if chosen.vetoes:
        return chosen.vetoes[0].message
    if caveats := faulty(chosen):
        return caveats[0].text
    grave = [sign.text for sign in basis.signs if sign.grave and not sign.favours]
    if grave:
        return grave[0]
    tested = any(sign.kind == "tests" for sign in basis.signs)
    if basis.kind == "agreement" and not tested and 2 * basis.agreeing < basis.of:
        against = [sign.text for sign in basis.signs if not sign.favours and not basis.agreeing]
        return against[0] if against else f"only {agreement_words(basis)}"
    return ""


def _clipped(confidence: float | None) -> float:
    # A comparison with NaN is false, so NaN ends as 0.
    return min(confidence, 1.0) if confidence is not None and confidence > 0 else 0.0


def _remarks(result: ExecutionResult) -> tuple[Note, ...]:
    """Notes on the rows. Rows left out have none: `truncated` says it."""
    return (*_shortened(result), *_nothing(result))


def _shortened(result: ExecutionResult) -> tuple[Note, ...]:
    return tuple(Note("shortened", text) for text in shortened_words(result))


def _nothing(result: ExecutionResult) -> tuple[Note, ...]:
    only_null = Note("only_null", "the query found nothing but NULL")
    return (only_null,) if result.rows and result.empty else ()


def _tables(sql: str, columns: tuple[ColumnRef, ...], schema: Schema) -> tuple[str, ...]:
    """Tables the query reads, by their stored names."""
    names = tables_used(sql, schema.dialect) or tuple(ref.table for ref in columns)
    stored = (schema.table(name) for name in names)
    return tuple(dict.fromkeys(table.name for table in stored if table is not None))


def _once(*groups: tuple[Note, ...]) -> tuple[Note, ...]:
    """The notes in order, each text once."""
    found: dict[str, Note] = {}
    for note in (note for group in groups for note in group):
        found.setdefault(note.text, note)
    return tuple(found.values())
