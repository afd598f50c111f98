"""MinHash locality-sensitive hashing over stored values, then edit distance and embedding.

CHESS, section 3.1 (retrieve entity) and appendix A.1; CHASE-SQL, section 3.2. As published: one
signature of 100 permutations over the character 3-grams of the raw text, a Jaccard threshold of
0.01, the ten nearest by estimated Jaccard over the whole database, then edit similarity and, when
an embedder is given, embedding similarity, each with a floor.

Deviations: no column is left out by its name; a text that stands in several columns is hashed
once; the quota per column is applied to the result. At this threshold the bands have one row, so a
lookup compares several per cent of all values: `indexes.values` is the index to use at scale.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt
from rapidfuzz import fuzz

from sqlwright.errors import ConfigError
from sqlwright.indexes.derived import Holders
from sqlwright.indexes.folding import soften
from sqlwright.indexes.values.arrays import ColumnValues
from sqlwright.protocols import Embedder
from sqlwright.types import ValueMatch

Numbers = npt.NDArray[np.uint32]

Library = Literal["datasketch", "rensa"]


class Signatures(Protocol):
    """Signatures by number, and the numbers of those that collide with a text's."""

    def add(self, number: int, grams: list[str]) -> None: ...
    def collisions(self, grams: list[str]) -> list[tuple[float, int]]:
        """(estimated Jaccard, number) pairs."""
        ...


def grams_of(text: str, gram: int = 3) -> list[str]:
    """All pieces of so many characters."""
    return [text[at : at + gram] for at in range(len(text) - gram + 1)]


class MinHashIndex:
    """The published value index, in memory. Raises ConfigError without the `lsh` extra."""

    def __init__(
        self,
        columns: Iterable[ColumnValues],
        *,
        embedder: Embedder | None = None,
        library: Library = "datasketch",
        permutations: int = 100,
        gram: int = 3,
        threshold: float = 0.01,
        shortlist: int = 10,
        least_edit: float = 0.3,
        least_embedding: float = 0.6,
        signatures: Signatures | None = None,
    ) -> None:
        """`signatures` are those of the distinct texts in their order, where they are known."""
        self._holders = Holders(columns)
        self._embedder = embedder
        self._gram, self._shortlist = gram, shortlist
        self._least_edit, self._least_embedding = least_edit, least_embedding
        self._signatures = signatures or _signatures(library, permutations, threshold)
        if signatures is None:
            for number, text in enumerate(self._holders.texts):
                self._signatures.add(number, grams_of(text, gram))

    def search(self, phrase: str, k: int = 10, *, per_column: int = 3) -> list[ValueMatch]:
        """At most `k` matches, best first, at most `per_column` from any one column."""
        soft = soften(phrase)
        if not soft or k <= 0:
            return []
        found = sorted(
            self._signatures.collisions(grams_of(phrase, self._gram)),
            key=lambda pair: (-pair[0], pair[1]),
        )
        texts = [self._holders.texts[number] for _, number in found[: max(self._shortlist, k)]]
        scored = [(fuzz.ratio(soft, soften(text)) / 100, text) for text in texts]
        scored = [pair for pair in scored if pair[0] >= self._least_edit]
        if self._embedder and scored:
            near = self._embedder.embed([phrase, *(text for _, text in scored)])
            alike = (near[1:] @ near[0]).tolist()
            scored = [
                pair
                for pair, cosine in zip(scored, alike, strict=True)
                if cosine >= self._least_embedding
            ]
        return self._holders.matches(phrase, scored, k, per_column)

    def search_many(
        self, phrases: Sequence[str], k: int = 10, *, per_column: int = 3
    ) -> list[list[ValueMatch]]:
        """`search` for each phrase."""
        return [self.search(phrase, k, per_column=per_column) for phrase in phrases]


def signature_maker(library: Library, permutations: int = 100) -> Callable[[list[str]], Numbers]:
    """The function from character groups to a signature. Raises ConfigError without the extra."""
    hashed = _signatures(library, permutations, 0.01)
    return hashed.numbers


def _signatures(library: Library, permutations: int, threshold: float) -> _Hashed:
    try:
        if library == "rensa":
            return _Rensa(permutations, threshold)
        return _Datasketch(permutations, threshold)
    except ImportError as error:
        raise ConfigError(
            f"the MinHash value index needs {library}, which is not installed",
            hint="pip install 'sqlwright[lsh]'",
        ) from error


class _Hashed:
    """Signatures by number and their LSH; a library says how each is made."""

    def __init__(self, lsh: Any) -> None:
        self._lsh = lsh
        self._known: list[Any] = []

    def _signature(self, grams: list[str]) -> Any:
        raise NotImplementedError

    def numbers(self, grams: list[str]) -> Numbers:
        """A signature as it is kept."""
        raise NotImplementedError

    def add(self, number: int, grams: list[str]) -> None:
        signature = self._signature(grams)
        self._known.append(signature)
        self._lsh.insert(number, signature)

    def collisions(self, grams: list[str]) -> list[tuple[float, int]]:
        signature = self._signature(grams)
        found = self._lsh.query(signature)
        return [(float(signature.jaccard(self._known[number])), number) for number in found]


class _Datasketch(_Hashed):
    def __init__(self, permutations: int, threshold: float) -> None:
        from datasketch import MinHash, MinHashLSH

        super().__init__(MinHashLSH(threshold=threshold, num_perm=permutations))
        self._make, self._permutations = MinHash, permutations

    def _signature(self, grams: list[str]) -> Any:
        signature = self._make(num_perm=self._permutations)
        for gram in grams:
            signature.update(gram.encode("utf-8", "surrogatepass"))
        return signature

    def numbers(self, grams: list[str]) -> Numbers:
        return np.asarray(self._signature(grams).hashvalues, np.uint32)


class _Rensa(_Hashed):
    def __init__(self, permutations: int, threshold: float) -> None:
        from rensa import RMinHash, RMinHashLSH

        super().__init__(RMinHashLSH(threshold, permutations, permutations))
        self._make, self._permutations = RMinHash, permutations

    def _signature(self, grams: list[str]) -> Any:
        signature = self._make(self._permutations, 1)
        signature.update(grams)
        return signature

    def numbers(self, grams: list[str]) -> Numbers:
        return np.asarray(self._signature(grams).digest(), np.uint32)
