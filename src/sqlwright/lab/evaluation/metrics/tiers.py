"""Tiers beside strict accuracy: answers that people accept and a strict rule doesn't.

A tier is 1.0 or 0.0. An answer that is right by the data set's rule is in every tier; one without
a whole result is in none. Each tier forgives one thing, and in all else is as strict as the rule:

- `tier:columns`: columns too many, if each of them labels the rows. A column does that if the query
  shows a stored column there, and it is part of its table's primary key, or is declared as text, or
  is one that the outermost SELECT groups by. A column that gold has may not be missing.
- `tier:order`: columns in another order, and rows in another order where the question asks for
  none (by its words; in doubt it asks).
- `tier:rounding`: a number with a fraction that is the other one rounded to its own decimals
  (`alike.rounded_alike`), either of them.
- `tier:any`: all of these together.

None of them goes into execution accuracy. With several gold results one is enough.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from itertools import combinations, islice

from sqlwright.english.cues import asks_for_order
from sqlwright.lab.evaluation.metrics.metric import Judged, Metric
from sqlwright.lab.evaluation.rules.published import assignable, choices, place
from sqlwright.lab.evaluation.rules.rule import Row
from sqlwright.schema import Schema
from sqlwright.sql.declared_types import type_class
from sqlwright.sql.facts import SelectFacts, Term
from sqlwright.sql.reading import read_facts
from sqlwright.types import Cell


def _measure(
    judged: Judged, /, *, columns: bool = False, order: bool = False, rounding: bool = False
) -> float:
    """1.0 if the answer is right but for what is forgiven."""
    if judged.right or not judged.comparable or judged.sql is None:
        return float(judged.right)
    width = len(judged.result.rows[0]) if judged.result.rows else 0
    extra = labels(judged.sql, judged.schema, width) if columns else frozenset()
    for one in judged.references:
        leave = replace(_strict(judged, one.sql), extra=extra, rounding=rounding)
        if order:
            asked = asks_for_order(judged.example.question)
            leave = replace(leave, columns_in_order=False, ordered=leave.ordered and asked)
        if alike(judged.result.rows, one.result.rows, leave):
            return 1.0
    return 0.0


def _strict(judged: Judged, gold_sql: str) -> Leave:
    rule, dialect = judged.rule, judged.schema.dialect
    return Leave(rule.counts_order(gold_sql, dialect), rule.columns_in_order, rule.repeats_count)


def labels(sql: str, schema: Schema, width: int) -> frozenset[int]:
    """Places of the columns that a query shows to label its rows, of `width` columns; none where
    a star shows more than can be told."""
    facts = read_facts(sql, schema)
    if facts is None:
        return frozenset()
    shown: list[Term] = []
    for term in facts.first.shown:
        if term.star:
            shown += [Term(column=ref, columns=(ref,)) for ref in term.columns]
        else:
            shown.append(term)
    if len(shown) != width:
        return frozenset()
    return frozenset(i for i, term in enumerate(shown) if _labels(term, facts.first, schema))


def _labels(term: Term, select: SelectFacts, schema: Schema) -> bool:
    ref = term.column
    table = schema.table(ref.table) if ref is not None else None
    column = schema.column(ref) if ref is not None else None
    if ref is None or table is None or column is None:
        return False
    grouped = any(key.column == ref for key in select.grouping)
    return grouped or ref.column in table.primary_key or type_class(column.type) == "text"


def _tier(name: str, about: str, **forgiven: bool) -> Metric:
    return Metric(f"tier:{name}", f"right but for {about}", partial(_measure, **forgiven))


COLUMNS = _tier("columns", "columns more that label the rows", columns=True)
ORDER = _tier("order", "an order that the question doesn't ask for", order=True)
ROUNDING = _tier("rounding", "rounding", rounding=True)
ANY = _tier("any", "such columns, order and rounding", columns=True, order=True, rounding=True)


_TRIES = 1_000
"""Ways to pick columns that are tried."""
_MATCHED = 50
"""Rows of a group up to which every pairing is tried; of more only that by value."""
_NOISE = 1e-9
"""Relative difference of two numbers that differ by how they were computed alone."""


@dataclass(frozen=True, slots=True)
class Leave:
    """The leave to differ."""

    ordered: bool = False
    """True if the order of rows counts."""
    columns_in_order: bool = False
    repeats_count: bool = True
    extra: frozenset[int] = frozenset()
    """Places of predicted columns that may be left out."""
    rounding: bool = False
    """True if one number may be the other one rounded."""


def alike(predicted: Sequence[Row], gold: Sequence[Row], leave: Leave) -> bool:
    """True if the predicted rows are the gold rows but for what is left to differ."""
    if not predicted or not gold:
        return not predicted and not gold
    if len(gold[0]) > len(predicted[0]):
        return False
    return any(
        _rows_alike([tuple(row[i] for i in order) for row in predicted], gold, leave)
        for order in islice(_arrangements(predicted, gold, leave), _TRIES)
    )


def _arrangements(
    predicted: Sequence[Row], gold: Sequence[Row], leave: Leave
) -> Iterator[tuple[int, ...]]:
    """The predicted columns that may stand for the gold ones, in gold's order."""
    width, wanted = len(predicted[0]), len(gold[0])
    extra = sorted(one for one in leave.extra if one < width)
    if leave.columns_in_order:
        for dropped in combinations(extra, width - wanted):
            yield tuple(i for i in range(width) if i not in dropped)
        return
    columns = [[(cell,) for cell in column] for column in zip(*predicted, strict=True)]
    targets = [[(cell,) for cell in column] for column in zip(*gold, strict=True)]
    fits = [
        [i for i, column in enumerate(columns) if _rows_alike(column, target, leave)]
        for target in targets
    ]
    needed = set(range(width)) - set(extra)
    yield from (order for order in choices(fits) if needed <= set(order))


def _rows_alike(left: Sequence[Row], right: Sequence[Row], leave: Leave) -> bool:
    if not leave.repeats_count:
        left, right = list(dict.fromkeys(left)), list(dict.fromkeys(right))
    if list(left) == list(right):
        return True
    if leave.ordered:
        return leave.rounding and len(left) == len(right) and _pairwise(left, right)
    if Counter(left) == Counter(right):
        return True
    return leave.rounding and _rounded_alike(left, right, leave)


def _rounded_alike(left: Sequence[Row], right: Sequence[Row], leave: Leave) -> bool:
    """Rows paired by their cells without a fraction, then by those that may be rounded."""
    if leave.repeats_count and len(left) != len(right):
        return False
    soft = [
        index
        for index in range(len(right[0]))
        if any(isinstance(row[index], float) for rows in (left, right) for row in rows)
    ]
    ours, theirs = _grouped(left, soft), _grouped(right, soft)
    if ours.keys() != theirs.keys():
        return False
    same = _partners if leave.repeats_count else _covered
    return all(same(ours[key], theirs[key]) for key in ours)


def _grouped(rows: Iterable[Row], soft: Sequence[int]) -> dict[Row, list[Row]]:
    groups: dict[Row, list[Row]] = defaultdict(list)
    for row in rows:
        key = tuple(cell for index, cell in enumerate(row) if index not in soft)
        groups[key].append(tuple(row[index] for index in soft))
    return groups


def _partners(left: Sequence[Row], right: Sequence[Row]) -> bool:
    """True if each row has a partner of its own."""
    if len(left) != len(right):
        return False
    if _pairwise(sorted(left, key=_places), sorted(right, key=_places)):
        return True
    if len(left) > _MATCHED:
        return False
    return assignable([[i for i, row in enumerate(right) if _row_alike(own, row)] for own in left])


def _covered(left: Sequence[Row], right: Sequence[Row]) -> bool:
    """True if each row of either side is like some row of the other one."""
    if len(left) == len(right) and _partners(left, right):
        return True
    if max(len(left), len(right)) > _MATCHED:
        return False
    return all(
        any(_row_alike(row, other) for other in others)
        for rows, others in ((left, right), (right, left))
        for row in rows
    )


def _pairwise(left: Sequence[Row], right: Sequence[Row]) -> bool:
    return all(map(_row_alike, left, right))


def _row_alike(one: Row, other: Row) -> bool:
    return all(map(rounded_alike, one, other))


def _places(row: Row) -> list[tuple[int, Cell]]:
    return [place(cell) for cell in row]


def rounded_alike(one: Cell, other: Cell) -> bool:
    """Equal, or two numbers with a fraction of which one is the other one rounded.

    A number is the other one rounded if it has no more decimals and is within half a unit of its
    last one. An integer is equal to nothing but itself: a division that drops the rest is no
    rounding. Nothing but zero rounds to zero.
    """
    if one == other:
        return True
    if isinstance(one, Decimal):
        one = float(one)
    if isinstance(other, Decimal):
        other = float(other)
    if not isinstance(one, float | int) or not isinstance(other, float | int):
        return False
    if math.isclose(one, other, rel_tol=_NOISE):
        return True
    if isinstance(one, int) or isinstance(other, int) or not math.isfinite(one + other):
        return False
    coarse, fine = sorted((one, other), key=_decimals)
    half = 0.5 * 10.0 ** -_decimals(coarse)
    return coarse != 0 and abs(coarse - fine) <= half * (1 + _NOISE)


def _decimals(number: float) -> int:
    """Digits after the point that a number takes to be told."""
    if number.is_integer():
        return 0
    exponent = Decimal(repr(number)).as_tuple().exponent
    return -exponent if isinstance(exponent, int) else 0
