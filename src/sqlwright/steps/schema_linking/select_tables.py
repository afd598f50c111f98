"""A model chooses the tables that a question needs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Literal

from sqlwright.prompts.templates import PromptStep, Sampling
from sqlwright.protocols import Context
from sqlwright.steps.schema_linking.choosing import choose
from sqlwright.steps.schema_linking.narrowing import narrowed
from sqlwright.steps.schema_linking.replies import RepliedNames, TablesReply
from sqlwright.types import State


@dataclass(frozen=True)
class SelectTables(PromptStep):
    """Narrows the view to the tables that any sample names, and the keys that join them.

    CHESS section 3.1, select_tables. What the chosen tables show stays as it was; a table that
    isn't chosen is gone, whatever retrieval found in it. Where the model gives nothing usable the
    view stays as it is.
    """

    style: Literal["ddl", "compact"] = "compact"
    """Form in which the schema is shown; a schema too large for the model is shown in compact
    lines, and one that is too large even so in the part nearest to the question."""
    examples: int = 1
    """Stored values shown of a column, those that retrieval found not counted."""
    sampling: Sampling = field(default_factory=Sampling)
    prompt: str = "schema_linking/select_tables"

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
            step="schema_linking.select_tables",
            what="tables",
            template=self.prompt,
            style=self.style,
            examples=self.examples,
            sampling=self.sampling,
            form=TablesReply,
            resolve=lambda reply: names.tables(reply.tables),
        )
        if not chosen:
            return state
        return narrowed(state, (ref for ref in schema.columns if ref.table in chosen))

    def _needed(self, state: State) -> bool:
        return bool(state.question.text.strip()) and len(state.view.visible_schema().tables) > 1
