"""Vectors as an endpoint gives them, checked, and as text, as the cache and recordings keep them.

The text is the numbers' half precision in hexadecimal, which no ranking feels and nothing that
masks credentials mistakes for one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sqlwright.llm.sending.failures import unreadable
from sqlwright.protocols import FloatArray

OFF = 0.01
"""Change of a length of 1 by half precision at most."""
LARGEST = 16_384
"""Numbers a vector may have."""


def vectors_from_form(form: Mapping[str, Any], wanted: int) -> FloatArray:
    """Unit vectors, one for each text, of a reply in OpenAI's form. Raises EndpointError, worth a
    retry, when there are more or fewer, when they differ in length or aren't finite numbers."""
    data = sorted(form["data"], key=lambda row: int(row.get("index") or 0))
    if len(data) != wanted:
        raise unreadable()
    return unit_rows([row["embedding"] for row in data])


def unit_rows(rows: Sequence[Sequence[float]]) -> FloatArray:
    """The rows with length 1. Raises EndpointError when that can't be."""
    sizes = {len(row) for row in rows}
    if len(sizes) != 1 or not 0 < max(sizes) <= LARGEST:
        raise unreadable()
    found = np.array(rows, dtype=np.float64)
    if found.ndim != 2 or not np.isfinite(found).all():
        raise unreadable()
    lengths = np.linalg.norm(found, axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or not lengths.all():
        raise unreadable()
    return np.asarray(found / lengths, dtype=np.float32)


def vectors_text(vectors: FloatArray) -> str:
    """The rows one after another."""
    return vectors.astype("<f2").tobytes().hex()


def vectors_from_text(text: str, wanted: int) -> FloatArray | None:
    """`wanted` unit vectors, (wanted, dimension); None when the text doesn't hold them."""
    try:
        numbers = np.frombuffer(bytes.fromhex(text), "<f2").astype(np.float32)
        rows = numbers.reshape(wanted, -1)
    except ValueError:
        return None
    # Not made exactly 1 again, so that what is kept once more stays the same to the last bit.
    lengths = np.linalg.norm(rows, axis=1)
    return rows if rows.size and np.all(abs(lengths - 1) < OFF) else None
