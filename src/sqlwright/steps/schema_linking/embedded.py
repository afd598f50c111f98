"""The embedded linker scores every table and column; a large schema is narrowed to the best."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from sqlwright.protocols import Context
from sqlwright.schema import ColumnRef, Schema
from sqlwright.types import ColumnLink, State, TableLink


@dataclass(frozen=True)
class EmbeddedLinking:
    """Scores by the model 'linker'. The view is narrowed only above `columns` columns: hiding a
    column that is needed loses the question, and the parser reads small schemas whole.

    What is kept are the best columns, everything of the best tables that fits, and the keys that
    join the kept tables, by shortest paths. After MSc-SQL section 3.1 (link for recall first).
    """

    columns: int = 100
    """A schema of so many columns is left whole; a larger one is narrowed to about so many."""
    tables: int = 12
    """Most tables kept when narrowing, joining ones not counted."""

    roles: ClassVar[tuple[str, ...]] = ("linker",)
    reads: ClassVar[frozenset[str]] = frozenset({"question", "view", "values"})
    writes: ClassVar[frozenset[str]] = frozenset({"columns", "tables", "view"})

    def __call__(self, state: State, context: Context) -> State:
        schema = state.view.visible_schema()
        if not schema.tables or not state.question.text.strip():
            return state
        columns, tables = context.models["linker"].link(state.question, schema, state.values)
        linked = state.evolve(columns=tuple(columns), tables=tuple(tables))
        if schema.column_count <= self.columns:
            return linked
        values = {match.column for match in state.values}
        kept = self._kept(schema, linked.columns, linked.tables, values)
        return linked.evolve(view=state.view.narrowed(kept))

    def _kept(
        self,
        schema: Schema,
        columns: Iterable[ColumnLink],
        tables: Iterable[TableLink],
        values: set[ColumnRef],
    ) -> set[ColumnRef]:
        best = [link.table for link in tables][: self.tables]
        chosen = set(best)
        ranked = [link.column for link in columns if link.column.table in chosen]
        kept = set(ranked[: self.columns]) | {ref for ref in values if ref.table in chosen}
        present = {ref.table for ref in kept} | set(best[:1])
        return kept | keys_between(schema, present)


def keys_between(schema: Schema, tables: set[str]) -> set[ColumnRef]:
    """The keys that join `tables`, those of tables in between included, and primary keys.

    Each table is connected to those before it by a shortest path over the foreign keys; tables
    that can't be reached stay apart. Of the tables reached, every key among them is kept.
    """
    neighbours: dict[str, list[str]] = {}
    for key in schema.foreign_keys:
        neighbours.setdefault(key.table, []).append(key.target_table)
        neighbours.setdefault(key.target_table, []).append(key.table)
    ordered = [table.name for table in schema.tables if table.name in tables]
    reached: set[str] = set(ordered[:1])
    for name in ordered[1:]:
        reached |= {name, *_shortest(neighbours, name, reached)}
    kept = {
        ref
        for key in schema.foreign_keys
        if key.table in reached and key.target_table in reached
        for pair in key.pairs
        for ref in pair
    }
    for table in schema.tables:
        if table.name in reached:
            kept |= {ColumnRef(table.name, column) for column in table.primary_key}
    return kept


def _shortest(neighbours: dict[str, list[str]], start: str, goals: set[str]) -> list[str]:
    """The tables on a shortest way from `start` to any goal; none without a way."""
    came: dict[str, str] = {start: ""}
    waiting = [start]
    for table in waiting:
        if table in goals:
            path = [table]
            while came[path[-1]]:
                path.append(came[path[-1]])
            return path
        for other in neighbours.get(table, []):
            if other not in came:
                came[other] = table
                waiting.append(other)
    return []
