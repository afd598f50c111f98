"""The critic of MSc-SQL: it is shown all candidates with their results and says a number.

Each example shows some candidates of a question, right and wrong, in an order by chance; the reply
is the number of a right one: of several with one result the first, so that the same prompt never
has two replies. Section 4 of the paper; it doesn't say how many are shown in training.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import ClassVar

from sqlwright.candidates import result_places
from sqlwright.errors import ConfigError
from sqlwright.lab.finetuning.example import TrainingExample
from sqlwright.lab.finetuning.roles.pool import Pool, pool_of
from sqlwright.lab.finetuning.roles.role import Asked
from sqlwright.steps.selection.judges import MultiSample
from sqlwright.steps.selection.judging.queries import Shown
from sqlwright.types import Candidate

NAME = MultiSample.name
CHOICES = ("number", "logprobs")
"""Judges that reply with a number alone."""


@dataclass(frozen=True)
class Critic:
    """Examples of choosing among several candidates."""

    orders: int = 2
    """Examples of a question, each with candidates and an order of its own."""
    most: int = 5
    """Candidates of an example at most, as many as the paper's largest panel."""

    name: ClassVar[str] = "critic"
    step: ClassVar[str] = NAME
    chooses: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.orders < 1 or self.most < 2:
            raise ConfigError("a critic needs at least one order and two candidates")

    def examples(self, asked: Asked) -> Sequence[TrainingExample]:
        """One for each order that shows something else; none is told as skipped."""
        step = asked.lesson.step(NAME)
        critic = step.step
        if not isinstance(critic, MultiSample) or critic.judge not in CHOICES:
            raise ConfigError(
                f"{NAME} of the recipe {asked.lesson.recipe.name} replies with more than a number",
                hint=f"Set {NAME}.judge to {' or '.join(CHOICES)}.",
            )
        pool = pool_of(asked, NAME)
        if pool is None:
            return ()
        made: dict[tuple[str, ...], TrainingExample] = {}
        for order in range(self.orders):
            for one in self._in_order(asked, critic, pool, order):
                made.setdefault(tuple(turn.text for turn in one.messages), one)
        if not made:
            asked.skipped("no prompt shows all candidates")
        return tuple(made.values())

    def _in_order(
        self, asked: Asked, critic: MultiSample, pool: Pool, order: int
    ) -> Iterator[TrainingExample]:
        shown = self._drawn(asked, pool)
        ids = {one.id for one in shown}
        errors = tuple(c for c in pool.state.candidates if c.result is None or not c.result.ok)
        listed = tuple(c for c in pool.state.candidates if c.id in ids or c in errors)
        state = pool.state.evolve(candidates=listed)
        run = replace(asked.lesson.run, seed=asked.draw.getrandbits(31))
        lesson = replace(asked.lesson, run=run)
        heats = _heats(critic, critic.listed(state, run))
        right = {one.id for one in pool.right}
        replies = _Replies([_number(heat, right, asked) for heat in heats])
        after, taught = lesson.taught(lesson.step(NAME), state, replies.to)
        if replies.further or after.selected is None or after.selected.id not in right:
            return
        for prompt in taught:
            heat = heats[prompt.place]
            wrong = _wrong(heat, right)
            numbers = {"candidates": len(heat), "right": len(heat) - len(wrong), "order": order}
            facts = pool.about(shown) | numbers
            name = f"{order}-{prompt.place}"
            yield asked.training_example(self.name, prompt, name=name, rejected=wrong, facts=facts)

    def _drawn(self, asked: Asked, pool: Pool) -> list[Candidate]:
        """At most `most` candidates that ran, a right and a wrong one among them."""
        must = [asked.draw.choice(pool.right), asked.draw.choice(pool.wrong)]
        others = [one for one in (*pool.right, *pool.wrong) if one not in must]
        return must + asked.draw.sample(others, min(len(others), self.most - 2))


def _heats(critic: MultiSample, listed: Sequence[Shown]) -> list[tuple[Shown, ...]]:
    """The queries of each prompt, as the step asks them."""
    return list(combinations(listed, 2)) if critic.form == "pairs" else [tuple(listed)]


def _number(heat: Sequence[Shown], right: set[str], asked: Asked) -> str | None:
    """The number of the first query that has a right result, by which a prompt names that result;
    None for a prompt without a right or without a wrong query. Of several right results one by
    chance."""
    places = result_places([one.candidate for one in heat])
    rights = [n for n, one in enumerate(heat) if one.candidate.id in right]
    if not 0 < len(rights) < len(heat):
        return None
    return str(asked.draw.choice(sorted({places[n] for n in rights})) + 1)


def _wrong(heat: Sequence[Shown], right: set[str]) -> tuple[str, ...]:
    return tuple(str(n) for n, one in enumerate(heat, start=1) if one.candidate.id not in right)


@dataclass
class _Replies:
    """The replies to the prompts of a step."""

    numbers: Sequence[str | None]
    further: bool = False
    """True once there was a prompt for which none is meant: a window of a list that doesn't fit."""

    def to(self, _step: str, place: int) -> str | None:
        """The reply to a prompt."""
        if place >= len(self.numbers):
            self.further = True
            return None
        return self.numbers[place]


ROLE = Critic()
