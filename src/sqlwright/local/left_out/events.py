"""Moments that also say whether something happened: a payment's `paid_at` is empty until it is."""

from __future__ import annotations

from collections.abc import Iterator

from sqlwright.english.cues import TIME
from sqlwright.english.dates import moments
from sqlwright.english.words import is_participle, split_name, stem
from sqlwright.local.form import nodes as f
from sqlwright.local.form.walking import exchanged, inside, own, own_tables
from sqlwright.local.left_out.reading import (
    Finding,
    Reading,
    column_words,
    conjuncts,
    negated_at,
    with_condition,
)
from sqlwright.schema import ColumnRef
from sqlwright.types import Veto

_MOMENT_WORDS = frozenset({"at", "on", "date", "time", "timestamp", "datetime", "day", "moment"})
"""Words in a column's name that say that it holds a moment."""
_ASKS_WHEN = frozenset({*TIME, "last", "first", "earliest", "newest", "oldest", "long", "time"})
"""Words of a question that asks for the moment itself, or goes by it."""
_UN = ("un", "non", "not")


def left_out(form: f.Query, read: Reading) -> Iterator[Finding]:
    """“Paid invoices” without a condition on what says so, and “unpaid” taken for paid: the moment
    is there, or it is empty. A question that goes by the moment itself is left alone."""
    if not isinstance(form, f.Select) or form.derived:
        return
    if {word.text for word in read.words} & _ASKS_WHEN or moments(read.question, read.today):
        return
    shown = (form.items, form.having, form.order_by)
    tables = own_tables(form) | {star.table for star in own(shown, f.Star) if star.table}
    for table in sorted(tables):
        found = read.schema.table(table)
        for column in found.columns if found else ():
            ref = ColumnRef(table, column.name)
            asked = _asked(ref, read)
            if asked is not None:
                yield from _findings(form, ref, happened=asked)


def _findings(form: f.Select, ref: ColumnRef, *, happened: bool) -> Iterator[Finding]:
    column = f.Column(ref)
    meant = f.IsNull(column, negated=happened)
    said = f"{ref} is {'set' if happened else 'empty'}, as the question says"
    tests = [part for part in conjuncts(form.where) if isinstance(part, f.IsNull)]
    for test in tests:
        if test.operand == column and test.negated != happened:
            told = f"{ref} is {'set' if test.negated else 'empty'} is the opposite of that"
            yield Finding(Veto("negation", told, said), exchanged(form, test, meant))
    if any(one.ref == ref for one in inside(form, f.Column)) or _answered(form, ref):
        return
    told = f"nothing in this query goes by {ref}, which says whether that happened"
    yield Finding(Veto("negation", told, said), with_condition(form, meant))


def _event(ref: ColumnRef) -> str | None:
    """The participle that names a moment's column: the `paid` of `paidAt` and `date_paid`."""
    words = split_name(ref.column)
    left = [word for word in words if word not in _MOMENT_WORDS]
    if len(left) != 1 or len(left) == len(words) or not is_participle(left[0]):
        return None
    return left[0]


def _answered(form: f.Select, ref: ColumnRef) -> bool:
    """True if another column or a stored value of the query says it: `status = 'PAID'`."""
    said = stem(_event(ref) or "")
    if any(said in column_words(column.ref) for column in inside(form, f.Column)):
        return True
    texts = (one.value for one in inside(form, f.Literal) if isinstance(one.value, str))
    return any(said in {stem(word) for word in split_name(text)} for text in texts)


def _asked(ref: ColumnRef, read: Reading) -> bool | None:
    """True if a question says that what a moment tells of has happened, False if that it hasn't;
    None where it says neither, or both, or the moment is there for all rows or for none."""
    event = _event(ref)
    if event is None or not read.is_date(ref):
        return None
    profile = read.profile(ref)
    if profile is None or not 0 < profile.nulls < profile.rows:
        return None
    asked: set[bool] = set()
    for place, word in enumerate(read.words):
        if any(match.span and word.within(match.span) for match in read.values):
            continue
        by = read.words[place + 1 : place + 2]
        if word.text == event and not (by and by[0].text == "by"):
            asked.add(not negated_at(read.question, word.start))
        elif word.text in {f"{prefix}{event}" for prefix in _UN}:
            asked.add(False)
    return asked.pop() if len(asked) == 1 else None
