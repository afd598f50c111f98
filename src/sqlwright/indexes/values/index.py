"""The value index: stored values by their likeness to a phrase, a few milliseconds at a million.

A phrase is looked up in rising order of cost: as a whole (hash), as a prefix (values are sorted),
by its tokens (rarest first), by tokens one edit away (deletion hashes), and by tokens that share
character trigrams. Candidates are ranked by the IDF-weighted share of the phrase they cover and by
edit similarity. Own design; it takes the place of the locality-sensitive hashing of CHESS
section 3.1 and CHASE-SQL section 3.2, which `indexes.minhash` has as published.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path

import numpy as np
from rapidfuzz import fuzz
from rapidfuzz.process import cdist

from sqlwright.indexes import folding, storage
from sqlwright.indexes.storage import PagedArray, damaged
from sqlwright.indexes.values import hashing
from sqlwright.indexes.values.arrays import ColumnValues, IndexArrays, build_arrays
from sqlwright.indexes.values.covering import SHORTLIST, TOKEN_POSTINGS, Coverage, PhraseToken
from sqlwright.indexes.values.reader import ArrayReader
from sqlwright.indexes.values.strings import SORTED_BYTES
from sqlwright.protocols import Run
from sqlwright.schema import ColumnRef
from sqlwright.types import ValueMatch

EQUAL, EQUAL_FOLDED, EQUAL_SQUASHED = 1.0, 0.99, 0.98
"""Scores of values that differ from the phrase in nothing but case and accents, in punctuation
too, and in spaces too."""
ALMOST = 0.97
"""Most that a value scores which differs from the phrase in more than punctuation and spaces."""
_BEGINS = 0.84
"""Least share of a phrase that a value counts as covering when it starts with it."""
_ALIKE = 80
"""Least edit similarity, of 100, for texts that differ in nothing but spaces to count as equal."""


def equal(folded: str, form: str) -> bool:
    """True if two folded texts differ in nothing but spaces, and in few of these."""
    return folded == form or (
        folding.squash(folded) == folding.squash(form) and fuzz.ratio(folded, form) > _ALIKE
    )


def likenesses(
    phrase: str,
    folded: str,
    forms: Sequence[str],
    shares: Sequence[float],
    *,
    begin: range,
    same: Iterable[int],
    spelling: Callable[[int], str],
) -> list[float]:
    """Score in [0, 1] of each value, given as its folded text and the share of the phrase's weight
    that it covers.

    Half of it is the share, the rest edit similarity with the words in the given or in alphabetical
    order. Only the values in `begin` may start with the phrase; only those at `same`
    equal it but for spaces. `spelling` is asked for one of these as it is stored.
    """
    ordered = cdist([folded], forms, scorer=fuzz.ratio)
    alike = np.maximum(ordered, cdist([folded], forms, scorer=fuzz.token_sort_ratio))[0].tolist()
    scores = [0.5 * share + 0.0045 * like for share, like in zip(shares, alike, strict=True)]
    for at in begin:
        if forms[at].startswith(folded):
            share = max(shares[at], _BEGINS)
            scores[at] = min(0.5 * share + 0.0045 * alike[at] + 0.05, ALMOST)
    for at in same:
        scores[at] = EQUAL_FOLDED if forms[at] == folded else EQUAL_SQUASHED
        if folding.soften(spelling(at)) == folding.soften(phrase):
            scores[at] = EQUAL
    return scores


# What one phrase may cost.
PREFIX_HITS = 48
MOST_TOKENS = 16
"""Different words of a phrase that are searched."""
SHORTEST_PREFIX = 3
"""Characters of a phrase at least for which values that begin with it are found."""

LEAST = 0.3
"""Matches below this similarity are not returned."""


class Searcher:
    """Answers phrases. Read-only but for scratch space, of which each thread has its own."""

    def __init__(self, columns: Sequence[ColumnRef], arrays: Mapping[str, PagedArray]) -> None:
        self.columns = tuple(columns)
        self.reader = ArrayReader(arrays)
        self._coverage = Coverage(self.reader, len(self.columns))

    def search(self, phrases: Sequence[str], k: int, per_column: int) -> list[list[ValueMatch]]:
        """Matches of each phrase; words that phrases share are looked up once."""
        known: dict[str, PhraseToken] = {}
        try:
            return [self._search_one(phrase, k, per_column, known) for phrase in phrases]
        except (IndexError, UnicodeDecodeError) as error:
            raise damaged(str(error)) from error

    def _search_one(
        self, phrase: str, k: int, per_column: int, known: dict[str, PhraseToken]
    ) -> list[ValueMatch]:
        folded = folding.fold(phrase)
        if not folded or not self.reader.size or k <= 0:
            return []
        tokens = []
        for text in dict.fromkeys(folded.split()[:MOST_TOKENS]):
            if text not in known:
                known[text] = PhraseToken.look_up(text, self.reader)
            tokens.append(known[text])
        encoded = folded.encode("utf-8", "surrogatepass")
        squashed = hashing.hash_one(encoded.replace(b" ", b""))
        likely = self.reader.bucket("whole", squashed)[:SHORTLIST].tolist()
        forms = self.reader.forms(likely)
        same = [value for value, form in zip(likely, forms, strict=True) if equal(folded, form)]
        low, high = self.reader.values_from(encoded)
        begun = self._shortest(low, high) if len(folded) >= SHORTEST_PREFIX else ()
        # A single word may begin a value by chance and be a misspelling of another's.
        begins = low < high and len(tokens) > 1 and len(encoded) <= SORTED_BYTES
        shares = self._coverage.shares(tokens, found=begins or bool(same))
        for value in chain(likely, begun):
            shares.setdefault(value, 0.0)
        values = sorted(shares)
        scores = likenesses(
            phrase,
            folded,
            self.reader.forms(values),
            [shares[value] for value in values],
            begin=range(bisect_left(values, low), bisect_left(values, high)),
            same=[bisect_left(values, value) for value in same],
            spelling=lambda at: self.reader.text(values[at]),
        )
        return self._matches(phrase, values, scores, k, per_column)

    def _shortest(self, low: int, high: int) -> Iterable[int]:
        """The values from `low` to `high`, the shortest ones when there are many."""
        found = range(low, min(high, low + TOKEN_POSTINGS))
        if len(found) <= PREFIX_HITS:
            return found
        lengths = self.reader.lengths(np.arange(found.start, found.stop))
        shortest: list[int] = (np.argpartition(lengths, PREFIX_HITS)[:PREFIX_HITS] + low).tolist()
        return shortest

    def _matches(
        self, phrase: str, values: Sequence[int], scores: Sequence[float], k: int, per_column: int
    ) -> list[ValueMatch]:
        """The best `k` matches; of values that score alike, the first in the index's order."""
        taken: dict[int, int] = {}
        out: list[ValueMatch] = []
        spelling, holders, columns = self.reader.spelling, self.reader.holders, self.columns
        for at in sorted(range(len(scores)), key=scores.__getitem__, reverse=True):
            score = scores[at]
            if score < LEAST:
                break
            text = spelling(values[at])
            for column, rows in holders(values[at]):
                before = taken.get(column, 0)
                if before < per_column:
                    taken[column] = before + 1
                    shown = int(score * 1e4 + 0.5) / 1e4
                    out.append(ValueMatch(phrase, columns[column], text, shown, rows))
                    if len(out) >= k:
                        return out
        return out


__all__ = [
    "ColumnValues",
    "DiskValueIndex",
    "build_value_index",
    "memory_value_index",
    "open_value_index",
]

_KIND = "sqlwright value index"
_VERSION = 2
"""Version of the arrays' layout; an index of another version is built again."""
_NAMES = frozenset(
    """text text_at form form_at form_head token token_at token_head pair_at pair_column pair_rows
    post post_at edit edit_at gram gram_at whole whole_at""".split()  # noqa: SIM905
)


class DiskValueIndex:
    """An opened value index. Safe to use from several threads."""

    def __init__(self, searcher: Searcher, folder: Path | None = None) -> None:
        self._searcher = searcher
        self.folder = folder
        """The folder that holds it; None in memory."""

    @property
    def columns(self) -> tuple[ColumnRef, ...]:
        """The columns that have values in the index."""
        return self._searcher.columns

    def __len__(self) -> int:
        """Number of distinct texts."""
        return self._searcher.reader.size

    def search(self, phrase: str, k: int = 10, *, per_column: int = 3) -> list[ValueMatch]:
        """At most `k` matches, best first, at most `per_column` from any one column.

        Raises WorkspaceError when a page of the index that is needed is damaged.
        """
        return self._searcher.search([phrase], k, per_column)[0]

    def search_many(
        self, phrases: Sequence[str], k: int = 10, *, per_column: int = 3
    ) -> list[list[ValueMatch]]:
        """`search` for each phrase; words that phrases share are looked up once."""
        return self._searcher.search(phrases, k, per_column)

    def column_values(self, most: int | None = None) -> list[ColumnValues]:
        """Every column's texts with their rows, for an index of another kind; with `most` those of
        columns that hold at most so many, which reads nothing else.

        Raises WorkspaceError when a page is damaged.
        """
        reader = self._searcher.reader
        found: list[list[tuple[str, int]]] = [[] for _ in self.columns]
        some = range(reader.size) if most is None else reader.in_small_columns(most).tolist()
        for value in some:
            text, holders = reader.spelling(value), reader.holders(value)
            for column, rows in holders:
                found[column].append((text, rows))
        return [ColumnValues(ref, texts) for ref, texts in zip(self.columns, found, strict=True)]

    def frequent(self, column: ColumnRef, most: int) -> list[tuple[str, int]]:
        """The texts of a column that stand in most rows, with these; none for a column that isn't
        indexed. Raises WorkspaceError when a page is damaged."""
        if column not in self.columns:
            return []
        reader = self._searcher.reader
        found = reader.frequent(self.columns.index(column), most)
        return [(reader.spelling(value), rows) for value, rows in found]

    @property
    def beside(self) -> Path | None:
        """The folder with all that is prepared of this database; None in memory."""
        return None if self.folder is None else self.folder.parent

    def verify(self) -> None:
        """Check every page against its checksum. Raises WorkspaceError."""
        self._searcher.reader.verify()


def build_value_index(
    columns: Iterable[ColumnValues],
    folder: Path,
    *,
    run: Run | None = None,
    progress: Callable[[int], None] | None = None,
) -> None:
    """Index `columns` into `folder`, replacing it as a whole.

    `progress` is told how many (value, column) pairs have been read. Raises WorkspaceError when
    the folder can't be written, Cancelled when the run is.
    """
    built = build_arrays(columns, run=run, progress=progress)
    extra = {"columns": [list(column) for column in built.columns]}
    storage.write_folder(folder, _KIND, _VERSION, built.arrays, extra)


def open_value_index(folder: Path) -> DiskValueIndex:
    """Map an index that `build_value_index` wrote. Raises WorkspaceError.

    Takes about a millisecond whatever the index's size.
    """
    arrays, extra = storage.open_folder(folder, _KIND, _VERSION, _NAMES)
    try:
        columns = tuple(ColumnRef(str(table), str(name)) for table, name in extra["columns"])
    except (KeyError, TypeError, ValueError) as error:
        raise storage.damaged(f"header: {error}") from error
    return DiskValueIndex(Searcher(columns, arrays), folder)


def memory_value_index(columns: Iterable[ColumnValues]) -> DiskValueIndex:
    """The same index without files."""
    built: IndexArrays = build_arrays(columns)
    return DiskValueIndex(Searcher(built.columns, storage.in_memory(built.arrays)))
