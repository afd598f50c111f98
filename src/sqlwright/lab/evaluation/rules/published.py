"""The rules as they are published: BIRD's, Spider's, the strictest one, Spider 2.0's and Defog's.

Own implementations; the last two weren't checked against their scripts. Cells compare as Python
compares them, but for the tolerances of these two.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import islice

from sqlwright.lab.evaluation.rules.rule import Row, Rule
from sqlwright.sql.reading import has_order_by
from sqlwright.sql.rewriting import without_distinct
from sqlwright.types import Cell, ExecutionResult


def assignable(options: Sequence[Sequence[int]]) -> bool:
    """True if each place can have one of its options, each option used once (Kuhn's algorithm)."""
    taken: dict[int, int] = {}
    return all(_assign(place, options, taken, set()) for place in range(len(options)))


def _assign(
    place: int, options: Sequence[Sequence[int]], taken: dict[int, int], seen: set[int]
) -> bool:
    for index in options[place]:
        if index in seen:
            continue
        seen.add(index)
        if index not in taken or _assign(taken[index], options, taken, seen):
            taken[index] = place
            return True
    return False


def choices(options: Sequence[Sequence[int]]) -> Iterator[tuple[int, ...]]:
    """Every way to give each place one of its options, each option used once; none is looked for
    in vain where there is none."""
    return _extended(options, ()) if assignable(options) else iter(())


def _extended(
    options: Sequence[Sequence[int]], chosen: tuple[int, ...]
) -> Iterator[tuple[int, ...]]:
    if len(chosen) == len(options):
        yield chosen
        return
    for index in options[len(chosen)]:
        if index not in chosen:
            yield from _extended(options, (*chosen, index))


Place = tuple[int, Cell]


def place(cell: Cell) -> Place:
    """A key to sort by: NULL, then numbers by value, texts, bytes, all else by kind and text."""
    if cell is None:
        return (0, 0)
    if isinstance(cell, int | float | Decimal):
        return (1, cell)
    if isinstance(cell, bytes):
        return (3, cell)
    return (2, cell) if isinstance(cell, str) else (4, f"{type(cell).__name__} {cell}")


def near(one: Cell, other: Cell, *, relative: float, absolute: float) -> bool:
    """Equal, or two numbers within the tolerances."""
    if isinstance(one, int | float | Decimal) and isinstance(other, int | float | Decimal):
        return math.isclose(one, other, rel_tol=relative, abs_tol=absolute)
    return one == other


def column_near(
    one: Sequence[Cell], other: Sequence[Cell], *, relative: float, absolute: float
) -> bool:
    """Equal cell by cell, within the tolerances."""
    return len(one) == len(other) and all(
        near(a, b, relative=relative, absolute=absolute) for a, b in zip(one, other, strict=True)
    )


def bird_match(predicted: Sequence[Row], gold: Sequence[Row]) -> bool:
    """The same set of rows."""
    return set(predicted) == set(gold)


def _bird_agrees(
    predicted: ExecutionResult, gold: ExecutionResult, gold_sql: str, dialect: str = "sqlite"
) -> bool:
    del gold_sql, dialect
    return bird_match(predicted.rows, gold.rows)


BIRD = Rule(
    "bird", "BIRD's rule, rows as a set", _bird_agrees, columns_in_order=True, repeats_count=False
)
"""The execution accuracy of BIRD (Li et al. 2023): rows as a set, columns in order. Cells compare
as Python compares them."""


def multiset_match(predicted: Sequence[Row], gold: Sequence[Row], *, ordered: bool) -> bool:
    """The same rows, each as often; in the same order where that counts."""
    if ordered:
        return list(predicted) == list(gold)
    return Counter(predicted) == Counter(gold)


def _multiset_agrees(
    predicted: ExecutionResult, gold: ExecutionResult, gold_sql: str, dialect: str = "sqlite"
) -> bool:
    return multiset_match(predicted.rows, gold.rows, ordered=has_order_by(gold_sql, dialect))


MULTISET = Rule(
    "multiset",
    "rows as a multiset, columns in order",
    _multiset_agrees,
    ordered=True,
    columns_in_order=True,
)
"""The strictest rule: rows as a multiset, columns in order, rows in order where the gold query
orders at its outermost level. Cells compare as Python compares them."""


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


def _spider_agrees(
    predicted: ExecutionResult, gold: ExecutionResult, gold_sql: str, dialect: str = "sqlite"
) -> bool:
    return spider_match(predicted.rows, gold.rows, ordered=orders(gold_sql, dialect))


SPIDER = Rule("spider", "Spider's rule, DISTINCT kept", _spider_agrees, ordered=True, orders=orders)
"""The execution accuracy of Spider's official evaluation (Zhong et al. 2020, "Semantic Evaluation
for Text-to-SQL with Distilled Test Suites"), with DISTINCT kept, and with each DISTINCT of both
queries dropped before they run, as its script does unless it is told to keep them.

Rows as a multiset, in order only when the gold query orders, columns in any order, two results
without rows equal. Cells compare as Python compares them: 1 equals 1.0, '1' does not equal 1, no
tolerance.
"""

WITHOUT_DISTINCT = Rule(
    "spider-nodistinct",
    "Spider's rule, DISTINCT dropped",
    _spider_agrees,
    ordered=True,
    orders=orders,
    rewrite=without_distinct,
)


TOLERANCE = 1e-2
"""Difference of two numbers that are equal."""


def spider2_match(predicted: Sequence[Row], gold: Sequence[Row], *, ordered: bool) -> bool:
    """Every gold column is among the predicted ones."""
    if len(predicted) != len(gold):
        return False
    columns, wanted = _column_values(predicted, ordered), _column_values(gold, ordered)
    return all(any(_within_tolerance(one, want) for one in columns) for want in wanted)


def _column_values(rows: Sequence[Row], ordered: bool) -> list[Sequence[Cell]]:
    columns = zip(*rows, strict=True)
    return [column if ordered else sorted(column, key=place) for column in columns]


def _within_tolerance(one: Sequence[Cell], other: Sequence[Cell]) -> bool:
    return column_near(one, other, relative=0.0, absolute=TOLERANCE)


def _spider2_agrees(
    predicted: ExecutionResult, gold: ExecutionResult, gold_sql: str, dialect: str = "sqlite"
) -> bool:
    return spider2_match(predicted.rows, gold.rows, ordered=has_order_by(gold_sql, dialect))


SPIDER2 = Rule(
    "spider2",
    "Spider 2.0's rule, columns one by one",
    _spider2_agrees,
    ordered=True,
    repeats_count=True,
)
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


RELATIVE, ABSOLUTE = 1e-5, 1e-8
_TRIES = 1_000
"""Ways to pick columns that are tried; there are several only for columns of equal content."""


def defog_match(predicted: ExecutionResult, gold: ExecutionResult, *, ordered: bool) -> bool:
    """The same table, or one that has the gold table's columns among its own."""
    if not predicted.rows and not gold.rows:
        return True
    if not predicted.rows or not gold.rows:
        return False
    exact = _same_table(_by_name(predicted), _by_name(gold), ordered=ordered)
    return exact or _contains(predicted.rows, gold.rows, ordered=ordered)


def _contains(predicted: Sequence[Row], gold: Sequence[Row], *, ordered: bool) -> bool:
    if len(predicted) != len(gold) or len(predicted[0]) < len(gold[0]):
        return False
    columns = [sorted(column, key=place) for column in zip(*predicted, strict=True)]
    wanted = [sorted(column, key=place) for column in zip(*gold, strict=True)]
    options = [[i for i, one in enumerate(columns) if _isclose(one, want)] for want in wanted]
    return any(
        _same_table([tuple(row[i] for i in order) for row in predicted], gold, ordered=ordered)
        for order in islice(choices(options), _TRIES)
    )


def _by_name(result: ExecutionResult) -> Sequence[Row]:
    """The rows with their columns in the order of the columns' names, where these are known."""
    names = result.columns
    if len(names) != len(result.rows[0]):
        return result.rows
    order = sorted(range(len(names)), key=lambda index: names[index])
    return [tuple(row[index] for index in order) for row in result.rows]


def _same_table(left: Sequence[Row], right: Sequence[Row], *, ordered: bool) -> bool:
    """Equal once each row is there once, in order or whatever the order."""
    left, right = list(dict.fromkeys(left)), list(dict.fromkeys(right))
    if len(left) != len(right) or len(left[0]) != len(right[0]):
        return False
    if not ordered:
        left, right = sorted(left, key=_places), sorted(right, key=_places)
    return all(_isclose(one, other) for one, other in zip(left, right, strict=True))


def _places(row: Row) -> list[tuple[int, Cell]]:
    return [place(cell) for cell in row]


def _isclose(one: Sequence[Cell], other: Sequence[Cell]) -> bool:
    return column_near(one, other, relative=RELATIVE, absolute=ABSOLUTE)


def _defog_agrees(
    predicted: ExecutionResult, gold: ExecutionResult, gold_sql: str, dialect: str = "sqlite"
) -> bool:
    return defog_match(predicted, gold, ordered=has_order_by(gold_sql, dialect))


DEFOG = Rule(
    "defog", "Defog's rule, more columns allowed", _defog_agrees, ordered=True, repeats_count=False
)
"""The rule of Defog's sql-eval, from its documentation ("exact" or "subset" match of two tables).

Exact: both tables with their columns in the order of their names, repeated rows once, rows sorted
unless the gold query orders, are equal. Subset: for each gold column there is another predicted
column with the same values in some order, and the tables of these columns are equal in that sense.
Numbers are equal within a relative difference of 1e-5, which is the default of the library that
compares the tables there. Several gold queries are told apart by the data set; one is enough.

Where their rule goes by a question's category or words, order counts here where the gold query
orders at its outermost level. An own implementation; it wasn't checked against their script.
"""
