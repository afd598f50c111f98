"""Which groups of tables of a wide schema a question is about.

Scattered look-alikes can't be joined, so a group counts as a whole: by the columns that the linker
finds in it, by the words of the question that its names and values explain, the more the fewer
groups explain them, and by how near its names come to the question's phrases and to the question.
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
"""Columns of a group whose scores say whether the question is about it."""
STATIC = 0.8
"""What a word of like meaning counts beside the word itself."""
COMMON = 0.3
"""What a word that every group explains counts, beside what rarity adds for one that only one
does."""
AS_STRONG = 0.03
"""Groups that explain a word weaker by no more than this explain it as well."""


@dataclass(frozen=True)
class GroupWeights:
    """What each point of evidence adds to a group's logit."""

    linked: float
    explained: float
    named: float
    asked: float


@dataclass(frozen=True, eq=False)
class Evidence:
    """What speaks for each of G groups besides their columns' scores; all (G,)."""

    explained: FloatArray
    named: FloatArray
    asked: FloatArray

    def logits(self, linked: FloatArray, weights: GroupWeights) -> FloatArray:
        """(G,) with the groups' `linked`, from `mass`."""
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
    """What a question has in common with each group; `rows` are the columns that the encoder
    looks at."""
    groups = schema.members
    content = (asked.content >= 1.0).astype(np.float32)
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
    """(count,) the sum of each owner's TELLING greatest scores."""
    order = np.lexsort((-columns, owners))
    sorted_owners = owners[order]
    place = np.arange(len(order)) - np.searchsorted(sorted_owners, sorted_owners)
    told = order[place < TELLING]
    summed = np.zeros(count, dtype=np.float32)
    np.add.at(summed, owners[told], columns[told])
    return summed


def _by_value(
    asked: QuestionArrays, schema: SchemaArrays, values: Sequence[ValueMatch]
) -> FloatArray:
    """(N, G) how well each group's stored values match each word."""
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
