"""What a run took: seconds, calls of language models, tokens, US dollars."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, ClassVar

import numpy as np

from sqlwright.evaluation.figures.family import Given
from sqlwright.evaluation.intervals import Sample
from sqlwright.evaluation.records import Record
from sqlwright.types import Usage

EMPTY: Mapping[str, Any] = asdict(Usage())


class Latency:
    """Median, 95th percentile and maximum of the seconds of a question, and of each step."""

    of_all: ClassVar[bool] = False

    def __init__(self, given: Given) -> None:
        del given
        self._seconds = array("d")
        self._steps: dict[str, array[float]] = {}

    def add(self, record: Record, right: bool) -> None:
        """Take a record in."""
        del right
        self._seconds.append(record.seconds)
        for step, seconds in record.times.items():
            taken = self._steps.get(step)
            if taken is None:
                taken = self._steps[step] = array("d")
            taken.append(seconds)

    def result(self) -> dict[str, object]:
        """The quantiles."""
        return {
            "seconds": quantiles(self._seconds),
            "seconds_per_step": {step: quantiles(taken) for step, taken in self._steps.items()},
        }


def quantiles(values: array[float]) -> dict[str, float]:
    """Median, 95th percentile and maximum."""
    at = {"median": 0.5, "p95": 0.95, "max": 1.0}
    if not values:
        return dict.fromkeys(at, 0.0)
    ranked = np.sort(np.frombuffer(values, dtype=np.float64))
    return {name: float(ranked[round(q * (len(ranked) - 1))]) for name, q in at.items()}


class Spending:
    """Usage of language models for all questions that were asked; empty if none was used. Replies
    from the cache or a recording are counted as `cached` and are in no other number."""

    of_all: ClassVar[bool] = True

    def __init__(self, given: Given) -> None:
        del given
        self._steps: dict[str, dict[str, Any]] = {}
        self._calls, self._tokens, self._cost = Sample(), Sample(), Sample()
        self._unpriced = self._right = 0

    def add(self, record: Record, right: bool) -> None:
        """Take a record in."""
        self._right += right
        calls = tokens = 0
        cost: float | None = 0.0
        for step, used in record.usage.items():
            total = self._steps.get(step)
            if total is None:
                total = self._steps[step] = dict(EMPTY)
            _add(total, used)
            calls += used["calls"]
            tokens += used["prompt_tokens"] + used["reply_tokens"]
            more = used["cost"]
            cost = None if cost is None or more is None else cost + more
        self._calls.add(calls)
        self._tokens.add(tokens)
        if cost is None:
            self._unpriced += 1
        else:
            self._cost.add(cost)

    def result(self) -> dict[str, object]:
        """The sums in all and by step, and the means of a question, each None if no language model
        was used. Cost is None where that of any question isn't known; `unpriced` counts them."""
        whole = dict(EMPTY)
        for used in self._steps.values():
            _add(whole, used)
        by_step = {step: self._steps[step] for step in sorted(self._steps)}
        tokens = whole["prompt_tokens"] + whole["reply_tokens"]
        cost = whole["cost"]
        return {
            "usage": {"in all": whole, **by_step} if by_step else {},
            "calls": {
                "in_all": whole["calls"],
                "cached": whole["cached"],
                "per_question": self._mean(self._calls),
            },
            "tokens": {
                "in_all": tokens,
                "prompt": whole["prompt_tokens"],
                "reply": whole["reply_tokens"],
                "per_question": self._mean(self._tokens),
            },
            "cost": {
                "in_all": cost if by_step else None,
                "per_question": None if cost is None else self._mean(self._cost),
                "per_right_answer": cost / self._right
                if by_step and cost and self._right
                else None,
                "unpriced": self._unpriced,
            },
        }

    def _mean(self, sample: Sample) -> dict[str, float] | None:
        mean = sample.mean() if self._steps else None
        return None if mean is None else mean.as_dict()


def _add(total: dict[str, Any], used: Mapping[str, Any]) -> None:
    """Add one usage to another; a cost that isn't known makes the sum's unknown."""
    for name, amount in used.items():
        before = total[name]
        total[name] = None if amount is None or before is None else before + amount
