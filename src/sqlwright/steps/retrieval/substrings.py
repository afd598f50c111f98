"""Stored values that stand in the question or its evidence."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import ClassVar

from sqlwright.indexes.derived import DerivedIndexes, listed_values
from sqlwright.indexes.substring import MOST_VALUES, SubstringIndex
from sqlwright.protocols import Context, Step, ValueIndex
from sqlwright.steps.retrieval.phrases.compared import compared_texts, is_meant
from sqlwright.types import State, ValueMatch

NAME = "retrieval.substrings"
SEARCHED = 1_000
"""Values of the index looked at, of which the longest are taken."""


@dataclass(frozen=True)
class RetrieveSubstrings(Step):
    """Finds the stored values that evidence and question hold, nearly letter by letter.

    MAG-SQL section 3.1.3: the longest common substring of value and text. Of what is at least
    `least` alike, but for numbers and single characters, the longest values are taken.

    Deviations: the values come from the workspace's index, which the matcher's own is made of once
    and kept in memory, not from the database each time; columns that hold texts take part whatever
    type they declare; of equally long values the more alike comes first, then by name.
    """

    threshold: float = 0.85
    """Least similarity of the matcher."""
    least: float = 0.9
    """Least similarity of what is taken from it."""
    limit: int = 10
    """Most values."""
    most_values: int = MOST_VALUES
    """Distinct values of a column that takes part, at most."""

    _indexes: DerivedIndexes[ValueIndex, SubstringIndex] = field(
        default_factory=DerivedIndexes, init=False, repr=False, compare=False, hash=False
    )

    purpose: ClassVar[str] = (
        "Finds the stored values that the question and its evidence name as they are stored, or "
        "nearly so, so that queries compare with them. No call."
    )
    reads: ClassVar[frozenset[str]] = frozenset({"question"})
    writes: ClassVar[frozenset[str]] = frozenset({"values", "looked_up"})

    def __call__(self, state: State, context: Context) -> State:
        context.run.check()
        question = state.question
        before = f"{question.evidence}. " if question.evidence.strip() else ""
        text = before + question.text
        if not text.strip():
            return state
        index = self._indexes.of(context.workspace.values, self._made)
        found = index.search(text, SEARCHED, per_column=SEARCHED)
        compared = compared_texts(question, state.view.schema)
        found = [match for match in found if is_meant(match, compared)]
        known = {(match.column, match.value) for match in state.values}
        new = [
            _placed(match, len(before))
            for match in self._longest(found)
            if (match.column, match.value) not in known
        ]
        return state.evolve(values=(*state.values, *new), looked_up=(*state.looked_up, NAME))

    def _made(self, index: ValueIndex) -> SubstringIndex:
        columns = listed_values(index, "searched for substrings", self.most_values)
        return SubstringIndex(columns, threshold=self.threshold, most_values=self.most_values)

    def _longest(self, found: Iterable[ValueMatch]) -> list[ValueMatch]:
        kept = [match for match in found if match.score >= self.least and _is_text(match.value)]
        kept.sort(key=lambda match: (-len(match.value), -match.score, match.value, match.column))
        return kept[: self.limit]


def _is_text(value: str) -> bool:
    """True unless it is a number or no more than a character."""
    bare = value.strip()
    if len(bare) < 2:
        return False
    try:
        float(bare.replace(",", ""))
    except ValueError:
        return True
    return not any(map(str.isdigit, bare))  # float takes "nan" and "infinity", too


def _placed(match: ValueMatch, before: int) -> ValueMatch:
    """The match with its place in the question; none for one of the evidence."""
    if match.span is None or match.span[0] < before:
        return replace(match, span=None)
    return replace(match, span=(match.span[0] - before, match.span[1] - before))
