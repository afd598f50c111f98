"""Test-suite accuracy (Zhong et al. 2020): agreement with gold on perturbed copies of the database,
too. A query that is right by chance alone gives itself away on one of them."""

from __future__ import annotations

from sqlwright.errors import DatabaseUnavailable
from sqlwright.lab.evaluation.metrics.metric import Judged, Metric, Reference
from sqlwright.lab.evaluation.perturbing.suite import open_suite


def _measure(judged: Judged) -> float | None:
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


METRIC = Metric(
    "test_suite",
    "agrees with gold on perturbed copies of the database, too (test-suite accuracy)",
    _measure,
    usual=False,
    needs_files=True,
)
