"""Reading a table to learn what its columns hold: whole where time allows, else in samples.

A table is looked at twice. A few hundred rows spread over it tell which columns are plain, which
hold long texts, blobs or opaque identifiers; then the rows stream past once, several columns at a
time. Columns of arrays are scanned by their elements: a question names one of them, not a whole
array. Profiling before the first question, and what is learnt from it, follow the idea of AskData
(Shkapenyuk et al. 2025, section 3.1).
"""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from sqlwright.catalog.formats import is_opaque, recognise_formats
from sqlwright.catalog.reading import OutOfTime, TimedReader, Unreadable
from sqlwright.catalog.records import ColumnProfile, Indexing, TableProfile
from sqlwright.catalog.statements.columns import Expression, family_of, light, whole
from sqlwright.catalog.statements.sampling import (
    Source,
    Sources,
    Statements,
    counted_values,
    some_rows,
)
from sqlwright.catalog.tally import ColumnTally
from sqlwright.schema import Column, ColumnRef, Table
from sqlwright.sql.dialects import SQLITE, Dialect
from sqlwright.types import Cell

MOST_ELEMENTS = 50_000
"""Different elements of a column that are counted at most."""
ELEMENT_SECONDS = 5.0
"""Seconds that counting those of one column may take."""
_DIALECTS = frozenset({"postgres", "duckdb"})


def with_elements(
    reading: TimedReader, table: Table, dialect: Dialect, scan: TableScan, rows: int | None
) -> TableScan:
    """A scan in which columns of arrays of texts hold their elements, of `rows` rows at most, as
    far as the engine counts them in time. Raises `Cancelled`."""
    if dialect.name not in _DIALECTS:
        return scan
    columns = [_with_elements(reading, table, dialect, one, rows) for one in scan.columns]
    return replace(scan, columns=columns)


def _with_elements(
    reading: TimedReader, table: Table, dialect: Dialect, scan: ColumnScan, rows: int | None
) -> ColumnScan:
    column = table.column(scan.ref.column)
    if column is None or not is_array_of_texts(column):
        return scan
    try:
        with reading.within(ELEMENT_SECONDS):
            counted = reading.all(counted_elements(table, dialect, column, rows))
    except (OutOfTime, Unreadable):
        return scan
    if not counted or len(counted) > MOST_ELEMENTS:
        return scan
    found = scan_of_counts(scan.ref, counted, MOST_ELEMENTS, sampled=scan.profile.sampled)
    nulls = scan.profile.nulls
    profile = replace(found.profile, nulls=nulls, rows=found.profile.rows + nulls)
    return replace(found, profile=profile)


def is_array_of_texts(column: Column) -> bool:
    """True of a column declared as an array of texts, of one dimension."""
    inner, bracket, _ = column.type.partition("[")
    return bool(bracket) and column.type.count("[") == 1 and family_of(inner) == "text"


def counted_elements(table: Table, dialect: Dialect, column: Column, rows: int | None) -> str:
    """A query of the elements of a column of arrays and how often each stands in one, in the
    first so many rows."""
    limit = "" if rows is None else f"LIMIT {rows}"
    arrays = Source(table, dialect, None).select([f"{dialect.quoted(column.name)} AS whole"], limit)
    parts = f"SELECT unnest(whole) AS part FROM ({arrays}) AS arrays"
    return (
        f"SELECT part, count(*) FROM ({parts}) AS parts WHERE part IS NOT NULL "
        f"GROUP BY part LIMIT {MOST_ELEMENTS + 1}"
    )


SAMPLE_ROWS = 1_000
"""Rows of the sample that is taken of a table before it is scanned."""
BLOCK_ROWS = 50
"""Neighbouring rows that are read together for the sample: each block costs one seek."""
MOST_BLOCKS = 100
"""Blocks that a larger sample is read in at most."""
COLUMNS_AT_ONCE = 12
"""Columns scanned in one pass over a large table, by memory: each counts up to `ScanLimits.texts`
values."""
MANY_COLUMNS = 200
"""Columns scanned in one pass over a small table."""
FEW_ROWS = 20_000
"""Rows of a small table at most."""
LONGEST_INDEXED = 400
"""Characters of a text beyond which it isn't worth an entry in the value index."""
LONG_TEXT = 120
"""Characters on average beyond which texts are prose. Chosen: names and titles stay below."""
NEARLY_UNIQUE = 0.8
"""Share of different texts in the sample from which they may be identifiers. Chosen by hand."""


@dataclass(frozen=True, slots=True)
class ScanLimits:
    """Limits of a scan: rows read, values kept."""

    rows: int | None = None
    """Rows looked at; None is all of them."""
    texts: int = 1_000_000
    """Different values counted per column that goes into the value index."""
    others: int = 50_000
    """Different values counted per other column; beyond it their number is estimated."""


@dataclass(slots=True)
class ColumnScan:
    """One column's profile and the texts to index, each with its rows."""

    ref: ColumnRef
    profile: ColumnProfile
    texts: Sequence[tuple[str, int]] = ()


@dataclass(slots=True)
class TableScan:
    """The result of scanning a table."""

    profile: TableProfile
    columns: list[ColumnScan] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Plan:
    """Expression that reads one column, and what becomes of its texts."""

    expression: Expression
    indexing: Indexing
    has_texts: bool


@dataclass(frozen=True, slots=True)
class TableSample:
    """Rows from all over a table, and how to read the rest by what they hold."""

    source: Source
    cells: tuple[tuple[Cell, ...], ...]
    plans: tuple[_Plan, ...]

    @property
    def table(self) -> Table:
        """The table that it is of."""
        return self.source.table

    @property
    def rows(self) -> int | None:
        """About how many rows the table has; None when it can't be told without counting."""
        return self.source.rows


def estimated_rows(reading: TimedReader, table: Table, dialect: Dialect = SQLITE) -> int | None:
    """About how many rows a table has, at once; None when it can't be told without counting."""
    return Sources(reading, dialect).of(table).rows


def sample_table(reading: TimedReader, source: Source) -> TableSample:
    """Read some rows from all over a table. Raises `Unreadable`, `OutOfTime`, `Cancelled`."""
    table, dialect = source.table, source.dialect
    shown = [light(column, dialect) for column in table.columns]
    cells = _sample(reading, source, shown)
    plans = (_plan(*pair, dialect) for pair in zip(cells, table.columns, strict=True))
    return TableSample(source, tuple(cells), tuple(plans))


def scan_columns(
    reading: TimedReader,
    sample: TableSample,
    positions: Sequence[int],
    limits: ScanLimits,
    *,
    progress: Callable[[int], None] | None = None,
) -> TableScan:
    """Profile some columns of a table, given by position, in one pass over its rows.

    `progress` is told rows as they are read. When the time is up, or the table turns out to be
    unreadable half way, what has been counted so far is kept and marked as sampled. Raises
    `Cancelled`.
    """
    plans = [sample.plans[at] for at in positions]
    tallies = [
        ColumnTally(limits.texts) if plan.has_texts else ColumnTally(limits.others, limits.texts)
        for plan in plans
    ]
    statements = _statements([plan.expression.sql for plan in plans], sample, limits)
    note = ""
    try:
        whole = _stream(reading, statements, plans, tallies, progress)
    except Unreadable as error:
        whole, note = False, f"{sample.table.name} could not be read to its end: {error}"
    if not whole and tallies[0].rows == 0:
        _keep_sample(tallies, [sample.cells[at] for at in positions])
    rows = tallies[0].rows
    if limits.rows is not None and not statements.sampled and rows > limits.rows:
        whole = False
    whole = whole and not statements.sampled
    columns = [
        _finished(
            ColumnRef(sample.table.name, sample.table.columns[at].name),
            tally,
            plan.indexing,
            sampled=not whole,
        )
        for at, plan, tally in zip(positions, plans, tallies, strict=True)
    ]
    total = rows if whole else max(rows, sample.rows or 0)
    return TableScan(TableProfile(total, whole, not whole, note), columns)


def scan_table(
    reading: TimedReader,
    table: Table,
    limits: ScanLimits,
    *,
    dialect: Dialect = SQLITE,
    progress: Callable[[int], None] | None = None,
) -> TableScan:
    """Profile every column of a table. Never fails but for `Cancelled` and `DatabaseUnavailable`:
    a table that can't be read gets empty profiles and a note."""
    try:
        source = Sources(reading, dialect).of(table)
    except (Unreadable, OutOfTime) as error:
        return unread(table, error)
    return scan_source(reading, source, limits, progress=progress)


def scan_source(
    reading: TimedReader,
    source: Source,
    limits: ScanLimits,
    *,
    progress: Callable[[int], None] | None = None,
) -> TableScan:
    """`scan_table` of a table whose extent is known."""
    try:
        sample = sample_table(reading, source)
    except (Unreadable, OutOfTime) as error:
        return unread(source.table, error)
    groups = [
        scan_columns(reading, sample, positions, limits, progress=progress)
        for positions in column_groups(source.table, sample.rows)
    ]
    return joined(groups)


def count_values(
    reading: TimedReader, sample: TableSample, position: int, most: int, seconds: float
) -> ColumnScan | None:
    """A column's profile and texts by the engine's own count of its values, which reads the column
    whole but brings little over; None where it has more than `most`, or it takes too long. Raises
    `OutOfTime` when the reading's own time is up, and `Cancelled`."""
    column = sample.table.columns[position]
    sql = counted_values(sample.source, column, most + 1)
    try:
        with reading.within(seconds):
            rows = reading.all(sql)
    except OutOfTime:
        reading.check()
        return None
    except Unreadable:
        return None
    if len(rows) > most:
        return None
    return scan_of_counts(ColumnRef(sample.table.name, column.name), rows, most, sampled=False)


def scan_of_counts(
    ref: ColumnRef, counted: Sequence[tuple[Cell, ...]], most: int, *, sampled: bool
) -> ColumnScan:
    """A column's scan by its values, each with how often it is there; `most` different ones."""
    tally = ColumnTally(most)
    # In an order of our own: engines that count side by side have another each time.
    ordered = sorted(counted, key=lambda row: str(row[0]))
    tally.add_counted((cell, count) for cell, count in ordered if isinstance(count, int))
    return _finished(ref, tally, "waiting", sampled=sampled)


def column_groups(table: Table, rows: int | None) -> Iterator[range]:
    """Positions of the columns that are read together: few where there are many rows, so that
    what is counted at one time fits into memory and an interruption loses little."""
    at_once = COLUMNS_AT_ONCE if rows is None or rows > FEW_ROWS else MANY_COLUMNS
    for start in range(0, len(table.columns), at_once):
        yield range(start, min(start + at_once, len(table.columns)))


def joined(groups: Sequence[TableScan]) -> TableScan:
    """The scans of a table's groups of columns as one."""
    profiles = [group.profile for group in groups]
    return TableScan(
        TableProfile(
            max(profile.rows for profile in profiles),
            all(profile.rows_exact for profile in profiles),
            any(profile.sampled for profile in profiles),
            next((profile.note for profile in profiles if profile.note), ""),
        ),
        [column for group in groups for column in group.columns],
    )


def unread(table: Table, error: Exception) -> TableScan:
    """The scan of a table that couldn't be looked at."""
    note = (
        ""
        if isinstance(error, OutOfTime)
        else f"{table.name} could not be read: {str(error).rstrip('.')}"
    )
    columns = [
        ColumnScan(
            ColumnRef(table.name, column.name),
            ColumnProfile(sampled=True, distinct_exact=False),
        )
        for column in table.columns
    ]
    return TableScan(TableProfile(0, False, True, note), columns)


def _sample(
    reading: TimedReader, source: Source, shown: Sequence[Expression]
) -> list[tuple[Cell, ...]]:
    """Some rows from all over a table, column by column, texts cut short."""
    expressions = [one.sql for one in shown]
    picked = some_rows(source, expressions, SAMPLE_ROWS, BLOCK_ROWS)
    rows: list[tuple[Cell, ...]] = []
    try:
        for sql in picked.sql:
            rows.extend(reading.all(sql))
    except Unreadable:
        if not picked.sampled:
            raise
        rows = []  # a foreign table, say, can't be sampled
    if not rows and picked.sampled:
        rows = reading.all(source.first(expressions, SAMPLE_ROWS))
    if not rows:
        return [() for _ in shown]
    columns = zip(*rows, strict=True)
    return [
        _blobs(cells) if one.presence else cells for one, cells in zip(shown, columns, strict=True)
    ]


def _blobs(cells: Sequence[Cell]) -> tuple[Cell, ...]:
    """Empty blobs for those of which only the presence was read."""
    return tuple(None if cell is None else b"" for cell in cells)


def _plan(cells: Sequence[Cell], column: Column, dialect: Dialect) -> _Plan:
    """The plan for a column: how to read it, and whether its texts are for the value index
    ("waiting")."""
    texts = [cell for cell in cells if isinstance(cell, str)]
    heavy = any(isinstance(cell, bytes) for cell in cells)
    heavy = heavy or any(len(text) > LONGEST_INDEXED for text in texts)
    kind = _text_kind(texts) if texts else "waiting"
    if dialect is not SQLITE and family_of(column.type) == "nested":
        kind = "free_text"
    expression = light(column, dialect) if heavy else whole(column, dialect)
    return _Plan(expression, kind, bool(texts) and kind == "waiting")


def _text_kind(texts: Sequence[str]) -> Indexing:
    """Free text and opaque identifiers, told from a look at stored texts. Else "waiting"."""
    distinct = set(texts)
    if len(distinct) < NEARLY_UNIQUE * len(texts) or len(distinct) < 5:
        return "waiting"
    if sum(map(len, distinct)) / len(distinct) > LONG_TEXT:
        return "free_text"
    return "identifier" if is_opaque(recognise_formats(sorted(distinct))) else "waiting"


def _statements(expressions: Sequence[str], sample: TableSample, limits: ScanLimits) -> Statements:
    source, rows = sample.source, sample.rows
    if limits.rows is None:
        return Statements([source.select(expressions)], sampled=False)
    if rows is None:
        # One row more tells whether there were any left.
        return Statements([source.first(expressions, limits.rows + 1)], sampled=False)
    if rows <= limits.rows:
        return Statements([source.select(expressions)], sampled=False)
    block = max(BLOCK_ROWS * 4, limits.rows // MOST_BLOCKS)
    return some_rows(source, expressions, limits.rows, block)


def _stream(
    reading: TimedReader,
    statements: Statements,
    plans: Sequence[_Plan],
    tallies: Sequence[ColumnTally],
    progress: Callable[[int], None] | None,
) -> bool:
    """Count all rows; False when the time was up before the end."""
    try:
        for sql in statements.sql:
            for chunk in reading.chunks(sql):
                columns = zip(*chunk, strict=True)
                for plan, tally, cells in zip(plans, tallies, columns, strict=True):
                    tally.add(_blobs(cells) if plan.expression.presence else cells)
                if progress is not None:
                    progress(len(chunk))
    except OutOfTime:
        return False
    return True


def _keep_sample(tallies: Sequence[ColumnTally], sample: Sequence[Sequence[Cell]]) -> None:
    for tally, cells in zip(tallies, sample, strict=True):
        if cells:
            tally.add(cells)


def _finished(ref: ColumnRef, tally: ColumnTally, kind: Indexing, *, sampled: bool) -> ColumnScan:
    """A column's scan, of what was counted; of kind "waiting" with its texts."""
    texts: list[tuple[str, int]] = []
    if kind == "waiting":
        kind = "whole"
        unusable = 0
        for text, count in tally.texts():
            if is_indexable(text):
                texts.append((text, count))
            elif text.strip():
                unusable += 1
        if uuid.UUID in tally.kinds:
            kind = "identifier"
        elif tally.kinds.isdisjoint({str, datetime.date}):
            kind = "none"
        elif not texts and not unusable:
            kind = "blank"
        elif sampled or tally.lost_texts or unusable:
            kind = "part"
    return ColumnScan(ref, tally.profile(sampled=sampled, indexing=kind), texts)


def is_indexable(text: str) -> bool:
    """True if a text can be found by a phrase and used as a literal.

    U+FFFD most likely stands for bytes that aren't UTF-8, which no literal can name.
    """
    return bool(text.strip()) and len(text) <= LONGEST_INDEXED and "\ufffd" not in text
