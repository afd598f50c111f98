"""Numerical rules that more than one embedded model follows."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sqlwright.protocols import FloatArray


def sigmoid(values: FloatArray) -> FloatArray:
    """Logits as probabilities; float32 of the same shape."""
    # Clipped so that exp can't overflow; beyond 30 the probability hardly changes.
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(values, -30.0, 30.0))), dtype=np.float32)


def reciprocal_rank(values: FloatArray) -> FloatArray:
    """(N,) scores as 1 for the best, 1/2 for the second; equal scores share the better rank."""
    ordered = np.sort(-values)
    return np.asarray(1.0 / (1.0 + np.searchsorted(ordered, -values)), dtype=np.float32)


def softmax(logits: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """(N,) logits as N probabilities that sum to 1; an empty array stays one."""
    raised = np.exp(logits - logits.max()) if len(logits) else logits
    return np.asarray(raised / raised.sum() if len(logits) else logits)
