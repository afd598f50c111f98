"""Statements that read some rows from all over a table.

By row numbers or keys where there are any, a block of neighbours from each part; PostgreSQL's
TABLESAMPLE by pages; in DuckDB over files by place, which skips what Parquet says isn't needed.
Where nothing picks rows it is the first ones.

The size of a table is told at once: SQLite tells the range of its row numbers, DuckDB the count
that it keeps, PostgreSQL what it learned when it last analysed, MySQL an estimate. Nothing counts
rows for longer than a moment.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sqlwright.catalog.reading import OutOfTime, TimedReader, Unreadable
from sqlwright.catalog.statements.columns import family_of, said, whole
from sqlwright.schema import Column, ColumnRef, Schema, Table
from sqlwright.sql.dialects import SQLITE, Dialect, dialect_of
from sqlwright.sql.tokens import quote_name, quote_text
from sqlwright.types import Cell

COUNT_SECONDS = 1.0
"""Seconds that counting may take where the engine keeps no number."""
SLOW_COUNT = 0.2
"""Seconds from which on a count has read the data and not only what is known about them."""
_PROBED_PAGES = 100
"""Pages of a PostgreSQL table that was never analysed, whose rows tell how many a page has."""
_WHOLE_NUMBERS = ("int", "serial")


@dataclass(frozen=True, slots=True)
class Extent:
    """About how many rows a table has, and how to pick some."""

    rows: int
    key: str = ""
    """The expression of a number that tells rows apart, and is quick to look up; empty without."""
    first: int = 0
    last: int = 0
    """The least and greatest of these numbers."""
    stored: bool = True
    """False where rows are read through a view, or from files: nothing but their order picks
    some."""
    slow: bool = False
    """True if the count has read the data."""

    @property
    def length(self) -> int:
        """Numbers between the first and the last."""
        return self.last - self.first + 1


def extent_of(reading: TimedReader, table: Table, dialect: Dialect = SQLITE) -> Extent | None:
    """The extent of a table; None when it can't be told without counting for long. Raises
    `OutOfTime`, `Cancelled` and `DatabaseUnavailable`."""
    try:
        return _EXTENTS.get(dialect.name, _counted)(reading, table, dialect)
    except Unreadable:
        return None


def bounded_count(table: Table, dialect: Dialect, most: int) -> str:
    """A query that counts a table's rows up to some number."""
    if dialect is SQLITE:
        return f"SELECT count(*) FROM (SELECT 1 FROM {quote_name(table.name)} LIMIT {most})"
    inner = f"SELECT 1 AS one FROM {dialect.table(table)} LIMIT {most}"
    return said(f"SELECT count(*) FROM ({inner}) AS some_rows", dialect)


def _row_numbers(reading: TimedReader, table: Table, dialect: Dialect) -> Extent | None:
    """Row numbers, for tables that have them under a name no column took."""
    del dialect
    if table.kind == "view":
        return None
    taken = {column.name.casefold() for column in table.columns}
    name = next((name for name in ("rowid", "_rowid_", "oid") if name not in taken), None)
    if name is None:
        return None
    source = quote_name(table.name)  # WITHOUT ROWID and some virtual tables can't be read so
    found = reading.single_row(
        f"SELECT (SELECT min({name}) FROM {source}), (SELECT max({name}) FROM {source})"
    )
    return _range(None, name, found)


def _range(rows: int | None, key: str, found: tuple[Cell, ...]) -> Extent | None:
    first, last = found
    if not isinstance(first, int) or not isinstance(last, int):
        return None
    return Extent(last - first + 1 if rows is None else rows, key, first, last)


def _analysed(reading: TimedReader, table: Table, dialect: Dialect) -> Extent | None:
    """The rows that PostgreSQL last counted, by today's number of pages as its own planner reckons;
    of a table that was never analysed the rows of some pages."""
    name = quote_text(dialect.table(table))
    (pages, counted, known, unknown) = reading.single_row(
        "WITH parts AS (SELECT to_regclass(%s) AS part UNION SELECT relid FROM"
        " pg_partition_tree(to_regclass(%s)) WHERE isleaf), found AS (SELECT reltuples, relpages,"
        " pg_relation_size(oid) / current_setting('block_size')::int AS pages FROM pg_class"
        " JOIN parts ON pg_class.oid = part WHERE relkind IN ('r', 'm'))"
        " SELECT CAST(sum(pages) AS bigint), CAST(sum(CASE WHEN reltuples > 0 AND relpages > 0"
        " THEN reltuples * pages / relpages END) AS bigint), CAST(sum(CASE WHEN reltuples >= 0 AND"
        " relpages > 0 THEN pages END) AS bigint), count(*) FILTER (WHERE relpages = 0 AND"
        " pages > 0) FROM found".replace("%s", name)
    )
    if not isinstance(pages, int):
        return None
    if pages == 0:
        return Extent(0)
    if unknown or not isinstance(counted, int):
        share = min(100.0, 100.0 * _PROBED_PAGES / pages)
        (seen,) = reading.single_row(
            f"SELECT count(*) FROM {dialect.table(table)}"
            f" TABLESAMPLE SYSTEM ({share:.6f}) REPEATABLE (1)"
        )
        return Extent(round(seen * 100 / share)) if isinstance(seen, int) else None
    return Extent(round(counted * pages / known) if isinstance(known, int) and known else counted)


def _kept_count(reading: TimedReader, table: Table, dialect: Dialect) -> Extent | None:
    """DuckDB knows the rows of its own tables and of Parquet files; other files it has to read."""
    rows, seconds = _timed_count(reading, table, dialect)
    if rows is None:
        return None
    slow = seconds > SLOW_COUNT
    if "rowid" not in {column.name.casefold() for column in table.columns}:
        try:
            found = reading.single_row(f"SELECT min(rowid), max(rowid) FROM {dialect.table(table)}")
            return _range(rows, "rowid", found)
        except Unreadable:  # a view
            pass
    return Extent(rows, stored=False, slow=slow)


def _estimated(reading: TimedReader, table: Table, dialect: Dialect) -> Extent | None:
    if table.kind == "view":
        return None
    space = quote_text(table.namespace) if table.namespace else "database()"
    found = reading.single_row(
        "SELECT table_rows FROM information_schema.tables"
        f" WHERE table_schema = {space} AND table_name = {quote_text(table.own_name)}"
    )
    rows = found[0] if found else None
    return _keyed(reading, table, dialect, int(rows) if isinstance(rows, int) else None)


def _keyed(reading: TimedReader, table: Table, dialect: Dialect, rows: int | None) -> Extent | None:
    """With the range of a primary key that is one whole number."""
    key = table.column(table.primary_key[0]) if len(table.primary_key) == 1 else None
    if key is not None and _is_whole_number(key.type):
        name = dialect.quoted(key.name)
        found = reading.single_row(f"SELECT min({name}), max({name}) FROM {dialect.table(table)}")
        extent = _range(rows, name, found)
        if extent is not None:
            return extent
    return None if rows is None else Extent(rows, stored=False)


def _counted(reading: TimedReader, table: Table, dialect: Dialect) -> Extent | None:
    if table.kind == "view":
        return None
    return _keyed(reading, table, dialect, _timed_count(reading, table, dialect)[0])


def _timed_count(reading: TimedReader, table: Table, dialect: Dialect) -> tuple[int | None, float]:
    began = time.monotonic()
    try:
        with reading.within(COUNT_SECONDS):
            (rows,) = reading.single_row(
                said(f"SELECT count(*) FROM {dialect.table(table)}", dialect)
            )
    except OutOfTime:
        reading.check()
        return None, COUNT_SECONDS
    return (rows if isinstance(rows, int) else None), time.monotonic() - began


def _is_whole_number(declared: str) -> bool:
    name = declared.casefold()
    return family_of(name) == "number" and any(part in name for part in _WHOLE_NUMBERS)


_EXTENTS: Mapping[str, Callable[[TimedReader, Table, Dialect], Extent | None]] = {
    "sqlite": _row_numbers,
    "postgres": _analysed,
    "duckdb": _kept_count,
    "mysql": _estimated,
    "mariadb": _estimated,
}
"""The way of each engine; of others the rows are counted."""


_FEW_BLOCKS = 8
"""Blocks where each costs the opening of files."""


@dataclass(frozen=True, slots=True)
class Statements:
    """Statements that read a table, and whether they leave rows out."""

    sql: Sequence[str]
    sampled: bool


@dataclass(frozen=True, slots=True)
class Source:
    """A table that statements read from."""

    table: Table
    dialect: Dialect
    extent: Extent | None

    @property
    def rows(self) -> int | None:
        """About how many rows it has; None when that can't be told without counting."""
        return None if self.extent is None else self.extent.rows

    @property
    def named(self) -> str:
        """The table as a query names it."""
        if self.dialect is SQLITE:
            return quote_name(self.table.name)
        return self.dialect.table(self.table)

    def select(self, expressions: Sequence[str], behind: str = "") -> str:
        """A query of these expressions."""
        sql = f"SELECT {', '.join(expressions)} FROM {self.named}{' ' if behind else ''}{behind}"
        return said(sql, self.dialect)

    def first(self, expressions: Sequence[str], rows: int) -> str:
        """A query of the first rows."""
        return self.select(expressions, f"LIMIT {rows}")


@dataclass
class Sources:
    """The tables of a database with their extents, each of which is asked for once: to count, some
    engines read it."""

    reading: TimedReader
    dialect: Dialect
    _known: dict[str, Source] = field(default_factory=dict)

    def of(self, table: Table) -> Source:
        """One table. Raises `OutOfTime`, `Unreadable`, `Cancelled` and `DatabaseUnavailable`."""
        if table.name not in self._known:
            extent = extent_of(self.reading, table, self.dialect)
            self._known[table.name] = Source(table, self.dialect, extent)
        return self._known[table.name]


def some_rows(source: Source, expressions: Sequence[str], rows: int, block: int) -> Statements:
    """Statements that read about `rows` rows, `block` neighbours at a time where that can be
    chosen."""
    extent = source.extent
    if extent is None or extent.rows <= rows:
        return Statements([source.first(expressions, rows)], sampled=False)
    if extent.key:
        picks = list(_blocks(extent, max(rows // block, 1), block))
    elif source.dialect.name == "postgres":
        share = min(100.0, 100.0 * rows / extent.rows)
        # Pages hold more or fewer rows than on average; twice as many are as good.
        picks = [f"TABLESAMPLE SYSTEM ({share:.6f}) REPEATABLE (1) LIMIT {2 * rows}"]
    elif source.dialect.name == "duckdb":
        picks = _places(extent, rows)
    else:
        picks = [f"LIMIT {rows}"]
    return Statements([source.select(expressions, pick) for pick in picks], sampled=True)


def different_texts(schema: Schema, ref: ColumnRef, most: int) -> str | None:
    """A query of a column's different texts, or dates; None for columns of other types."""
    table, column, dialect = schema.table(ref.table), schema.column(ref), dialect_of(schema)
    if table is None or column is None:
        return None
    source = Source(table, dialect, None)
    name = whole(column, dialect).sql
    if dialect is SQLITE:
        return source.select([f"DISTINCT {name}"], f"WHERE typeof({name}) = 'text' LIMIT {most}")
    if family_of(column.type) not in {"text", "date", "other"}:
        return None
    present = f"{dialect.quoted(column.name)} IS NOT NULL"
    return source.select([f"DISTINCT {name}"], f"WHERE {present} LIMIT {most}")


def counted_values(source: Source, column: Column, most: int) -> str:
    """A query of a column's values, NULL among them, and the rows of each."""
    name = whole(column, source.dialect).sql
    return source.select([name, "count(*)"], f"GROUP BY {name} LIMIT {most}")


def _blocks(extent: Extent, count: int, rows: int) -> Iterator[str]:
    """Conditions that pick blocks of consecutive rows spread over a table, one from each of
    `count` equal parts, at positions drawn by a fixed seed."""
    drawn = random.Random(extent.length)  # noqa: S311 - a sample, not a secret
    step = extent.length / count
    for part in range(count):
        low = extent.first + int(part * step)
        high = extent.first + int((part + 1) * step) - 1
        start = low + int(drawn.random() * max(high - low - rows, 0))
        yield f"WHERE {extent.key} BETWEEN {start} AND {high} ORDER BY {extent.key} LIMIT {rows}"


def _places(extent: Extent, rows: int) -> list[str]:
    """Rows by their place in the order in which files hold them; drawn one by one where the files
    have to be read from their beginning for each place."""
    if extent.slow:
        share = min(100.0, 100.0 * rows / extent.rows)
        return [f"USING SAMPLE {share:.6f} PERCENT (bernoulli, 1) LIMIT {2 * rows}"]
    step = extent.rows // _FEW_BLOCKS
    each = max(rows // _FEW_BLOCKS, 1)
    return [f"LIMIT {each} OFFSET {part * step}" for part in range(_FEW_BLOCKS)]
