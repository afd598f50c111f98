"""Building the value index: stored values in, flat arrays out. Everything is vectorised.

Values are numbered in the order of their folded text, tokens in theirs, so that a prefix is a
range. The arrays:

| array | what |
|---|---|
| text, text_at | stored spellings, UTF-8, one blob and n + 1 offsets |
| form, form_at | the folded texts, likewise |
| form_head, token_head | first eight bytes of each folded text and token, as integers |
| pair_at, pair_column, pair_rows | for each value: the columns that hold it, and in how many rows |
| token, token_at | distinct tokens, sorted, one blob and offsets |
| post_at, post | for each token: the values that contain it, ascending |
| edit_at, edit | buckets of the tokens' hashes and of their one-deletion hashes -> tokens |
| gram_at, gram | buckets of character trigrams -> tokens |
| whole_at, whole | buckets of the hash of the whole text without spaces -> values |
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import compress, count, islice
from operator import itemgetter, ne
from typing import Any

import numpy as np
import numpy.typing as npt

from sqlwright.indexes import folding
from sqlwright.indexes.values import hashing
from sqlwright.indexes.values.strings import CHUNK, NOTHING, Strings, sorted_order
from sqlwright.protocols import Run
from sqlwright.schema import ColumnRef

Array = npt.NDArray[Any]
Offsets = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Ids = npt.NDArray[np.uint32]

TOKEN_BYTES = 32
"""Bytes of a token that are indexed; longer words are found by their beginning."""
SHORTEST_FUZZY, LONGEST_FUZZY = 3, 24
"""Characters a token must have for its misspellings to be looked for."""
_TEXT, _ROWS = itemgetter(0), itemgetter(1)


@dataclass(frozen=True, slots=True)
class ColumnValues:
    """One column's distinct values, each with the number of rows that hold it."""

    column: ColumnRef
    values: Iterable[tuple[str, int]]


@dataclass(frozen=True, slots=True)
class IndexArrays:
    """The index's arrays by name, and the columns that `pair_column` numbers."""

    columns: tuple[ColumnRef, ...]
    arrays: dict[str, Array]


def build_arrays(
    columns: Iterable[ColumnValues],
    *,
    run: Run | None = None,
    progress: Callable[[int], None] | None = None,
) -> IndexArrays:
    """Index `columns`. `progress` is told how many (value, column) pairs have been read."""
    collected = _collected(columns, run, progress)
    chunks, powers = [], hashing.Powers.upto(CHUNK * 64)
    for first in range(0, len(collected.texts), CHUNK):
        if run:
            run.check()
        chunks.append(_chunk(collected.texts[first : first + CHUNK], powers))
    folded = Strings.joined([chunk.folded for chunk in chunks])
    order = sorted_order(folded)
    rank = np.empty(len(order), np.uint64)
    rank[order] = np.arange(len(order), dtype=np.uint64)
    if run:
        run.check()
    forms = folded.taken(order)
    arrays: dict[str, Array] = {"form_head": forms.keys(np.arange(len(order)), 0)}
    arrays |= _stored("form", forms)
    arrays |= _stored("text", Strings.joined([chunk.raw for chunk in chunks]).taken(order))
    arrays.update(
        _pairs(
            rank[collected.owners].astype(np.int64),
            collected.column_numbers,
            collected.rows,
            len(rank),
        )
    )
    wholes = np.concatenate([chunk.wholes for chunk in chunks] or [np.empty(0, np.uint64)])
    bits = bucket_bits(len(rank))
    arrays.update(_bucketed("whole", _packed(wholes >> np.uint64(64 - bits), rank), bits))
    if run:
        run.check()
    tokens, postings = _tokens(chunks, rank)
    arrays.update(_stored("token", tokens))
    arrays["token_head"] = tokens.keys(np.arange(len(tokens.starts)), 0)
    arrays.update(postings)
    arrays.update(_neighbours(tokens))
    return IndexArrays(tuple(collected.refs), arrays)


@dataclass(frozen=True, slots=True)
class _Collected:
    """Distinct texts, and (text, column, rows) triples as three arrays."""

    refs: list[ColumnRef]
    texts: list[str]
    owners: Offsets
    column_numbers: Offsets
    rows: Offsets


def _collected(
    columns: Iterable[ColumnValues], run: Run | None, progress: Callable[[int], None] | None
) -> _Collected:
    refs: list[ColumnRef] = []
    texts: list[str] = []
    rows, hashes, sizes = [NOTHING], [NOTHING], []
    for column in columns:
        values, before = iter(column.values), len(texts)
        while batch := list(islice(values, CHUNK)):
            if run:
                run.check()
            found = list(map(_TEXT, batch))
            if "" in found:
                batch = list(filter(_TEXT, batch))
                found = list(map(_TEXT, batch))
            texts += found
            hashes.append(np.fromiter(map(hash, found), np.int64, len(found)))
            rows.append(np.fromiter(map(_ROWS, batch), np.int64, len(found)))
            if progress:
                progress(len(texts))
        if len(texts) > before:
            refs.append(column.column)
            sizes.append(len(texts) - before)
    owners = _first_equal(texts, np.concatenate(hashes))
    distinct = owners == np.arange(len(texts))
    return _Collected(
        refs,
        list(compress(texts, distinct.tolist())),
        (np.cumsum(distinct) - 1)[owners],
        np.repeat(np.arange(len(refs)), sizes),
        np.clip(np.concatenate(rows), 0, 2**32 - 1),
    )


def _first_equal(texts: Sequence[str], hashes: Offsets) -> Offsets:
    """For each text the number of the first one that is equal to it."""
    order = np.argsort(hashes, kind="stable")
    new = np.ones(len(order), bool)
    new[1:] = hashes[order[1:]] != hashes[order[:-1]]
    owners = np.empty(len(order), np.int64)
    owners[order] = order[new][np.cumsum(new) - 1]
    again = np.flatnonzero(owners != np.arange(len(owners)))
    firsts = owners[again].tolist()
    if any(map(ne, map(texts.__getitem__, again.tolist()), map(texts.__getitem__, firsts))):
        numbers: dict[str, int] = {}  # two different texts share a hash: compare them instead
        found = map(numbers.setdefault, texts, count())
        owners = np.fromiter(found, np.int64, len(texts))
    return owners


@dataclass(frozen=True, slots=True)
class _Chunk:
    """Arrays of a few thousand texts; small enough to be worked out inside the cache."""

    raw: Strings
    folded: Strings
    wholes: Words
    """Hash of each text without its spaces."""
    hashes: Words
    """Hashes of the distinct words; `words` are those in the folded blob."""
    words: Strings
    word_of: Ids
    """For each word of each text: its number among the distinct ones, and the text's."""
    text_of: Ids


def _chunk(texts: list[str], powers: hashing.Powers) -> _Chunk:
    joined = "\0".join([*texts, ""])
    raw = np.frombuffer(joined.encode("utf-8", "surrogatepass"), np.uint8)
    ends = np.flatnonzero(raw == 0)
    plain = texts
    if len(ends) != len(texts):
        encoded = [text.encode("utf-8", "surrogatepass") + b"\0" for text in texts]
        raw = np.frombuffer(b"".join(encoded), np.uint8)
        ends = np.cumsum([len(text) for text in encoded]) - 1
        plain = [text.replace("\0", " ") for text in texts]
    starts = np.concatenate((NOTHING, [0], ends[:-1] + 1))
    plain_bytes = raw.tobytes()
    if plain is not texts:
        plain_bytes = "\0".join([*plain, ""]).encode("utf-8", "surrogatepass")
    blob, folded_starts, folded_ends = folding.fold_all(plain, plain_bytes)
    word_starts, word_ends = folding.words_of(blob)
    word_texts = np.searchsorted(folded_ends, word_starts)
    near = word_starts - folded_starts[word_texts] < hashing.LONGEST
    word_starts, word_ends, word_texts = word_starts[near], word_ends[near], word_texts[near]
    word_ends = np.minimum(word_ends, word_starts + TOKEN_BYTES)
    hashes = hashing.Hasher.over(blob, powers).spans(word_starts, word_ends)
    first, word_of = _grouped(hashes)
    squashed = blob > folding.SPACE
    positions = np.zeros(len(blob) + 1, np.int64)
    np.cumsum(squashed, out=positions[1:])
    wholes = hashing.Hasher.over(blob[squashed], powers)
    return _Chunk(
        Strings(raw, starts, ends),
        Strings(blob, folded_starts, folded_ends),
        wholes.spans(positions[folded_starts], positions[folded_ends]),
        hashes[first],
        Strings(blob, word_starts[first], word_ends[first]),
        word_of,
        word_texts.astype(np.uint32),
    )


def _grouped(hashes: Words) -> tuple[Offsets, Ids]:
    """One member of each group of equal hashes, and the group of each member."""
    order = np.argsort(hashes)
    found = hashes[order]
    new = np.ones(len(order), bool)
    new[1:] = found[1:] != found[:-1]
    groups = np.empty(len(order), np.uint32)
    groups[order] = np.cumsum(new, dtype=np.uint32) - np.uint32(1)
    return order[new], groups


def _stored(name: str, strings: Strings) -> dict[str, Array]:
    ends = np.concatenate(([0], strings.ends))
    kind = np.uint32 if ends[-1] < 2**32 else np.uint64
    return {name: strings.blob, f"{name}_at": ends.astype(kind)}


def _pairs(
    owners: Offsets, column_numbers: Offsets, rows: Offsets, values: int
) -> dict[str, Array]:
    columns = int(column_numbers.max(initial=0)) + 1
    order = np.argsort(owners * columns + column_numbers, kind="stable")
    return {
        "pair_at": _starts(owners, values),
        "pair_column": column_numbers[order].astype(np.uint16 if columns <= 2**16 else np.uint32),
        "pair_rows": rows[order].astype(np.uint32),
    }


def _starts(groups: Array, count: int) -> Array:
    """Offsets of the groups 0..count-1 in a list sorted by group."""
    sizes = np.bincount(groups.astype(np.int64), minlength=count)
    return np.concatenate(([0], np.cumsum(sizes))).astype(np.uint32)


def bucket_bits(entries: int) -> int:
    """Bits of a bucket number when a table of `entries` is to hold two or three in each."""
    return max(4, int(entries).bit_length() - 1)


def _bucketed(name: str, packed: Words, bits: int) -> dict[str, Array]:
    """Members by bucket, ascending inside each, from (bucket, member) pairs."""
    packed = _distinct(packed)
    return {
        f"{name}_at": _starts(packed >> np.uint64(32), 1 << bits),
        name: packed.astype(np.uint32),  # the low half
    }


def _tokens(chunks: Sequence[_Chunk], rank: Words) -> tuple[Strings, dict[str, Array]]:
    """The distinct words in order, and the values that contain each."""
    if not chunks:
        nothing = np.empty(0, np.uint32)
        return Strings.joined([]), {"post_at": np.zeros(1, np.uint32), "post": nothing}
    first, groups = _grouped(np.concatenate([chunk.hashes for chunk in chunks]))
    found = Strings.joined([chunk.words for chunk in chunks]).some(first)
    by_text = sorted_order(found)
    position = np.empty(len(by_text), np.uint64)
    position[by_text] = np.arange(len(by_text), dtype=np.uint64) << np.uint64(32)
    packed = np.empty(sum(len(chunk.word_of) for chunk in chunks), np.uint64)
    low = texts = words = 0
    for chunk in chunks:
        high = low + len(chunk.word_of)
        packed[low:high] = position[groups[words : words + len(chunk.hashes)]][chunk.word_of]
        packed[low:high] |= rank[texts : texts + len(chunk.wholes)][chunk.text_of]
        low, texts, words = high, texts + len(chunk.wholes), words + len(chunk.hashes)
    packed = _distinct(packed)
    return found.taken(by_text), {
        "post_at": _starts(packed >> np.uint64(32), len(by_text)),
        "post": packed.astype(np.uint32),
    }


def _packed(groups: Words, members: Words) -> Words:
    """(group, member) pairs, each in one integer."""
    packed: Words = groups << np.uint64(32)
    packed |= members
    return packed


def _distinct(packed: Words) -> Words:
    packed.sort()
    new = np.ones(len(packed), bool)
    new[1:] = packed[1:] != packed[:-1]
    return packed[new]


def _neighbours(tokens: Strings) -> dict[str, Array]:
    """Edit and trigram tables over the tokens that have letters and a middling length."""
    points, starts, ends = _code_points(tokens)
    lengths = ends - starts
    letters = np.zeros(len(points) + 1, np.int32)
    np.cumsum((points < 0x30) | (points > 0x39), out=letters[1:])
    fuzzy = np.flatnonzero(
        (letters[ends] > letters[starts]) & (lengths >= SHORTEST_FUZZY) & (lengths <= LONGEST_FUZZY)
    )
    symbols = int(lengths[fuzzy].sum())
    edit_bits, gram_bits = bucket_bits(symbols + len(fuzzy)), min(17, bucket_bits(symbols))
    powers = hashing.Powers.upto(CHUNK * LONGEST_FUZZY)
    edits, grams = [np.empty(0, np.uint64)], [np.empty(0, np.uint64)]
    for low in range(0, len(fuzzy), CHUNK):
        some = fuzzy[low : low + CHUNK]
        first = int(starts[some[0]])
        part = points[first : int(ends[some[-1]])]
        near = _around(part, starts[some] - first, ends[some] - first, powers)
        members = some.astype(np.uint64)
        owners = np.repeat(members, lengths[some])
        edits.append(_packed(near[0] >> np.uint64(64 - edit_bits), members))
        edits.append(_packed(near[1] >> np.uint64(64 - edit_bits), owners))
        grams.append(_packed(near[2] >> np.uint64(64 - gram_bits), owners))
    return _bucketed("edit", np.concatenate(edits), edit_bits) | _bucketed(
        "gram", np.concatenate(grams), gram_bits
    )


def _around(
    points: Array, starts: Offsets, ends: Offsets, powers: hashing.Powers
) -> tuple[Words, Words, Words]:
    """Hashes of the strings, of them with each symbol left out, and of their trigrams."""
    lengths = ends - starts
    at = np.arange(int(lengths.sum())) + np.repeat(starts - (np.cumsum(lengths) - lengths), lengths)
    starts_at, ends_at = np.repeat(starts, lengths), np.repeat(ends, lengths)
    hasher = hashing.Hasher.over(points, powers)
    space = np.uint32(folding.SPACE)
    padded = np.concatenate(([space], points, [space]))
    before = np.where(at > starts_at, padded[at], space)
    after = np.where(at < ends_at - 1, padded[at + 2], space)
    return (
        hasher.spans(starts, ends),
        hasher.deletions(starts_at, ends_at, at),
        gram_hashes(before, points[at], after),
    )


def gram_hashes(first: Array, second: Array, third: Array) -> Words:
    """Hash of each trigram, given its three code points."""
    packed: Words = first.astype(np.uint64) << np.uint64(42)
    packed ^= second.astype(np.uint64) << np.uint64(21)
    packed ^= third.astype(np.uint64)
    return hashing.mixed(packed)


def _code_points(strings: Strings) -> tuple[npt.NDArray[np.uint32], Offsets, Offsets]:
    """Code points of all strings, and where among them each string starts and ends.

    A character that was cut in two at the end of a token is left out.
    """
    if not (strings.blob >= 0x80).any():
        return strings.blob.astype(np.uint32), strings.starts, strings.ends
    texts = [
        bytes(strings.blob[start:end]).decode("utf-8", "ignore")
        for start, end in zip(strings.starts.tolist(), strings.ends.tolist(), strict=True)
    ]
    ends = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)))
    points = np.frombuffer("".join(texts).encode("utf-32-le"), "<u4").astype(np.uint32)
    return points, np.concatenate(([0], ends[:-1])), ends
