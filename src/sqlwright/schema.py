"""The schema of a database: tables, columns, keys, and how much of each to show."""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple

_CAPITALS = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


@lru_cache(maxsize=8192)
def fold_name(name: str) -> str:
    """A to Z in lower case and nothing else: Ö and ö, k and the sign for kelvin, are two names."""
    return name.lower() if name.isascii() else name.translate(_CAPITALS)


MANY_GROUPS = 8
"""Groups of two and more tables from which `has_many_groups` is true."""


class ColumnRef(NamedTuple):
    """A column by its table's and its own exact stored names."""

    table: str
    column: str

    def __str__(self) -> str:
        return f"{self.table}.{self.column}"


@dataclass(frozen=True, slots=True)
class Column:
    """A column as declared, with what description files add."""

    name: str
    type: str = ""
    """The declared type, as written; empty when none was declared."""
    nullable: bool = True
    generated: bool = False
    label: str = ""
    """A human name from a description file, else empty."""
    description: str = ""
    value_description: str = ""
    labels: tuple[str, ...] = ()
    """The values that an enumeration has, in its order; `value_description` tells them, too."""


@dataclass(frozen=True)
class Table:
    """A table or view."""

    name: str
    columns: tuple[Column, ...]
    primary_key: tuple[str, ...] = ()
    kind: Literal["table", "view"] = "table"
    description: str = ""
    label: str = ""
    definition: str = ""
    """The query of a view, as written; empty where it couldn't be read or is too long. With a list
    of tables a view is only there if all that it names is."""
    namespace: str = ""
    """The namespace it is in, where that isn't the usual one; `name` begins with it and a dot
    then, so that `orders` and `sales.orders` are two."""

    @property
    def own_name(self) -> str:
        """The name without the namespace."""
        return self.name.removeprefix(f"{self.namespace}.") if self.namespace else self.name

    @property
    def path(self) -> tuple[str, ...]:
        """The namespace, where it has one, and the own name: of `a.b`, a name may be either."""
        return (self.namespace, self.own_name) if self.namespace else (self.own_name,)

    def column(self, name: str) -> Column | None:
        """The column of exactly that name, else of that name in another case; None when there is
        none."""
        return self._by_exact_name.get(name) or self._by_name.get(fold_name(name))

    @cached_property
    def _by_exact_name(self) -> dict[str, Column]:
        return {column.name: column for column in self.columns}

    @cached_property
    def _by_name(self) -> dict[str, Column]:
        return {fold_name(column.name): column for column in reversed(self.columns)}


@dataclass(frozen=True)
class ForeignKey:
    """A join between two tables: declared, or inferred with the evidence for it."""

    table: str
    columns: tuple[str, ...]
    target_table: str
    target_columns: tuple[str, ...]
    inferred: bool = False
    evidence: str = ""

    @cached_property
    def pairs(self) -> tuple[tuple[ColumnRef, ColumnRef], ...]:
        """The joined columns, pair by pair."""
        return tuple(
            (ColumnRef(self.table, near), ColumnRef(self.target_table, far))
            for near, far in zip(self.columns, self.target_columns, strict=True)
        )


@dataclass(frozen=True)
class Schema:
    """All tables of one database, in stored order."""

    name: str
    tables: tuple[Table, ...]
    foreign_keys: tuple[ForeignKey, ...] = ()
    dialect: str = "sqlite"
    """A name of `sql.dialects`."""

    def table(self, name: str) -> Table | None:
        """The table of exactly that name, else of that name in another case; None when there is
        none."""
        return self._by_exact_name.get(name) or self._by_name.get(fold_name(name))

    def spoken(self, table: str) -> str:
        """A table's name as a question says it: without its namespace, unless another one's is
        the same then. The name as it is where there is no such table."""
        return self._spoken.get(table, table)

    @cached_property
    def _spoken(self) -> Mapping[str, str]:
        named = Counter(fold_name(table.own_name) for table in self.tables)
        return {
            table.name: table.own_name
            for table in self.tables
            if table.namespace and named[fold_name(table.own_name)] == 1
        }

    def column(self, ref: ColumnRef) -> Column | None:
        """The column a reference names, whatever its case; None when there is none."""
        table = self.table(ref.table)
        return table.column(ref.column) if table else None

    @property
    def columns(self) -> Iterator[ColumnRef]:
        """Every column, table by table."""
        return iter(self._references)

    @cached_property
    def day_columns(self) -> frozenset[str]:
        """The folded names that only columns declared as DATE have: in engines that hold to what
        is declared, days and nothing else."""
        return frozenset(name for name, types in self._types.items() if types == {"date"})

    @cached_property
    def span_columns(self) -> frozenset[str]:
        """The folded names that only columns declared as INTERVAL have."""
        return frozenset(
            name
            for name, types in self._types.items()
            if all(declared.startswith("interval") for declared in types)
        )

    @cached_property
    def _types(self) -> Mapping[str, set[str]]:
        """The types that columns are declared as, by their names, all folded."""
        types: dict[str, set[str]] = {}
        for table in self.tables:
            for column in table.columns:
                types.setdefault(fold_name(column.name), set()).add(column.type.casefold())
        return types

    @cached_property
    def in_sqlite(self) -> Schema:
        """The same tables for queries in SQLite's dialect: what is written over it is read, too,
        and never run."""
        if self.dialect == "sqlite":
            return self
        return Schema(self.name, self.tables, self.foreign_keys)

    def gone_from(self, later: Schema) -> list[str]:
        """Tables that a later schema lacks, and columns of those that it still has."""
        tables = [table.name for table in self.tables if later.table(table.name) is None]
        there = set(later.columns)
        return tables + [
            str(ref) for ref in self.columns if ref.table not in tables and ref not in there
        ]

    def only(self, names: Collection[str]) -> Schema:
        """The schema with these tables, by their stored names, and the keys among them."""
        tables = tuple(table for table in self.tables if table.name in names)
        keys = tuple(
            key for key in self.foreign_keys if key.table in names and key.target_table in names
        )
        return Schema(self.name, tables, keys, self.dialect)

    @cached_property
    def key_pairs(self) -> frozenset[tuple[ColumnRef, ColumnRef]]:
        """Every pair of columns that a key joins, the referring one first."""
        return frozenset(pair for key in self.foreign_keys for pair in key.pairs)

    @cached_property
    def key_columns(self) -> frozenset[ColumnRef]:
        """The columns at either end of a key."""
        return frozenset(ref for pair in self.key_pairs for ref in pair)

    @cached_property
    def all_keys(self) -> frozenset[ColumnRef]:
        """The columns of primary keys and those at either end of a key, inferred ones included."""
        return self.key_columns | {
            ColumnRef(table.name, name) for table in self.tables for name in table.primary_key
        }

    @cached_property
    def column_count(self) -> int:
        return sum(len(table.columns) for table in self.tables)

    @cached_property
    def foreign_key_columns(self) -> frozenset[ColumnRef]:
        """The columns on the referring side of keys."""
        return frozenset(near for key in self.foreign_keys for near, _ in key.pairs)

    def neighbours(self, table: str) -> frozenset[str]:
        """The tables that a key joins to one, or that a table which holds nothing but keys links
        with it."""
        near = self._beside.get(table, frozenset())
        links = near & self._linking
        return near.union(*(self._beside[one] for one in links)) - {table}

    @cached_property
    def _beside(self) -> Mapping[str, frozenset[str]]:
        beside: dict[str, set[str]] = {}
        for key in self.foreign_keys:
            beside.setdefault(key.table, set()).add(key.target_table)
            beside.setdefault(key.target_table, set()).add(key.table)
        return {table: frozenset(near) for table, near in beside.items()}

    @cached_property
    def _linking(self) -> frozenset[str]:
        """The tables that only link others, as the one between tickets and their labels."""
        keys = self.foreign_key_columns
        return frozenset(
            table.name
            for table in self.tables
            if all(
                column.name in table.primary_key or ColumnRef(table.name, column.name) in keys
                for column in table.columns
            )
        )

    @cached_property
    def group_of(self) -> Mapping[str, str]:
        """For each table the one that stands for its group: the tables that keys connect."""
        leader = {table.name: table.name for table in self.tables}

        def root(name: str) -> str:
            while leader[name] != name:
                leader[name] = leader[leader[name]]  # path halving keeps the chains short
                name = leader[name]
            return name

        for key in self.foreign_keys:
            near, far = self.table(key.table), self.table(key.target_table)
            if near and far:
                leader[root(near.name)] = root(far.name)
        return {name: root(name) for name in leader}

    @cached_property
    def by_group(self) -> Mapping[str, Schema]:
        """Each group of tables as a schema of its own, by the table that stands for it."""
        tables: dict[str, list[Table]] = {}
        keys: dict[str, list[ForeignKey]] = {}
        for table in self.tables:
            tables.setdefault(self.group_of[table.name], []).append(table)
        for key in self.foreign_keys:
            leader = self.group_of.get(key.table)
            if leader is not None and self.group_of.get(key.target_table) == leader:
                keys.setdefault(leader, []).append(key)
        return {
            leader: Schema(self.name, tuple(own), tuple(keys.get(leader, ())), self.dialect)
            for leader, own in tables.items()
        }

    @cached_property
    def has_many_groups(self) -> bool:
        """True if so many groups of tables stand side by side that names and small numbers agree by
        chance, and a question is about one of them. A schema of few groups is one business, whose
        tables may be asked about together without a key."""
        sizes = Counter(self.group_of.values())
        return sum(size > 1 for size in sizes.values()) >= MANY_GROUPS

    @cached_property
    def _by_name(self) -> dict[str, Table]:
        return {fold_name(table.name): table for table in reversed(self.tables)}

    @cached_property
    def _by_exact_name(self) -> dict[str, Table]:
        return {table.name: table for table in self.tables}

    @cached_property
    def _references(self) -> tuple[ColumnRef, ...]:
        return tuple(
            ColumnRef(table.name, column.name) for table in self.tables for column in table.columns
        )


class Detail(Enum):
    """Detail in which a view shows a column. Hard linking hides, soft linking shows briefly."""

    FULL = "full"
    BRIEF = "brief"
    HIDDEN = "hidden"


@dataclass(frozen=True)
class SchemaView:
    """A schema and how much of each column to show; columns without an entry are shown in full."""

    schema: Schema
    details: Mapping[ColumnRef, Detail] = field(default_factory=dict)

    def detail(self, ref: ColumnRef) -> Detail:
        return self.details.get(ref, Detail.FULL)

    def narrowed(self, keep: Iterable[ColumnRef], rest: Detail = Detail.HIDDEN) -> SchemaView:
        """Show `keep` in full and everything else as `rest`."""
        kept = set(keep)
        return SchemaView(
            self.schema, {ref: rest for ref in self.schema.columns if ref not in kept}
        )

    @property
    def visible(self) -> Iterator[ColumnRef]:
        """The columns that are not hidden."""
        if not self.details:
            return iter(self.schema.columns)
        return (ref for ref in self.schema.columns if self.detail(ref) is not Detail.HIDDEN)

    def visible_schema(self) -> Schema:
        """The schema without hidden columns, without tables that have none left, and with the
        keys whose both ends remain."""
        return self._visible_schema

    @cached_property
    def _visible_schema(self) -> Schema:
        hidden = {ref for ref, detail in self.details.items() if detail is Detail.HIDDEN}
        if hidden.isdisjoint(self.schema.columns):
            return self.schema
        tables = []
        for table in self.schema.tables:
            columns = tuple(c for c in table.columns if ColumnRef(table.name, c.name) not in hidden)
            if columns:
                tables.append(replace(table, columns=columns))
        there = {table.name for table in tables}
        keys = tuple(
            key
            for key in self.schema.foreign_keys
            if key.table in there
            and key.target_table in there
            and not any(near in hidden or far in hidden for near, far in key.pairs)
        )
        return Schema(self.schema.name, tuple(tables), keys, self.schema.dialect)
