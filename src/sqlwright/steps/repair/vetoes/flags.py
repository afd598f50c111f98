"""Columns of two opposite values, as yes and no: a query takes one for a column with empty entries,
or asks for yes where the question says not."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlwright.english.cues import NOT
from sqlwright.english.vocabulary import FUNCTION_WORDS
from sqlwright.english.words import split_name, stem
from sqlwright.form import nodes as f
from sqlwright.form.walking import exchanged, inside
from sqlwright.schema import ColumnRef
from sqlwright.steps.repair.vetoes.reading import Finding, Reading, negated_at
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
