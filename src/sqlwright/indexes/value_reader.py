"""Reading the value index's arrays: texts, tokens, postings, buckets, and places in the order.

Nothing here trusts the arrays: a slice can't leave its array, a number out of range raises
IndexError, and what is returned to a caller comes from pages whose checksums were compared.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from sqlwright.indexes import folding
from sqlwright.indexes.storage import PAGE, Array, PagedArray, damaged
from sqlwright.indexes.strings import SORTED_BYTES
from sqlwright.indexes.value_arrays import HEAD_EVERY

Ids = npt.NDArray[np.int64]


def _scalars(data: Array) -> Sequence[int]:
    """The array as a sequence of Python integers, which is several times as fast to index."""
    return data.data if data.dtype.isnative else data.astype(data.dtype.newbyteorder("=")).data


class Reader:
    """The arrays, with the index's invariants checked as far as that takes constant time."""

    def __init__(self, arrays: Mapping[str, PagedArray]) -> None:
        self._arrays = arrays
        self._data = {name: array.data for name, array in arrays.items()}
        self._views = {name: memoryview(self._data[name].data) for name in ("text", "token")}
        self._ints = {name: _scalars(data) for name, data in self._data.items()}
        self._bounds = {
            name: (self._ints[f"{name}_at"], self._data[name])
            for name in ("post", "edit", "gram", "whole")
        }
        self.size = len(self._data["text_at"]) - 1
        self.vocabulary = len(self._data["token_at"]) - 1
        self._pages = {
            name: (array.seen, page.bit_length() - 1, page)
            for name, array in arrays.items()
            for page in (PAGE // array.data.itemsize,)
        }
        self._bits = {name: self._bucket_bits(name) for name in ("edit", "gram", "whole")}
        expected = {"pair_at": self.size, "post_at": self.vocabulary}
        for name, count in expected.items():
            if len(self._data[name]) != count + 1:
                raise damaged(f"{name} has {len(self._data[name])} entries instead of {count + 1}")
        for name in ("text", "token", "post", "edit", "gram", "whole"):
            if int(self._data[f"{name}_at"][-1]) != len(self._data[name]):
                raise damaged(f"{name} does not end where its offsets do")

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

    def texts(self, values: Ids) -> list[str]:
        """Stored spellings, for comparing only: their pages are not checked."""
        return self._strings("text", values)

    def tokens(self, numbers: Ids) -> list[str]:
        return self._strings("token", numbers)

    def _strings(self, name: str, numbers: Ids) -> list[str]:
        at, view = self._data[f"{name}_at"], self._views[name]
        starts, ends = at[numbers].tolist(), at[numbers + 1].tolist()
        pieces = [view[start:end] for start, end in zip(starts, ends, strict=True)]
        joined = b"\0".join(pieces).decode("utf-8", "replace")
        found = joined.split("\0")
        if len(found) == len(pieces):
            return found
        return [bytes(piece).decode("utf-8", "replace") for piece in pieces]

    def lengths(self, values: Ids) -> npt.NDArray[np.float32]:
        """Bytes of stored texts."""
        at = self._data["text_at"]
        return (at[values + 1] - at[values]).astype(np.float32)

    def _token(self, number: int) -> bytes:
        at = self._ints["token_at"]
        return self._views["token"][at[number] : at[number + 1]].tobytes()

    def _folded(self, value: int) -> bytes:
        at = self._ints["text_at"]
        text = str(self._views["text"][at[value] : at[value + 1]], "utf-8", "replace")
        return folding.fold(text).encode("utf-8", "surrogatepass")[:SORTED_BYTES]

    # -- buckets and postings --

    def bucket(self, name: str, hashed: int) -> Ids:
        """Members of the bucket that a hash falls into."""
        return self._slice(name, hashed >> (64 - self._bits[name]))

    def buckets(self, name: str, hashes: Iterable[int]) -> list[Ids]:
        """The buckets of some hashes that have members."""
        shift, (at, members) = 64 - self._bits[name], self._bounds[name]
        found = []
        for hashed in hashes:
            number = hashed >> shift
            start, end = at[number], at[number + 1]
            if start < end:
                found.append(members[start:end])
        return found

    def postings(self, token: int) -> Ids:
        """Values that contain a token, ascending."""
        return self._slice("post", token)

    def _slice(self, name: str, number: int) -> Ids:
        at, members = self._bounds[name]
        return members[at[number] : at[number + 1]]

    # -- places in the order --

    def token_number(self, key: bytes) -> int:
        """Number of a token; -1 when no value has it."""
        number = self.token_bound(key)
        found = number < self.vocabulary and self._token(number) == key
        return number if found else -1

    def token_bound(self, key: bytes) -> int:
        """Number of the first token not below `key`."""
        low, high = self._around("token_head", key)
        return _first_not_below(key, low, min(high, self.vocabulary), self._token)

    def values_from(self, prefix: str) -> tuple[int, int]:
        """Range of the values whose folded text starts with `prefix` (its first 64 bytes)."""
        key = prefix.encode("utf-8", "surrogatepass")[:SORTED_BYTES]
        low, high = self._around("text_head", key)
        low = _first_not_below(key, low, min(high, self.size), self._folded)
        # Mostly none or one: a look at the next two is cheaper than another search.
        for value in range(low, min(low + 2, self.size)):
            if not self._folded(value).startswith(key):
                return low, value
        above = key + b"\xff"
        _, high = self._around("text_head", above)
        return low, _first_not_below(above, low, min(high, self.size), self._folded)

    def _around(self, heads: str, key: bytes) -> tuple[int, int]:
        """Where, by the first eight bytes alone, the first entry not below `key` may be."""
        firsts = self._ints[heads]
        head = int.from_bytes(key[:8].ljust(8, b"\0"), "big")
        low = bisect_left(firsts, head)
        high = bisect_right(firsts, head, low)
        return max(low - 1, 0) * HEAD_EVERY, high * HEAD_EVERY

    # -- what is handed out --

    def columns_of(self, values: Ids) -> Ids:
        """Number of the first column that holds each value."""
        columns: Ids = self._data["pair_column"][self._data["pair_at"][values]]
        return columns

    def _check(self, name: str, start: int, stop: int) -> None:
        """`PagedArray.check`; at once when both ends are in pages that have been checked."""
        seen, shift, page = self._pages[name]
        within = 0 < stop - start <= page  # or a page between the ends might be unchecked
        if not (within and seen[start >> shift] and seen[(stop - 1) >> shift]):
            self._arrays[name].check(start, stop)

    def checked_text(self, value: int) -> str:
        """The stored spelling. Raises WorkspaceError when its page is damaged."""
        self._check("text_at", value, value + 2)
        at = self._ints["text_at"]
        low, high = at[value], at[value + 1]
        self._check("text", low, high)
        return str(self._views["text"][low:high], "utf-8", "surrogatepass")

    def checked_holders(self, value: int) -> list[tuple[int, int]]:
        """Columns (by number) that hold a value, each with the number of rows."""
        self._check("pair_at", value, value + 2)
        at = self._ints["pair_at"]
        low, high = at[value], at[value + 1]
        self._check("pair_column", low, high)
        self._check("pair_rows", low, high)
        columns, rows = self._ints["pair_column"], self._ints["pair_rows"]
        return [(columns[pair], rows[pair]) for pair in range(low, high)]


def _first_not_below(key: bytes, low: int, high: int, read: Callable[[int], bytes]) -> int:
    while low < high:
        middle = (low + high) // 2
        if read(middle) < key:
            low = middle + 1
        else:
            high = middle
    return low


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
    """Which of sorted values differ from the one before."""
    new = np.ones(len(values), bool)
    np.not_equal(values[1:], values[:-1], out=new[1:])
    return new
