"""Declared keys whose values aren't found where they lead: a join along them loses rows."""

from __future__ import annotations

from collections.abc import Iterable

from sqlwright.catalog.joins import SAMPLED_ROWS, SAMPLED_VALUES, looked_up
from sqlwright.catalog.reading import OutOfTime, TimedReader
from sqlwright.schema import ColumnRef, ForeignKey
from sqlwright.sql.tokens import quote_name

FORMS = (
    ("{}", "trim({})"),
    ("trim({})", "{}"),
    ("{}", "lower({})"),
    ("lower({})", "{}"),
    ("trim({})", "trim({})"),
    ("lower({})", "lower({})"),
    ("lower(trim({}))", "lower(trim({}))"),
)
"""Forms of both sides in which a key's values may be found, those with fewer functions first."""
FEW = 0.5
"""Share of different values found below which a key is told of. Chosen: real keys have some rows
without a partner."""


def unmatched_keys(
    keys: Iterable[ForeignKey], reading: TimedReader, *, seconds_each: float = 2.0
) -> dict[ForeignKey, str]:
    """Of the declared keys of one column those of which few values are found, and how few.

    Stops, with what it has found so far, when the reading's time is up; a check that takes longer
    than `seconds_each` tells nothing. Raises `Cancelled`.
    """
    told: dict[ForeignKey, str] = {}
    for key in keys:
        if key.inferred or len(key.columns) != 1:
            continue
        try:
            said = _told(key, reading, seconds_each)
        except OutOfTime:
            break
        if said:
            told[key] = said
    return told


def _told(key: ForeignKey, reading: TimedReader, seconds: float) -> str:
    ((near, far),) = key.pairs
    counted = _found(near, far, ("{}", "{}"), reading, seconds)
    if counted is None:
        return ""
    looked, found = counted
    if not looked or found >= FEW * looked:
        return ""
    values = f"{looked:,} value{'' if looked == 1 else 's'}"
    said = f"{f'{found:,}' if found else 'none'} of {values} {_are(found)} found there"
    folded = _found(near, far, FORMS[-1], reading, seconds)
    if folded is None or folded[1] <= found:
        return said
    plainer = (forms for forms in FORMS if _found(near, far, forms, reading, seconds) == folded)
    left, right = next(plainer, FORMS[-1])
    every = f"all {folded[1]:,}" if folded[1] == folded[0] else f"{folded[1]:,}"
    join = f"{left.format(_named(near))} = {right.format(_named(far))}"
    return f"{said}; join on {join}, which finds {every}"


def _named(ref: ColumnRef) -> str:
    return f"{quote_name(ref.table)}.{quote_name(ref.column)}"


def _are(count: int) -> str:
    return "are" if count > 1 else "is"


def _found(
    near: ColumnRef,
    far: ColumnRef,
    forms: tuple[str, str],
    reading: TimedReader,
    seconds: float,
) -> tuple[int, int] | None:
    """Different values of one side and how many of them the other side has, each in its form; None
    when it takes too long to tell."""
    name, other = quote_name(near.column), forms[1].format(quote_name(far.column))
    some = (
        f"SELECT {name} FROM {quote_name(near.table)} WHERE {name} IS NOT NULL LIMIT {SAMPLED_ROWS}"
    )
    hit = f"{forms[0].format(f'near.{name}')} IN (SELECT {other} FROM {quote_name(far.table)})"
    sql = (
        f"SELECT count(*), total({hit}) FROM"
        f" (SELECT DISTINCT {name} FROM ({some}) LIMIT {SAMPLED_VALUES}) AS near"
    )
    return looked_up(reading, sql, seconds)
