"""A calibration: a probability of being right, with an interval, from a few measures.

Logistic regression whose weights say by how much each measure moves the odds. The interval takes in
how well the weights are known, and how much the share of right answers differs between families of
questions that look alike by these measures (`spread`), the more so the less a question is like
those that the weights come from. Fitted to questions of one database and model (`Tuning`), the
second part is replaced by what is left unknown after those.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sqlwright.confidence.wording import FAR, Wording
from sqlwright.protocols.models import Probability

Numbers = npt.NDArray[np.float64]

FARTHEST = 4.0
"""Standard deviations from the mean beyond which a measure counts as this far; chosen."""
WIDTH = 1.645
"""Standard deviations to each side of an interval that holds nine of ten."""
STEEPEST = 30.0
"""Log odds beyond which a probability counts as this sure."""


@dataclass(frozen=True, slots=True)
class Tuning:
    """The change that questions of one database, asked by one recipe and model, made."""

    slope: float
    offset: float
    covariance: tuple[tuple[float, float], tuple[float, float]]
    """Of slope and offset: what these questions left unknown."""


@dataclass(frozen=True, eq=False)
class Calibration:
    """Weights of measures. Safe to share between threads."""

    names: tuple[str, ...]
    """The measures, in the order of the weights; the first is the score that it is monotone in."""
    mean: Numbers
    scale: Numbers
    weights: Numbers
    """(n + 1,): the constant first."""
    covariance: Numbers
    """(n + 1, n + 1): how well the weights are known."""
    spread: float
    """Standard deviation, in log odds, between families of questions."""
    strangeness: float = 0.0
    """Added to the spread's square for each unit of FAR."""
    wording: Wording | None = None
    """The questions that the models learnt from; None where likeness to them isn't measured."""
    tuning: Tuning | None = None

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Calibration:
        """From JSON as `to_data` writes it. Raises KeyError, TypeError or ValueError when it
        doesn't have the form."""
        names = tuple(str(name) for name in data["names"])
        size = len(names) + 1
        weights = _array(data["weights"], (size,))
        tuned, wording = data.get("tuning"), data.get("wording")
        return cls(
            names,
            _array(data["mean"], (size - 1,)),
            _array(data["scale"], (size - 1,)),
            weights,
            _array(data["covariance"], (size, size)),
            _number(data["spread"]),
            _number(data["strangeness"]),
            None if wording is None else Wording.from_data(wording),
            None if tuned is None else _tuning(tuned),
        )

    def to_data(self) -> dict[str, Any]:
        """As JSON types; six digits are plenty."""
        tuned = self.tuning
        return {
            "names": list(self.names),
            "mean": _plain(self.mean),
            "scale": _plain(self.scale),
            "weights": _plain(self.weights),
            "covariance": _plain(self.covariance),
            "spread": round(self.spread, 6),
            "strangeness": round(self.strangeness, 6),
            "wording": None if self.wording is None else self.wording.to_data(),
            "tuning": None
            if tuned is None
            else {
                "slope": tuned.slope,
                "offset": tuned.offset,
                "covariance": [list(row) for row in tuned.covariance],
            },
        }

    def row(self, measures: Mapping[str, float]) -> Numbers:
        """(n + 1,): a one and the standardised measures; what wasn't measured is as usual."""
        given = np.array(
            [measures.get(name, m) for name, m in zip(self.names, self.mean, strict=True)],
            dtype=np.float64,
        )
        standard = np.clip((given - self.mean) / self.scale, -FARTHEST, FARTHEST)
        return np.asarray(np.concatenate([[1.0], standard]), dtype=np.float64)

    def logit(self, measures: Mapping[str, float]) -> float:
        """The log odds of being right, before `tuning`."""
        return float(self.row(measures) @ self.weights)

    def whole(self, measures: Mapping[str, float], question: str) -> dict[str, float]:
        """The measures of an answer with those of its question's wording."""
        return dict(measures) | ({} if self.wording is None else self.wording.measures(question))

    def judge(self, measures: Mapping[str, float], question: str) -> Probability:
        """The confidence in an answer with these measures to this question."""
        given = self.whole(measures, question)
        row = self.row(given)
        logit = float(row @ self.weights)
        variance = float(row @ self.covariance @ row)
        if self.tuning is None:
            variance += self.spread**2 + self.strangeness * given.get(FAR, 0.0)
        else:
            known = np.array([logit, 1.0])
            variance *= self.tuning.slope**2
            variance += float(known @ np.array(self.tuning.covariance) @ known)
            logit = self.tuning.slope * logit + self.tuning.offset
        margin = WIDTH * math.sqrt(max(variance, 0.0))
        return Probability(
            probability(logit), probability(logit - margin), probability(logit + margin)
        )

    def beside(self, sure: Probability, behind: float) -> float:
        """The probability of another candidate of the same question whose score (the first measure)
        is so far behind that of the chosen one, which is `sure`; never more than that."""
        slope = max(float(self.weights[1] / self.scale[0]), 0.0)
        slope *= 1.0 if self.tuning is None else self.tuning.slope
        further = slope * max(behind, 0.0)
        if further == 0.0:
            return sure.value  # through log odds and back, the last digit may be another
        return min(probability(log_odds(sure.value, 1e-9) - further), sure.value)


def probability(logit: float) -> float:
    """The probability of log odds."""
    return 1.0 / (1.0 + math.exp(-min(max(logit, -STEEPEST), STEEPEST)))


def log_odds(share: float, least: float = 1e-4) -> float:
    """The log odds of a probability; one nearer to 0 or 1 than `least` counts as that."""
    inside = min(share, 1.0 - least) if share > least else least  # NaN counts as least
    return math.log(inside / (1.0 - inside))


def _tuning(data: Mapping[str, Any]) -> Tuning:
    (a, b), (c, d) = data["covariance"]
    square = ((_number(a), _number(b)), (_number(c), _number(d)))
    return Tuning(_number(data["slope"]), _number(data["offset"]), square)


def _array(values: Sequence[Any], shape: tuple[int, ...]) -> Numbers:
    found = np.array(values, dtype=np.float64)
    if found.shape != shape or not np.isfinite(found).all():
        raise ValueError(f"{found.shape} numbers where {shape} are needed")
    return found


def _number(value: Any) -> float:
    found = float(value)
    if not math.isfinite(found):
        raise ValueError(f"{value!r} is no number")
    return found


def _plain(values: Numbers) -> Any:
    return np.asarray(values, dtype=np.float64).round(6).tolist()
