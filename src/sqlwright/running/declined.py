"""The end of replies which say that the database can't answer a question (`State.declines`): a
refusal where one of them was selected, else a note on the answer."""

from __future__ import annotations

from sqlwright.boundary.text import visible
from sqlwright.english.vocabulary import FUNCTION_WORDS
from sqlwright.english.words import singular, split_name, tokens
from sqlwright.indexes.column_names import similar_columns
from sqlwright.running.grounds import author_of
from sqlwright.schema import ColumnRef, SchemaView
from sqlwright.types import Note, Refusal, State

NEAREST = 3
"""Tables named when refusing."""
COLUMNS_EACH = 4
"""Columns named of each table at most."""
LONGEST = 300
"""Characters quoted of what a model says."""


def refusal_of(state: State) -> Refusal | None:
    """The refusal of a state whose choice has no query but the reason for none, or in which there
    is nothing else to choose."""
    chosen = state.selected
    if not state.declines or (chosen is not None and not chosen.declined):
        return None
    return Refusal("unanswerable", f"{_said(state)}.", nearest(state))


def declined_note(state: State) -> tuple[Note, ...]:
    """A note on replies that declined, for an answer that wasn't theirs."""
    return (Note("declined", _said(state)),) if state.declines else ()


def mostly_declined(state: State) -> bool:
    """True if half of the replies declined, or more."""
    return bool(state.declines) and 2 * len(state.declines) >= _replies(state)


def _said(state: State) -> str:
    """The replies that declined, of all, and the words of the first, which is data."""
    count, of = len(state.declines), _replies(state)
    who = "The language model" if of == 1 else f"{count} of {of} replies"
    words = visible(state.declines[0].declined.rstrip(" ."), limit=LONGEST)
    return f"{who} said that the database can't answer this: “{words}”"


def _replies(state: State) -> int:
    """Replies of language models with a query for the question or a decline."""
    wrote = sum(author_of(one, state) == "language_model" for one in state.for_question)
    return wrote + len(state.declines)


def nearest(state: State) -> str:
    """The tables and columns nearest to the question, in a sentence: those that a linker scored
    or, without scores, those called by words of the question and of what was said of it; where
    there are none, the first tables."""
    named = [link.column for link in state.columns]
    tables = [link.table for link in state.tables]
    if not tables:
        tables, named = _called(state)
    found = bool(tables)
    tables = tables or [table.name for table in state.view.schema.tables]
    parts = []
    for name in tables[:NEAREST]:
        columns = [ref.column for ref in named if ref.table == name]
        if not columns:
            table = state.view.schema.table(name)
            columns = [column.name for column in table.columns] if table else []
        parts.append(f"{name} ({', '.join(columns[:COLUMNS_EACH])})")
    if not parts:
        return ""
    return f"{'The nearest it could tell about' if found else 'It holds'}: {'; '.join(parts)}."


def _called(state: State) -> tuple[list[str], list[ColumnRef]]:
    """The tables and columns that words of the question and of the replies are names of."""
    said = " ".join([state.question.text, *(one.declined for one in state.declines)])
    words = {singular(token.text) for token in tokens(said)} - FUNCTION_WORDS
    schema = state.view.schema
    columns = [link.column for link in similar_columns(sorted(words), SchemaView(schema))]
    tables = [
        table.name
        for table in schema.tables
        if words.intersection(map(singular, split_name(table.own_name)))
    ]
    return list(dict.fromkeys([*tables, *(ref.table for ref in columns)])), columns
