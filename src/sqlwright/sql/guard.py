"""The guard's second layer, the parse tree, and what else has to read SQL text.

`check_query` is independent of the guarded connection and sufficient alone: the text must be one
query by SQLite's own tokens (`tokens.py`) and every node of its parse tree of a kind that queries
are made of; the bodies of the views it reads are held to the same.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from sqlwright.errors import UnsafeQuery
from sqlwright.schema import ColumnRef, Schema, Table, fold_name
from sqlwright.sql.token_check import checked_tokens
from sqlwright.sql.tokens import UnreadableQuery, pieces, tokenize, view_body
from sqlwright.sql.tree import (
    StopReading,
    enclosing_selects,
    node_text,
    parse,
    parsed_token,
    query_tree,
)

if TYPE_CHECKING:
    from sqlglot import exp

_INTERNAL_TABLE = re.compile(
    r"pragma_.*|sqlite_(?!master$|schema$|autoindex_).*|dbstat|fts3tokenize|carray|bytecode|tables_used|"
    r"completion|csv|fsdir|generate_series|vtablog|wholenumber|zipfile",
    re.IGNORECASE,
)
"""Tables that SQLite or its extensions provide without anybody having made them."""
_ASK_EVERY = 512
"""Nodes of a tree."""
_TABLE_FUNCTIONS = frozenset({"json_each", "json_tree", "jsonb_each", "jsonb_tree"})
"""Functions that may be read like tables."""


def check_query(
    sql: str,
    dialect: str = "sqlite",
    *,
    views: Mapping[str, str] | None = None,
    hidden: Container[str] = frozenset(),
    stop: StopReading | None = None,
) -> frozenset[str]:
    """Raise UnsafeQuery unless the text is exactly one query that only reads; what it reads by
    name: tables, views and what is in them, its own common table expressions included.

    `views` maps stored view names to their CREATE VIEW text; the bodies of the views the query
    reads, directly or through each other, are held to the same rules. `hidden` tables and views, by
    folded names, may not be read, not even through a view, and are said not to exist. `stop` is
    called every few milliseconds and may raise. The subclass UnreadableQuery says that the text
    looks like a mistake rather than an attack.
    """
    if dialect != "sqlite":
        raise UnsafeQuery(f"queries in the dialect '{dialect}' can't be checked yet")
    bodies = {fold_name(name): create for name, create in (views or {}).items()}
    names = _check_text(sql, hidden, stop)
    waiting = list(names)
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        # What is hidden and got here is a name of the query's own.
        if name not in bodies or name in seen or name in hidden:
            continue
        seen.add(name)
        try:
            found = _check_text(view_body(bodies[name]), hidden, stop)
        except UnsafeQuery as error:
            raise UnsafeQuery(f"the view {name} is not safe to read: {error}") from None
        waiting += found
        names |= found
    return frozenset(names)


def _check_text(sql: str, hidden: Container[str], stop: StopReading | None) -> set[str]:
    """The folded names of the tables that the query reads. Raises UnsafeQuery."""
    tree = parse(checked_tokens(sql), stop)
    allowed, banned = _nodes()
    names: set[str] = set()
    for number, node in enumerate(tree.walk()):
        if stop is not None and not number % _ASK_EVERY:
            stop()
        if not isinstance(node, allowed) or isinstance(node, banned):
            raise UnsafeQuery(f"a query may not contain {type(node).__name__.upper()}")
        source = _source(node)
        if source is None:
            continue
        name = _stored_name(source)
        if name in hidden and not _is_expression(node, name):
            raise UnreadableQuery(f"no such table: {_written(node)}")
        names.add(name)
    return names


def _is_expression(node: exp.Expr, name: str) -> bool:
    """Whether a name is a common table expression's there: of its own query or one around it."""
    if "." in _written(node):
        return False
    above: exp.Expr | None = node
    while above is not None:
        expressions = above.args.get("with_")
        if expressions and any(fold_name(cte.alias) == name for cte in expressions.expressions):
            return True
        above = above.parent
    return False


def _written(node: exp.Expr) -> str:
    """What a table node or `x IN table` reads, as SQLite repeats it."""
    source = _source(node)
    assert source is not None
    place = str(source.args.get("db") or source.args.get("table") or "").strip('"')
    return f"{place}.{_named(source)}" if place else _named(source)


def _named(source: exp.Expr) -> str:
    """The name of a table, also of one that is written like a function."""
    return str(source.name or getattr(source.this, "name", ""))


@cache
def _nodes() -> tuple[tuple[type[exp.Expr], ...], tuple[type[exp.Expr], ...]]:
    """Kinds of nodes that make up queries, and exceptions among them.

    Functions are all allowed here: `token_check.py` has checked each one's written name.
    """
    from sqlglot import exp

    allowed = (
        exp.Table,
        exp.Query,
        exp.Condition,
        exp.Alias,
        exp.CTE,
        exp.DataType,
        exp.DataTypeParam,
        exp.Distinct,
        exp.Filter,
        exp.From,
        exp.Group,
        exp.Having,
        exp.Identifier,
        exp.JSONKeyValue,
        exp.JSONPath,
        exp.JSONPathPart,
        exp.Join,
        exp.Limit,
        exp.Offset,
        exp.Order,
        exp.Ordered,
        exp.Star,
        exp.TableAlias,
        exp.Tuple,
        exp.Values,
        exp.Var,
        exp.Where,
        exp.WindowSpec,
        exp.With,
        exp.WithinGroup,
    )
    banned = (exp.Parameter, exp.Placeholder, exp.SessionParameter, exp.DML, exp.DDL, exp.Command)
    return allowed, banned


def _source(node: exp.Expr) -> exp.Expr | None:
    """What a table node or `x IN table` reads."""
    from sqlglot import exp

    if isinstance(node, exp.In):
        return node.args.get("field") or node.args.get("unnest")
    return node if isinstance(node, exp.Table) else None


def _stored_name(source: exp.Expr) -> str:
    """The folded name of what is read. Raises UnsafeQuery for what nobody has stored."""
    from sqlglot import exp

    call = source.this if isinstance(source, exp.Table) else source
    if isinstance(call, exp.Func):
        name = fold_name(call.name)
        if name not in _TABLE_FUNCTIONS:
            raise UnsafeQuery(f"reading from the function {name or call.key} is not allowed")
        return name
    parts = source.parts if isinstance(source, (exp.Table, exp.Column)) else ()
    if not parts or not all(isinstance(part, exp.Identifier) for part in parts):
        raise UnsafeQuery("a query may only read what an identifier names")
    *places, name = (fold_name(part.name) for part in parts)
    if places not in ([], ["main"]):
        raise UnsafeQuery(f"reading from {'.'.join(places)} is not allowed")
    if _INTERNAL_TABLE.fullmatch(name):
        raise UnsafeQuery(f"reading {name} is not allowed")
    return name


def is_query(sql: str) -> bool:
    """Whether the text reads as exactly one query, safe or not."""
    return query_tree(sql) is not None


def tables_used(sql: str) -> tuple[str, ...]:
    """The tables and views a query reads, as written, in order of appearance; empty when the text
    is no query."""
    from sqlglot import exp

    tree = query_tree(sql)
    if tree is None:
        return ()
    own = {fold_name(cte.alias) for cte in tree.find_all(exp.CTE)}
    sources = (_source(node) for node in tree.find_all(exp.Table, exp.In, bfs=False))
    names = (str(source.name) for source in sources if isinstance(source, (exp.Table, exp.Column)))
    return tuple(dict.fromkeys(name for name in names if name and fold_name(name) not in own))


def columns_used(sql: str, schema: Schema) -> tuple[ColumnRef, ...]:
    """The stored columns a query names, by their stored names, in order of appearance.

    `*` stands for every column of its tables, but not in `count(*)`. Empty when the text is no
    query.
    """
    from sqlglot import exp

    tree = query_tree(sql)
    if tree is None:
        return ()
    scopes = _Scopes(tree, schema)
    found: dict[ColumnRef, None] = {}
    for node in tree.find_all(exp.Column, exp.Star, exp.Join, bfs=False):
        found.update(dict.fromkeys(scopes.stored_columns(node)))
    return tuple(found)


class ComparedText(NamedTuple):
    """A text in a query that a stored column is compared with."""

    column: ColumnRef
    text: str
    pattern: bool
    """Whether the column is asked to be LIKE it."""
    negated: bool
    start: int
    """Where the literal begins in the query, its quote included."""
    end: int


def compared_texts(sql: str, schema: Schema) -> tuple[ComparedText, ...]:
    """The texts that a query compares with stored columns (=, <>, IN, LIKE), as they follow one
    another in it. Empty when the text is no query; columns inside of expressions don't count."""
    from sqlglot import exp

    literals = [piece for piece in pieces(sql) if piece.kind == "text"]
    tree = query_tree(sql) if literals else None
    if tree is None:
        return ()
    places = _literal_places(sql)
    scopes = _Scopes(tree, schema)
    found: list[ComparedText] = []
    for node in tree.find_all(exp.EQ, exp.NEQ, exp.In, exp.Like):
        negated = isinstance(node, exp.NEQ) or isinstance(node.parent, exp.Not)
        for column, literal in _compared(node):
            number = places.get(literal.meta.get("start", -1))
            if number is None:
                continue
            start, written = literals[number].start, literals[number].text
            text = written[1:-1].replace("''", "'")
            found += (
                ComparedText(
                    ref, text, isinstance(node, exp.Like), negated, start, start + len(written)
                )
                for ref in scopes.stored_columns(column)
            )
    return tuple(sorted(found, key=lambda one: one.start))


def _literal_places(sql: str) -> dict[int, int]:
    """Where each text literal begins in what the tree was read from, and which one it is."""
    places: dict[int, int] = {}
    at = 0
    for token in tokenize(sql):
        if token.kind == "text":
            places[at] = len(places)
        at += len(parsed_token(token)) + 1
    return places


def _compared(node: exp.Expr) -> Iterator[tuple[exp.Column, exp.Literal]]:
    """Pairs of a column and a text that a comparison compares directly."""
    from sqlglot import exp

    left = node.this
    others = node.expressions if isinstance(node, exp.In) else [node.args.get("expression")]
    for right in others:
        pair = (left, right)
        if isinstance(left, exp.Literal) and not isinstance(node, exp.Like):
            pair = (right, left)
        column, literal = pair
        if isinstance(column, exp.Column) and isinstance(literal, exp.Literal):
            yield column, literal


class _Scopes:
    """The stored tables that each SELECT of a tree reads, and the columns that stand for them."""

    def __init__(self, tree: exp.Expr, schema: Schema) -> None:
        from sqlglot import exp

        self._selects = enclosing_selects(tree)
        # By alias, the first where several have the same; by the identity of the SELECT.
        self._tables: dict[int, dict[str, Table]] = {}
        own = {fold_name(cte.alias) for cte in tree.find_all(exp.CTE)}
        for source in tree.find_all(exp.Table):
            table = schema.table(source.name)
            if table is not None and fold_name(source.name) not in own:
                here = self._tables.setdefault(id(self._selects.get(id(source))), {})
                here.setdefault(fold_name(source.alias_or_name), table)

    def stored_columns(self, node: exp.Expr) -> Iterator[ColumnRef]:
        """What a column, a star or the USING of a join stands for."""
        from sqlglot import exp

        select = self._selects.get(id(node))
        if isinstance(node, exp.Join):
            for name in node.args.get("using") or ():
                for table in self._named("", select):
                    if table.column(name.name):
                        yield _ref(table, name.name)
        elif isinstance(node, exp.Star):
            if isinstance(node.parent, (exp.Select, exp.Column)):
                of = fold_name(node.parent.table) if isinstance(node.parent, exp.Column) else ""
                for table in self._named(of, select):
                    yield from (ColumnRef(table.name, column.name) for column in table.columns)
        elif isinstance(node, exp.Column):
            of = fold_name(node.table)
            while select is not None:
                for table in self._named(of, select):
                    if table.column(node.name):
                        yield _ref(table, node.name)
                        return
                select = self._selects.get(id(select))

    def _named(self, alias: str, select: exp.Select | None) -> Iterable[Table]:
        """The table of that alias, or all of the SELECT's, each once."""
        here = self._tables.get(id(select), {})
        if alias:
            return [here[alias]] if alias in here else []
        return {table.name: table for table in here.values()}.values()


def _ref(table: Table, name: str) -> ColumnRef:
    column = table.column(name)
    assert column is not None
    return ColumnRef(table.name, column.name)


def has_order_by(sql: str) -> bool:
    """True when the outermost query orders its rows."""
    tree = query_tree(sql)
    return tree is not None and tree.args.get("order") is not None


def format_sql(sql: str) -> str:
    """The query over several lines, indented; the text itself when it is no query or when writing
    it anew would not read back as the same query."""
    tree = query_tree(sql)
    if tree is None:
        return sql
    text = node_text(tree, pretty=True)
    return text if query_tree(text) == tree else sql
