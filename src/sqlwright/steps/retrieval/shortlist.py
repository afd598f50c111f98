"""Finds those of many short texts that share most words with a question: a cheap first
selection."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sqlwright.english.vocabulary import FUNCTION_WORDS
from sqlwright.english.words import stem, tokens


class Shortlist:
    """Texts by their word stems, rare ones counting most."""

    def __init__(self, texts: Sequence[str]) -> None:
        postings: dict[str, list[int]] = {}
        for number, text in enumerate(texts):
            for word in _stems(text):
                postings.setdefault(word, []).append(number)
        self._size = len(texts)
        self._postings = {word: np.array(found) for word, found in postings.items()}

    def nearest(self, text: str, most: int) -> list[int]:
        """Numbers of at most `most` texts, in their order; those that come first of equals."""
        scores: npt.NDArray[np.float32] = np.zeros(self._size, np.float32)
        for word in sorted(_stems(text)):
            found = self._postings.get(word)
            if found is not None:
                scores[found] += np.log1p(self._size / len(found))
        chosen = np.argsort(-scores, kind="stable")[:most]
        return sorted(int(number) for number in chosen)


def _stems(text: str) -> set[str]:
    return {stem(word.text) for word in tokens(text)} - FUNCTION_WORDS
