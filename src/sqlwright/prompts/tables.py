"""A table's opening in prompts: its name, size and description."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlwright.boundary.text import counted
from sqlwright.messages import Span
from sqlwright.prompts.cells import roughly
from sqlwright.prompts.columns import ColumnKnowledge, bare
from sqlwright.prompts.descriptions import essential
from sqlwright.schema import ColumnRef, Table

if TYPE_CHECKING:
    from sqlwright.catalog.records import TableProfile


def table_opening(name: str, before: str, about: Sequence[Span], after: str) -> tuple[Span, ...]:
    """A table's name and, where anything is known of it, what."""
    if not about:
        return (Span(name, "schema"),)
    return (Span(f"{name}{before}", "schema"), *about, Span(after, "schema"))


def about_table(table: Table, known: ColumnKnowledge) -> list[Span]:
    """A table's size and description."""
    profile = known.catalog.tables.get(table.name) if known.catalog is not None else None
    about: list[Span] = []
    if profile is not None and table.kind == "table" and (profile.rows or profile.rows_exact):
        about.append(Span(_size(table, profile, known), "value", _rough_size(profile)))
    label = "" if bare(table.label) == bare(table.name) else table.label
    for text in (label, table.description):
        if text:
            about.append(Span(f"{'; ' if about else ''}{essential(text)}", "schema"))
    return about


def _size(table: Table, profile: TableProfile, known: ColumnKnowledge) -> str:
    """Number of a table's rows. Where they weren't counted, the number that was looked at: what
    row numbers tell may be a thousand times too many."""
    if profile.rows_exact:
        return counted(profile.rows, "row") if profile.rows else "empty, no rows"
    seen = (known.profile(ColumnRef(table.name, column.name)) for column in table.columns)
    looked = max((one.rows for one in seen if one is not None), default=0)
    return f"more than {counted(looked, 'row')}" if looked else "many rows"


def _rough_size(profile: TableProfile) -> str:
    return roughly(profile.rows, "row") if profile.rows else "empty, no rows"
