"""Training schemas with something added that few of them have: a table whose rows belong to rows
of the same table, a table that relates two of them, lines with a price and a quantity.

Stored values stay; the new columns have none.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from training.embedded.pairs import TrainingDatabase
from training.embedded.questions.augment import replace_table
from training.embedded.questions.entities import Entity, read_world

from sqlwright.english.words import plural
from sqlwright.schema import Column, ForeignKey, Schema, Table

_OWN = (
    "manager", "supervisor", "boss", "mentor", "parent", "leader", "predecessor", "successor",
    "partner", "captain", "representative", "coach", "sponsor", "tutor", "owner", "head",
    "main branch", "replacement", "rival",
)  # fmt: skip
_LINKS = (
    ("friendship", "person", "friend"),
    ("follow", "follower", "followed"),
    ("match", "home team", "away team"),
    ("game", "winner", "loser"),
    ("trade", "seller", "buyer"),
    ("message", "sender", "receiver"),
    ("transfer", "source", "destination"),
    ("flight", "origin", "destination"),
    ("rating", "reviewer", "reviewed"),
    ("recommendation", "giver", "recipient"),
)
_LINES = (
    "order line", "sale item", "purchase", "invoice line", "booking item", "delivery",
    "basket entry", "contract line",
)  # fmt: skip
_QUANTITY = ("quantity", "qty", "units", "quantity sold", "pieces", "units ordered")
_PRICE = ("unit price", "price", "cost per unit", "price each", "rate", "fee", "list price")
_EXTRA = (
    ("discount", "REAL"),
    ("status", "TEXT"),
    ("delivery date", "DATE"),
    ("sale date", "DATE"),
    ("tax", "REAL"),
    ("weight", "REAL"),
)


@dataclass(frozen=True)
class _Style:
    """Spelling of a schema's names."""

    joint: str
    capital: bool

    def name(self, words: str) -> str:
        parts = words.split()
        if self.capital or not self.joint:
            parts = [part.capitalize() for part in parts]
        return self.joint.join(parts)


def _style(schema: Schema) -> _Style:
    names = [column.name for table in schema.tables for column in table.columns]
    joined = sum("_" in name for name in names)
    capital = sum(name[:1].isupper() for name in names)
    return _Style("_" if 3 * joined >= len(names) else "", 2 * capital > len(names))


def _with(schema: Schema, tables: Sequence[Table], *keys: ForeignKey) -> Schema:
    return replace(schema, tables=tuple(tables), foreign_keys=(*schema.foreign_keys, *keys))


def related_to_itself(schema: Schema, entities: Sequence[Entity], rng: random.Random) -> Schema:
    """A column for another row of the same table."""
    entity = rng.choice(entities)
    assert entity.key is not None
    role = rng.choice((*_OWN, f"parent {entity.singular}"))
    words = rng.choice((f"{role} id", f"{role} id", role, f"{role} {entity.singular} id"))
    column = Column(_style(schema).name(words), "INTEGER", label=words)
    old = schema.table(entity.table)
    if old is None or old.column(column.name) is not None:
        return schema
    new = replace_table(old, (*old.columns, column), old.label)
    tables = [new if table is old else table for table in schema.tables]
    key = ForeignKey(old.name, (column.name,), old.name, (entity.key.column,))
    return _with(schema, tables, key)


def linked_twice(schema: Schema, entities: Sequence[Entity], rng: random.Random) -> Schema:
    """A table whose rows bring two rows of another one together."""
    entity = rng.choice(entities)
    assert entity.key is not None
    words, first, second = rng.choice(_LINKS)
    style = _style(schema)
    near = [Column(style.name(f"{role} id"), "INTEGER", label=f"{role} id")
            for role in (first, second)]  # fmt: skip
    more = rng.sample(_EXTRA, rng.randint(0, 2))
    columns = [*near, *(Column(style.name(name), kind, label=name) for name, kind in more)]
    table = _new_table(schema, words, columns)
    if table is None:
        return schema
    keys = [
        ForeignKey(table.name, (column.name,), entity.table, (entity.key.column,))
        for column in near
    ]
    return _with(schema, [*schema.tables, table], *keys)


def sold_by_the_piece(schema: Schema, entities: Sequence[Entity], rng: random.Random) -> Schema:
    """A table of lines with a quantity, and a price there or on the thing it belongs to."""
    chosen = rng.sample(list(entities), min(len(entities), rng.choice((1, 2))))
    style = _style(schema)
    price, quantity = rng.choice(_PRICE), rng.choice(_QUANTITY)
    columns = [Column(style.name("line id"), "INTEGER", label="line id")]
    keys = []
    for entity in chosen:
        assert entity.key is not None
        near = Column(style.name(f"{entity.singular} id"), "INTEGER", label=f"{entity.singular} id")
        columns.append(near)
        keys.append((near.name, entity.table, entity.key.column))
    columns.append(Column(style.name(quantity), "INTEGER", label=quantity))
    columns += [Column(style.name(name), kind, label=name)
                for name, kind in rng.sample(_EXTRA, rng.randint(0, 2))]  # fmt: skip
    tables = list(schema.tables)
    priced = Column(style.name(price), "REAL", label=price)
    holder = schema.table(chosen[0].table)
    if holder is not None and rng.random() < 0.4 and holder.column(priced.name) is None:
        dearer = replace_table(holder, (*holder.columns, priced), holder.label)
        tables = [dearer if table is holder else table for table in tables]
    else:
        columns.append(priced)
    table = _new_table(schema, rng.choice(_LINES), columns, key=columns[0].name)
    if table is None:
        return schema
    far = [ForeignKey(table.name, (near,), target, (key,)) for near, target, key in keys]
    return _with(schema, [*tables, table], *far)


def _new_table(
    schema: Schema, words: str, columns: Sequence[Column], *, key: str = ""
) -> Table | None:
    """A table under that name or its plural; None where both are taken or columns are alike."""
    style = _style(schema)
    names = {column.name.casefold() for column in columns}
    for said in (plural(words), words):
        if schema.table(style.name(said)) is None and len(names) == len(columns):
            primary = (key,) if key else ()
            return Table(style.name(said), tuple(columns), primary, label=said)
    return None


WAYS: tuple[Callable[[Schema, Sequence[Entity], random.Random], Schema], ...] = (
    related_to_itself,
    linked_twice,
    sold_by_the_piece,
)


def grown(known: Mapping[str, TrainingDatabase], rng: random.Random) -> dict[str, TrainingDatabase]:
    """Each database with a named table and a key once more under a new name, with an addition."""
    found = {}
    for name in sorted(known):
        one = known[name]
        entities = [e for e in read_world(one).entities if e.key is not None and e.names]
        if not entities or len(one.schema.tables) > 16:
            continue
        schema = rng.choice(WAYS)(one.schema, entities, rng)
        if schema is not one.schema:
            found[f"{name}+"] = TrainingDatabase(schema, one.values, enumerable=one.enumerable)
    return found
