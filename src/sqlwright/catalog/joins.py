"""Joins that a database doesn't declare, inferred from names and confirmed by stored values.

A join is inferred when the names suggest it, the target's values are all different, and (nearly)
all values looked at on the near side are found on the far side. Where a table is empty there is
nothing to confirm, and only names that leave no doubt count.

Values alone never join: small numbers are found in every key that counts from one. A name with
something before it (home_team_id, TxTickerId) must still end in all that the key is called: its
table and key word, or a name that is more than a key word. It is weaker than the whole name, so
every value must be found, two different ones at least, five where nothing says that the target is
its table's key.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlwright.catalog.join_groups import Groups, TargetRank
from sqlwright.catalog.join_names import (
    STRONG,
    Proposal,
    names_its_table,
    propose,
    propose_composite,
)
from sqlwright.catalog.reading import OutOfTime, TimedReader
from sqlwright.catalog.records import ColumnProfile
from sqlwright.catalog.statements.lookups import Pair, compares_as_text, looked_up
from sqlwright.schema import ColumnRef, ForeignKey, Schema

ENOUGH = 0.85
"""Share of the near side's values found on the far side. Chosen: real keys have some rows without a
partner."""
NEARLY = 0.95
"""Share likewise. Where names are telling, `ENOUGH` of the values must be found; weaker ones need
all of them, or `NEARLY` all of many. Real keys have some rows without a partner."""
FEW, FEW_TO_KEY = 5, 2
"""Fewer values than that may be all different, and all found, by chance; a primary key is at least
known to be one, and a column with its table's name is likely one."""
_NUMERIC = frozenset({"integer", "real"})


@dataclass(frozen=True, slots=True)
class _Overlap:
    """Result of looking up `looked` different near values: `found` of them exist on the far
    side."""

    looked: int
    found: int

    @property
    def share(self) -> float:
        return self.found / self.looked if self.looked else 0.0

    def __str__(self) -> str:
        share = "100" if self.found == self.looked else f"{min(self.share * 100, 99.9):.1f}"
        return f"{share} % of {self.looked} sampled values found"


@dataclass(frozen=True, slots=True)
class _Lookups:
    """Looks values up, each time within some seconds."""

    schema: Schema
    reading: TimedReader
    seconds: float

    def overlap(self, pairs: Sequence[Pair]) -> _Overlap | None:
        """Number of the near side's different values that exist on the far side; None when it
        takes too long to tell."""
        counted = looked_up(self.reading, self.schema, pairs, self.seconds)
        return None if counted is None else _Overlap(*counted)


def infer_joins(
    schema: Schema,
    profiles: Mapping[ColumnRef, ColumnProfile],
    reading: TimedReader,
    *,
    seconds_each: float = 2.0,
) -> tuple[ForeignKey, ...]:
    """Joins besides the declared ones, each with its evidence; at most one per column.

    Stops, with what it has found so far, when the reading's time is up; a check that takes longer
    than `seconds_each` counts as failed. Raises `Cancelled`.
    """

    def is_unique(ref: ColumnRef) -> bool:
        profile = profiles.get(ref)
        return profile is not None and (profile.unique or _seems_unique(profile))

    groups = Groups(schema)
    lookups = _Lookups(schema, reading, seconds_each)
    linked = _Linked(schema.foreign_keys)
    inferred: list[ForeignKey] = []
    named = propose(
        schema, is_unique, lambda proposal: groups.admits(proposal, profiles), groups.rank_of_target
    )
    proposed = sorted(named, key=lambda proposals: not proposals[0].primary)
    try:
        for key in _composite(profiles, lookups):
            if groups.apart(key.table, key.target_table):
                continue
            linked.add(key)
            inferred.append(key)
        for proposals in proposed:
            reading.check()
            open_ones = [proposal for proposal in proposals if not linked.rules_out(proposal)]
            best = _best(open_ones, profiles, lookups, groups)
            if best is not None:
                linked.add(best)
                inferred.append(best)
    except OutOfTime:
        pass
    reading.limit(None)
    return tuple(inferred)


class _Linked:
    """The joins made so far."""

    def __init__(self, keys: Iterable[ForeignKey]) -> None:
        self._columns: set[frozenset[ColumnRef]] = set()
        self._tables: set[frozenset[str]] = set()
        for key in keys:
            self.add(key)

    def add(self, key: ForeignKey) -> None:
        self._columns.update(map(frozenset, key.pairs))
        self._tables.add(frozenset((key.table, key.target_table)))

    def rules_out(self, proposal: Proposal) -> bool:
        """The same two columns, or, where two tables are joined by a key already, columns that
        merely repeat what the key stands for (a name beside an id)."""
        if frozenset((proposal.near, proposal.far)) in self._columns:
            return True
        tables = frozenset((proposal.near.table, proposal.far.table))
        return not proposal.primary and tables in self._tables


def with_joins(schema: Schema, inferred: Iterable[ForeignKey]) -> Schema:
    """The schema with inferred joins behind the declared ones."""
    return replace(schema, foreign_keys=(*schema.foreign_keys, *inferred))


def _best(
    proposals: list[Proposal],
    profiles: Mapping[ColumnRef, ColumnProfile],
    lookups: _Lookups,
    groups: Groups,
) -> ForeignKey | None:
    """The most telling proposal that holds. Among equals the nearest of kin, then the one that more
    values confirm, then the larger target."""
    best: tuple[tuple[float, TargetRank, float, int], ForeignKey] | None = None
    for proposal in proposals:
        if best is not None and proposal.score < best[0][0]:
            break
        near, far = profiles.get(proposal.near), profiles.get(proposal.far)
        if near is None or far is None:
            continue
        nearness = groups.rank_of_target(proposal.near, proposal.far)
        held = _held(proposal, near, far, lookups)
        if held is None:
            continue
        key, share = held
        rank = (proposal.score, nearness, share, far.rows)
        if best is None or rank > best[0]:
            best = rank, key
    return best[1] if best else None


def _held(
    proposal: Proposal,
    near: ColumnProfile,
    far: ColumnProfile,
    lookups: _Lookups,
) -> tuple[ForeignKey, float] | None:
    """The join, if it holds, and the share of the near side's values that were found."""
    empty = near.rows == near.nulls
    overlap = None
    if not empty or (near.sampled and near.rows):  # a sample may have missed what there is
        if far.rows == 0 or not (empty or _comparable(near, far)):
            return None
        overlap = lookups.overlap([(proposal.near, proposal.far)])
        if overlap is None:
            return None
    if empty and (overlap is None or not overlap.looked):
        key = _by_names(proposal, near)
        return None if key is None else (key, 0.0)
    if overlap is None or not _convincing(proposal, overlap, near, far):
        return None
    as_text = compares_as_text(lookups.schema, proposal.near, proposal.far)
    return _confirmed(proposal, overlap, far, as_text=as_text), overlap.share


def _composite(
    profiles: Mapping[ColumnRef, ColumnProfile],
    lookups: _Lookups,
) -> Iterator[ForeignKey]:
    """Joins over several columns of the same names as a composite primary key."""
    schema = lookups.schema
    declared = {frozenset((key.table, key.target_table)) for key in schema.foreign_keys}
    for near, far, pairs in propose_composite(schema):
        lookups.reading.check()
        refs = [ColumnRef(near.name, column) for column, _ in pairs]
        ends = [profiles.get(ColumnRef(far.name, column)) for _, column in pairs]
        if frozenset((near.name, far.name)) in declared or any(
            profile is None or profile.rows == profile.nulls
            for profile in (*map(profiles.get, refs), *ends)
        ):
            continue
        joined = [(ColumnRef(near.name, one), ColumnRef(far.name, other)) for one, other in pairs]
        overlap = lookups.overlap(joined)
        if overlap is None or not overlap.looked or overlap.share < ENOUGH:
            continue
        key = ForeignKey(
            near.name,
            tuple(column for column, _ in pairs),
            far.name,
            far.primary_key,
            inferred=True,
            evidence=f"{near.name} ({', '.join(column for column, _ in pairs)}) → {far.name}: all"
            f" names of its primary key; {overlap}",
        )
        declared.add(frozenset((near.name, far.name)))
        yield key


def _convincing(
    proposal: Proposal, overlap: _Overlap, near: ColumnProfile, far: ColumnProfile
) -> bool:
    if overlap.looked == 0 or overlap.found == 0:
        return False
    if proposal.score >= STRONG:
        missing = overlap.looked - overlap.found
        few = proposal.exact and 4 <= overlap.looked < 10 and missing <= 1
        return few or overlap.share >= ENOUGH
    if _flag(near) or far.rows < 2 or overlap.looked < _needed(proposal):
        return False
    return overlap.share == 1.0 or (overlap.looked >= 100 and overlap.share >= NEARLY)


def _needed(proposal: Proposal) -> int:
    """Different values that must be there before finding them all says anything."""
    far = proposal.far
    return FEW_TO_KEY if proposal.primary or names_its_table(far.table, far.column) else FEW


def _flag(profile: ColumnProfile) -> bool:
    """True if a column holds yes and no in numbers, which are found in any key."""
    return any(form.name == "boolean" for form in profile.formats)


def _seems_unique(profile: ColumnProfile) -> bool:
    """True if a sample had no value twice."""
    cells = profile.rows - profile.nulls
    return profile.sampled and cells >= 1_000 and profile.distinct >= cells


def _comparable(near: ColumnProfile, far: ColumnProfile) -> bool:
    if "blob" in (near.main_storage, far.main_storage):
        return False
    if near.main_storage in _NUMERIC and far.main_storage in _NUMERIC:
        return True
    # Text and numbers can meet: SQLite compares by the columns' declared affinity.
    return near.main_storage == far.main_storage or "text" in (near.main_storage, far.main_storage)


def _by_names(proposal: Proposal, near: ColumnProfile) -> ForeignKey | None:
    if not proposal.exact:
        return None
    empty = "there are no values to compare" if near.rows == 0 else "all its values are NULL"
    return _key(proposal, f"by name only: {proposal.reason}; {empty}")


def _confirmed(
    proposal: Proposal, overlap: _Overlap, far: ColumnProfile, *, as_text: bool
) -> ForeignKey:
    types = ", compared as texts, since their types differ" if as_text else ""
    unique = "target unique" if not far.sampled else "target unique among the rows looked at"
    return _key(
        proposal,
        f"{proposal.reason}; {overlap}, {unique}{types}",
    )


def _key(proposal: Proposal, evidence: str) -> ForeignKey:
    return ForeignKey(
        proposal.near.table,
        (proposal.near.column,),
        proposal.far.table,
        (proposal.far.column,),
        inferred=True,
        evidence=f"{proposal.near} → {proposal.far}: {evidence}",
    )
