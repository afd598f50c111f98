"""Differences of readings that need no question: something says already which one is meant."""

from __future__ import annotations

from collections.abc import Iterator

from sqlwright.english.bounds import bound_spans
from sqlwright.english.cues import LEAST, MOST, one_of, whole_words
from sqlwright.english.words import split_name, stem, tokens
from sqlwright.schema import ColumnRef, Schema
from sqlwright.sql.facts import Comparison, Term
from sqlwright.steps.selection.readings.difference import Difference, Statement
from sqlwright.steps.selection.readings.words import Worded, Wording

_MOST, _LEAST = whole_words(one_of(MOST)), whole_words(one_of(LEAST))


def is_settled(differing: Difference, worded: Worded, wording: Wording) -> bool:
    """True if both readings tell of the same things, if the question's own words say which is
    meant, if the other one adds a condition of which they say nothing, if the evidence names what
    one of them goes by, or if descriptions say which of two columns is called so."""
    if _tell_the_same(differing, wording.schema) or _is_said(differing, wording.question.text):
        return True
    if _adds_unasked(differing, worded, wording):
        return True
    evidence = {stem(word.text) for word in tokens(wording.question.evidence)}
    if differing.columns is not None:
        named = [_named(ref, evidence) for ref in differing.columns]
        if named[0] != named[1]:
            return True
        phrase = {stem(word.text) for word in tokens(worded.phrase)}
        told = [_described(ref, phrase, wording.schema) for ref in differing.columns]
        return told[0] != told[1]
    marks = [set(_marks(said)) for said in (differing.one, differing.other)]
    return any(mark <= evidence for mark in marks[0] ^ marks[1])


def _is_said(differing: Difference, question: str) -> bool:
    """True if a question says which end of an order it means, or how it compares."""
    if differing.kind == "direction":
        return bool(_MOST.search(question)) is not bool(_LEAST.search(question))
    return differing.kind == "bound" and any(bound_spans(question))


def _adds_unasked(differing: Difference, worded: Worded, wording: Wording) -> bool:
    """True if the other query has a condition more, and no word of the question stands for a column
    or a constant of it."""
    if differing.kind != "condition" or differing.one is not None or worded.phrase:
        return False
    asked = _words(wording.question.text) | _words(wording.question.evidence)
    return not any(mark & asked for mark in _marks(differing.other))


def _tell_the_same(differing: Difference, schema: Schema) -> bool:
    """True if one query shows or groups by the key of what the other one takes another column
    of."""
    said = differing.one
    if differing.columns is None or said is None or said.place not in {"shown", "grouping"}:
        return False
    if not isinstance(said.fact, Term) or said.fact.column is None:
        return False
    keys = [ref for ref in differing.columns if ref in schema.all_keys]
    if len(keys) != 1:
        return False
    (named,) = (ref for ref in differing.columns if ref not in keys)
    return named.table in _known_by(keys[0], schema)


def _known_by(key: ColumnRef, schema: Schema) -> set[str]:
    """The tables whose rows a column of a key stands for."""
    table = schema.table(key.table)
    own = {key.table} if table is not None and table.primary_key == (key.column,) else set()
    return own | {far.table for near, far in schema.key_pairs if near == key}


def _marks(said: Statement | None) -> Iterator[frozenset[str]]:
    """The words of each column and constant of a condition."""
    if said is None or not isinstance(said.fact, Comparison):
        return
    for term in (said.fact.left, *said.fact.right):
        names = [*(ref.column for ref in term.columns), *(one.text for one in term.constants)]
        for name in names:
            if words := frozenset(stem(word) for word in split_name(name)):
                yield words


def _words(text: str) -> set[str]:
    return {stem(word.text) for word in tokens(text)}


def _named(ref: ColumnRef, stems: set[str]) -> bool:
    own = {stem(word) for word in split_name(ref.column)}
    return bool(own) and own <= stems


def _described(ref: ColumnRef, phrase: set[str], schema: Schema) -> bool:
    """True if a column's description, not its name, has all words of a phrase."""
    table = schema.table(ref.table)
    column = None if table is None else table.column(ref.column)
    if column is None or not phrase:
        return False
    return phrase <= _words(f"{column.label} {column.description}")
