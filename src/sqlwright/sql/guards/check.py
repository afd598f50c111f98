"""The tree check of a query in any dialect but SQLite's."""

from __future__ import annotations

from collections.abc import Container

from sqlwright.errors import UnsafeQuery
from sqlwright.sql.dialects import Dialect
from sqlwright.sql.guards.agreement import agreed_text
from sqlwright.sql.guards.attributes import check_columns
from sqlwright.sql.guards.calls import check_tokens
from sqlwright.sql.guards.lexicon import cut
from sqlwright.sql.guards.nodes import check_node
from sqlwright.sql.guards.rules import Own, Readable, Rules, rules_of
from sqlwright.sql.guards.sources import check_sources
from sqlwright.sql.guards.tables import listed, read_name
from sqlwright.sql.token_check import SQL_LENGTH, TOKENS
from sqlwright.sql.tokens import SqlToken, UnreadableQuery
from sqlwright.sql.tree import StopReading, parse_text

_ASK_EVERY = 512
"""Nodes of a tree between two checks for cancellation; chosen."""


def check_text(
    sql: str,
    dialect: Dialect,
    *,
    readable: Readable,
    own: Own,
    columns: Container[str] | None,
    stop: StopReading | None,
) -> frozenset[str]:
    """The names of the tables that a query reads and of its expressions, as they are listed. Raises
    UnsafeQuery."""
    from sqlglot import exp

    rules = rules_of(dialect)
    tokens = _tokens(sql, rules)
    check_tokens(tokens, rules, own)
    tree = parse_text(agreed_text(tokens, dialect), dialect.name, stop)
    tables = listed(readable, rules)
    folded = own.folded()
    names: set[str] = set()
    read: set[tuple[str, ...]] = set()
    for number, node in enumerate(tree.walk()):
        if stop is not None and not number % _ASK_EVERY:
            stop()
        check_node(node, rules, folded)
        if isinstance(node, exp.Table) and not isinstance(node.this, exp.Func):
            names.add(read_name(node, tables, rules))
            read.add(tuple(part.name for part in node.parts))
    check_sources(tokens, read)
    try:
        check_columns(tree, rules, columns, folded)
    except RecursionError:
        raise UnreadableQuery("too many expressions of the query build on each other") from None
    return frozenset(names)


def _tokens(sql: str, rules: Rules) -> list[SqlToken]:
    if len(sql) > SQL_LENGTH:
        raise UnsafeQuery(f"the query is longer than {SQL_LENGTH:,} characters")
    if "\0" in sql:
        raise UnreadableQuery("the query's text contains a NUL character")
    if any("\ud800" <= c <= "\udfff" for c in sql):
        raise UnreadableQuery("the query's text is not valid Unicode")
    tokens = cut(sql, rules.lexicon)
    if len(tokens) > TOKENS:
        raise UnsafeQuery(f"the query has more than {TOKENS:,} words and signs")
    return tokens
