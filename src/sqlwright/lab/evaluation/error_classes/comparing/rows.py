"""Differences in what two queries show, group, order and keep."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from sqlwright.lab.evaluation.error_classes.classes import Finding
from sqlwright.lab.evaluation.error_classes.reading.said import Said
from sqlwright.lab.evaluation.error_classes.reading.subjects import Subject
from sqlwright.sql.facts import OrderKey


def shown_differ(gold: Said, query: Said, *, in_order: bool) -> Iterator[Finding]:
    """Other columns in the place of gold's, columns too many or too few, and their order."""
    missing = list((Counter(gold.shown) - Counter(query.shown)).elements())
    extra = list((Counter(query.shown) - Counter(gold.shown)).elements())
    yield from _other_operands(missing, extra)
    _strike_wrapped(missing, extra)
    for one in [one for one in missing if one.is_column]:
        other = next((other for other in extra if other.is_column), None)
        if other is not None:
            missing.remove(one)
            extra.remove(other)
            yield Finding("column", f"gold shows {one}, the query {other}")
    if len(gold.shown) != len(query.shown):
        few = len(query.shown) < len(gold.shown)
        left = missing if few else extra
        names = ", ".join(map(str, left[:4]))
        first, second = ("gold", "the query")[:: 1 if few else -1]
        counts = f"gold shows {_columns(len(gold.shown))}, the query {len(query.shown)}"
        said = f"{first} shows {names}, {second} doesn't" if names else counts
        yield Finding("shape", said)
    elif in_order and gold.shown != query.shown and Counter(gold.shown) == Counter(query.shown):
        yield Finding("shape", "the columns are the same in another order")


def _other_operands(missing: list[Subject], extra: list[Subject]) -> Iterator[Finding]:
    """Calculations over other columns; aggregates are compared apart."""
    for one, other in zip(missing, extra, strict=False):
        if one.function == other.function == "of" and one.columns and other.columns:
            ours = sorted(set(one.columns) - set(other.columns))
            theirs = sorted(set(other.columns) - set(one.columns))
            if ours:
                names = ", ".join(map(str, ours))
                yield Finding("column", f"gold calculates with {names}, the query doesn't")
            elif theirs:
                names = ", ".join(map(str, theirs))
                yield Finding("column", f"the query calculates with {names}, gold doesn't")


def _strike_wrapped(missing: list[Subject], extra: list[Subject]) -> None:
    """Strike out expressions over the same columns and aggregates: they are compared apart."""
    for one in list(missing):
        for other in list(extra):
            # Equal in number by then: an expression over what the other shows plainly.
            computed = not one.is_column or not other.is_column
            if computed and one in missing and _over_same(one, other):
                missing.remove(one)
                extra.remove(other)
    for one in [one for one in missing if not one.is_column]:
        if extra and any(not other.is_column for other in extra):
            other = next(other for other in extra if not other.is_column)
            missing.remove(one)
            extra.remove(other)


def _over_same(one: Subject, other: Subject) -> bool:
    ours, theirs = set(one.columns), set(other.columns)
    return ours <= theirs or theirs <= ours


def _columns(number: int) -> str:
    return f"{number} column{'s' * (number != 1)}"


def rows_differ(gold: Said, query: Said, *, ordered: bool, repeats: bool) -> Iterator[Finding]:
    """Other groups, another order, another number of rows kept; rows more than once, where
    `repeats` says that there are some."""
    if gold.grouping not in {query.grouping, query.grouped} and query.grouping != gold.grouped:
        ours, theirs = (", ".join(map(str, sorted(s.grouping))) for s in (gold, query))
        if ours and theirs:
            yield Finding("grouping", f"gold groups by {ours}, the query by {theirs}")
        else:
            first, second = ("gold", "the query")[:: 1 if ours else -1]
            yield Finding("grouping", f"{first} groups by {ours or theirs}, {second} doesn't")
    if repeats and gold.facts.first.distinct and not _once(query):
        yield Finding("duplicates", "gold shows each row once (DISTINCT), the query doesn't", True)
    yield from _limits_differ(gold, query)
    yield from _order_differs(gold, query, ordered=ordered)


def _once(said: Said) -> bool:
    """True if its rows are different anyway."""
    combined = any(one.operator != "union_all" for one in said.facts.operations)
    return combined or said.facts.first.distinct or bool(said.facts.first.grouping)


def _limits_differ(gold: Said, query: Said) -> Iterator[Finding]:
    ours, theirs = gold.facts.limit, query.facts.limit
    if ours == theirs:
        return
    if {ours, theirs} == {1, None}:
        short = gold if ours == 1 else query
        other = query if ours == 1 else gold
        if not short.facts.order or set(short.extremes) & set(other.extremes):
            yield from _ties(gold, query)
            return
        if set(short.extremes) - set(other.extremes):
            return  # told as the highest or lowest that the other one doesn't take
    if ours is None:
        yield Finding("limit", f"the query keeps {_rows(theirs)}, gold all")
    elif theirs is None:
        yield Finding("limit", f"gold keeps {_rows(ours)}, the query all")
    else:
        yield Finding("limit", f"gold keeps {_rows(ours)}, the query {_rows(theirs)}")


def _ties(gold: Said, query: Said) -> Iterator[Finding]:
    """One row of the highest, where the other query may give several; a lone MAX gives one, too."""
    whole = query if gold.facts.limit == 1 else gold
    alone = [term.aggregate for term in whole.facts.first.shown]
    if all(call is not None for call in alone) and not whole.facts.first.grouping:
        return
    first, second = ("gold", "the query")[:: 1 if gold.facts.limit == 1 else -1]
    yield Finding("limit", f"{first} keeps one row, {second} all that are equal")


def _rows(limit: int | None) -> str:
    if limit == -1:
        return "a number of rows that it works out"
    return f"{limit} row{'s' * (limit != 1)}"


def _order_differs(gold: Said, query: Said, *, ordered: bool) -> Iterator[Finding]:
    kept = gold.facts.limit is not None and gold.facts.limit != 1
    if not (ordered or kept) or not gold.facts.order or gold.facts.limit == 1:
        return
    ours, theirs = (
        [(said.subjects.of(key.term), key.descending) for key in said.facts.order]
        for said in (gold, query)
    )
    if theirs[: len(ours)] == ours:
        return
    said = _keys(gold.facts.order, gold)
    if not theirs:
        yield Finding("order", f"gold orders by {said}, the query doesn't")
    else:
        yield Finding(
            "order", f"gold orders by {said}, the query by {_keys(query.facts.order, query)}"
        )


def _keys(keys: tuple[OrderKey, ...], said: Said) -> str:
    return ", ".join(f"{said.subjects.of(k.term)}{' descending' * k.descending}" for k in keys)
