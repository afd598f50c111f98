"""Confidence against which answers are right: calibration, risk by coverage, and what refusals are
worth."""

from __future__ import annotations

from array import array
from collections import Counter

import numpy as np

from sqlwright.confidence.figures import Numbers, auroc
from sqlwright.lab.evaluation.figures.family import Family
from sqlwright.lab.evaluation.intervals import Sample, Share
from sqlwright.lab.evaluation.records import Record

BINS = 10
"""Bins of equal width in which confidence is compared with accuracy, as usual."""
POINTS = 200
"""Points of the curve at most; chosen."""
PRECISIONS = ("0.90", "0.95")
"""Precisions at which the coverage is told."""


class Confidence(Family):
    """Figures of a run in which a probability stands beside every answer; nothing of others, which
    have another basis."""

    def __init__(self) -> None:
        self._sure, self._right, self._answered = array("d"), bytearray(), bytearray()
        self._known = True

    def add(self, record: Record, right: bool) -> None:
        answered = record.status == "answered"
        if record.confidence is None and answered:
            self._known = False
        self._sure.append(record.confidence or 0.0)
        self._right.append(right)
        self._answered.append(answered)

    def result(self) -> dict[str, object]:
        """The figures. A question without an answer counts as wrong with its confidence, mostly 0,
        and in no coverage."""
        sure = np.frombuffer(self._sure, dtype=np.float64)
        right = np.frombuffer(self._right, dtype=np.uint8).astype(np.float64)
        answered = np.frombuffer(self._answered, dtype=np.uint8).astype(bool)
        if not self._known or not answered.any():
            sure, right, answered = sure[:0], right[:0], answered[:0]
        order = np.argsort(-sure, kind="stable")[: len(sure) // 2]
        bins = _bins(sure, right)
        area = auroc(sure, right)
        error = _error(bins) if len(sure) else None
        curve = _Curve(sure[answered], right[answered], len(sure))
        return {
            "most_confident_half": Share(int(right[order].sum()), len(order)).as_dict(),
            "expected_calibration_error": error,
            "calibration": {
                "bins": bins,
                "ece": error,
                "auroc": None if np.isnan(area) else area,
            },
            "risk_coverage": curve.points(),
            "coverage_at": {text: curve.coverage_at(float(text)) for text in PRECISIONS},
        }


def _bins(sure: Numbers, right: Numbers) -> list[dict[str, float]]:
    """Of each bin that has any: its bounds, questions, mean confidence and share of right ones."""
    place = np.clip((sure * BINS).astype(np.int64), 0, BINS - 1)
    counts = np.bincount(place, minlength=BINS)
    summed = np.bincount(place, weights=sure, minlength=BINS)
    hits = np.bincount(place, weights=right, minlength=BINS)
    return [
        {
            "low": n / BINS,
            "high": (n + 1) / BINS,
            "count": int(counts[n]),
            "confidence": float(summed[n] / counts[n]),
            "right": float(hits[n] / counts[n]),
        }
        for n in range(BINS)
        if counts[n]
    ]


def _error(bins: list[dict[str, float]]) -> float:
    """Expected calibration error (Naeini et al. 2015): the mean gap between confidence and
    accuracy, weighted by the sizes of the bins."""
    gaps = sum(abs(one["confidence"] - one["right"]) * one["count"] for one in bins)
    return gaps / sum(one["count"] for one in bins)


class _Curve:
    """Answers from the surest down: at each confidence at which one could stop, how many are given
    and how many of them are right. Answers that are equally sure are given together."""

    def __init__(self, sure: Numbers, right: Numbers, questions: int) -> None:
        order = np.argsort(-sure, kind="stable")
        sure, hits = sure[order], np.cumsum(right[order])
        last = np.flatnonzero(np.append(sure[1:] != sure[:-1], True)) if len(sure) else order
        self._sure, self._hits, self._given = sure[last], hits[last], last + 1
        self._questions = questions

    def points(self) -> list[dict[str, float]]:
        """The curve: `coverage` is the share of all questions that is answered, `risk` that of the
        answers that is wrong, `confidence` the least that is answered with."""
        number = len(self._given)
        chosen = np.unique(np.linspace(0, number - 1, min(number, POINTS)).round().astype(int))
        return [
            {
                "coverage": float(self._given[n] / self._questions),
                "risk": float(1 - self._hits[n] / self._given[n]),
                "confidence": float(self._sure[n]),
            }
            for n in chosen
        ]

    def coverage_at(self, precision: float) -> dict[str, float] | None:
        """The largest coverage at which so many of the answers are right, with the confidence from
        which on they are given and the precision's interval; None where there is none."""
        held = np.flatnonzero(self._hits >= precision * self._given - 1e-9)
        if not len(held):
            return None
        best = held[-1]
        share = Share(int(self._hits[best]), int(self._given[best]))
        return {
            "coverage": float(self._given[best] / self._questions),
            "confidence": float(self._sure[best]),
            "answers": share.total,
            "precision": share.value,
            "low": share.interval[0],
            "high": share.interval[1],
        }


PENALTIES: dict[str, float | None] = {"0": 0.0, "1": 1.0, "10": 10.0, "N": None}
"""Costs of a wrong answer, in right ones. N is the number of questions: one wrong answer outweighs
everything."""
UNANSWERABLE = ("answerable", "no")
"""The tag, and its value, of a question that the database can't answer: it is right to refuse."""


class Reliability(Family):
    """The mean score of a question: 1 for a right answer and for none where there can't be one, 0
    for none where there is one, and less the penalty for a wrong answer, which any answer is to a
    question that has none."""

    def __init__(self) -> None:
        self._good = self._none = self._bad = 0

    def add(self, record: Record, right: bool) -> None:
        tag, value = UNANSWERABLE
        answerable = record.tags.get(tag) != value
        if record.status != "answered":
            self._good += not answerable
            self._none += answerable
        elif right and answerable:
            self._good += 1
        else:
            self._bad += 1

    def result(self) -> dict[str, object]:
        """The score by penalty; empty without questions."""
        questions = self._good + self._none + self._bad
        found: dict[str, object] = {}
        for name, penalty in PENALTIES.items():
            cost = float(questions) if penalty is None else penalty
            scores = Counter({1.0: self._good, 0.0: self._none})
            scores[-cost] += self._bad
            mean = Sample.counted(scores).mean()
            if mean is not None:
                found[name] = {"value": mean.value, "low": mean.low, "high": mean.high}
        return {"reliability": found}
