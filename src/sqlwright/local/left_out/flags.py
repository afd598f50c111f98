"""Columns of two opposite values, as yes and no: a query takes one for a column with empty entries,
or asks for yes where the question says not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from sqlwright.english.cues import NOT
from sqlwright.english.vocabulary import FUNCTION_WORDS
from sqlwright.english.words import split_name, stem
from sqlwright.local.form import nodes as f
from sqlwright.local.form.walking import exchanged, inside
from sqlwright.local.left_out.reading import (
    Finding,
    Reading,
    column_words,
    compared,
    fault,
    name_of,
    negated_at,
    with_condition,
    with_rows_of,
)
from sqlwright.schema import ColumnRef

_SHORT_NOT = re.compile(r"n['’]t\b", re.IGNORECASE)
_PREFIXES = ("in", "un", "non")
_OPPOSITES = frozenset({("n", "y"), ("no", "yes"), ("f", "t"), ("false", "true"), ("0", "1")})
"""The texts of no and yes, folded."""
_OF_FLAG = re.compile(
    r"^\s*(?:is|are|was|were|do|does|did)\b|\b(?:whether|flags?|or not|status)\b", re.IGNORECASE
)
"""Words of a question that asks for yes or no itself."""
_ASKS_WHAT = re.compile(r"^\s*what\b|\b(?:of|for)\s+(?:each|every|all|the)\b", re.IGNORECASE)
"""Words of a question that asks for columns rather than for things."""


def missing_flag(form: f.Query, read: Reading) -> Iterator[Finding]:
    """IS NULL and IS NOT NULL of a flag that every row has: no right query asks for that, and “not
    active” means no."""
    for condition in inside(form, f.IsNull):
        column = condition.operand
        if not isinstance(column, f.Column) or column.outer:
            continue
        ref = column.ref
        values, profile = flag_values(ref, read), read.profile(ref)
        if values is None or profile is None or profile.nulls:
            continue
        told = f"{ref} is never empty: it is {' or '.join(read.shown(ref, one) for one in values)}"
        if not condition.negated and not _says_no(ref, read):
            yield fault("null", told)
            continue
        wanted = values[condition.negated]
        done = f"{ref} is never empty; {read.shown(ref, wanted)} is meant"
        meant = f.Comparison("=", column, f.Literal(wanted))
        yield fault("null", told, done, exchanged(form, condition, meant))


def _says_no(ref: ColumnRef, read: Reading) -> bool:
    """True if a question negates something, or the column's name: “not active”, “inactive”."""
    opposite = _opposites(split_name(ref.column))
    return bool(read.said & {*NOT, *opposite}) or _SHORT_NOT.search(read.question) is not None


def opposite_flag(form: f.Query, read: Reading) -> Iterator[Finding]:
    """Yes of a flag where the question negates its name (“not paid”, “unpaid”), and no where it
    doesn't. A question that says the value itself is left alone, and so is a query that leaves out
    what another one finds."""
    if isinstance(form, f.SetOperation) or _leaves_out(form):
        return
    for comparison, column, value in compared(form):
        if comparison.operator not in {"=", "!="} or column.outer:
            continue
        ref = column.ref
        values, asked = flag_values(ref, read), flag_asked(ref, read)
        stored = [str(one).casefold() for one in values or ()]
        given = str(value).casefold()
        if values is None or asked is None or given not in stored or read.said & set(stored):
            continue
        if ((stored.index(given) == 1) == (comparison.operator == "=")) == asked:
            continue
        told = f"{comparison.operator} {read.shown(ref, value)} of {ref} is the opposite of that"
        done = f"{ref} is {read.shown(ref, values[asked])}, as the question says"
        meant = f.Comparison("=", column, f.Literal(values[asked]))
        yield fault("negation", told, done, exchanged(form, comparison, meant))


def left_out(form: f.Query, read: Reading) -> Iterator[Finding]:
    """“Posting accounts” that aren't told from the others: the question names a flag, and the
    query shows or counts it, or leaves it out, instead of going by it."""
    if not isinstance(form, f.Select) or form.derived or _OF_FLAG.search(read.question):
        return
    goes_by = (form.where, form.having, form.group_by, form.order_by)
    used = set(inside((*goes_by, inside(form.items, f.Conditional)), f.Column))
    added = [one for one in inside(form.items, f.Aggregate) if one.function in {"sum", "avg"}]
    used |= {column for one in added for column in inside(one, f.Column)}
    tables = with_rows_of(form, form.items)
    for ref in read.schema.columns:
        column = f.Column(ref)
        if ref.table not in tables or column in used:
            continue
        values = flag_values(ref, read)
        asked = None if values is None else flag_asked(ref, read)
        if values is None or asked is None or not _words(ref) <= read.stems:
            continue
        if any(_words(ref) & column_words(one.ref) for one in used) or _is_stored(ref, read):
            continue
        if column in form.items and _ASKS_WHAT.search(read.question):
            continue
        where = f.Comparison("=", column, f.Literal(values[asked]))
        mended = with_condition(_without(form, column, read), where)
        told = f"the question names {ref}, and this query doesn't go by it"
        done = f"{ref} is {read.shown(ref, values[asked])}, as the question says"
        yield fault("flag", told, done, mended)


def _words(ref: ColumnRef) -> frozenset[str]:
    return frozenset(stem(word) for word in split_name(ref.column) if word not in FUNCTION_WORDS)


def _is_stored(ref: ColumnRef, read: Reading) -> bool:
    """True if the question says a flag's name within a stored value."""
    named = [word for word in read.words if stem(word.text) in _words(ref)]
    return any(word.within(match.span) for word in named for match in read.found if match.span)


def _without(form: f.Select, column: f.Column, read: Reading) -> f.Select:
    """The query without a flag among what it shows: it counts rows, or shows their names."""
    table = read.schema.table(column.ref.table)
    name = None if table is None else name_of(table)
    rows = f.Star(column.ref.table)
    items = tuple(
        f.Aggregate("count", rows)
        if isinstance(item, f.Aggregate) and item.operand == column
        else item
        for item in form.items
        if item != column
    )
    shown = items or ((f.Column(name),) if name else (rows,))
    return replace(form, items=shown, distinct=form.distinct and bool(items))


def _leaves_out(form: f.Query) -> bool:
    tests: list[f.InQuery | f.Exists] = [*inside(form, f.InQuery), *inside(form, f.Exists)]
    return bool(inside(form, f.Not)) or any(test.negated for test in tests)


def _opposites(words: tuple[str, ...] | set[str]) -> set[str]:
    return {f"{prefix}{word}" for word in words for prefix in _PREFIXES}


def flag_asked(ref: ColumnRef, read: Reading) -> bool | None:
    """True if a question names a flag as it is, False if negated; None where it does neither, or
    both."""
    names = {word for word in split_name(ref.column) if word not in FUNCTION_WORDS}
    stems, opposite = {stem(name) for name in names}, _opposites(names)
    asked: set[bool] = set()
    for word in read.words:
        if word.text in opposite:
            asked.add(False)
        elif stem(word.text) in stems:
            asked.add(not negated_at(read.question, word.start))
    return asked.pop() if len(asked) == 1 else None


def flag_values(ref: ColumnRef, read: Reading) -> tuple[int | str, int | str] | None:
    """The values of a flag for no and yes; None for a column that is none."""
    profile = read.profile(ref)
    if profile is None or profile.distinct != 2:
        return None
    low, high = profile.minimum, profile.maximum
    if set(profile.storage) == {"integer"} and (low, high) == (0, 1):
        return 0, 1
    if not isinstance(low, str) or not isinstance(high, str):
        return None
    return (low, high) if (low.casefold(), high.casefold()) in _OPPOSITES else None
