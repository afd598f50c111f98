"""The part that all prompts about a question share; `_question.jinja` lays it out."""

from __future__ import annotations

from datetime import date
from typing import Any

from sqlwright.english.dates import speaks_of_now
from sqlwright.english.languages import foreign_language
from sqlwright.messages import Span, Text
from sqlwright.prompts.cells import WORDS, SpanWriter, sql_pieces, typed, words_typed
from sqlwright.prompts.dialects import rules_for
from sqlwright.prompts.measures import newest
from sqlwright.prompts.templates import model_text, plain_text, question_text
from sqlwright.protocols import Catalog, Context
from sqlwright.sql.dialects import dialect_of
from sqlwright.types import State, Turn

NEWEST = 3
"""Columns whose newest date is told."""


def asked(state: State, context: Context | None = None) -> dict[str, Any]:
    """The variables `question`, `evidence`, `history`, `dialect`, `written` (its rules) and `today`
    of a template. The first is the sub-question at hand, if there is one; the last is only filled
    with a context, and where the question may depend on the day."""
    dialect = dialect_of(state.view.schema)
    return {
        "question": model_text(state.goal) if state.goal else question_text(state.question.text),
        "evidence": question_text(state.question.evidence),
        "history": [
            {"question": question_text(turn.question), "sql": _earlier(turn, state)}
            for turn in state.question.history
        ],
        "dialect": plain_text(dialect.title),
        "written": rules_for(state.view.schema, _catalog(context)),
        "today": Text() if context is None else _today(state, context),
    }


def _today(state: State, context: Context) -> Text:
    """Today's date and how far the data goes, where the question speaks of time as seen from now,
    or may do so in a language that isn't read here, and something shown has dates."""
    catalog = context.workspace.catalog
    if catalog is None:
        return Text()
    said = words_typed(state.question)
    if not speaks_of_now(said) and not foreign_language(state.question.text):
        return Text()
    known = (catalog.steady or catalog).columns
    dates = {ref: newest(known[ref]) for ref in state.view.visible if ref in known}
    dates = {ref: day for ref, day in dates.items() if day is not None}
    if not dates:
        return Text()
    told = plain_text(f"Today is {_day(context.run.today)}.")
    latest = sorted(((day, ref) for ref, day in dates.items() if day), reverse=True)[:NEWEST]
    if not latest:
        return told
    listed = ", ".join(f"{day} ({ref})" for day, ref in latest)
    return told + Text((Span(f" The newest dates stored: {listed}.", "value", ""),))


def _day(day: date) -> str:
    return f"{day.isoformat()}, a {day:%A}"


def _catalog(context: Context | None) -> Catalog | None:
    """The catalog that holds the same however much time reading it had."""
    known = None if context is None else context.workspace.catalog
    return None if known is None else known.steady or known


def _earlier(turn: Turn, state: State) -> Text:
    """The query of an earlier turn. Nobody knows any more which of its constants come from the
    data, so those that nobody typed count as stored values, numbers included; so does what is
    quoted and isn't a name of the schema."""
    words, schema = words_typed(state.question), state.view.schema
    names = {name.casefold() for ref in schema.columns for name in ref}
    writer = SpanWriter()
    for piece in sql_pieces(turn.sql, schema.dialect):
        named = piece.kind == "quoted" and piece.text[1:-1].casefold() in names
        ours = piece.kind in WORDS or named or typed(piece, words)
        writer.add(piece.text, "model" if ours else "value")
    return writer.text()
