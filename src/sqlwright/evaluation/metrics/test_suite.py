"""Test-suite accuracy (Zhong et al. 2020): agreement with gold on perturbed copies of the database,
too. A query that is right by chance alone gives itself away on one of them."""

from __future__ import annotations

from sqlwright.errors import DatabaseUnavailable
from sqlwright.evaluation.metrics.metric import Judged, Metric
from sqlwright.evaluation.perturbing.suite import open_suite


def _measure(judged: Judged) -> float | None:
    """1.0 if the query agrees with a gold query on the original and all of its copies; None where
    there is no copy to compare on."""
    if not judged.example.golds:
        return None
    if judged.sql is None or not judged.right:
        return 0.0
    found = [_agrees(judged, judged.sql, gold) for gold in judged.example.golds]
    if any(found):
        return 1.0
    return None if None in found else 0.0


def _agrees(judged: Judged, sql: str, gold_sql: str) -> bool | None:
    """True if the query agrees with one gold query everywhere; None where that has no copies."""
    gold = judged.execute(gold_sql)
    if not gold.ok or not judged.rule.agrees(judged.result, gold, gold_sql):
        return False
    try:
        with open_suite(judged.example.database, gold_sql, judged.rule) as suite:
            return suite.accepts(sql) if suite.copies else None
    except DatabaseUnavailable:
        return None


METRIC = Metric(
    "test_suite",
    "agrees with gold on perturbed copies of the database, too (test-suite accuracy)",
    _measure,
    usual=False,
)
