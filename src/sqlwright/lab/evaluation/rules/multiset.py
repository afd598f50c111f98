"""The strictest rule: rows as a multiset, columns in order, rows in order where the gold query
orders at its outermost level. Cells compare as Python compares them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sqlwright.lab.evaluation.rules.rule import Row, Rule
from sqlwright.sql.reading import has_order_by
from sqlwright.types import ExecutionResult


def multiset_match(predicted: Sequence[Row], gold: Sequence[Row], *, ordered: bool) -> bool:
    """The same rows, each as often; in the same order where that counts."""
    if ordered:
        return list(predicted) == list(gold)
    return Counter(predicted) == Counter(gold)


def _agrees(
    predicted: ExecutionResult, gold: ExecutionResult, gold_sql: str, dialect: str = "sqlite"
) -> bool:
    return multiset_match(predicted.rows, gold.rows, ordered=has_order_by(gold_sql, dialect))


RULE = Rule(
    "multiset", "rows as a multiset, columns in order", _agrees, ordered=True, columns_in_order=True
)
