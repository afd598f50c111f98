"""Scores every table and column of a schema by how likely a question needs it, in one pass.

Dual encoding: the schema's texts are embedded once and kept, best when the database is prepared; a
question costs its own phrases and a few matrix products. Where texts aren't prepared, schemas of
more than WIDE columns are first ranked by words and static vectors, and only the best are embedded,
so that a never-seen schema of thousands answers quickly; which are embedded doesn't depend on what
was asked before.

Small networks score columns and tables by their features twice: the second time with the first
scores of their table, its neighbours and their rivals (`surroundings`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from sqlwright.errors import ModelUnavailable
from sqlwright.local.embedder.onnx import OnnxEmbedder, WordTable
from sqlwright.local.embedder.static import StaticEmbedder
from sqlwright.local.linker.features import phrase_features, value_features, word_features
from sqlwright.local.numerics import reciprocal_rank, sigmoid
from sqlwright.local.question.arrays import (
    QuestionArrays,
    WordMatches,
    encode_question,
    match_words,
)
from sqlwright.local.question.schema import SchemaArrays, SchemaCache
from sqlwright.protocols import Embedder, FloatArray, GroupLink, KeptTexts, Links
from sqlwright.schema import Schema
from sqlwright.types import ColumnLink, Question, TableLink, ValueMatch

if TYPE_CHECKING:
    from sqlwright.local.question.arrays import QuestionArrays, WordMatches
    from sqlwright.local.question.schema import IntArray, SchemaArrays

TELLING = 10
"""Number of a group's columns, the best ones, whose scores count for it; chosen."""
STATIC = 0.8
"""Weight of a word of like meaning beside the word itself, in [0, 1]; chosen."""
COMMON = 0.3
"""Weight of a word that every group explains; rarity adds up to 1 for one that only one group does.
Chosen."""
AS_STRONG = 0.03
"""Most by which a match may be weaker than another and still count as equal, in [0, 1]; chosen."""


@dataclass(frozen=True)
class GroupWeights:
    """Weights of the points of evidence in a group's logit."""

    linked: float
    explained: float
    named: float
    asked: float


@dataclass(frozen=True, eq=False)
class Evidence:
    """Evidence for each of G groups besides its columns' scores; all (G,)."""

    explained: FloatArray
    """Sum over the content words that the group's names and values explain, rare ones more."""
    named: FloatArray
    """Mean over the content words of the cosine of their phrase and the nearest column name."""
    asked: FloatArray
    """Cosine of the whole question and the nearest column with its table."""

    def logits(self, linked: FloatArray, weights: GroupWeights) -> FloatArray:
        """(G,) logits; `linked` is (G,) from `mass`."""
        return np.asarray(
            weights.linked * linked
            + weights.explained * self.explained
            + weights.named * self.named
            + weights.asked * self.asked,
            dtype=np.float32,
        )


def evidence(
    asked: QuestionArrays,
    schema: SchemaArrays,
    matches: WordMatches,
    rows: IntArray,
    values: Sequence[ValueMatch],
) -> Evidence:
    """The evidence for each group; `rows` are the places of the columns that the encoder looks
    at."""
    groups = schema.members
    content = (asked.content >= 1.0).astype(np.float32)
    # `words` lists the name words group by group, `begins` where each group's start.
    strength = np.maximum(matches.best, STATIC * matches.static)[:, groups.words]
    by_name = np.maximum.reduceat(strength, groups.begins, axis=1)
    explained = np.maximum(by_name, _by_value(asked, schema, values))
    summed = content[:, None] * explained * (COMMON + _rarity(explained))
    owners = groups.of_column[rows]
    near = _greatest(
        schema.vectors.cosines(asked.vectors, schema.name_texts[rows]), owners, len(groups.leaders)
    )
    whole = schema.vectors.cosines(asked.vectors[:1], schema.context_texts[rows])
    tokens = np.zeros((len(asked.tokens), len(groups.leaders)), dtype=np.float32)
    for (first, end), found in zip(asked.spans, near[1:], strict=True):
        np.maximum(tokens[first:end], found, out=tokens[first:end])
    named = (tokens * content[:, None]).sum(axis=0) / max(float(content.sum()), 1.0)
    return Evidence(summed.sum(axis=0), named, _greatest(whole, owners, len(groups.leaders))[0])


def mass(columns: FloatArray, owners: IntArray, count: int) -> FloatArray:
    """(count,) the sum of each owner's TELLING greatest scores; `columns` and `owners` are (C,)."""
    # Sorted by owner, then score: a column's rank is its distance from its owner's first one.
    order = np.lexsort((-columns, owners))
    sorted_owners = owners[order]
    place = np.arange(len(order)) - np.searchsorted(sorted_owners, sorted_owners)
    best = order[place < TELLING]
    summed = np.zeros(count, dtype=np.float32)
    np.add.at(summed, owners[best], columns[best])
    return summed


def _by_value(
    asked: QuestionArrays, schema: SchemaArrays, values: Sequence[ValueMatch]
) -> FloatArray:
    """(N, G) the best score of each group's stored values that hold a word."""
    place = {name: number for number, name in enumerate(schema.tables)}
    found = np.zeros((len(asked.tokens), len(schema.members.leaders)), dtype=np.float32)
    for match in values:
        table = place.get(match.column.table)
        if table is None or match.span is None:
            continue
        group = schema.members.of_table[table]
        for row, token in enumerate(asked.tokens[: asked.own]):
            if token.within(match.span):
                found[row, group] = max(found[row, group], match.score)
    return found


def _rarity(explained: FloatArray) -> FloatArray:
    """(N, G) 1 where no other group explains a word as well, 0 where all do."""
    groups = explained.shape[1]
    # The number of groups that match a word as well, found in its sorted row.
    ordered = np.sort(-explained, axis=1)
    counts = [
        np.searchsorted(row, AS_STRONG - own, side="right")
        for row, own in zip(ordered, explained, strict=True)
    ]
    shared = np.array(counts, dtype=np.float32).reshape(explained.shape)
    return np.asarray(1.0 - np.log(np.maximum(shared, 1.0)) / math.log(groups + 1), np.float32)


def _greatest(
    cosines: npt.NDArray[np.float32], owners: IntArray, count: int
) -> npt.NDArray[np.float32]:
    """(n, count) the greatest of each owner's columns, 0 where it has none."""
    order = np.argsort(owners, kind="stable")
    present, begins = np.unique(owners[order], return_index=True)
    found = np.zeros((len(cosines), count), dtype=np.float32)
    if len(order):
        found[:, present] = np.maximum.reduceat(cosines[:, order], begins, axis=1)
    return found


WIDE = 400
"""Most columns that are looked at with the encoder where their texts aren't prepared; chosen."""

WIDE_PREPARED = 10_000
"""The same where at most WIDE texts aren't prepared; chosen, to bound the time of a question."""

ASKED = 8
"""Questions whose embeddings are kept; chosen, as many as may be asked at once."""

STAGES = ("prerank", "column", "table", "final", "final_table")
"""Networks in `linker.npz`; each has two or three layers, weights `NAME.W0`, biases `NAME.b0`."""

JOINING = 0.5
"""Least probability of a key as a part of that of the less probable table that it joins. The
networks learn what a question speaks of, and it doesn't speak of keys. Chosen on `valid` and
`calib`, where 0.2 to 0.7 do alike (docs/experiments/wide-schemas.md)."""

TRIED = 10
"""Most groups of tables that are scored as databases of their own, where many stand side by side;
chosen."""

AT_FIRST = GroupWeights(linked=0.36, explained=2.73, named=1.33, asked=9.06)
"""Weights by which groups are ranked among all."""

ALONE = GroupWeights(linked=0.68, explained=2.37, named=2.12, asked=10.59)
"""The same among those that were scored alone. Both are fitted on 1,000 questions of `fit` to
merged databases, half of them rewordings (`benchmarks/group_ranking.py`)."""

COUNTING = 0.8
"""Factor of a group's logit in the scores of its columns. Chosen on `valid` and `calib`."""

UNSEEN = 0.05
"""Factor of the scores of columns whose group wasn't scored alone; chosen."""

_ABSENT = -12.0
"""Logit of a column or table that isn't there, below any that the networks give; as in training."""

Weights = Mapping[str, FloatArray]


@dataclass(frozen=True, eq=False)
class LinkInput:
    """Features of the columns that are looked at closely, and of all tables."""

    schema: SchemaArrays
    rows: npt.NDArray[np.int64]
    """Places of those columns in the schema."""
    columns: FloatArray
    """(len(rows), COLUMN_FEATURES)"""
    tables: FloatArray
    """(T, TABLE_FEATURES)"""
    prerank: FloatArray
    """(C,) logits from words alone; empty when every column is in `rows`."""
    asked: QuestionArrays
    matches: WordMatches
    plain: int
    """Number of the column features, the first ones, that need no encoder."""


def network(weights: Weights, name: str, inputs: FloatArray) -> FloatArray:
    """A small multilayer perceptron with ReLU; shape (n, features) to (n,)."""
    states = (inputs - weights[f"{name}.mean"]) / weights[f"{name}.scale"]
    layer = 0
    while f"{name}.W{layer}" in weights:
        if layer:
            states = np.maximum(states, 0.0)
        states = states @ weights[f"{name}.W{layer}"] + weights[f"{name}.b{layer}"]
        layer += 1
    return np.asarray(states[:, 0], dtype=np.float32)


def surroundings(
    columns: FloatArray,
    tables: FloatArray,
    owner: npt.NDArray[np.int64],
    neighbours: npt.NDArray[np.bool_],
) -> tuple[FloatArray, FloatArray]:
    """Features from the first scores of a column's table, its neighbours and its rivals.

    `columns` (n,) and `tables` (T,) are first-pass logits, `owner` (n,) is each column's table,
    `neighbours` (T, T) is true where a key joins. Gives (n, 9) of columns and (T, 7) of tables.
    """
    count = len(neighbours)
    best = np.full(count, _ABSENT, dtype=np.float32)
    np.maximum.at(best, owner, columns)
    mass = np.zeros(count, dtype=np.float32)
    np.add.at(mass, owner, sigmoid(columns))
    near = np.where(neighbours, best[None, :], _ABSENT).max(axis=1, initial=_ABSENT)
    near_table = np.where(neighbours, tables[None, :], _ABSENT).max(axis=1, initial=_ABSENT)
    # A table between two probable ones is needed to join them, though no word names it.
    good = (sigmoid(tables) > 0.3).astype(np.float32)
    bridging = (neighbours @ good).clip(0, 3)
    top = columns.max(initial=_ABSENT)
    column_parts = [
        columns, columns - top, columns - best[owner], tables[owner], best[owner], mass[owner],
        near[owner], near_table[owner], reciprocal_rank(columns),
    ]  # fmt: skip
    table_parts = [tables, best, mass, near, near_table, bridging, reciprocal_rank(tables)]
    return (
        np.stack(column_parts, axis=1).astype(np.float32),
        np.stack(table_parts, axis=1).astype(np.float32),
    )


def _shortlist(
    scores: FloatArray, owner: npt.NDArray[np.int64], count: int
) -> npt.NDArray[np.int64]:
    """Indices of `count` columns: half the best ones, half the rest of their tables.

    A column such as `name` says little by itself; its table's other columns speak for it.
    """
    order = np.argsort(-scores, kind="stable")
    chosen = order[: count // 2]
    best = np.full(int(owner.max()) + 1, -np.inf, dtype=np.float32)
    np.maximum.at(best, owner, scores)
    rest = order[count // 2 :]
    rest = rest[np.argsort(-best[owner[rest]], kind="stable")]
    return np.sort(np.concatenate([chosen, rest[: count - len(chosen)]]))


def _best_first(scores: FloatArray) -> Iterator[tuple[int, float]]:
    """Places and scores, rounded to six digits, the best first."""
    order = np.argsort(-scores, kind="stable")
    return zip(order.tolist(), np.round(scores[order].astype(np.float64), 6).tolist(), strict=True)


def _links(
    schema: SchemaArrays,
    columns: FloatArray,
    tables: FloatArray,
    groups: tuple[GroupLink, ...] = (),
) -> Links:
    return Links(
        tuple(ColumnLink(schema.columns[i], score) for i, score in _best_first(columns)),
        tuple(TableLink(schema.tables[i], score) for i, score in _best_first(tables)),
        groups,
    )


class Linker:
    """Scores every column and table of a schema for a question. Safe to share between threads."""

    def __init__(
        self,
        embedder: Embedder,
        static: Embedder,
        weights: Weights,
        *,
        wide: int = WIDE,
        cache: SchemaCache | None = None,
    ) -> None:
        self._embedder = embedder
        self._static = static
        self._weights = weights
        self._wide = wide
        self._cache = cache or SchemaCache(static, embedder)
        # The groups of a wide schema are asked the same question one after the other.
        self._asked = lru_cache(ASKED)(lambda asked: encode_question(asked, embedder, static))

    @classmethod
    def load(
        cls,
        folder: Path,
        *,
        embedder: OnnxEmbedder | None = None,
        words: WordTable | None = None,
        cache: SchemaCache | None = None,
    ) -> Linker:
        """Read the weights in `folder`; a loaded embedder, word table or cache is shared if given.

        Raises ModelUnavailable when a file is missing or damaged.
        """
        try:
            with np.load(folder / "linker.npz", allow_pickle=False) as stored:
                weights = {name: stored[name].astype(np.float32) for name in stored.files}
        except (OSError, ValueError) as error:
            raise ModelUnavailable(
                f"the linker's weights in {folder} can't be read: {error}",
                hint="Reinstall sqlwright; its package brings the weights along.",
            ) from error
        encoder = embedder or OnnxEmbedder.load(folder, words=words)
        static = StaticEmbedder(encoder.front.tokenizer, encoder.front.words)
        return cls(encoder, static, weights, cache=cache)

    def link(
        self,
        question: Question,
        schema: Schema,
        values: Sequence[ValueMatch] = (),
        prepared: KeptTexts | None = None,
    ) -> Links:
        """Every column and every table with the probability that the question needs it, best first;
        by `link_by_group` where the schema has many groups.

        What `prepared` holds of the schema's texts isn't embedded again.
        """
        if schema.has_many_groups:
            return self.link_by_group(question, schema, values, prepared)
        arrays = self.encode(schema, prepared)
        if not arrays.columns:
            return Links((), tuple(TableLink(name, 0.0) for name in arrays.tables))
        return _links(arrays, *self.score(self.describe(question, arrays, values)))

    def link_by_group(
        self,
        question: Question,
        schema: Schema,
        values: Sequence[ValueMatch] = (),
        prepared: KeptTexts | None = None,
    ) -> Links:
        """`link` for a schema in which many groups of tables stand side by side.

        Names agree by chance all over such a schema. So the likeliest groups are each looked at as
        databases of their own, and the evidence for a group counts for all that is in it: else
        look-alikes of many groups crowd out the rest of the right one.
        """
        arrays = self.encode(schema, prepared)
        given = self.describe(question, arrays, values)
        columns, tables = self.score(given)
        members = arrays.members
        group_evidence = evidence(given.asked, arrays, given.matches, given.rows, values)
        linked = mass(columns, members.of_column, len(members.leaders))
        logits = group_evidence.logits(linked, AT_FIRST)
        # Where the encoder reads a shortlist only, the groups aren't scored alone, to save time.
        if not len(given.prerank):
            tried = np.argsort(-logits, kind="stable")[:TRIED]
            columns, tables = UNSEEN * columns, UNSEEN * tables
            for group in tried.tolist():
                part = self.encode(schema.by_group[members.leaders[group]], prepared)
                part_columns, part_tables = self.score(self.describe(question, part, values))
                columns[members.of_column == group] = part_columns
                tables[members.of_table == group] = part_tables
            linked = mass(columns, members.of_column, len(members.leaders))
            alone = group_evidence.logits(linked, ALONE)[tried]
            # The others stay behind them, in their order.
            logits += alone.min() - logits[tried].min()
            logits[tried] = alone
        weights = np.exp(COUNTING * (logits - logits.max()))
        best = np.argsort(-logits, kind="stable").tolist()
        return _links(
            arrays,
            columns * weights[members.of_column],
            tables * weights[members.of_table],
            tuple(GroupLink(members.leaders[group], float(logits[group])) for group in best),
        )

    def encode(self, schema: Schema, prepared: KeptTexts | None = None) -> SchemaArrays:
        """The schema as arrays, made once for each schema object."""
        return self._cache.encode(schema, prepared)

    def describe(
        self, question: Question, schema: SchemaArrays, values: Sequence[ValueMatch]
    ) -> LinkInput:
        """The features the networks look at; training uses the same."""
        asked = self._asked(question)
        matches = match_words(asked, schema)
        words, table_words = word_features(asked, schema, matches)
        stored, table_stored = value_features(asked, schema, values)
        plain = np.concatenate([words, stored, schema.flags], axis=1)
        every = np.arange(len(schema.columns))
        prerank = np.zeros(0, dtype=np.float32)
        # Not by what happens to be embedded by now: the same question has the same answer.
        ready = schema.vectors.unprepared <= self._wide
        wide = max(self._wide, WIDE_PREPARED) if ready else self._wide
        if len(every) > wide:
            prerank = network(self._weights, "prerank", plain)
            every = _shortlist(prerank, schema.table_of, wide)
        strength = np.maximum(matches.best, 0.8 * matches.static)
        per_token = strength[:, schema.column_words[every]].mean(axis=2) if len(strength) else (
            np.zeros((0, len(every)), dtype=np.float32)
        )  # fmt: skip
        phrase, table_phrase = phrase_features(asked, schema, every, per_token)
        asks = np.concatenate(
            [asked.asks, np.log([len(schema.columns), len(schema.tables)]).astype(np.float32)]
        )
        columns = [plain[every], phrase, table_words[schema.table_of[every]]]
        tables = [table_words, table_stored, table_phrase]
        return LinkInput(
            schema=schema,
            rows=every,
            columns=np.concatenate([*columns, np.tile(asks, (len(every), 1))], axis=1),
            tables=np.concatenate([*tables, np.tile(asks, (len(schema.tables), 1))], axis=1),
            prerank=prerank,
            asked=asked,
            matches=matches,
            plain=plain.shape[1],
        )

    def score(self, given: LinkInput) -> tuple[FloatArray, FloatArray]:
        """Probabilities of all columns (C,) and tables (T,). A key is at least JOINING times as
        probable as both tables that it joins."""
        columns, tables = self._network_scores(given)
        keys = given.schema.key_places
        joining = JOINING * tables[given.schema.table_of[keys]].min(axis=1, initial=1.0)
        np.maximum.at(columns, keys, joining[:, None])
        return columns, tables

    def _network_scores(self, given: LinkInput) -> tuple[FloatArray, FloatArray]:
        """Probabilities of columns (C,) and tables (T,) that the question speaks of them."""
        schema = given.schema
        owner = schema.table_of[given.rows]
        first = network(self._weights, "column", given.columns)
        first_tables = network(self._weights, "table", given.tables)
        around, table_around = surroundings(first, first_tables, owner, schema.neighbours)
        columns = sigmoid(
            network(self._weights, "final", np.concatenate([given.columns, around], axis=1))
        )
        tables = sigmoid(
            network(
                self._weights, "final_table", np.concatenate([given.tables, table_around], axis=1)
            )
        )
        if not len(given.prerank):
            return columns, tables
        # Columns that were not looked at closely follow behind, in the order of the first look.
        floor = float(columns.min(initial=1.0))
        every = sigmoid(given.prerank) * floor
        every[given.rows] = columns
        return np.asarray(every, dtype=np.float32), tables
