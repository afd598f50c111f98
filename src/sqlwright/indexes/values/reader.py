"""Reading the value index's arrays: texts, tokens, postings, buckets, and positions in the order.

Nothing here trusts the arrays: a slice can't leave its array, a number out of range raises
IndexError, and what is returned to a caller comes from pages whose checksums were compared.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from sqlwright.indexes.storage import PAGE, Array, PagedArray, damaged
from sqlwright.indexes.values.strings import SORTED_BYTES

Ids = npt.NDArray[np.int64]

HEAD_BYTES = 8
"""Bytes of a string that are kept as an integer beside it."""


def _scalars(data: Array) -> Sequence[int]:
    """The array as a sequence of Python integers, which is several times as fast to index."""
    return data.data if data.dtype.isnative else data.astype(data.dtype.newbyteorder("=")).data


Holders = list[tuple[int, int]]


# A match comes from five arrays, and nearly always from pages that have been checked before. These
# are closures, since to look up each array and call its `check` would cost as much as the match.


def _bounds_reader(array: PagedArray, ints: Sequence[int]) -> Callable[[int], tuple[int, int]]:
    """A function from a value's number to its start and end by an array of bounds, checked."""
    seen, shift = array.seen, _page_shift(array)

    def bounds(value: int) -> tuple[int, int]:
        after = value + 1
        if not (seen[value >> shift] and seen[after >> shift]):
            array.check(value, value + 2)
        return ints[value], ints[after]

    return bounds


def _spelling_reader(
    text: PagedArray, view: memoryview, bounds: Callable[[int], tuple[int, int]]
) -> Callable[[int], str]:
    """A function from a value's number to its stored spelling, checked."""
    seen, shift = text.seen, _page_shift(text)

    def spelling(value: int) -> str:
        low, high = bounds(value)
        # A text that fills more than a page may have an unchecked one between its ends.
        ends_seen = seen[low >> shift] and seen[(high - 1) >> shift]
        if not ends_seen or high - low > PAGE:
            text.check(low, high)
        return str(view[low:high], "utf-8", "surrogatepass")

    return spelling


def _holders_reader(
    arrays: Mapping[str, PagedArray],
    ints: Mapping[str, Sequence[int]],
    bounds: Callable[[int], tuple[int, int]],
) -> Callable[[int], Holders]:
    """A function from a value's number to the columns that hold it and their rows, checked."""
    columns, rows = arrays["pair_column"], arrays["pair_rows"]
    column_of, rows_of = ints["pair_column"], ints["pair_rows"]
    columns_seen, columns_shift = columns.seen, _page_shift(columns)
    rows_seen, rows_shift = rows.seen, _page_shift(rows)

    def holders(value: int) -> Holders:
        low, high = bounds(value)
        seen = columns_seen[low >> columns_shift] and rows_seen[low >> rows_shift]
        if seen and high - low == 1:  # nearly every value is in one column only
            return [(column_of[low], rows_of[low])]
        columns.check(low, high)
        rows.check(low, high)
        return list(zip(column_of[low:high], rows_of[low:high], strict=True))

    return holders


def _page_shift(array: PagedArray) -> int:
    """An entry's number, shifted right by this, is its page's."""
    return (PAGE // array.data.itemsize).bit_length() - 1


class ArrayReader:
    """The arrays, with the index's invariants checked as far as that takes constant time."""

    def __init__(self, arrays: Mapping[str, PagedArray]) -> None:
        self._arrays = arrays
        self._data = {name: array.data for name, array in arrays.items()}
        self._views = {
            name: memoryview(self._data[name].data) for name in ("text", "form", "token")
        }
        self._ints = {name: _scalars(data) for name, data in self._data.items()}
        self._bounds = {
            name: (self._ints[f"{name}_at"], self._data[name])
            for name in ("post", "edit", "gram", "whole")
        }
        ints = self._ints
        text_bounds = _bounds_reader(arrays["text_at"], ints["text_at"])
        pair_bounds = _bounds_reader(arrays["pair_at"], ints["pair_at"])
        self.spelling = _spelling_reader(arrays["text"], self._views["text"], text_bounds)
        """The stored spelling of a value by its number. Raises WorkspaceError when a page that it
        comes from is damaged."""
        self.holders = _holders_reader(arrays, ints, pair_bounds)
        """Pairs of column number and rows that hold a value, by its number. Raises likewise."""
        self.size = len(self._data["text_at"]) - 1
        self.vocabulary = len(self._data["token_at"]) - 1
        self._bits = {name: self._bucket_bits(name) for name in ("edit", "gram", "whole")}
        expected = {
            "pair_at": self.size + 1,
            "form_at": self.size + 1,
            "form_head": self.size,
            "post_at": self.vocabulary + 1,
            "token_head": self.vocabulary,
        }
        for name, count in expected.items():
            if len(self._data[name]) != count:
                raise damaged(f"{name} has {len(self._data[name])} entries instead of {count}")
        for name in ("text", "form", "token", "post", "edit", "gram", "whole"):
            if int(self._data[f"{name}_at"][-1]) != len(self._data[name]):
                raise damaged(f"{name} does not end where its offsets do")

    def frequent(self, column: int, most: int) -> list[tuple[int, int]]:
        """(value, rows) of the texts in a column, those in most rows first and of equals the first
        in order. Raises WorkspaceError when a page is damaged."""
        owners, rows, starts = (
            self._arrays[name].checked(0, len(self._data[name]))
            for name in ("pair_column", "pair_rows", "pair_at")
        )
        places = np.flatnonzero(owners == column)
        counts = rows[places].astype(np.int64)
        chosen = np.argsort(-counts, kind="stable")[:most]
        values = np.searchsorted(starts, places[chosen], side="right") - 1
        return list(zip(values.tolist(), counts[chosen].tolist(), strict=True))

    def _bucket_bits(self, name: str) -> int:
        buckets = len(self._data[f"{name}_at"]) - 1
        if buckets.bit_count() != 1:
            raise damaged(f"{name}_at: {buckets} buckets")
        return buckets.bit_length() - 1

    def verify(self) -> None:
        """Check every page. Raises WorkspaceError."""
        for array in self._arrays.values():
            array.verify()

    # -- strings --

    def text(self, value: int) -> str:
        """A stored spelling, for comparing only: its pages are not checked."""
        return self._strings("text", (value,))[0]

    def forms(self, values: Iterable[int]) -> list[str]:
        """Folded texts, unchecked too."""
        return self._strings("form", values)

    def tokens(self, numbers: Iterable[int]) -> list[str]:
        return self._strings("token", numbers)

    def _strings(self, name: str, numbers: Iterable[int]) -> list[str]:
        at, view = self._ints[f"{name}_at"], self._views[name]
        pieces = [view[at[number] : at[number + 1]] for number in numbers]
        found = b"\0".join(pieces).decode("utf-8", "replace").split("\0")
        if len(found) == len(pieces):
            return found
        return [str(piece, "utf-8", "replace") for piece in pieces]

    def lengths(self, values: Ids) -> npt.NDArray[np.float32]:
        """Bytes of stored texts."""
        at = self._data["text_at"]
        return (at[values + 1] - at[values]).astype(np.float32)

    def _token(self, number: int) -> bytes:
        at = self._ints["token_at"]
        return self._views["token"][at[number] : at[number + 1]].tobytes()

    def _form(self, value: int) -> bytes:
        at = self._ints["form_at"]
        return self._views["form"][at[value] : at[value + 1]].tobytes()

    # -- buckets and postings --

    def bucket(self, name: str, hashed: int) -> Ids:
        """Members of the bucket that a hash falls into."""
        return self._slice(name, hashed >> (64 - self._bits[name]))

    def members(self, name: str, hashes: Iterable[int]) -> set[int]:
        """Members of the buckets that some hashes fall into."""
        shift, (at, members) = 64 - self._bits[name], self._bounds[name]
        found: set[int] = set()
        for hashed in hashes:
            number = hashed >> shift
            start, end = at[number], at[number + 1]
            if start < end:
                found.update(members[start:end].tolist())
        return found

    def postings(self, token: int) -> Ids:
        """Values that contain a token, ascending."""
        return self._slice("post", token)

    def _slice(self, name: str, number: int) -> Ids:
        at, members = self._bounds[name]
        return members[at[number] : at[number + 1]]

    # -- positions in the order --

    def token_number(self, key: bytes) -> int:
        """Number of a token; -1 when no value has it."""
        firsts, head = self._ints["token_head"], _head(key)
        low = bisect_left(firsts, head)
        if low == len(firsts) or firsts[low] != head:
            return -1
        if self._token(low) == key:
            return low
        if len(key) <= HEAD_BYTES:
            return -1
        high = bisect_right(firsts, head, low)
        low = bisect_left(range(high), key, low, key=self._token)
        return low if low < high and self._token(low) == key else -1

    def tokens_from(self, prefix: bytes) -> tuple[int, int]:
        """Range of the tokens that start with `prefix`."""
        return self._starting("token_head", prefix, self._token)

    def values_from(self, prefix: bytes) -> tuple[int, int]:
        """Range of the values whose folded text starts with `prefix` (its first 64 bytes)."""
        return self._starting("form_head", prefix[:SORTED_BYTES], self._form)

    def _starting(self, heads: str, key: bytes, read: Callable[[int], bytes]) -> tuple[int, int]:
        """Range of the entries that start with `key`."""
        firsts, head = self._ints[heads], _head(key)
        above = head + (1 << 8 * max(HEAD_BYTES - len(key), 0))
        low = bisect_left(firsts, head)
        if low == len(firsts) or firsts[low] >= above:
            return low, low
        high = bisect_left(firsts, above, low)
        if len(key) > HEAD_BYTES:
            low = bisect_left(range(high), key, low, key=read)
            high = bisect_left(range(high), key + b"\xff", low, key=read)
        return low, high

    # -- what is handed out --

    def columns_of(self, values: Ids) -> Ids:
        """Number of the first column that holds each value."""
        columns: Ids = self._data["pair_column"][self._data["pair_at"][values]]
        return columns

    def in_small_columns(self, most: int) -> Ids:
        """The values in columns that hold at most so many, ascending."""
        columns = self._data["pair_column"]
        if not len(columns):
            return np.empty(0, np.int64)
        small = np.bincount(columns) <= most
        pairs = np.flatnonzero(small[columns])
        return distinct(np.searchsorted(self._data["pair_at"], pairs, side="right") - 1)


def _head(key: bytes) -> int:
    return int.from_bytes(key[:HEAD_BYTES].ljust(HEAD_BYTES, b"\0"), "big")


def joined(parts: Sequence[Ids]) -> Ids:
    """Arrays of numbers as one."""
    return np.concatenate(parts, dtype=np.int64) if parts else np.empty(0, np.int64)


def distinct(values: Ids) -> Ids:
    """`np.unique` without what it costs few values; sorts `values` in place."""
    values.sort()
    return values[_new(values)]


def distinct_first(values: Ids) -> tuple[Ids, Ids]:
    """The distinct values in order, and where each came first."""
    order = values.argsort(kind="stable")
    values = values[order]
    new = _new(values)
    return values[new], order[new]


def _new(values: Ids) -> npt.NDArray[np.bool_]:
    """True for each of sorted values that differs from the one before."""
    new = np.empty(len(values), bool)
    new[:1] = True
    np.not_equal(values[1:], values[:-1], out=new[1:])
    return new
