"""Databases that are set apart: whole ones, with every copy of theirs, drawn by a seed."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

from sqlwright.lab.finetuning.building.fingerprints import Fingerprint


def set_apart(
    databases: Sequence[str], marks: Iterable[Fingerprint], share: float, seed: int
) -> frozenset[str]:
    """The share of the databases that isn't trained on: at least one of two and more, never all.

    `marks` may be several for a database, one for each file by its name. Those that are the same
    database under another name are set apart together, and count for as many.
    """
    groups = _groups(databases, marks)
    wanted = max(1, round(share * len(databases))) if share else 0
    random.Random(f"{seed}/held out").shuffle(groups)  # noqa: S311 - to be repeatable
    found: set[str] = set()
    for group in groups[:-1]:
        if len(found) >= wanted:
            break
        found |= group
    return frozenset(found)


def _groups(databases: Sequence[str], marks: Iterable[Fingerprint]) -> list[set[str]]:
    """The databases, those together that have a mark in common."""
    groups = {db_id: {db_id} for db_id in sorted(set(databases))}
    first: dict[tuple[str, str], str] = {}
    for one in marks:
        for mark in sorted(one.marks):
            other = first.setdefault(mark, one.db_id)
            if groups[other] is not groups[one.db_id]:
                joined = groups[other] | groups[one.db_id]
                groups |= dict.fromkeys(joined, joined)
    unique = {min(group): group for group in groups.values()}
    return [unique[name] for name in sorted(unique)]
