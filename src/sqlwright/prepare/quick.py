"""Reads as much of a never-seen database as it can within seconds, without writing anything.

Small tables first and whole; then a sample of every large one; then, while time is left, large
tables whole in the order of their size, and the different texts of what is still larger.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from sqlwright.catalog.joins import infer_joins, unmatched_keys, with_joins
from sqlwright.catalog.reading import OutOfTime, TimedReader, Unreadable
from sqlwright.catalog.records import Catalog, ColumnProfile, TableProfile
from sqlwright.catalog.scan import (
    ColumnScan,
    ScanLimits,
    TableScan,
    is_indexable,
    scan_source,
    scan_table,
    unread,
    with_elements,
)
from sqlwright.catalog.statements.sampling import Sources, different_texts
from sqlwright.catalog.tally import indexable_text
from sqlwright.errors import DatabaseUnavailable
from sqlwright.indexes.values.index import ColumnValues, DiskValueIndex, memory_value_index
from sqlwright.prepare.notes import catalog_notes
from sqlwright.prepare.sources import within_room
from sqlwright.protocols import Database, Run
from sqlwright.schema import ColumnRef, Schema, Table
from sqlwright.sql.dialects import dialect_of

SMALL_ROWS = 5_000
"""Rows up to which a table is read whole in the first round."""
SAMPLE_ROWS = 4_000
"""Rows read of a larger table in the first round."""
VIEW_ROWS = 1_000
"""Rows read of a view in the first round."""
MOST_VIEW_ROWS = 50_000
"""Rows read of a view in the second round at most."""
LEAST_SECONDS = 0.25
"""A table's share at least: the first round is to be limited by rows and not by the clock."""
CELL_SECONDS = 6e-7
"""Seconds for reading and counting one cell on a slow core, about; for plans only, clocks
decide."""
TEXTS_PER_SECOND = 120_000
"""Texts indexed per second on a slow core, likewise."""
DISTINCT_SECONDS = 0.4
"""A column's share of time when only its different texts are read."""
DISTINCT_TEXTS = 20_000
"""Different texts at most of a column of which only these are read."""
OWN_ROWS = 20_000
"""Rows read of a table at most where a query of one's own needs a few of its columns."""
OWN_SECONDS = 0.5
"""For all of these; chosen: somebody waits for the rows."""


@dataclass
class QuickScan:
    """Result of a quick scan."""

    catalog: Catalog
    values: DiskValueIndex
    uncounted: frozenset[ColumnRef]
    """Columns whose texts are known without the number of their rows."""
    whole: bool
    """True if nothing was left out for want of time."""


def scan_quickly(database: Database, schema: Schema, run: Run, seconds: float) -> QuickScan:
    """Profile, infer joins and index values within about `seconds`. Raises `Cancelled`, and
    `DatabaseUnavailable` when not one table can be read."""
    with database.reader() as reader:
        with TimedReader(reader, run, seconds * 0.55) as reading:
            rounds = _TableScans(schema, reading)
            rounds.take()
        if schema.tables and len(rounds.failures) == len(schema.tables):
            raise next(iter(rounds.failures.values()))
        scans = rounds.scans
        columns = {column.ref: column for scan in scans.values() for column in scan.columns}
        profiles = {ref: column.profile for ref, column in columns.items()}
        small = [
            key
            for key in schema.foreign_keys
            if not any(
                table not in rounds.first or rounds.first[table].profile.sampled
                for table in (key.table, key.target_table)
            )
        ]
        with TimedReader(reader, run, seconds * 0.05) as reading:
            unmatched = unmatched_keys(schema, small, reading)
        with TimedReader(reader, run, seconds * 0.15) as reading:
            schema = with_joins(
                schema, infer_joins(schema, profiles, reading, seconds_each=seconds * 0.03)
            )
    room = max(int(TEXTS_PER_SECOND * seconds * 0.3), 1_000)
    kept = within_room(columns.values(), room)
    values = memory_value_index(
        ColumnValues(ref, column.texts) for ref, column in kept.items() if column.texts
    )
    tables = {name: scan.profile for name, scan in scans.items()}
    profiles = {ref: column.profile for ref, column in kept.items()}
    notes = catalog_notes(tables, profiles)
    whole = not any(scan.profile.sampled for scan in scans.values()) and all(
        profile.indexing not in {"part", "waiting"} for profile in profiles.values()
    )
    uncounted = frozenset(ref for ref, profile in profiles.items() if profile.sampled)
    steady = replace(_steady(schema, rounds), unmatched=unmatched)
    catalog = Catalog(schema, tables, profiles, notes, unmatched, steady)
    return QuickScan(catalog, values, uncounted, whole)


def column_profiles(
    database: Database, schema: Schema, refs: Sequence[ColumnRef], run: Run
) -> Mapping[ColumnRef, ColumnProfile]:
    """The profiles of some stored columns; those that can't be read in time are left out. Raises
    `Cancelled`."""
    found: dict[ColumnRef, ColumnProfile] = {}
    if not refs:
        return found
    try:
        with database.reader() as reader, TimedReader(reader, run, OWN_SECONDS) as reading:
            for name in dict.fromkeys(ref.table for ref in refs):
                table = schema.table(name)
                if table is None:
                    continue
                own = tuple(c for c in table.columns if ColumnRef(name, c.name) in refs)
                limits = ScanLimits(OWN_ROWS, OWN_ROWS, OWN_ROWS)
                scan = scan_table(
                    reading, replace(table, columns=own), limits, dialect=dialect_of(schema)
                )
                found |= {one.ref: one.profile for one in scan.columns if one.profile.rows}
    except (OutOfTime, DatabaseUnavailable):
        pass  # the query has its rows; what isn't known of its columns isn't told
    return found


def _steady(schema: Schema, rounds: _TableScans) -> Catalog:
    """The catalog of the first round, which is limited by rows; nothing of views, whose rows may
    take any time."""
    tables: dict[str, TableProfile] = {}
    columns: dict[ColumnRef, ColumnProfile] = {}
    for table in schema.tables:
        scan = rounds.first[table.name]
        if table.kind == "view":
            continue
        rows = rounds.sizes[table.name]
        if scan.profile.sampled:  # a count that is no more than the limit says nothing
            about = int(rows) if math.isfinite(rows) else 0
            tables[table.name] = replace(scan.profile, rows=about, rows_exact=False)
        else:
            tables[table.name] = scan.profile
        columns |= {column.ref: column.profile for column in scan.columns}
    return Catalog(schema, tables, columns)


@dataclass
class _TableScans:
    """Scans tables in rounds, cheapest first, until the time is up."""

    schema: Schema
    reading: TimedReader
    scans: dict[str, TableScan] = field(default_factory=dict)
    failures: dict[str, DatabaseUnavailable] = field(default_factory=dict)
    first: dict[str, TableScan] = field(default_factory=dict)
    """Results of the first round, by table."""
    sizes: dict[str, float] = field(default_factory=dict)
    """About how many rows the tables have; infinity where it isn't known."""

    def __post_init__(self) -> None:
        self._sources = Sources(self.reading, dialect_of(self.schema))

    def take(self) -> None:
        """Read every table at least briefly where time allows."""
        sizes = self.sizes = {table.name: self._size(table) for table in self.schema.tables}
        order = sorted(
            self.schema.tables, key=lambda table: (table.kind == "view", sizes[table.name])
        )
        self._round(order, sizes)
        self.first = {
            name: replace(scan, columns=list(scan.columns)) for name, scan in self.scans.items()
        }
        for table in order:
            if self.scans[table.name].profile.sampled:
                self._read_whole(table, sizes[table.name])
        for table in order:
            if table.kind == "table" and self.scans[table.name].profile.sampled:
                self._read_distinct(table)
        self.scans = {table.name: self.scans[table.name] for table in self.schema.tables}

    def _read_whole(self, table: Table, rows: float) -> None:
        """Take all rows of a table that was only sampled, if there is likely time for it. Where
        their number isn't known (views, tables without row numbers) it is tried for a while."""
        left = self.reading.remaining()
        needed = rows * len(table.columns) * CELL_SECONDS
        if left <= 0 or (math.isfinite(needed) and needed > left * 0.8):
            return
        self.reading.limit(left * (0.8 if math.isfinite(needed) else 0.3))
        caps = ScanLimits(
            rows=MOST_VIEW_ROWS if table.kind == "view" else None, texts=100_000, others=20_000
        )
        scan = self._scan(table, caps)
        self.reading.limit(None)
        if scan.profile.rows_exact:
            self.scans[table.name] = scan

    def _scan(self, table: Table, caps: ScanLimits) -> TableScan:
        """One table; one that is damaged gets a note, since the others may do."""
        dialect = dialect_of(self.schema)
        try:
            scan = scan_source(self.reading, self._sources.of(table), caps)
            return with_elements(self.reading, table, dialect, scan, caps.rows)
        except (Unreadable, OutOfTime) as error:
            return unread(table, error)
        except DatabaseUnavailable as error:
            self.failures[table.name] = error
            return unread(table, error)

    def _size(self, table: Table) -> float:
        """About how many rows; unknown ones count as many."""
        try:
            rows = self._sources.of(table).rows
        except (OutOfTime, Unreadable, DatabaseUnavailable):
            return math.inf
        return math.inf if rows is None else rows

    def _round(self, tables: Sequence[Table], sizes: dict[str, float]) -> None:
        """Each table within an even share of the time that is left."""
        for position, table in enumerate(tables):
            share = self.reading.remaining() / max(len(tables) - position, 1)
            least = LEAST_SECONDS if table.kind == "table" else 0.02
            self.reading.limit(max(share * 4, least))
            small = sizes[table.name] <= SMALL_ROWS
            rows = None if small else VIEW_ROWS if table.kind == "view" else SAMPLE_ROWS
            self.scans[table.name] = self._scan(
                table, ScanLimits(rows=rows, texts=50_000, others=20_000)
            )
            self.reading.limit(None)

    def _read_distinct(self, table: Table) -> None:
        """Add the texts a sample missed, column by column."""
        scan = self.scans[table.name]
        for position, column in enumerate(scan.columns):
            if column.profile.indexing == "part" and self.reading.remaining() > DISTINCT_SECONDS:
                scan.columns[position] = self._distinct(column)

    def _distinct(self, column: ColumnScan) -> ColumnScan:
        sql = different_texts(self.schema, column.ref, DISTINCT_TEXTS + 1)
        if sql is None:
            return column
        known = dict(column.texts)
        count, whole = 0, True
        self.reading.limit(DISTINCT_SECONDS)
        try:
            for chunk in self.reading.chunks(sql, size=256):
                count += len(chunk)
                for (value,) in islice(chunk, None):
                    text = indexable_text(value)
                    if text is not None and is_indexable(text):
                        known.setdefault(text, 1)
        except (OutOfTime, Unreadable, DatabaseUnavailable):
            whole = False
        self.reading.limit(None)
        whole = whole and count <= DISTINCT_TEXTS
        profile = column.profile
        if whole:
            profile = replace(profile, indexing="whole", distinct=max(count, profile.distinct))
        return ColumnScan(column.ref, profile, list(known.items()))
