"""The execution accuracy of Spider's official evaluation (Zhong et al. 2020, "Semantic Evaluation
for Text-to-SQL with Distilled Test Suites"), with DISTINCT kept, and with each DISTINCT of both
queries dropped before they run, as its script does unless it is told to keep them.

Rows as a multiset, in order only when the gold query orders, columns in any order, two results
without rows equal. Cells compare as Python compares them: 1 equals 1.0, '1' does not equal 1, no
tolerance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import islice

from sqlwright.lab.evaluation.rules.arranging import choices
from sqlwright.lab.evaluation.rules.rule import Row, Rule
from sqlwright.sql.rewriting import without_distinct
from sqlwright.types import Cell, ExecutionResult

Number = int | float | Decimal


def orders(gold_sql: str, dialect: str = "sqlite") -> bool:
    """True if Spider's official rule compares rows in order: the gold query's text says ORDER BY
    anywhere, within a query or a literal too. A search in text, since theirs is one."""
    del dialect
    return "order by" in " ".join(gold_sql.casefold().split())


def spider_match(predicted: Sequence[Row], gold: Sequence[Row], *, ordered: bool) -> bool:
    """Spider's rule: some arrangement of the predicted columns gives the gold rows."""
    if not predicted and not gold:
        return True
    if len(predicted) != len(gold) or len(predicted[0]) != len(gold[0]):
        return False
    if list(predicted) == list(gold):
        return True
    if not _rows_agree_as_bags(predicted, gold, ordered=ordered):
        return False
    return any(
        _equal([tuple(row[i] for i in order) for row in predicted], gold, ordered=ordered)
        for order in islice(_arrangements(predicted, gold, ordered=ordered), 50_000)
    )


def _equal(left: Sequence[Row], right: Sequence[Row], *, ordered: bool) -> bool:
    return list(left) == list(right) if ordered else Counter(left) == Counter(right)


def _bag(row: Row) -> tuple[tuple[str, Cell], ...]:
    """A row whatever the order of its cells. Equal numbers of different types fall together, as do
    0.0 and -0.0."""
    keyed = [(f"{float(c) + 0.0!r}" if isinstance(c, Number) else repr(c), c) for c in row]
    return tuple(sorted(keyed, key=lambda pair: pair[0]))


def _rows_agree_as_bags(left: Sequence[Row], right: Sequence[Row], *, ordered: bool) -> bool:
    """A cheap necessary condition that spares the search over arrangements."""
    return _equal(
        [tuple(key for key, _ in _bag(row)) for row in left],
        [tuple(key for key, _ in _bag(row)) for row in right],
        ordered=ordered,
    )


def _arrangements(
    predicted: Sequence[Row], gold: Sequence[Row], *, ordered: bool
) -> Iterator[tuple[int, ...]]:
    """The ways to pick a different predicted column, equal by itself, for every gold column."""
    left, right = list(zip(*predicted, strict=True)), list(zip(*gold, strict=True))
    if ordered:
        options = [[i for i, col in enumerate(left) if col == target] for target in right]
    else:
        bags = [Counter(col) for col in left]
        options = [
            [i for i, bag in enumerate(bags) if bag == target] for target in map(Counter, right)
        ]
    return choices(options)


def _agrees(
    predicted: ExecutionResult, gold: ExecutionResult, gold_sql: str, dialect: str = "sqlite"
) -> bool:
    return spider_match(predicted.rows, gold.rows, ordered=orders(gold_sql, dialect))


RULE = Rule("spider", "Spider's rule, DISTINCT kept", _agrees, ordered=True, orders=orders)

WITHOUT_DISTINCT = Rule(
    "spider-nodistinct",
    "Spider's rule, DISTINCT dropped",
    _agrees,
    ordered=True,
    orders=orders,
    rewrite=without_distinct,
)
