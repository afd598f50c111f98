"""Resolves the names in a SQL query."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from sqlglot import exp

from sqlwright.errors import UnsupportedQuery
from sqlwright.form import nodes as f
from sqlwright.form.joins import Node
from sqlwright.schema import ColumnRef, Schema, Table
from sqlwright.sql.tree import node_text

Readable = f.Column | f.DerivedColumn


@dataclass(frozen=True)
class Entry:
    """One thing in a FROM clause: the name it goes by and its columns by folded name."""

    name: str
    node: Node
    columns: dict[str, Readable]


@dataclass
class Scope:
    """The names one SELECT can use."""

    outer: Scope | None = None
    entries: list[Entry] = field(default_factory=list)
    items: list[exp.Expr] = field(default_factory=list)
    merged: set[tuple[str, str]] = field(default_factory=set)
    """(entry, column) pairs that USING or NATURAL has hidden behind an earlier column."""

    def add_table(self, table: Table, alias: str) -> Entry:
        """A table under an alias; appearances of one table are numbered."""
        instance = 1 + sum(
            isinstance(entry.node, f.Source) and entry.node.table == table.name
            for entry in self.entries
        )
        columns: dict[str, Readable] = {
            column.name.casefold(): f.Column(ColumnRef(table.name, column.name), instance)
            for column in table.columns
        }
        return self._add(Entry(alias.casefold(), f.Source(table.name, instance), columns))

    def add_derived(self, number: int, names: list[str], alias: str) -> Entry:
        """A derived table under an alias, with the names of its items."""
        columns: dict[str, Readable] = {}
        for item, name in enumerate(names, 1):
            columns.setdefault(name.casefold(), f.DerivedColumn(number, item))
        return self._add(Entry(alias.casefold(), number, columns))

    def _add(self, entry: Entry) -> Entry:
        self.entries.append(entry)
        return entry

    def alias(self, name: str) -> exp.Expr | None:
        """The item that goes by a name."""
        for item in self.items:
            if isinstance(item, exp.Alias) and item.alias.casefold() == name.casefold():
                aliased: exp.Expr = item.this
                return aliased
        return None

    def find(self, name: str, qualifier: str) -> Readable | None:
        """The column of a name in this SELECT or, marked outer, in the one around it."""
        found = self._own(name.casefold(), qualifier.casefold())
        if found is not None or self.outer is None:
            return found
        borrowed = self.outer._own(name.casefold(), qualifier.casefold())
        if borrowed is None:
            return None
        if isinstance(borrowed, f.DerivedColumn):
            raise UnsupportedQuery("a subquery uses a derived table of the query around it")
        return replace(borrowed, outer=True)

    def _own(self, name: str, qualifier: str) -> Readable | None:
        for entry in self.entries:
            if qualifier and entry.name != qualifier:
                continue
            if name in entry.columns:
                return entry.columns[name]
        return None

    def stars(self, qualifier: str = "") -> Iterator[Entry]:
        """The entries that `*` or `name.*` stands for."""
        for entry in self.entries:
            if not qualifier or entry.name == qualifier.casefold():
                yield entry

    def visible(self, entry: Entry) -> Iterator[Readable]:
        """The columns that `*` shows of an entry."""
        for name, column in entry.columns.items():
            if (entry.name, name) not in self.merged:
                yield column


def lookup_table(schema: Schema, table: exp.Table) -> Table:
    """The schema's table. Raises UnsupportedQuery when there is none."""
    found = schema.table(table.name)
    if found is None or table.db:
        raise UnsupportedQuery(f"no such table: {node_text(table)}")
    return found
