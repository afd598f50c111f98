"""Which tables of a wide schema belong together, and which groups a question is about."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

from sqlwright.local.lexical import FUNCTION_WORDS, OPERATION_WORDS, split_name, stem, tokens
from sqlwright.schema import Schema
from sqlwright.types import State

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


def likely_groups(state: State, schema: Schema, *, most: int, share: float) -> list[Likely]:
    """The groups that the question is most probably about, best first, by the linker's scores in
    `state`: at most `most`, and only those whose score is at least `share` of the best one's.

    Scattered look-alikes can't be joined: a group counts as a whole, by its best columns and by the
    words of the question that its names and values explain.
    """
    found: dict[str, list[float]] = {}
    for link in state.columns:  # best first
        found.setdefault(schema.groups[link.column.table], []).append(link.score)
    words = explained(state, schema)
    scores = [
        Likely(group, sum(islice(found.get(group, ()), TELLING)) + EXPLAINING * words.get(group, 0))
        for group in dict.fromkeys(schema.groups.values())
    ]
    scores.sort(key=lambda one: -one.score)
    return [one for one in scores[:most] if one.score >= share * scores[0].score]


def together(state: State, schema: Schema, *, most: int, groups: int, share: float) -> list[str]:
    """At most `most` tables of the likely groups: each may take half of the places left, the last
    of them all."""
    worth = {link.table: link.score for link in state.tables}
    best: dict[str, float] = {}
    for link in state.columns:
        best.setdefault(link.column.table, link.score)
    kept = likely_groups(state, schema, most=groups, share=share)
    chosen: list[str] = []
    for place, group in enumerate(kept):
        room = most - len(chosen)
        if place < len(kept) - 1:
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
