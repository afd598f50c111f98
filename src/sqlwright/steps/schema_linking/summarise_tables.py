"""A model says of each table in one sentence what it holds, once for a database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import ClassVar

from sqlwright.errors import BudgetSpent, MalformedReply, ModelFailed
from sqlwright.messages import Message
from sqlwright.prompts.cells import flat, shortened
from sqlwright.prompts.fitting import Portion, fit, room
from sqlwright.prompts.replies import json_from
from sqlwright.prompts.sampling import Prompt, Sampling, ask
from sqlwright.prompts.templates import render
from sqlwright.protocols import Context
from sqlwright.schema import ColumnRef, Schema, SchemaView
from sqlwright.steps.schema_linking.batches import column_batches, view_of
from sqlwright.steps.schema_linking.kept_summaries import (
    KeptSummaries,
    maker_digest,
    table_digests,
)
from sqlwright.steps.schema_linking.narrowing import is_small
from sqlwright.steps.schema_linking.replies import RepliedNames, SummariesReply
from sqlwright.steps.showing import SchemaStep, Values
from sqlwright.types import State, TableSummary

NAME = "schema_linking.summarise_tables"
LONGEST = 300
"""Characters of a sentence that are kept."""
ROUNDS = 2
"""Times that a table's sentence is asked for: a reply may leave tables out."""
MOST_COLUMNS = 400
"""Columns of one prompt at most. Chosen: a reply has room for a sentence of each table."""


@dataclass(frozen=True)
class SummariseTables(SchemaStep):
    """Has a model say in one sentence what each table holds.

    MAG-SQL section 3.1.2: from the names, types, descriptions and values of its columns. A
    sentence is written once and kept beside what is prepared of a database, in memory where nothing
    is: the next question asks nothing. It is written anew when the table or the model changes.
    Nothing is asked about a schema so small that all of it is told (`schema_linking.entities`).

    Deviations: kept beyond a run; a schema too large for one prompt goes in parts, whole tables in
    each; a table that a reply leaves out is asked for once more.
    """

    columns: int = 25
    """Columns up to which, with `per_table`, a schema is small."""
    per_table: float = 5.0
    """Columns of a table on average up to which, with `columns`, a schema is small."""
    examples: int = 6
    """Stored values shown of a column."""
    values: Values = "frequent"
    sampling: Sampling = field(default_factory=Sampling)
    prompt: str = "schema_linking/summarise_tables"

    _kept: KeptSummaries = field(
        default_factory=KeptSummaries, init=False, repr=False, compare=False, hash=False
    )

    purpose: ClassVar[str] = (
        "Has one sentence written on what each table holds, which helps to tell tables that look "
        "alike apart. One call for a database, none for later questions."
    )
    reads: ClassVar[frozenset[str]] = frozenset({"view"})
    writes: ClassVar[frozenset[str]] = frozenset({"summaries"})

    def calls(self, state: State) -> int:
        """One, and one for writing the query; none for a small schema. Whether the sentences are
        kept already isn't known here."""
        return 2 if self._needed(state) else 0

    def __call__(self, state: State, context: Context) -> State:
        if not self._needed(state):
            return state
        shown = {table.name for table in state.view.visible_schema().tables}
        schema = state.view.schema
        from_values = self._shows_values(context)
        model = context.llm(self.sampling.model).name
        options = (self.prompt, self.descriptions, self.values, self.examples)
        maker = maker_digest([model, *options, from_values])
        digests = {
            name: digest for name, digest in table_digests(schema, maker).items() if name in shown
        }
        folder: Path | None = getattr(context.workspace.values, "beside", None)
        with self._kept.turn(context.run):
            known = self._kept.find(list(digests.values()), maker, folder)
            missing = [name for name, digest in digests.items() if digest not in known]
            if missing:
                state, said = self._written(missing, state, context)
                written = {digests[name]: text for name, text in said.items()}
                self._kept.keep(written, maker, folder)
                known |= written
        summaries = tuple(
            TableSummary(name, known[digest], from_values)
            for name, digest in digests.items()
            if digest in known
        )
        return state.evolve(summaries=summaries)

    def _needed(self, state: State) -> bool:
        schema = state.view.visible_schema()
        small = is_small(schema, columns=self.columns, per_table=self.per_table)
        return bool(state.question.text.strip()) and bool(schema.tables) and not small

    def _shows_values(self, context: Context) -> bool:
        """True if the model is shown stored values."""
        remote = context.llm(self.sampling.model).capabilities.remote
        return self.examples > 0 and (context.run.privacy == "full" or not remote)

    def _written(
        self, tables: Sequence[str], state: State, context: Context
    ) -> tuple[State, dict[str, str]]:
        """The state with warnings, and sentences by table, as many as could be had."""
        schema = state.view.schema
        # The prompt is the same for all questions: it shows nothing that was found for this one.
        bare = state.evolve(view=SchemaView(schema), values=(), descriptions=(), examples=())
        said: dict[str, str] = {}
        problem: Exception | None = None
        for turn in range(ROUNDS):
            missing = [name for name in tables if name not in said]
            if not missing or problem is not None:
                break
            prompts = self._prompts(missing, bare, context, turn)
            try:
                replies = ask(prompts, bare, context, step=NAME, sampling=self.sampling, leaving=1)
            except (MalformedReply, ModelFailed) as error:
                problem, replies = error, []
            except BudgetSpent as error:
                if not said:
                    raise
                problem, replies = error, []
            for found in (found for samples in replies for found in samples if found):
                said = {**found, **said}
        if lacking := len(tables) - len(said):
            told = f"summing up tables: {lacking:,} of {len(tables):,} have no sentence"
            state = state.warn("model", f"{told}: {problem}" if problem else told, problem or "")
        return state, said

    def _prompts(
        self, tables: Sequence[str], state: State, context: Context, turn: int
    ) -> list[Prompt[Mapping[str, str]]]:
        schema = state.view.schema
        form = SummariesReply.model_json_schema()
        batches = self._batches(schema, tables, context)
        prompts = []
        for batch in batches:
            view = view_of(schema, batch, keys=True)

            def laid_out(portion: Portion, state: State) -> tuple[Message, ...]:
                layout = self.shown.within(portion).layout(
                    state.view, state, context, style=portion.style, examples=portion.examples
                )
                return render(self.prompt, schema=layout.text())

            fitted = fit(
                laid_out, Portion(style="compact", examples=self.examples),
                state.evolve(view=view), context,
                step=NAME, sampling=self.sampling, reply_schema=form,
            )  # fmt: skip
            names = RepliedNames(view.schema)
            prompts.append(Prompt(fitted.messages, partial(_read, names=names), form, round=turn))
        return prompts

    def _batches(
        self, schema: Schema, tables: Sequence[str], context: Context
    ) -> list[list[ColumnRef]]:
        """The tables in groups for one call each. Of a table too large for a call there are the
        first columns."""
        wanted = set(tables)
        columns = [ref for ref in schema.columns if ref.table in wanted]
        tokens = max(room(self.sampling, context, NAME), 0) // 2
        batches: list[list[ColumnRef]] = []
        seen: set[str] = set()
        for batch in column_batches(schema, columns, tokens=tokens, most=MOST_COLUMNS):
            fresh = [ref for ref in batch if ref.table not in seen]
            seen |= {ref.table for ref in fresh}
            if fresh:
                batches.append(fresh)
        return batches


def _read(text: str, names: RepliedNames) -> Mapping[str, str]:
    """Sentences by the stored name of their table. Raises MalformedReply without any."""
    said: dict[str, str] = {}
    for entry in json_from(text, SummariesReply).tables:
        table, sentence = names.table(entry.table), shortened(flat(entry.summary), LONGEST)
        if table is not None and sentence:
            said.setdefault(table.name, sentence)
    if not said:
        raise MalformedReply("it says nothing of a table that was shown")
    return said
