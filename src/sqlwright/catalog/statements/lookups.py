"""Counts of different values of one table's columns that another table's columns have."""

from __future__ import annotations

from collections.abc import Sequence

from sqlwright.catalog.reading import OutOfTime, TimedReader, Unreadable
from sqlwright.catalog.statements.columns import as_text, family_of, said
from sqlwright.errors import DatabaseUnavailable
from sqlwright.schema import ColumnRef, Schema
from sqlwright.sql.dialects import SQLITE, dialect_of, written_table
from sqlwright.sql.tokens import quote_name

SAMPLED_VALUES = 1_000
"""Different values of the near side that are looked up on the far side at most."""
SAMPLED_ROWS = 50_000
"""Rows of the near side that are read for them at most."""
_LOOKED, _NEAR = "sqlwright_looked", "sqlwright_near"
"""Names in a statement that no table is likely to have."""
Pair = tuple[ColumnRef, ColumnRef]
Forms = tuple[str, str]
"""The SQL around each of both sides before they are compared, such as `lower({})`."""
PLAIN: Forms = ("{}", "{}")


def looked_up(
    reading: TimedReader,
    schema: Schema,
    pairs: Sequence[Pair],
    seconds: float,
    forms: Forms = PLAIN,
) -> tuple[int, int] | None:
    """Numbers of different values of the near columns, and of those that the far ones have. None
    where it takes longer than `seconds`, fails, or the values can't be compared. Compares as a
    join does: by SQLite's declared affinities, elsewhere values of different types as texts.
    Raises OutOfTime when the reading's own time is up."""
    sql = _in_sqlite(pairs, forms) if dialect_of(schema) is SQLITE else _typed(schema, pairs, forms)
    if sql is None:
        return None
    reading.limit(seconds)
    try:
        counted = reading.single_row(sql)
    except OutOfTime:
        reading.limit(None)
        reading.check()
        return None
    except (Unreadable, DatabaseUnavailable):
        return None
    finally:
        reading.limit(None)
    looked, hits = counted
    if not isinstance(looked, int) or not isinstance(hits, int | float):
        return None
    return looked, min(int(hits), looked)


def compares_as_text(schema: Schema, near: ColumnRef, far: ColumnRef) -> bool:
    """True if an engine that keeps to declared types compares two columns only as texts."""
    if dialect_of(schema) is SQLITE:
        return False
    families = {family_of(column.type) for column in map(schema.column, (near, far)) if column}
    return families == {"other"} or len(families) > 1


def _in_sqlite(pairs: Sequence[Pair], forms: Forms) -> str:
    near, far = (quote_name(ref.table) for ref in pairs[0])
    names = [quote_name(one.column) for one, _ in pairs]
    present = " AND ".join(f"{name} IS NOT NULL" for name in names)
    if len(pairs) == 1:  # IN builds a set where the far column has no index; EXISTS would scan
        other = forms[1].format(quote_name(pairs[0][1].column))
        found = f"{forms[0].format(f'near.{names[0]}')} IN (SELECT {other} FROM {far})"
    else:
        matched = " AND ".join(
            f"far.{quote_name(other.column)} = near.{name}"
            for (_, other), name in zip(pairs, names, strict=True)
        )
        found = f"EXISTS (SELECT 1 FROM {far} AS far WHERE {matched})"
    some = f"SELECT {', '.join(names)} FROM {near} WHERE {present} LIMIT {SAMPLED_ROWS}"
    return (
        f"SELECT count(*), total({found}) FROM"
        f" (SELECT DISTINCT {', '.join(names)} FROM ({some}) LIMIT {SAMPLED_VALUES}) AS near"
    )


def _typed(schema: Schema, pairs: Sequence[Pair], forms: Forms) -> str | None:
    """The same for engines that keep to declared types; None where two columns have nothing to
    compare. The far side is joined, not listed, so that its indexes serve."""
    dialect = dialect_of(schema)
    near, far = (written_table(schema, ref.table) for ref in pairs[0])
    names, picked, matched = [], [], []
    for number, (one, other) in enumerate(pairs):
        families = {family_of(found.type) for found in map(schema.column, (one, other)) if found}
        if families & {"blob", "nested"}:
            return None
        left, right = dialect.quoted(one.column), dialect.quoted(other.column)
        names.append(left)
        if len(families) > 1 or families == {"other"} or (families != {"text"} and forms != PLAIN):
            left, right = as_text(left, dialect), as_text(right, dialect)
        picked.append(f"{forms[0].format(left)} AS v{number}")
        matched.append(f"{forms[1].format(right)} = v{number}")
    present = " AND ".join(f"{name} IS NOT NULL" for name in names)
    values = ", ".join(f"v{number}" for number in range(len(pairs)))
    once = "MATERIALIZED " if dialect.name in {"postgres", "duckdb"} else ""
    return said(
        f"WITH {_LOOKED} AS (SELECT {', '.join(picked)} FROM {near} WHERE {present}"
        f" LIMIT {SAMPLED_ROWS}), {_NEAR} AS {once}(SELECT DISTINCT {values} FROM {_LOOKED}"
        f" LIMIT {SAMPLED_VALUES}) SELECT (SELECT count(*) FROM {_NEAR}), (SELECT count(*) FROM"
        f" {_NEAR} WHERE EXISTS (SELECT 1 FROM {far} WHERE {' AND '.join(matched)}))",
        dialect,
    )
