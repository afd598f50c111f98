"""Similarity of a phrase and the values that may answer it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from rapidfuzz import fuzz
from rapidfuzz.process import cdist

from sqlwright.indexes import folding

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
