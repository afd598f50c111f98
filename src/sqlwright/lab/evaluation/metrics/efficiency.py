"""BIRD's efficiency scores: VES (Li et al. 2023) and the reward-based R-VES of the mini-dev set.

Both go by t, the mean over all turns of the ratio of gold's time to the answer's, without ratios
that are three standard deviations or more away from their mean. VES is the root of t. R-VES is the
root of a reward: 1.25 for t of at least 2, 1 for at least 1, 0.75 for at least 0.5, 0.5 for at
least 0.25, else 0.25; so its most is 1.118. A wrong answer has 0 of both, as has one that fails
in a turn. A run's figure is the mean over its questions.

This is how the official scripts compute them, with their numbers of turns, the answer before gold
in each (verdicts of theirs on recorded times are in the tests). They differ in this: where all
ratios are equal the scripts divide by zero and give 0, here all are kept; an answer is right by the
rule of the run, there by BIRD's; times are of a query's way through the worker process, rows
included, so queries of less than a millisecond look more alike than there; one turn goes before
that isn't timed; each query has the time limit of the run, there all turns together have one. Of
several gold queries the first that runs is raced.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from statistics import fmean, pstdev

from sqlwright.lab.evaluation.metrics.metric import Judged, Metric
from sqlwright.types import ExecutionResult

REWARDS = ((2.0, 1.25), (1.0, 1.0), (0.5, 0.75), (0.25, 0.5), (0.0, 0.25))
"""Least ratio of times, with its reward."""
_SHORTEST = 1e-6
"""Seconds below which no time is told from another."""

Execute = Callable[[str], ExecutionResult]


def timed(
    gold: str, sql: str, execute: Execute, turns: int
) -> tuple[list[float], list[float]] | None:
    """The seconds of each run of gold and of the answer, in turns; None where one fails."""
    times: dict[bool, list[float]] = {True: [], False: []}
    for turn in range(turns + 1):
        for is_gold in (False, True):
            result = execute(gold if is_gold else sql)
            if result.error is not None:
                return None
            if turn:
                times[is_gold].append(max(result.elapsed, _SHORTEST))
    return times[True], times[False]


def mean_ratio(gold: Sequence[float], answer: Sequence[float]) -> float:
    """The mean of gold's times by the answer's, without outliers."""
    ratios = [one / other for one, other in zip(gold, answer, strict=True)]
    middle, spread = fmean(ratios), pstdev(ratios)
    return fmean([one for one in ratios if abs(one - middle) < 3 * spread] or ratios)


def ves(gold: Sequence[float], answer: Sequence[float]) -> float:
    """The root of the mean ratio."""
    return math.sqrt(mean_ratio(gold, answer))


def r_ves(gold: Sequence[float], answer: Sequence[float]) -> float:
    """The root of its reward."""
    ratio = mean_ratio(gold, answer)
    return math.sqrt(next(reward for least, reward in REWARDS if ratio >= least))


def _measure(judged: Judged, score: Callable[..., float], turns: int) -> float | None:
    gold = next(judged.gold_queries(), None)
    if gold is None:
        return None
    if judged.sql is None or not judged.right:
        return 0.0
    times = timed(gold, judged.sql, judged.execute, turns)
    return 0.0 if times is None else score(*times)


VES = Metric(
    "ves",
    "BIRD's valid efficiency score, as its script has it",
    partial(_measure, score=ves, turns=10),
    usual=False,
)
R_VES = Metric(
    "r_ves",
    "BIRD's reward-based efficiency score, as its script has it",
    partial(_measure, score=r_ves, turns=100),
    usual=False,
    top=math.sqrt(REWARDS[0][1]),
)
