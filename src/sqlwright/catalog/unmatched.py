"""Declared keys whose values aren't found where they lead: a join along them loses rows."""

from __future__ import annotations

from collections.abc import Iterable

from sqlwright.catalog.reading import OutOfTime, TimedReader
from sqlwright.catalog.statements.lookups import looked_up
from sqlwright.schema import ColumnRef, ForeignKey, Schema
from sqlwright.sql.dialects import SQLITE, dialect_of, written_table
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
    schema: Schema, keys: Iterable[ForeignKey], reading: TimedReader, *, seconds_each: float = 2.0
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
            said = _told(schema, key, reading, seconds_each)
        except OutOfTime:
            break
        if said:
            told[key] = said
    return told


def _told(schema: Schema, key: ForeignKey, reading: TimedReader, seconds: float) -> str:
    ((near, far),) = key.pairs

    def found_by(forms: tuple[str, str]) -> tuple[int, int] | None:
        return looked_up(reading, schema, key.pairs, seconds, forms)

    counted = found_by(("{}", "{}"))
    if counted is None:
        return ""
    looked, found = counted
    if not looked or found >= FEW * looked:
        return ""
    values = f"{looked:,} value{'' if looked == 1 else 's'}"
    said = f"{f'{found:,}' if found else 'none'} of {values} {_are(found)} found there"
    folded = found_by(FORMS[-1])
    if folded is None or folded[1] <= found:
        return said
    plainer = (forms for forms in FORMS if found_by(forms) == folded)
    left, right = next(plainer, FORMS[-1])
    every = f"all {folded[1]:,}" if folded[1] == folded[0] else f"{folded[1]:,}"
    join = f"{left.format(_named(schema, near))} = {right.format(_named(schema, far))}"
    return f"{said}; join on {join}, which finds {every}"


def _named(schema: Schema, ref: ColumnRef) -> str:
    dialect = dialect_of(schema)
    if dialect is SQLITE:
        return f"{quote_name(ref.table)}.{quote_name(ref.column)}"
    return f"{written_table(schema, ref.table)}.{dialect.quoted(ref.column)}"


def _are(count: int) -> str:
    return "are" if count > 1 else "is"
