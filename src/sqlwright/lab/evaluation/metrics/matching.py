"""Metrics of agreement with gold: exact set match, soft F1, and test-suite accuracy."""

from __future__ import annotations

from collections.abc import Sequence

from sqlwright.errors import DatabaseUnavailable
from sqlwright.lab.evaluation.grading import components
from sqlwright.lab.evaluation.metrics.metric import Judged, Metric, Reference
from sqlwright.lab.evaluation.perturbing.suite import open_suite
from sqlwright.lab.evaluation.rules.rule import Row


def exact_match(judged: Judged) -> float | None:
    """1.0 or 0.0; None where no gold query can be read."""
    parts = [components(sql, judged.schema) for sql in judged.gold_queries()]
    golds = [each for each in parts if each is not None]
    if not golds:
        return None
    own = components(judged.sql, judged.schema) if judged.sql is not None else None
    return float(own in golds)


EXACT_MATCH = Metric(
    "exact_match",
    "Spider's exact set match, values apart; own implementation, not checked against the official "
    "script",
    exact_match,
)
"""Exact set match (Yu et al. 2018): the components of prediction and gold are the same sets,
values apart (`grading/components.py`). With several gold queries one is enough."""


def soft_f1(predicted: Sequence[Row], gold: Sequence[Row]) -> float:
    """The score of one result, from 0 to 1."""
    ours, theirs = list(dict.fromkeys(predicted)), list(dict.fromkeys(gold))
    if not ours and not theirs:
        return 1.0
    matched = only_ours = only_theirs = 0.0
    for mine, its in zip(ours, theirs, strict=False):
        found = sum(cell in its for cell in mine)
        matched += found / len(its)
        only_ours += (len(mine) - found) / len(its)
        only_theirs += sum(cell not in mine for cell in its) / len(its)
    only_ours += max(len(ours) - len(theirs), 0)
    only_theirs += max(len(theirs) - len(ours), 0)
    return 2 * matched / (2 * matched + only_ours + only_theirs)


def _soft_f1(judged: Judged) -> float:
    if not judged.comparable:
        return 0.0
    return max(soft_f1(judged.result.rows, one.result.rows) for one in judged.references)


SOFT_F1 = Metric("soft_f1", "soft F1 of BIRD's mini-dev set, as its script has it", _soft_f1)
"""The soft F1 score of BIRD's mini-dev set, as its script computes it (verdicts of that are in the
tests).

Rows that come again are left out, and the others compared by their place. A cell matches where the
other row has an equal one anywhere, however often; NULL is a value like any other. Matched cells
of the answer are true positives, its others false positives, gold cells that the answer's row
doesn't have false negatives, each by the number of gold's columns; a row without a partner counts
as one. Two results without rows are equal. With several gold results the best counts. The
published documentation, whose example counts no NULL, differs from the script; so does a version
of the script that puts rows into no order.
"""


def _test_suite(judged: Judged) -> float | None:
    """1.0 if the query agrees with a gold query on the original and all of its copies; None where
    there is no gold query, or no copy to compare on."""
    if not any(judged.gold_queries()) or judged.example.engine != "sqlite":
        return None
    if judged.sql is None or not judged.right:
        return 0.0
    found = [_agrees(judged, judged.sql, one) for one in judged.references if one.written]
    if any(found):
        return 1.0
    return None if None in found else 0.0


def _agrees(judged: Judged, sql: str, gold: Reference) -> bool | None:
    """True if the query agrees with one gold query everywhere; None where that has no copies."""
    dialect = judged.schema.dialect
    if not judged.rule.agrees(judged.result, gold.result, gold.sql, dialect):
        return False
    try:
        with open_suite(judged.example.database, gold.sql, judged.rule) as suite:
            return suite.accepts(sql) if suite.copies else None
    except DatabaseUnavailable:
        return None


TEST_SUITE = Metric(
    "test_suite",
    "agrees with gold on perturbed copies of the database, too (test-suite accuracy)",
    _test_suite,
    usual=False,
    needs_files=True,
)
"""Test-suite accuracy (Zhong et al. 2020): agreement with gold on perturbed copies of the database,
too. A query that is right by chance alone gives itself away on one of them."""
