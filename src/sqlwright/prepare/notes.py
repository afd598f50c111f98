"""Notes for people about what was left out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sqlwright.catalog.records import Catalog, ColumnProfile, Indexing, TableProfile
from sqlwright.schema import ColumnRef
from sqlwright.types import Note

_SHOWN = 5
"""Names listed in a note before the rest is only counted."""
_REASONS: dict[Indexing, str] = {
    "free_text": "Not in the value index, being long free text",
    "identifier": "Not in the value index, being opaque identifiers",
    "part": "Only partly in the value index",
    "waiting": "Not in the value index yet",
}


def gone_note(names: Sequence[str]) -> Note:
    """The note on an answer to a question that was asked again: a query named what is gone."""
    told = (
        f"{listed(names)} {'is' if len(names) == 1 else 'are'} gone since the database was opened"
    )
    return Note("database", f"{told}. It was read afresh, and the question asked again.")


def pressing_notes(catalog: Catalog, *, sampled: bool = True) -> tuple[str, ...]:
    """The notes worth a warning with every answer: what could be there and isn't. What was left
    out by rule stays in the catalog's own notes. `sampled` False leaves out samples."""
    columns = {
        ref: profile
        for ref, profile in catalog.columns.items()
        if profile.indexing not in {"free_text", "identifier"}
    }
    tables = {
        name: profile for name, profile in catalog.tables.items() if sampled or not profile.sampled
    }
    return catalog_notes(tables, columns)


def unreadable(tables: Iterable[TableProfile]) -> tuple[str, ...]:
    """Notes on tables that couldn't be read."""
    return tuple(f"{profile.note}." for profile in tables if profile.note)


def catalog_notes(
    tables: Mapping[str, TableProfile], columns: Mapping[ColumnRef, ColumnProfile]
) -> tuple[str, ...]:
    """Notes on tables that couldn't be read, on samples, and on columns whose values can't be
    looked up."""
    notes = list(unreadable(tables.values()))
    looked_at = {ref.table for ref, profile in columns.items() if profile.rows}
    unread = [name for name, profile in tables.items() if profile.sampled and not profile.note]
    sampled = [name for name in unread if name in looked_at]
    missed = [name for name in unread if name not in looked_at]
    if missed:
        notes.append(f"There was no time yet to look at {listed(missed)}.")
    if sampled:
        notes.append(f"Only part of the rows was looked at in {listed(sampled)}.")
    for kind, reason in _REASONS.items():
        refs = [str(ref) for ref, profile in columns.items() if profile.indexing == kind]
        if refs:
            notes.append(f"{reason}: {listed(refs)}.")
    return tuple(notes)


def listed(names: Sequence[str] | Iterable[str]) -> str:
    """The first few names and how many more there are."""
    names = list(names)
    shown = ", ".join(names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown} and {len(names) - _SHOWN} more"
