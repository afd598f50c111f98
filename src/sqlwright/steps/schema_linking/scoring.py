"""The embedded linker's scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlwright.protocols import Context
from sqlwright.schema import Schema
from sqlwright.steps.schema_linking.grouping import Likely, ranked_groups, weights
from sqlwright.types import ColumnLink, State, TableLink


class Scored(NamedTuple):
    """Every column and table of a schema, those that the question needs most likely first."""

    columns: tuple[ColumnLink, ...]
    tables: tuple[TableLink, ...]
    groups: Sequence[Likely] = ()
    """Where the schema is a crowd, its groups of tables, the likeliest first."""


def scored(state: State, schema: Schema, context: Context) -> Scored:
    """The linker's scores. In a crowd what speaks for a group counts for all that is in it: alone,
    look-alikes of many groups crowd out the rest of the right one."""
    columns, tables = context.models["linker"].link(
        state.question, schema, state.values, prepared=context.workspace.texts
    )
    if not schema.is_crowd:
        return Scored(tuple(columns), tuple(tables))
    groups = ranked_groups(state, columns, schema)
    weight = weights(groups)
    of = schema.groups
    by_column = [
        ColumnLink(link.column, link.score * weight[of[link.column.table]]) for link in columns
    ]
    by_table = [TableLink(link.table, link.score * weight[of[link.table]]) for link in tables]
    return Scored(
        tuple(sorted(by_column, key=lambda link: -link.score)),
        tuple(sorted(by_table, key=lambda link: -link.score)),
        groups,
    )
