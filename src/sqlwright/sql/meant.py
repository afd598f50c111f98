"""A query that failed, as the schema of its database can mean it.

Language models name a column of another table, leave out quotes, write a table in the plural or
another engine's functions. Whose column it is, and how its table is joined, is in the schema; how
another dialect says it, the parser knows. A name is given a meaning only if there is one alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from sqlglot import exp

from sqlwright.schema import ColumnRef, ForeignKey, Schema, Table
from sqlwright.sql.dialects import Dialect, dialect_named, dialect_of, written_name
from sqlwright.sql.foreign import FOREIGN, in_own_words, keeps_all
from sqlwright.sql.names import Names, Source, is_star, stored_table
from sqlwright.sql.pieces import Piece, pieces
from sqlwright.sql.tree import node_text, query_tree

Likened = Callable[[str], str]
"""Gives what a name has in common with others that may be meant by it, as its plural has."""

_Way = tuple[Source, tuple[tuple[ForeignKey, str, bool], ...]]
"""A source, then each key, the table that it leads to, and True if that one refers to the last."""

_MENDS = 20
"""Most names of one query that are given a meaning; chosen."""
_STEPS = 3
"""Most keys between two tables that are joined; chosen."""
_BEFORE_NAMES = frozenset(
    """select distinct , . by ( where and or on having not from join = < > + - * / when then else
    between in like""".split()  # noqa: SIM905
)
"""Words and marks after which a word that the engine reserves can only be a name."""
_NOTHING = (None, exp.true())
"""Conditions of joins that join every row with every other."""


class Reading(NamedTuple):
    """A query that a failed one can mean, and what is changed in it, in words."""

    sql: str
    changes: tuple[str, ...]


def readings(
    sql: str, schema: Schema, like: Likened, asked: str, *, foreign: bool = False
) -> Iterator[Reading]:
    """The meanings of a query in the database's own dialect or, with `foreign`, of one that was
    written for another engine, in the database's."""
    own = dialect_of(schema)
    others = (dialect_named(name) for name in FOREIGN)
    seen = {sql}
    for reader in [one for one in others if one.parser != own.parser] if foreign else [own]:
        quoted = (with_quotes(sql, schema, reader, reserved=one) for one in (False, True))
        for text, marked in dict.fromkeys(quoted):
            tree = query_tree(text, reader.name)
            if tree is None or not keeps_all(tree, text, reader):
                continue
            told = [f"{name} is a name and was put in quotes" for name in marked]
            meaning = Meaning(_folded(tree, own), schema, like, asked, told)
            if not meaning.found():
                continue
            written = node_text(in_own_words(meaning.tree, own, reader), own.name)
            if foreign or not told:
                told.append(f"it was put into {own.title}'s SQL")
            if written and written not in seen:
                seen.add(written)
                yield Reading(written, tuple(dict.fromkeys(told)))


def holders(sql: str, schema: Schema) -> dict[str, tuple[str, ...]]:
    """The columns that a query names where they aren't known, each with the tables that have it."""
    tree = query_tree(sql, schema.dialect)
    if tree is None:
        return {}
    unknown = _unknown_columns(_folded(tree, dialect_of(schema)), schema)
    found = {
        node.name: tuple(ref.table for ref in schema.columns if _same(ref.column, node.name))
        for node, *_ in unknown
    }
    return {name: tables for name, tables in found.items() if tables}


def with_quotes(
    sql: str, schema: Schema, reader: Dialect, *, reserved: bool
) -> tuple[str, tuple[str, ...]]:
    """The query with the schema's names that need quotes in those of a dialect, and these names:
    those of several words or with other marks, and with `reserved` single words where only a name
    can stand."""
    named = {name for table in schema.tables for name in (table.own_name, table.name)}
    named.update(ref.column for ref in schema.columns)
    folded = {name: _fold(name, reader) for name in named if not name.isdigit()}
    shapes = {
        name: [piece.text.casefold() for piece in _solid(name, reader.name)]
        for name, plain in folded.items()
        if written_name(reader, plain) != plain
    }
    written = _solid(sql, reader.name)
    texts = [piece.text.casefold() for piece in written]
    edits: list[tuple[int, int, str]] = []
    at = 0
    while at < len(written):
        fitting = [n for n, shape in shapes.items() if shape and texts[at:][: len(shape)] == shape]
        name = max(fitting, key=len, default="")
        end = at + len(shapes.get(name, ()))
        alone = reserved and at > 0 and texts[at - 1] in _BEFORE_NAMES
        alone = alone and texts[end : end + 1] != ["("]
        if name and (end > at + 1 or alone):
            edits.append((written[at].start, written[end - 1].start + len(texts[end - 1]), name))
        at = max(end, at + 1)
    for start, end, name in reversed(edits):
        sql = sql[:start] + reader.quoted(name) + sql[end:]
    return sql, tuple(dict.fromkeys(name for _, _, name in edits))


def _solid(text: str, dialect: str) -> list[Piece]:
    return [one for one in pieces(text, dialect) if one.kind not in {"space", "comment"}]


def _fold(name: str, dialect: Dialect) -> str:
    return {"lower": name.lower, "upper": name.upper}.get(dialect.case, lambda: name)()


def _folded(tree: exp.Expr, dialect: Dialect) -> exp.Expr:
    """A copy whose names without quotes are as the engine looks for them."""
    copy = tree.copy()
    for node in copy.find_all(exp.Identifier) if dialect.case != "blind" else ():
        if not node.args.get("quoted"):
            node.set("this", _fold(node.name, dialect))
    return copy


def _same(one: str, other: str) -> bool:
    return one.casefold() == other.casefold()


def _names_at(select: exp.Select, schema: Schema) -> Names:
    """The names that can be used in a SELECT of a tree."""
    around: list[tuple[exp.Query, bool]] = []
    node: exp.Expr = select
    is_source = False
    while node.parent is not None:
        is_source |= isinstance(node, exp.From) or (
            isinstance(node.parent, exp.Join) and node.arg_key == "this"
        )
        node, key = node.parent, node.arg_key
        if isinstance(node, exp.Query):
            sees = isinstance(node, exp.Select) and not is_source and key not in {"with", "with_"}
            around.append((node, sees))
            is_source = is_source and not isinstance(node, exp.Select)
    names = Names(schema)
    for query, sees in reversed(around):
        names = names.within(query) if sees else names.with_queries(query)
    return names.within(select)


def _known(node: exp.Column, names: Names) -> tuple[bool, Source | None]:
    """True if a column's name means something, or may; and the source that has it."""
    at: Names | None = names
    name, alias = names.key(node.name), names.key(node.table)
    while at is not None:
        for source in at.sources:
            if alias not in {"", names.key(source.alias)}:
                continue
            if source.columns is None:
                return True, None
            if name in source.columns:
                return True, source
        if not alias and name in at.shown:
            return True, None
        at = at.outer
    # To SQLite a name in double quotes that names nothing is a text; here, if no table has it.
    quoted = names.schema.dialect == "sqlite" and not alias and node.this.args.get("quoted")
    return bool(quoted) and not any(one.column(node.name) for one in names.schema.tables), None


def _columns(tree: exp.Expr, schema: Schema) -> Iterator[tuple[exp.Column, exp.Select, Names]]:
    """The columns of a tree, each with its SELECT and the names that can be used there."""
    known: dict[int, Names] = {}
    for node in list(tree.find_all(exp.Column, bfs=False)):
        select = node.parent_select
        if not is_star(node) and isinstance(select, exp.Select):
            if id(select) not in known:
                known[id(select)] = _names_at(select, schema)
            yield node, select, known[id(select)]


def _unknown_columns(
    tree: exp.Expr, schema: Schema
) -> Iterator[tuple[exp.Column, exp.Select, Names]]:
    return (one for one in _columns(tree, schema) if not _known(one[0], one[2])[0])


def _unknown_tables(tree: exp.Expr, schema: Schema) -> Iterator[exp.Table]:
    key = Names(schema).key
    given = {key(one.alias) for one in tree.find_all(exp.CTE)}
    for node in tree.find_all(exp.Table, bfs=False):
        named = isinstance(node.this, exp.Identifier) and key(node.name) not in given
        if named and stored_table(schema, node) is None:
            yield node


@dataclass
class Meaning:
    """The names of a tree, which it changes, as a schema can mean them."""

    tree: exp.Expr
    schema: Schema
    like: Likened
    asked: str
    """The question, whose words tell the tables that it is about."""
    told: list[str] = field(default_factory=list)
    """The changes, in words."""

    def found(self) -> bool:
        """True if every name means something, once those that don't have the only meaning they can
        have; False where one has none or several."""
        for _ in range(_MENDS):
            table = next(_unknown_tables(self.tree, self.schema), None)
            unknown = next(_unknown_columns(self.tree, self.schema), None)
            if table is None and unknown is None:
                # A comparison of a column with itself is no meaning.
                compared = self.tree.find_all(exp.EQ, exp.NEQ, exp.LT, exp.GT, exp.LTE, exp.GTE)
                sides = ((node_text(one.this), node_text(one.expression)) for one in compared)
                return not any(one.lower() == other.lower() for one, other in sides)
            if table is not None:
                done = self._same_table(table) or bool(self._other_table(table))
            elif unknown is not None:
                done = self._column(*unknown)
            if not done:
                return False
        return False

    def _same_table(self, node: exp.Table) -> bool:
        """Reads the only table that is written like one that isn't there."""
        same = [t for t in self.schema.tables if self.like(t.own_name) == self.like(node.name)]
        if len(same) == 1:
            self.told.append(f"{node.name} was read as {same[0].name}")
            self._read(node, same[0])
        return len(same) == 1

    def _other_table(self, node: exp.Table) -> bool | None:
        """Reads the only table that has all the columns which are named in place of the only one
        that is read: if that isn't there and the question names the new one, or if the question
        doesn't name the old one and its rows aren't counted or shown whole. False where either may
        be meant, None where it is the old one."""
        select, key = node.parent_select, str.casefold
        alone = isinstance(node.parent, exp.From) and len(list(self.tree.find_all(exp.Select))) == 1
        if select is None or not alone or select.args.get("joins"):
            return None
        shown = {key(one.alias) for one in select.expressions if isinstance(one, exp.Alias)}
        held = {
            table.name: {key(one.name) for one in table.columns} for table in self.schema.tables
        }
        stored = set().union(*held.values())
        used = {
            key(one.name): one
            for one in select.find_all(exp.Column)
            if key(one.name) in stored or not one.this.args.get("quoted")
        }
        own = stored_table(self.schema, node)
        fitting = [
            table
            for table in self.schema.tables
            if table is not own and used.keys() - shown <= held[table.name]
        ]
        if not fitting or not used:
            return None
        named, whole = self._named(node.name, fitting[0].own_name), select.find(exp.Star)
        if own is not None and named and whole:
            return None
        meant = not named and not whole if own else self._named(fitting[0].own_name)
        if own is not None:
            mine, new = (
                {key(ref.column): ref for ref in self.schema.columns if ref.table == table.name}
                for table in (own, fitting[0])
            )
            # Columns that both have hold the same only where keys say so.
            both = mine.keys() & used.keys() - shown
            meant = meant and all(self._equal([mine[one], new[one]]) for one in both)
        if len(fitting) > 1 or not meant:
            return False
        columns = ", ".join(used[one].name for one in used if one not in shown)
        self.told.append(f"{fitting[0].name} has {columns} and was read in place of {node.name}")
        for one in select.find_all(exp.Column):
            one.set("table", None)
        node.set("alias", None)
        self._read(node, fitting[0])
        return True

    def _named(self, table: str, other: str = "") -> bool:
        """True if the question has all words of a table's name; with another table's name, any of
        those that only the first has."""
        said, words, others = (
            {self.like(word) for word in re.findall(r"[^\W_]+", text)}
            for text in (self.asked, table, other)
        )
        return bool((words - others or words) & said) if other else words <= said

    def _read(self, node: exp.Table, table: Table | None) -> None:
        """Makes a node of FROM a stored table."""
        assert table is not None
        for one in self.tree.find_all(exp.Column) if not node.alias else ():
            if one.table and one.table.lower() == node.name.lower():
                one.set("table", self._name(table.own_name))
        node.set("this", self._name(table.own_name))
        node.set("db", self._name(table.namespace) if table.namespace else None)

    def _name(self, name: str) -> exp.Identifier:
        quoted = written_name(dialect_of(self.schema), name) != name
        return exp.to_identifier(name, quoted=quoted)

    def _column(self, node: exp.Column, select: exp.Select, names: Names) -> bool:
        """Gives a column its only meaning: a column of the table it names, of another source that
        is there, of the table that should be read or of one that keys join; or a text in double
        quotes."""
        stored = [one for one in names.sources if one.table is not None]
        own = [one for one in stored if names.key(one.alias) == names.key(node.table)]
        apart = self._apart(node, stored)
        if node.table and not own:
            near = [one for one in stored if self._alike(one.node.name, node.table)]
            if found := self._held(near, node):
                return self._say(node, found, names)
            # A table that isn't read is meant: by its name, or by a name that nothing has.
            named = {ref: apart[ref] for ref in apart if self._alike(ref.table, node.table)}
            if named or apart:
                inside = not named and self._held(stored, node)
                return not inside and self._join(node, select, names, named or apart)
        found = self._held(stored, node, exact=True)
        # One key away there is another table that may be meant.
        close = [ref for ref, ways in apart.items() if ways and (not found or len(ways[0][1]) < 2)]
        found = found or self._held(own, node) or self._held(stored, node)
        if found:
            return self._say(node, found, names, close)
        start = stored[0].node if len(names.sources) == len(stored) == 1 else None
        other = self._other_table(start) if isinstance(start, exp.Table) else None
        if other is not None:
            return other
        return self._join(node, select, names, apart) or self._text(node)

    def _held(
        self, sources: Sequence[Source], node: exp.Column, *, exact: bool = False
    ) -> list[tuple[Source, ColumnRef]]:
        """The columns of sources that a column's name may stand for, those of just that name
        alone if there are any."""
        every = [
            (source, ColumnRef(source.table.name, column.name))
            for source in sources
            for column in (source.table.columns if source.table else ())
            if source.table and self._alike(column.name, node.name)
        ]
        same = [one for one in every if _same(one[1].column, node.name)]
        return same if same or exact else every

    def _alike(self, one: str, other: str) -> bool:
        return self.like(one) == self.like(other)

    def _say(
        self,
        node: exp.Column,
        found: Sequence[tuple[Source, ColumnRef]],
        names: Names,
        others: Sequence[ColumnRef] = (),
    ) -> bool:
        """Names a column that sources have: one of them, or those that keys say are equal; `others`
        may be meant as well."""
        source, ref = found[0]
        if not self._equal([*(one for _, one in found), *others]):
            return False
        before = node_text(node)
        node.set("this", self._name(ref.column))
        if node.table or len(names.sources) > 1:
            node.set("table", self._name(source.alias))
        self.told.append(f"{before} was read as {node_text(node)}, a column of {ref.table}")
        return True

    def _equal(self, refs: Sequence[ColumnRef]) -> bool:
        """True if keys join all columns with the first, so that they hold the same."""
        pairs = self.schema.key_pairs
        return all((refs[0], one) in pairs or (one, refs[0]) in pairs for one in refs[1:])

    def _apart(self, node: exp.Column, stored: Sequence[Source]) -> dict[ColumnRef, list[_Way]]:
        """The columns of a name in tables that aren't read, the nearest first, with the shortest
        ways to them over keys."""
        taken = {one.table.name for one in stored if one.table}
        ways = {
            ref: self._ways(stored, taken, ref.table)
            for ref in self.schema.columns
            if ref.table not in taken and _same(ref.column, node.name)
        }
        return dict(sorted(ways.items(), key=lambda one: len(one[1][0][1]) if one[1] else _STEPS))

    def _ways(self, starts: Sequence[Source], taken: Collection[str], goal: str) -> list[_Way]:
        """All shortest ways over keys from sources to a table. Once a way has gone from a row to
        the one it refers to, it doesn't go on to others that refer to that: what they are joined by
        would say nothing of the two."""
        both = [(key, key.table, key.target_table, False) for key in self.schema.foreign_keys]
        both += [(key, key.target_table, key.table, True) for key in self.schema.foreign_keys]
        ways: list[_Way] = [(one, ()) for one in starts]
        for _ in range(_STEPS):
            longer = {}
            for start, steps in ways:
                tables = [start.table.name if start.table else "", *(one[1] for one in steps)]
                up = any(not down for *_, down in steps)
                for key, near, far, down in both:
                    if near == tables[-1] and far not in {*taken, *tables} and not (down and up):
                        way = (*steps, (key, far, down))
                        longer[start.alias, tuple(each.pairs for each, *_ in way)] = (start, way)
            ways = list(longer.values())
            there = [one for one in ways if one[1][-1][1] == goal]
            if there:
                return there
        return []

    def _join(
        self,
        node: exp.Column,
        select: exp.Select,
        names: Names,
        apart: Mapping[ColumnRef, list[_Way]],
    ) -> bool:
        """Joins the only table that has a column, along the only shortest way over keys."""
        reached = [ref for ref, ways in apart.items() if ways]
        if not reached or not self._equal(reached) or len(apart[reached[0]]) > 1:
            return False
        # What is joined without a condition, or only by this column, isn't understood.
        joins = select.args.get("joins") or ()
        vague = any(not one.args.get("using") and one.args.get("on") in _NOTHING for one in joins)
        if vague or node.find_ancestor(exp.Join, exp.Select) is not select:
            return False
        start, keys = apart[reached[0]][0]
        aliases = {names.key(one.alias) for one in names.sources}
        if any(names.key(table) in aliases for _, table, _ in keys):
            return False
        if self._counts(select, names, [down for *_, down in keys]):
            return False
        self._qualify(select, names)
        near = start.alias
        for key, table, down in keys:
            pairs = [(far, here) for here, far in key.pairs] if down else key.pairs
            source = exp.Table()
            self._read(source, self.schema.table(table))
            on = [
                exp.EQ(this=self._said(near, one), expression=self._said(source.name, other))
                for one, other in pairs
            ]
            select.append("joins", exp.Join(this=source, on=exp.and_(*on)))
            near = source.name
        node.replace(self._said(near, reached[0]))
        by = " and ".join(f"{key.table}.{key.columns[0]}" for key, *_ in keys)
        self.told.append(f"{node.name} is a column of {reached[0].table}, joined by {by}")
        return True

    def _said(self, source: str, ref: ColumnRef) -> exp.Column:
        return exp.Column(this=self._name(ref.column), table=self._name(source))

    def _counts(self, select: exp.Select, names: Names, downs: Sequence[bool]) -> bool:
        """True if a SELECT counts, adds up or averages rows that a join repeats: what it has so
        far where a key leads to many, what is new where the last one leads to one."""
        for call in select.find_all(exp.Count, exp.Sum, exp.Avg):
            columns = [_known(one, names)[0] for one in call.find_all(exp.Column)]
            before = not columns or any(columns)
            repeats = any(downs) if before else not (downs[-1] or isinstance(call, exp.Count))
            if repeats and call.find(exp.Distinct) is None:
                return True
        return False

    def _qualify(self, select: exp.Select, names: Names) -> None:
        """Gives the columns and the star of a SELECT the names of their sources."""
        own = {id(one.node) for one in names.sources}
        for node, within, there in _columns(self.tree, self.schema):
            source = _known(node, there)[1]
            if node.table or source is None or id(source.node) not in own:
                continue
            part: exp.Expr = node
            while part.parent is not None and part.parent is not within:
                part = part.parent
            is_shown = there.key(node.name) in there.shown
            if not (is_shown and part.arg_key in {"order", "group", "having"}):
                node.set("table", self._name(source.alias))
        stars = [exp.Column(this=exp.Star(), table=self._name(one.alias)) for one in names.sources]
        shown = ([*stars] if isinstance(one, exp.Star) else [one] for one in select.expressions)
        select.set("expressions", [one for items in shown for one in items])

    def _text(self, node: exp.Column) -> bool:
        """Makes a text of a name in double quotes that a column is compared with."""
        compared = isinstance(node.parent, (exp.Binary, exp.In)) and node.arg_key != "this"
        quoted = not node.table and node.this.args.get("quoted")
        like = {self.like(ref.column) for ref in self.schema.columns}
        if not compared or not quoted or self.like(node.name) in like:
            return False
        self.told.append(f'"{node.name}" is a text and was put in single quotes')
        node.replace(exp.Literal.string(node.name))
        return True
