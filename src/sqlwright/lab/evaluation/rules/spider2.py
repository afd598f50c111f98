"""The rule of Spider 2.0-lite, from what its authors published of it (Lei et al. 2024).

A table is a list of columns. Each gold column must be among the predicted ones: as long, NULL where
it has NULL, numbers within 0.01, all else equal. Where order doesn't count the cells of each column
are sorted before they are compared. Columns are compared one by one, so neither the rows nor the
number of columns must fit together; one predicted column may serve for two gold ones. The columns
that count (`condition_cols`) are those that the data set gives as the expected result.

Order counts where the gold query orders at its outermost level, or the data set says so. Numbers
are sorted by value, where theirs are sorted by their text. An own implementation; it wasn't checked
against their script.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlwright.lab.evaluation.rules.cells import column_near, place
from sqlwright.lab.evaluation.rules.rule import Row, Rule
from sqlwright.sql.reading import has_order_by
from sqlwright.types import Cell, ExecutionResult

TOLERANCE = 1e-2
"""Difference of two numbers that are equal."""


def spider2_match(predicted: Sequence[Row], gold: Sequence[Row], *, ordered: bool) -> bool:
    """Every gold column is among the predicted ones."""
    if len(predicted) != len(gold):
        return False
    columns, wanted = _columns(predicted, ordered), _columns(gold, ordered)
    return all(any(_near(one, want) for one in columns) for want in wanted)


def _columns(rows: Sequence[Row], ordered: bool) -> list[Sequence[Cell]]:
    columns = zip(*rows, strict=True)
    return [column if ordered else sorted(column, key=place) for column in columns]


def _near(one: Sequence[Cell], other: Sequence[Cell]) -> bool:
    return column_near(one, other, relative=0.0, absolute=TOLERANCE)


def _agrees(
    predicted: ExecutionResult, gold: ExecutionResult, gold_sql: str, dialect: str = "sqlite"
) -> bool:
    return spider2_match(predicted.rows, gold.rows, ordered=has_order_by(gold_sql, dialect))


RULE = Rule(
    "spider2", "Spider 2.0's rule, columns one by one", _agrees, ordered=True, repeats_count=True
)
