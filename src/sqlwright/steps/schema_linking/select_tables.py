"""A model chooses the tables that a question needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from sqlwright.messages import Text
from sqlwright.prompts.dialects.names import Names
from sqlwright.prompts.sampling import Sampling
from sqlwright.prompts.templates import schema_text
from sqlwright.protocols import Context, context_tokens
from sqlwright.schema import Schema, SchemaView
from sqlwright.steps.schema_linking.choosing import choose
from sqlwright.steps.schema_linking.narrowing import narrowed
from sqlwright.steps.schema_linking.replies import NamedTables, RepliedNames, TablesReply
from sqlwright.steps.showing import SchemaStep
from sqlwright.types import State

WHOLE = 40
"""Most tables of which all columns of the view are shown; of more, those that show no more than
keys are listed by name, the nearest to the question first."""
NAMES = 300
"""Most tables and hidden columns that are listed by name alone; fewer for a model that reads
little."""
PER_NAME = 48
"""Tokens a model must read for each name that is listed alone: an eighth of its context at six
tokens a name. Chosen."""
UNREASONED = frozenset({"schema_linking/tuned_tables"})
"""Prompts for models that were trained to name tables alone. Their replies are held to no form:
its room would depend on the server, and the prompt with it, which is to be the one of training."""


@dataclass(frozen=True)
class SelectTables(SchemaStep):
    """Narrows the view to the tables that any sample names, and the keys that join them.

    CHESS section 3.1, select_tables. What the chosen tables show stays as it was; a table that
    isn't chosen is gone, whatever retrieval found in it. Columns that the view hides are listed by
    name, and of a schema of many tables those of which it shows no more than keys, or nothing; such
    a table that is chosen comes back whole. Where the model gives nothing usable the view stays as
    it is.
    """

    style: Literal["ddl", "compact"] = "compact"
    """Form in which the schema is shown; a schema too large for the model is shown in compact
    lines, and one that is too large even so in the part nearest to the question."""
    examples: int = 1
    """Stored values shown of a column, those that retrieval found not counted."""
    sampling: Sampling = field(default_factory=Sampling)
    prompt: str = "schema_linking/select_tables"
    """A name under `steps/`, or the path of a file that ends in .jinja;
    `schema_linking/tuned_tables` is for models trained on the task."""

    purpose: ClassVar[str] = (
        "Keeps only the tables that the question needs, and what joins them. Worth it where "
        "many tables are in view. One call."
    )
    reads: ClassVar[frozenset[str]] = frozenset({"question", "view"})
    writes: ClassVar[frozenset[str]] = frozenset({"view"})

    def calls(self, state: State) -> int:
        """One, and one for writing the query; none where there is nothing to choose."""
        return 2 if self._needed(state) else 0

    def __call__(self, state: State, context: Context) -> State:
        if not self._needed(state):
            return state
        everything, visible = state.view.schema, state.view.visible_schema()
        view, by_name = self._shown(state, everything, visible)
        names = RepliedNames(everything)
        state, chosen = choose(
            state,
            context,
            step="schema_linking.select_tables",
            what="tables",
            template=self.prompt,
            style=self.style,
            examples=self.examples,
            shown=self.shown,
            sampling=self.sampling,
            form=self._form,
            resolve=lambda reply: names.tables(reply.tables),
            view=view,
            others=self._others(state, view, by_name, context),
            tables_beside=bool(by_name),
            held=self.prompt not in UNREASONED,
        )
        if not chosen:
            return state
        kept = {ref for ref in visible.columns if ref.table in chosen}
        back = chosen - {ref.table for ref in kept}
        if back:
            returned = {ref for ref in everything.columns if ref.table in back}
            state = state.evolve(view=state.view.narrowed({*state.view.visible, *returned}))
            kept |= returned
        return narrowed(state, kept)

    @property
    def _form(self) -> type[TablesReply | NamedTables]:
        return NamedTables if self.prompt in UNREASONED else TablesReply

    def _needed(self, state: State) -> bool:
        return bool(state.question.text.strip()) and len(state.view.visible_schema().tables) > 1

    def _shown(
        self, state: State, everything: Schema, visible: Schema
    ) -> tuple[SchemaView, list[str]]:
        """The view of the tables that are shown with columns, and the names of the others."""
        shown = {table.name for table in visible.tables}
        view = state.view
        if len(shown) > WHOLE:
            keys = everything.all_keys
            telling = {ref.table for ref in visible.columns if ref not in keys}
            if telling:
                shown &= telling
                view = view.narrowed([ref for ref in visible.columns if ref.table in shown])
        return view, [table.name for table in everything.tables if table.name not in shown]

    def _others(self, state: State, view: SchemaView, by_name: list[str], context: Context) -> Text:
        """Hidden columns of the tables that are shown, and tables by name alone, best first."""
        reads = context_tokens(context.llm(self.sampling.model), context.run)
        most = min(NAMES, reads // PER_NAME)
        ranked = self._ranked(state, by_name, context)
        named, left_out = ranked[:most], len(ranked[most:])
        listed = _columns_by_name(view, named, most - len(named))
        written = Names(view.schema).table
        lines = [f"{written(name)}: {', '.join(columns)}" for name, columns in listed.items()]
        bare = [written(name) for name in named if name not in listed]
        if bare:
            more = f" and {left_out:,} more" if left_out else ""
            lines.append(f"Tables: {', '.join(bare)}{more}")
        return schema_text("\n".join(lines))

    def _ranked(self, state: State, by_name: list[str], context: Context) -> Sequence[str]:
        """The tables, those nearest to the question first."""
        if len(by_name) < WHOLE:
            return by_name
        links = state.tables or (
            context.linker.link(
                state.question, state.view.schema, state.values, context.workspace.texts
            ).tables
        )
        score = {link.table: link.score for link in links}
        return sorted(by_name, key=lambda name: -score.get(name, 0.0))


def _columns_by_name(
    view: SchemaView, further: Sequence[str], most: int
) -> Mapping[str, Sequence[str]]:
    """Hidden columns of the tables that a view shows, then all of `further` tables, by table;
    `most` in all. A further table has all of its columns or isn't there."""
    visible = view.visible_schema()
    listed: dict[str, list[str]] = {}
    written = Names(view.schema).own
    for name in (*(table.name for table in visible.tables), *further):
        stored, shown = view.schema.table(name), visible.table(name)
        columns = [
            written(column.name)
            for column in (() if stored is None else stored.columns)
            if shown is None or shown.column(column.name) is None
        ]
        if shown is None and len(columns) > most:
            break
        if columns and most > 0:
            listed[name] = columns[:most]
            most -= len(listed[name])
    return listed
