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
from sqlwright.local.form.walking import exchanged, inside, own_tables
from sqlwright.local.left_out.reading import (
    FOUND,
    Finding,
    Reading,
    column_words,
    name_of,
    negated_at,
    with_condition,
)
from sqlwright.schema import ColumnRef
from sqlwright.types import Veto

_SHORT_NOT = re.compile(r"n['’]t\b", re.IGNORECASE)
_PREFIXES = ("in", "un", "non")
_OPPOSITES = frozenset({("n", "y"), ("no", "yes"), ("f", "t"), ("false", "true"), ("0", "1")})
"""The texts of no and yes, folded."""


def missing_flag(form: f.Query, read: Reading) -> Iterator[Finding]:
    """IS NULL and IS NOT NULL of a flag that every row has: no right query asks for that, and “not
    active” means no."""
    for condition in inside(form, f.IsNull):
        column = condition.operand
        if not isinstance(column, f.Column) or column.outer:
            continue
        values = flag_values(column.ref, read)
        if values is None or _has_nulls(column.ref, read):
            continue
        wanted = f.Literal(values[condition.negated])
        either = " or ".join(read.shown(column.ref, value) for value in values)
        told = f"{column.ref} is never empty: it is {either}"
        if not condition.negated and not _says_no(column.ref, read):
            yield Finding(Veto("null", told))
            continue
        yield Finding(
            Veto(
                "null",
                told,
                f"{column.ref} is never empty; {read.shown(column.ref, wanted.value)} is meant",
            ),
            exchanged(form, condition, f.Comparison("=", column, wanted)),
        )


def _says_no(ref: ColumnRef, read: Reading) -> bool:
    """True if a question negates something, or the column's name: “not active”, “inactive”."""
    said = {word.text.casefold() for word in read.words}
    opposite = {f"{prefix}{word}" for word in split_name(ref.column) for prefix in _PREFIXES}
    return bool(said & {*NOT, *opposite}) or _SHORT_NOT.search(read.question) is not None


def opposite_flag(form: f.Query, read: Reading) -> Iterator[Finding]:
    """Yes of a flag where the question negates its name (“not paid”, “unpaid”), and no where it
    doesn't. A question that says the value itself is left alone, and so is a query that leaves out
    what another one finds."""
    if isinstance(form, f.SetOperation) or _leaves_out(form):
        return
    said = {word.text.casefold() for word in read.words}
    for comparison in inside(form, f.Comparison):
        column, literal = comparison.left, comparison.right
        if comparison.operator not in {"=", "!="} or not isinstance(literal, f.Literal):
            continue
        if not isinstance(column, f.Column) or column.outer:
            continue
        values, asked = flag_values(column.ref, read), flag_asked(column.ref, read)
        stored = [str(value).casefold() for value in values or ()]
        given = str(literal.value).casefold()
        if values is None or asked is None or given not in stored or said & set(stored):
            continue
        wants_yes = (stored.index(given) == 1) == (comparison.operator == "=")
        if wants_yes == asked:
            continue
        wanted = f.Literal(values[asked])
        other = read.shown(column.ref, literal.value)
        told = f"{comparison.operator} {other} of {column.ref} is the opposite of that"
        done = f"{column.ref} is {read.shown(column.ref, wanted.value)}, as the question says"
        meant = f.Comparison("=", column, wanted)
        yield Finding(Veto("negation", told, done), exchanged(form, comparison, meant))


def left_out(form: f.Query, read: Reading) -> Iterator[Finding]:
    """“Posting accounts” that aren't told from the others: the question names a flag, and the
    query shows or counts it, or leaves it out, instead of going by it."""
    if not isinstance(form, f.Select) or form.derived or _OF_FLAG.search(read.question):
        return
    said = {stem(word.text) for word in read.words}
    goes_by = (form.where, form.having, form.group_by, form.order_by)
    used = set(inside((*goes_by, tuple(inside(form.items, f.Conditional))), f.Column))
    added = [one for one in inside(form.items, f.Aggregate) if one.function in {"sum", "avg"}]
    used |= {column for one in added for column in inside(one, f.Column)}
    tables = own_tables(form) | {star.table for star in inside(form.items, f.Star) if star.table}
    for ref in read.schema.columns:
        column = f.Column(ref)
        if ref.table not in tables or column in used:
            continue
        values = flag_values(ref, read)
        asked = None if values is None else flag_asked(ref, read)
        if values is None or asked is None or not _words(ref) <= said:
            continue
        if any(_words(ref) & column_words(one.ref) for one in used) or _is_stored(ref, read):
            continue
        if column in form.items and _ASKS_WHAT.search(read.question):
            continue
        shown = read.shown(ref, values[asked])
        told = f"the question names {ref}, and this query doesn't go by it"
        where = f.Comparison("=", column, f.Literal(values[asked]))
        mended = with_condition(_without(form, column, read), where)
        yield Finding(Veto("flag", told, f"{ref} is {shown}, as the question says"), mended)


_OF_FLAG = re.compile(
    r"^\s*(?:is|are|was|were|do|does|did)\b|\b(?:whether|flags?|or not|status)\b", re.IGNORECASE
)
"""Words of a question that asks for yes or no itself."""
_ASKS_WHAT = re.compile(r"^\s*what\b|\b(?:of|for)\s+(?:each|every|all|the)\b", re.IGNORECASE)
"""Words of a question that asks for columns rather than for things."""


def _words(ref: ColumnRef) -> frozenset[str]:
    return frozenset(stem(word) for word in split_name(ref.column) if word not in FUNCTION_WORDS)


def _is_stored(ref: ColumnRef, read: Reading) -> bool:
    """True if the question says a flag's name within a stored value."""
    spans = [match.span for match in read.values if match.span and match.score >= FOUND]
    named = (word for word in read.words if stem(word.text) in _words(ref))
    return any(word.within(span) for word in named for span in spans)


def _without(form: f.Select, column: f.Column, read: Reading) -> f.Select:
    """The query without a flag among what it shows: it counts rows, or shows their names."""
    table = read.schema.table(column.ref.table)
    name = None if table is None else name_of(table)
    items: list[f.Expression | f.Star] = []
    for item in form.items:
        if isinstance(item, f.Aggregate) and item.operand == column:
            items.append(f.Aggregate("count", f.Star(column.ref.table)))
        elif item != column:
            items.append(item)
    shown = tuple(items) or ((f.Column(name),) if name else (f.Star(column.ref.table),))
    return replace(form, items=shown, distinct=form.distinct and bool(items))


def _leaves_out(form: f.Query) -> bool:
    return (
        any(one.negated for one in inside(form, f.InQuery))
        or any(one.negated for one in inside(form, f.Exists))
        or any(True for _ in inside(form, f.Not))
    )


def flag_asked(ref: ColumnRef, read: Reading) -> bool | None:
    """True if a question names a flag as it is, False if negated; None where it does neither, or
    both."""
    names = {word for word in split_name(ref.column) if word not in FUNCTION_WORDS}
    stems = {stem(name) for name in names}
    opposite = {f"{prefix}{name}" for name in names for prefix in _PREFIXES}
    asked: set[bool] = set()
    for word in read.words:
        if word.text.casefold() in opposite:
            asked.add(False)
        elif stem(word.text) in stems:
            asked.add(not negated_at(read.question, word.start))
    return asked.pop() if len(asked) == 1 else None


def _has_nulls(ref: ColumnRef, read: Reading) -> bool:
    profile = read.profile(ref)
    return profile is None or bool(profile.nulls)


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
