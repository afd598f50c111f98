"""Finds faults of a query that runs by machine: fan-out, and text taken for numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from sqlwright.candidates import form_of
from sqlwright.errors import UnsupportedQuery
from sqlwright.form.nodes import Aggregate, Column, OrderTerm, Select
from sqlwright.form.walking import own, own_tables, selects
from sqlwright.protocols import Workspace
from sqlwright.schema import ColumnRef, ForeignKey, Schema
from sqlwright.types import Candidate, Note

if TYPE_CHECKING:
    from sqlwright.catalog.records import ColumnProfile

_Profiles = Mapping[ColumnRef, "ColumnProfile"]
_NUMBERS = frozenset({"number_text", "number_grouped", "number_comma", "money", "percent"})
"""Formats of numbers whose order as text isn't their order as numbers."""
_SUMMABLE = frozenset({"number_text", "year"})
"""Formats of texts that SQLite adds up as the numbers they are."""
_SUMS = frozenset({"sum", "avg", "total"})


def findings(candidate: Candidate, workspace: Workspace) -> tuple[Note, ...]:
    """Warnings about a query, empty when nothing is wrong or it can't be read.

    - A sum or average over a table whose rows come once per matching row of another table counts
      rows more than once (fan-out).
    - A sum or average of text that isn't numbers is 0 or nonsense.
    - The least, greatest or order of numbers stored as text goes by their digits: '9' after '10'.
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
        if not isinstance(aggregate.operand, Column):
            continue
        ref, name = aggregate.operand.ref, aggregate.function
        text_format = _text_format(profiles.get(ref))
        if text_format is None:
            continue
        if name in _SUMS and text_format not in _SUMMABLE:
            yield Note("text_as_number", f"{name} of {ref}, which holds text")
        if name in {"min", "max"} and text_format in _NUMBERS:
            message = f"{name} of {ref} goes by digits: its numbers are stored as text"
            yield Note("order_by_digits", message)
    for term in own(select, OrderTerm):
        if isinstance(term.expression, Column):
            ref = term.expression.ref
            if _text_format(profiles.get(ref)) in _NUMBERS:
                message = f"the order by {ref} goes by digits: its numbers are stored as text"
                yield Note("order_by_digits", message)


def _text_format(profile: ColumnProfile | None) -> str | None:
    """The most specific format of a column's texts, empty for none; None for other columns."""
    if profile is None or profile.main_storage != "text":
        return None
    return profile.formats[0].name if profile.formats else ""
