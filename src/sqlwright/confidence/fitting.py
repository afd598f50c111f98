"""Fits a calibration: logistic regression towards a prior, with what is left unknown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sqlwright.confidence.calibration import FARTHEST, Calibration, Numbers, Tuning, log_odds
from sqlwright.confidence.measures import ASKED
from sqlwright.confidence.wording import Wording

ROUNDS = 60
"""Steps of Newton's method at most; chosen."""
DECAY = 0.02
"""Weight of the prior for each measure's weight to be 0, beside a sum of weights of 1; chosen."""
FULL = 150
"""Questions from which on a family counts fully; chosen."""
SLOPE_KNOWN = 0.3
"""Standard deviation of the slope of a tuning around 1, before any question; chosen."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One answered question."""

    measures: Mapping[str, float]
    right: bool
    family: str
    cluster: str
    """Questions of one cluster (a database, a template) aren't independent of each other."""
    question: str = ""
    weight: float = 1.0


def fit(
    samples: Sequence[Sample],
    names: Mapping[str, int],
    *,
    wording: Wording | None = None,
) -> Calibration:
    """A calibration in which every family counts the same, but for small ones.

    `names` are the measures, each with the sign that its weight may have (1 or -1; 0 is any): one
    that would turn out otherwise gets no weight. The first should be the score. `wording` adds its
    measures to those of the samples.
    """
    signs = dict(names)
    told = [{**s.measures, **(wording.measures(s.question) if wording else {})} for s in samples]
    given = np.array([[one.get(n, 0.0) for n in names] for one in told])
    labels = np.array([float(s.right) for s in samples])
    weights = family_weights(samples)
    mean = (given * weights[:, None]).sum(0)
    scale = np.sqrt(((given - mean) ** 2 * weights[:, None]).sum(0)) + 1e-6
    rows = _rows((given - mean) / scale)
    dropped: set[int] = set()
    while True:
        found = regress(rows, labels, weights, dropped=dropped)
        wrong = [
            place
            for place, name in enumerate(names, 1)
            if place not in dropped and found[place] * signs[name] < 0
        ]
        if not wrong:
            break
        dropped.add(max(wrong, key=lambda place: abs(found[place])))
    clusters = [f"{s.family}/{s.cluster}" for s in samples]
    covariance = _covariance(rows, labels, weights, found, clusters=clusters, dropped=dropped)
    return Calibration(tuple(names), mean, scale, found, covariance, 0.0, wording=wording)


def with_spread(
    calibration: Calibration, offsets: Sequence[tuple[float, float, float]]
) -> Calibration:
    """The same with the spread between families, and what being FAR adds to its square.

    `offsets` has for each family by how many log odds a calibration that was fitted without it was
    off, the variance of that by chance, and how FAR its questions are on average.
    """
    off = np.array([o**2 - variance for o, variance, _ in offsets])
    far = np.array([f for _, _, f in offsets])
    # The half that is least far says how much families differ anyway.
    base = max(float(off[far <= np.median(far)].mean()), 0.0)
    slope = float(((off - base) * far).sum() / max(float((far**2).sum()), 1e-9))
    return replace(calibration, spread=float(np.sqrt(base)), strangeness=max(slope, 0.0))


def tuned(calibration: Calibration, samples: Sequence[Sample]) -> Calibration:
    """The same, tuned to questions of one database, recipe and model: a slope and an offset of its
    log odds, held towards 1 and 0 as far as families of questions differ (`spread`)."""
    untuned = replace(calibration, tuning=None)
    logits = np.array([untuned.logit(untuned.whole(s.measures, s.question)) for s in samples])
    labels = np.array([float(s.right) for s in samples])
    rows = np.stack([logits, np.ones_like(logits)], axis=1)
    off = max(calibration.spread, 0.5)
    prior = np.diag([1.0 / SLOPE_KNOWN**2, 1.0 / off**2])
    start = np.array([1.0, 0.0])
    at = start.copy()
    for _ in range(ROUNDS):
        p = _probabilities(rows @ at)
        gradient = rows.T @ (labels - p) - prior @ (at - start)
        hessian = (rows * (p * (1 - p))[:, None]).T @ rows + prior
        step = np.linalg.solve(hessian, gradient)
        at = at + np.clip(step, -1.0, 1.0)
        if np.abs(step).max() < 1e-8:
            break
    p = _probabilities(rows @ at)
    left = np.linalg.inv((rows * (p * (1 - p))[:, None]).T @ rows + prior)
    square = ((float(left[0, 0]), float(left[0, 1])), (float(left[1, 0]), float(left[1, 1])))
    # A slope that turned would make the surest answers the least sure ones.
    tuning = Tuning(max(float(at[0]), 0.05), float(at[1]), square)
    return replace(untuned, tuning=tuning)


def of_both(samples: Sequence[Sample]) -> Calibration:
    """A calibration of answers for which a language model was asked beside the embedded ones, by
    questions of one database, recipe and model alone: how often that model is right, and how often
    it errs as they do, is what its weights say.

    A right and a wrong answer of half a question's weight each, which are as usual otherwise, keep
    a few questions that went all one way from making it certain.
    """
    usual = {n: float(np.mean([s.measures.get(n, 0.0) for s in samples])) for n in ASKED}
    halves = [Sample(usual, right, "own", str(right), weight=0.5) for right in (True, False)]
    return fit([*samples, *halves], ASKED)


def offset_of(calibration: Calibration, samples: Sequence[Sample]) -> tuple[float, float]:
    """By how many log odds a calibration is off on a family, and the variance of that by chance,
    clusters taken whole."""
    logits = np.array(
        [calibration.logit(calibration.whole(s.measures, s.question)) for s in samples]
    )
    labels = np.array([float(s.right) for s in samples])
    at = 0.0
    for _ in range(ROUNDS):
        p = _probabilities(logits + at)
        # One question's worth of a prior, so that a family with no right answer has an offset.
        step = ((labels - p).sum() - 0.25 * at) / ((p * (1 - p)).sum() + 0.25)
        at += float(np.clip(step, -1.0, 1.0))
        if abs(step) < 1e-8:
            break
    p = _probabilities(logits + at)
    sums: dict[str, float] = {}
    for sample, gap in zip(samples, labels - p, strict=True):
        sums[sample.cluster] = sums.get(sample.cluster, 0.0) + float(gap)
    bread = float((p * (1 - p)).sum()) + 0.25
    return at, sum(gap**2 for gap in sums.values()) / bread**2


def family_weights(samples: Sequence[Sample]) -> Numbers:
    """Weights that sum to 1, the same for each family but for its samples' own; one of fewer than
    FULL counts by its number."""
    totals: dict[str, float] = {}
    for sample in samples:
        totals[sample.family] = totals.get(sample.family, 0.0) + 1.0
    found = np.array([s.weight / max(totals[s.family], FULL) for s in samples])
    return np.asarray(found / found.sum(), dtype=np.float64)


def regress(rows: Numbers, labels: Numbers, weights: Numbers, *, dropped: set[int]) -> Numbers:
    """Weights (columns of `rows`) by Newton's method; the constant isn't held towards 0."""
    kept = [place for place in range(rows.shape[1]) if place not in dropped]
    prior = np.diag([0.0 if place == 0 else DECAY for place in kept])
    inside, at = rows[:, kept], np.zeros(len(kept))
    at[0] = log_odds(float((labels * weights).sum()))
    for _ in range(ROUNDS):
        p = _probabilities(inside @ at)
        gradient = inside.T @ (weights * (labels - p)) - prior @ at
        hessian = (inside * (weights * p * (1 - p))[:, None]).T @ inside + prior
        step = np.linalg.solve(hessian + 1e-9 * np.eye(len(kept)), gradient)
        at = at + np.clip(step, -2.0, 2.0)
        if np.abs(step).max() < 1e-8:
            break
    found = np.zeros(rows.shape[1])
    found[kept] = at
    return found


def _covariance(
    rows: Numbers,
    labels: Numbers,
    weights: Numbers,
    found: Numbers,
    *,
    clusters: Sequence[str],
    dropped: set[int],
) -> Numbers:
    """The covariance of the weights, clusters taken whole (Liang and Zeger 1986)."""
    p = _probabilities(rows @ found)
    bread = (rows * (weights * p * (1 - p))[:, None]).T @ rows
    bread += np.diag([1e-9] + [DECAY] * (rows.shape[1] - 1))
    inverse = np.linalg.inv(bread)
    sums: dict[str, Numbers] = {}
    for row, gap, name in zip(rows, weights * (labels - p), clusters, strict=True):
        sums[name] = sums.get(name, np.zeros(rows.shape[1])) + row * gap
    meat = sum((np.outer(one, one) for one in sums.values()), np.zeros_like(bread))
    left = inverse @ meat @ inverse
    for place in dropped:
        left[place, :] = left[:, place] = 0.0
    return np.asarray(left, dtype=np.float64)


def _rows(standard: Numbers) -> Numbers:
    clipped = np.clip(standard, -FARTHEST, FARTHEST)
    return np.concatenate([np.ones((len(clipped), 1)), clipped], axis=1)


def _probabilities(logits: Numbers) -> Numbers:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(logits, -30.0, 30.0))), dtype=np.float64)
