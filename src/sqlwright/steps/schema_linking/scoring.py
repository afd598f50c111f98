"""The embedded linker's scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlwright.local.link_groups import GroupLink
from sqlwright.protocols import Context
from sqlwright.schema import Schema
from sqlwright.types import ColumnLink, State, TableLink


class Scored(NamedTuple):
    """Every column and table of a schema, those that the question needs most likely first."""

    columns: tuple[ColumnLink, ...]
    tables: tuple[TableLink, ...]
    groups: Sequence[GroupLink] = ()
    """Where the schema is a crowd, its groups of tables, the likeliest first."""


def scored(state: State, schema: Schema, context: Context) -> Scored:
    """The linker's scores."""
    linker = context.models["linker"]
    link = linker.link_crowd if schema.is_crowd else linker.link
    return Scored(*link(state.question, schema, state.values, prepared=context.workspace.texts))
