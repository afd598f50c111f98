"""Joins that a database doesn't declare, inferred from names and confirmed by stored values.

A join is inferred when the names suggest it, the target's values are all different, and (nearly)
all values looked at on the near side are found on the far side. Where a table is empty there is
nothing to confirm, and only names that leave no doubt count.

Values alone never join: small numbers are found in every key that counts from one. A name with
something before it (home_team_id, TxTickerId) must still end in all that the key is called: its
table and key word, or a name that is more than a key word. It is weaker than the whole name, so
every value must be found, two different ones at least, five where nothing says that the target is
its table's key.

Groups of tables that declared keys connect are evidence, too. In a schema of a few tables a name
that fits and values that are all found are enough to join by. One of hundreds holds many customers,
and every column of small numbers is contained in all of their keys. There, tables that declared
keys join to others are taken to be joined as their makers said.

Declared keys are looked at as well: where values aren't found where they lead, a join along them
loses rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlwright.catalog.join_names import (
    STRONG,
    Proposal,
    names_its_table,
    propose,
    propose_composite,
    sole_key,
)
from sqlwright.catalog.reading import OutOfTime, TimedReader
from sqlwright.catalog.records import ColumnProfile
from sqlwright.catalog.statements.lookups import Pair, compares_as_text, looked_up
from sqlwright.schema import ColumnRef, ForeignKey, Schema
from sqlwright.sql.dialects import SQLITE, dialect_of, written_table
from sqlwright.sql.tokens import quote_name

FORMS = (
    ("{}", "trim({})"),
    ("trim({})", "{}"),
    ("{}", "lower({})"),
    ("lower({})", "{}"),
    ("trim({})", "trim({})"),
    ("lower({})", "lower({})"),
    ("lower(trim({}))", "lower(trim({}))"),
)
"""Forms of both sides in which a key's values may be found, those with fewer functions first."""
FOUND_SHARE = 0.5
"""Share of different values found below which a key is told of. Chosen: real keys have some rows
without a partner."""


def unmatched_keys(
    schema: Schema, keys: Iterable[ForeignKey], reading: TimedReader, *, seconds_each: float = 2.0
) -> dict[ForeignKey, str]:
    """Of the declared keys of one column those of which few values are found, and how few.

    Stops, with what it has found so far, when the reading's time is up; a check that takes longer
    than `seconds_each` tells nothing. Raises `Cancelled`.
    """
    told: dict[ForeignKey, str] = {}
    for key in keys:
        if key.inferred or len(key.columns) != 1:
            continue
        try:
            said = _told(schema, key, reading, seconds_each)
        except OutOfTime:
            break
        if said:
            told[key] = said
    return told


def _told(schema: Schema, key: ForeignKey, reading: TimedReader, seconds: float) -> str:
    ((near, far),) = key.pairs

    def found_by(forms: tuple[str, str]) -> tuple[int, int] | None:
        return looked_up(reading, schema, key.pairs, seconds, forms)

    counted = found_by(("{}", "{}"))
    if counted is None:
        return ""
    looked, found = counted
    if not looked or found >= FOUND_SHARE * looked:
        return ""
    values = f"{looked:,} value{'' if looked == 1 else 's'}"
    said = f"{f'{found:,}' if found else 'none'} of {values} {_are(found)} found there"
    folded = found_by(FORMS[-1])
    if folded is None or folded[1] <= found:
        return said
    plainer = (forms for forms in FORMS if found_by(forms) == folded)
    left, right = next(plainer, FORMS[-1])
    every = f"all {folded[1]:,}" if folded[1] == folded[0] else f"{folded[1]:,}"
    join = f"{left.format(_named(schema, near))} = {right.format(_named(schema, far))}"
    return f"{said}; join on {join}, which finds {every}"


def _named(schema: Schema, ref: ColumnRef) -> str:
    dialect = dialect_of(schema)
    if dialect is SQLITE:
        return f"{quote_name(ref.table)}.{quote_name(ref.column)}"
    return f"{written_table(schema, ref.table)}.{dialect.quoted(ref.column)}"


def _are(count: int) -> str:
    return "are" if count > 1 else "is"


SMALL_NUMBERS = 100
"""Keys that are counted from below this hold any column of small numbers by chance."""
DENSE = 0.3
"""Share of the numbers between its least and its greatest that such a key holds."""
FEW_TELLING = 5
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
        return near.distinct >= FEW_TELLING
    least, most = far.minimum, far.maximum
    if not isinstance(least, int | float) or not isinstance(most, int | float):
        return False
    dense = far.distinct >= DENSE * (most - least + 1)
    return near.distinct >= FEW_TELLING and not (dense and least < SMALL_NUMBERS)


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
