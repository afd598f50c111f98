"""Columns one by one, as `_column.jinja` shows them, in a demonstration's fields."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sqlwright.messages import Text
from sqlwright.prompts.descriptions import essential
from sqlwright.prompts.templates import schema_text, value_text
from sqlwright.protocols import Context
from sqlwright.schema import Column, ColumnRef
from sqlwright.steps.showing import Shown, found_values
from sqlwright.types import State

EXAMPLES = 3
"""Stored texts shown as examples of a column."""
LONGEST = 50
"""Characters of an example shown."""


def column_profiles(
    columns: Iterable[ColumnRef], state: State, context: Context, shown: Shown
) -> Iterator[dict[str, Any]]:
    """The template's variables for each column: names, type, description, examples.

    Examples are stored values that retrieval found, then frequent ones. Keys are left out: whether
    they are needed isn't asked.
    """
    every, drawn = shown.every(state, context), shown.drawn(state, context)
    described: dict[ColumnRef, dict[str, str]] = {}
    for match in state.descriptions:
        described.setdefault(match.column, {})[match.part] = match.text
    matched: dict[ColumnRef, list[str]] = {}
    for found in found_values(state, context):
        matched.setdefault(found.column, []).append(found.value)
    for ref in columns:
        column = state.view.schema.column(ref) or Column(ref.column)
        parts = {**described[ref], **_known(column)} if ref in described else {}
        frequent = _frequent(ref, context)
        if drawn is not None and frequent:
            frequent = [drawn(ref).choice(frequent)]
        examples = [*matched.get(ref, []), *frequent]
        if every:
            parts = {**parts, **_known(column)}
        yield {
            "table": schema_text(ref.table),
            "column": schema_text(ref.column),
            "type": schema_text(column.type),
            "description": _description(ref, parts),
            "examples": [
                value_text(text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…")
                for text in list(dict.fromkeys(examples))[:EXAMPLES]
            ],
        }


def _description(ref: ColumnRef, parts: Mapping[str, str]) -> Text:
    label = parts.get("label", "")
    if label.casefold() == ref.column.casefold():
        label = ""
    texts = [schema_text(label), schema_text(essential(parts.get("description", "")))]
    texts.append(value_text(essential(parts.get("value_description", ""))))
    return Text.join("; ", filter(None, texts))


def _known(column: Column) -> dict[str, str]:
    parts = {
        "label": column.label,
        "description": column.description,
        "value_description": column.value_description,
    }
    return {part: text for part, text in parts.items() if text}


def _frequent(ref: ColumnRef, context: Context) -> list[str]:
    catalog = context.workspace.catalog
    if catalog is None or ref not in catalog.columns:
        return []
    profile = (catalog.steady or catalog).columns.get(ref)
    if profile is None:
        return []
    absent = {text for text, _ in profile.missing}
    return [str(cell) for cell, _ in profile.frequent if cell is not None and cell not in absent]
