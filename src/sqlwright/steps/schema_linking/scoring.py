"""The embedded linker's scores."""

from __future__ import annotations

from collections.abc import Sequence

from sqlwright.protocols import Context
from sqlwright.schema import Schema
from sqlwright.types import ColumnLink, State, TableLink


def scored(
    state: State, schema: Schema, context: Context
) -> tuple[Sequence[ColumnLink], Sequence[TableLink]]:
    """Every column and table of a schema, those that the question needs most likely first."""
    columns, tables = context.models["linker"].link(
        state.question, schema, state.values, prepared=context.workspace.texts
    )
    return columns, tables
