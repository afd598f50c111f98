"""Walks through the grammar, steered by a list of numbers, and schemas to walk over."""

from __future__ import annotations

from collections.abc import Sequence

import apsw

from sqlwright.local.form.sequence.grammar import (
    KEYWORDS,
    GrammarState,
    Keyword,
    Literal,
    Symbol,
    TableSymbol,
)
from sqlwright.schema import Column, ForeignKey, Schema, Table

VALUES = (
    "Ann",
    "",
    " stray ",
    "O'Hara",
    'a"b',
    "50%_\\",
    "日本",
    "now",
    7,
    -3,
    0.5,
    -2.5e300,
    "%Y",
)
CLOSING = ("end", ")", "=", "item_1", "distinct", "is_null", "1", "select", "asc", "sum", "rank")


def walk(choices: Sequence[int], schema: Schema) -> list[Symbol]:
    """The finished sequence that the choices lead to; without any left, the shortest way out."""
    state, symbols = GrammarState(), []
    steps = iter(choices)
    while not state.finished:
        options = list(_options(state, schema))
        step = next(steps, None)
        symbol = _closing(options) if step is None else options[step % len(options)]
        state = state.advance(symbol)
        symbols.append(symbol)
    return symbols


def _options(state: GrammarState, schema: Schema) -> list[Symbol]:
    allowed = state.allowed()
    options: list[Symbol] = [Keyword(index) for index in allowed.keywords.nonzero()[0].tolist()]
    if allowed.column:
        options += schema.columns
    if allowed.table:
        options += [TableSymbol(table.name) for table in schema.tables]
    if allowed.integer:
        options += [Literal(5)]
    elif allowed.text:
        options += [Literal(value) for value in VALUES if isinstance(value, str)]
    elif allowed.value:
        options += [Literal(value) for value in VALUES]
    return options


def _closing(options: Sequence[Symbol]) -> Symbol:
    names = {KEYWORDS[o.position]: o for o in options if isinstance(o, Keyword)}
    for name in CLOSING[:2]:
        if name in names:
            return names[name]
    pointers = [option for option in options if not isinstance(option, Keyword)]
    if pointers:
        return pointers[0]
    return next(names[name] for name in CLOSING if name in names)


def make_database(schema: Schema) -> apsw.Connection:
    """An empty database with the tables of a schema."""
    connection = apsw.Connection(":memory:")
    for table in schema.tables:
        columns = ", ".join(f"{_quoted(column.name)} {column.type}" for column in table.columns)
        connection.execute(f"CREATE TABLE {_quoted(table.name)} ({columns})")
    return connection


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def table(name: str, *columns: str, kind: str = "TEXT") -> Table:
    """A table of same-typed columns."""
    return Table(name, tuple(Column(column, kind) for column in columns))


ONE = Schema("one", (table("people", "id", "name", "age"),))
SHOP = Schema(
    "shop",
    (
        table("customer", "id", "name", "city", kind="INTEGER"),
        table("orders", "id", "customer_id", "seller_id", "total", kind="INTEGER"),
        table("line", "order_id", "product_id", "amount", kind="REAL"),
        table("product", "id", "name", "item_1", kind="BLOB"),
        table("person", "id", "boss", "name", kind="INT"),
    ),
    (
        ForeignKey("orders", ("customer_id",), "customer", ("id",)),
        ForeignKey("orders", ("seller_id",), "person", ("id",)),
        ForeignKey("line", ("order_id",), "orders", ("id",)),
        ForeignKey("line", ("product_id",), "product", ("id",), inferred=True),
        ForeignKey("person", ("boss",), "person", ("id",)),
    ),
)
ODD = Schema(
    "odd",
    (
        table("order", "group", "select", "2nd", "a b", 'say "x"'),
        table("order_2", "rowid x", "é", "Ünï", "Order"),
        table("subquery_1", "item_1", "derived", "where"),
    ),
    (
        ForeignKey("order", ("group", "select"), "order_2", ("é", "Ünï")),
        ForeignKey("order_2", ("Order",), "subquery_1", ("item_1",)),
    ),
)
APART = Schema("apart", (table("a", "x", "y"), table("b", "x", "z")))
SCHEMAS = (ONE, SHOP, ODD, APART)
