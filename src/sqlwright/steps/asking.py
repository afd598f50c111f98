"""What every prompt about a question shows alike; `_question.jinja` lays it out."""

from __future__ import annotations

import re
from typing import Any

from sqlwright.messages import Text
from sqlwright.prompting import model_text, plain_text, question_text, value_text
from sqlwright.tokens import pieces
from sqlwright.types import Question, State, Turn

DIALECTS = {"sqlite": "SQLite"}
"""Names as people write them."""

_DATE_FORMAT = re.compile(r"'(?:%[a-zA-Z]|[-/:. T])+'")


def asked(state: State) -> dict[str, Any]:
    """The variables `question`, `evidence`, `history` and `dialect` of a template."""
    dialect = state.view.schema.dialect
    return {
        "question": question_text(state.question.text),
        "evidence": question_text(state.question.evidence),
        "history": [
            {"question": question_text(turn.question), "sql": _earlier(turn, state.question)}
            for turn in state.question.history
        ],
        "dialect": plain_text(DIALECTS.get(dialect, dialect)),
    }


def _earlier(turn: Turn, question: Question) -> Text:
    """The query of an earlier turn. Nobody knows any more which of its texts come from the data, so
    those that nobody typed count as stored values."""
    typed = "\n".join(
        [question.text, question.evidence, *(earlier.question for earlier in question.history)]
    ).casefold()
    parts = []
    for piece in pieces(turn.sql):
        text = piece.text.strip("'%").replace("''", "'")
        ours = piece.kind not in {"text", "comment"} or text.casefold() in typed
        parts.append(
            model_text(piece.text)
            if ours or _DATE_FORMAT.fullmatch(piece.text)
            else value_text(piece.text)
        )
    return Text.join("", parts)
