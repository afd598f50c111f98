"""The stages of a recipe and the sides of a query, by their names, and a query's first version."""

from __future__ import annotations

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
