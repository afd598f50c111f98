"""BIRD's efficiency scores: VES (Li et al. 2023) and the reward-based R-VES of the mini-dev set.

Both are 0 for a wrong answer and go by the ratio t = gold's time / the answer's for a right one.
VES is its square root. R-VES is 1.25 for t of at least 2, 1 for at least 1, 0.75 for at least 0.5,
0.5 for at least 0.25, else 0.25.

Gold and answer run in turns, and who runs first changes with every turn, so that caches and other
load favour neither; one turn goes before that isn't timed. VES takes the mean of each after leaving
out what is more than three standard deviations away, as the paper has it; R-VES takes the best of
each. Of several gold queries the first that runs is raced. An own implementation; it wasn't checked
against the official scripts. Times are those of a query's way through the worker process, so
queries of less than a millisecond look more alike than they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from statistics import fmean, pstdev

from sqlwright.lab.evaluation.metrics.metric import Judged, Metric
from sqlwright.types import ExecutionResult

TURNS = 10
"""Timed runs of each query."""
REWARDS = ((2.0, 1.25), (1.0, 1.0), (0.5, 0.75), (0.25, 0.5), (0.0, 0.25))
"""Least ratio of times, with its reward."""
_SHORTEST = 1e-6
"""Seconds below which no time is told from another."""

Execute = Callable[[str], ExecutionResult]


def timed(
    gold: str, sql: str, execute: Execute, turns: int = TURNS
) -> tuple[list[float], list[float]]:
    """The seconds of each run of gold and of the answer."""
    times: dict[bool, list[float]] = {True: [], False: []}
    for turn in range(turns + 1):
        for is_gold in (True, False) if turn % 2 else (False, True):
            elapsed = execute(gold if is_gold else sql).elapsed
            if turn:
                times[is_gold].append(max(elapsed, _SHORTEST))
    return times[True], times[False]


def without_outliers(times: Sequence[float]) -> list[float]:
    """The times within three standard deviations of their mean."""
    middle, spread = fmean(times), pstdev(times)
    return [one for one in times if abs(one - middle) <= 3 * spread] or list(times)


def ves(gold: Sequence[float], answer: Sequence[float]) -> float:
    """The square root of the ratio of the mean times."""
    return math.sqrt(fmean(without_outliers(gold)) / fmean(without_outliers(answer)))


def r_ves(gold: Sequence[float], answer: Sequence[float]) -> float:
    """The reward for the ratio of the best times."""
    ratio = min(gold) / min(answer)
    return next(reward for least, reward in REWARDS if ratio >= least)


def _measure(judged: Judged, score: Callable[..., float]) -> float | None:
    gold = next(judged.gold_queries(), None)
    if gold is None:
        return None
    if judged.sql is None or not judged.right:
        return 0.0
    return score(*timed(gold, judged.sql, judged.execute))


_LABEL = "own implementation, not checked against the official script"
VES = Metric(
    "ves", f"BIRD's valid efficiency score; {_LABEL}", partial(_measure, score=ves), usual=False
)
R_VES = Metric(
    "r_ves",
    f"BIRD's reward-based efficiency score; {_LABEL}",
    partial(_measure, score=r_ves),
    usual=False,
    top=1.25,
)
