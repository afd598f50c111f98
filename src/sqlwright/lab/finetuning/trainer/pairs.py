"""Preference pairs: a prompt with a right and a wrong reply to it, of any role's examples."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sqlwright.lab.finetuning.example import TrainingExample

MOST_PAIRS = 3
"""Pairs of one example at most, chosen: so that questions with many wrong candidates don't outweigh
the others."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A prompt, a reply that is right and one that is wrong, in the same form."""

    example: TrainingExample
    rejected: str

    @property
    def chosen(self) -> str:
        """The right reply."""
        return self.example.completion


@dataclass(frozen=True)
class Pairs:
    """The pairs of a set, and what became of its examples."""

    pairs: tuple[Pair, ...]
    examples: int = 0
    without: int = 0
    """Examples without a wrong reply."""
    same: int = 0
    """Wrong replies that are the right one, or another wrong one, once more."""
    beyond: int = 0
    """Wrong replies beyond the most that an example has."""
    roles: Mapping[str, int] = field(default_factory=dict)
    """Pairs by role."""

    @property
    def statistics(self) -> dict[str, int | dict[str, int]]:
        """As a set's statistics have them."""
        return {
            "examples": self.examples,
            "pairs": len(self.pairs),
            "examples_without_pairs": self.without,
            "same_replies": self.same,
            "replies_beyond_the_most": self.beyond,
            "pairs_by_role": dict(self.roles),
        }


def paired(examples: Iterable[TrainingExample], *, most: int = MOST_PAIRS, seed: int = 0) -> Pairs:
    """Up to `most` pairs of each example, drawn by the seed and the example's id alone: examples
    that are added or left out don't change the pairs of others. In the order of the examples."""
    pairs: list[Pair] = []
    counts: Counter[str] = Counter()
    roles: Counter[str] = Counter()
    for example in examples:
        wrong = _distinct(example)
        draw = random.Random(f"{seed}\0{example.id}")  # noqa: S311 - to be repeatable, not secret
        drawn = sorted(draw.sample(range(len(wrong)), min(most, len(wrong))))
        pairs += [Pair(example, wrong[number]) for number in drawn]
        counts["examples"] += 1
        counts["without"] += not wrong
        counts["same"] += len(example.rejected) - len(wrong)
        counts["beyond"] += len(wrong) - len(drawn)
        roles[example.role] += len(drawn)
    return Pairs(
        tuple(pairs),
        counts["examples"],
        counts["without"],
        counts["same"],
        counts["beyond"],
        {role: number for role, number in sorted(roles.items()) if number},
    )


def _distinct(example: TrainingExample) -> list[str]:
    """The wrong replies that differ from the right one and from one another, but for the space
    around them."""
    found: dict[str, str] = {}
    for text in example.rejected:
        if text.strip() != example.completion.strip():
            found.setdefault(text.strip(), text)
    return list(found.values())
