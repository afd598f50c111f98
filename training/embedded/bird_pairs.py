"""BIRD's training text as pairs: schemas from its DDL, stored values only as far as gold queries
name them. Databases whose stand-ins are used for measuring are left out."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from training.embedded.pairs import Pair, TrainingDatabase, read_schema
from training.embedded.split import HELD_BACK

from sqlwright.local.form.nodes import Literal
from sqlwright.local.form.sequence.grammar import Symbol
from sqlwright.schema import Column, ColumnRef, Schema, Table
from sqlwright.types import Question

_VERBS = ("stores ", "represents ", "contains ", "indicates ", "records ")


def load_bird_pairs(folder: Path) -> list[Pair]:
    """Questions with their evidence."""
    rows = json.loads((folder / "bird" / "train" / "train.json").read_text("utf-8"))
    return [
        Pair(Question(row["question"], row["evidence"]), row["SQL"], row["db_id"], "bird")
        for row in rows
        if row["db_id"] not in HELD_BACK
    ]


def load_bird_schemas(folder: Path) -> dict[str, TrainingDatabase]:
    """Schemas by database. Those whose DDL SQLite doesn't take are left out."""
    path = folder / "bird" / "train" / "train_schemas_ddl.json"
    meanings = json.loads(path.with_name("train_column_meaning.json").read_text("utf-8"))
    known = {}
    for name, ddl in json.loads(path.read_text("utf-8")).items():
        if name in HELD_BACK:
            continue
        with sqlite3.connect(":memory:") as connection:
            try:
                connection.executescript(ddl)
            except sqlite3.Error:
                continue
            schema = read_schema(connection, name, Schema(name, ()))
            if schema.tables:
                known[name] = TrainingDatabase(described(schema, meanings))
    return known


def described(schema: Schema, meanings: Mapping[str, str]) -> Schema:
    """The schema with what BIRD's text says of each column, without the words that all of them
    begin with."""

    def told(table: Table, column: Column) -> Column:
        text = meanings.get(f"{schema.name}|{table.name}|{column.name}", "")
        verb = next((verb for verb in _VERBS if verb in text), None)
        return replace(column, description=text.split(verb, 1)[1] if verb else text)

    return replace(
        schema,
        tables=tuple(
            replace(table, columns=tuple(told(table, column) for column in table.columns))
            for table in schema.tables
        ),
    )


def with_named_values(
    known: TrainingDatabase, queries: Iterable[tuple[Symbol, ...]]
) -> TrainingDatabase:
    """The database with every text that a gold query compares a column with as a stored value."""
    found: dict[ColumnRef, Counter[str]] = defaultdict(Counter)
    for symbols in queries:
        column = None
        for symbol in symbols:
            if isinstance(symbol, ColumnRef):
                column = symbol
            elif isinstance(symbol, Literal) and isinstance(symbol.value, str) and column:
                found[column][symbol.value] += 1
    values = {ref: tuple(texts.items()) for ref, texts in found.items()}
    return replace(known, values=values, enumerable=False)
