"""Figures of how sure answers were against which were right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]

RESAMPLED = 400
"""Times that questions are drawn anew for an interval; chosen."""
LEAST_IN_BIN = 15
"""Questions in a bin at least, by which their number is settled: of few questions, many bins would
show an error that is chance alone; chosen."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure with its 95 % interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


def calibration_error(sure: Numbers, good: Numbers, bins: int = 10) -> float:
    """Expected calibration error over bins of equal count, at most so many, each of at least
    LEAST_IN_BIN. Answers shown with the same percentage share what of them is right: the order they
    came in must not divide them."""
    _, places = np.unique(np.round(sure, 2), return_inverse=True)
    if len(sure):
        good = (np.bincount(places, weights=good) / np.bincount(places))[places]
    order = np.argsort(sure, kind="stable")
    number = max(1, min(bins, len(sure) // LEAST_IN_BIN))
    parts = np.array_split(order, number)
    gaps = [abs(sure[p].mean() - good[p].mean()) * len(p) for p in parts if len(p)]
    return float(sum(gaps) / max(len(sure), 1))


def auroc(scores: Numbers, labels: Numbers) -> float:
    """Probability that a positive scores above a negative, ties half."""
    positive = labels > 0.5
    wins = int(positive.sum())
    losses = len(labels) - wins
    if not wins or not losses:
        return float("nan")
    # By ranks (Mann and Whitney 1947), those of ties at their mean: pairs would be too many.
    _, places, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = np.cumsum(counts) - (counts - 1) / 2
    return float((ranks[places][positive].sum() - wins * (wins + 1) / 2) / (wins * losses))


def with_interval(
    figure: Callable[[Numbers, Numbers], float],
    sure: Numbers,
    good: Numbers,
    *,
    clusters: Sequence[str] | None = None,
    seed: int = 1,
) -> Figure:
    """A figure with its interval by drawing anew, whole clusters where they are given."""
    names = [str(n) for n in range(len(sure))] if clusters is None else list(clusters)
    places: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        places.setdefault(name, []).append(place)
    # Of one or two clusters nothing could be said: then its questions are drawn.
    groups = list(places.values()) if len(places) > 2 else [[n] for n in range(len(sure))]
    draw = np.random.default_rng(seed)
    found = []
    for _ in range(RESAMPLED):
        drawn = [p for g in draw.integers(len(groups), size=len(groups)) for p in groups[g]]
        found.append(figure(sure[drawn], good[drawn]))
    low, high = np.nanquantile(found, [0.025, 0.975])
    return Figure(figure(sure, good), float(low), float(high))
