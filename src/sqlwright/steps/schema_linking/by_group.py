"""A sequence of steps that a wide schema goes through group by group.

Where many groups of tables stand side by side without a key between them, names and values agree
by chance all over, and a model that sees parts of several mixes them. So each group that the
question may be about is taken for a database of its own, and the steps answer there; which of the
answers is meant depends on the group's names and values and on how right the answer is held to be.
The best of the other groups stay as alternatives.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from sqlwright.candidates import softmax
from sqlwright.protocols import Context, GroupLink
from sqlwright.running import combinators
from sqlwright.running.parallel import Outcome, run_branches, settle
from sqlwright.schema import Schema, SchemaView
from sqlwright.steps.schema_linking.grouping import likely
from sqlwright.types import Candidate, State

NAMES = 0.4
"""Weight of the linker's score of the group: the logit of its share among all groups."""
ANSWERABLE = 0.5
"""Weight of the log-odds that the group holds what is asked."""
RIGHT = 0.35
"""Weight of the log-odds that its answer is right. The three were fitted by databases on questions
of merged ones."""
LEAST = 1e-3
"""Probabilities nearer to 0 or 1 count as this."""


@dataclass(frozen=True)
class ByGroup(combinators.Sequence):
    """Its steps, once for each likely group of a schema that is a crowd; elsewhere just once."""

    most: int = 3
    """Groups that are tried at most."""
    share: float = 0.03
    """Least probability of a group that is tried, as a share of the best one's."""
    workers: int = 1

    def __post_init__(self) -> None:
        if self.most < 1 or self.workers < 1:
            raise ValueError(
                f"most and workers must be at least 1, not {self.most}, {self.workers}"
            )
        if not 0.0 <= self.share <= 1.0:
            raise ValueError(f"share must be between 0 and 1, not {self.share}")

    def __call__(self, state: State, context: Context) -> State:
        schema = state.view.visible_schema()
        if not schema.has_many_groups or not state.question.text.strip():
            return super().__call__(state, context)
        found = context.linker.link(state.question, schema, state.values, context.workspace.texts)
        linked = state.evolve(columns=found.columns, tables=found.tables)
        groups = likely(found.groups, most=self.most, share=self.share)
        parts = [schema.by_group[group.leader] for group in groups]
        alone = [_alone(state, part) for part in parts]
        run = super().__call__
        tasks = [(start, partial(run, start)) for start in alone]
        outcomes = run_branches(tasks, context, self.workers)
        kept = [ref for part in parts for ref in part.columns]
        after = linked.evolve(view=state.view.narrowed(kept))
        return settle(_chosen(after, groups, outcomes), outcomes, context)


def _alone(state: State, part: Schema) -> State:
    """The state as if the group were all there is."""
    names = {table.name for table in part.tables}
    values = tuple(match for match in state.values if match.column.table in names)
    return state.evolve(view=SchemaView(part), values=values)


def _chosen(state: State, groups: Sequence[GroupLink], outcomes: Sequence[Outcome]) -> State:
    """The state with the answer of the most probable group, and everybody's candidates; how sure
    they are takes in how probable their group is. Groups that fail or refuse come behind."""
    ended = [outcome.state for outcome in outcomes]
    shares = softmax([_evidence(g, e) for g, e in zip(groups, ended, strict=True)])
    indexes = range(len(ended))
    lost = [bool(outcome.error or outcome.state.refusal) for outcome in outcomes]
    order = sorted(indexes, key=lambda index: (lost[index], -shares[index]))
    best = ended[order[0]]
    share = shares[order[0]]
    candidates = [
        _weighed(candidate, shares[index])
        for index in order
        for candidate in ended[index].candidates
    ]
    return best.evolve(
        view=state.view,
        values=state.values,
        columns=state.columns,
        tables=state.tables,
        candidates=tuple(candidates),
        selected=None if best.selected is None else _weighed(best.selected, share),
        confidence=None if best.confidence is None else best.confidence * share,
    )


def _evidence(group: GroupLink, end: State) -> float:
    return (
        NAMES * group.score + ANSWERABLE * _logit(end.answerable) + RIGHT * _logit(end.confidence)
    )


def _logit(probability: float | None) -> float:
    """Log-odds of a probability; 0 if it is None."""
    if probability is None:
        return 0.0
    inside = min(max(probability, LEAST), 1.0 - LEAST)
    return math.log(inside / (1.0 - inside))


def _weighed(candidate: Candidate, share: float) -> Candidate:
    """A candidate whose group is meant with probability `share`."""
    sure = None if candidate.confidence is None else candidate.confidence * share
    return replace(candidate, score=candidate.score + math.log(max(share, 1e-9)), confidence=sure)
