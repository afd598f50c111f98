"""The embedded parser writes candidates, most probable first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import ClassVar

from sqlwright.candidates import deduplicate, facts_of
from sqlwright.english.bounds import LEADS
from sqlwright.english.dates import Moment, moments
from sqlwright.local.form.written import WrittenForm, query_in
from sqlwright.local.parser.dressing.undress import converted_columns, undress
from sqlwright.local.question.retelling import untold
from sqlwright.protocols import Context, Step
from sqlwright.schema import Schema
from sqlwright.types import Candidate, Note, State
from sqlwright.types.candidates import Form
from sqlwright.types.periods import period_of
from sqlwright.types.stored import Formats


@dataclass(frozen=True)
class EmbeddedGeneration(Step):
    """Candidates by the model 'parser' with beam search; their scores are log probabilities.

    Columns with very few distinct short texts ('M', 'F') are shown to the parser with all of them.
    """

    beam: int = 8
    """Candidates kept while searching, and written at most."""

    roles: ClassVar[tuple[str, ...]] = ("parser",)
    # Found values are used where there are some; a recipe may do without retrieval.
    reads: ClassVar[frozenset[str]] = frozenset({"question", "view"})
    writes: ClassVar[frozenset[str]] = frozenset({"candidates"})

    def __post_init__(self) -> None:
        if not 1 <= self.beam <= 64:
            raise ValueError(f"beam must be between 1 and 64, not {self.beam}")

    def __call__(self, state: State, context: Context) -> State:
        if not state.question.text.strip() or not any(True for _ in state.view.visible):
            return state
        catalog = context.workspace.catalog
        formats = {} if catalog is None else catalog.stored
        parsed = context.parser.parse(
            state.question,
            state.view,
            state.values,
            enumerations={} if catalog is None else catalog.listed,
            dates={} if catalog is None else catalog.dates,
            formats=formats,
            beam=self.beam,
            run=context.run,
        )
        written = tuple(
            Candidate(
                sql=query.sql,
                source="generation.embedded",
                score=query.score,
                columns=query.columns,
                values=query.values,
                form=query.form,
                warnings=_conversions(query.form, formats),
            )
            for query in parsed
        )
        named = moments(state.question.text, context.run.today)
        unread = untold(named, state.values)
        texts = _texts(written, context.workspace.schema, formats) if unread else frozenset()
        for moment in unread:
            if not moment.is_among(texts):
                state = state.warn("date", f"no query goes by “{moment.said}”")
            elif moment.relative or moment.said.casefold().startswith("from "):
                state = state.warn("date", _read_as(moment))
        return state.evolve(candidates=deduplicate((*state.candidates, *written)))


def _texts(written: Iterable[Candidate], schema: Schema, formats: Formats) -> frozenset[str]:
    """The texts in candidates' queries, but for what stored formats need."""
    plain = (
        one
        if one.form is None
        else replace(one, form=WrittenForm(undress(query_in(one.form), formats)))
        for one in written
    )
    read = (facts_of(candidate, schema) for candidate in plain)
    return frozenset(text for facts in read if facts is not None for text in facts.texts)


def _conversions(form: Form | None, formats: Formats) -> tuple[Note, ...]:
    """A note on the columns that a query converts."""
    if form is None:
        return ()
    return tuple(
        Note("converted", f"{ref} is stored as {stored.sample} and was read as {_KINDS[kind]}")
        for ref, stored in converted_columns(query_in(form), formats).items()
        if (kind := "amount" if not stored.is_date else "time" if stored.timed else "day")
    )


_KINDS = {"amount": "an amount", "time": "a time", "day": "a day"}


def _read_as(moment: Moment) -> str:
    first, last = (period_of(end) for end in (moment.first, moment.last))
    if first is None or last is None:
        dates = f"{moment.first} to {moment.last}" if moment.is_range else moment.first
    elif moment.operator:
        dates = last.last if moment.operator in {">", "<="} else first.first
    else:
        dates = first.first if first.first == last.last else f"{first.first} to {last.last}"
    return f"“{moment.said}” was read as {LEADS[moment.operator]}{dates}"
