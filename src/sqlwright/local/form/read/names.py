"""Resolves the names in a SQL query."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from sqlglot import exp

from sqlwright.errors import UnsupportedQuery
from sqlwright.local.form import nodes as f
from sqlwright.local.form.joins import Node
from sqlwright.schema import ColumnRef, Schema, Table
from sqlwright.sql.names import stored_table
from sqlwright.sql.tree import node_text

Readable = f.Column | f.DerivedColumn


@dataclass(frozen=True)
class Entry:
    """One thing in a FROM clause: the name it goes by and its columns by folded name."""

    name: str
    node: Node
    columns: dict[str, Readable]


@dataclass
class NameScope:
    """The names one SELECT can use."""

    outer: NameScope | None = None
    entries: list[Entry] = field(default_factory=list)
    items: list[exp.Expr] = field(default_factory=list)
    merged: set[tuple[str, str]] = field(default_factory=set)
    """(entry, column) pairs that USING or NATURAL has hidden behind an earlier column."""
    exact: bool = False
    """Names are looked for exactly, not whatever their case."""
    quotes_texts: bool = True
    """A name in double quotes that names nothing is a text, as in SQLite."""

    def key(self, name: str) -> str:
        """A name as it is looked for."""
        return name if self.exact else name.casefold()

    def add_table(self, table: Table, alias: str) -> Entry:
        """A table under an alias; appearances of one table are numbered."""
        instance = 1 + sum(
            isinstance(entry.node, f.Source) and entry.node.table == table.name
            for entry in self.entries
        )
        columns: dict[str, Readable] = {
            self.key(column.name): f.Column(ColumnRef(table.name, column.name), instance)
            for column in table.columns
        }
        return self._add(Entry(self.key(alias), f.Source(table.name, instance), columns))

    def add_derived(self, number: int, names: list[str], alias: str) -> Entry:
        """A derived table under an alias, with the names of its items."""
        columns: dict[str, Readable] = {}
        for item, name in enumerate(names, 1):
            columns.setdefault(self.key(name), f.DerivedColumn(number, item))
        return self._add(Entry(self.key(alias), number, columns))

    def _add(self, entry: Entry) -> Entry:
        if not self.quotes_texts and any(one.name == entry.name for one in self.entries):
            raise UnsupportedQuery(f"two tables are called {entry.name}")
        self.entries.append(entry)
        return entry

    def alias(self, name: str) -> exp.Expr | None:
        """The item that goes by a name."""
        for item in self.items:
            if isinstance(item, exp.Alias) and self.key(item.alias) == self.key(name):
                aliased: exp.Expr = item.this
                return aliased
        return None

    def find(self, name: str, qualifier: str) -> Readable | None:
        """The column of a name in this SELECT or, marked outer, in the one around it."""
        found = self._own(self.key(name), self.key(qualifier))
        if found is not None or self.outer is None:
            return found
        borrowed = self.outer._own(self.key(name), self.key(qualifier))
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
            if not qualifier or entry.name == self.key(qualifier):
                yield entry

    def visible(self, entry: Entry) -> Iterator[Readable]:
        """The columns that `*` shows of an entry."""
        for name, column in entry.columns.items():
            if (entry.name, name) not in self.merged:
                yield column


def lookup_table(schema: Schema, table: exp.Table) -> Table:
    """The schema's table. Raises UnsupportedQuery when there is none."""
    usual = schema.dialect != "sqlite" or not table.db
    found = stored_table(schema, table) if usual else None
    if found is None:
        raise UnsupportedQuery(f"no such table: {node_text(table)}")
    return found
