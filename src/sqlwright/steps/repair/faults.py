"""Faults of candidates: one rule for the step that revises and the loop that asks for it.

A fault is an error, an empty result, a result of nothing but NULL, or (where that is asked for) one
with NULL in it; or a text that the column it is compared with doesn't hold although it holds a
similar one, or another column holds that very text. An empty result is often right, so a fault is a
reason to look again and not yet a mistake.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from sqlwright.candidates import history, normalized_sql
from sqlwright.events import QueryExecuted
from sqlwright.messages import Span, Text
from sqlwright.prompts.cells import render_sql, sql_pieces
from sqlwright.protocols import Context
from sqlwright.schema import ColumnRef, Detail, Schema
from sqlwright.sql.dialects import dialect_of, written_table
from sqlwright.sql.reading import ComparedText, compared_texts
from sqlwright.sql.tokens import quote_name, quote_text
from sqlwright.sql.tree import node_text, query_tree
from sqlwright.types import Candidate, Cell, ErrorCause, ExecutionError, Question, State, ValueMatch

SIMILAR = 0.6
"""Least similarity, in [0, 1], of a stored value that may have been meant by a text that isn't
stored. Chosen: one edit in a short word leaves about as much, enough for a hint, not for a
replacement."""
_SECONDS = 1.0
"""Seconds for the query that looks for a text in a column; chosen."""
_SEARCHED = 60
"""Most stored values that are looked at for one text; chosen."""
_NUMBER = re.compile(r"\d+")
_COUNT = 3
"""Most digits of numbers that an engine's message has of its own, such as a count of columns or a
position; longer ones may be stored values. Chosen."""
_QUOTES = frozenset({"quoted", "blob"})
_ABSENT = "no such "
"""Beginning of SQLite's messages of a name that isn't there."""
_NAMED = frozenset({"word", "quoted"})
_OTHER_ERROR = "It failed with an error of the query's own."
_CAUSES: dict[ErrorCause, str] = {
    "unknown_table": "no such table",
    "unknown_column": "no such column",
    "unknown_function": "no such function",
    "syntax": "its syntax is wrong",
    "forbidden": "it reads what the login may not read",
}
"""Causes of errors of other engines than SQLite, as they are told."""
_EXPLAINED = {
    "unsafe": "It was refused, since only one query that reads may run",
    "timeout": "It was stopped because it takes too long; find a way with less work",
    "memory": "It was stopped because it needs too much memory; find a way with less",
    "costly": "It was not run because it would read too much; find a way that reads less",
}


@dataclass(frozen=True, slots=True)
class UnknownText:
    """A text of a query that its column doesn't hold."""

    compared: ComparedText
    similar: ValueMatch | None = None
    """The value of the same column that resembles it most, if one does."""
    elsewhere: ValueMatch | None = None
    """The same text in another column, if one holds it."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A reason to look at a query again, in words for whoever does."""

    kind: Literal["unexecuted", "error", "empty", "null", "some_null", "literal"]
    told: Text
    unknown: UnknownText | None = None
    """For a literal."""


@dataclass(frozen=True)
class FaultRule:
    """The kinds of faults that count, besides errors, which always do."""

    empty: bool = True
    nulls: bool = True
    """Rows with nothing but NULL in them."""
    literals: bool = True
    similarity: float = SIMILAR
    """Least similarity of a stored value that may have been meant by a text, in [0, 1]."""
    null_rows: int = 0
    """Number of first rows in which some but not all cells being NULL counts, where there are
    several rows; 0 is none."""

    def faults(self, candidate: Candidate, state: State, context: Context) -> Iterator[Fault]:
        """The candidate's faults, those that cost least to find first."""
        yield from self.of_result(candidate, state.question)
        if self.literals and candidate.result is not None:
            for unknown in unknown_texts(candidate.sql, state, context, self.similarity):
                message = _unknown_message(unknown, candidate, state.question)
                yield Fault("literal", message, unknown)

    def of_result(self, candidate: Candidate, question: Question) -> Iterator[Fault]:
        """The faults that the result alone shows."""
        result = candidate.result
        if result is None:
            yield Fault("unexecuted", _own("It has not been executed."))
        elif result.error is not None:
            # What ended for other reasons than the query isn't its fault.
            if result.error.kind not in {"cancelled", "unavailable"}:
                yield Fault("error", error_text(result.error, candidate, question))
        elif not result.rows and self.empty:
            yield Fault("empty", _own("It ran, but found no rows."))
        elif result.rows and result.empty and self.nulls:
            yield Fault("null", _own("It ran, but found nothing but NULL."))
        elif len(result.rows) > 1 and _partly_null(result.rows[: self.null_rows]):
            yield Fault("some_null", _own("It ran, but some of its first rows hold NULL."))


def _partly_null(rows: Sequence[Sequence[Cell]]) -> bool:
    """True if some but not all cells are NULL."""
    return len({cell is None for row in rows for cell in row}) > 1


def settled(candidate: Candidate) -> bool:
    """True if no further repair is asked for: the last one came to no query at all, or to one that
    was there before. Whoever repeats a query has nothing else to say, be it right or not."""
    if not candidate.tried:
        return False
    last = candidate.tried[-1]
    return not last.sql or query_key(last) in seen(replace(candidate, tried=candidate.tried[:-1]))


def seen(candidate: Candidate) -> frozenset[str]:
    """Every query its line has come to: itself, what it was made from, what was tried instead."""
    line = list(history(candidate))
    queries = [*line, *(tried for one in line for tried in one.tried)]
    return frozenset(map(query_key, queries))


def query_key(candidate: Candidate) -> str:
    """A query as it is compared: its parse tree as a text, so that blanks, comments and the case
    of keywords make no difference; the text of one that can't be read."""
    tree = query_tree(candidate.sql, candidate.dialect)
    written = "" if tree is None else node_text(tree, candidate.dialect, comments=False)
    return written or normalized_sql(candidate.sql, candidate.dialect)


def unknown_texts(
    sql: str, state: State, context: Context, similarity: float = SIMILAR
) -> tuple[UnknownText, ...]:
    """The texts that a query compares with columns that don't hold them, where there is a better
    one or a better column. The index suspects, the database decides. None where the recipe looks up
    no stored values for the question: without retrieval nothing may come of its index."""
    if not state.looked_up:
        return ()
    found = (
        _unknown(compared, state, context, similarity)
        for compared in compared_texts(sql, context.workspace.schema)
    )
    return tuple(one for one in found if one is not None)


def error_text(error: ExecutionError, candidate: Candidate, question: Question) -> Text:
    """An error of a candidate's query in words for a model.

    What the engine says once the query runs may quote any row, and counts as a stored value. Before
    it runs, SQLite quotes the query and what is stored of the views it reads: so that counts as a
    model's words, unless a name or number in it isn't the query's or is there from the data. Other
    engines' words are stored values, too; in their place stands what is known of the cause.
    """
    if error.kind in _EXPLAINED:
        return _own(f"{_EXPLAINED[error.kind]}.")
    failed = f"It failed with an error: {error.message}"
    if error.phase == "run":
        return Text((Span(failed, "value", "It failed while it ran."),))
    sql = render_sql(candidate, question)
    if candidate.dialect != "sqlite" and not error.by_check:
        return Text((Span(failed, "value", _known_cause(error, candidate, sql), "model"),))
    quotes = _quotes_values(error.message, sql)
    quotes |= candidate.dialect == "sqlite" and _quotes_others(error.message, candidate)
    return _own("It failed with an error: ") + Text.of(
        error.message, "value" if quotes else "model"
    )


def _quotes_others(message: str, candidate: Candidate) -> bool:
    """True if a message of SQLite's has a quoted name, one that isn't there or a long number in it
    that the query doesn't have."""
    pieces = (
        piece.text.strip('"')
        for piece in sql_pieces(message, "sqlite")
        if piece.kind in _QUOTES or (piece.kind == "number" and len(piece.text) > _COUNT)
    )
    absent = message.partition(": ")[2].partition(" - ")[0] if message.startswith(_ABSENT) else ""
    written = candidate.sql.casefold()
    return any(one.casefold() not in written for one in (*pieces, *absent.split(".")))


def _known_cause(error: ExecutionError, candidate: Candidate, sql: Text) -> str:
    """The cause of an error in words of our own, with the name that it is about where that stands
    in the part of the query that counts as no stored value."""
    if error.cause not in _CAUSES:
        return _OTHER_ERROR
    told = f"It failed with an error: {_CAUSES[error.cause]}"
    written = "".join(span.text for span in sql.spans if span.origin != "value")
    names = {
        piece.text.strip('"`[]').casefold()
        for piece in sql_pieces(written, candidate.dialect)
        if piece.kind in _NAMED
    }
    parts = [part.strip('"`[]').casefold() for part in error.name.split(".")]
    return f"{told}: {error.name}" if names.issuperset(parts) else f"{told}."


def _quotes_values(message: str, sql: Text) -> bool:
    """True if a message has anything in it that is a stored value in the query."""
    values = (span.text.strip("'\"`[]%").casefold() for span in sql.spans if span.origin == "value")
    held = message.casefold()
    return any(value in held for value in values if value)


def _unknown(
    compared: ComparedText, state: State, context: Context, similarity: float
) -> UnknownText | None:
    column, text = compared.column, compared.text
    if compared.pattern:
        text = text.strip("%")
        if "%" in text:
            return None
    if not text.strip() or _known(column, text, state, context):
        return None
    matches = context.workspace.values.search(text, _SEARCHED, per_column=4)
    here = [match for match in matches if match.column == column]
    if compared.pattern and any(text.casefold() in match.value.casefold() for match in here):
        return None
    if any(match.value == text for match in here):
        return None
    similar = _most_similar(here, text, similarity)
    # A number in another column is another number.
    named = (m for m in matches if m.value == text and any(map(str.isalpha, text)))
    elsewhere = next((match for match in named if _visible(match, state)), None)
    if (similar is None and elsewhere is None) or _stored(compared, context):
        return None
    return UnknownText(compared, similar, elsewhere)


def _known(column: ColumnRef, text: str, state: State, context: Context) -> bool:
    """True if the run's values or the catalog show that the column holds the text."""
    if any(match.column == column and match.value == text for match in state.values):
        return True
    catalog = context.workspace.catalog
    return catalog is not None and text in catalog.enumerations().get(column, ())


def _most_similar(matches: list[ValueMatch], text: str, similarity: float) -> ValueMatch | None:
    if not matches or any(match.value == text for match in matches):
        return None
    # Another number is another thing, however similar it looks: a day, a code.
    numbers = _NUMBER.findall(text)
    near = [
        match
        for match in matches
        if match.score >= similarity and _NUMBER.findall(match.value) == numbers
    ]
    return max(near, key=lambda match: (match.score, match.row_count or 0), default=None)


def _visible(match: ValueMatch, state: State) -> bool:
    return state.view.detail(match.column) is not Detail.HIDDEN


def _stored(compared: ComparedText, context: Context) -> bool:
    """True if some row fulfils the comparison alone; also when that can't be found out quickly."""
    sql = _looking_for(compared, context.workspace.schema)
    run = context.run
    limits = replace(run.limits, seconds=min(run.limits.seconds, _SECONDS))
    result = context.workspace.database.execute(sql, run, limits=limits)
    run.events(QueryExecuted(sql, result))
    return not result.ok or bool(result.rows)


def _looking_for(compared: ComparedText, schema: Schema) -> str:
    """A query that finds a row whose column is the text, or like it whatever its case."""
    table, column = compared.column
    if schema.dialect == "sqlite":
        operator = "LIKE" if compared.pattern else "="
        condition = f"{quote_name(column)} {operator} {quote_text(compared.text)}"
        return f"SELECT 1 FROM {quote_name(table)} WHERE {condition} LIMIT 1"
    dialect = dialect_of(schema)
    named, text = dialect.quoted(column), dialect.text(compared.text)
    condition = f"{named} = {text}"
    if compared.pattern:
        condition = f"LOWER({named}) LIKE LOWER({text})"
    return f"SELECT 1 FROM {written_table(schema, table)} WHERE {condition} LIMIT 1"


def _unknown_message(unknown: UnknownText, candidate: Candidate, question: Question) -> Text:
    compared = unknown.compared
    written = render_sql(candidate, question)
    stored = _quotes_values(compared.text, written)
    message = (
        Text.of(str(compared.column), "schema")
        + _own(" has no ")
        + Text.of(f"'{compared.text}'", "value" if stored else "model")
    )
    if unknown.similar is not None:
        message += _own("; it has ") + Text.of(f"'{unknown.similar.value}'", "value")
    if unknown.elsewhere is not None:
        message += _own("; ") + Text.of(str(unknown.elsewhere.column), "schema") + _own(" has it")
    return message + _own(".")


def _own(text: str) -> Text:
    return Text.of(text, "template")
