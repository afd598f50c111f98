"""A model names what the question speaks of, and for each the columns that may hold it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

from sqlwright.errors import MalformedReply, ModelFailed
from sqlwright.messages import Message, Span, Text
from sqlwright.prompts.dialects.names import Names
from sqlwright.prompts.fitting import Fitted, Portion, fit, message_tokens, room
from sqlwright.prompts.replies import json_from
from sqlwright.prompts.sampling import Prompt, Sampling, ask
from sqlwright.prompts.templates import render
from sqlwright.protocols import Context
from sqlwright.schema import ColumnRef, Detail, Schema, SchemaView
from sqlwright.steps.asking import asked
from sqlwright.steps.schema_linking.batches import column_batches, view_of
from sqlwright.steps.schema_linking.narrowing import is_small
from sqlwright.steps.schema_linking.replies import EntitiesReply, RepliedNames
from sqlwright.steps.showing import SchemaStep, Values, found_values
from sqlwright.types import Entity, Question, State

NAME = "schema_linking.entities"
LIMIT = 8
"""Most calls for a schema that doesn't fit one prompt."""
PART = 400
"""Most columns of one of several calls."""
MENTIONED = 3
"""Unknown names that a warning quotes."""

Entities = Mapping[str, Sequence[ColumnRef]]
"""Columns by what the question speaks of, in a reply."""


@dataclass(frozen=True)
class EntityColumns(SchemaStep):
    """Has a model find the columns of each thing that the question speaks of.

    MAG-SQL sections 3.1.4 and 3.1.5: entities of question and evidence, for each at least `least`
    columns in falling relevance. Their union is shown in full from then on, all other columns in
    brief: nothing is hidden, so a miss costs detail. Prompts of the style `soft` show keys anyway.
    A schema with at most `columns` columns and `per_table` of a table on average is left as it is,
    in full, without a call; so is one for which no reply can be used.

    Deviations: where a reply gives an entity fewer columns, the embedded linker adds those nearest
    to its words; names that aren't in the schema are left out, with a warning; a schema too large
    for one prompt goes in parts, at most `LIMIT` of them, tables nearest to the question first.
    """

    least: int = 3
    """Columns of an entity at least, as far as the schema has so many."""
    columns: int = 25
    """Columns up to which, with `per_table`, a schema is small."""
    per_table: float = 5.0
    """Columns of a table on average up to which, with `columns`, a schema is small."""
    examples: int = 6
    """Stored values shown of a column, those that retrieval found not counted."""
    values: Values = "frequent"
    sampling: Sampling = field(default_factory=Sampling)
    prompt: str = "schema_linking/entities"

    purpose: ClassVar[str] = (
        "Finds the columns that hold what the question speaks of; prompts then show these in "
        "detail and all others in brief. Nothing is hidden. One call."
    )
    reads: ClassVar[frozenset[str]] = frozenset({"question", "view"})
    writes: ClassVar[frozenset[str]] = frozenset({"view", "entities"})

    def calls(self, state: State) -> int:
        """One, and one for writing the query; none for a small schema."""
        return 2 if self._needed(state) else 0

    def __call__(self, state: State, context: Context) -> State:
        if not self._needed(state):
            return state
        schema = state.view.visible_schema()
        names = RepliedNames(schema)
        whole = self._fitted(state, context)
        if whole.fits:
            state, fitted = whole.noted(state, NAME), [whole]
        else:
            state, fitted = self._parts(schema, state, context)
        form = EntitiesReply.model_json_schema()
        read = partial(_read, names=names, some=len(fitted) == 1)
        prompts = [Prompt(one.messages, read, form) for one in fitted]
        try:
            replies = ask(prompts, state, context, step=NAME, sampling=self.sampling, leaving=1)
        except (MalformedReply, ModelFailed) as error:
            told = f"linking columns left the schema as it was: {error}"
            return state.warn("linking", told, error)
        usable = [reply for samples in replies for reply in samples if reply is not None]
        state = _warned(state, [name for _, unknown in usable for name in unknown])
        failed = sum(all(reply is None for reply in samples) for samples in replies)
        if failed:
            told = f"linking columns: {failed:,} of {len(replies):,} calls failed"
            state = state.warn("linking", told)
        entities = self._filled(_united([known for known, _ in usable]), schema, context)
        linked = {ref for entity in entities for ref in entity.columns}
        if not linked:
            return state
        return state.evolve(view=_softened(state.view, linked), entities=entities)

    def _needed(self, state: State) -> bool:
        schema = state.view.visible_schema()
        small = is_small(schema, columns=self.columns, per_table=self.per_table)
        return bool(state.question.text.strip()) and bool(schema.tables) and not small

    def _fitted(
        self,
        state: State,
        context: Context,
        *,
        view: SchemaView | None = None,
        part: int = 1,
        parts: int = 1,
    ) -> Fitted:
        """The prompt over the state's view, or over one part of it."""

        def laid_out(portion: Portion, state: State) -> tuple[Message, ...]:
            layout = self.shown.within(portion).layout(
                state.view, state, context, style=portion.style, examples=portion.examples
            )
            shown = {table.name for table in state.view.visible_schema().tables}
            return render(
                self.prompt,
                schema=layout.text(),
                summaries=_told(state, shown) if portion.listed == 1 else Text(),
                least=self.least,
                part=part,
                parts=parts,
                found=len(found_values(state, context)),
                **asked(state, context),
            )

        return fit(
            laid_out,
            Portion(style="compact", examples=self.examples, listed=float(bool(state.summaries))),
            state if view is None else state.evolve(view=view),
            context,
            step=NAME,
            sampling=self.sampling,
            reply_schema=EntitiesReply.model_json_schema(),
            narrow=view is not None,
        )

    def _parts(self, schema: Schema, state: State, context: Context) -> tuple[State, list[Fitted]]:
        """Prompts over parts of a schema that one prompt has no room for, and the state with a
        warning where not all of it has a part."""
        bare = self._fitted(state, context, view=view_of(schema, ()), parts=2)
        left = room(self.sampling, context, NAME) - message_tokens(bare.messages)
        cut = partial(column_batches, tokens=max(left, 0), most=PART)
        columns = list(schema.columns)
        batches = cut(schema, columns)
        if len(batches) > LIMIT:
            batches = cut(self._ranked(schema, state, context), columns)[:LIMIT]
            judged = sum(map(len, batches))
            told = (
                f"linking looked at {judged:,} of {schema.column_count:,} columns, those of the "
                "tables nearest to the question; the others are shown in brief"
            )
            state = state.warn("schema", told)
        fitted = []
        for number, batch in enumerate(batches, start=1):
            view = view_of(schema, batch, keys=True)
            one = self._fitted(state, context, view=view, part=number, parts=len(batches))
            state = one.noted(state, NAME)
            fitted.append(one)
        return state, fitted

    def _ranked(self, schema: Schema, state: State, context: Context) -> Schema:
        """The schema with the tables nearest to the question first."""
        links = context.linker.link(state.question, schema, state.values, context.workspace.texts)
        place = {link.table: number for number, link in enumerate(links.tables)}
        tables = sorted(schema.tables, key=lambda table: place.get(table.name, len(place)))
        return Schema(schema.name, tuple(tables), (), schema.dialect)

    def _filled(
        self, entities: Sequence[Entity], schema: Schema, context: Context
    ) -> tuple[Entity, ...]:
        """The entities with at least `least` columns each."""
        filled = []
        for one in entities:
            lacking = min(self.least, schema.column_count) - len(one.columns)
            nearest: list[ColumnRef] = []
            if lacking > 0:
                asked_of = Question(one.text.casefold())
                links = context.linker.link(asked_of, schema, (), context.workspace.texts)
                nearest = [link.column for link in links.columns if link.column not in one.columns]
            filled.append(Entity(one.text, (*one.columns, *nearest[: max(lacking, 0)])))
        return tuple(filled)


def _read(text: str, names: RepliedNames, *, some: bool) -> tuple[Entities, list[str]]:
    """The columns of each entity that are there, and the names that aren't. Raises MalformedReply
    for a reply that names no column that is there; without `some` it may name none at all."""
    known: dict[str, list[ColumnRef]] = {}
    unknown: list[str] = []
    for entry in json_from(text, EntitiesReply).entities:
        columns = known.setdefault(" ".join(entry.entity.split()), [])
        for name in entry.columns:
            ref = names.column("", name)
            if ref is None:
                unknown.append(name)
            elif ref not in columns:
                columns.append(ref)
    if (some or unknown) and not any(known.values()):
        raise MalformedReply(
            f"the schema has no {unknown[0]!r}" if unknown else "it names no column"
        )
    return known, unknown


def _united(replies: Sequence[Entities]) -> tuple[Entity, ...]:
    """The columns of each entity in all replies, told apart by its words whatever their case."""
    words: dict[str, str] = {}
    united: dict[str, dict[ColumnRef, None]] = {}
    for entities in replies:
        for entity, columns in entities.items():
            key = entity.casefold()
            words.setdefault(key, entity)
            united.setdefault(key, {}).update(dict.fromkeys(columns))
    return tuple(Entity(words[key], tuple(columns)) for key, columns in united.items())


def _softened(view: SchemaView, linked: set[ColumnRef]) -> SchemaView:
    """The view with these columns in full and the others in brief; what is hidden stays so."""
    details = {
        ref: Detail.HIDDEN if view.detail(ref) is Detail.HIDDEN else Detail.BRIEF
        for ref in view.schema.columns
        if ref not in linked
    }
    return SchemaView(view.schema, details)


def _told(state: State, tables: set[str]) -> Text:
    """The sentences on these tables, a line for each."""
    spans: list[Span] = []
    for summary in state.summaries:
        if summary.table in tables:
            before = "\n" if spans else ""
            named = Names(state.view.schema).table(summary.table)
            spans.append(Span(f"{before}{named}: ", "schema"))
            spans.append(Span(summary.text, "value" if summary.from_values else "model"))
    return Text(tuple(spans))


def _warned(state: State, unknown: Sequence[str]) -> State:
    absent = list(dict.fromkeys(unknown))
    if not absent:
        return state
    names = ", ".join(map(repr, absent[:MENTIONED])) + (", ..." if absent[MENTIONED:] else "")
    told = f"linking columns, the model named what isn't in the schema: {names}"
    return state.warn("linking", told)
