"""The embedded linker scores every table and column; a large schema is narrowed to the best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from sqlwright.protocols import Context, GroupLink, Step
from sqlwright.schema import ColumnRef, Schema
from sqlwright.steps.schema_linking.grouping import likely, together
from sqlwright.steps.schema_linking.narrowing import keys_between
from sqlwright.types import State


@dataclass(frozen=True)
class EmbeddedLinking(Step):
    """Scores by the model 'linker'. The view is narrowed only above `columns` columns: hiding a
    column that is needed loses the question, and the parser reads small schemas whole.

    What is kept are the best columns, everything of the best tables that fits, and the keys that
    join the kept tables, by shortest paths. After MSc-SQL section 3.1 (link for recall first).
    Where many groups of tables stand side by side without a key between them, the best tables are
    those of the best groups.
    """

    columns: int = 100
    """A schema of so many columns is left whole; a larger one is narrowed to about so many."""
    tables: int = 12
    """Most tables kept when narrowing, joining ones not counted."""
    joins: int = 2
    """Kept tables are joined over at most so many keys. Longer ways bring in more tables than were
    chosen: in a wide schema, keys that were only inferred lead from anywhere to anywhere."""
    groups: int = 3
    """Most groups kept of many."""
    share: float = 0.03
    """Least probability of a kept group, as a share of the best one's."""

    roles: ClassVar[tuple[str, ...]] = ("linker",)
    # Found values are used where there are some; a recipe may do without retrieval.
    reads: ClassVar[frozenset[str]] = frozenset({"question", "view"})
    writes: ClassVar[frozenset[str]] = frozenset({"columns", "tables", "view"})

    def __call__(self, state: State, context: Context) -> State:
        schema = state.view.visible_schema()
        if not schema.tables or not state.question.text.strip():
            return state
        found = context.linker.link(state.question, schema, state.values, context.workspace.texts)
        linked = state.evolve(columns=found.columns, tables=found.tables)
        if schema.column_count <= self.columns:
            return linked
        return linked.evolve(view=state.view.narrowed(self._kept(linked, schema, found.groups)))

    def _kept(self, state: State, schema: Schema, groups: Sequence[GroupLink]) -> set[ColumnRef]:
        """The columns shown, by the scores in `state`."""
        if groups:
            few = likely(groups, most=self.groups, share=self.share)
            best = together(state, schema, few, most=self.tables)
        else:
            best = [link.table for link in state.tables][: self.tables]
        chosen = set(best)
        ranked = [link.column for link in state.columns if link.column.table in chosen]
        found = {match.column for match in state.values if match.column.table in chosen}
        kept = set(ranked[: self.columns]) | found
        present = {ref.table for ref in kept} | set(best[:1])
        return kept | keys_between(schema, present, self.joins)
