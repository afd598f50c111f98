"""The text behind a column's name and type: descriptions, counts, stored values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sqlwright.messages import HIDDEN, Span
from sqlwright.prompts.cells import SpanWriter, flat
from sqlwright.prompts.columns import ColumnKnowledge
from sqlwright.prompts.dialects import kind_of
from sqlwright.prompts.dialects.names import Names
from sqlwright.prompts.measures import counts, least_and_greatest, missing, mixture, written
from sqlwright.prompts.styles.laid import ShownTable
from sqlwright.schema import Column, ColumnRef, ForeignKey

if TYPE_CHECKING:
    from sqlwright.catalog.records import ColumnProfile

_SOME = "some NULL"


def write_about(
    writer: SpanWriter,
    shown: ShownTable,
    column: Column,
    known: ColumnKnowledge,
    *,
    key: bool,
    opening: str,
    counts_too: bool = True,
) -> None:
    """Descriptions, counts and values of a column behind it."""
    table = shown.table.name
    ref = ColumnRef(table, column.name)
    profile = known.profile(ref)
    every_key = column.name in shown.table.primary_key or ref in known.joined
    listed = known.listed(ref, profile, key=every_key if known.frequent else key)
    always = listed.every and len(listed.literals) == 1
    target = shown.elsewhere.get(column.name, "")
    about, of_values = known.described(table, column)
    spans = [
        Span(about, "schema"),
        Span(of_values, "value"),
        Span(f"refers to {target}, not shown" if target else "", "schema"),
    ]
    if profile is not None:
        spans += _measured(profile, key=key, always=always, all_of_it=counts_too)
        if known.frequent and not counts_too and not always and profile.nulls:
            spans.append(Span(_SOME, "value", _SOME))
        if not key and ref not in known.joined:
            ranged = (counts_too or known.frequent) and not listed.every
            kind = "" if is_native(column) else written(profile, ranged=ranged)
            span = least_and_greatest(profile) if ranged else ""
            spans.append(Span(" ".join(filter(None, (kind, span))), "value", kind))
    for number, part in enumerate(part for part in spans if part.text):
        if number and not part.instead:  # what is withheld without a mark takes its "; " along
            writer.add(f"{opening}{part.text}", part.origin, "")
        else:
            writer.add(opening)
            writer.add(part.text, part.origin, part.instead or HIDDEN)
        opening = "; "
    if listed.literals:
        absent = always and profile is not None and bool(missing(profile))
        word = "one of " if listed.every else "e.g. "
        if listed.every and column.labels:
            word = "in use: "
        if always:
            word = "otherwise always " if absent else "always "
        writer.add(f"{opening}{word}")
        writer.add(", ".join(listed.literals), "value", listed.instead)


def _measured(
    profile: ColumnProfile, *, key: bool, always: bool, all_of_it: bool
) -> Iterator[Span]:
    """Numbers of values, and the kinds of them where they are several."""
    if always or not all_of_it:
        told = missing(profile, nulls=always)
        yield Span(told, "value", missing(profile, nulls=always, rough=True))
    elif all_of_it:
        few = counts(profile, key=key, rough=True)
        yield Span(counts(profile, key=key), "value", few)
    yield Span(mixture(profile), "value", mixture(profile, rough=True))


def is_native(column: Column) -> bool:
    """True of a column of intervals or arrays, whatever their values look like as texts."""
    return kind_of(column.type) in {"array", "interval"}


def typed_name(column: Column, written: Names) -> str:
    """A column's name and its declared type."""
    return f"{written.own(column.name)} {flat(column.type)}".rstrip()


def key_told(reference: ForeignKey, known: ColumnKnowledge) -> tuple[str, str]:
    """The caution about a key, and as much of it as may be told where values mayn't; empty without
    one."""
    if reference.inferred:
        how = "guessed from the names" if known.guessed(reference) else "seen in the data"
        return f"not declared, {how}", f"not declared, {how}"
    told = known.unmatched(reference)
    return told, "its values are seldom found there" if told else ""
