"""The value index: stored values by their likeness to a phrase, a few milliseconds at a million.

A phrase is looked up in rising order of cost: as a whole (hash), as a prefix (values are sorted),
by its tokens (rarest first), by tokens one edit away (deletion hashes), and by tokens that share
character trigrams. Candidates are ranked by the IDF-weighted share of the phrase they cover and by
edit similarity. Own design; it takes the place of the locality-sensitive hashing of CHESS
section 3.1 and CHASE-SQL section 3.2, which `indexes.minhash` has as published.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from sqlwright.indexes import storage
from sqlwright.indexes.values.arrays import ColumnValues, IndexArrays, build_arrays
from sqlwright.indexes.values.search import Searcher
from sqlwright.protocols import Run
from sqlwright.schema import ColumnRef
from sqlwright.types import ValueMatch

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
