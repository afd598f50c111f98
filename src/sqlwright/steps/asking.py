"""The part that all prompts about a question share; `_question.jinja` lays it out."""

from __future__ import annotations

from typing import Any

from sqlwright.messages import Text
from sqlwright.prompts.cells import WORDS, SpanWriter, sql_pieces, typed, words_typed
from sqlwright.prompts.templates import plain_text, question_text
from sqlwright.types import State, Turn

DIALECTS = {"sqlite": "SQLite"}
"""Names as people write them."""


def asked(state: State) -> dict[str, Any]:
    """The variables `question`, `evidence`, `history` and `dialect` of a template."""
    dialect = state.view.schema.dialect
    return {
        "question": question_text(state.question.text),
        "evidence": question_text(state.question.evidence),
        "history": [
            {"question": question_text(turn.question), "sql": _earlier(turn, state)}
            for turn in state.question.history
        ],
        "dialect": plain_text(DIALECTS.get(dialect, dialect)),
    }


def _earlier(turn: Turn, state: State) -> Text:
    """The query of an earlier turn. Nobody knows any more which of its constants come from the
    data, so those that nobody typed count as stored values, numbers included; so does what is
    quoted and isn't a name of the schema."""
    words, schema = words_typed(state.question), state.view.schema
    names = {name.casefold() for ref in schema.columns for name in ref}
    writer = SpanWriter()
    for piece in sql_pieces(turn.sql):
        named = piece.kind == "quoted" and piece.text[1:-1].casefold() in names
        ours = piece.kind in WORDS or named or typed(piece, words)
        writer.add(piece.text, "model" if ours else "value")
    return writer.text()
