"""Runs a recipe on a question: one error policy, times, events, and the answer at the end.

The policy. An error that the user can put right (UserError) goes to the caller. Any other of ours
that a step raises, cancellation and deadline included, ends the steps but not the question: the
best candidate at hand is the answer, with a warning that tells of the error.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sqlwright import candidates as pool
from sqlwright.confidence.own import OwnCalibration
from sqlwright.english.second_question import second_question_note
from sqlwright.errors import Cancelled, SqlwrightError, UserError, explained
from sqlwright.events import Event, EventSink, StateReached, StepEnded
from sqlwright.prompts.sampling import remarked, remarks
from sqlwright.protocols import Context, ModelsByRole, Run, Step, Workspace
from sqlwright.running.answering import answer_from
from sqlwright.running.grounds import caution_in
from sqlwright.running.trust import Trust
from sqlwright.schema import SchemaView
from sqlwright.sql.tree import stopped_by
from sqlwright.types import Answer, Note, Question, State, StepTime

GRACE = 0.3
"""Seconds a run that ran out of time gets to read what is at hand, and to execute its best
candidate, if none was; chosen."""


@dataclass(frozen=True)
class Pipeline:
    """A recipe's step and its name."""

    recipe: str
    step: Step

    def run(
        self,
        question: Question,
        workspace: Workspace,
        models: ModelsByRole,
        run: Run,
        own: Sequence[OwnCalibration] = (),
    ) -> tuple[Answer, State]:
        """The answer and the state it was drawn from. `own` are the user's calibrations of
        this recipe. Raises UserError and nothing else of ours."""
        start = State(question, SchemaView(workspace.schema))
        if note := second_question_note(question.text):
            start = start.warn("second_question", note)
        progress = _Progress(start, run.events)
        caution = caution_in(workspace, run)
        trust = Trust(models, own, caution)
        context = Context(workspace, run.fork(progress), models, trust.weighed)
        stopped: Note | None = None
        began = run.clock()
        try:
            with stopped_by(_Reading(run)):
                state = self.step(start, context)
        except UserError:
            raise
        except SqlwrightError as error:
            stopped = Note("stopped", explained(error), str(error))
            state = _with_best_selected(progress.state, context, error)
        answer = replace(
            remarked(answer_from(state, workspace, stopped, trust), progress.remarks),
            question=question.text,
            recipe=self.recipe,
            times=tuple(progress.times),
            seconds=run.clock() - began,
            saved_seconds=run.saved.seconds,
            usage=run.spending.total,
            usage_by_step=run.spending.by_step,
        )
        return answer, caution(state)


@dataclass
class _Reading:
    """Ends the reading of SQL a moment after the run has: what is at hand by then is still read,
    but a text that takes long can't hold the answer up."""

    run: Run
    ended: float = math.inf
    """The time at which the run's end was first seen, in seconds of its clock."""

    def __call__(self) -> None:
        if pool.stopped(self.run):
            self.ended = min(self.ended, self.run.clock())
            if self.run.clock() - self.ended >= GRACE:
                self.run.check()


@dataclass
class _Progress:
    """An event sink that keeps the last state and the times, then passes events on."""

    state: State
    sink: EventSink
    times: list[StepTime] = field(default_factory=list)
    remarks: dict[Note, None] = field(default_factory=dict)
    """Notes on what language models did otherwise than asked, each once."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, event: Event) -> None:
        with self.lock:
            self.remarks |= dict.fromkeys(remarks(event))
            if isinstance(event, StateReached):
                self.state = event.state
            elif isinstance(event, StepEnded):
                if event.after is not event.before:  # else its branches may have got further
                    self.state = event.after
                self.times.append(StepTime(event.step, event.seconds))
        self.sink(event)


def _with_best_selected(state: State, context: Context, error: SqlwrightError) -> State:
    """The state with its best candidate selected, executed if there is a moment left for it."""
    ranked = pool.rank(state.for_question)
    if state.selected is not None or state.refusal is not None or not ranked:
        return state
    if not any(pool.valid(candidate) for candidate in ranked):
        run = context.run
        if isinstance(error, Cancelled):  # a moment more when out of time, none when cancelled
            run = run.fork(run.events, seconds=GRACE)
        ranked = pool.rank(pool.execute(ranked, context.workspace.database, run))
    return state.evolve(selected=ranked[0], candidates=ranked, confidence=None)
