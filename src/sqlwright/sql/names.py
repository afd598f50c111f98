"""Meanings of the names in a query: stored columns, columns of subqueries, texts.

Names are looked for as the schema's dialect does: whatever their case, or, where an engine folds
names without quotes (`sql/shape/` has done that), exactly. SQLite takes a name in double quotes
that names nothing for a text; so does this, for SQLite.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from sqlglot import exp

from sqlwright.schema import ColumnRef, Schema, Table
from sqlwright.sql.dialects import dialect_of
from sqlwright.sql.tokens import quote_text
from sqlwright.sql.tree import node_text

Columns = Mapping[str, ColumnRef | None] | None
"""Names as they are looked for, each with the stored column it passes on; None when they aren't
known."""


UNNAMED = "a list"
"""The name, for a reader, of a query in FROM without one."""


class Source(NamedTuple):
    """A source of a SELECT: a stored table, a subquery, or a function that gives rows."""

    alias: str
    node: exp.Expr
    table: Table | None
    columns: Columns


class Named(NamedTuple):
    """The meaning of a name, and its text for a reader."""

    text: str
    column: ColumnRef | None = None
    literal: str | None = None
    """The text that a name in double quotes turned out to be."""
    behind: exp.Expr | None = None
    """The shown expression that it is another name of."""


@dataclass(frozen=True)
class Names:
    """The names that can be used in one scope of a query."""

    schema: Schema
    sources: tuple[Source, ...] = ()
    outer: Names | None = None
    queries: Mapping[str, Columns] = field(default_factory=dict)
    """Common table expressions and their columns."""
    shown: Mapping[str, exp.Expr] = field(default_factory=dict)
    """Shown expressions by the names that were given to them."""
    doubled: frozenset[int] = frozenset()
    """Sources, by the identity of their nodes, that their table's name alone doesn't tell."""

    def within(self, query: exp.Query) -> Names:
        """The names in a SELECT that stands where these hold."""
        queries = self._with(query)
        sources = tuple(self._source(node, queries) for node in source_nodes(query))
        shown = {
            self.key(item.alias): item.this
            for item in query.expressions
            if isinstance(item, exp.Alias)
        }
        outer = self if self.sources or self.outer else None
        return Names(self.schema, sources, outer, queries, shown, self.doubled)

    def with_queries(self, query: exp.Expr) -> Names:
        """These, and the common table expressions of a query."""
        queries = self._with(query)
        return Names(self.schema, self.sources, self.outer, queries, self.shown, self.doubled)

    def stored(self) -> Names:
        """These without the names that were given to shown expressions."""
        return Names(self.schema, self.sources, self.outer, self.queries, {}, self.doubled)

    def find(self, node: exp.Column) -> Named:
        """The meaning of a column's name; only its text, as it is written, where it isn't known."""
        name, alias = self.key(node.name), self.key(node.table)
        at: Names | None = self
        vague = False
        while at is not None:
            for source in at.sources:
                vague = vague or source.columns is None
                if alias not in {"", self.key(source.alias)} or _elsewhere(node, source):
                    continue
                if source.columns is None and alias:
                    return Named(node_text(node))
                if source.columns is not None and name in source.columns:
                    return self._named(node, source)
            if not alias and name in at.shown:
                return Named(node.name, behind=at.shown[name])
            at = at.outer
        quoted = isinstance(node.this, exp.Identifier) and node.this.args.get("quoted")
        is_text = quoted and self.schema.dialect == "sqlite"
        if is_text and not alias and not vague and node.name:
            return Named(quote_text(node.name), literal=node.name)
        return Named(node_text(node))

    def describe(self, source: Source) -> str:
        """A source by its stored name, its alias added where there are two of that name."""
        if source.table is None:
            return source.alias or UNNAMED
        if id(source.node) in self.doubled and source.alias != source.table.name:
            return f"{source.table.name} as {source.alias}"
        return source.table.name

    def key(self, name: str) -> str:
        """A name as it is looked for."""
        return name_key(self.schema, name)

    def _named(self, node: exp.Column, source: Source) -> Named:
        ref = None if source.columns is None else source.columns[self.key(node.name)]
        if source.table is None or ref is None:
            return Named(f"{source.alias}.{node.name}" if source.alias else node.name, ref)
        doubled = id(source.node) in self.doubled
        return Named(f"{source.alias}.{ref.column}" if doubled else str(ref), ref)

    def _with(self, query: exp.Expr) -> dict[str, Columns]:
        queries = dict(self.queries)
        for cte in common_tables(query):
            queries[self.key(cte.alias)] = self._shown_by(cte, queries)
        return queries

    def _source(self, node: exp.Expr, queries: Mapping[str, Columns]) -> Source:
        alias = node.alias_or_name
        if isinstance(node, exp.Table):
            name = self.key(node.name)
            if name in queries and not node.db:
                return Source(alias, node, None, queries[name])
            table = stored_table(self.schema, node)
            if table is not None:
                given = node.args.get("alias")
                if isinstance(given, exp.TableAlias) and given.columns:
                    return Source(alias, node, table, None)
                refs = {self.key(c.name): ColumnRef(table.name, c.name) for c in table.columns}
                return Source(alias, node, table, refs)
            return Source(alias, node, None, None)
        return Source(alias, node, None, self._shown_by(node, queries))

    def _shown_by(self, node: exp.Expr, queries: Mapping[str, Columns]) -> Columns:
        """The columns that a common table expression or a query within FROM gives."""
        select = first_select(node)
        given = node.args.get("alias")
        if isinstance(given, exp.TableAlias) and given.columns:
            return dict.fromkeys(self.key(name.name) for name in given.columns)
        if select is None:
            return None
        compound = isinstance(select.parent, exp.SetOperation)
        inside = Names(self.schema, queries=queries).within(select)
        columns: dict[str, ColumnRef | None] = {}
        for item in select.expressions:
            if not is_star(item):
                bare = item.unalias()
                passed = isinstance(bare, exp.Column) and not compound
                ref = inside.find(bare).column if passed else None
                columns[self.key(item.alias_or_name)] = ref
                continue
            for source in inside.sources:
                if source.columns is None:
                    return None
                columns.update(source.columns)
        return columns


def name_key(schema: Schema, name: str) -> str:
    """A name as a schema's dialect looks for it: in lower case, or as it is where the dialect has
    folded it and looks for exactly that."""
    return name.lower() if dialect_of(schema).case == "blind" else name


def stored_table(schema: Schema, node: exp.Expr) -> Table | None:
    """The stored table that a table of a query is, by its name and its namespace; None for a
    function, and where there is none of that name."""
    if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
        return None
    if schema.dialect == "sqlite":
        return schema.table(node.name)
    own = name_key(schema, node.name)
    namespace = name_key(schema, node.db)
    usual = {"", name_key(schema, dialect_of(schema).namespace or schema.name)}
    if node.catalog and name_key(schema, node.catalog) != name_key(schema, schema.name):
        return None
    for table in schema.tables:
        if name_key(schema, table.own_name) != own:
            continue
        there = name_key(schema, table.namespace)
        if there == namespace or (not there and namespace in usual):
            return table
    return None


def _elsewhere(node: exp.Column, source: Source) -> bool:
    """True if a column is of a namespace that a source isn't of."""
    db = source.node.db if isinstance(source.node, exp.Table) else ""
    return bool(node.db and db and node.db.lower() != db.lower())


def is_star(node: exp.Expr) -> bool:
    """True of `*` and `t.*`."""
    return isinstance(node, exp.Star) or (
        isinstance(node, exp.Column) and isinstance(node.this, exp.Star)
    )


def common_tables(query: exp.Expr) -> list[exp.CTE]:
    """The common table expressions that stand before a query."""
    given = query.args.get("with_") or query.args.get("with")
    return [] if given is None else [cte for cte in given.expressions if isinstance(cte, exp.CTE)]


def first_select(node: exp.Expr) -> exp.Select | None:
    """The SELECT whose columns a query, its wrapping or a set operation gives."""
    while isinstance(node, (exp.CTE, exp.Subquery, exp.SetOperation, exp.Paren)):
        node = node.this
    return node if isinstance(node, exp.Select) else None


def read_from(select: exp.Expr) -> Iterator[tuple[exp.Expr, exp.Join | None]]:
    """The sources of a SELECT, each with the join that brings it in."""
    start = select.args.get("from_") or select.args.get("from")
    if start is not None:
        yield from _flat(start.this, None)
    for join in select.args.get("joins") or ():
        yield from _flat(join.this, join)


def source_nodes(select: exp.Expr) -> Iterator[exp.Expr]:
    """The sources of a SELECT."""
    return (node for node, _ in read_from(select))


def _flat(node: exp.Expr, join: exp.Join | None) -> Iterator[tuple[exp.Expr, exp.Join | None]]:
    """A source, or those that parentheses join."""
    inner = node
    while isinstance(inner, (exp.Subquery, exp.Paren)) and isinstance(
        inner.this, (exp.Table, exp.Subquery, exp.Paren)
    ):
        inner = inner.this
    yield inner, join
    held = (node, inner) if inner is not node else (node,)
    for one in held:
        for more in one.args.get("joins") or ():
            yield from _flat(more.this, more)


def numbered_item(key: exp.Expr, select: exp.Select) -> exp.Expr:
    """The shown expression that a number in GROUP BY or ORDER BY stands for; other keys as they
    are."""
    if isinstance(key, exp.Literal) and not key.is_string and key.name.isdigit():
        place = int(key.name) - 1
        if 0 <= place < len(select.expressions):
            item: exp.Expr = select.expressions[place]
            return item.unalias()
    return key


def renamed_item(node: exp.Expr, names: Names) -> exp.Expr:
    """The shown expression whose name it is; in ORDER BY such names go first."""
    if isinstance(node, exp.Column) and not node.table:
        return names.shown.get(names.key(node.name), node)
    return node


def doubled_sources(tree: exp.Expr, schema: Schema) -> frozenset[int]:
    """Sources that share their table with another one of the same SELECT, or with one of a query
    around it whose columns it uses."""
    found: set[int] = set()
    for select in tree.find_all(exp.Select):
        tables: dict[str, list[exp.Expr]] = {}
        for node in source_nodes(select):
            table = stored_table(schema, node)
            if table is not None:
                tables.setdefault(table.name, []).append(node)
        found.update(id(one) for group in tables.values() if len(group) > 1 for one in group)
        found.update(_shared_with_outer(select, tables, schema))
    return frozenset(found)


def _shared_with_outer(
    select: exp.Select, tables: Mapping[str, list[exp.Expr]], schema: Schema
) -> Iterator[int]:
    around = select.parent_select
    while around is not None:
        used = {column.table.lower() for column in select.find_all(exp.Column)}
        for node in source_nodes(around):
            table = stored_table(schema, node)
            own = () if table is None else tables.get(table.name, ())
            aliases = {one.alias_or_name.lower() for one in own}
            if own and node.alias_or_name.lower() in used - aliases:
                yield id(node)
                yield from map(id, own)
        around = around.parent_select
