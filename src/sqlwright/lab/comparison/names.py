"""The stages of a recipe and the sides of a query, by their names, a query's first version, and who
wrote that."""

from __future__ import annotations

from pathlib import PurePath
from typing import Literal, get_args

from sqlwright.candidates import history
from sqlwright.types import Candidate

Stage = Literal["retrieval", "schema_linking", "generation", "repair", "selection", "other"]
"""The five stages; `other` are steps of somebody else's and an agent's turns."""
STAGES: tuple[Stage, ...] = get_args(Stage)

Aspect = Literal["tables", "joins", "shown", "conditions", "grouping", "order", "queries", "other"]
"""One side of a query: tables it reads, how they are joined, what is shown, conditions, grouping,
order and limit, queries within it, parts without words."""
ASPECTS: tuple[Aspect, ...] = get_args(Aspect)


def first_version(candidate: Candidate) -> Candidate:
    """A query as its author wrote it, before any repair."""
    *_, first = history(candidate)
    return first


def author(candidate: Candidate) -> str:
    """The author of a query's first version: the name of its prompt, else its step, and the model
    that it names."""
    first = first_version(candidate)
    named = PurePath(first.prompt).stem or first.source
    return f"{named} of {first.model}" if first.model else named
