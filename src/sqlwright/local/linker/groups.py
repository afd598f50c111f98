"""Ranks the groups of tables of a wide schema by how likely a question is about them.

Scattered look-alikes can't be joined, so a group counts as a whole: by the columns that the linker
finds in it, by the words of the question that its names and values explain, the more the fewer
groups explain them, and by how near its names come to the question's phrases and to the question.
In shapes, N is the question's tokens and G the groups.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from sqlwright.protocols import FloatArray
from sqlwright.types import ValueMatch

if TYPE_CHECKING:
    from sqlwright.local.question.arrays import QuestionArrays, WordMatches
    from sqlwright.local.question.schema import IntArray, SchemaArrays

TELLING = 10
"""Number of a group's columns, the best ones, whose scores count for it; chosen."""
STATIC = 0.8
"""Weight of a word of like meaning beside the word itself, in [0, 1]; chosen."""
COMMON = 0.3
"""Weight of a word that every group explains; rarity adds up to 1 for one that only one group does.
Chosen."""
AS_STRONG = 0.03
"""Most by which a match may be weaker than another and still count as equal, in [0, 1]; chosen."""


@dataclass(frozen=True)
class GroupWeights:
    """Weights of the points of evidence in a group's logit."""

    linked: float
    explained: float
    named: float
    asked: float


@dataclass(frozen=True, eq=False)
class Evidence:
    """Evidence for each of G groups besides its columns' scores; all (G,)."""

    explained: FloatArray
    """Sum over the content words that the group's names and values explain, rare ones more."""
    named: FloatArray
    """Mean over the content words of the cosine of their phrase and the nearest column name."""
    asked: FloatArray
    """Cosine of the whole question and the nearest column with its table."""

    def logits(self, linked: FloatArray, weights: GroupWeights) -> FloatArray:
        """(G,) logits; `linked` is (G,) from `mass`."""
        return np.asarray(
            weights.linked * linked
            + weights.explained * self.explained
            + weights.named * self.named
            + weights.asked * self.asked,
            dtype=np.float32,
        )


def evidence(
    asked: QuestionArrays,
    schema: SchemaArrays,
    matches: WordMatches,
    rows: IntArray,
    values: Sequence[ValueMatch],
) -> Evidence:
    """The evidence for each group; `rows` are the places of the columns that the encoder looks
    at."""
    groups = schema.members
    content = (asked.content >= 1.0).astype(np.float32)
    # `words` lists the name words group by group, `begins` where each group's start.
    strength = np.maximum(matches.best, STATIC * matches.static)[:, groups.words]
    by_name = np.maximum.reduceat(strength, groups.begins, axis=1)
    explained = np.maximum(by_name, _by_value(asked, schema, values))
    summed = content[:, None] * explained * (COMMON + _rarity(explained))
    owners = groups.of_column[rows]
    near = _greatest(
        schema.vectors.cosines(asked.vectors, schema.name_texts[rows]), owners, len(groups.leaders)
    )
    whole = schema.vectors.cosines(asked.vectors[:1], schema.context_texts[rows])
    tokens = np.zeros((len(asked.tokens), len(groups.leaders)), dtype=np.float32)
    for (first, end), found in zip(asked.spans, near[1:], strict=True):
        np.maximum(tokens[first:end], found, out=tokens[first:end])
    named = (tokens * content[:, None]).sum(axis=0) / max(float(content.sum()), 1.0)
    return Evidence(summed.sum(axis=0), named, _greatest(whole, owners, len(groups.leaders))[0])


def mass(columns: FloatArray, owners: IntArray, count: int) -> FloatArray:
    """(count,) the sum of each owner's TELLING greatest scores; `columns` and `owners` are (C,)."""
    # Sorted by owner, then score: a column's rank is its distance from its owner's first one.
    order = np.lexsort((-columns, owners))
    sorted_owners = owners[order]
    place = np.arange(len(order)) - np.searchsorted(sorted_owners, sorted_owners)
    best = order[place < TELLING]
    summed = np.zeros(count, dtype=np.float32)
    np.add.at(summed, owners[best], columns[best])
    return summed


def _by_value(
    asked: QuestionArrays, schema: SchemaArrays, values: Sequence[ValueMatch]
) -> FloatArray:
    """(N, G) the best score of each group's stored values that hold a word."""
    place = {name: number for number, name in enumerate(schema.tables)}
    found = np.zeros((len(asked.tokens), len(schema.members.leaders)), dtype=np.float32)
    for match in values:
        table = place.get(match.column.table)
        if table is None or match.span is None:
            continue
        group = schema.members.of_table[table]
        for row, token in enumerate(asked.tokens[: asked.own]):
            if token.within(match.span):
                found[row, group] = max(found[row, group], match.score)
    return found


def _rarity(explained: FloatArray) -> FloatArray:
    """(N, G) 1 where no other group explains a word as well, 0 where all do."""
    groups = explained.shape[1]
    # The number of groups that match a word as well, found in its sorted row.
    ordered = np.sort(-explained, axis=1)
    counts = [
        np.searchsorted(row, AS_STRONG - own, side="right")
        for row, own in zip(ordered, explained, strict=True)
    ]
    shared = np.array(counts, dtype=np.float32).reshape(explained.shape)
    return np.asarray(1.0 - np.log(np.maximum(shared, 1.0)) / math.log(groups + 1), np.float32)


def _greatest(
    cosines: npt.NDArray[np.float32], owners: IntArray, count: int
) -> npt.NDArray[np.float32]:
    """(n, count) the greatest of each owner's columns, 0 where it has none."""
    order = np.argsort(owners, kind="stable")
    present, begins = np.unique(owners[order], return_index=True)
    found = np.zeros((len(cosines), count), dtype=np.float32)
    if len(order):
        found[:, present] = np.maximum.reduceat(cosines[:, order], begins, axis=1)
    return found
