"""Questions with what they need, as the linker is trained on and measured with.

Spider, Spider-Syn and Archer questions with stored values; BIRD training questions over schemas
known from their DDL, where value hits are drawn from the gold query's literals; and questions over
unions of several databases, so that wide schemas are no surprise.
"""

from __future__ import annotations

import json
import random
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from training.embedded.bird_pairs import described
from training.embedded.linker.gold import Used, used
from training.embedded.pairs import (
    TrainingDatabase,
    _merged_keys,
    _stored_keys,
    _stored_table,
    load_databases,
    load_pairs,
)
from training.embedded.split import HELD_BACK, Split

from sqlwright.indexes.values.index import ColumnValues, memory_value_index
from sqlwright.protocols import ValueIndex
from sqlwright.schema import ColumnRef, ForeignKey, Schema, Table
from sqlwright.steps.retrieval.values import retrieve_values
from sqlwright.types import Question, ValueMatch


@dataclass(frozen=True)
class LinkExample:
    """A question, the schema it is asked of, the value hits, and what the gold query uses."""

    question: Question
    schema: Schema
    values: tuple[ValueMatch, ...]
    used: Used
    database: str
    source: str


def without_labels(schema: Schema) -> Schema:
    """As a user's own database looks: names only."""
    tables = tuple(
        replace(t, label="", columns=tuple(replace(c, label="") for c in t.columns))
        for t in schema.tables
    )
    return replace(schema, tables=tables)


def spider_examples(folder: Path, split: Split, parts: Sequence[str]) -> list[LinkExample]:
    """Questions of Spider's train databases in the given parts, with retrieved values."""
    pairs = load_pairs(folder, split, parts)
    known = load_databases(folder, {pair.database for pair in pairs})
    schemas = {name: without_labels(one.schema) for name, one in known.items()}
    indexes = {name: value_index(one) for name, one in known.items()}
    examples = []
    for pair in pairs:
        schema = schemas[pair.database]
        needed = used(pair.sql, schema)
        if needed is None:
            continue
        hits = retrieve_values(pair.question, indexes[pair.database])
        examples.append(
            LinkExample(pair.question, schema, hits, needed, pair.database, pair.source)
        )
    return examples


def value_index(known: TrainingDatabase) -> ValueIndex:
    """Stored texts of a database in memory."""
    return memory_value_index(ColumnValues(ref, found) for ref, found in known.values.items())


def bird_examples(folder: Path, *, seed: int = 0) -> list[LinkExample]:
    """BIRD training questions; the databases used for measuring are left out."""
    root = folder / "bird" / "train"
    ddl = json.loads((root / "train_schemas_ddl.json").read_text("utf-8"))
    meanings = json.loads((root / "train_column_meaning.json").read_text("utf-8"))
    schemas = {name: bird_schema(name, text) for name, text in ddl.items() if name not in HELD_BACK}
    told = {name: described(schema, meanings) for name, schema in schemas.items()}
    draw = random.Random(seed)
    examples = []
    for row in json.loads((root / "train.json").read_text("utf-8")):
        name = row["db_id"]
        if name not in schemas:
            continue
        needed = used(row["SQL"], schemas[name])
        if needed is None:
            continue
        evidence = row["evidence"] if draw.random() < 0.5 else ""
        question = Question(row["question"], evidence)
        schema = told[name] if draw.random() < 0.3 else schemas[name]
        hits = _drawn_hits(row["question"], needed, schema, draw)
        examples.append(LinkExample(question, schema, hits, needed, name, "bird"))
    return examples


def bird_schema(name: str, ddl: str) -> Schema:
    """A schema from its DDL, read by SQLite itself; statements it refuses are skipped."""
    with sqlite3.connect(":memory:") as connection:
        for statement in ddl.split(";"):
            try:
                connection.execute(statement)
            except sqlite3.Error:
                continue
        listed = connection.execute(
            "select name from sqlite_master where type = 'table'"
        ).fetchall()
        tables = tuple(_stored_table(connection, table, None) for (table,) in listed)
        keys: list[ForeignKey] = []
        for (table,) in listed:
            keys += _stored_keys(connection, table)
    schema = Schema(name, tables)
    return replace(schema, foreign_keys=tuple(_merged_keys(schema, keys)))


def _drawn_hits(
    text: str, needed: Used, schema: Schema, draw: random.Random
) -> tuple[ValueMatch, ...]:
    """Made-up matches of value retrieval: most gold literals, some elsewhere too."""
    refs = list(schema.columns)
    hits = []
    for ref, value in sorted(needed.literals):
        start = text.casefold().find(value.casefold())
        if start < 0 or not value or draw.random() < 0.2:
            continue
        phrase = text[start : start + len(value)]
        span = (start, start + len(value))
        others = [draw.choice(refs) for _ in range(draw.choice((0, 0, 0, 1, 2)))]
        score = draw.choice((1.0, 1.0, 1.0, 0.95, 0.88))
        hits += [ValueMatch(phrase, each, value, score, None, span) for each in (ref, *others)]
    words = [w.strip("?.,'\"") for w in text.split()]
    for _ in range(draw.choice((0, 0, 1, 2))):
        word = draw.choice(words)
        if len(word) > 3:
            hits.append(ValueMatch(word, draw.choice(refs), word, draw.choice((1.0, 0.85)), None))
    return tuple(hits)


def merge(
    schemas: Iterable[Schema], name: str = "merged"
) -> tuple[Schema, dict[str, dict[str, str]]]:
    """One schema of many, and for each database its tables' new names.

    A table whose name is taken gets its database's name in front.
    """
    tables: list[Table] = []
    keys: list[ForeignKey] = []
    taken: set[str] = set()
    renamed: dict[str, dict[str, str]] = {}
    for schema in schemas:
        names = {}
        for table in schema.tables:
            new = table.name
            if new.casefold() in taken:
                new = f"{schema.name}_{table.name}"
            taken.add(new.casefold())
            names[table.name] = new
            tables.append(replace(table, name=new))
        keys += [
            replace(key, table=names[key.table], target_table=names[key.target_table])
            for key in schema.foreign_keys
        ]
        renamed[schema.name] = names
    return Schema(name, tuple(tables), tuple(keys)), renamed


def in_merged(example: LinkExample, schema: Schema, names: Mapping[str, str]) -> LinkExample:
    """The same question asked of the merged schema."""

    def moved(ref: ColumnRef) -> ColumnRef:
        return ColumnRef(names[ref.table], ref.column)

    needed = Used(
        frozenset(names[table] for table in example.used.tables),
        frozenset(map(moved, example.used.columns)),
        frozenset(map(moved, example.used.joining)),
        frozenset((moved(ref), value) for ref, value in example.used.literals),
    )
    values = tuple(replace(match, column=moved(match.column)) for match in example.values)
    return LinkExample(
        example.question, schema, values, needed, f"merged/{example.database}", example.source
    )


def merged_examples(
    examples: Sequence[LinkExample], *, columns: int, count: int, seed: int
) -> list[LinkExample]:
    """`count` questions, each asked of a union of databases of about so many columns."""
    draw = random.Random(seed)
    schemas = {example.database: example.schema for example in examples}
    result: list[LinkExample] = []
    while len(result) < count:
        order = sorted(schemas)
        draw.shuffle(order)
        chosen, size = [], 0
        while size < columns and order:
            chosen.append(schemas[order.pop()])
            size += chosen[-1].column_count
        schema, renamed = merge(chosen)
        own = [e for e in examples if e.database in renamed and e.schema is schemas[e.database]]
        result += [
            in_merged(example, schema, renamed[example.database])
            for example in draw.sample(own, min(40, len(own), count - len(result)))
        ]
    return result
