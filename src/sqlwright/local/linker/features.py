"""The linker's features of each column and table for one question.

Word features compare words of the question with words of names, in five ways (same stem, spelling,
abbreviation, a cue such as oldest → birth, and static vectors); phrase features compare encoder
vectors of the question's phrases with those of columns. In both, what matters beyond the best match
is competition: a word that one column explains is no evidence for the others.

The weights know features by their place. So order, thresholds and factors here are those of the
training and may change only with it (`training/linker`); all of them were chosen.

In shapes, N is the question's tokens, P its phrases, C the schema's columns, T its tables, V its
words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sqlwright.english.words import stem
from sqlwright.local.numerics import reciprocal_rank
from sqlwright.local.question.arrays import QuestionArrays, WordMatches
from sqlwright.local.question.schema import IntArray, SchemaArrays
from sqlwright.protocols import FloatArray
from sqlwright.types import ValueMatch


def word_features(
    asked: QuestionArrays, schema: SchemaArrays, matches: WordMatches
) -> tuple[FloatArray, FloatArray]:
    """Features from words: (C, WORD_FEATURES) of columns and (T, TABLE_WORD_FEATURES) of tables."""
    best = matches.best
    # (V,) the best match of each schema word with any token, and that token's place.
    strongest = best.max(axis=0, initial=0.0)
    where = best.argmax(axis=0) if len(best) else np.zeros(best.shape[1], dtype=np.int64)
    static = matches.static.max(axis=0, initial=0.0)
    channels = [
        getattr(matches, name).max(axis=0, initial=0.0)
        for name in ("exact", "spelling", "short", "cue")
    ]
    # By each way of matching apart, so that the network can tell a stem from a look-alike.
    table_mean, _ = _weighted(strongest, schema.table_words, schema.rarity, None)
    columns: list[npt.NDArray[np.generic]] = []
    for channel in (strongest, *channels, static):
        mean, low = _weighted(channel, schema.column_words, schema.rarity, None)
        columns += [mean, low]
    # Without the words of the table's name: `singer_name` in `singer` stands or falls by `name`.
    own, own_low = _weighted(strongest, schema.column_words, schema.rarity, schema.own_words)
    own_static, _ = _weighted(static, schema.column_words, schema.rarity, schema.own_words)
    real = schema.column_words < len(schema.vocabulary)
    places = where[schema.column_words]
    # Words of one name that are matched far apart in the question are rarely meant together.
    matched = real & (strongest[schema.column_words] >= 0.6)
    low = np.where(matched, places, 10_000).min(axis=1)
    high = np.where(matched, places, -1).max(axis=1)
    count = matched.sum(axis=1)
    spread = np.where(count > 1, high - low + 1 - count, 0).clip(0, 10) / 10.0
    has_own = np.asarray((schema.own_words > 0).any(axis=1))
    # Evidence and some questions write a column's name as it is stored: `unit_price`.
    named = np.array([bool(asked.evidence) and len(name) > 2 and name in asked.evidence
                      for name in schema.raw_names], dtype=np.bool_)  # fmt: skip
    literal = np.array([len(name) > 2 and name in asked.text
                        for name in schema.raw_names], dtype=np.bool_)  # fmt: skip
    # columns[0] is the mean over all ways of matching, columns[2] that over equal stems.
    exact_mean = np.asarray(columns[2], dtype=np.float32)
    mean = np.asarray(columns[0], dtype=np.float32)
    rank = reciprocal_rank(mean)
    columns += [
        own, own_low, own_static, has_own, spread, count, real.sum(axis=1),
        named[schema.raw_name_of], literal[schema.raw_name_of],
        table_mean[schema.table_of], own * table_mean[schema.table_of], rank, schema.same_name,
        exact_mean / max(float(exact_mean[exact_mean > 0.5].sum()), 1.0),
        _rank_within(mean, schema.table_of),
        schema.rarity[schema.column_words].max(axis=1),
    ]  # fmt: skip
    exact_table, exact_low = _weighted(channels[0], schema.table_words, schema.rarity, None)
    static_table, _ = _weighted(static, schema.table_words, schema.rarity, None)
    sizes = np.bincount(schema.table_of, minlength=len(schema.tables))
    spoken = map(schema.schema.spoken, schema.tables)
    table_named = [len(n) > 2 and n.casefold() in asked.evidence for n in spoken]
    tables: list[npt.NDArray[np.generic]] = [
        table_mean, exact_table, exact_low, static_table, reciprocal_rank(table_mean),
        np.log1p(sizes), schema.neighbours.sum(axis=1), np.array(table_named, dtype=np.float32),
        (schema.table_words < len(schema.vocabulary)).sum(axis=1),
    ]  # fmt: skip
    return _stack(columns), _stack(tables)


def _weighted(
    values: FloatArray, words: IntArray, rarity: FloatArray, keep: FloatArray | None
) -> tuple[FloatArray, FloatArray]:
    """(n,) mean of the words' values weighted by their rarity, and the lowest of them; 0 for a name
    without words. `values` and `rarity` are (V,), `words` and `keep` (n, NAME_WORDS)."""
    weights = rarity[words] if keep is None else rarity[words] * keep
    total = weights.sum(axis=1)
    mean = (values[words] * weights).sum(axis=1) / np.maximum(total, 1e-6)
    low = np.where(weights > 0, values[words], 9.0).min(axis=1)  # 9: above any value
    return mean, np.where(total > 0, low, 0.0)


def _rank_within(values: FloatArray, group: IntArray) -> FloatArray:
    """`reciprocal_rank` among the values of each group; (n,) from two of (n,)."""
    # Sorted by group, then value: a rank is the distance from where the group begins, and equal
    # values have the rank of the first of them.
    order = np.lexsort((-values, group))
    ordered, owners = values[order], group[order]
    places = np.arange(len(order))
    begins = np.concatenate([[True], owners[1:] != owners[:-1]])[: len(order)]
    differs = begins | np.concatenate([[True], ordered[1:] != ordered[:-1]])[: len(order)]
    group_start = np.maximum.accumulate(np.where(begins, places, 0))
    tie_start = np.maximum.accumulate(np.where(differs, places, 0))
    ranks = np.empty(len(values), dtype=np.float32)
    ranks[order] = 1.0 / (1.0 + tie_start - group_start)
    return ranks


def _stack(parts: Sequence[npt.NDArray[np.generic]]) -> FloatArray:
    return np.stack([np.asarray(part, dtype=np.float32) for part in parts], axis=1)


def value_features(
    asked: QuestionArrays, schema: SchemaArrays, values: Sequence[ValueMatch]
) -> tuple[FloatArray, FloatArray]:
    """Features from stored values that phrases of the question resemble: (C, VALUE_FEATURES), (T,
    2)."""
    place = schema.place
    per_phrase: dict[str, set[int]] = {}
    for match in values:
        if match.column in place:
            per_phrase.setdefault(match.phrase, set()).add(place[match.column])
    columns = np.zeros((len(schema.columns), 6), dtype=np.float32)
    for match in values:
        row = place.get(match.column)
        if row is None:
            continue
        words = match.phrase.casefold().split()
        # A phrase that names something in the schema, or that many columns hold, says less.
        naming = all(stem(word) in schema.by_stem for word in words)
        sharing = len(per_phrase[match.phrase])
        columns[row, 0] = max(columns[row, 0], match.score)
        columns[row, 1] += 1.0
        columns[row, 2] = max(columns[row, 2], min(len(match.phrase), 30) / 30.0)
        columns[row, 3] = max(columns[row, 3], match.score / sharing)
        columns[row, 4] = max(columns[row, 4], 0.0 if naming else match.score)
        columns[row, 5] = max(columns[row, 5], float(match.value.casefold() in asked.text))
    columns[:, 1] = np.log1p(columns[:, 1])
    tables = np.zeros((len(schema.tables), 2), dtype=np.float32)
    np.maximum.at(tables[:, 0], schema.table_of, columns[:, 0])
    np.maximum.at(tables[:, 1], schema.table_of, columns[:, 3])
    return np.concatenate([columns, tables[schema.table_of]], axis=1), tables


def phrase_features(
    asked: QuestionArrays, schema: SchemaArrays, rows: IntArray, words: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Features from encoder vectors: (len(rows), PHRASE_FEATURES) and (T, 4).

    `rows` are places of columns; `words` is the (N, len(rows)) match of words alone, so that
    competition counts both.
    """
    parts = (schema.name_texts[rows], schema.context_texts[rows], schema.description_texts[rows],
             schema.table_texts)  # fmt: skip
    # All at once, so that what has to be embedded is embedded in full batches.
    cosines = schema.vectors.cosines(asked.vectors, np.concatenate(parts))
    by_name, by_context, by_description, by_table = np.split(
        cosines, np.cumsum([len(part) for part in parts[:-1]]), axis=1
    )
    # A token has the cosine of the best phrase that it is part of.
    both = np.maximum(by_name, by_context)[1:]
    tokens_here = np.zeros((len(asked.tokens), len(rows)), dtype=np.float32)
    for index, (first, end) in enumerate(asked.spans):
        np.maximum(tokens_here[first:end], both[index], out=tokens_here[first:end])
    tokens_here = np.maximum(tokens_here, words)
    # Each content word is shared out among the columns, nearly all of it to the best one.
    sharp = np.exp(12.0 * (tokens_here - 1.0))
    won = sharp / (sharp.sum(axis=1, keepdims=True) + 1e-3) * asked.content[:, None]
    columns = [
        by_name[0], by_context[0], by_description[0],
        by_name[1:].max(axis=0, initial=0.0), by_context[1:].max(axis=0, initial=0.0),
        by_description[1:].max(axis=0, initial=0.0),
        _standard(by_context[0]), _standard(both.max(axis=0, initial=0.0)),
        reciprocal_rank(by_context[0]), reciprocal_rank(both.max(axis=0, initial=0.0)),
        won.sum(axis=0), won.max(axis=0, initial=0.0),
        (tokens_here * asked.content[:, None]).sum(axis=0) / max(float(asked.content.sum()), 1.0),
        by_table[0][schema.table_of[rows]],
        by_table[1:].max(axis=0, initial=0.0)[schema.table_of[rows]],
    ]  # fmt: skip
    tables = [
        by_table[0], by_table[1:].max(axis=0, initial=0.0), _standard(by_table[0]),
        reciprocal_rank(by_table[1:].max(axis=0, initial=0.0)),
    ]  # fmt: skip
    return _stack(columns), _stack(tables)


def _standard(values: FloatArray) -> FloatArray:
    """Values less their mean, over their standard deviation."""
    return np.asarray((values - values.mean()) / (values.std() + 1e-3), dtype=np.float32)
