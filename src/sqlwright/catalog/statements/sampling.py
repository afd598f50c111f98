"""Statements that read some rows from all over a table.

By row numbers or keys where there are any, a block of neighbours from each part; PostgreSQL's
TABLESAMPLE by pages; in DuckDB over files by place, which skips what Parquet says isn't needed.
Where nothing picks rows it is the first ones.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from sqlwright.catalog.reading import TimedReader
from sqlwright.catalog.statements.columns import family_of, said, whole
from sqlwright.catalog.statements.extent import Extent, extent_of
from sqlwright.schema import Column, ColumnRef, Schema, Table
from sqlwright.sql.dialects import SQLITE, Dialect, dialect_of
from sqlwright.sql.tokens import quote_name

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
