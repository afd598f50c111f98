"""Reads a query's text: the tables and columns it reads, compares and orders by.

All of it is read from the parse tree; a text that is no query gives nothing.
"""

from __future__ import annotations

from typing import NamedTuple

from sqlwright.schema import ColumnRef, Schema, fold_name
from sqlwright.sql.facts import QueryFacts
from sqlwright.sql.tokens import UnreadableQuery, pieces, tokenize
from sqlwright.sql.tree import node_text, parsed_token, query_tree, source_read

_MOMENTS = frozenset({"current_date", "current_time", "current_timestamp", "random", "randomblob"})
_DATE_FUNCTIONS = frozenset({"date", "time", "datetime", "julianday", "strftime", "unixepoch"})


def is_query(sql: str) -> bool:
    """True if the text reads as exactly one query, safe or not."""
    return query_tree(sql) is not None


def tables_used(sql: str) -> tuple[str, ...]:
    """The tables and views a query reads, as written, in order of appearance; empty when the text
    is no query."""
    from sqlglot import exp

    tree = query_tree(sql)
    if tree is None:
        return ()
    own = {fold_name(cte.alias) for cte in tree.find_all(exp.CTE)}
    sources = (source_read(node) for node in tree.find_all(exp.Table, exp.In, bfs=False))
    names = (str(source.name) for source in sources if isinstance(source, (exp.Table, exp.Column)))
    return tuple(dict.fromkeys(name for name in names if name and fold_name(name) not in own))


def read_facts(sql: str, schema: Schema) -> QueryFacts | None:
    """The facts of a query; None when the text is no query or is nested too deeply to be read."""
    from sqlwright.sql.tree_facts.query import query_facts

    return query_facts(sql, schema)


def columns_used(sql: str, schema: Schema) -> tuple[ColumnRef, ...]:
    """The stored columns a query names, by their stored names, in order of appearance.

    `*` stands for every column of its tables, but not in `count(*)`. Empty when the text is no
    query.
    """
    facts = read_facts(sql, schema)
    return () if facts is None else facts.columns


class ComparedText(NamedTuple):
    """A text in a query that a stored column is compared with."""

    column: ColumnRef
    text: str
    pattern: bool
    """True if the column is asked to be LIKE it."""
    negated: bool
    start: int
    """Index at which the literal begins in the query, its quote included."""
    end: int


def compared_texts(sql: str, schema: Schema) -> tuple[ComparedText, ...]:
    """The texts that a query compares with stored columns (=, <>, IN, LIKE), as they follow one
    another in it. Empty when the text is no query; columns inside of expressions don't count."""
    literals = [piece for piece in pieces(sql) if piece.kind == "text"]
    facts = read_facts(sql, schema) if literals else None
    if facts is None:
        return ()
    places = _literal_places(sql)
    found: list[ComparedText] = []
    for one in facts.comparisons:
        if one.left.column is None or one.operator not in {"=", "!=", "in", "like"}:
            continue
        negated = one.negated != (one.operator == "!=")
        for term in one.right:
            number = None if term.constant is None else places.get(term.constant.start)
            if number is None:
                continue
            start, written = literals[number].start, literals[number].text
            text = written[1:-1].replace("''", "'")
            like, end = one.operator == "like", start + len(written)
            found.append(ComparedText(one.left.column, text, like, negated, start, end))
    return tuple(sorted(found, key=lambda one: one.start))


def _literal_places(sql: str) -> dict[int | None, int]:
    """Number of each text literal by the index at which each begins in what the tree was read
    from."""
    places: dict[int | None, int] = {}
    at = 0
    for token in tokenize(sql):
        if token.kind == "text":
            places[at] = len(places)
        at += len(parsed_token(token)) + 1
    return places


def computes_within(sql: str) -> bool:
    """True when a query has another one within it that takes an aggregate or a limited number of
    rows; False of one that only lists."""
    from sqlglot import exp

    tree = query_tree(sql)
    inner = [] if tree is None else [one for one in tree.find_all(exp.Select) if one is not tree]
    return any(
        one.args.get("limit") is not None
        or any(each.find(exp.AggFunc) is not None for each in one.expressions)
        for one in inner
    )


def has_order_by(sql: str) -> bool:
    """True when the outermost query orders its rows."""
    tree = query_tree(sql)
    return tree is not None and tree.args.get("order") is not None


def varies_by_itself(sql: str) -> bool:
    """True when a query may give other rows another time over the same data: it asks for the day,
    the time or random numbers."""
    try:
        tokens = tokenize(sql)
    except UnreadableQuery:
        return False
    words = {token.word for token in tokens}
    now = any(token.kind in {"text", "quoted"} and token.name == "now" for token in tokens)
    return bool(words & _MOMENTS) or (now and bool(words & _DATE_FUNCTIONS))


def format_sql(sql: str) -> str:
    """The query over several lines, indented; the text itself when it is no query or when writing
    it anew would not read back as the same query."""
    tree = query_tree(sql)
    if tree is None:
        return sql
    text = node_text(tree, pretty=True)
    return text if query_tree(text) == tree else sql
