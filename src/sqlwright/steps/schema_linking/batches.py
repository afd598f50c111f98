"""Columns in groups that a prompt has room for, table by table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sqlwright.llm.metering import estimated_tokens
from sqlwright.schema import Column, ColumnRef, Schema, SchemaView, Table

PER_COLUMN = 24
"""Tokens a shown column may need beyond its name, type and description: examples, marks."""


def column_batches(
    schema: Schema, columns: Sequence[ColumnRef], *, tokens: int, most: int
) -> list[list[ColumnRef]]:
    """The columns in groups of at most `most` columns and `tokens`, estimated, in the order of the
    schema; a table is only divided if it alone is too large."""
    wanted = set(columns)
    batches: list[list[ColumnRef]] = []
    filled = 0
    for table in schema.tables:
        for part, size in _parts(table, wanted, tokens, most):
            fits = len(batches[-1]) + len(part) <= most if batches else False
            if fits and filled + size <= tokens:
                batches[-1] += part
                filled += size
            else:
                batches.append(list(part))
                filled = size
    return batches


def _parts(
    table: Table, wanted: set[ColumnRef], tokens: int, most: int
) -> Iterator[tuple[list[ColumnRef], int]]:
    """A table's columns, in as many parts as one call each can hold, and each part's tokens."""
    part: list[ColumnRef] = []
    size = 0
    for column in table.columns:
        ref = ColumnRef(table.name, column.name)
        if ref not in wanted:
            continue
        more = _tokens(column)
        if part and (len(part) >= most or size + more > tokens):
            yield part, size
            part, size = [], 0
        part.append(ref)
        size += more
    if part:
        yield part, size


def view_of(schema: Schema, columns: Sequence[ColumnRef], *, keys: bool = False) -> SchemaView:
    """A view of these columns alone; with `keys` those of them that are keys are shown as such."""
    by_table: dict[str, list[Column]] = {}
    for ref in columns:
        column = schema.column(ref)
        if column is not None:
            by_table.setdefault(ref.table, []).append(column)
    tables = []
    for name, own in by_table.items():
        if (table := schema.table(name)) is None:
            continue
        whole = keys and {column.name for column in own}.issuperset(table.primary_key)
        primary_key = table.primary_key if whole else ()
        tables.append(replace(table, columns=tuple(own), primary_key=primary_key))
    there = set(columns) if keys else set()
    foreign_keys = [
        key for key in schema.foreign_keys if all(near in there for near, _ in key.pairs)
    ]
    return SchemaView(Schema(schema.name, tuple(tables), tuple(foreign_keys), schema.dialect))


def _tokens(column: Column) -> int:
    return PER_COLUMN + estimated_tokens([column.name, column.type, column.description])
