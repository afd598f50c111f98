"""The phrases of a question, and the part of a query that answers each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Literal

from sqlwright.schema import ColumnRef
from sqlwright.types.values import ValueMatch

PhraseKind = Literal[
    "value", "quotation", "name", "number", "time", "negation", "bound", "pattern", "extreme",
    "average", "count", "sum", "order", "word", "output",
]  # fmt: skip
"""The things that phrases ask for: a stored value; a text in quotes or written as a name; a number;
a time; an exclusion; a comparison; a part of a text; an operation; anything else; a column."""


@dataclass(frozen=True, slots=True)
class AskedPhrase:
    """A phrase of the question, and what in the query answers it."""

    kind: PhraseKind
    text: str
    span: tuple[int, int]
    """First character and end in the question."""
    answer: str = ""
    """The part of the query that answers it, in words; empty for nothing."""
    doubt: float = 0.0
    """The weight against the query of nothing answering it, in [0, 1]."""
    value: ValueMatch | None = None
    """A stored value that it names and the query doesn't use."""
    columns: tuple[ColumnRef, ...] = ()
    """Columns that are called so and the query doesn't use."""
    tables: tuple[str, ...] = ()
    """Likewise."""
    nearest: tuple[ValueMatch, ...] = ()
    """The stored values that are spelled most like it, where none is the same."""


@dataclass(frozen=True)
class Account:
    """The account of one query: every phrase of the question that asks for something."""

    phrases: tuple[AskedPhrase, ...] = ()
    """In reading order."""

    @cached_property
    def unanswered(self) -> tuple[AskedPhrase, ...]:
        """Those that nothing answers, the worst first."""
        left = [one for one in self.phrases if not one.answer]
        return tuple(sorted(left, key=lambda one: -one.doubt))

    @cached_property
    def doubt(self) -> float:
        """The weight of all of them together against the query, in [0, 1]."""
        return 1.0 - prod(1.0 - one.doubt for one in self.unanswered)
