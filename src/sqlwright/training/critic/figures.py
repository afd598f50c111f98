"""Figures of scores against labels: calibration error, area under the ROC curve."""

from __future__ import annotations

import numpy as np


def calibration_error(sure: np.ndarray, good: np.ndarray, bins: int = 10) -> float:
    """Expected calibration error over bins of equal count."""
    order = np.argsort(sure, kind="stable")
    parts = np.array_split(order, bins)
    gaps = [abs(sure[p].mean() - good[p].mean()) * len(p) for p in parts if len(p)]
    return float(sum(gaps) / max(len(sure), 1))


def auroc(scores: np.ndarray, labels: np.ndarray) -> float:
    """Probability that a positive scores above a negative, ties half."""
    positive, negative = scores[labels > 0.5], scores[labels <= 0.5]
    if not len(positive) or not len(negative):
        return float("nan")
    above = (positive[:, None] > negative[None, :]).mean()
    return float(above + 0.5 * (positive[:, None] == negative[None, :]).mean())
