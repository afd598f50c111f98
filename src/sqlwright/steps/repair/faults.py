"""What a repair finds fault with: one rule for the step that revises and the loop that asks for it.

A fault is an error, an empty result, a result of nothing but NULL, or a text that the column it is
compared with doesn't hold although it holds a similar one, or another column holds that very text.
An empty result is often right, so a fault is a reason to look again and not yet a mistake.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from sqlwright.candidates import ancestry, squeezed
from sqlwright.messages import Text
from sqlwright.protocols import Context
from sqlwright.schema import ColumnRef, Detail
from sqlwright.sql import ComparedText, compared_texts
from sqlwright.tokens import pieces, quote_name
from sqlwright.types import Candidate, ExecutionError, State, ValueMatch

SIMILAR = 0.6
"""Least similarity of a stored value that may have been meant by a text that isn't stored; one edit
in a short word leaves about as much. Enough to be told of, not to be put in its place."""
_SECONDS = 1.0
"""For asking the database whether a column really lacks a text."""
_WIDE = 60
_NUMBER = re.compile(r"\d+")
_BEFORE_READING = re.compile(
    r"no such |ambiguous column|near \"|syntax error|misuse of|wrong number of arguments|"
    r"unrecognized token|incomplete input|must appear|can't be read|do not have the same number|"
    r"should come|not unique|has \d+ columns|more than one column|aggregate",
    re.IGNORECASE,
)
"""Errors found before a row is read: their messages quote the query, never a stored value."""
_EXPLAINED = {
    "unsafe": "It was refused, since only one query that reads may run",
    "timeout": "It was stopped because it takes too long; find a way with less work",
    "memory": "It was stopped because it needs too much memory; find a way with less",
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

    kind: Literal["unexecuted", "error", "empty", "null", "literal"]
    told: Text
    unknown: UnknownText | None = None
    """For a literal."""


@dataclass(frozen=True)
class FaultRule:
    """What counts as a fault. Errors always do."""

    empty: bool = True
    nulls: bool = True
    """Rows with nothing but NULL in them."""
    literals: bool = True
    similarity: float = SIMILAR

    def faults(self, candidate: Candidate, state: State, context: Context) -> Iterator[Fault]:
        """Why the candidate should be looked at again, what costs least to find first."""
        yield from self.of_result(candidate)
        if self.literals and candidate.result is not None:
            for one in unknown_texts(candidate.sql, state, context, self.similarity):
                yield Fault("literal", _told(one), one)

    def of_result(self, candidate: Candidate) -> Iterator[Fault]:
        """What the result alone tells."""
        result = candidate.result
        if result is None:
            yield Fault("unexecuted", _own("It has not been executed."))
        elif result.error is not None:
            # What ended for other reasons than the query isn't its fault.
            if result.error.kind not in {"cancelled", "unavailable"}:
                yield Fault("error", error_text(result.error, candidate.sql))
        elif not result.rows and self.empty:
            yield Fault("empty", _own("It ran, but found no rows."))
        elif result.rows and result.empty and self.nulls:
            yield Fault("null", _own("It ran, but found nothing but NULL."))


def settled(candidate: Candidate) -> bool:
    """Whether looking again has ended: the last repair came to a query that was there before, or
    to none at all."""
    if not candidate.tried:
        return False
    last = candidate.tried[-1].sql
    return not last or squeezed(last) in seen(replace(candidate, tried=candidate.tried[:-1]))


def seen(candidate: Candidate) -> frozenset[str]:
    """Every query its line has come to: itself, what it was made from, what was tried instead."""
    line = list(ancestry(candidate))
    queries = [one.sql for one in line] + [tried.sql for one in line for tried in one.tried]
    return frozenset(map(squeezed, queries))


def unknown_texts(
    sql: str, state: State, context: Context, similarity: float = SIMILAR
) -> tuple[UnknownText, ...]:
    """The texts that a query compares with columns that don't hold them, where there is a better
    one or a better column. The index suspects, the database decides."""
    found = (
        _unknown(compared, state, context, similarity)
        for compared in compared_texts(sql, context.workspace.schema)
    )
    return tuple(one for one in found if one is not None)


def error_text(error: ExecutionError, sql: str) -> Text:
    """An error in words for a model. A message that may quote stored values counts as one."""
    if error.kind in _EXPLAINED:
        return _own(f"{_EXPLAINED[error.kind]}.")
    # The query's own texts may have come from the data.
    quotes = any(p.kind == "text" and p.text[1:-1] in error.message for p in pieces(sql))
    harmless = _BEFORE_READING.search(error.message) and not quotes
    return _own("It failed with an error: ") + Text.of(
        error.message, "model" if harmless else "value"
    )


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
    matches = context.workspace.values.search(text, _WIDE, per_column=4)
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
    """Whether what is at hand already tells that the column holds the text."""
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
    """Whether some row fulfils the comparison alone; also when that can't be found out quickly."""
    table, column = map(quote_name, compared.column)
    operator = "LIKE" if compared.pattern else "="
    literal = "'" + compared.text.replace("'", "''") + "'"
    sql = f"SELECT 1 FROM {table} WHERE {column} {operator} {literal} LIMIT 1"
    run = context.run
    limits = replace(run.limits, seconds=min(run.limits.seconds, _SECONDS))
    result = context.workspace.database.execute(sql, run, limits=limits)
    run.events("execution", {"sql": sql, "result": result})
    return not result.ok or bool(result.rows)


def _told(unknown: UnknownText) -> Text:
    compared = unknown.compared
    told = (
        Text.of(str(compared.column), "schema")
        + _own(" has no ")
        + Text.of(f"'{compared.text}'", "model")
    )
    if unknown.similar is not None:
        told += _own("; it has ") + Text.of(f"'{unknown.similar.value}'", "value")
    if unknown.elsewhere is not None:
        told += _own("; ") + Text.of(str(unknown.elsewhere.column), "schema") + _own(" has it")
    return told + _own(".")


def _own(text: str) -> Text:
    return Text.of(text, "template")
