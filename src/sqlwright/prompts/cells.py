"""Cells, stored values, results and queries as prompts show them, every piece with its origin."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from sqlwright.boundary.text import counted
from sqlwright.messages import HIDDEN, Origin, Span, Text
from sqlwright.presentation.cells import decimal_text, plain_text
from sqlwright.sql.pieces import Piece, pieces
from sqlwright.sql.tokens import quote_text
from sqlwright.types import Candidate, ExecutionResult, Question

_CONTROL = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]+")
_NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)?")
_DATE_FORMAT = re.compile(r"'(?:%[dfFGgHIjJkklmMPpRsSTuUVwWY]|[-/:. T])+'")
"""A format of strftime."""
_MARKED = re.compile(
    r"(?:[A-Za-z]{0,2}&?(?P<quote>['\"`])|\$\w*\$|\[)(?P<held>.*)(?:['\"`\]]|\$\w*\$)", re.DOTALL
)
_ESCAPED = re.compile(r"\\(['\"`\\ntr])")
_STAND_FOR = {"n": "\n", "t": "\t", "r": "\r"}
WORDS = frozenset({"space", "word", "operator", "end", "other"})
"""Pieces of a query that aren't constants; what is quoted may be a name or a text."""
DECLINED = "(No query. Its author says that the database can't answer this: "
IS_RIGHT = "\nThat is right only if nothing in the schema gives what is asked; then no query is.)"
"""The text around an author's words in place of a query."""
ARRAY = 10
"""Members of an array that are shown."""
_FAILURES = {
    "sql": "the query failed",
    "unsafe": "the query may not run",
    "timeout": "the query was stopped because it took too long",
    "memory": "the query was stopped because it took too much memory",
    "cancelled": "the query was stopped",
    "unavailable": "the database could not be read",
    "costly": "the query was not run because it would read too much",
}


class SpanWriter:
    """Gathers pieces of text; neighbours of one origin become one span."""

    def __init__(self) -> None:
        self._spans: list[Span] = []
        self._parts: list[str] = []
        self._origin: Origin = "schema"
        self._instead = HIDDEN

    def add(self, text: str, origin: Origin = "schema", instead: str = HIDDEN) -> None:
        """Write on; an empty text does nothing. `instead` stands for it where it is withheld."""
        if (origin, instead) != (self._origin, self._instead) or instead != HIDDEN:
            self._flush()
            self._origin, self._instead = origin, instead
        self._parts.append(text)

    def _flush(self) -> None:
        if self._parts:
            text = "".join(self._parts)
            if text:
                self._spans.append(Span(text, self._origin, self._instead))
            self._parts.clear()

    def text(self) -> Text:
        """The text so far."""
        self._flush()
        return Text(tuple(self._spans))


def render_result(
    result: ExecutionResult, *, rows: int = 20, columns: int = 20, limit_cell: int = 50
) -> Text:
    """A query's result: number of rows and columns, and the first of them as literals.

    What went wrong instead, where it failed; the message may quote stored values.
    """
    writer = SpanWriter()
    if result.error is not None:
        writer.add(f"{_FAILURES[result.error.kind]}: ", "template")
        writer.add(flat(result.error.message), "value")
        return writer.text()
    count = f"{'at least ' if result.truncated else ''}{counted(len(result.rows), 'row')}"
    writer.add(count, "value", instead=roughly(len(result.rows), "row"))
    writer.add(f", {counted(len(result.columns), 'column')}", "template")
    cut_rows = [f"the first {rows} rows"] if len(result.rows) > rows else []
    cut_columns = [f"the first {columns} columns"] if len(result.columns) > columns else []
    writer.add(_cut(cut_rows + cut_columns), "value", instead=_cut(cut_columns))
    writer.add("\n", "template")
    for number, name in enumerate(result.columns[:columns]):
        writer.add(" | " if number else "", "template")
        # A column without a name of its own is called by its expression, literals included.
        writer.add(flat(name)[:limit_cell], "model" if _NAME.fullmatch(name) else "value")
    if result.rows:
        writer.add("\n", "template")
    # In one piece: as many marks as there are rows would be their number.
    lines = (
        " | ".join(literal(c, limit_cell) for c in row[:columns]) for row in result.rows[:rows]
    )
    writer.add("\n".join(lines), "value")
    return writer.text()


def _cut(shown: list[str]) -> str:
    return f"; {' and '.join(shown)}:" if shown else ""


def render_sql(candidate: Candidate, question: Question) -> Text:
    """The query, or what its author says in place of one. What may come from the data in it has the
    origin of a stored value: a constant with a stored value it rests on, and in a query of our own
    each constant that neither the user nor a model wrote."""
    if candidate.declined:
        said = Span(flat(candidate.declined), "model")
        return Text((Span(DECLINED, "template"), said, Span(IS_RIGHT, "template")))
    asked = words_typed(question)
    stored = {value for value in _chain_values(candidate) if value and value not in asked}
    written = None if candidate.by_model else frozenset(_constants_of_models(candidate))
    if not stored and written is None:
        return Text.of(candidate.sql, "model")
    writer = SpanWriter()
    for piece in sql_pieces(candidate.sql, candidate.dialect):
        held = (piece.text, *_held(piece))
        hidden = piece.kind not in WORDS and any(
            value == one or (len(value) > 2 and value in one) for value in stored for one in held
        )
        if written is not None and piece.kind not in WORDS and piece.kind != "quoted":
            # Of what is quoted, names: our own writer puts texts into single quotes.
            hidden |= piece.text not in written and not typed(piece, asked)
        writer.add(piece.text, "value" if hidden else "model")
    return writer.text()


def words_typed(question: Question) -> str:
    """Everything the user wrote: the question, its evidence, the questions before it."""
    earlier = (turn.question for turn in question.history)
    return "\n".join([question.text, question.evidence, *earlier])


def sql_pieces(sql: str, dialect: str) -> Iterator[Piece]:
    """The pieces of a query; from a quote on that nothing closes it is all one text."""
    for piece in pieces(sql, dialect):
        if piece.kind == "open":
            yield Piece("text", sql[piece.start :], piece.start)
            return
        yield piece


def typed(piece: Piece, words: str) -> bool:
    """True if a constant stands in what the user wrote, as a whole word or number, or can't hold
    anything of the data."""
    if _DATE_FORMAT.fullmatch(piece.text):
        return True
    text = _held(piece)[-1].strip("%").casefold()
    return not text or bool(re.search(rf"(?<!\w){re.escape(text)}(?!\w)", words.casefold()))


def _held(piece: Piece) -> tuple[str, str]:
    """The content of a constant within its marks: with its backslashes, and with what they stand
    for where they escape."""
    marked = _MARKED.fullmatch(piece.text) if piece.kind in {"text", "quoted"} else None
    if marked is None:
        return piece.text, piece.text
    quote = marked["quote"] or "'"
    plain = marked["held"].replace(quote * 2, quote)
    return plain, _ESCAPED.sub(lambda found: _STAND_FOR.get(found[1], found[1]), plain)


def _constants_of_models(candidate: Candidate) -> Iterator[str]:
    """Constants of the queries of models that a query of our own was made from."""
    step = candidate.parent
    while step is not None:
        if step.by_model:
            cut = sql_pieces(step.sql, step.dialect)
            yield from (piece.text for piece in cut if piece.kind not in WORDS)
        step = step.parent


def _chain_values(candidate: Candidate) -> set[str]:
    """Stored values that a candidate or what it was made from rests on."""
    found: set[str] = set()
    step: Candidate | None = candidate
    while step is not None:
        found |= {match.value for match in step.values}
        step = step.parent
    return found


def literal(cell: object, limit: int | None = None) -> str:
    """A cell as SQL writes it, on one line; where a long one is cut shows outside of its quotes."""
    if cell is None:
        return "NULL"
    if isinstance(cell, bytes):
        return f"a blob of {counted(len(cell), 'byte')}"
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, int | float):
        return repr(cell)
    if isinstance(cell, Decimal):
        return decimal_text(cell)
    if isinstance(cell, tuple):
        members = [literal(one, limit) for one in cell[:ARRAY]] + ["…"] * (len(cell) > ARRAY)
        return f"[{', '.join(members)}]"
    if not isinstance(cell, str):
        cell = plain_text(cell)
    text = cell if cell.isprintable() else _CONTROL.sub(" ", cell)
    cut = limit is not None and len(text) > limit
    return quote_text(text[:limit]) + "…" if cut else quote_text(text)


def flat(text: str) -> str:
    """The text on one line, single-spaced."""
    if text.isprintable() and "  " not in text:
        return text.strip()
    return " ".join(_CONTROL.sub(" ", text).split())


def shortened(text: str, limit: int) -> str:
    """The text, cut where it is longer than `limit` characters."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def roughly(number: int, noun: str) -> str:
    """A number of things as far as anybody may know it who mayn't see the data."""
    return f"many {noun}s" if number > 1 else counted(number, noun)
