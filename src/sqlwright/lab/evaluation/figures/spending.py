"""Costs of a run: seconds, calls of language models, tokens, US dollars."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Mapping
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
    """Median, 95th percentile and maximum of the seconds of a question, as they passed and with
    nothing in the cache, and of each step."""

    def __init__(self) -> None:
        self._seconds, self._fresh = array("d"), array("d")
        self._steps: defaultdict[str, array[float]] = defaultdict(lambda: array("d"))

    def add(self, record: Record, right: bool) -> None:
        del right
        self._seconds.append(record.seconds)
        self._fresh.append(record.seconds + record.saved_seconds)
        for step, seconds in record.times.items():
            self._steps[step].append(seconds)

    def result(self) -> dict[str, object]:
        """The quantiles."""
        return {
            "seconds": {**quantiles(self._seconds), "fresh": quantiles(self._fresh)},
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
    """Usage of language models for all questions that were asked; empty if none was used: what was
    sent, and as `fresh` what a run takes with nothing in the cache."""

    of_all = True

    def __init__(self) -> None:
        self._sent, self._fresh = _Account(), _Account()
        self._by_text = 0

    def add(self, record: Record, right: bool) -> None:
        self._sent.add(record.usage, right)
        self._fresh.add(record.fresh_usage, right)
        self._by_text += sum(used.get("kept_by_text", 0) for used in record.usage.values())

    def result(self) -> dict[str, object]:
        """The figures of both; `by_text` counts replies at hand of which tokens are estimated."""
        fresh = self._fresh.result() | {"by_text": self._by_text}
        return {**self._sent.result(), "fresh": fresh}


class _Account:
    """Calls, tokens and cost of questions, in all and by step."""

    def __init__(self) -> None:
        self._steps: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._unknown: set[tuple[str, str]] = set()
        """Steps, and their costs that aren't known of some question."""
        self._calls, self._tokens, self._cost = array("d"), array("d"), array("d")
        self._unpriced = self._right = 0

    def add(self, usage: Mapping[str, Mapping[str, Any]], right: bool) -> None:
        """Take a question's usage by step in."""
        self._right += right
        calls = tokens = 0
        cost: float | None = 0.0
        for step, used in usage.items():
            total = self._steps[step]
            for name, amount in used.items():
                if amount:  # most are 0
                    total[name] += amount
                elif amount is None:
                    self._unknown.add((step, name))
            calls += used["calls"]
            tokens += used["prompt_tokens"] + used["reply_tokens"]
            more = used["cost"]
            if more is None:
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
        for name in ("cost", "kept_cost"):
            total[name] = None if (step, name) in self._unknown else float(total[name])
        return Usage(**total)

    def _mean(self, values: array[float]) -> dict[str, float] | None:
        mean = Sample.of(np.frombuffer(values, dtype=np.float64)).mean() if self._steps else None
        return None if mean is None else mean.as_dict()
