"""Descriptions and stored values that prompts show beside names and types."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from sqlwright.llm.metering import estimated_tokens
from sqlwright.messages import Text
from sqlwright.prompts.cells import SpanWriter, literal
from sqlwright.prompts.columns import LONGEST_RETRIEVED
from sqlwright.prompts.descriptions import essential
from sqlwright.prompts.dialects.names import Names
from sqlwright.prompts.fitting import Portion
from sqlwright.prompts.sampling import PromptStep
from sqlwright.prompts.schema import SchemaLayout, SchemaStyle
from sqlwright.prompts.styles.functions import functions_text
from sqlwright.protocols import Catalog, Context, context_tokens
from sqlwright.schema import ColumnRef, Detail, Schema, SchemaView
from sqlwright.types import State, ValueMatch

Style = SchemaStyle
Descriptions = Literal["all", "retrieved", "auto"]
"""Columns that are shown with their descriptions: all, those that retrieval found, or all while
they take no more than `SHARE` of what the model can read."""
Values = Literal["retrieved", "random", "frequent"]
"""Stored values shown as examples: those that retrieval found and usual ones, for each column one
at random (the ablation of CHESS, section 4.3), or the most frequent ones of columns where they say
what the column holds (MAG-SQL)."""

SHARE = 0.1
"""Share of a model's context that all descriptions of a view may take before only those that were
found are shown. Chosen: the rest is for the schema, demonstrations and the reply."""
PER_PHRASE = 5
"""Stored values shown of one phrase; more only where they are as near as the nearest."""


@dataclass(frozen=True)
class Shown:
    """The options of a step that shows a schema."""

    descriptions: Descriptions = "auto"
    values: Values = "retrieved"
    model: str = ""
    """The model that is shown it; empty is the run's own."""

    def within(self, portion: Portion) -> Shown:
        """The options where no more than a portion fits."""
        return self if portion.described else replace(self, descriptions="retrieved")

    def layout(
        self, view: SchemaView, state: State, context: Context, *, style: Style, examples: int
    ) -> SchemaLayout:
        """The view with what the catalog knows and what was found for the question in it; the same
        for all samples of a question."""
        catalog = context.workspace.catalog
        found = found_values(state, context)
        every = self.every(state, context)
        return context.run.once(
            lambda: SchemaLayout(
                view,
                style=style,
                values=found,
                descriptions=state.descriptions,
                every_description=every,
                catalog=catalog,
                examples=examples,
                drawn=self.drawn(state, context),
                given=state.examples,
                frequent=self.values == "frequent",
            ),
            "showing/schema",
            (view, found, state.descriptions, state.examples, catalog),
            (style, examples, every, self.values),
        )

    def every(self, state: State, context: Context) -> bool:
        """True if all descriptions are shown, not only those that were found."""
        if self.descriptions != "auto":
            return self.descriptions == "all"
        tokens = context.run.once(
            partial(_tokens_of_descriptions, state.view), "showing/descriptions", (state.view,)
        )
        return not tokens or tokens <= SHARE * context_tokens(context.llm(self.model), context.run)

    def drawn(self, state: State, context: Context) -> Callable[[ColumnRef], random.Random] | None:
        """Draws the one stored value of a column that is shown; None shows frequent ones."""
        if self.values != "random":
            return None
        return lambda ref: context.run.random(f"example/{state.question.text}/{ref}")


@dataclass(frozen=True, kw_only=True)
class SchemaStep(PromptStep):
    """A step whose prompts show a schema, with the options of what stands beside names and types.

    Named only in a call, so that a step's own options keep their positions."""

    descriptions: Descriptions = "auto"
    """Columns shown with their descriptions: `all`, those `retrieved`, or (`auto`) all while they
    take at most a tenth of what the model can read."""
    values: Values = "retrieved"
    """Stored values shown: those `retrieved` beside usual ones, one of each column at `random`, or
    the most `frequent` ones, none of keys, identifiers, addresses, many numbers and long texts."""

    @property
    def shown(self) -> Shown:
        """The options as `Shown`, for the model of `sampling`."""
        return Shown(self.descriptions, self.values, self.sampling.model)


@dataclass(frozen=True, kw_only=True)
class EvidenceStep(SchemaStep):
    """A step whose prompts say how to read the evidence."""

    evidence: Literal["letter", "sense"] = "letter"
    """Evidence holds to the letter, or, where a formula can't mean what it says, by its sense."""

    @property
    def reading(self) -> dict[str, bool]:
        """The variable of templates that says so."""
        return {"evidence_sense": self.evidence == "sense"}


def named_tokens(schema: Schema) -> int:
    """About how many tokens the names, types and descriptions of all columns have."""
    columns = [column for table in schema.tables for column in table.columns]
    return estimated_tokens(
        [f"{c.name} {c.type} {c.label} {c.description} {c.value_description}" for c in columns]
    )


def own_functions(view: SchemaView, context: Context) -> Text:
    """The functions of the database's own that queries may call, for behind its schema; empty
    where none is named."""
    return functions_text(context.workspace.database.functions, Names(view.schema))


def found_values(state: State, context: Context) -> tuple[ValueMatch, ...]:
    """The stored values found for the question that are shown, the nearest first; the same object
    for the same state."""
    catalog = context.workspace.catalog
    return context.run.once(
        partial(_found, state, catalog), "showing/values", (state.view, state.values, catalog)
    )


def matched_values(state: State, context: Context) -> Text:
    """The stored values found for the question, each on a line with its column, for prompts whose
    schema doesn't mark them (style `soft`); empty where there are none. Of a sub-question only
    those that it or the evidence speaks of."""
    writer = SpanWriter()
    written = Names(state.view.schema).column
    said = f"{state.goal}\n{state.question.evidence}".casefold() if state.goal else ""
    for number, match in enumerate(
        one for one in found_values(state, context) if not said or one.phrase.casefold() in said
    ):
        column = written(match.column)
        writer.add(f"{chr(10) if number else ''}{column} = ")
        near = f' (like "{" ".join(match.phrase.split())}")'
        writer.add(literal(match.value, LONGEST_RETRIEVED) + near, "value")
    return writer.text()


def _tokens_of_descriptions(view: SchemaView) -> int:
    told = (ref for ref in view.visible if view.detail(ref) is Detail.FULL)
    columns = filter(None, map(view.schema.column, told))
    return estimated_tokens(
        [
            essential(text)
            for column in columns
            for text in (column.label, column.description, column.value_description)
            if text
        ]
    )


def _found(state: State, catalog: Catalog | None) -> tuple[ValueMatch, ...]:
    visible = set(state.view.visible)
    if catalog is not None and catalog.steady is not None:
        # Whether a view's values were found in time differs; its tables have them anyway.
        visible &= set(catalog.steady.columns)
    return _nearest(match for match in state.values if match.column in visible)


def _nearest(matches: Iterable[ValueMatch]) -> tuple[ValueMatch, ...]:
    """The matches, best first, without what is far from its phrase and one of many."""
    ranked = sorted(matches, key=lambda match: -match.score)
    best: dict[str, float] = {}
    counts: Counter[str] = Counter()
    kept = []
    for match in ranked:
        counts[match.phrase] += 1
        nearest = best.setdefault(match.phrase, match.score)
        if counts[match.phrase] <= PER_PHRASE or match.score == nearest:
            kept.append(match)
    return tuple(kept)
