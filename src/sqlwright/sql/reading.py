"""Reads a query's text: the tables and columns it reads, compares and orders by.

All of it is read from the parse tree; a text that is no query gives nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlwright.schema import ColumnRef, Schema, fold_name
from sqlwright.sql.dialects import dialect_named
from sqlwright.sql.facts import QueryFacts
from sqlwright.sql.pieces import pieces
from sqlwright.sql.shape.tree import shaped_tree
from sqlwright.sql.tokens import UnreadableQuery, tokenize
from sqlwright.sql.tree import node_text, parsed_token, query_tree, source_read

if TYPE_CHECKING:
    from sqlglot import exp

_MOMENTS = frozenset({"current_date", "current_time", "current_timestamp", "random", "randomblob"})
_VARYING = frozenset(
    """random rand gen_random_uuid uuid timeofday now clock_timestamp statement_timestamp sysdate
    transaction_timestamp get_current_timestamp get_current_time unix_timestamp""".split()  # noqa: SIM905
)
_DATE_FUNCTIONS = frozenset({"date", "time", "datetime", "julianday", "strftime", "unixepoch"})


def is_query(sql: str, dialect: str = "sqlite") -> bool:
    """True if the text reads as exactly one query, safe or not."""
    return query_tree(sql, dialect) is not None


def tables_used(sql: str, dialect: str = "sqlite") -> tuple[str, ...]:
    """The tables and views a query reads, as written, in order of appearance; empty when the text
    is no query. A namespace that isn't the dialect's usual one stands before the name."""
    from sqlglot import exp

    tree = query_tree(sql, dialect)
    if tree is None:
        return ()
    own = {fold_name(cte.alias) for cte in tree.find_all(exp.CTE)}
    sources = (source_read(node) for node in tree.find_all(exp.Table, exp.In, bfs=False))
    read = (source for source in sources if isinstance(source, (exp.Table, exp.Column)))
    names = (_with_namespace(source, dialect) for source in read)
    return tuple(dict.fromkeys(name for name in names if name and fold_name(name) not in own))


def _with_namespace(source: exp.Table | exp.Column, dialect: str) -> str:
    from sqlglot import exp

    name = str(source.name)
    if dialect == "sqlite" or not name or not isinstance(source.args.get("db"), exp.Identifier):
        return name
    usual = dialect_named(dialect).namespace
    return name if fold_name(source.db) == usual else f"{source.db}.{name}"


def read_facts(sql: str, schema: Schema) -> QueryFacts | None:
    """The facts of a query in the schema's dialect; None when the text is no query or is nested too
    deeply to be read."""
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
    facts = read_facts(sql, schema)
    places = {} if facts is None else _literal_places(sql, schema.dialect)
    found: list[ComparedText] = []
    if facts is None or not places:
        return ()
    for one in facts.comparisons:
        if one.left.column is None or one.operator not in {"=", "!=", "in", "like"}:
            continue
        negated = one.negated != (one.operator == "!=")
        for term in one.right:
            place = None if term.constant is None else places.get(term.constant.start)
            if place is not None:
                like = one.operator == "like"
                found.append(ComparedText(one.left.column, place[0], like, negated, *place[1:]))
    return tuple(sorted(found, key=lambda one: one.start))


def _literal_places(sql: str, dialect: str) -> dict[int | None, tuple[str, int, int]]:
    """Each text literal, and where it begins and ends in the query, by the index at which it begins
    in what the tree was read from."""
    if dialect != "sqlite":
        return _parsed_places(sql, dialect)
    literals = [piece for piece in pieces(sql) if piece.kind == "text"]
    places: dict[int | None, tuple[str, int, int]] = {}
    at = 0
    for token in tokenize(sql) if literals else ():
        if token.kind == "text":
            one = literals[len(places)]
            text = one.text[1:-1].replace("''", "'")
            places[at] = (text, one.start, one.start + len(one.text))
        at += len(parsed_token(token)) + 1
    return places


def _parsed_places(sql: str, dialect: str) -> dict[int | None, tuple[str, int, int]]:
    """The same in other dialects, whose texts the parser is given as they are."""
    from sqlglot import exp

    tree = shaped_tree(sql, dialect)
    literals = () if tree is None else tree.find_all(exp.Literal)
    return {
        one.meta["start"]: (one.name, one.meta["start"], one.meta["end"] + 1)
        for one in literals
        if one.is_string and {"start", "end"} <= one.meta.keys()
    }


def computes_within(sql: str, dialect: str = "sqlite") -> bool:
    """True when a query has another one within it that takes an aggregate or a limited number of
    rows; False of one that only lists."""
    from sqlglot import exp

    tree = shaped_tree(sql, dialect)
    inner = [] if tree is None else [one for one in tree.find_all(exp.Select) if one is not tree]
    return any(
        one.args.get("limit") is not None
        or any(each.find(exp.AggFunc) is not None for each in one.expressions)
        for one in inner
    )


def has_order_by(sql: str, dialect: str = "sqlite") -> bool:
    """True when the outermost query orders its rows."""
    tree = query_tree(sql, dialect)
    return tree is not None and tree.args.get("order") is not None


def varies_by_itself(sql: str, dialect: str = "sqlite") -> bool:
    """True when a query may give other rows another time over the same data: it asks for the day,
    the time or random numbers."""
    if dialect != "sqlite":
        return _varies(sql, dialect)
    try:
        tokens = tokenize(sql)
    except UnreadableQuery:
        return False
    words = {token.word for token in tokens}
    now = any(token.kind in {"text", "quoted"} and token.name == "now" for token in tokens)
    return bool(words & _MOMENTS) or (now and bool(words & _DATE_FUNCTIONS))


def _varies(sql: str, dialect: str) -> bool:
    """The same in other dialects, by the functions that are called."""
    from sqlglot import exp

    tree = query_tree(sql, dialect)
    varying = (
        exp.Rand, exp.Randn, exp.Uuid, exp.CurrentDate, exp.CurrentTime, exp.CurrentTimestamp,
        exp.CurrentDatetime, exp.Localtime, exp.Localtimestamp, exp.UtcDate, exp.UtcTime,
        exp.UtcTimestamp,
    )  # fmt: skip
    for node in () if tree is None else tree.walk():
        called = node.name.lower() if isinstance(node, exp.Anonymous) else ""
        if isinstance(node, varying) or called in _VARYING:
            return True
        if called == "age" and len(node.expressions) == 1:
            return True
        cast = isinstance(node, exp.Cast) and isinstance(node.this, exp.Literal)
        if cast and node.this.name.lower() in {"now", "today", "tomorrow", "yesterday"}:
            return True
    return False


def format_sql(sql: str, dialect: str = "sqlite") -> str:
    """The query over several lines, indented; the text itself when it is no query or when writing
    it anew would not read back as the same query."""
    tree = query_tree(sql, dialect)
    if tree is None:
        return sql
    text = node_text(tree, dialect, pretty=True)
    return text if query_tree(text, dialect) == tree else sql
