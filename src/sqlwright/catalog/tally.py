"""Counting the values of one column as its rows stream past.

Cells of all engines are taken as SQLite would hold them, as profiles and the value index have them.
A date is its ISO text, so that whatever reads a profile knows one way in which good dates are
written, whether the column holds dates or texts. Truth stays what it is: True and False are 1 and
0 to whatever counts, and are shown by their names.
"""

from __future__ import annotations

import datetime
import decimal
import json
import uuid
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from datetime import date
from decimal import Decimal
from heapq import nlargest
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from sqlwright.catalog.formats import Format, recognise_formats, recognise_number_formats
from sqlwright.catalog.records import ColumnProfile, Indexing
from sqlwright.types import Cell

if TYPE_CHECKING:
    from sqlwright.types import Cell

STORAGE: dict[type, str] = {
    int: "integer", bool: "integer", float: "real", decimal.Decimal: "real", str: "text",
    bytes: "blob", datetime.date: "text", datetime.datetime: "text", datetime.time: "text",
    datetime.timedelta: "text", uuid.UUID: "text", tuple: "text",
}  # fmt: skip
"""The storage class that cells of a type are counted in."""
NUMBERS = (int, float, decimal.Decimal)
"""Types of numbers, bool included."""
ORDERED: frozenset[type] = frozenset(
    {datetime.date, datetime.datetime, datetime.time, datetime.timedelta}
)
"""Types besides numbers and texts that have a least and a greatest value worth knowing."""
_LARGEST = 2**63
"""Whole numbers up to this fit everywhere that numbers are kept."""


def plain_cell(cell: Cell) -> Cell:
    """A cell as None, bool, int, float, text or bytes."""
    if type(cell) in (str, int, float, bool, bytes, type(None)):
        return cell
    if isinstance(cell, decimal.Decimal):
        return plain_number(cell)
    return written_cell(cell)


def plain_number(number: decimal.Decimal) -> int | float:
    """A decimal number, whole where it is written without a fraction."""
    if is_whole(number):
        return int(number)
    return float(number)


def is_whole(number: decimal.Decimal) -> bool:
    """True if a number is written without a fraction, and not too large to be kept."""
    return number.is_finite() and int(number.as_tuple().exponent) >= 0 and abs(number) < _LARGEST


def written_cell(cell: Cell) -> str:
    """A cell that is neither number nor blob as text: dates and times as ISO 8601 with a blank
    between, arrays as JSON."""
    if isinstance(cell, datetime.datetime):
        return cell.isoformat(" ")
    if isinstance(cell, datetime.date | datetime.time):
        return cell.isoformat()
    if isinstance(cell, tuple):
        return json.dumps(cell, default=_written_part, ensure_ascii=False)
    return str(cell)


def indexable_text(cell: Cell) -> str | None:
    """The text by which a value is looked up in the index; None for what nobody types in a
    question, or a rule reads better."""
    if isinstance(cell, str):
        return cell
    # A moment is a date with a time, which is never asked for whole.
    return cell.isoformat() if type(cell) is datetime.date else None


def _written_part(cell: Any) -> Any:
    if isinstance(cell, bytes):
        return cell.hex()
    return plain_cell(cell)


FREQUENT = 20
"""Values kept in a column's profile at most."""
FREQUENT_LENGTH = 200
"""Characters of such a value at most."""
ODD = 5
"""Values kept of the rarer kind, where numbers and texts are mixed."""
PLACEHOLDERS = (
    " ", "-", "--", "?", "N/A", "n/a", "#N/A", "NULL", "null", "Null", "(null)", "None", "none",
    "NaN", "nan", "nil",
)  # fmt: skip
"""Texts that programs write where there is no value."""
FORMAT_SAMPLE = 1_000
"""Different values by which a column's formats are recognised."""
T = TypeVar("T")
_DESCRIBED = 50_000
"""Different values from which formats and lengths are told at most."""


class Sketch:
    """An estimate of how many different values a stream has, from the k least hashes
    (Bar-Yossef et al. 2002, algorithm 2; Beyer et al. 2007). Relative error about 1/sqrt(k)."""

    def __init__(self, k: int = 4_096) -> None:
        self._k = k
        self._least: npt.NDArray[np.uint64] = np.empty(0, np.uint64)

    def add(self, values: Collection[Cell], kinds: Set[type]) -> None:
        """Count some more values, of these types."""
        if kinds == {int}:
            hashes = _whole_numbers(cast("Collection[int]", values))
        else:
            written = map(str.encode, values if kinds == {str} else map(str, values))  # type: ignore[arg-type]
            hashes = np.fromiter(map(zlib.crc32, written), np.int64, len(values))
        mixed = _mixed(hashes.view(np.uint64))
        if len(self._least) >= self._k:
            mixed = mixed[mixed < self._least[-1]]
        if len(mixed):
            self._least = np.unique(np.concatenate([self._least, mixed]))[: self._k]

    def estimate(self) -> int:
        """About how many different values were seen."""
        if len(self._least) < self._k:
            return len(self._least)
        share = float(self._least[-1]) / float(2**64)
        return round((self._k - 1) / share)


def _whole_numbers(values: Collection[int]) -> npt.NDArray[np.int64]:
    try:
        return np.fromiter(values, np.int64, len(values))
    except OverflowError:  # some engines have larger ones
        return np.fromiter(map(hash, values), np.int64, len(values))


def _mixed(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Spread 32-bit checksums evenly over 64 bits (the finaliser of splitmix64)."""
    mixed = values + np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


class ColumnTally:
    """Counts of one column. Beyond `cap` different values new ones are only estimated, while the
    rows of those already known go on being counted. Texts have room of their own: where most
    values are numbers, `texts` more are kept whatever the numbers take."""

    def __init__(self, cap: int, texts: int = 0) -> None:
        self.rows = 0
        self.counts: Counter[Cell] = Counter()
        self._cap = cap
        self._room = cap + texts
        self._types: Counter[type] = Counter()
        self._empty = 0
        self._sketch: Sketch | None = None
        self._numbers: tuple[Cell, Cell] = (None, None)
        self._texts: tuple[Cell, Cell] = (None, None)
        self._ordered: dict[type, tuple[Cell, Cell]] = {}
        self.lost_texts = False

    def add(self, cells: Sequence[Cell]) -> None:
        """Count the next rows of the column."""
        self.rows += len(cells)
        kinds = set(map(type, cells))
        if len(kinds) == 1:
            self._types[next(iter(kinds))] += len(cells)
        else:
            self._types.update(map(type, cells))
        if str in kinds:
            self._empty += cells.count("")
        if self._sketch is None:
            self.counts.update(cells)
            if len(self.counts) > self._cap:
                self._sketch = Sketch()
                self._notice(self.counts)
            return
        kept: Iterable[Cell] = filter(self.counts.__contains__, cells)
        if str in kinds and len(self.counts) < self._room:
            kept = [cell for cell in cells if isinstance(cell, str) or cell in self.counts]
        elif str in kinds or date in kinds:
            self.lost_texts = True
        self.counts.update(kept)
        self._notice(cells)

    def add_counted(self, counted: Iterable[tuple[Cell, int]]) -> None:
        """Count all rows of the column at once, given each value with its rows."""
        for cell, rows in counted:
            self.rows += rows
            self.counts[cell] += rows
            self._types[type(cell)] += rows
            if cell == "":
                self._empty += rows

    @property
    def kinds(self) -> Set[type]:
        """The types of the cells seen, NULL apart."""
        return {kind for kind, rows in self._types.items() if rows} - {type(None)}

    def texts(self) -> Iterator[tuple[str, int]]:
        """The different texts to look up and the rows of each."""
        for value, count in self.counts.items():
            text = indexable_text(value)
            if text is not None:
                yield text, count

    def profile(self, *, sampled: bool, indexing: Indexing) -> ColumnProfile:
        """The counts as a profile."""
        nulls = self._types.get(type(None), 0)
        storage = self._storage()
        if self._sketch is None:
            self._notice(self.counts)
            distinct = len(self.counts) - (None in self.counts)
        else:
            distinct = min(self._sketch.estimate(), self.rows - nulls)
        plain = map(plain_cell, islice(self.counts, _DESCRIBED))
        texts = [value for value in plain if isinstance(value, str)]
        minimum, maximum = map(plain_cell, self._range(storage))
        return ColumnProfile(
            storage=storage,
            rows=self.rows,
            nulls=nulls,
            distinct=distinct,
            distinct_exact=self._sketch is None and not sampled,
            minimum=_cut(minimum),
            maximum=_cut(maximum),
            formats=self._formats(texts, storage),
            frequent=self._frequent(),
            sampled=sampled,
            mean_length=round(sum(map(len, texts)) / len(texts), 1) if texts else 0.0,
            indexing=indexing,
            missing=self._missing(),
            odd=self._odd(storage),
        )

    def _storage(self) -> dict[str, int]:
        """Cells by storage class, in the order in which they were met."""
        storage: dict[str, int] = {}
        for kind, rows in self._types.items():
            if kind in STORAGE:
                name = STORAGE[kind]
                if kind is Decimal and self._decimals_are_whole():
                    name = "integer"
                storage[name] = storage.get(name, 0) + rows
        return storage

    def _decimals_are_whole(self) -> bool:
        seen = islice(self.counts, _DESCRIBED)
        return all(is_whole(value) for value in seen if isinstance(value, Decimal))

    def _missing(self) -> tuple[tuple[str, int], ...]:
        found = [("", self._empty), *((text, self.counts.get(text, 0)) for text in PLACEHOLDERS)]
        return tuple((text, rows) for text, rows in found if rows)

    def _odd(self, storage: dict[str, int]) -> tuple[tuple[Cell, int], ...]:
        """The most frequent values of the rarer kind."""
        numbers, texts = storage.get("integer", 0) + storage.get("real", 0), storage.get("text", 0)
        if not numbers or not texts:
            return ()
        rarer: type | tuple[type, ...] = str if numbers > texts else NUMBERS
        placeholders = {"", *PLACEHOLDERS}
        found = [
            (_cut(plain_cell(value)), rows)
            for value, rows in self.counts.items()
            if isinstance(value, rarer) and value not in placeholders
        ]
        return tuple(nlargest(ODD, found, key=itemgetter(1)))

    def _notice(self, values: Iterable[Cell]) -> None:
        """Let the estimate and the ranges know some values."""
        known = set(values)
        known.discard(None)
        kinds = set(map(type, known))
        if self._sketch is not None:
            self._sketch.add(known, kinds)
        self._extend(known, kinds)

    def _extend(self, values: Collection[Cell], kinds: Set[type]) -> None:
        """Widen the ranges. Nearly always all values are of one kind, and then it is quick."""
        numbers: Collection[Cell] = ()
        texts: Collection[Cell] = ()
        if kinds <= {int, float}:
            numbers = values
        elif kinds == {str}:
            texts = values
        else:
            numbers = [value for value in values if isinstance(value, NUMBERS)]
            texts = [value for value in values if isinstance(value, str)]
            for kind in kinds & ORDERED:
                some = [value for value in values if type(value) is kind]
                self._ordered[kind] = _widened(self._ordered.get(kind, (None, None)), some)
        if numbers:
            self._numbers = _widened(self._numbers, numbers)
        if texts:
            self._texts = _widened(self._texts, texts)

    def _range(self, storage: dict[str, int]) -> tuple[Cell, Cell]:
        numbers = storage.get("integer", 0) + storage.get("real", 0)
        if numbers > storage.get("text", 0):
            return self._numbers
        kind = max(self._ordered, key=self._types.__getitem__, default=str)
        return self._texts if self._types[str] >= self._types[kind] else self._ordered[kind]

    def _formats(self, texts: list[str], storage: dict[str, int]) -> tuple[Format, ...]:
        numbers = storage.get("integer", 0) + storage.get("real", 0)
        if storage.get("text", 0) >= numbers:
            return recognise_formats(_spread(texts, FORMAT_SAMPLE))
        if self.kinds == {bool}:
            return (Format("boolean", 1.0),)
        plain = map(plain_cell, islice(self.counts, _DESCRIBED))
        found = [value for value in plain if isinstance(value, int | float)]
        return recognise_number_formats(_spread(found, FORMAT_SAMPLE))

    def _frequent(self) -> tuple[tuple[Cell, int], ...]:
        counted = self.counts.most_common(FREQUENT + 1)
        return tuple(
            (value, count)
            for value, count in ((plain_cell(cell), count) for cell, count in counted)
            if value is not None
            and not isinstance(value, bytes)
            and not (isinstance(value, str) and len(value) > FREQUENT_LENGTH)
        )[:FREQUENT]


def _spread(items: Sequence[T], limit: int) -> Sequence[T]:
    """At most `limit` of the items, evenly spread."""
    return items if len(items) <= limit else items[:: -(-len(items) // limit)]


def _cut(value: Cell) -> Cell:
    return value[:FREQUENT_LENGTH] if isinstance(value, str) else value


def _widened(known: tuple[Cell, Cell], values: Collection[Cell]) -> tuple[Cell, Cell]:
    """A range that takes in values of one kind."""
    ends: list[Any] = [*(end for end in known if end is not None), min(values), max(values)]  # type: ignore[type-var]
    return min(ends), max(ends)
