"""The embedded linker's scores."""

from __future__ import annotations

from sqlwright.local.linker.groups import Links
from sqlwright.protocols import Context
from sqlwright.schema import Schema
from sqlwright.types import State


def scored(state: State, schema: Schema, context: Context) -> Links:
    """The linker's scores."""
    linker = context.models["linker"]
    link = linker.link_crowd if schema.has_many_groups else linker.link
    return Links(*link(state.question, schema, state.values, prepared=context.workspace.texts))
