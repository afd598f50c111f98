"""The execution accuracy of BIRD (Li et al. 2023): rows as a set, columns in order. Cells compare
as Python compares them."""

from __future__ import annotations

from collections.abc import Sequence

from sqlwright.lab.evaluation.rules.rule import Row, Rule
from sqlwright.types import ExecutionResult


def bird_match(predicted: Sequence[Row], gold: Sequence[Row]) -> bool:
    """The same set of rows."""
    return set(predicted) == set(gold)


def _agrees(
    predicted: ExecutionResult, gold: ExecutionResult, gold_sql: str, dialect: str = "sqlite"
) -> bool:
    del gold_sql, dialect
    return bird_match(predicted.rows, gold.rows)


RULE = Rule(
    "bird", "BIRD's rule, rows as a set", _agrees, columns_in_order=True, repeats_count=False
)
