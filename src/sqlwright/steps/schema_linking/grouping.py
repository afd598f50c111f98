"""Which tables of a wide schema belong together, and which groups a question is about."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from sqlwright.local.lexical import FUNCTION_WORDS, OPERATION_WORDS, split_name, stem, tokens
from sqlwright.schema import Schema
from sqlwright.types import ColumnLink, State

TELLING = 10
"""Columns of a group whose scores say whether the question is about it."""
EXPLAINING = 0.4
"""What a word that only one group explains adds to the scores of columns, about; chosen on
questions of merged databases that no model has seen."""
COMMON = 0.3
"""What a word that every group explains counts, beside one for a word that only one does."""


class Likely(NamedTuple):
    """A group of tables, and how much speaks for the question being about it."""

    leader: str
    score: float


def ranked_groups(state: State, columns: Sequence[ColumnLink], schema: Schema) -> list[Likely]:
    """Every group, the one that the question is most probably about first.

    Scattered look-alikes can't be joined: a group counts as a whole, by its best columns and by the
    words of the question that its names and values explain.
    """
    found: dict[str, list[float]] = {}
    for link in columns:  # best first
        found.setdefault(schema.groups[link.column.table], []).append(link.score)
    words = explained(state, schema)
    scores = [
        Likely(group, sum(islice(found.get(group, ()), TELLING)) + EXPLAINING * words.get(group, 0))
        for group in schema.parts
    ]
    return sorted(scores, key=lambda one: -one.score)


def likely(groups: Sequence[Likely], *, most: int, share: float) -> list[Likely]:
    """The first `most` of ranked groups whose score is at least `share` of the first one's."""
    return [one for one in groups[:most] if one.score >= share * groups[0].score]


def weights(groups: Sequence[Likely]) -> Mapping[str, float]:
    """What a column of each of the ranked groups counts beside one of the first group."""
    return {one.leader: math.exp(one.score - groups[0].score) for one in groups}


def together(state: State, schema: Schema, groups: Sequence[Likely], *, most: int) -> list[str]:
    """At most `most` tables of the groups: each may take half of the places left, the last of them
    all."""
    worth = {link.table: link.score for link in state.tables}
    best: dict[str, float] = {}
    for link in state.columns:
        best.setdefault(link.column.table, link.score)
    chosen: list[str] = []
    for place, group in enumerate(groups):
        room = most - len(chosen)
        if place < len(groups) - 1:
            room = (room + 1) // 2
        own = [table.name for table in schema.parts[group.leader].tables]
        own.sort(key=lambda name: -worth.get(name, 0.0) - best.get(name, 0.0))
        chosen += own[:room]
    return chosen


def explained(state: State, schema: Schema) -> Mapping[str, float]:
    """For each group how much of the question its names and values explain: every word that asks
    for something counts, the more the fewer groups explain it."""
    naming = _groups_by_word(schema)
    all_groups = len(set(schema.groups.values()))
    scores: dict[str, float] = {}
    for word in tokens(state.question.text):
        if word.is_number or word.text in FUNCTION_WORDS or word.text in OPERATION_WORDS:
            continue
        by = dict.fromkeys(naming.get(stem(word.text), ()), 1.0)
        for match in state.values:
            group = schema.groups.get(match.column.table)
            if group and match.span and match.span[0] <= word.start and word.end <= match.span[1]:
                by[group] = max(by.get(group, 0.0), match.score)
        rarity = 1.0 - math.log(max(len(by), 1)) / math.log(all_groups + 1)
        for group, strength in by.items():
            scores[group] = scores.get(group, 0.0) + strength * (COMMON + rarity)
    return scores


def _groups_by_word(schema: Schema) -> Mapping[str, Sequence[str]]:
    naming: dict[str, dict[str, None]] = {}
    for table in schema.tables:
        group = schema.groups[table.name]
        for name in (table.name, *(column.name for column in table.columns)):
            for word in _stems(name):
                naming.setdefault(word, {})[group] = None
    return {word: tuple(groups) for word, groups in naming.items()}


@lru_cache(maxsize=50_000)
def _stems(name: str) -> tuple[str, ...]:
    return tuple(map(stem, split_name(name)))
