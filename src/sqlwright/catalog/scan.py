"""Reading a table to learn what its columns hold: whole where time allows, else in samples.

A table is looked at twice. A few hundred rows spread over it tell which columns are plain, which
hold long texts, blobs or opaque identifiers; then the rows stream past once, several columns at a
time. Profiling before the first question, and what is learnt from it, follow the idea of AskData
(Shkapenyuk et al. 2025, section 3.1).
"""

from __future__ import annotations

import datetime
import random
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from sqlwright.catalog.formats import is_opaque, recognise_formats
from sqlwright.catalog.reading import OutOfTime, TimedReader, Unreadable
from sqlwright.catalog.records import ColumnProfile, Indexing, TableProfile
from sqlwright.catalog.tally import ColumnTally
from sqlwright.schema import Column, ColumnRef, Table
from sqlwright.sql.tokens import quote_name
from sqlwright.types import Cell

SAMPLE_ROWS = 1_000
"""Rows of the sample that is taken of a table before it is scanned."""
BLOCK_ROWS = 50
"""Neighbouring rows that are read together for the sample: each block costs one seek."""
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
_HEAVY_CHARACTERS = 2_000
"""Characters read of a long text or blob: more than a value that is indexed has."""


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
class _Span:
    """A table's row numbers: the unquoted name that reads them and the range they lie in."""

    name: str
    first: int
    last: int

    @property
    def length(self) -> int:
        return self.last - self.first + 1


@dataclass(frozen=True, slots=True)
class _Plan:
    """Expression that reads one column, and what becomes of its texts."""

    expression: str
    indexing: Indexing
    has_texts: bool


@dataclass(frozen=True, slots=True)
class TableSample:
    """Rows from all over a table, and how to read the rest by what they hold."""

    table: Table
    span: _Span | None
    cells: tuple[tuple[Cell, ...], ...]
    plans: tuple[_Plan, ...]

    @property
    def rows(self) -> int | None:
        """About how many rows the table has; None when it can't be told without counting."""
        return self.span.length if self.span else None


def estimated_rows(reading: TimedReader, table: Table) -> int | None:
    """About how many rows a table has, at once, from its row numbers; None when it can't be told
    without counting."""
    span = _span(reading, table)
    return None if span is None else span.length


def sample_table(reading: TimedReader, table: Table) -> TableSample:
    """Read some rows from all over a table. Raises `Unreadable`, `OutOfTime`, `Cancelled`."""
    cells, span = _sample(reading, table)
    return TableSample(table, span, tuple(cells), tuple(map(_plan, cells, table.columns)))


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
    statements = _statements([plan.expression for plan in plans], sample, limits)
    note = ""
    try:
        whole = _stream(reading, statements, tallies, progress)
    except Unreadable as error:
        whole, note = False, f"{sample.table.name} could not be read to its end: {error}"
    if not whole and tallies[0].rows == 0:
        _keep_sample(tallies, [sample.cells[at] for at in positions])
    rows = tallies[0].rows
    if limits.rows is not None and sample.span is None and rows > limits.rows:
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
    total = rows if whole else max(rows, sample.span.length if sample.span else 0)
    return TableScan(TableProfile(total, whole, not whole, note), columns)


def scan_table(
    reading: TimedReader,
    table: Table,
    limits: ScanLimits,
    *,
    progress: Callable[[int], None] | None = None,
) -> TableScan:
    """Profile every column of a table. Never fails but for `Cancelled` and `DatabaseUnavailable`:
    a table that can't be read gets empty profiles and a note."""
    try:
        sample = sample_table(reading, table)
    except (Unreadable, OutOfTime) as error:
        return unread(table, error)
    groups = [
        scan_columns(reading, sample, positions, limits, progress=progress)
        for positions in column_groups(table, sample.rows)
    ]
    return joined(groups)


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


def _span(reading: TimedReader, table: Table) -> _Span | None:
    """Row numbers, for tables that have them under a name no column took."""
    if table.kind == "view":
        return None
    taken = {column.name.casefold() for column in table.columns}
    name = next((name for name in ("rowid", "_rowid_", "oid") if name not in taken), None)
    if name is None:
        return None
    source = quote_name(table.name)
    try:
        found = reading.single_row(
            f"SELECT (SELECT min({name}) FROM {source}), (SELECT max({name}) FROM {source})"
        )
    except Unreadable:  # WITHOUT ROWID, some virtual tables
        return None
    first, last = found
    if not isinstance(first, int) or not isinstance(last, int):
        return None
    return _Span(name, first, last)


def _sample(reading: TimedReader, table: Table) -> tuple[list[tuple[Cell, ...]], _Span | None]:
    """Some rows from all over a table, column by column, texts cut short."""
    span = _span(reading, table)
    shown = ", ".join(_light(quote_name(column.name)) for column in table.columns)
    source = quote_name(table.name)
    rows: list[tuple[Cell, ...]] = []
    if span is None or span.length <= SAMPLE_ROWS:
        rows.extend(reading.all(f"SELECT {shown} FROM {source} LIMIT {SAMPLE_ROWS}"))
    else:
        for where in _blocks(span, SAMPLE_ROWS // BLOCK_ROWS, BLOCK_ROWS):
            rows.extend(reading.all(f"SELECT {shown} FROM {source} {where}"))
    if not rows:
        return [() for _ in table.columns], span
    return list(zip(*rows, strict=True)), span


def _blocks(span: _Span, count: int, rows: int) -> Iterator[str]:
    """Conditions that pick blocks of consecutive rows spread over a table, one from each of
    `count` equal parts, at positions drawn by a fixed seed."""
    drawn = random.Random(span.length)  # noqa: S311 - a sample, not a secret
    step = span.length / count
    for part in range(count):
        low = span.first + int(part * step)
        high = span.first + int((part + 1) * step) - 1
        start = low + int(drawn.random() * max(high - low - rows, 0))
        yield f"WHERE {span.name} BETWEEN {start} AND {high} ORDER BY {span.name} LIMIT {rows}"


def _light(name: str) -> str:
    """A column without the weight of blobs and long texts."""
    return (
        f"CASE typeof({name}) WHEN 'blob' THEN x'' WHEN 'text'"
        f" THEN substr({name}, 1, {_HEAVY_CHARACTERS}) ELSE {name} END"
    )


def _plan(cells: Sequence[Cell], column: Column) -> _Plan:
    """The plan for a column: how to read it, and whether its texts are for the value index
    ("waiting")."""
    texts = [cell for cell in cells if isinstance(cell, str)]
    heavy = any(isinstance(cell, bytes) for cell in cells)
    heavy = heavy or any(len(text) > LONGEST_INDEXED for text in texts)
    name = quote_name(column.name)
    kind = _text_kind(texts) if texts else "waiting"
    return _Plan(_light(name) if heavy else name, kind, bool(texts) and kind == "waiting")


def _text_kind(texts: Sequence[str]) -> Indexing:
    """Free text and opaque identifiers, told from a look at stored texts. Else "waiting"."""
    distinct = set(texts)
    if len(distinct) < NEARLY_UNIQUE * len(texts) or len(distinct) < 5:
        return "waiting"
    if sum(map(len, distinct)) / len(distinct) > LONG_TEXT:
        return "free_text"
    return "identifier" if is_opaque(recognise_formats(sorted(distinct))) else "waiting"


@dataclass(frozen=True, slots=True)
class _Statements:
    """The statements that read a group of columns, and whether they leave rows out."""

    sql: Sequence[str]
    sampled: bool


def _statements(expressions: Sequence[str], sample: TableSample, limits: ScanLimits) -> _Statements:
    shown = f"SELECT {', '.join(expressions)} FROM {quote_name(sample.table.name)}"
    span = sample.span
    if limits.rows is None or (span is not None and span.length <= limits.rows):
        return _Statements([shown], sampled=False)
    if span is None:
        # One row more tells whether there were any left.
        return _Statements([f"{shown} LIMIT {limits.rows + 1}"], sampled=False)
    rows = BLOCK_ROWS * 4
    blocks = max(limits.rows // rows, 1)
    return _Statements([f"{shown} {where}" for where in _blocks(span, blocks, rows)], sampled=True)


def _stream(
    reading: TimedReader,
    statements: _Statements,
    tallies: Sequence[ColumnTally],
    progress: Callable[[int], None] | None,
) -> bool:
    """Count all rows; False when the time was up before the end."""
    try:
        for sql in statements.sql:
            for chunk in reading.chunks(sql):
                for tally, cells in zip(tallies, zip(*chunk, strict=True), strict=True):
                    tally.add(cells)
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
