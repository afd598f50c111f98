"""Small changes to a training example: names, order and hits are never to be taken for granted."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlwright.english.as_trained import split_name
from sqlwright.schema import Column, Schema, Table
from sqlwright.types import Question, ValueMatch


@dataclass(frozen=True)
class Rates:
    """Probability of each change, in [0, 1]."""

    labels: float = 0.3
    """Examples that show the benchmark's readable names instead of the stored ones."""
    rename: float = 0.06
    """Columns that are shown by an abbreviation."""
    shuffle_columns: float = 0.5
    drop_hit: float = 0.1
    lower: float = 0.15
    bare: float = 0.15
    """Questions without their closing mark."""
    renamed: float = 0.4
    """Examples in which something has another name in question and schema."""
    undescribed: float = 0.4
    """Examples whose descriptions aren't shown."""


NONE = Rates(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def shown_schema(schema: Schema, rates: Rates, rng: random.Random) -> Schema:
    """The schema with tables in random order and some names changed in their labels."""
    readable = rng.random() < rates.labels
    tables = []
    for table in schema.tables:
        columns = [_shown(column, readable, rates, rng) for column in table.columns]
        if rng.random() < rates.shuffle_columns:
            rng.shuffle(columns)
        label = table.label if readable else ""
        tables.append(replace_table(table, tuple(columns), label))
    rng.shuffle(tables)
    return Schema(schema.name, tuple(tables), schema.foreign_keys, schema.dialect)


def plain_schema(schema: Schema) -> Schema:
    """The schema as a user's database shows it: without the benchmark's labels."""
    tables = [
        replace_table(table, tuple(replace(c, label="") for c in table.columns), "")
        for table in schema.tables
    ]
    return Schema(schema.name, tuple(tables), schema.foreign_keys, schema.dialect)


def replace_table(table: Table, columns: tuple[Column, ...], label: str) -> Table:
    """A table with other columns and another label."""
    return Table(table.name, columns, table.primary_key, table.kind, table.description, label)


def _shown(column: Column, readable: bool, rates: Rates, rng: random.Random) -> Column:
    label = column.label if readable else ""
    if rng.random() < rates.rename:
        label = abbreviate(split_name(label or column.name), rng)
    return replace(column, label=label)


def abbreviate(words: Sequence[str], rng: random.Random) -> str:
    """A shorter spelling as designers use it: initials, first letters, or without vowels."""
    way = rng.randrange(3)
    if way == 0 and len(words) > 1:
        return words[0][:1] + " " + " ".join(words[1:])
    if way == 1:
        return " ".join(word[:4] for word in words)
    return " ".join(
        word[0] + "".join(c for c in word[1:] if c not in "aeiou") if len(word) > 4 else word
        for word in words
    )


def shown_question(question: Question, rates: Rates, rng: random.Random) -> Question:
    """The question in lower case or without its closing mark; positions stay."""
    text = question.text
    if rng.random() < rates.lower and len(text.lower()) == len(text):
        text = text.lower()
    if rng.random() < rates.bare:
        text = text.rstrip("?.! ")
    return Question(text, question.evidence)


def shown_values(
    values: Sequence[ValueMatch], text: str, rates: Rates, rng: random.Random
) -> list[ValueMatch]:
    """The matches without some of them."""
    return [
        match
        for match in values
        if rng.random() >= rates.drop_hit and (match.span is None or match.span[1] <= len(text))
    ]
