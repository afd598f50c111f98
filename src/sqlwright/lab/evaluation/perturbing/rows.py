"""Draws the rows of one perturbed copy.

A row begins as a stored one, or as nothing. Then values are drawn anew: out of a few or all values
of the column, beside what the gold query compares with, so that they meet all that it asks but one
thing, or NULL where the column may be. Keys are new, foreign keys name rows that are there, and
tables come before those that refer to them. Whatever a constraint still forbids is left out when
the copy is written.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from sqlwright.database.sqlite.copies import Filled
from sqlwright.database.sqlite.database import SqliteDatabase
from sqlwright.lab.evaluation.perturbing.hints import Hints
from sqlwright.schema import ColumnRef, ForeignKey, Schema, Table
from sqlwright.sql.declared_types import type_class
from sqlwright.sql.tokens import quote_name
from sqlwright.types import Cell

_SIZES = (1, 2, 3, 5, 8, 8, 14, 14, 25, 40)
"""Rows of a table that gold reads; each is as probable as it stands here often."""
_OTHER_ROWS = 6
"""Rows of each other table."""
_LARGEST_TABLE = 160
"""Rows of a table at most."""
_EMPTY = 0.03
"""Probability that a table that gold reads is empty."""
_NULLS = (0.0, 0.35, 0.1, 0.5)
"""Share of NULL where a column may be NULL, of one copy after the other."""
_ALL_NULL = 0.12
"""Probability that a column of a copy with NULLs has nothing else."""
_GROUPS = 5
"""Values that a column has at least by which gold groups."""
_ORPHANS = 0.2
"""Share of values without a row to join with, where no key is declared."""

Row = dict[str, Cell]


@dataclass(frozen=True)
class Taste:
    """Drawn once for a whole copy: how much of each kind it has."""

    kept: float
    """Share of rows that begin as a stored one."""
    redrawn: float
    """Share of values that are drawn anew."""
    near: float
    """Share of values beside what gold compares with."""
    meeting: float
    """Share of rows that meet all that gold asks but perhaps one thing."""
    nulls: float
    distinct: int
    """Distinct values that a column draws from; 0 for all."""
    group: int
    """Rows of each group where groups have one size; 0 where chance decides."""
    twins: float
    """Share of rows that are another row but for their key."""
    unequal: bool
    """True if rows differ in the columns by which gold orders."""


def draw_copy(
    stored: StoredDatabase, hints: Hints, rng: random.Random, number: int
) -> list[Filled]:
    """The rows of all tables of the copy of that number, in an order in which each comes after
    those it refers to."""
    group = rng.choice([*hints.counts, *hints.counts, 0, 0, 1, 2, 3])
    taste = Taste(
        kept=rng.choice((0.3, 0.7, 1.0)),
        redrawn=rng.choice((0.1, 0.4, 0.8)),
        near=rng.choice((0.1, 0.3, 0.6)),
        meeting=rng.choice((0.1, 0.4, 0.8)),
        nulls=_NULLS[number % len(_NULLS)],
        distinct=rng.choice((2, 3, 4, 0, 0)),
        group=group,
        twins=rng.choice((0.0, 0.0, 0.2)),
        unequal=rng.random() < 0.6,
    )
    copy = _Copy(stored, hints, taste, rng)
    return [copy.fill(name) for name in _parents_first(stored)]


@dataclass
class _Copy:
    """One copy while it is drawn."""

    stored: StoredDatabase
    hints: Hints
    taste: Taste
    rng: random.Random
    rows: dict[str, list[Row]] = field(default_factory=dict)
    domains: dict[ColumnRef, list[Cell]] = field(default_factory=dict)
    absent: dict[ColumnRef, bool] = field(default_factory=dict)
    """True of columns that have nothing but NULL."""

    @cached_property
    def _keys(self) -> list[ForeignKey]:
        """The declared keys none of whose columns is generated."""
        tables = self.stored.tables
        return [
            key
            for key in self.stored.schema.foreign_keys
            if key.table in tables
            and key.target_table in tables
            and set(key.columns) <= set(tables[key.table].columns)
            and set(key.target_columns) <= set(tables[key.target_table].columns)
        ]

    def fill(self, name: str) -> Filled:
        """Draw a table's rows."""
        table = self.stored.tables[name]
        made = self.rows[name] = []
        keys = [key for key in self._keys if key.table == name]
        fresh = self._fresh_key(table, keys)
        for number in range(self._size(name)):
            if made and self.rng.random() < self.taste.twins:
                row = dict(self.rng.choice(made))
            else:
                row = self._row(table, keys, number)
            if fresh is not None:
                row[fresh] = self._new_key(name, fresh, number)
            made.append(row)
        rows = [tuple(row[column] for column in table.columns) for row in made]
        return Filled(name, table.columns, rows)

    def _row(self, table: StoredTable, keys: Sequence[ForeignKey], number: int) -> Row:
        """A row without its own key."""
        name = table.table.name
        row = self._begin(table)
        self._redraw(table, row)
        self._meet(name, row)
        self._join_loosely(name, row)
        for key in keys:
            self._refer(table, row, key, number)
        self._group(name, row, number)
        if self.taste.unequal:
            self._tell_apart(name, row)
        return row

    def _size(self, name: str) -> int:
        if name not in self.hints.tables:
            return _OTHER_ROWS
        if self.rng.random() < _EMPTY:
            return 0
        size = self.rng.choice(_SIZES)
        if self.taste.group > 1:
            size = max(size, self.taste.group * self.rng.randint(2, 4))
        if self.hints.rows and self.rng.random() < 0.7:
            size = max(size, self.hints.rows + self.rng.randint(0, 4))
        return min(size, _LARGEST_TABLE)

    def _begin(self, table: StoredTable) -> Row:
        if table.rows and self.rng.random() < self.taste.kept:
            return dict(zip(table.columns, self.rng.choice(table.rows), strict=True))
        return {
            column: self.rng.choice(self._domain(ColumnRef(table.table.name, column)))
            for column in table.columns
        }

    def _redraw(self, table: StoredTable, row: Row) -> None:
        for column in table.columns:
            ref = ColumnRef(table.table.name, column)
            near = self.hints.near.get(ref)
            if near and self.rng.random() < self.taste.near:
                row[column] = self.rng.choice(self._grafted(ref, near))
            elif self.rng.random() < self.taste.redrawn:
                row[column] = self.rng.choice(self._domain(ref))
            if _may_be_null(table, column) and self._is_null(ref):
                row[column] = None

    def _is_null(self, ref: ColumnRef) -> bool:
        if not self.taste.nulls:
            return False
        if ref not in self.absent:
            self.absent[ref] = self.rng.random() < _ALL_NULL
        return self.absent[ref] or self.rng.random() < self.taste.nulls

    def _meet(self, name: str, row: Row) -> None:
        """Let the row meet all that gold asks of its columns, but perhaps one thing."""
        asked = [ref for ref in self.hints.meeting if ref.table == name]
        if not asked or self.rng.random() >= self.taste.meeting:
            return
        spared = self.rng.choice([*asked, None])
        for ref in asked:
            values = self.hints.meeting[ref]
            if ref != spared and values:
                row[ref.column] = self.rng.choice(self._grafted(ref, values))

    def _join_loosely(self, name: str, row: Row) -> None:
        """Give columns that gold joins or compares a value of the other column, mostly."""
        for left, right in self.hints.together:
            for own, other in ((left, right), (right, left)):
                if own.table != name or own == other or (own, other) in self._declared:
                    continue
                values = [one[other.column] for one in self.rows.get(other.table, ())]
                if values and own.column in row and self.rng.random() >= _ORPHANS:
                    row[own.column] = self.rng.choice(values)

    @property
    def _declared(self) -> frozenset[tuple[ColumnRef, ColumnRef]]:
        return self.stored.schema.key_pairs

    def _refer(self, table: StoredTable, row: Row, key: ForeignKey, number: int) -> None:
        """Let the row refer to one that is there."""
        parents = self.rows.get(key.target_table, [])
        optional = all(_may_be_null(table, column) for column in key.columns)
        absent = self.rng.random() < self.taste.nulls
        if not parents or (optional and absent):
            if optional:
                row.update(dict.fromkeys(key.columns))
            return
        if any(ColumnRef(table.table.name, near) in self.hints.near for near in key.columns):
            wanted = [row[near] for near in key.columns]
            if wanted in ([one[far] for far in key.target_columns] for one in parents):
                return
        grouped = self.taste.group > 0 and len(key.columns) == 1
        at = number // self.taste.group if grouped else self.rng.randrange(len(parents))
        parent = parents[at % len(parents)]
        for near, far in zip(key.columns, key.target_columns, strict=True):
            row[near] = parent[far]

    def _group(self, name: str, row: Row, number: int) -> None:
        """Let columns that gold groups by have groups of one size."""
        if not self.taste.group:
            return
        for ref in sorted(self.hints.grouping):
            if ref.table == name and ref.column in row and ref not in self._keyed:
                domain = self._domain(ref)
                row[ref.column] = domain[number // self.taste.group % len(domain)]

    def _tell_apart(self, name: str, row: Row) -> None:
        """Give columns that gold orders by a value that no row before has."""
        for ref in sorted(self.hints.order):
            if ref.table != name or ref.column not in row or ref in self._keyed:
                continue
            taken = {one[ref.column] for one in self.rows[name]}
            for _ in range(3):
                if row[ref.column] not in taken:
                    break
                row[ref.column] = self.rng.choice(self._values(ref))
            value = row[ref.column]
            if value in taken and isinstance(value, int | float):
                row[ref.column] = value + self.rng.randint(1, 4 * len(taken))

    @property
    def _keyed(self) -> frozenset[ColumnRef]:
        return self.stored.schema.foreign_key_columns

    def _fresh_key(self, table: StoredTable, keys: Sequence[ForeignKey]) -> str | None:
        """The column that alone tells rows apart and refers to nothing."""
        primary = table.table.primary_key
        referring = {column for key in keys for column in key.columns}
        alone = len(primary) == 1 and primary[0] in table.columns
        return primary[0] if alone and primary[0] not in referring else None

    def _new_key(self, name: str, column: str, number: int) -> Cell:
        """A value of a key that no row before has."""
        taken = {row[column] for row in self.rows[name]}
        ref = ColumnRef(name, column)
        for _ in range(3):
            value = self.rng.choice(self._values(ref))
            near = self.hints.near.get(ref)
            if near and self.rng.random() < self.taste.near:
                value = self.rng.choice(near)
            if value not in taken:
                return value
        declared = self.stored.tables[name].table.column(column)
        if isinstance(value, str) and (declared and type_class(declared.type) == "text"):
            return f"{value}{number}"
        return next(n for n in self._numbers(number) if n not in taken)

    def _numbers(self, number: int) -> Iterator[int]:
        yield self.rng.randint(1, 4 * number + 8)
        yield from range(1, 10 * _LARGEST_TABLE)

    def _values(self, ref: ColumnRef) -> list[Cell]:
        return self.stored.tables[ref.table].values(ref.column)

    def _domain(self, ref: ColumnRef) -> list[Cell]:
        """The values that a column draws from in this copy."""
        if ref not in self.domains:
            values = self._values(ref)
            for left, right in self.hints.together:
                for own, other in ((left, right), (right, left)):
                    if own == ref and other.table in self.stored.tables:
                        values = values + self._of_other(other)
            if ref in self.hints.grouping:
                values = _more(values)
            if self.taste.distinct:
                values = self.rng.sample(values, min(self.taste.distinct, len(values)))
            else:
                values = [*values, *_beyond(values)]
            self.domains[ref] = values
        return self.domains[ref]

    def _of_other(self, other: ColumnRef) -> list[Cell]:
        table = self.stored.tables[other.table]
        return table.values(other.column) if other.column in table.columns else []

    def _grafted(self, ref: ColumnRef, near: Sequence[Cell]) -> Sequence[Cell]:
        """Values near a year or month that is compared, made whole dates where the column has
        dates."""
        whole = [one for one in self._values(ref) if isinstance(one, str) and one[:4].isdigit()]
        if not whole:
            return near
        tail = self.rng.choice(whole)
        return [
            str(one) + tail[len(str(one)) :] if str(one).replace("-", "").isdigit() else one
            for one in near
        ]


def _beyond(values: list[Cell]) -> list[Cell]:
    """Values a little outside of those that are stored: smaller and larger numbers, single words of
    texts."""
    numbers = [one for one in values if isinstance(one, int | float)]
    if numbers and len(numbers) == len(values):
        least, most = min(numbers), max(numbers)
        lower = least // 2 if isinstance(least, int) else least / 2
        return [lower, lower // 4, most + 1, 2 * most, *(one + 1 for one in numbers[:3])]
    texts = [one for one in values if isinstance(one, str) and " " in one]
    return [word for text in texts[:4] for word in text.split()]


def _more(values: list[Cell]) -> list[Cell]:
    """Values for some groups where few are stored."""
    made: list[Cell] = []
    for number in range(len(values), _GROUPS):
        value = values[number % len(values)]
        made.append(value + number if isinstance(value, int | float) else f"{value!s} {number}")
    return [*values, *made]


def _may_be_null(table: StoredTable, column: str) -> bool:
    found = table.table.column(column)
    return found is not None and found.nullable and column not in table.table.primary_key


def _parents_first(stored: StoredDatabase) -> list[str]:
    """The tables, each after those it refers to as far as they don't refer to one another."""
    above = _above(stored.schema)
    done: dict[str, None] = {}

    def visit(name: str, path: frozenset[str]) -> None:
        for parent in above[name]:
            if parent not in path and parent not in done:
                visit(parent, path | {parent})
        done[name] = None

    for name in stored.tables:
        visit(name, frozenset({name}))
    return [name for name in done if name in stored.tables]


def _above(schema: Schema) -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for key in schema.foreign_keys:
        found[key.table].append(key.target_table)
    return found


_DEFINITIONS = """
    SELECT sql FROM sqlite_schema
    WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
        AND (type IN ('table', 'view') OR (type = 'index' AND sql LIKE 'CREATE UNIQUE%'))
    ORDER BY CASE type WHEN 'table' THEN 0 WHEN 'index' THEN 1 ELSE 2 END, rowid
"""
_READ_ROWS = 2_000
"""Rows of a table that are read at most; those that are kept are drawn from them."""
_KEPT_ROWS = 300
"""Rows of a table that are kept at most."""
_LONGEST = 2_000
"""Characters or bytes of a value at most; rows with a longer one are passed over."""
_READING_SECONDS = 30.0
"""The time that reading all tables may take."""
_MADE_UP: Mapping[str, tuple[Cell, ...]] = {
    "number": (0, 1, 2, 3, 5, 8),
    "date": ("2019-12-31", "2020-01-01", "2020-06-15", "2021-02-28"),
    "boolean": (0, 1),
    "text": ("a", "b", "c", "ab", "B"),
    "untyped": (1, 2, "a", "b"),
}
"""Values of columns that hold none, by the class of their declared type."""


@dataclass(frozen=True)
class StoredTable:
    """A table that can be filled, and some of its rows."""

    table: Table
    columns: tuple[str, ...]
    """Those that a row gives; generated ones are left out."""
    rows: Sequence[tuple[Cell, ...]]

    def values(self, column: str) -> list[Cell]:
        """The distinct values of a column among the rows; made-up ones where it has none."""
        return self._values[column]

    @cached_property
    def _values(self) -> Mapping[str, list[Cell]]:
        found = {}
        for at, column in enumerate(self.columns):
            declared = self.table.column(column)
            made_up = _MADE_UP[type_class(declared.type if declared else "")]
            stored = dict.fromkeys(row[at] for row in self.rows if row[at] is not None)
            found[column] = list(stored or made_up)
        return found


@dataclass(frozen=True)
class StoredDatabase:
    """All that copies of a database are made from."""

    schema: Schema
    definitions: Sequence[str]
    tables: Mapping[str, StoredTable] = field(default_factory=dict)
    """By their stored names."""


def read_database(database: SqliteDatabase, schema: Schema, rng: random.Random) -> StoredDatabase:
    """Read the definitions and some rows of every table. Raises DatabaseUnavailable."""
    with database.reader(seconds=_READING_SECONDS) as reader:
        definitions = [str(text) for (text,) in reader.rows(_DEFINITIONS) if text]
        tables = {}
        for table in schema.tables:
            columns = tuple(column.name for column in table.columns if not column.generated)
            if table.kind == "table" and columns:
                shown = ", ".join(map(quote_name, columns))
                text = f"SELECT {shown} FROM {quote_name(table.name)} LIMIT {_READ_ROWS}"
                rows = [row for row in reader.rows(text) if max(map(_length, row)) <= _LONGEST]
                kept = rows if len(rows) <= _KEPT_ROWS else rng.sample(rows, _KEPT_ROWS)
                tables[table.name] = StoredTable(table, columns, tuple(kept))
    return StoredDatabase(schema, tuple(definitions), tables)


def _length(cell: Cell) -> int:
    return len(cell) if isinstance(cell, str | bytes) else 0
