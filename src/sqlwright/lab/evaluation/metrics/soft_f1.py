"""The soft F1 score of BIRD's mini-dev set, from its documentation.

The rows of both results are compared by their place. Cells of a pair of rows match whatever their
order, each once; a missing value (NULL) is on no side. Matched cells are true positives, predicted
cells without a match false positives, gold cells without one false negatives, over all rows
together; a row without a partner has no matches. Two results without any value are equal. With
several gold results the best counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import zip_longest

from sqlwright.lab.evaluation.metrics.metric import Judged, Metric
from sqlwright.lab.evaluation.rules.rule import Row


def soft_f1(predicted: Sequence[Row], gold: Sequence[Row]) -> float:
    """The score of one result, from 0 to 1."""
    matched = only_predicted = only_gold = 0
    for ours, theirs in zip_longest(predicted, gold, fillvalue=()):
        left = Counter(cell for cell in ours if cell is not None)
        right = Counter(cell for cell in theirs if cell is not None)
        same = (left & right).total()
        matched += same
        only_predicted += left.total() - same
        only_gold += right.total() - same
    if not matched:
        return float(not only_predicted and not only_gold and len(predicted) == len(gold))
    return 2 * matched / (2 * matched + only_predicted + only_gold)


def _measure(judged: Judged) -> float:
    if not judged.comparable:
        return 0.0
    return max(soft_f1(judged.result.rows, one.result.rows) for one in judged.references)


METRIC = Metric(
    "soft_f1",
    "soft F1 of BIRD's mini-dev set; own implementation, not checked against the official script",
    _measure,
)
