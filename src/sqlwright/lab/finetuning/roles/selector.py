"""The selector of CHASE-SQL: it is shown two candidates with different results and says a letter.

Section 3.5 of the paper: candidates are grouped by result; of a question with right and wrong
groups each pair is the best of one right and of one wrong group, over the union of the schema that
they use, in an order by chance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import ClassVar, Literal

from sqlwright.candidates import ResultGroup
from sqlwright.errors import ConfigError
from sqlwright.lab.finetuning.example import TrainingExample
from sqlwright.lab.finetuning.roles.pool import Pool, judged_clusters, pool_of
from sqlwright.lab.finetuning.roles.role import Asked
from sqlwright.steps.selection.agreement import clusters
from sqlwright.steps.selection.judges import LETTERS, Pairwise, orders

NAME = Pairwise.name
CHOICES = ("letter", "logprobs")
"""Judges that reply with a letter alone."""


@dataclass(frozen=True)
class Selector:
    """Examples of choosing between two candidates."""

    orders: Literal["shuffled", "both"] = "shuffled"
    """`shuffled` shows each pair in one order by chance, as the paper does; `both` in both."""
    pairs: int = 4
    """Pairs of a question at most."""

    name: ClassVar[str] = "selector"
    step: ClassVar[str] = NAME
    chooses: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.pairs < 1:
            raise ConfigError("a selector needs at least one pair a question")

    def examples(self, asked: Asked) -> Sequence[TrainingExample]:
        """Those of some pairs, drawn by the question's seed; none is told as skipped."""
        step = asked.lesson.step(NAME).step
        if not isinstance(step, Pairwise) or step.judge not in CHOICES:
            raise ConfigError(
                f"{NAME} of the recipe {asked.lesson.recipe.name} replies with more than a letter",
                hint=f"Set {NAME}.judge to {' or '.join(CHOICES)}.",
            )
        pool = pool_of(asked, NAME)
        if pool is None:
            return ()
        pairs = list(product(*judged_clusters(pool)))
        drawn = asked.draw.sample(pairs, min(len(pairs), self.pairs))
        made = [
            example
            for number, (right, wrong) in enumerate(drawn)
            for example in self._of_pair(asked, pool, number, (right, wrong))
        ]
        if not made:
            asked.skipped("the step didn't select the right candidate")
        return made

    def _of_pair(
        self, asked: Asked, pool: Pool, number: int, pair: tuple[ResultGroup, ResultGroup]
    ) -> Iterator[TrainingExample]:
        best = [group.best for group in pair]
        right = best[0]
        state = pool.state.evolve(candidates=tuple(c for c in pool.state.candidates if c in best))
        groups = clusters(state)
        letters = [LETTERS[0 if groups[a].best == right else 1] for a, _ in orders(groups)]
        after, taught = asked.lesson.taught(
            asked.lesson.step(NAME),
            state,
            lambda _step, place: letters[place] if place < len(letters) else None,
        )
        if after.selected is None or after.selected.id != right.id or len(taught) != len(letters):
            return
        kept = taught if self.orders == "both" else [asked.draw.choice(taught)]
        sizes = {"right_size": len(pair[0].candidates), "wrong_size": len(pair[1].candidates)}
        for prompt in kept:
            other = LETTERS[1 - LETTERS.index(prompt.completion)]
            yield asked.training_example(
                self.name,
                prompt,
                name=f"{number}-{prompt.place}",
                rejected=(other,),
                facts=pool.about(best) | sizes,
            )


ROLE = Selector()
