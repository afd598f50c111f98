"""Tables and columns that a question doesn't need, added to those it does: what linking keeps is
seldom exact, and a generator learns to pass over what is too much."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Hashable, Sequence
from functools import lru_cache
from typing import cast

import numpy as np
from rapidfuzz import fuzz

from sqlwright.english.words import split_name
from sqlwright.protocols import Embedder, FloatArray
from sqlwright.schema import ColumnRef, Schema, Table, fold_name

WEIGHTS = (0.2, 0.4, 0.4)
"""Probabilities of no, one and two further tables. MSc-SQL (section 3.2) adds none to two "with a
weighted probability" that it doesn't print. The released code adds none at all: its count is set to
0, and the line that would draw one is a comment, 0.15, 0.30, 0.30 and 0.25 for none to three. These
are its first three, made to add up to one."""
LEAST = 0.5
"""Likeness of two columns' names below which they aren't similar; chosen, CHESS prints none."""

Likeness = Callable[[str, str], float]
"""The likeness of two names, 0 to 1."""


def checked_weights(weights: Sequence[float]) -> None:
    """Raise ValueError for weights that nothing can be drawn by."""
    if not weights or min(weights) < 0 or not 0 < sum(weights) < float("inf"):
        raise ValueError(f"weights are numbers from 0, not all 0, not {list(weights)}")


def count(weights: Sequence[float], draw: random.Random) -> int:
    """A number from 0, drawn by the weight of each."""
    return draw.choices(range(len(weights)), weights)[0]


def weighted_tables(
    schema: Schema, needed: Collection[str], weights: Sequence[float], draw: random.Random
) -> tuple[str, ...]:
    """Some tables besides those needed, any of them (MSc-SQL section 3.2)."""
    others = [table.name for table in schema.tables if table.name not in needed]
    return tuple(draw.sample(others, min(count(weights, draw), len(others))))


def similar_tables(
    schema: Schema,
    needed: Collection[str],
    weights: Sequence[float],
    draw: random.Random,
    like: Likeness,
) -> tuple[str, ...]:
    """Some tables besides those needed, most like one of these by their names and by names of
    columns that both have (CHESS, appendix B)."""
    known = [table for table in schema.tables if table.name in needed]
    scores = {
        other.name: max(like(other.name, one.name) + _shared(other, one) for one in known)
        for other in schema.tables
        if other.name not in needed and known
    }
    ranked = sorted(scores, key=lambda name: -scores[name])
    return tuple(ranked[: count(weights, draw)])


def similar_columns(
    schema: Schema,
    needed: Collection[ColumnRef],
    tables: Collection[str],
    weights: Sequence[float],
    draw: random.Random,
    *,
    like: Likeness,
) -> frozenset[ColumnRef]:
    """Columns of some tables besides those needed: for a needed one at most as many as the weights
    draw, those whose names are most like its own (CHESS, appendix B)."""
    others = [ref for ref in schema.columns if ref.table in tables and ref not in needed]
    found: set[ColumnRef] = set()
    for one in sorted(needed):
        number = count(weights, draw)
        scored = [(like(ref.column, one.column), ref) for ref in others if ref not in found]
        near = sorted((pair for pair in scored if pair[0] >= LEAST), key=lambda pair: -pair[0])
        found.update(ref for _, ref in near[:number])
    return frozenset(found)


def nearest_column(
    schema: Schema, table: str, needed: Collection[ColumnRef], like: Likeness
) -> ColumnRef:
    """The column of a table whose name is most like that of a needed one."""
    own = [ref for ref in schema.columns if ref.table == table]
    return max(
        own, key=lambda ref: max((like(ref.column, one.column) for one in needed), default=0)
    )


def name_likeness(embedder: Embedder | None) -> Likeness:
    """By edits or, where that is more, by the meaning of their words."""

    key = cast("Hashable", embedder)

    def like(one: str, other: str) -> float:
        first, second = _words(one), _words(other)
        edits = fuzz.ratio(first, second) / 100
        if embedder is None or edits == 1:
            return edits
        return max(edits, float(np.dot(_vector(key, first), _vector(key, second))))

    return like


def _shared(one: Table, other: Table) -> float:
    """The share of all names of columns that both tables have."""
    first, second = ({fold_name(c.name) for c in table.columns} for table in (one, other))
    return len(first & second) / len(first | second) if first | second else 0.0


def _words(name: str) -> str:
    return " ".join(word.casefold() for word in split_name(name)) or name


@lru_cache(maxsize=20_000)
def _vector(embedder: Hashable, text: str) -> FloatArray:
    vector: FloatArray = cast("Embedder", embedder).embed([text])[0]
    return vector
