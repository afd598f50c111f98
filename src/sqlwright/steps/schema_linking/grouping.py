"""Chooses groups of tables of a wide schema, and tables within them."""

from __future__ import annotations

import math
from collections.abc import Sequence

from sqlwright.protocols import GroupLink
from sqlwright.schema import Schema
from sqlwright.types import State


def likely(groups: Sequence[GroupLink], *, most: int, share: float) -> list[GroupLink]:
    """The first `most` of ranked groups that are at least `share` times as probable as the first
    one."""
    least = groups[0].score + math.log(max(share, 1e-9))
    return [group for group in groups[:most] if group.score >= least]


def together(state: State, schema: Schema, groups: Sequence[GroupLink], *, most: int) -> list[str]:
    """At most `most` tables of the groups: each may take half of what is left, the last of them
    all."""
    worth = {link.table: link.score for link in state.tables}
    best: dict[str, float] = {}
    for link in state.columns:
        best.setdefault(link.column.table, link.score)
    chosen: list[str] = []
    for index, group in enumerate(groups):
        room = most - len(chosen)
        if index < len(groups) - 1:
            room = (room + 1) // 2
        tables = [table.name for table in schema.by_group[group.leader].tables]
        tables.sort(key=lambda name: -worth.get(name, 0.0) - best.get(name, 0.0))
        chosen += tables[:room]
    return chosen
