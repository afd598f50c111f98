"""Judges every column by itself: a question may need it or not."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Literal

from sqlwright.errors import MalformedReply, ModelFailed
from sqlwright.messages import Message, Text
from sqlwright.prompts.demonstrations import load_column_demonstrations, texts
from sqlwright.prompts.dialects.names import Names
from sqlwright.prompts.fitting import Portion, fit, room
from sqlwright.prompts.replies import json_from
from sqlwright.prompts.sampling import Prompt, Sampling, ask
from sqlwright.prompts.templates import plain_text, render, schema_text
from sqlwright.protocols import Context
from sqlwright.schema import ColumnRef, Schema
from sqlwright.steps.asking import asked
from sqlwright.steps.schema_linking.batches import column_batches, view_of
from sqlwright.steps.schema_linking.narrowing import (
    found,
    named_tables,
    naming_columns,
    narrowed,
)
from sqlwright.steps.schema_linking.profiles import column_profiles
from sqlwright.steps.schema_linking.replies import ColumnsReply, RelevanceReply, RepliedNames
from sqlwright.steps.showing import SchemaStep
from sqlwright.types import State

NAME = "schema_linking.filter_columns"


@dataclass(frozen=True)
class FilterColumns(SchemaStep):
    """Hides the columns that can't matter, each judged without regard to the others.

    CHESS section 3.1, filter_column, and appendix A.3. `per_column` is the paper's form, one call
    and sixteen demonstrations for each column; `batched` shows a model many columns per call;
    `embedded` asks no model and keeps the `keep` columns the linker scores best. Nothing is asked
    about keys that stay in any case, those of inferred joins included, nor about the columns that
    hold the names of what the question speaks of. A call that fails keeps its columns.
    """

    form: Literal["batched", "per_column", "embedded"] = "batched"
    least: int = 30
    """Columns of a view from which they are judged, when batched; a smaller one stays whole."""
    columns: int = 80
    """Most columns of one call, when batched."""
    tokens: int = 6_000
    """Most tokens of the columns of one call, estimated, when batched."""
    keep: int = 100
    """Columns kept by the embedded form; keys that stay anyway and found ones are not counted."""
    keys: Literal["auto", "all", "between"] = "auto"
    """The keys that stay: of every table, as in the paper, or those that join the tables of which a
    column stays, which hides tables of a huge schema as a whole. By default all where a model
    judged, so that tables can still be chosen by their names, and those between where none did."""
    keep_found: bool = True
    """Keep the columns that retrieval found by a stored value or a similar name, unasked."""
    examples: int = 1
    """Stored values shown of a column, when batched, those that retrieval found not counted."""
    limit: int | None = None
    """Most calls; with more to make the embedded form is used, with a warning."""
    sampling: Sampling = field(default_factory=Sampling)
    prompt: str = ""
    """A template of your own; empty is the form's."""

    purpose: ClassVar[str] = (
        "Hides the columns that plainly have nothing to do with the question. Worth it on a "
        "large schema; run it before tables and columns are selected. One call for many "
        "columns."
    )
    cheaper: ClassVar[str] = "schema_linking.embedded"
    reads: ClassVar[frozenset[str]] = frozenset({"question", "view"})
    writes: ClassVar[frozenset[str]] = frozenset({"view", "columns", "tables"})

    @property
    def roles(self) -> tuple[str, ...]:
        """The linker, where it is sure to be used."""
        return ("linker",) if self.form == "embedded" else ()

    def calls(self, state: State) -> int:
        """Number of its calls and one for writing the query; 0 where no model is asked."""
        made = self._calls(state)
        return made + 1 if made else 0

    def __call__(self, state: State, context: Context) -> State:
        schema = state.view.visible_schema()
        if not schema.tables or not state.question.text.strip():
            return state
        if self.form == "embedded":
            return self._embedded(state, schema, context)
        if self.limit is not None and (calls := self._calls(state)) > self.limit:
            warning = (
                f"choosing columns would take {calls:,} calls, more than its limit; "
                "the embedded model chose them"
            )
            return self._embedded(state.warn("linking", warning), schema, context)
        if self._small(schema):
            return state
        asked_about = self._asked_about(state, schema)
        if not asked_about:
            return self._kept(state, schema, ())
        try:
            if self.form == "per_column":
                return self._per_column(state, schema, asked_about, context)
            return self._batched(state, schema, asked_about, context)
        except (MalformedReply, ModelFailed) as error:
            return state.warn("linking", f"choosing columns kept every column: {error}", error)

    def _calls(self, state: State) -> int:
        schema = state.view.visible_schema()
        if self.form == "embedded" or not state.question.text.strip() or self._small(schema):
            return 0
        columns = self._asked_about(state, schema)
        return (
            len(columns)
            if self.form == "per_column"
            else len(column_batches(schema, columns, tokens=self.tokens, most=self.columns))
        )

    def _small(self, schema: Schema) -> bool:
        return self.form == "batched" and schema.column_count < self.least

    def _asked_about(self, state: State, schema: Schema) -> list[ColumnRef]:
        """The columns a model has a say about, in the schema's order."""
        known = self._always(state, schema)
        return [ref for ref in schema.columns if ref not in known]

    def _always(self, state: State, schema: Schema) -> set[ColumnRef]:
        """The columns that stay whatever is judged."""
        every = self.keys == "all" or (self.keys == "auto" and self.form != "embedded")
        kept = set(schema.all_keys) if every else set()
        if self.form == "batched":
            kept |= naming_columns(schema, named_tables(state))
        return kept | found(state) if self.keep_found else kept

    def _kept(self, state: State, schema: Schema, judged: Iterable[ColumnRef]) -> State:
        return narrowed(state, self._always(state, schema) | set(judged))

    def _embedded(self, state: State, schema: Schema, context: Context) -> State:
        links = context.linker.link(state.question, schema, state.values, context.workspace.texts)
        known = self._always(state, schema)
        ranked = [link.column for link in links.columns if link.column not in known]
        linked = state.evolve(columns=links.columns, tables=links.tables)
        return self._kept(linked, schema, ranked[: self.keep])

    def _per_column(
        self, state: State, schema: Schema, columns: Sequence[ColumnRef], context: Context
    ) -> State:
        template = self.prompt or "schema_linking/filter_column"
        judged = [texts(demonstration) for demonstration in load_column_demonstrations()]
        profiles = list(column_profiles(columns, state, context, self.shown))
        schema_of_reply = RelevanceReply.model_json_schema()

        def common(shots: int) -> dict[str, Any]:
            # What all prompts have in common is laid out once: there may be thousands of them.
            laid = render("schema_linking/_judged_columns", demonstrations=judged[:shots])
            shown = "".join(str(message.text) for message in laid)
            return {**asked(state, context), "demonstrations": plain_text(shown)}

        longest = max(profiles, key=lambda one: sum(len(str(part)) for part in one.values()))
        fitted = fit(
            lambda portion, _: render(template, column=longest, **common(portion.shots)),
            Portion(shots=len(judged)),
            state,
            context,
            step=NAME,
            sampling=self.sampling,
            reply_schema=schema_of_reply,
            narrow=False,
        )
        shown = common(fitted.portion.shots)
        prompts = [
            Prompt(render(template, column=column, **shown), _relevant, schema_of_reply)
            for column in profiles
        ]
        state = fitted.noted(state, NAME)
        replies = ask(prompts, state, context, step=NAME, sampling=self.sampling, leaving=1)
        kept = [
            ref
            for ref, samples in zip(columns, replies, strict=True)
            if any(needed is not False for needed in samples)
        ]
        return self._kept(_gaps(state, replies), schema, kept)

    def _batched(
        self, state: State, schema: Schema, columns: Sequence[ColumnRef], context: Context
    ) -> State:
        batches = column_batches(schema, columns, tokens=self._room(context), most=self.columns)
        names = RepliedNames(schema)
        schema_of_reply = ColumnsReply.model_json_schema()
        kept_names = _names(schema, self._always(state, schema))

        def laid_out(
            part: int, batch: list[ColumnRef], portion: Portion, state: State
        ) -> tuple[Message, ...]:
            layout = self.shown.within(portion).layout(
                view_of(schema, batch),
                state,
                context,
                style=portion.style,
                examples=portion.examples,
            )
            return render(
                self.prompt or "schema_linking/filter_columns",
                schema=layout.text(),
                kept=kept_names if portion.listed == 1 else Text(),
                part=part,
                parts=len(batches),
                **asked(state, context),
            )

        portion = Portion(style="compact", examples=self.examples)
        prompts = []
        for part, batch in enumerate(batches, start=1):
            fitted = fit(
                partial(laid_out, part, batch), portion, state, context,
                step=NAME, sampling=self.sampling, reply_schema=schema_of_reply, narrow=False,
            )  # fmt: skip
            state = fitted.noted(state, NAME)
            prompts.append(Prompt(fitted.messages, partial(_listed, names=names), schema_of_reply))
        replies = ask(prompts, state, context, step=NAME, sampling=self.sampling, leaving=1)
        kept: set[ColumnRef] = set()
        for batch, samples in zip(batches, replies, strict=True):
            for chosen in samples:
                kept |= set(batch) if chosen is None else chosen & set(batch)
        return self._kept(_gaps(state, replies), schema, kept)

    def _room(self, context: Context) -> int:
        """Tokens for the columns of one call: no more than half of what the model can read."""
        return min(self.tokens, max(room(self.sampling, context, NAME), 0) // 2)


def _names(schema: Schema, kept: Collection[ColumnRef]) -> Text:
    """Names of the kept columns by table, on a line each."""
    names: dict[str, list[str]] = {}
    written = Names(schema)
    for ref in schema.columns:
        if ref in kept:
            names.setdefault(ref.table, []).append(written.own(ref.column))
    lines = [f"{written.table(table)}: {', '.join(columns)}" for table, columns in names.items()]
    return schema_text("\n".join(lines))


def _relevant(text: str) -> bool:
    return json_from(text, RelevanceReply).relevant == "yes"


def _listed(text: str, names: RepliedNames) -> set[ColumnRef]:
    """The columns a reply names; a table named without columns stands for none. Raises
    MalformedReply when it names some, but none that is there."""
    known, unknown = names.columns(json_from(text, ColumnsReply).tables)
    if unknown and not known:
        raise MalformedReply(f"there is no column {unknown[0]!r}")
    return set(known)


def _gaps(state: State, replies: Sequence[tuple[object | None, ...]]) -> State:
    """The state with a warning when some calls brought nothing."""
    failed = sum(all(reply is None for reply in samples) for samples in replies)
    if not failed:
        return state
    return state.warn(
        "linking",
        f"choosing columns: {failed:,} of {len(replies):,} calls failed; their columns were kept",
    )
