"""Many byte strings in one blob: gathering them, their first bytes, and their order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]
Offsets = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

CHUNK = 1 << 15
"""Strings worked on at once, so that what is worked out about them stays in the cache."""
SORTED_BYTES = 64
"""Bytes of a string that decide its position."""

NOTHING = np.empty(0, np.int64)
_SORT_ROUNDS = SORTED_BYTES // 8 - 1
_LEADING = np.array([(1 << 64) - (1 << (64 - 8 * kept)) for kept in range(9)], np.uint64)
"""Masks that keep the first so many bytes of a big-endian word."""


@dataclass(frozen=True, slots=True)
class Strings:
    """Many byte strings in one blob."""

    blob: Bytes
    starts: Offsets
    ends: Offsets

    @classmethod
    def joined(cls, parts: Sequence[Strings]) -> Strings:
        if not parts:
            return cls(np.empty(0, np.uint8), NOTHING, NOTHING)
        sizes = np.cumsum([0, *(len(part.blob) for part in parts)])[:-1]
        return cls(
            np.concatenate([part.blob for part in parts]),
            np.concatenate([p.starts + at for p, at in zip(parts, sizes, strict=True)]),
            np.concatenate([p.ends + at for p, at in zip(parts, sizes, strict=True)]),
        )

    def some(self, which: Offsets) -> Strings:
        """Some of the strings, in the same blob."""
        return Strings(self.blob, self.starts[which], self.ends[which])

    def taken(self, order: Offsets) -> Strings:
        """These strings in this order, without anything between them."""
        starts = self.starts[order]
        lengths = self.ends[order] - starts
        ends = np.cumsum(lengths)
        blob = np.empty(int(ends[-1]) if len(ends) else 0, np.uint8)
        for low in range(0, len(order), CHUNK):  # the index arrays then fit in the cache
            part = slice(low, low + CHUNK)
            shift = starts[part] - (ends[part] - lengths[part])
            first, last = int(ends[part][0] - lengths[low]), int(ends[part][-1])
            blob[first:last] = self.blob[np.arange(first, last) + np.repeat(shift, lengths[part])]
        return Strings(blob, ends - lengths, ends)

    def keys(self, which: Offsets, skip: int) -> Words:
        """Eight bytes of some strings from byte `skip` on, as integers that sort as bytes do."""
        blob = self.blob if len(self.blob) >= 8 else np.append(self.blob, _LEADING.view(np.uint8))
        windows = np.ndarray((len(blob) - 7,), ">u8", blob.data, strides=(1,))
        starts = self.starts[which]
        left = np.clip(self.ends[which] - starts - skip, 0, 8)
        starts += skip
        at = np.clip(starts, 0, len(windows) - 1)
        keys = windows[at].astype(np.uint64)
        keys <<= (np.clip(starts - at, 0, 7) * 8).astype(np.uint64)
        keys &= _LEADING[left]
        return keys


def sorted_order(strings: Strings) -> Offsets:
    """Order of the strings by their first 64 bytes; equal ones keep their order."""
    lengths = strings.ends - strings.starts
    everything = np.arange(len(lengths))
    keys = strings.keys(everything, 0)
    order = np.argsort(keys)
    new = np.ones(len(order), bool)
    new[1:] = keys[order[1:]] != keys[order[:-1]]
    for level in range(1, _SORT_ROUNDS + 1):
        tied = ~new
        tied[:-1] |= ~new[1:]
        where = np.flatnonzero(tied)
        if len(where) == 0:
            break
        members, group = order[where], np.cumsum(new)[where]
        keys = strings.keys(members, 8 * level)
        inner = np.lexsort((members, keys, group))
        order[where], keys = members[inner], keys[inner]
        if not (lengths[members] > 8 * level).any():
            break
        new[where[1:]] |= keys[1:] != keys[:-1]
    return order
