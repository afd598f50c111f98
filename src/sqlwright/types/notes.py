"""Notes on an answer, and faults read in a query, each with its kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

NoteKind = Literal[
    "stopped", "vetoed", "mended", "unanswered",
    "fan_out", "text_as_number", "order_by_digits", "replaced", "converted",
    "null_first", "text_among_numbers", "tied", "equal_rows",
    "shortened", "only_null", "date", "second_question", "form", "database",
    "left_out", "budget", "stand_in", "model", "schema", "embedder", "critic", "record",
]  # fmt: skip
"""The subject of a note: how the run ended, faults of the query, what machine checks found and
replaced in it, its rows, the question, the database, and what went otherwise than planned."""

FINDINGS: frozenset[NoteKind] = frozenset(
    {"fan_out", "text_as_number", "order_by_digits", "replaced"}
)
"""Kinds that machine checks of a query give."""
CAVEATS: frozenset[NoteKind] = frozenset(
    {"null_first", "order_by_digits", "text_among_numbers", "tied"}
)
"""Kinds of what the data does to a query's order, comparisons and sums; its answer is doubted."""


@dataclass(frozen=True, slots=True)
class Note:
    """One thing to know, in a sentence. Programs go by the kind, never by the text."""

    kind: NoteKind
    text: str
    cause: str = ""
    """The message of the error that it tells of, where there is one."""

    def __str__(self) -> str:
        return self.text


VetoKind = Literal[
    "all", "amount", "both", "constant", "date", "flag", "join", "key", "moment", "name",
    "negation", "null", "number", "operation", "place", "round", "shown", "text", "unanswered",
    "unit", "value", "window", "year",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Veto:
    """A fault of a query that runs, read from its form: no right query has it."""

    kind: VetoKind
    message: str
    """The fault, in words."""
    done: str = ""
    """The mend, in words, for faults that can be mended; empty for others."""
