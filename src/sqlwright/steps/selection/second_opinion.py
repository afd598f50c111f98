"""The embedded models' and the machine checks' view of the query that was selected.

They vote in nothing: the query stays, and what they say stands beside it as `Basis.signs`.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from sqlwright.candidates import history, normalized_sql, same_result, valid
from sqlwright.english.languages import foreign_language
from sqlwright.errors import Cancelled
from sqlwright.events import Event, QueryExecuted, StepEnded, StepStarted
from sqlwright.protocols import Context, Run
from sqlwright.running import combinators
from sqlwright.schema import SchemaView
from sqlwright.types import Account, Basis, Candidate, Sign, State

NAME = "selection.second_opinion"
SAME = "the embedded models give the same result"
OTHER = "the embedded models give another result"
WORDS = 3
"""Words named at most that nothing explains."""
CHECKS = 3
"""Faults named at most."""


@dataclass(frozen=True)
class SecondOpinion(combinators.Sequence):
    """Steps of embedded models that answer the question on their own, from its words and the whole
    schema; the selected query joins theirs before the first step that looks at candidates, so that
    machine checks read it, too.

    Without a selected query that runs, for a question the embedded models can't read and where
    they stood in for the language model there is no second opinion; nor when time runs out, which a
    note tells.
    """

    seconds: float = 2.0
    """Processor time for all of it, that of its queries included; at 0 it is always left out."""

    reads: ClassVar[frozenset[str]] = frozenset({"question", "candidates", "selected"})
    writes: ClassVar[frozenset[str]] = frozenset({"basis", "selected", "warnings"})

    def __post_init__(self) -> None:
        if not 0 <= self.seconds <= 60:
            raise ValueError(f"seconds must be from 0 to 60, not {self.seconds:g}")

    def __call__(self, state: State, context: Context) -> State:
        selected, run = state.selected, context.run
        stood_in = any(note.kind == "stand_in" for note in state.warnings)
        if selected is None or not valid(selected) or stood_in or state.refusal is not None:
            return state
        if foreign_language(state.question.text):
            return state
        run.events(StepStarted(NAME, state.sample))
        began, work = run.clock(), Work(run, self.seconds)
        limited = replace(run, events=work.executed, clock=work, seconds=self.seconds, started=0.0)
        try:
            signs, account = self._signs(state, selected, replace(context, run=limited))
            known = state.basis or Basis()
            after = state.evolve(
                basis=replace(known, signs=(*known.signs, *signs)),
                selected=replace(selected, account=account),
            )
        except Cancelled:  # the answer doesn't wait for it
            ended = run.cancelled.is_set() or run.remaining() <= 0
            why = "the time was over" if ended else f"it takes over {self.seconds:g} s to work out"
            after = state.warn("left_out", f"there is no second opinion on the query: {why}")
        run.events(StepEnded(NAME, run.clock() - began, state, after))
        return after

    def _signs(
        self, state: State, selected: Candidate, context: Context
    ) -> tuple[Sequence[Sign], Account | None]:
        """The signs, and the account of the selected query."""
        side = State(state.question, SchemaView(context.workspace.schema))
        theirs: tuple[Candidate, ...] | None = None
        for step in self.steps:
            if theirs is None and "candidates" in step.reads:
                theirs = side.candidates
                side = side.evolve(candidates=(selected, *theirs))
            side = step(side, context)
            if side.refusal is not None:
                return (), None
        written = side.candidates if theirs is None else theirs
        return [
            *_opinion(selected, written, side, context),
            *_faults(selected, side.candidates),
        ], _account(selected, side.candidates)


@dataclass
class Work:
    """A clock of the processor time of the thread that made it, and of the time its queries took in
    their own processes: how busy the machine is hardly matters. It also ends when `run` does."""

    run: Run
    limit: float
    queries: float = 0.0
    used: float = 0.0
    began: float = field(default_factory=time.thread_time)
    thread: int = field(default_factory=threading.get_ident)

    def __call__(self) -> float:
        """Seconds of work so far; the limit where the run has ended."""
        if threading.get_ident() == self.thread:  # any other thread has a time of its own
            self.used = time.thread_time() - self.began + self.queries
        return max(self.used, self.limit - self.run.remaining())

    def executed(self, event: Event) -> None:
        """Pass on the events of queries alone."""
        if isinstance(event, QueryExecuted):
            self.queries += event.result.elapsed
            self.run.events(event)


def _opinion(
    selected: Candidate, theirs: Sequence[Candidate], side: State, context: Context
) -> Iterator[Sign]:
    """The result of the best of their queries against the selected one's; words that nothing
    explains."""
    roots = {one.id for one in theirs}
    wrote = {normalized_sql(one.sql, one.dialect) for one in theirs}
    judged = [
        one
        for one in side.candidates
        if valid(one) and (one.first.id in roots or normalized_sql(one.sql, one.dialect) in wrote)
    ]
    critic = context.critic
    assessment = critic.assess(side, judged or [selected])
    agrees = False
    if judged:
        places = range(len(judged))
        best = judged[max(places, key=lambda place: assessment.probabilities[place])]
        agrees = same_result(selected, best)
        yield Sign("second_opinion", SAME if agrees else OTHER, agrees)
    if assessment.missing:
        words = ", ".join(f"“{word}”" for word in assessment.missing[:WORDS])
        grave = assessment.answerable < critic.refuse_below
        if grave or not agrees:
            text = f"nothing in this database seems to match {words}"
            yield Sign("unexplained", text, False, grave)


def _faults(selected: Candidate, checked: Sequence[Candidate]) -> Iterator[Sign]:
    """The faults that machine checks read in the selected query."""
    found: dict[str, bool] = {}
    for one in checked:
        chain = list(history(one))
        if all(version.id != selected.id for version in chain):
            continue
        found.update(dict.fromkeys((veto.message for veto in (*one.vetoes, *one.mended)), True))
        for note in one.warnings:
            if note not in selected.warnings and note.kind not in {"replaced", "converted"}:
                found.setdefault(note.text, False)
    for text, grave in list(found.items())[:CHECKS]:
        yield Sign("machine_check", text, False, grave)


def _account(selected: Candidate, checked: Sequence[Candidate]) -> Account | None:
    """The account of the selected query itself, not of what became of it."""
    versions = (version for one in checked for version in history(one))
    return next((one.account for one in versions if one.id == selected.id), None)
