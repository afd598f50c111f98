"""Rolling 64-bit hashes of many short strings at once, and of one the slow way.

A string's hash is the polynomial sum of its symbols, mixed. Because sums subtract, the hash of a
string with one symbol deleted costs two additions, which makes the one-edit neighbourhood of a
whole vocabulary cheap to enumerate (the symmetric-delete idea of SymSpell).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import mul

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint64]
Offsets = npt.NDArray[np.int64]

_MASK = (1 << 64) - 1
"""Arithmetic is modulo 2^64."""
_BASE = 0x9E3779B97F4A7C15
"""Base of the rolling hash: 2^64 divided by the golden ratio, odd (Knuth's multiplicative
hashing)."""
_INVERSE = pow(_BASE, -1, 1 << 64)
_MIX = 0xD6E8FEB86659FD93
"""Odd 64-bit multiplier that spreads a hash's bits."""

LONGEST = 256
"""Symbols beyond this many don't enter a hash."""

_SCALAR_POWERS = [pow(_BASE, i, 1 << 64) for i in range(LONGEST)]
_POWER_SUMS = list(accumulate(_SCALAR_POWERS, initial=0))


def mixed(sums: Words) -> Words:
    """Spread polynomial sums over all bits, the high ones above all."""
    out = sums ^ (sums >> np.uint64(32))
    out *= np.uint64(_MIX)
    out ^= out >> np.uint64(29)
    out *= np.uint64(_BASE)
    return out


def _mixed_scalar(value: int) -> int:
    value ^= value >> 32
    value = value * _MIX & _MASK
    value ^= value >> 29
    return value * _BASE & _MASK


def hash_one(symbols: Sequence[int]) -> int:
    """Hash of one string given as its symbols (bytes or code points)."""
    total = sum(map(mul, symbols, _SCALAR_POWERS)) + _POWER_SUMS[min(len(symbols), LONGEST)]
    return _mixed_scalar(total & _MASK)


def deletion_hashes(symbols: Sequence[int]) -> list[int]:
    """Hash of the string, then of it with each symbol deleted in turn."""
    terms = [
        (symbol + 1) * power & _MASK for symbol, power in zip(symbols, _SCALAR_POWERS, strict=False)
    ]
    after = sum(terms)
    out, before = [_mixed_scalar(after & _MASK)], 0
    for term in terms:
        after -= term
        out.append(_mixed_scalar((before + after * _INVERSE) & _MASK))
        before += term
    return out


@dataclass(frozen=True, slots=True)
class Powers:
    """The first powers of the hash's base and of its inverse, for arrays up to `count` symbols."""

    rising: Words
    falling: Words

    @classmethod
    def upto(cls, count: int) -> Powers:
        return cls(_powers(_BASE, count), _powers(_INVERSE, count))


def _powers(base: int, count: int) -> Words:
    out = np.full(count + 1, base, np.uint64)
    out[0] = 1
    return np.cumprod(out)


@dataclass(frozen=True, slots=True)
class Hasher:
    """Hashes of spans of one array of symbols, each in constant time."""

    sums: Words
    unshift: Words

    @classmethod
    def over(cls, symbols: npt.NDArray[np.integer], powers: Powers | None = None) -> Hasher:
        if powers is None or len(powers.rising) <= len(symbols):
            powers = Powers.upto(len(symbols))
        terms = symbols.astype(np.uint64)
        terms += np.uint64(1)
        terms *= powers.rising[: len(terms)]
        sums = np.zeros(len(terms) + 1, np.uint64)
        np.cumsum(terms, out=sums[1:])
        return cls(sums, powers.falling)

    def spans(self, starts: Offsets, ends: Offsets) -> Words:
        """Hash of each symbols[start:end], of its first `LONGEST` symbols at most."""
        ends = np.minimum(ends, starts + LONGEST)
        return mixed((self.sums[ends] - self.sums[starts]) * self.unshift[starts])

    def deletions(self, starts: Offsets, ends: Offsets, at: Offsets) -> Words:
        """Hash of each symbols[start:end] without the symbol at `at`."""
        before = self.sums[at] - self.sums[starts]
        after = (self.sums[ends] - self.sums[at + 1]) * np.uint64(_INVERSE)
        return mixed((before + after) * self.unshift[starts])
