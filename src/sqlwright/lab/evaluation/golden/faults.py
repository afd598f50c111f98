"""Faults of a golden set, by rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning"]

RULES: Mapping[str, tuple[Severity, str]] = {
    "database": ("error", "its database can't be opened"),
    "blank": ("error", "the question has no word"),
    "unsafe": ("error", "a gold query isn't one query that only reads"),
    "fails": ("error", "a gold query fails, or its result is too large to be compared"),
    "expected": ("error", "no gold query gives the stored result"),
    "contradicts": ("error", "the question stands there twice, with other results"),
    "repeated": ("warning", "the question stands there twice"),
    "nothing": ("warning", "gold says nothing: any wrong query that finds nothing is right, too"),
    "chance": ("warning", "chance or the day decides what gold shows"),
    "data": (
        "warning",
        "NULL, equal rows or text among numbers decide what gold shows",
    ),
    "disagree": ("warning", "several gold queries, which give different results"),
    "readings": ("warning", "the question can be read in another way, with another result"),
}
"""Each rule with its severity and its meaning. An error makes the figures wrong; a warning says
that a question can't tell right from wrong as sharply as it seems."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault of one question of a golden set."""

    rule: str
    id: str
    question: str
    shown_by: str

    @property
    def severity(self) -> Severity:
        return RULES[self.rule][0]

    def as_dict(self) -> dict[str, str]:
        """The fault as plain data."""
        return {
            "severity": self.severity,
            "rule": self.rule,
            "id": self.id,
            "question": self.question,
            "shown_by": self.shown_by,
        }
