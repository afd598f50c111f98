"""Evidence about joins from the groups of tables that declared keys connect.

In a schema of a few tables a name that fits and values that are all found are enough to join by.
One of hundreds holds many customers, and every column of small numbers is contained in all of their
keys. There, tables that declared keys join to others are taken to be joined as their makers said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from sqlwright.catalog.join_names import STRONG, Proposal, names_its_table, sole_key
from sqlwright.catalog.records import ColumnProfile
from sqlwright.schema import ColumnRef, Schema

SMALL_NUMBERS = 100
"""Keys that are counted from below this hold any column of small numbers by chance."""
DENSE = 0.3
"""Share of the numbers between its least and its greatest that such a key holds."""
FEW = 5
"""Fewer different values say nothing."""
NEIGHBOURS = 10
"""Tables that were made one after another with fewer than so many between are likely one design."""

TargetRank = tuple[bool, bool, int]


class Groups:
    """The tables of a schema by the declared keys that connect them."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._position = {table.name: position for position, table in enumerate(schema.tables)}
        self._sizes = Counter(schema.group_of.values())

    def apart(self, near: str, far: str) -> bool:
        """True if tables of a schema of many groups are known not to belong together: one of them
        is in a group that the other isn't in."""
        group, other = self._schema.group_of[near], self._schema.group_of[far]
        return (
            self._schema.has_many_groups
            and group != other
            and max(self._sizes[group], self._sizes[other]) > 1
        )

    def rank_of_target(self, near: ColumnRef, far: ColumnRef) -> TargetRank:
        """Rank of a target among those equally likely by name and values: in the same group, spelt
        the same, made soon before or after. Equal for all unless the schema has many groups."""
        if not self._schema.has_many_groups:
            return (False, False, 0)
        gap = abs(self._position[near.table] - self._position[far.table])
        return (self._same(near, far), near.column == far.column, -gap)

    def _same(self, near: ColumnRef, far: ColumnRef) -> bool:
        return self._schema.group_of[near.table] == self._schema.group_of[far.table]

    def admits(self, proposal: Proposal, profiles: Mapping[ColumnRef, ColumnProfile]) -> bool:
        """True if the values may decide about a proposal at all.

        In a schema of many groups, the key of a table that it is named after refers to nothing,
        another table's key to one of its own group, and a column to a key of another group only
        where the name leaves no doubt and the values aren't found everywhere or the tables were
        made together.
        """
        near = self._schema.table(proposal.near.table)
        if not self._schema.has_many_groups or near is None:
            return True
        own_key = sole_key(near, proposal.near.column)
        if own_key and names_its_table(near.own_name, proposal.near.column):
            return False
        if self._same(proposal.near, proposal.far):
            return True
        if not own_key and not self.apart(proposal.near.table, proposal.far.table):
            return True
        if not proposal.primary:
            return False
        gap = abs(self._position[proposal.near.table] - self._position[proposal.far.table])
        if gap <= NEIGHBOURS and not own_key and proposal.score >= STRONG:
            return True
        return proposal.exact and telling(profiles.get(proposal.near), profiles.get(proposal.far))


def telling(near: ColumnProfile | None, far: ColumnProfile | None) -> bool:
    """True if finding all values of `near` in `far` says more than that both count from one."""
    if near is None or far is None:
        return False
    if near.main_storage == "text":
        return near.distinct >= FEW
    least, most = far.minimum, far.maximum
    if not isinstance(least, int | float) or not isinstance(most, int | float):
        return False
    dense = far.distinct >= DENSE * (most - least + 1)
    return near.distinct >= FEW and not (dense and least < SMALL_NUMBERS)
