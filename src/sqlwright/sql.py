"""The guard's second layer, the parse tree, and what else has to read SQL text.

`check_query` is independent of the guarded connection and sufficient alone: the text must be one
query by SQLite's own tokens (`tokens.py`) and every node of its parse tree of a kind that queries
are made of; the bodies of the views it reads are held to the same.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from sqlwright.errors import UnsafeQuery
from sqlwright.schema import ColumnRef, Schema, Table
from sqlwright.tokens import UnreadableQuery, checked_tokens, pieces, tokenize, view_body

if TYPE_CHECKING:
    from sqlglot import exp

_INTERNAL_TABLE = re.compile(
    r"pragma_.*|sqlite_(?!master$|schema$|autoindex_).*|dbstat|fts3tokenize|carray|bytecode|tables_used|"
    r"completion|csv|fsdir|generate_series|vtablog|wholenumber|zipfile",
    re.IGNORECASE,
)
"""Tables that SQLite or its extensions provide without anybody having made them."""


_KEPT_LENGTH = 4_000
"""Characters of the longest query whose tree is kept."""


def check_query(
    sql: str,
    dialect: str = "sqlite",
    *,
    views: Mapping[str, str] | None = None,
    hidden: Collection[str] = frozenset(),
) -> None:
    """Raise UnsafeQuery unless the text is exactly one query that only reads.

    `views` maps stored view names to their CREATE VIEW text; the bodies of the views the query
    reads, directly or through each other, are held to the same rules. `hidden` are the tables and
    views, in lower case, that may not be read, not even through a view. The subclass
    UnreadableQuery says that the text looks like a mistake rather than an attack.
    """
    if dialect != "sqlite":
        raise UnsafeQuery(f"queries in the dialect '{dialect}' can't be checked yet")
    bodies = {name.lower(): create for name, create in (views or {}).items()}
    waiting = list(_check_text(sql, hidden))
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in bodies or name in seen:
            continue
        seen.add(name)
        try:
            waiting += _check_text(view_body(bodies[name]), hidden)
        except UnsafeQuery as error:
            raise UnsafeQuery(f"the view {name} is not safe to read: {error}") from None


def _check_text(sql: str, hidden: Collection[str] = frozenset()) -> set[str]:
    """The names of the tables that the query reads, in lower case. Raises UnsafeQuery."""
    tree = _parse(" ".join(token.text for token in checked_tokens(sql)))
    allowed, banned = _nodes()
    names: set[str] = set()
    try:
        for node in tree.walk():
            if not isinstance(node, allowed) or isinstance(node, banned):
                raise UnsafeQuery(f"a query may not contain {type(node).__name__.upper()}")
            if node.key in {"table", "in"}:
                names.update(_table_names(node))
    except RecursionError:
        raise UnsafeQuery("the query is nested too deeply") from None
    # A common table expression of a hidden table's name is refused, too: better one too many.
    for name in sorted(names.intersection(hidden)):
        raise UnsafeQuery(f"reading {name} is not allowed")
    return names


@cache
def _nodes() -> tuple[tuple[type[exp.Expr], ...], tuple[type[exp.Expr], ...]]:
    """Kinds of nodes that make up queries, and exceptions among them.

    Functions are all allowed here: `tokens.py` has checked each one's written name.
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


def _table_names(node: exp.Expr) -> Iterator[str]:
    """What a table node or `x IN table` reads. Raises UnsafeQuery for what can't be stored."""
    source = _source(node)
    if source is None:
        return
    name = str(source.name).lower()
    place = str(source.args.get("db") or source.args.get("table") or "").lower().strip('"')
    if place not in {"", "main"} or source.args.get("catalog"):
        raise UnsafeQuery(f"reading from {place} is not allowed")
    if _INTERNAL_TABLE.fullmatch(name):
        raise UnsafeQuery(f"reading {name} is not allowed")
    yield name


def _source(node: exp.Expr) -> exp.Table | exp.Column | None:
    """The table that a table node or `x IN table` names."""
    from sqlglot import exp

    source = node.args.get("field") if isinstance(node, exp.In) else node
    return source if isinstance(source, (exp.Table, exp.Column)) else None


def _parse(sql: str) -> exp.Query | exp.Values:
    """The tree of the one query in a text of tokens joined by spaces. Raises UnsafeQuery when it
    isn't one. Not to be changed: the check shares it with all else that is asked of a query."""
    tree = _kept(sql) if len(sql) <= _KEPT_LENGTH else _read(sql)
    if isinstance(tree, UnsafeQuery):
        raise type(tree)(str(tree))
    return tree


@lru_cache(maxsize=128)
def _kept(sql: str) -> exp.Query | exp.Values | UnsafeQuery:
    return _read(sql)


def _read(sql: str) -> exp.Query | exp.Values | UnsafeQuery:
    """The tree, or why there is none."""
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    try:
        trees = [tree for tree in sqlglot.parse(sql, read="sqlite") if tree is not None]
    except SqlglotError as error:
        return UnreadableQuery(f"the query can't be read: {_first_problem(error)}")
    except RecursionError:
        return UnsafeQuery("the query is nested too deeply")
    if len(trees) != 1:
        return UnsafeQuery("only one statement may run")
    tree = trees[0]
    if not isinstance(tree, (exp.Query, exp.Values)):
        return UnsafeQuery("only a query may run")
    return tree


def _first_problem(error: Exception) -> str:
    details = getattr(error, "errors", None)
    if not details:
        return str(error).splitlines()[0]
    description = str(details[0].get("description") or "").rstrip(".")
    return f"{description} near {details[0].get('highlight')!r}"


def query_tree(sql: str) -> exp.Query | exp.Values | None:
    """The tree, or None when the text is no query. Not to be changed: the check shares it."""
    try:
        tokens = tokenize(sql)
        # Other statements would make the parser log that it falls back.
        if not tokens or tokens[0].word not in {"select", "with", "values"}:
            return None
        return _parse(" ".join(token.text for token in tokens))
    except UnsafeQuery:
        return None


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
    own = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    sources = (_source(node) for node in tree.find_all(exp.Table, exp.In, bfs=False))
    names = (str(source.name) for source in sources if source is not None)
    return tuple(dict.fromkeys(name for name in names if name and name.lower() not in own))


def columns_used(sql: str, schema: Schema) -> tuple[ColumnRef, ...]:
    """The stored columns a query names, by their stored names, in order of appearance.

    `*` stands for every column of its tables, but not in `count(*)`. Empty when the text is no
    query.
    """
    from sqlglot import exp

    tree = query_tree(sql)
    if tree is None:
        return ()
    scopes = _scopes(tree, schema)
    found: dict[ColumnRef, None] = {}
    for node in tree.find_all(exp.Column, exp.Star, exp.Join, bfs=False):
        found.update(dict.fromkeys(_stored_columns(node, scopes)))
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
    scopes = _scopes(tree, schema)
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
                for ref in _stored_columns(column, scopes)
            )
    return tuple(sorted(found, key=lambda one: one.start))


def _literal_places(sql: str) -> dict[int, int]:
    """Where each text literal begins in what the tree was read from, and which one it is."""
    places: dict[int, int] = {}
    at = 0
    for token in tokenize(sql):
        if token.kind == "text":
            places[at] = len(places)
        at += len(token.text) + 1
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


def _scopes(tree: exp.Expr, schema: Schema) -> dict[int, list[tuple[str, Table]]]:
    """The stored tables each SELECT reads, with their aliases, by the identity of its node."""
    from sqlglot import exp

    own = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    scopes: dict[int, list[tuple[str, Table]]] = {}
    for source in tree.find_all(exp.Table):
        table = schema.table(source.name)
        if table is not None and source.name.lower() not in own:
            select = source.find_ancestor(exp.Select)
            scopes.setdefault(id(select), []).append((source.alias_or_name.lower(), table))
    return scopes


def _stored_columns(
    node: exp.Expr, scopes: Mapping[int, list[tuple[str, Table]]]
) -> Iterator[ColumnRef]:
    from sqlglot import exp

    select = node.find_ancestor(exp.Select)
    here = scopes.get(id(select), [])
    if isinstance(node, exp.Join):
        for name in node.args.get("using") or ():
            yield from (_ref(table, name.name) for _, table in here if table.column(name.name))
    elif isinstance(node, exp.Star):
        if isinstance(node.parent, (exp.Select, exp.Column)):
            wanted = node.parent.table.lower() if isinstance(node.parent, exp.Column) else ""
            for alias, table in here:
                if wanted in {"", alias}:
                    yield from (ColumnRef(table.name, column.name) for column in table.columns)
    elif isinstance(node, exp.Column):
        wanted = node.table.lower()
        while select is not None:
            for alias, table in scopes.get(id(select), []):
                if wanted in {"", alias} and table.column(node.name):
                    yield _ref(table, node.name)
                    return
            select = select.find_ancestor(exp.Select)


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
    try:
        text = tree.sql(dialect="sqlite", pretty=True)
    except (ValueError, RecursionError):
        return sql
    return text if query_tree(text) == tree else sql
