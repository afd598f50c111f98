"""Tables and columns that linking steps are told to choose, and the replies that say so."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from sqlwright.lab.finetuning.roles.gold import ordered
from sqlwright.schema import ColumnRef, Schema

TABLES = "schema_linking.select_tables"
COLUMNS = "schema_linking.select_columns"


@dataclass(frozen=True, slots=True)
class Choice:
    """A part of a schema."""

    tables: tuple[str, ...]
    """In the schema's order."""
    columns: frozenset[ColumnRef] = field(default_factory=frozenset)
    """Columns of these tables; keys that join them may be missing."""


def tables_reply(tables: Collection[str], schema: Schema) -> str:
    """A reply to `schema_linking.select_tables`."""
    return json.dumps({"tables": list(ordered(tables, schema))}, ensure_ascii=False)


def columns_reply(choice: Choice, schema: Schema) -> str:
    """A reply to `schema_linking.select_columns`."""
    listed = []
    for name in ordered(choice.tables, schema):
        columns = [ref.column for ref in schema.columns if ref in choice.columns]
        own = [column for column in columns if ColumnRef(name, column) in choice.columns]
        if own:
            listed.append({"table": name, "columns": list(dict.fromkeys(own))})
    return json.dumps({"tables": listed}, ensure_ascii=False)


REPLIES: Mapping[str, Callable[[Choice, Schema], str]] = {
    TABLES: lambda choice, schema: tables_reply(choice.tables, schema),
    COLUMNS: columns_reply,
}
"""The reply of each step that can be told a choice, by its name."""
