"""Branches of a run side by side: each with its own events, all merged in declared order.

The outcome doesn't depend on how many run at once. Events of a branch wait until the branches
before it are done and then follow in order, so that two runs leave the same trace;
`BranchStepStarted`, `ModelAsked` and `BranchesProgressed` go out at once, for displays of
progress. A branch that fails costs its own part only, and one that is cancelled hands over what it
has before the cancellation goes on.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, fields, replace
from heapq import heapreplace

from sqlwright.errors import Cancelled, ModelRejected, SqlwrightError, UserError
from sqlwright.events import (
    BranchesEnded,
    BranchesMerged,
    BranchesProgressed,
    BranchStepStarted,
    Event,
    EventSink,
    ModelAsked,
    StateReached,
    StepEnded,
    StepStarted,
)
from sqlwright.protocols import Context, Saved
from sqlwright.types import State

ADDITIVE = frozenset(f.name for f in fields(State) if f.default == ())
"""Fields of a state that hold a tuple: additions of branches to them can be merged."""

Branch = Callable[[Context], State]


@dataclass(frozen=True)
class Outcome:
    """The end of a branch: its last state, and the error that ended it early."""

    state: State
    error: SqlwrightError | None = None


class _Count:
    """Sends `BranchesProgressed` (ended, total) when a branch has ended. Branches within a branch
    count in its place; a single branch isn't reported."""

    def __init__(self, sink: EventSink, of: int) -> None:
        self._sink = sink
        self._parts = [(0, 1)] * of
        self._last = (0, 1)
        self._lock = threading.Lock()
        self._send()

    def reached(self, place: int, ended: int, of: int) -> None:
        """Of the `of` branches within branch `place` (from 0), `ended` have ended."""
        with self._lock:
            self._parts[place] = (ended, of)
            self._send()

    def over(self, place: int) -> None:
        """Branch `place` (from 0) has ended."""
        of = self._parts[place][1]
        self.reached(place, of, of)

    def _send(self) -> None:
        total = (sum(ended for ended, _ in self._parts), sum(of for _, of in self._parts))
        if total != self._last and total[1] > 1:
            self._last = total
            self._sink(BranchesProgressed(*total))


class _Buffer:
    """Keeps a branch's events, and its last state in case it doesn't end well."""

    def __init__(self, start: State, sink: EventSink, count: _Count, place: int) -> None:
        self.state = start
        self._sink = sink
        self._count = count
        self._place = place
        self._kept: list[Event] = []

    def __call__(self, event: Event) -> None:
        if isinstance(event, BranchesProgressed):
            self._count.reached(self._place, event.ended, event.total)
            return
        if isinstance(event, BranchStepStarted | ModelAsked):
            self._sink(event)
            return
        if isinstance(event, StepStarted):
            self._sink(BranchStepStarted(event.step, event.sample))
        elif isinstance(event, StepEnded):
            if event.after is not event.before:  # else its branches may have got further
                self.state = event.after
        elif isinstance(event, StateReached):
            self.state = event.state
        self._kept.append(event)

    def flush(self) -> None:
        for event in self._kept:
            self._sink(event)


def run_branches(
    branches: Sequence[tuple[State, Branch]], context: Context, workers: int
) -> list[Outcome]:
    """Every branch's outcome, in the order given, at most `workers` at once.

    Errors that aren't ours, and those that the user must see, are raised when all have ended."""
    sink = context.run.events
    count = _Count(sink, len(branches))
    buffers = [_Buffer(start, sink, count, place) for place, (start, _) in enumerate(branches)]

    clock = context.run.clock
    lasted = [(0.0, 0.0)] * len(branches)

    def one(place: int) -> Outcome:
        buffer, saved, began = buffers[place], Saved(), clock()
        branch = replace(context, run=replace(context.run.fork(buffer), saved=saved))
        try:
            return Outcome(branches[place][1](branch))
        except UserError:
            raise
        except SqlwrightError as error:
            return Outcome(buffer.state, error)
        finally:
            count.over(place)
            lasted[place] = clock() - began, saved.seconds

    outcomes: list[Outcome] = []
    try:
        if workers <= 1 or len(branches) <= 1:
            outcomes += map(one, range(len(branches)))
        else:
            with ThreadPoolExecutor(min(workers, len(branches)), "sqlwright-branch") as pool:
                # What this thread's readings are stopped by stops those of the others, too.
                places = range(len(branches))
                copies = [copy_context() for _ in places]
                outcomes += pool.map(lambda context, at: context.run(one, at), copies, places)
    finally:
        for buffer in buffers:
            buffer.flush()
        fresh = _makespan([seconds + saved for seconds, saved in lasted], workers)
        context.run.saved.seconds += fresh - _makespan([seconds for seconds, _ in lasted], workers)
    return outcomes


def _makespan(seconds: Iterable[float], workers: int) -> float:
    """Seconds until branches that take so long have all ended, each begun by the next worker that
    is free."""
    free = [0.0] * max(1, workers)
    for each in seconds:
        heapreplace(free, free[0] + each)
    return max(free)


def settle(
    state: State, outcomes: Sequence[Outcome], context: Context, *, may_all_fail: bool = False
) -> State:
    """The merged state once branches have ended: `state`, with a warning for each that failed.

    Raises the cancellation when one was cancelled, what a model refused outright, and the first
    error when all have failed (unless they may), after the merged state was reported, so that
    nothing at hand is lost."""
    errors = [outcome.error for outcome in outcomes if outcome.error is not None]
    if not errors:
        context.run.events(BranchesEnded(state))  # or a run cancelled next has the last branch's
        return state
    fatal: SqlwrightError | None = next(
        (error for error in errors if isinstance(error, Cancelled)), None
    )
    if fatal is None and len(errors) == len(outcomes):
        refused = (error for error in errors if isinstance(error, ModelRejected))
        fatal = next(refused, None if may_all_fail else errors[0])
    for error in errors:
        if error is not fatal and not isinstance(error, Cancelled):
            state = state.warn("left_out", f"left out: {error}", error)
    context.run.events(BranchesMerged(state))
    if fatal is not None:
        raise fatal
    return state


def merged(start: State, results: Iterable[State]) -> State:
    """The start plus what each result has beyond it, in order, equal additions once."""
    changes: dict[str, tuple[object, ...]] = {}
    ended = list(results)
    for name in sorted(ADDITIVE):
        given: tuple[object, ...] = getattr(start, name)
        added: list[object] = []
        for result in ended:
            items: tuple[object, ...] = getattr(result, name)
            if items is not given:
                added += [item for item in items if item not in given and item not in added]
        if added:
            changes[name] = (*given, *added)
    return start.evolve(**changes)
