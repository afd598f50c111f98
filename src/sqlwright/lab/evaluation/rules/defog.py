"""The rule of Defog's sql-eval, from its documentation ("exact" or "subset" match of two tables).

Exact: both tables with their columns in the order of their names, repeated rows once, rows sorted
unless the gold query orders, are equal. Subset: for each gold column there is another predicted
column with the same values in some order, and the tables of these columns are equal in that sense.
Numbers are equal within a relative difference of 1e-5, which is the default of the library that
compares the tables there. Several gold queries are told apart by the data set; one is enough.

Where their rule goes by a question's category or words, order counts here where the gold query
orders at its outermost level. An own implementation; it wasn't checked against their script.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from sqlwright.lab.evaluation.rules.arranging import choices
from sqlwright.lab.evaluation.rules.cells import column_near, place
from sqlwright.lab.evaluation.rules.rule import Row, Rule
from sqlwright.sql.reading import has_order_by
from sqlwright.types import Cell, ExecutionResult

RELATIVE, ABSOLUTE = 1e-5, 1e-8
_TRIES = 1_000
"""Ways to pick columns that are tried; there are several only for columns of equal content."""


def defog_match(predicted: ExecutionResult, gold: ExecutionResult, *, ordered: bool) -> bool:
    """The same table, or one that has the gold table's columns among its own."""
    if not predicted.rows and not gold.rows:
        return True
    if not predicted.rows or not gold.rows:
        return False
    exact = _same(_by_name(predicted), _by_name(gold), ordered=ordered)
    return exact or _contains(predicted.rows, gold.rows, ordered=ordered)


def _contains(predicted: Sequence[Row], gold: Sequence[Row], *, ordered: bool) -> bool:
    if len(predicted) != len(gold) or len(predicted[0]) < len(gold[0]):
        return False
    columns = [sorted(column, key=place) for column in zip(*predicted, strict=True)]
    wanted = [sorted(column, key=place) for column in zip(*gold, strict=True)]
    options = [[i for i, one in enumerate(columns) if _near(one, want)] for want in wanted]
    return any(
        _same([tuple(row[i] for i in order) for row in predicted], gold, ordered=ordered)
        for order in islice(choices(options), _TRIES)
    )


def _by_name(result: ExecutionResult) -> Sequence[Row]:
    """The rows with their columns in the order of the columns' names, where these are known."""
    names = result.columns
    if len(names) != len(result.rows[0]):
        return result.rows
    order = sorted(range(len(names)), key=lambda index: names[index])
    return [tuple(row[index] for index in order) for row in result.rows]


def _same(left: Sequence[Row], right: Sequence[Row], *, ordered: bool) -> bool:
    """Equal once each row is there once, in order or whatever the order."""
    left, right = list(dict.fromkeys(left)), list(dict.fromkeys(right))
    if len(left) != len(right) or len(left[0]) != len(right[0]):
        return False
    if not ordered:
        left, right = sorted(left, key=_places), sorted(right, key=_places)
    return all(_near(one, other) for one, other in zip(left, right, strict=True))


def _places(row: Row) -> list[tuple[int, Cell]]:
    return [place(cell) for cell in row]


def _near(one: Sequence[Cell], other: Sequence[Cell]) -> bool:
    return column_near(one, other, relative=RELATIVE, absolute=ABSOLUTE)


def _agrees(
    predicted: ExecutionResult, gold: ExecutionResult, gold_sql: str, dialect: str = "sqlite"
) -> bool:
    return defog_match(predicted, gold, ordered=has_order_by(gold_sql, dialect))


RULE = Rule(
    "defog", "Defog's rule, more columns allowed", _agrees, ordered=True, repeats_count=False
)
