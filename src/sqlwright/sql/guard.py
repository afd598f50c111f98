"""The guard's second layer: the parse tree.

`check_query` is independent of the guarded connection and sufficient alone: the text must be one
query by SQLite's own tokens (`tokens.py`) and every node of its parse tree of a kind that queries
are made of; the bodies of the views it reads are held to the same.
"""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from functools import cache
from typing import TYPE_CHECKING

from sqlwright.errors import UnsafeQuery
from sqlwright.schema import fold_name
from sqlwright.sql.dialects import dialect_named
from sqlwright.sql.token_check import checked_tokens
from sqlwright.sql.tokens import UnreadableQuery, view_body
from sqlwright.sql.tree import StopReading, parse, source_read

if TYPE_CHECKING:
    from sqlglot import exp

    from sqlwright.sql.guards.rules import Own, Readable

_INTERNAL_TABLE = re.compile(
    r"pragma_.*|sqlite_(?!master$|schema$|autoindex_).*|dbstat|fts3tokenize|carray|bytecode|tables_used|"
    r"completion|csv|fsdir|generate_series|vtablog|wholenumber|zipfile",
    re.IGNORECASE,
)
"""Tables that SQLite or its extensions provide without anybody having made them."""
_ASK_EVERY = 512
"""Nodes of a tree between two checks for cancellation; chosen."""
_TABLE_FUNCTIONS = frozenset({"json_each", "json_tree", "jsonb_each", "jsonb_tree"})
"""Functions that may be read like tables."""


def check_query(
    sql: str,
    dialect: str = "sqlite",
    *,
    views: Mapping[str, str] | None = None,
    hidden: Container[str] = frozenset(),
    readable: Readable = (),
    own: Own | None = None,
    columns: Container[str] | None = None,
    stop: StopReading | None = None,
) -> frozenset[str]:
    """Raise UnsafeQuery unless the text is exactly one query that only reads. Returns the folded
    names of the tables and views it reads, those within views and its common table expressions
    included.

    `views` maps stored view names to their CREATE VIEW text; the bodies of the views the query
    reads, directly or through each other, are held to the same rules. `hidden` tables and views, by
    folded names, may not be read, not even through a view, and are said not to exist. `stop` is
    called every few milliseconds and may raise. The subclass UnreadableQuery says that the text
    looks like a mistake rather than an attack.

    In other dialects than SQLite's, `readable` are the only tables and views that may be read, by
    their stored names: "orders" in the usual namespace, "sales.orders" elsewhere, or in parts as
    `Table.path` has them, where a part may have a dot in it. The check folds: in PostgreSQL a name
    without quotes is put in lower case and then has to be the stored one, in DuckDB case makes no
    difference, in MySQL a name is what is written. In DuckDB "main" may be written out before a
    name of it. Elsewhere the usual namespace may be another one for each server or login, so a name
    with it (PostgreSQL's "public.orders", MySQL's "shop.orders") is listed by itself, beside
    "orders". `own` are functions of the database's own that may be called and types of it that may
    be cast to; without it there are none. `columns`, where given, are the names of all columns of
    the readable tables, as they are stored: in PostgreSQL `t.f` may call a function f of the
    database's own, so another name after a dot is refused, and in Oracle `f` may, so any other name
    is.
    """
    if dialect != "sqlite":
        # A question of a SQLite file, which is most of them, shouldn't wait for these.
        from sqlwright.sql.guards.check import check_text
        from sqlwright.sql.guards.rules import NOTHING_OWN

        return check_text(
            sql, dialect_named(dialect), readable=readable, own=own or NOTHING_OWN,
            columns=columns, stop=stop,
        )  # fmt: skip
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
        source = source_read(node)
        if source is None:
            continue
        name = _stored_name(source)
        if name in hidden and not _is_expression(node, name):
            unknown = _written(node)
            raise UnreadableQuery(f"no such table: {unknown}", cause="unknown_table", name=unknown)
        names.add(name)
    return names


def _is_expression(node: exp.Expr, name: str) -> bool:
    """True if the name is that of a common table expression of the node's query or of one around
    it."""
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
    """The name of the table that a table node or `x IN table` reads, as SQLite repeats it."""
    source = source_read(node)
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


def _stored_name(source: exp.Expr) -> str:
    """The folded name of a source. Raises UnsafeQuery for tables that nobody has stored."""
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
