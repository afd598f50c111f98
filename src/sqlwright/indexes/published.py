"""The value index that CHESS published, over the values of our own, its signatures kept on disk.

A folder `minhash-LIBRARY-DIGEST` beside the value index holds the signatures of its distinct texts,
in their order; the digest is that of the texts. At the published threshold a band has one row, so
two texts collide where any number of their signatures agrees: the whole table is compared at once,
which gives the collisions and the estimated similarity that the libraries give.
"""

from __future__ import annotations

import contextlib
import hashlib
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from sqlwright.errors import WorkspaceError
from sqlwright.indexes.derived import DerivedIndexes, Holders, listed_values
from sqlwright.indexes.minhash import Library, MinHashIndex, Numbers, grams_of, signature_maker
from sqlwright.indexes.storage import open_folder, write_folder
from sqlwright.indexes.values.arrays import ColumnValues
from sqlwright.protocols import Run, ValueIndex

PERMUTATIONS = 100
"""Numbers of a signature, as published."""
STEP = 256
"""Texts after which progress is told and the run is looked at."""
_KIND = "sqlwright minhash signatures"
_VERSION = 1
"""Version of the layout; signatures of another version are made again."""


class KeptSignatures:
    """Signatures of texts by their number, compared all at once."""

    def __init__(self, table: Numbers, make: Callable[[list[str]], Numbers]) -> None:
        self._table, self._make = table, make

    def add(self, number: int, grams: list[str]) -> None:
        """Nothing: all are there."""

    def collisions(self, grams: list[str]) -> list[tuple[float, int]]:
        """(estimated Jaccard, number) pairs."""
        agreeing = (self._table == self._make(grams)).sum(axis=1)
        return [(int(agreeing[n]) / PERMUTATIONS, n) for n in np.flatnonzero(agreeing).tolist()]


def signatures_of(
    columns: Sequence[ColumnValues],
    library: Library,
    folder: Path | None,
    run: Run,
    progress: Callable[[int, int], None] | None = None,
) -> KeptSignatures:
    """The signatures of the columns' texts, from `folder` if they are kept there, else made and
    kept there, in place of those of other texts.

    Raises ConfigError without the `lsh` extra, Cancelled, and what `progress` raises.
    """
    make = signature_maker(library, PERMUTATIONS)
    texts = Holders(columns).texts
    digest = hashlib.sha256("\0".join(texts).encode("utf-8", "surrogatepass")).hexdigest()[:24]
    place = None if folder is None else folder / f"minhash-{library}-{digest}"
    table = None if place is None else _read(place, len(texts))
    if table is None:
        table = np.zeros((len(texts), PERMUTATIONS), np.uint32)
        for number, text in enumerate(texts):
            if number % STEP == 0:
                run.check()
                if progress is not None:
                    progress(number, len(texts))
            table[number] = make(grams_of(text))
        if place is not None:
            with contextlib.suppress(WorkspaceError):  # an unwritable disk costs time only
                write_folder(place, _KIND, _VERSION, {"numbers": table.ravel()}, {})
    if place is not None:
        for other in place.parent.glob(f"minhash-{library}-*"):
            if other != place:
                shutil.rmtree(other, ignore_errors=True)
    return KeptSignatures(table, make)


def _read(place: Path, texts: int) -> Numbers | None:
    """The kept signatures; None where there are none or they are damaged."""
    try:
        arrays, _ = open_folder(place, _KIND, _VERSION, frozenset({"numbers"}))
        arrays["numbers"].verify()
        found: Numbers = arrays["numbers"].data.reshape(texts, PERMUTATIONS)
    except (WorkspaceError, ValueError):
        return None
    return found


class PublishedIndexes:
    """MinHash indexes of the value indexes seen last, made when first asked for; thread-safe.

    Without the thresholds of similarity, which the step that asks them has itself."""

    def __init__(self) -> None:
        self._made: DerivedIndexes[ValueIndex, MinHashIndex] = DerivedIndexes()

    def of(
        self, index: ValueIndex, library: Library = "datasketch", run: Run | None = None
    ) -> MinHashIndex:
        """The published index over the same values. Raises ConfigError without the `lsh` extra and
        for an index that can't list its values, and Cancelled."""

        def made(index: ValueIndex) -> MinHashIndex:
            columns = listed_values(index, "searched by MinHash signatures")
            values = getattr(index, "folder", None)
            beside = None if values is None else values.parent
            found = signatures_of(columns, library, beside, run or Run())
            return MinHashIndex(columns, library=library, least_edit=0.0, signatures=found)

        return self._made.of(index, made)
