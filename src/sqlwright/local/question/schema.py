"""A schema as arrays over its columns, tables and name words, made once for linker and critic."""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from sqlwright.english.vocabulary import ABBREVIATIONS, KEY_WORDS, NAMING_WORDS
from sqlwright.english.words import readable, singular, split_name, stem
from sqlwright.indexes.text_vectors import TextVectors
from sqlwright.protocols import Embedder, FloatArray, KeptTexts
from sqlwright.schema import Column, ColumnRef, Schema, Table
from sqlwright.sql.declared_types import type_class

IntArray = npt.NDArray[np.int64]

NAME_WORDS = 6
"""Most words of a name that are compared, longer names are cut; as in the linker's training."""

DESCRIBED = 300
"""Most characters of a description that are embedded; chosen."""

FLAGS = (
    "primary key", "foreign key", "key target", "number", "text", "date", "boolean", "untyped",
    "naming", "identifying", "first column", "view", "described", "only column",
)  # fmt: skip
"""Names of the columns of `SchemaArrays.flags`, in the order of the linker's weights."""


@dataclass(frozen=True, eq=False)
class Members:
    """The columns and name words of each of G groups of tables, laid out for `reduceat`."""

    leaders: tuple[str, ...]
    """(G) the table that stands for each group."""
    of_table: IntArray
    """(T,) each table's group."""
    of_column: IntArray
    """(C,) each column's group."""
    words: IntArray
    """Words of all groups' names, group by group; a group without any has the one that stands for
    'no word'."""
    begins: IntArray
    """(G,) the place in `words` of each group's first one."""


@dataclass(frozen=True, eq=False)
class SchemaArrays:
    """C columns, T tables, V distinct name words (the last one stands for 'no word')."""

    schema: Schema
    columns: tuple[ColumnRef, ...]
    tables: tuple[str, ...]
    table_of: IntArray
    """(C,) index of each column's table."""
    vocabulary: tuple[str, ...]
    """(V - 1) words."""
    by_stem: dict[str, list[int]]
    rarity: FloatArray
    """(V,) inverse document frequency over columns, 0 for 'no word'."""
    column_words: IntArray
    """(C, NAME_WORDS) indices into the vocabulary."""
    own_words: FloatArray
    """(C, NAME_WORDS) 1 where the word is not also in the table's name."""
    table_words: IntArray
    """(T, NAME_WORDS)"""
    flags: FloatArray
    """(C, len(FLAGS))"""
    same_name: FloatArray
    """(C,) log of how many columns carry this name."""
    neighbours: npt.NDArray[np.bool_]
    """(T, T) true where a foreign key joins two tables."""
    raw_names: tuple[str, ...]
    """Different names as stored, lower case."""
    raw_name_of: IntArray
    """(C,) indices into them."""
    name_texts: IntArray
    """(C,) numbers of texts in `vectors`: the column's name in words."""
    context_texts: IntArray
    """(C,) the same for the table's and the column's name."""
    description_texts: IntArray
    """(C,) the same for its description, or its context where there is none."""
    table_texts: IntArray
    """(T,) the same for the table's name."""
    word_vectors: FloatArray
    """(V, dimension) static, unit length; zero for 'no word'."""
    vectors: TextVectors = field(repr=False)

    @cached_property
    def by_letter(self) -> dict[str, list[int]]:
        """Places in the vocabulary of the words that begin with each letter."""
        found: dict[str, list[int]] = {}
        for place, word in enumerate(self.vocabulary):
            found.setdefault(word[:1], []).append(place)
        return found

    @cached_property
    def short_forms(self) -> tuple[tuple[int, frozenset[str]], ...]:
        """Places in the vocabulary of usual short forms, with the stems of the words they stand
        for."""
        return tuple(
            (place, frozenset(map(stem, ABBREVIATIONS[word])))
            for place, word in enumerate(self.vocabulary)
            if word in ABBREVIATIONS
        )

    @cached_property
    def long_words(self) -> npt.NDArray[np.bool_]:
        """(V - 1,) true for words whose spelling says something."""
        return np.array([len(word) > 3 for word in self.vocabulary], dtype=np.bool_)

    @cached_property
    def place(self) -> dict[ColumnRef, int]:
        """Each column's index."""
        return {ref: index for index, ref in enumerate(self.columns)}

    @cached_property
    def members(self) -> Members:
        """The columns and words of each group of tables."""
        return _members(self)

    @cached_property
    def key_places(self) -> IntArray:
        """(K, 2) indices of the columns that a key joins, pair by pair."""
        pairs = [
            (self.place[near], self.place[far])
            for near, far in sorted(self.schema.key_pairs)
            if near in self.place and far in self.place
        ]
        return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def _members(schema: SchemaArrays) -> Members:
    """The groups of a schema in its order."""
    groups = schema.schema.group_of
    leaders = tuple(schema.schema.by_group)
    place = {leader: number for number, leader in enumerate(leaders)}
    of_table = np.array([place[groups[table]] for table in schema.tables], dtype=np.int64)
    of_column = of_table[schema.table_of]
    none = len(schema.vocabulary)
    held: list[set[int]] = [set() for _ in leaders]
    for rows, owners in ((schema.table_words, of_table), (schema.column_words, of_column)):
        for words, owner in zip(rows.tolist(), owners.tolist(), strict=True):
            held[owner].update(words)
    flat = [sorted(words - {none}) or [none] for words in held]
    begins = np.concatenate([[0], np.cumsum([len(words) for words in flat])[:-1]])
    return Members(
        leaders, of_table, of_column, np.concatenate(flat).astype(np.int64), begins.astype(np.int64)
    )


@dataclass(frozen=True)
class SchemaTexts:
    """The different texts of a schema that are embedded, and the number of each thing's text."""

    texts: tuple[str, ...]
    names: IntArray
    """(C,)"""
    contexts: IntArray
    """(C,)"""
    descriptions: IntArray
    """(C,)"""
    tables: IntArray
    """(T,)"""


def texts_of(schema: Schema) -> tuple[str, ...]:
    """The texts that name and describe a schema's tables and columns."""
    return tuple(schema_texts(schema).texts)


def schema_texts(schema: Schema) -> SchemaTexts:
    """The texts of all columns and tables, in the schema's order."""
    number: dict[str, int] = {}
    columns: list[int] = []
    tables: list[int] = []
    for table in schema.tables:
        owner = table.label or readable([schema.spoken(table.name)])
        tables.append(number.setdefault(owner, len(number)))
        for column in table.columns:
            name = column.label or readable([column.name])
            context = f"{owner} {name}"
            own = (name, context, column.description[:DESCRIBED] or context)
            columns += [number.setdefault(text, len(number)) for text in own]
    of = np.array(columns, dtype=np.int64).reshape(-1, 3)
    return SchemaTexts(
        tuple(number), of[:, 0], of[:, 1], of[:, 2], np.array(tables, dtype=np.int64)
    )


def encode_schema(
    schema: Schema, static: Embedder, embedder: Embedder, prepared: KeptTexts | None = None
) -> SchemaArrays:
    """Lay a schema out as arrays. `static` embeds single words cheaply; `prepared` holds
    vectors that needn't be embedded."""
    columns = tuple(schema.columns)
    tables = tuple(table.name for table in schema.tables)
    position = {name: index for index, name in enumerate(tables)}
    words_of = [_words(ref.column, schema.column(ref)) for ref in columns]
    table_words = [_words(schema.spoken(table.name), table) for table in schema.tables]
    vocabulary = tuple(dict.fromkeys(word for words in [*words_of, *table_words] for word in words))
    index = {word: place for place, word in enumerate(vocabulary)}
    by_stem: dict[str, list[int]] = {}
    for word, place in index.items():
        by_stem.setdefault(stem(word), []).append(place)
    table_of = np.array([position[ref.table] for ref in columns], dtype=np.int64)
    stems = [{stem(word) for word in words} for words in table_words]
    own = np.zeros((len(columns), NAME_WORDS), dtype=np.float32)
    for row, words in enumerate(words_of):
        # `name` of `singer_name` is its own word; `singer` says no more than the table does.
        for slot, word in enumerate(words[:NAME_WORDS]):
            own[row, slot] = float(stem(word) not in stems[table_of[row]])
    names = [ref.column.casefold() for ref in columns]
    count = Counter(names)
    vectors = static.embed(vocabulary)
    texts = schema_texts(schema)
    different = {name: place for place, name in enumerate(dict.fromkeys(names))}
    return SchemaArrays(
        schema=schema,
        columns=columns,
        tables=tables,
        table_of=table_of,
        vocabulary=vocabulary,
        by_stem=by_stem,
        rarity=_rarity(words_of, index),
        column_words=_padded(words_of, index),
        own_words=own,
        table_words=_padded(table_words, index),
        flags=_flags(schema, columns, words_of),
        same_name=np.log([count[name] for name in names]).astype(np.float32),
        neighbours=_neighbours(schema, position),
        raw_names=tuple(different),
        raw_name_of=np.array([different[name] for name in names], dtype=np.int64),
        name_texts=texts.names,
        context_texts=texts.contexts,
        description_texts=texts.descriptions,
        table_texts=texts.tables,
        word_vectors=np.concatenate([vectors, np.zeros_like(vectors[:1])])
        if len(vectors)
        else np.zeros((1, static.dimension), dtype=np.float32),
        vectors=TextVectors(texts.texts, embedder, prepared),
    )


class SchemaCache:
    """The arrays of the `kept` schemas seen last, groups of a wide one included, made once for each
    schema object; thread-safe."""

    def __init__(self, static: Embedder, embedder: Embedder, *, kept: int = 32) -> None:
        self._static = static
        self._embedder = embedder
        self._kept = kept
        self._schemas: OrderedDict[int, SchemaArrays] = OrderedDict()
        self._lock = threading.Lock()

    def encode(self, schema: Schema, prepared: KeptTexts | None = None) -> SchemaArrays:
        """The schema as arrays; `prepared` is looked at the first time."""
        with self._lock:
            # By identity, since hashing a schema would visit all of its columns. The arrays keep
            # their schema alive, so that its id isn't given to another one.
            known = self._schemas.get(id(schema))
            if known is not None and known.schema is schema:
                self._schemas.move_to_end(id(schema))
                return known
        arrays = encode_schema(schema, self._static, self._embedder, prepared)
        with self._lock:
            self._schemas[id(schema)] = arrays
            while len(self._schemas) > self._kept:
                self._schemas.popitem(last=False)
        return arrays


def _words(name: str, described: Column | Table | None) -> tuple[str, ...]:
    label = described.label if described else ""
    words = split_name(name) or (name.casefold(),)
    extra = tuple(word for word in split_name(label) if word not in words)
    return words + extra


def _rarity(words_of: Sequence[Sequence[str]], index: dict[str, int]) -> FloatArray:
    held = Counter(word for words in words_of for word in set(words))
    seen = np.array([*(held[word] for word in index), 0], dtype=np.float32)
    rarity = np.log1p(len(words_of) / np.maximum(seen, 1.0)) / np.log1p(max(len(words_of), 1))
    rarity[-1] = 0.0  # the place of 'no word'
    return np.asarray(rarity, dtype=np.float32)


def _padded(words_of: Sequence[Sequence[str]], index: dict[str, int]) -> IntArray:
    padded = np.full((len(words_of), NAME_WORDS), len(index), dtype=np.int64)
    for row, words in enumerate(words_of):
        for slot, word in enumerate(words[:NAME_WORDS]):
            padded[row, slot] = index[word]
    return padded


def _neighbours(schema: Schema, position: dict[str, int]) -> npt.NDArray[np.bool_]:
    joined = np.zeros((len(position), len(position)), dtype=np.bool_)
    for key in schema.foreign_keys:
        near, far = schema.table(key.table), schema.table(key.target_table)
        if near and far:
            joined[position[near.name], position[far.name]] = True
            joined[position[far.name], position[near.name]] = True
    return joined


def _flags(
    schema: Schema, columns: Sequence[ColumnRef], words_of: Sequence[Sequence[str]]
) -> FloatArray:
    near, far = set(), set()
    for key in schema.foreign_keys:
        for left, right in key.pairs:
            near.add((left.table.casefold(), left.column.casefold()))
            far.add((right.table.casefold(), right.column.casefold()))
    flags = np.zeros((len(columns), len(FLAGS)), dtype=np.float32)
    place = {name: slot for slot, name in enumerate(FLAGS)}
    row = 0
    for table in schema.tables:
        folded_table = table.name.casefold()
        keys = {name.casefold() for name in table.primary_key}
        for number, column in enumerate(table.columns):
            folded = column.name.casefold()
            found = {
                "primary key": folded in keys,
                "foreign key": (folded_table, folded) in near,
                "key target": (folded_table, folded) in far,
                type_class(column.type): True,
                "naming": not {*NAMING_WORDS}.isdisjoint(map(singular, words_of[row])),
                "identifying": singular(words_of[row][-1]) in KEY_WORDS,
                "first column": number == 0,
                "view": table.kind == "view",
                "described": bool(column.description),
                "only column": len(table.columns) == 1,
            }
            flags[row, [place[name] for name, holds in found.items() if holds]] = 1.0
            row += 1
    return flags
