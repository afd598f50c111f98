"""A question back: the readings of a question between which its asker can choose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sqlwright.types.candidates import Candidate

ReadingKind = Literal[
    "column", "value", "condition", "bound", "operation", "repeats", "each", "without", "direction",
    "first",
]  # fmt: skip
"""The one thing in which readings differ: the column meant; the stored value; whether a condition
is meant, or which; whether a bound belongs to it; what is worked out; whether what comes twice
counts twice; all together or one row each; rows without a partner; the upper or lower end; all or
the first few."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One reading of a question."""

    text: str
    """The reading in words, as far as it differs from the others."""
    gives: str
    """Its answer in short: the only value, or the number of rows and the first of them."""
    share: float
    """Probability that it is meant if one of the choices is, in [0, 1]; shares add up to 1."""
    candidate: Candidate
    """Its query and rows."""


@dataclass(frozen=True, slots=True)
class QuestionBack:
    """A question to whoever asked, with the readings to choose from."""

    text: str
    kind: ReadingKind
    phrase: str
    """The words of the question that can be read in several ways; empty where none stand for it."""
    choices: tuple[Choice, ...]
    """Two or three, the likeliest first: that is the one answered."""

    @property
    def taken(self) -> Choice:
        """The choice that the answer goes by."""
        return self.choices[0]
