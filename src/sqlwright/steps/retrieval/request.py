"""Screening: a request that can't be a question is refused before anything else is done.

Only what is certain is refused, in this order: nothing asked, too long, SQL that writes, an
unmistakable order to change what is stored, and, where only English can be read, another
language. Each refusal says why and names the nearest thing that could be done. All else goes on:
whether the schema holds what is asked is judged later, when it is known (`local/critic.py`), and
the database can't be written through in any case.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from sqlwright.english.languages import foreign_language
from sqlwright.english.requests import ordered_change, without_presentation
from sqlwright.english.words import singular, split_name
from sqlwright.protocols import Context, Step
from sqlwright.schema import Schema
from sqlwright.sql.pieces import holds_change
from sqlwright.types import Question, Refusal, State

MAX_CHARACTERS = 10_000
"""Characters of a question at most; longer ones are refused unread. Chosen."""
LONGEST_SUGGESTION = 120
"""Characters of a request at most that are repeated in a suggestion; chosen."""


def screen_request(
    question: Question, schema: Schema | None = None, *, english_only: bool = False
) -> Refusal | None:
    """The refusal of a request that no reading of a database can answer; None when it may be a
    question.

    With the schema orders in a business's own words are seen, too, and a question is suggested that
    it can answer. `english_only` is for a parser that reads no other language.
    """
    text = question.text
    if len(text) > MAX_CHARACTERS:
        return Refusal(
            "too_long",
            f"The question has {len(text):,} characters; at most {MAX_CHARACTERS:,} are read.",
            "Ask for one thing at a time, in a sentence or two.",
        )
    if not any(letter.isalnum() for letter in text):
        return Refusal(
            "empty",
            "There is no question.",
            f"Ask about the data{_example(schema)}",
        )
    changed = "" if holds_change(text) else ordered_change(text, _names(schema))
    if changed is not None:
        return Refusal(
            "write",
            "That asks to change the database, and sqlwright only ever reads.",
            _instead_of_writing(changed),
        )
    language = foreign_language(text) if english_only else None
    if language:
        return Refusal(
            "language",
            f"The question seems to be in {language}; the embedded model reads English only.",
            "Ask in English; names and values may stay as they are stored. A language model "
            "(-m provider/model) reads other languages too.",
        )
    return None


def _names(schema: Schema | None) -> frozenset[str]:
    """The words in the singular that a schema's tables and columns are called by."""
    tables = () if schema is None else schema.tables
    names = [name for one in tables for name in (one.own_name, *(c.name for c in one.columns))]
    return frozenset(singular(word) for name in names for word in split_name(name))


def _example(schema: Schema | None) -> str:
    """A question about the first table, to be suggested; a full stop without one."""
    tables = () if schema is None else schema.tables
    first = next((one for one in tables if one.kind == "table"), None)
    if schema is None or first is None:
        return "."
    called = " ".join(split_name(schema.spoken(first.name)))
    return f", for example: how many rows are in {called}?"


def _instead_of_writing(changed: str) -> str:
    if changed and len(changed) <= LONGEST_SUGGESTION:
        return f"To see what it would touch, ask: show {changed}"
    return "Ask to see what is there now; make the change with your database's own tools."


@dataclass(frozen=True)
class ScreenRequest(Step):
    """The step: sets `refusal` where `screen_request` gives one and none is set yet."""

    english_only: bool = False
    """True if questions in other languages are refused, as where only the embedded parser writes
    queries; that is asked without words such as “as a bar chart”."""

    reads: ClassVar[frozenset[str]] = frozenset({"question", "refusal"})
    writes: ClassVar[frozenset[str]] = frozenset({"refusal", "question", "warnings"})

    def __call__(self, state: State, context: Context) -> State:
        context.run.check()
        if state.refusal is not None:
            return state
        schema = state.view.schema
        refusal = screen_request(state.question, schema, english_only=self.english_only)
        if refusal is not None:
            return state.evolve(refusal=refusal)
        text = without_presentation(state.question.text, _names(schema))
        if not self.english_only or text == state.question.text or not text.strip():
            return state
        state = state.evolve(question=replace(state.question, text=text))
        return state.warn("form", "the answer is shown as rows, whatever form is asked for")
