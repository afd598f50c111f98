"""The entities of a schema that questions can be made of: tables with readable names, their
properties by role, and their relations.

`read_world` keeps only what a person could name: a column called `g_idp` gives no property.
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from dataclasses import dataclass
from enum import Enum

from training.embedded.pairs import TrainingDatabase

from sqlwright.english.as_trained import split_name
from sqlwright.english.words import plural, singular
from sqlwright.schema import Column, ColumnRef, ForeignKey, Table
from sqlwright.sql.declared_types import type_feature
from sqlwright.sql.tokens import quote_name

MOST_NUMBERS = 40
MOST_TEXTS = 200
CATEGORY = 40
"""Most distinct texts of a column whose texts are kinds rather than names."""

_CODES = frozenset("id code number no phone zip postcode latitude longitude fax index key".split())
_NAMES = frozenset({"name", "title"})
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_YEAR = re.compile(r"(1[6-9]|20)\d\d")


class Role(Enum):
    """Role of a column's values in a question."""

    NAME = "name"
    CATEGORY = "category"
    TEXT = "text"
    MEASURE = "measure"
    YEAR = "year"
    DAY = "day"
    """A date as SQLite's functions take it."""
    CODE = "code"
    """A key, a telephone number: shown and counted, never reckoned with."""


@dataclass(frozen=True)
class Property:
    """A column and how to speak of it."""

    ref: ColumnRef
    words: str
    role: Role
    texts: tuple[str, ...] = ()
    numbers: tuple[int | float, ...] = ()


@dataclass(frozen=True)
class Entity:
    """A table and how to speak of its rows."""

    table: str
    singular: str
    plural: str
    properties: tuple[Property, ...]
    key: ColumnRef | None
    """Its primary key, where that is one column."""

    def having(self, *roles: Role) -> tuple[Property, ...]:
        """The properties of given roles."""
        return tuple(one for one in self.properties if one.role in roles)

    @property
    def names(self) -> tuple[Property, ...]:
        """Properties by which its rows are called: a name, or a first and a last name."""
        return self.having(Role.NAME)[:2]


@dataclass(frozen=True)
class Relation:
    """Each row of `child` has one of `parent`."""

    child: Entity
    parent: Entity
    near: ColumnRef
    far: ColumnRef
    role: str
    """Role of the parent for the child, in the key's words; empty when that is the parent's
    name."""
    only: bool
    """True if no other key joins the two: then the shortest way is this one."""


@dataclass(frozen=True)
class World:
    """Everything nameable in one database."""

    entities: tuple[Entity, ...]
    relations: tuple[Relation, ...]


def read_world(known: TrainingDatabase) -> World:
    """Entities and relations of a database."""
    keys = {ref for key in known.schema.foreign_keys for ref, _ in key.pairs}
    entities = {}
    for table in known.schema.tables:
        found = _entity(table, known, keys)
        if found is not None:
            entities[table.name] = found
    between = Counter(frozenset({key.table, key.target_table}) for key in known.schema.foreign_keys)
    relations = [
        relation
        for key in known.schema.foreign_keys
        if (relation := _relation(key, entities, between)) is not None
    ]
    return World(tuple(entities.values()), tuple(relations))


def _readable(words: list[str]) -> bool:
    plain = all(word.isalpha() and word.isascii() for word in words)
    return plain and len(words) <= 4 and any(len(word) > 2 for word in words)


def _words(item: Table | Column) -> list[str]:
    return split_name(item.label or item.name)


def _entity(table: Table, known: TrainingDatabase, keys: set[ColumnRef]) -> Entity | None:
    words = [word for word in _words(table) if word not in {"ref", "tbl", "table"}]
    if not words or not _readable(words):
        return None
    single = " ".join((*words[:-1], singular(words[-1])))
    found: dict[str, Property] = {}
    for column in table.columns:
        one = _property(table, column, known, keys, single)
        if one is not None:
            found.setdefault(one.words, one)
    key = table.primary_key[0] if len(table.primary_key) == 1 else ""
    return Entity(
        table.name,
        single,
        plural(single),
        tuple(found.values()),
        ColumnRef(table.name, key) if key else None,
    )


def _property(
    table: Table, column: Column, known: TrainingDatabase, keys: set[ColumnRef], single: str
) -> Property | None:
    ref = ColumnRef(table.name, column.name)
    words = _words(column)
    if not _readable(words):
        return None
    said = " ".join(words)
    short = said.removeprefix(single + " ")
    stored = known.values.get(ref, ())
    texts = tuple(text for text, _ in stored[:MOST_TEXTS] if 0 < len(text) <= 40)
    is_key = ref in keys or column.name in table.primary_key
    role = Role.CODE if is_key else _role(column, words, texts, len(stored))
    numbers = () if texts or role is Role.CODE else _numbers(known, ref)
    return Property(ref, short if short != "id" else said, role, texts, numbers)


def _role(column: Column, words: list[str], texts: tuple[str, ...], distinct: int) -> Role:
    kind = type_feature(column.type)
    if _CODES.intersection(words):
        return Role.CODE
    if sum(bool(_DAY.match(text)) for text in texts) > 0.9 * len(texts):
        return Role.DAY
    if "year" in words and (not texts or all(_YEAR.fullmatch(text) for text in texts)):
        return Role.YEAR
    if not texts and (kind == "time-type" or "date" in words):
        return Role.DAY
    if kind == "number-type" and not texts:
        return Role.MEASURE
    if _NAMES.intersection(words):
        return Role.NAME
    return Role.CATEGORY if 0 < distinct <= CATEGORY else Role.TEXT


def _numbers(known: TrainingDatabase, ref: ColumnRef) -> tuple[int | float, ...]:
    """Some numbers that a column holds; none where the database isn't there."""
    if known.path is None:
        return ()
    column, table = quote_name(ref.column), quote_name(ref.table)
    with sqlite3.connect(f"file:{known.path}?mode=ro&immutable=1", uri=True) as connection:
        found = connection.execute(
            f"select distinct {column} from {table} "
            f"where typeof({column}) in ('integer', 'real') limit {MOST_NUMBERS}"
        ).fetchall()
    return tuple(value for (value,) in found if abs(value) < 1e9)


def _relation(
    key: ForeignKey, entities: dict[str, Entity], between: Counter[frozenset[str]]
) -> Relation | None:
    child, parent = entities.get(key.table), entities.get(key.target_table)
    if child is None or parent is None or len(key.columns) != 1:
        return None
    words = split_name(key.columns[0])
    while words and words[-1] in {"id", "code", "key", "to"}:
        words = words[:-1]
    role = " ".join(words)
    if not words or not _readable(words) or role in {parent.singular, child.singular}:
        role = ""
    (near, far), *_ = key.pairs
    only = between[frozenset({key.table, key.target_table})] == 1 and child != parent
    return Relation(child, parent, near, far, role, only)
