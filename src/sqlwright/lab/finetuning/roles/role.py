"""The protocol of a role that can be trained."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from sqlwright.lab.datasets.example import Example
from sqlwright.lab.evaluation.scoring import Scorer
from sqlwright.lab.finetuning.example import TrainingExample
from sqlwright.lab.finetuning.lesson import Lesson, Taught

UNREAD = "the gold query's tables can't be read"
REFUSED = "the recipe refuses the question"
TOO_LONG = "the prompt doesn't fit the model's context"


@dataclass(frozen=True, slots=True)
class Sampled:
    """A query that a generator wrote for a question which it wasn't trained on."""

    sql: str
    model: str = ""
    """Name of the generator."""
    hinted: bool = False
    """True if it was shown the gold query (CHASE-SQL section 3.5)."""


@dataclass(frozen=True)
class Asked:
    """A question with its gold queries, as examples are made of it."""

    example: Example
    source: str
    """Name of its data set."""
    lesson: Lesson
    scorer: Scorer
    """Judges queries by the data set's rule."""
    sampled: Sequence[Sampled]
    """Queries that generators wrote, for the roles that choose among them."""
    draw: random.Random
    """Of this question alone, by the set's seed."""
    skipped: Callable[[str], None] = field(default=lambda _reason: None)
    """Called with the reason, in a few words, where no example is made."""

    def training_example(
        self,
        role: str,
        taught: Taught,
        *,
        name: str = "",
        rejected: Sequence[str],
        facts: Mapping[str, str | int | float | bool],
    ) -> TrainingExample:
        """A prompt with its reply; `name` tells it from others of the question, where a role makes
        several."""
        one = self.example
        of = f"{one.db_id}/{one.id}/{role}-{name}" if name else one.id
        return TrainingExample(
            id=f"{self.source}/{of}",
            role=role,
            step=taught.step,
            question_id=one.id,
            db_id=one.db_id,
            source=self.source,
            messages=taught.messages,
            completion=taught.completion,
            rejected=tuple(rejected),
            facts=facts,
        )


class Role(Protocol):
    """One role. Implementations: the modules of this folder."""

    @property
    def name(self) -> str:
        """As in `sqlwright lab finetune NAME`."""
        ...

    @property
    def step(self) -> str:
        """The step that asks it."""
        ...

    @property
    def chooses(self) -> bool:
        """True if it chooses among candidates, which must be given."""
        ...

    def examples(self, asked: Asked) -> Sequence[TrainingExample]:
        """Those of a question; where there are none, `asked.skipped` is told the reason."""
        ...
