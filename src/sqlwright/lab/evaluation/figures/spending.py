"""Costs of a run: seconds, calls of language models, tokens, US dollars."""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import asdict, fields
from functools import reduce
from typing import Any

import numpy as np

from sqlwright.lab.evaluation.figures.family import Family
from sqlwright.lab.evaluation.intervals import Sample
from sqlwright.lab.evaluation.records import Record
from sqlwright.spending import plus
from sqlwright.types import Usage

FIELDS = tuple(field.name for field in fields(Usage))


class Latency(Family):
    """Median, 95th percentile and maximum of the seconds of a question, and of each step."""

    def __init__(self) -> None:
        self._seconds = array("d")
        self._steps: dict[str, array[float]] = {}

    def add(self, record: Record, right: bool) -> None:
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


class Spending(Family):
    """Usage of language models for all questions that were asked; empty if none was used. Replies
    from the cache or a recording are counted as `cached` and are in no other number."""

    of_all = True

    def __init__(self) -> None:
        self._steps: dict[str, Counter[str]] = {}
        self._unknown: set[str] = set()
        """Steps of which some cost isn't known."""
        self._calls, self._tokens, self._cost = array("d"), array("d"), array("d")
        self._unpriced = self._right = 0

    def add(self, record: Record, right: bool) -> None:
        self._right += right
        calls = tokens = 0
        cost: float | None = 0.0
        for step, used in record.usage.items():
            total = self._steps.get(step)
            if total is None:
                total = self._steps[step] = Counter()
            for name, amount in used.items():
                if amount:  # most are 0
                    total[name] += amount
            calls += used["calls"]
            tokens += used["prompt_tokens"] + used["reply_tokens"]
            more = used["cost"]
            if more is None:
                self._unknown.add(step)
                cost = None
            elif cost is not None:
                cost += more
        self._calls.append(calls)
        self._tokens.append(tokens)
        if cost is None:
            self._unpriced += 1
        else:
            self._cost.append(cost)

    def result(self) -> dict[str, object]:
        """The sums in all and by step, and the means of a question, each None if no language model
        was used. Cost is None where that of any question isn't known; `unpriced` counts them."""
        if not self._steps:
            usage, whole = {}, Usage()
        else:
            by_step = {step: self._used(step) for step in sorted(self._steps)}
            whole = reduce(plus, by_step.values())
            usage = {step: asdict(used) for step, used in {"in all": whole, **by_step}.items()}
        cost = whole.cost if usage else None
        return {
            "usage": usage,
            "calls": {
                "in_all": whole.calls,
                "cached": whole.cached,
                "per_question": self._mean(self._calls),
            },
            "tokens": {
                "in_all": whole.prompt_tokens + whole.reply_tokens,
                "prompt": whole.prompt_tokens,
                "reply": whole.reply_tokens,
                "per_question": self._mean(self._tokens),
            },
            "cost": {
                "in_all": cost,
                "per_question": None if cost is None else self._mean(self._cost),
                "per_right_answer": cost / self._right if cost and self._right else None,
                "unpriced": self._unpriced,
            },
        }

    def _used(self, step: str) -> Usage:
        total: dict[str, Any] = {name: self._steps[step][name] for name in FIELDS}
        return Usage(**total | {"cost": None if step in self._unknown else float(total["cost"])})

    def _mean(self, values: array[float]) -> dict[str, float] | None:
        mean = Sample.of(np.frombuffer(values, dtype=np.float64)).mean() if self._steps else None
        return None if mean is None else mean.as_dict()
