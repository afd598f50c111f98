"""The part of the schema that each narrowing step still shows, and the needed part of that.

CHESS, table 5 and figure 5. The view is what every later step sees; the linker's scores, which a
recipe may have as well, are measured apart (`scoring.LINKER_KEEPS`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from sqlwright.events import Event, StepEnded
from sqlwright.protocols import Step
from sqlwright.running.combinators import Combinator, NamedStep
from sqlwright.schema import ColumnRef, Schema, SchemaView

WHOLE = "whole schema"
"""The name under which the schema counts as it was before any step narrowed it."""


@dataclass(frozen=True, slots=True)
class Needed:
    """Columns and tables that the gold query reads, by their stored names."""

    columns: frozenset[ColumnRef]
    tables: frozenset[str]

    def counts(self, shown: Collection[ColumnRef]) -> dict[str, int]:
        """Numbers of columns and tables shown, and of those among them that are needed."""
        tables = {ref.table for ref in shown}
        return {
            "columns": len(set(shown)),
            "found_columns": len(self.columns & set(shown)),
            "tables": len(tables),
            "found_tables": len(self.tables & tables),
        }


class ViewListener:
    """Takes a run's events and keeps the view that each narrowing step leaves.

    Of a step that runs again the last view counts; of one that runs in several groups of tables
    side by side, all they show together.
    """

    def __init__(self, step: Step) -> None:
        self._names = narrowing(step)
        self._views: dict[str, dict[int, SchemaView]] = {}

    def __call__(self, event: Event) -> None:
        if isinstance(event, StepEnded) and event.step in self._names:
            view = event.after.view
            self._views.setdefault(event.step, {})[id(view.schema)] = view

    def counts(self, schema: Schema, needed: Needed) -> Mapping[str, Mapping[str, int]]:
        """The counts of the whole schema and after each step that ran, in the order of the first
        time; empty where no step of the recipe narrows."""
        if not self._names:
            return {}
        found = {WHOLE: needed.counts(tuple(schema.columns))}
        return found | {name: needed.counts(shown) for name, shown in self.shown()}

    def shown(self) -> Iterator[tuple[str, frozenset[ColumnRef]]]:
        """The columns left after each step that ran, in the order of the first time."""
        for name, views in self._views.items():
            yield name, frozenset(ref for view in views.values() for ref in view.visible)


def narrowing(step: Step) -> frozenset[str]:
    """Names of the steps in it that may narrow the view."""
    if isinstance(step, Combinator):
        return frozenset().union(*map(narrowing, step.children))
    if not isinstance(step, NamedStep):
        return frozenset()
    if isinstance(step.step, Combinator):
        return narrowing(step.step)
    instead = narrowing(step.instead) if step.instead is not None else frozenset()
    return instead | ({step.name} if "view" in step.step.writes else frozenset())
