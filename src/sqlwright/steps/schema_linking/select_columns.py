"""A model chooses the columns that a question needs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from sqlwright.prompts.sampling import Sampling
from sqlwright.protocols import Context
from sqlwright.steps.schema_linking.choosing import choose
from sqlwright.steps.schema_linking.narrowing import named_tables, naming_columns, narrowed
from sqlwright.steps.schema_linking.replies import ColumnsReply, RepliedNames
from sqlwright.steps.showing import SchemaStep
from sqlwright.types import State


@dataclass(frozen=True)
class SelectColumns(SchemaStep):
    """Narrows the view to the columns that any sample names, and the keys that join their tables.

    CHESS section 3.1, select_columns. A table named without columns keeps all it shows, and the
    names of what the question speaks of are kept. Where the model gives nothing usable, and where
    there is little to leave out, the view stays as it is.
    """

    style: Literal["ddl", "compact"] = "ddl"
    """Form in which the schema is shown; a schema too large for the model is shown in compact
    lines, and one that is too large even so in the part nearest to the question."""
    examples: int = 3
    """Stored values shown of a column, those that retrieval found not counted."""
    least: int = 20
    """Columns of a view besides keys from which a model chooses; a smaller one stays as it is."""
    sampling: Sampling = field(default_factory=Sampling)
    prompt: str = "schema_linking/select_columns"

    purpose: ClassVar[str] = (
        "Keeps only the columns that the question needs, and the keys that join their tables. "
        "Run it last, on tables that are selected. One call."
    )
    reads: ClassVar[frozenset[str]] = frozenset({"question", "view"})
    writes: ClassVar[frozenset[str]] = frozenset({"view"})

    def calls(self, state: State) -> int:
        """One, and one for writing the query; none where there is nothing to choose."""
        return 2 if self._needed(state) else 0

    def __call__(self, state: State, context: Context) -> State:
        if not self._needed(state):
            return state
        schema = state.view.visible_schema()
        names = RepliedNames(schema)
        state, chosen = choose(
            state,
            context,
            step="schema_linking.select_columns",
            what="columns",
            template=self.prompt,
            style=self.style,
            examples=self.examples,
            shown=self.shown,
            sampling=self.sampling,
            form=ColumnsReply,
            resolve=lambda reply: names.columns(reply.tables, whole=True),
        )
        if not chosen:
            return state
        tables = {ref.table for ref in chosen} & named_tables(state)
        return narrowed(state, chosen | naming_columns(schema, tables))

    def _needed(self, state: State) -> bool:
        schema = state.view.visible_schema()
        enough = schema.column_count - len(schema.all_keys) >= self.least
        return bool(state.question.text.strip()) and schema.column_count > 0 and enough
