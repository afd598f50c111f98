"""Has a language model mend candidates with faults, given their results."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, NamedTuple

from sqlwright.candidates import (
    execute,
    grounded,
    history,
    is_empty_answer,
    normalized_sql,
    result_rank,
    valid,
)
from sqlwright.errors import MalformedReply, ModelFailed
from sqlwright.messages import Message, Text
from sqlwright.prompts.demonstrations import load_revisions, texts
from sqlwright.prompts.fitting import Fitted, Portion, fit
from sqlwright.prompts.replies import plan_from, sql_from
from sqlwright.prompts.sampling import Prompt, Sampling, ask
from sqlwright.prompts.schema import render_result, render_sql
from sqlwright.prompts.templates import plain_text, render, schema_text
from sqlwright.protocols import Context
from sqlwright.steps.demonstrating import chosen, features_of
from sqlwright.steps.repair.checks import findings
from sqlwright.steps.repair.faults import (
    SIMILAR,
    Fault,
    FaultRule,
    seen,
    settled,
    unknown_texts,
)
from sqlwright.steps.repair.literals import ALIKE, mend
from sqlwright.steps.showing import SchemaStep, Style
from sqlwright.steps.task import task
from sqlwright.types import Candidate, ExecutionResult, Note, State

SOURCE = "repair.revise"

_RESULTS = FaultRule(literals=False)
_REASONS = {
    "unexecuted": "it was not executed",
    "error": "it failed",
    "empty": "it found no rows",
    "null": "it found nothing but NULL",
    "literal": "it compares a column with a text that it doesn't hold",
}


class Mended(NamedTuple):
    """The parts of a reply."""

    sql: str
    plan: str


class _Looked(NamedTuple):
    """A candidate and what is wrong with it."""

    candidate: Candidate
    faults: tuple[Fault, ...]
    wanted: bool
    """True if a model is to look at it."""


@dataclass(frozen=True)
class Revise(SchemaStep):
    """Has a language model mend candidates that fail, find nothing or ask for unknown texts.

    One call for each candidate with a fault (CHESS section 3.1, revise; `faults.py` says what one
    is), shown with what came of it. The new query is executed and takes the old one's place, which
    stays its parent, only if it is better:

    - rows are better than an empty result, an empty result than an error;
    - of two alike, the one with fewer texts that aren't stored;
    - of two errors the later one, since repairing goes on from it; of two empty results the first,
      since being empty may be right and nothing speaks for the other.

    What was tried in vain is remembered and shown the next time. A reply that repeats a query of
    the same line, unless the candidate fails with an error, and one that can't be used, settle the
    candidate: `no_fault` holds for it, and it isn't asked about again. `no_fault` goes by the
    default options here: with one switched off, a loop may come round without a call. `always`
    needs no loop; it is a step of its own before it.
    """

    prompt: str = "repair/revise"
    shots: int = 3
    """Worked examples shown, those that fit the fault and the question best."""
    evidence: Literal["letter", "sense"] = "letter"
    """Evidence holds to the letter, or, where a formula can't mean what it says, by its sense."""
    style: Style = "ddl"
    """The schema as CREATE TABLE statements, or in one line per column."""
    examples: int = 3
    """Stored values shown beside a column at most."""
    empty: bool = True
    """Look again at queries that find no rows."""
    nulls: bool = True
    """Look again at queries that find nothing but NULL."""
    literals: bool = True
    """Look again at queries with texts that their columns don't hold."""
    similarity: float = SIMILAR
    """Least similarity of a stored value that may have been meant by such a text."""
    machine: bool = True
    """Replace texts of queries that find nothing first, without a call."""
    machine_similarity: float = ALIKE
    """Least similarity of the stored value for that."""
    always: bool = False
    """Look at every query, with its result (CHESS appendix A.4). A query with rows
    may then be replaced by another one with rows."""
    rows: int = 20
    """Rows of a result shown at most."""
    sampling: Sampling = field(default_factory=Sampling)

    purpose: ClassVar[str] = (
        "Mends queries that failed, found nothing or compare with texts that aren't stored; a "
        "new query is kept only if it is better. Run it where a query has such a fault, again "
        "while it helps. One call for each of them."
    )
    cheaper: ClassVar[str] = "repair.literals"
    reads: ClassVar[frozenset[str]] = frozenset({"question", "view", "candidates"})
    writes: ClassVar[frozenset[str]] = frozenset({"candidates"})

    def __post_init__(self) -> None:
        for option in ("similarity", "machine_similarity"):
            if not 0 < getattr(self, option) <= 1:
                value = getattr(self, option)
                raise ValueError(f"{option} must be above 0 and at most 1, not {value}")
        for option in ("rows", "examples", "shots"):
            if getattr(self, option) < 0:
                raise ValueError(f"{option} must not be negative, not {getattr(self, option)}")

    def applies(self, state: State, context: Context) -> bool:
        """True if a candidate wasn't executed yet, or a model is to look at it."""
        return any(
            one.result is None or self._looked_at(one, state, context).wanted
            for one in state.candidates
        )

    def __call__(self, state: State, context: Context) -> State:
        if not state.candidates:
            return state
        executed = execute(state.candidates, context.workspace.database, context.run)
        looked = [self._looked_at(one, state, context) for one in executed]
        done = [one.candidate for one in looked]
        state = state.evolve(candidates=tuple(done))
        work = {place: one for place, one in enumerate(looked) if one.wanted}
        if not work or not state.question.text.strip():
            return state
        fitted = self._fitted(list(work.values()), state, context)
        for each in fitted:
            state = each.noted(state, SOURCE)
        prompts = [
            Prompt(each.messages, _read, round=_replies_so_far(one.candidate))
            for one, each in zip(work.values(), fitted, strict=True)
        ]
        try:
            rows = ask(prompts, state, context, step=SOURCE, sampling=self.sampling)
        except (MalformedReply, ModelFailed) as error:
            state = state.warn("model", f"a query could not be revised: {error}", error)
            rows = [() for _ in work]
        for (place, one), row in zip(work.items(), rows, strict=True):
            reply = next((mended for mended in row if mended is not None), None)
            done[place] = self._revised(one, reply, state, context)
        return state.evolve(candidates=tuple(done))

    @property
    def rule(self) -> FaultRule:
        """The faults that count by these options."""
        return FaultRule(self.empty, self.nulls, self.literals, self.similarity)

    def _looked_at(self, candidate: Candidate, state: State, context: Context) -> _Looked:
        """The candidate, mended by machine where that goes, and what is still wrong with it."""
        if settled(candidate) or candidate.result is None:
            return _Looked(candidate, (), wanted=False)
        faults = tuple(self.rule.faults(candidate, state, context))
        mended = self._mended(candidate, state, context)
        if mended is not candidate:
            candidate = mended
            faults = tuple(self.rule.faults(candidate, state, context))
        wanted = bool(faults) or (self.always and valid(candidate))
        return _Looked(candidate, faults, wanted)

    def _mended(self, candidate: Candidate, state: State, context: Context) -> Candidate:
        """The executed candidate as a machine can mend it, which costs no call."""
        if not (self.machine and is_empty_answer(candidate)):
            return candidate
        unknown = unknown_texts(candidate.sql, state, context, self.machine_similarity)
        return mend(candidate, unknown, state, context)

    def _revised(
        self, looked: _Looked, reply: Mended | None, state: State, context: Context
    ) -> Candidate:
        """The candidate that is kept, which remembers the other one."""
        old = looked.candidate
        if reply is None:
            return _with_tried(old, Candidate("", SOURCE, note="no usable reply"))
        new = Candidate(
            sql=reply.sql,
            source=SOURCE,
            score=old.score,
            parent=old,
            goal=old.goal,
            plan=reply.plan,
            sample=old.sample,
            note=_note(looked.faults),
            by_model=True,
        )
        known = dict.fromkeys((*state.values, *old.values))
        new = grounded(new, known, context.workspace.schema)
        if normalized_sql(new.sql) in seen(old):
            return _with_tried(old, replace(new, result=_known_result(new.sql, old)))
        (new,) = execute([new], context.workspace.database, context.run)
        new = self._mended(new, state, context)
        if self._better(new, looked, state, context):
            return new
        return _with_tried(old, new)

    def _better(self, new: Candidate, looked: _Looked, state: State, context: Context) -> bool:
        old = looked.candidate
        if result_rank(new) != result_rank(old):
            return result_rank(new) < result_rank(old)
        before = sum(fault.kind == "literal" for fault in looked.faults)
        if before:
            after = len(unknown_texts(new.sql, state, context, self.similarity))
            if after != before:
                return after < before
        failed = new.result is not None and not new.result.ok
        return failed or (self.always and result_rank(new) == 0)

    def _fitted(self, work: Sequence[_Looked], state: State, context: Context) -> list[Fitted]:
        return [self._prompt(one, state, context) for one in work]

    def _prompt(self, looked: _Looked, state: State, context: Context) -> Fitted:
        candidate = looked.candidate
        notes = findings(candidate, context.workspace)
        demonstrations = self._demonstrations(looked, bool(notes), state, context)
        how = self.shown

        def laid_out(portion: Portion, state: State) -> tuple[Message, ...]:
            rows = math.ceil(self.rows * portion.listed)
            return render(
                self.prompt,
                demonstrations=demonstrations[: portion.shots],
                evidence_sense=self.evidence == "sense",
                sql=render_sql(candidate, state.question),
                outcome=[*self._outcome(candidate, looked.faults, rows), *map(_noticed, notes)],
                tried=[self._tried(tried, state, rows) for tried in candidate.tried],
                **task(
                    state,
                    context,
                    style=portion.style,
                    examples=portion.examples,
                    shown=how.within(portion),
                ),
            )

        results = [one.result for one in (candidate, *candidate.tried)]
        rows = any(result is not None and result.rows for result in results)
        full = Portion(len(demonstrations), self.style, self.examples, listed=float(rows))
        return fit(laid_out, full, state, context, step=SOURCE, sampling=self.sampling)

    def _tried(self, tried: Candidate, state: State, rows: int) -> Mapping[str, Any]:
        faults = tuple(_RESULTS.of_result(tried, state.question))
        return {
            "sql": render_sql(tried, state.question),
            "outcome": self._outcome(tried, faults, rows),
        }

    def _demonstrations(
        self, looked: _Looked, noticed: bool, state: State, context: Context
    ) -> list[Mapping[str, Any]]:
        """Worked examples for the candidate's faults first, then for the question."""
        features: set[str] = {fault.kind for fault in looked.faults}
        features |= {"finding"} if noticed else set()
        features |= features_of(state, context) & {"text_form"}
        if not looked.faults:
            features.add("rows")
        return [texts(one) for one in chosen(load_revisions(), features, self.shots)]

    def _outcome(self, candidate: Candidate, faults: Sequence[Fault], rows: int) -> list[Text]:
        """The result, where there is one with rows, then the faults."""
        outcome = [fault.told for fault in faults]
        result = candidate.result
        if result is not None and result.ok and not result.empty:
            shown = render_result(result, rows=rows)
            outcome.insert(0, plain_text("It ran and gave:\n") + shown)
        return outcome


def _noticed(note: Note) -> Text:
    """A finding of the machine's own checks, which name tables and columns."""
    return plain_text("Noticed by machine: ") + schema_text(f"{note.text}.")


def _with_tried(candidate: Candidate, tried: Candidate) -> Candidate:
    return replace(candidate, tried=(*candidate.tried, replace(tried, parent=None)))


def _replies_so_far(candidate: Candidate) -> int:
    return sum((one.source == SOURCE) + len(one.tried) for one in history(candidate))


def _known_result(sql: str, candidate: Candidate) -> ExecutionResult | None:
    """The result of the query where a candidate's line came to it before."""
    line = [one for each in history(candidate) for one in (each, *each.tried)]
    same = (one.result for one in line if normalized_sql(one.sql) == normalized_sql(sql))
    return next(filter(None, same), None)


def _note(faults: Sequence[Fault]) -> str:
    reasons = [_REASONS[fault.kind] for fault in faults]
    return f"revised: {', '.join(dict.fromkeys(reasons))}" if reasons else "revised"


def _read(text: str) -> Mended:
    return Mended(sql_from(text), plan_from(text))
