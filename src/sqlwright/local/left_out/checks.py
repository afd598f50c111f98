"""Finds faults of a query that runs by machine: fan-out, and text taken for numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from sqlwright.errors import UnsupportedQuery
from sqlwright.local.form.nodes import Aggregate, Column, Select
from sqlwright.local.form.walking import own, own_tables, selects
from sqlwright.local.form.written import form_of
from sqlwright.protocols import Workspace
from sqlwright.schema import ColumnRef, ForeignKey, Schema
from sqlwright.sql.hazards import held
from sqlwright.types import Candidate, Note

if TYPE_CHECKING:
    from sqlwright.catalog.records import ColumnProfile

_Profiles = Mapping[ColumnRef, "ColumnProfile"]
_SUMS = frozenset({"sum", "avg", "total"})


def findings(candidate: Candidate, workspace: Workspace) -> tuple[Note, ...]:
    """Warnings about a query, empty when nothing is wrong or it can't be read.

    - A sum or average over a table whose rows come once per matching row of another table counts
      rows more than once (fan-out).
    - A sum or average of text that isn't numbers is 0 or nonsense.
    """
    try:
        form = form_of(candidate, workspace.schema)
    except UnsupportedQuery:
        return ()
    profiles = {} if workspace.catalog is None else workspace.catalog.columns
    found: dict[Note, None] = {}
    for select in selects(form):
        found.update(dict.fromkeys(_fan_out(select, workspace.schema, profiles)))
        found.update(dict.fromkeys(_text_as_number(select, profiles)))
    return tuple(found)


def _fan_out(select: Select, schema: Schema, profiles: _Profiles) -> Iterator[Note]:
    tables = own_tables(select)
    for aggregate in own(select, Aggregate):
        if aggregate.function not in _SUMS or aggregate.distinct:
            continue
        summed = {column.ref.table for column in own(aggregate, Column)}
        for key in schema.foreign_keys:
            if key.target_table not in summed or key.table not in tables - summed:
                continue
            if _many(key, schema, profiles):
                yield Note(
                    "fan_out",
                    f"{aggregate.function} may count rows of {key.target_table} more than once: "
                    f"once for each matching row of {key.table}",
                )


def _many(key: ForeignKey, schema: Schema, profiles: _Profiles) -> bool:
    """True if several rows of the key's table may point to the same row."""
    table = schema.table(key.table)
    if table is None or set(table.primary_key) == set(key.columns):
        return False
    near = [profiles.get(ColumnRef(key.table, column)) for column in key.columns]
    return not any(profile is not None and profile.unique for profile in near)


def _text_as_number(select: Select, profiles: _Profiles) -> Iterator[Note]:
    for aggregate in own(select, Aggregate):
        if isinstance(aggregate.operand, Column) and aggregate.function in _SUMS:
            profile = profiles.get(aggregate.operand.ref)
            if profile is not None and profile.main_storage == "text" and held(profile) is None:
                message = f"{aggregate.function} of {aggregate.operand.ref}, which holds text"
                yield Note("text_as_number", message)
