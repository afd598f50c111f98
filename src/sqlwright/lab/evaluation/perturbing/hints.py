"""The places of a gold query near which a copy's rows should lie: values that it compares with,
columns that belong together, sizes of groups, numbers of rows."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta

from sqlwright.schema import ColumnRef, Schema
from sqlwright.sql.facts import Comparison, Constant, QueryFacts, Term
from sqlwright.types import Cell

_DAY = re.compile(r"(\d{4})-(\d\d)-(\d\d)(.*)", re.DOTALL)
_MOST_ROWS = 120
"""Rows at most that a group or a LIMIT is given."""
_LARGEST = 1e15
"""Numbers beyond it are left as they are: one more or less is the same floating number."""


_LEAST = "0"
"""A text before those that people write."""


@dataclass(frozen=True)
class Hints:
    """The rows that would tell a gold query from its neighbours, as far as it says them."""

    tables: frozenset[str] = frozenset()
    """Tables that it reads."""
    columns: frozenset[ColumnRef] = frozenset()
    near: Mapping[ColumnRef, Sequence[Cell]] = field(default_factory=dict)
    """Values at and beside those that a column is compared with."""
    meeting: Mapping[ColumnRef, Sequence[Cell]] = field(default_factory=dict)
    """Values that meet what is asked of a column."""
    together: tuple[tuple[ColumnRef, ColumnRef], ...] = ()
    """Columns that are compared with one another, or joined."""
    grouping: frozenset[ColumnRef] = frozenset()
    order: frozenset[ColumnRef] = frozenset()
    counts: tuple[int, ...] = ()
    """Sizes of groups at and beside those that are asked for."""
    rows: int = 0
    """Rows that LIMIT takes at most."""


def read_hints(facts: QueryFacts, schema: Schema) -> Hints:
    """The hints of a query."""
    near: dict[ColumnRef, dict[Cell, None]] = defaultdict(dict)
    meeting: dict[ColumnRef, dict[Cell, None]] = defaultdict(dict)
    counts: dict[int, None] = {}
    for comparison in facts.comparisons:
        constants = [term.constant for term in comparison.right if term.constant is not None]
        columns = _subjects(comparison)
        for constant in constants:
            if comparison.left.aggregates and not columns:
                counts.update(dict.fromkeys(_sizes(constant)))
            for column in columns:
                values = list(_near(constant, pattern=comparison.operator == "like"))
                near[column].update(dict.fromkeys(values))
                meeting[column].update(dict.fromkeys(_meeting(comparison, constant, values)))
    for near_column, far_column in sorted(schema.key_pairs):
        for held in (near, meeting):
            both = {**held.get(near_column, {}), **held.get(far_column, {})}
            if both:
                held[near_column], held[far_column] = both, dict(both)
    ordering = [key.term.column for keys in facts.orders for key in keys]
    grouping = [column for one in facts.selects for term in one.grouping for column in term.columns]
    return Hints(
        tables=frozenset(facts.tables) | _behind_views(facts, schema),
        columns=frozenset(facts.columns),
        near={column: tuple(values) for column, values in near.items()},
        meeting={column: tuple(values) for column, values in meeting.items()},
        together=tuple(dict.fromkeys(_together(facts))),
        grouping=frozenset(grouping),
        order=frozenset(column for column in ordering if column is not None),
        counts=tuple(counts),
        rows=min(max((limit for limit in facts.limits if limit > 0), default=0), _MOST_ROWS),
    )


def _behind_views(facts: QueryFacts, schema: Schema) -> frozenset[str]:
    """Every table, where a view is read: anything may stand behind it."""
    read = [schema.table(name) for name in facts.tables]
    if any(table is not None and table.kind == "view" for table in read):
        return frozenset(table.name for table in schema.tables)
    return frozenset()


def _subjects(comparison: Comparison) -> tuple[ColumnRef, ...]:
    """The columns whose values a comparison is about; of COUNT none."""
    calls = comparison.left.aggregates
    if calls and all(call.function == "count" for call in calls):
        return ()
    return comparison.left.columns


def _together(facts: QueryFacts) -> Iterator[tuple[ColumnRef, ColumnRef]]:
    for one in facts.selects:
        for join in one.joins:
            yield from join.pairs
    for comparison in facts.comparisons:
        for left in comparison.left.columns:
            for term in comparison.right:
                for right in _shown_by(term, facts):
                    yield left, right
    for operation in facts.operations:
        sides = facts.selects[operation.left], facts.selects[operation.right]
        for near, far in zip(sides[0].shown, sides[1].shown, strict=False):
            if near.column is not None and far.column is not None and near.column != far.column:
                yield near.column, far.column


def _shown_by(term: Term, facts: QueryFacts) -> Iterator[ColumnRef]:
    """The columns of a term, and those that the queries within it show."""
    yield from term.columns
    for place in term.queries:
        for shown in facts.selects[place].shown:
            yield from shown.columns


def _sizes(constant: Constant) -> Iterator[int]:
    try:
        asked = int(float(constant.text))
    except (ValueError, OverflowError):
        return
    for size in (asked, asked + 1, asked - 1):
        if 1 <= size <= _MOST_ROWS:
            yield size


def _near(constant: Constant, *, pattern: bool) -> Iterator[Cell]:
    """A constant's value, and values at which a changed comparison decides otherwise."""
    value = constant.value
    if isinstance(value, str):
        yield from _near_pattern(value) if pattern else _near_text(value)
        return
    yield value
    if abs(value) < _LARGEST:
        yield value + 1
        yield value - 1
        if isinstance(value, float):
            yield value + 0.01
            yield value - 0.01


def _near_text(value: str) -> Iterator[Cell]:
    yield value
    day = _DAY.fullmatch(value)
    if day is not None:
        yield from _near_day(day)
        return
    try:
        number = float(value)
    except ValueError:
        yield value + "x"
        yield value[:-1] or _LEAST
        yield value.swapcase()
        return
    if number.is_integer() and abs(number) < _LARGEST:
        yield from (str(int(number) + 1), str(int(number) - 1))


def _near_day(day: re.Match[str]) -> Iterator[Cell]:
    try:
        start = date(int(day[1]), int(day[2]), int(day[3]))
        for days in (1, -1, 40, -400):
            yield (start + timedelta(days=days)).isoformat() + day[4]
    except (ValueError, OverflowError):
        return


def _near_pattern(pattern: str) -> Iterator[Cell]:
    bare = pattern.strip("%").replace("%", "q").replace("_", "w")
    if not bare:
        return
    yield from (bare, bare + "x", "x" + bare, "x" + bare + "x", bare[:-1] or "x", bare.swapcase())


def _meeting(comparison: Comparison, constant: Constant, values: Sequence[Cell]) -> Sequence[Cell]:
    """Those of the values beside a constant that meet a plain comparison with it."""
    operator = comparison.operator
    if comparison.negated or operator == "!=":
        return values[1:]
    if operator in {"=", "in", "between"}:
        return values[:1]
    if operator == "like":
        return [one for one in values if _starts_right(str(one), constant.text)]
    kept = [one for one in values if _same_kind(one, constant.value)]
    if operator in {">", ">="}:
        return [one for one in kept if one > constant.value]  # type: ignore[operator]
    if operator in {"<", "<="}:
        return [one for one in kept if one < constant.value]  # type: ignore[operator]
    return ()


def _same_kind(one: Cell, other: Cell) -> bool:
    return isinstance(one, str) == isinstance(other, str)


def _starts_right(value: str, pattern: str) -> bool:
    """True of what a pattern surely matches, wherever it has its `%`."""
    bare = pattern.strip("%").replace("%", "q").replace("_", "w")
    return (
        (pattern.startswith("%") or value.startswith(bare))
        and (pattern.endswith("%") or value.endswith(bare))
        and bare in value
    )
