"""A schema as the linker sees it: arrays over its columns, tables and name words, made once."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sqlwright.local.lexical import readable, split_name, stem
from sqlwright.protocols import Embedder, FloatArray
from sqlwright.schema import Column, ColumnRef, Schema, Table

IntArray = npt.NDArray[np.int64]

NAME_WORDS = 6
"""Words of a name that are looked at; longer names are cut."""

FLAGS = (
    "primary key", "foreign key", "key target", "number", "text", "date", "boolean", "untyped",
    "naming", "identifying", "first column", "view", "described", "only column",
)  # fmt: skip
"""What `SchemaArrays.flags` holds, in order."""

_NAMING = frozenset({"name", "title", "names", "label", "fullname", "nam"})
_IDENTIFYING = frozenset({"id", "code", "key", "no", "number", "ids", "uid", "guid", "uuid"})


def type_class(declared: str) -> str:
    """One of number, text, date, boolean and untyped, from a declared SQLite type."""
    name = declared.casefold()
    if not name:
        return "untyped"
    if "bool" in name or name.startswith("bit"):
        return "boolean"
    if any(part in name for part in ("date", "time", "year")):
        return "date"
    if any(part in name for part in ("char", "text", "clob", "string", "enum", "uuid")):
        return "text"
    parts = ("int", "real", "num", "dec", "doub", "float", "money", "serial")
    return "number" if any(part in name for part in parts) else "untyped"


class VectorCache:
    """Embeddings by text; safe to share between threads. Grows with the schema's texts only."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[str, FloatArray] = {}
        self._lock = threading.Lock()

    def embed(self, texts: Sequence[str]) -> FloatArray:
        """Shape (len(texts), dimension), not kept."""
        return self._embedder.embed(texts)

    def vectors(self, texts: Sequence[str]) -> FloatArray:
        """Shape (len(texts), dimension); only texts not seen before are embedded."""
        missing = list(dict.fromkeys(text for text in texts if text not in self._known))
        if missing:
            found = self._embedder.embed(missing)
            with self._lock:
                self._known.update(zip(missing, found, strict=True))
        if not texts:
            return np.zeros((0, self._embedder.dimension), dtype=np.float32)
        return np.stack([self._known[text] for text in texts])


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
    """(C,) names as stored, lower case."""
    name_texts: tuple[str, ...]
    context_texts: tuple[str, ...]
    description_texts: tuple[str, ...]
    """Empty where there is none."""
    table_texts: tuple[str, ...]
    word_vectors: FloatArray
    """(V, dimension) static, unit length; zero for 'no word'."""
    cache: VectorCache = field(repr=False)


def encode_schema(schema: Schema, static: Embedder, cache: VectorCache) -> SchemaArrays:
    """Lay a schema out as arrays. `static` embeds single words cheaply."""
    columns = tuple(schema.columns)
    tables = tuple(table.name for table in schema.tables)
    position = {name: index for index, name in enumerate(tables)}
    words_of = [_words(ref.column, schema.column(ref)) for ref in columns]
    table_words = [_words(table.name, table) for table in schema.tables]
    vocabulary = tuple(dict.fromkeys(word for words in [*words_of, *table_words] for word in words))
    index = {word: place for place, word in enumerate(vocabulary)}
    by_stem: dict[str, list[int]] = {}
    for word, place in index.items():
        by_stem.setdefault(stem(word), []).append(place)
    table_of = np.array([position[ref.table] for ref in columns], dtype=np.int64)
    stems = [{stem(word) for word in words} for words in table_words]
    own = np.zeros((len(columns), NAME_WORDS), dtype=np.float32)
    for row, words in enumerate(words_of):
        for slot, word in enumerate(words[:NAME_WORDS]):
            own[row, slot] = float(stem(word) not in stems[table_of[row]])
    names = [ref.column.casefold() for ref in columns]
    count = {name: names.count(name) for name in set(names)} if len(names) < 500 else _count(names)
    vectors = static.embed(vocabulary)
    texts = [_texts(schema, ref) for ref in columns]
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
        raw_names=tuple(names),
        name_texts=tuple(text[0] for text in texts),
        context_texts=tuple(text[1] for text in texts),
        description_texts=tuple(text[2] for text in texts),
        table_texts=tuple(_table_text(table) for table in schema.tables),
        word_vectors=np.concatenate([vectors, np.zeros_like(vectors[:1])])
        if len(vectors)
        else np.zeros((1, static.dimension), dtype=np.float32),
        cache=cache,
    )


class SchemaShelf:
    """The arrays of the schemas seen last, made once for each schema object; thread-safe."""

    def __init__(self, static: Embedder, embedder: Embedder, *, kept: int = 8) -> None:
        self._static = static
        self._embedder = embedder
        self._kept = kept
        self._schemas: OrderedDict[int, SchemaArrays] = OrderedDict()
        self._lock = threading.Lock()

    def encode(self, schema: Schema) -> SchemaArrays:
        """The schema as arrays."""
        with self._lock:
            known = self._schemas.get(id(schema))
            if known is not None and known.schema is schema:
                self._schemas.move_to_end(id(schema))
                return known
        arrays = encode_schema(schema, self._static, VectorCache(self._embedder))
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


def _texts(schema: Schema, ref: ColumnRef) -> tuple[str, str, str]:
    column, table = schema.column(ref), schema.table(ref.table)
    name = (column.label if column else "") or readable([ref.column])
    owner = _table_text(table) if table else readable([ref.table])
    return name, f"{owner} {name}", (column.description if column else "")[:300]


def _table_text(table: Table) -> str:
    return table.label or readable([table.name])


def _count(names: Iterable[str]) -> dict[str, int]:
    seen: dict[str, int] = {}
    for name in names:
        seen[name] = seen.get(name, 0) + 1
    return seen


def _rarity(words_of: Sequence[Sequence[str]], index: dict[str, int]) -> FloatArray:
    seen = np.zeros(len(index) + 1, dtype=np.float32)
    for words in words_of:
        seen[[index[word] for word in set(words)]] += 1
    rarity = np.log1p(len(words_of) / np.maximum(seen, 1.0)) / np.log1p(max(len(words_of), 1))
    rarity[-1] = 0.0
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
    for row, ref in enumerate(columns):
        table, column = schema.table(ref.table), schema.column(ref)
        if table is None or column is None:
            continue
        folded = (ref.table.casefold(), ref.column.casefold())
        keys = {name.casefold() for name in table.primary_key}
        found = {
            "primary key": folded[1] in keys,
            "foreign key": folded in near,
            "key target": folded in far,
            type_class(column.type): True,
            "naming": bool(_NAMING & set(words_of[row])),
            "identifying": words_of[row][-1] in _IDENTIFYING,
            "first column": table.columns[0] is column,
            "view": table.kind == "view",
            "described": bool(column.description),
            "only column": len(table.columns) == 1,
        }
        flags[row] = [float(found.get(name, False)) for name in FLAGS]
    return flags
