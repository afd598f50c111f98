"""Candidates of a question, executed as the recipe does and judged by the data set's rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlwright.candidates import ResultGroup
from sqlwright.lab.finetuning.roles.preceding import Choice, gold_tables, state_before
from sqlwright.lab.finetuning.roles.role import REFUSED, Asked, Sampled
from sqlwright.protocols import Context
from sqlwright.steps.repair.execute import ExecuteCandidates
from sqlwright.steps.selection.agreement import clusters
from sqlwright.types import Candidate, State

SOURCE = "generation.direct"


@dataclass(frozen=True)
class Pool:
    """The candidates of a question that has right and wrong ones."""

    state: State
    """With the candidates and their results, as a selection step finds them."""
    right: tuple[Candidate, ...]
    wrong: tuple[Candidate, ...]
    """Those that ran; those in error are in the state alone."""
    hinted: frozenset[str]
    """Ids of those whose generator was shown the gold query."""

    def about(self, chosen: Sequence[Candidate]) -> dict[str, str | int | float | bool]:
        """Facts for statistics of an example that shows some of them."""
        ids, right = {one.id for one in chosen}, {one.id for one in self.right}
        models = {one.model for one in chosen if one.model}
        return {
            "candidates": len(chosen),
            "right": len(ids & right),
            "hinted": bool(ids & self.hinted),
            "generators": ", ".join(sorted(models)),
        }


def pool_of(asked: Asked, before: str) -> Pool | None:
    """The candidates of a question as the step `before` finds them; None, with the reason told,
    where they teach nothing.

    Candidates whose generator was shown the gold query are taken only where no other is right, and
    of them only right ones (CHASE-SQL section 3.5).
    """
    if not asked.sampled:
        asked.skipped("no candidates")
        return None
    is_right = asked.scorer.judge(asked.example)
    if is_right is None:
        asked.skipped("no gold query that runs")
        return None
    if asked.example.gold_sql and asked.scorer.execute(asked.example.gold_sql).empty:
        # Any query that finds nothing would count as right.
        asked.skipped("the gold result is empty")
        return None
    plain = [one for one in asked.sampled if not one.hinted]
    taken = plain
    if not any(is_right(one.sql) for one in plain):
        taken = plain + [one for one in asked.sampled if one.hinted and is_right(one.sql)]
    state = _executed(asked, taken, before)
    if state.refusal is not None:
        asked.skipped(REFUSED)
        return None
    pairs = zip(state.candidates, taken, strict=True)
    hinted = frozenset(one.id for one, sampled in pairs if sampled.hinted)
    right: list[Candidate] = []
    wrong: list[Candidate] = []
    for group in clusters(state):
        verdicts = {is_right(one.sql) for one in group.candidates}
        if len(verdicts) == 1:
            (right if verdicts == {True} else wrong).extend(group.candidates)
    if not right or not wrong:
        asked.skipped("no right candidate" if not right else "no wrong candidate")
        return None
    return Pool(_only(state, right + wrong), tuple(right), tuple(wrong), hinted)


def judged_clusters(pool: Pool) -> tuple[list[ResultGroup], list[ResultGroup]]:
    """The right and the wrong results, each in the order of the step."""
    right = {one.id for one in pool.right}
    groups = clusters(pool.state)
    return (
        [group for group in groups if group.best.id in right],
        [group for group in groups if group.best.id not in right],
    )


def _executed(asked: Asked, taken: Sequence[Sampled], before: str) -> State:
    lesson, example = asked.lesson, asked.example
    tables = gold_tables(example.gold_sql, lesson.workspace.schema)
    state = state_before(
        before,
        lesson,
        question=example.question,
        evidence=example.evidence,
        choice=Choice(tables) if tables else None,
    )
    candidates = tuple(
        Candidate(one.sql, SOURCE, sample=number, model=one.model, by_model=True)
        for number, one in enumerate(taken, start=1)
    )
    context = Context(lesson.workspace, lesson.run)
    return ExecuteCandidates()(state.evolve(candidates=candidates), context)


def _only(state: State, judged: Sequence[Candidate]) -> State:
    """Without candidates on whose result the data set's rule doesn't agree; those in error stay."""
    known = {one.id for one in judged}
    kept = (one for one in state.candidates if one.id in known or not _ran(one))
    return state.evolve(candidates=tuple(kept))


def _ran(candidate: Candidate) -> bool:
    return candidate.result is not None and candidate.result.ok
