"""Numbers that are no amounts, and that nobody named: keys, flags and places in an order added up,
constants out of nowhere, ordinals taken for the first rows of an order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from sqlwright.english.cues import COUNT, SHARE, TOTAL, one_of, whole_words
from sqlwright.english.dates import moments
from sqlwright.english.vocabulary import KEY_WORDS, ORDINALS
from sqlwright.english.words import split_name, stem
from sqlwright.local.form import nodes as f
from sqlwright.local.form.walking import inside, own_tables
from sqlwright.local.left_out.asked import numbers
from sqlwright.local.left_out.flags import flag_asked, flag_values
from sqlwright.local.left_out.reading import (
    Finding,
    Reading,
    column_words,
    conjunction,
    conjuncts,
    with_condition,
)
from sqlwright.local.left_out.said import same_amount
from sqlwright.schema import ColumnRef
from sqlwright.types import Veto

_ADDED = frozenset({"sum", "avg", "total", "median", "stddev", "stddev_pop"})
_COUNTS, _TOTALS, _SHARES = (whole_words(one_of(words)) for words in (COUNT, TOTAL, SHARE))
_PLACES = frozenset({"position", "pos", "rank", "seq", "sequence", "num", "number", "no", "nr"})
_PERIODS = {"year": (1000, 2200), "quarter": (1, 4), "month": (1, 12), "week": (1, 53)}
"""Last words of the names of columns that hold periods, and their least and greatest number."""
_ORDINAL = re.compile(
    rf"\b(?P<ordinal>{one_of(ORDINALS)}|\d+(?:st|nd|rd|th))[ -](?P<of>[a-z]+)"
    r"|\b(?P<noun>[a-z]+)(?: no\.?| number| #)? ?(?P<number>\d{1,4})\b(?![.,]?\d)",
    re.IGNORECASE,
)
"""“The third floor” and “floor 3”."""


def label_added(form: f.Query, read: Reading) -> Iterator[Finding]:
    """A key, a period or a place in an order as an amount, where the question doesn't ask for their
    average; a flag, where it asks for neither their number nor a share."""
    said = {stem(word.text) for word in read.words}
    for call in inside(form, f.Aggregate):
        column = call.operand
        if call.function not in _ADDED or not isinstance(column, f.Column):
            continue
        kind = _label(column.ref, read)
        named = kind != "keys" and call.function != "sum" and column_words(column.ref) <= said
        if kind == "yes and no":
            counts = _COUNTS.search(read.question) or not _TOTALS.search(read.question)
            named = bool(flag_asked(column.ref, read) is not None and counts)
            named = named if call.function == "sum" else bool(_SHARES.search(read.question))
        if kind and not named:
            told = f"{call.function} of {column.ref}, which holds {kind}, no amounts"
            yield Finding(Veto("amount", told))


def _label(ref: ColumnRef, read: Reading) -> str:
    """The kind of a column's numbers where they aren't amounts; empty where they may be."""
    profile, last = read.profile(ref), split_name(ref.column)[-1:] or ("",)
    if ref in read.schema.all_keys or last[0] in {"id", "code"}:
        return "keys"
    if profile is None or not isinstance(profile.maximum, int):
        return ""
    low, high = profile.minimum, profile.maximum
    if flag_values(ref, read) is not None:
        return "yes and no"
    if not isinstance(low, int):
        return ""
    if last[0] in _PERIODS:
        return "periods" if low >= _PERIODS[last[0]][0] and high <= _PERIODS[last[0]][1] else ""
    dense = low in {0, 1} and profile.distinct == high - low + 1
    return "places in an order" if last[0] in _PLACES and dense else ""


def out_of_nowhere(form: f.Query, read: Reading) -> Iterator[Finding]:
    """A number that the question doesn't say and that the column compared with it can't equal."""
    for one in inside(form, f.Comparison):
        column, worth = one.left, one.right.value if isinstance(one.right, f.Literal) else ""
        if not isinstance(column, f.Column) or not isinstance(worth, int | float):
            continue
        profile, flag = read.profile(column.ref), flag_values(column.ref, read) is not None
        low, high = (profile.minimum, profile.maximum) if profile is not None else (None, None)
        if not isinstance(low, int | float) or not isinstance(high, int | float):
            continue
        if low <= worth <= high or worth in {0, 1} or (not flag and _is_said(worth, read)):
            continue
        told = f"{column.ref} is compared with {worth:g}, which neither it nor the question says"
        yield Finding(Veto("number", told))


def _is_said(worth: float, read: Reading) -> bool:
    """True if a question, or what is known beside it, says a number, in whatever unit; a question
    that names a time may say any."""
    said = (*numbers(read.question), *numbers(read.state.question.evidence))
    return bool(moments(read.question, read.today)) or any(
        same_amount(one.worth, worth) or abs(one.worth - worth) == 1 for one in said
    )


def ordinal(form: f.Query, read: Reading) -> Iterator[Finding]:
    """“The third floor” without the number 3 of the column of floors: it is neither the third row
    of an order nor another column's 3."""
    if not isinstance(form, f.Select) or form.derived:
        return
    told = [one.span for one in moments(read.question, read.today)]
    told += [one.span for one in read.values if one.span and not one.phrase.isdigit()]
    for match in _ORDINAL.finditer(read.question):
        if any(low < match.end() and match.start() < high for low, high in told):
            continue
        word, noun = (match["ordinal"] or "").casefold(), match["of"] or match["noun"]
        place = ORDINALS.get(word) or int(match["number"] or re.sub(r"\D", "", word))
        for ref in _numbering(noun, place, form, read):
            yield from _placed(match.group(), ref, place, form)
            return


def _numbering(noun: str, place: int, form: f.Select, read: Reading) -> Iterator[ColumnRef]:
    """The columns of a query's tables that number what a noun names and hold a place."""
    tables = own_tables(form) | {star.table for star in inside(form, f.Star) if star.table}
    dull = {stem(word) for word in (*KEY_WORDS, *_PLACES)}
    for ref in read.schema.columns:
        profile = read.profile(ref)
        if ref.table not in tables or ref in read.schema.all_keys or profile is None:
            continue
        low, high = profile.minimum, profile.maximum
        whole = isinstance(low, int) and isinstance(high, int) and low <= place <= high
        if whole and column_words(ref) - dull == {stem(noun.casefold())}:
            yield ref


def _placed(said: str, ref: ColumnRef, place: int, form: f.Select) -> Iterator[Finding]:
    """That a query goes by a place otherwise; the first is left to orders that aren't by it."""
    column, wanted = f.Column(ref), f.Literal(place)
    parts = conjuncts(form.where)
    ends = [part for part in parts if column in set(inside(part, f.Column))]
    has = [part for part in parts if wanted in set(inside(part, f.Literal))]
    ordered = any(column in set(inside(term, f.Column)) for term in form.order_by)
    if any(part in has for part in ends) or (place == 1 and not (ordered or ends)):
        return
    kept = tuple(
        p for p in parts if p not in ends and not (p in has and isinstance(p, f.Comparison))
    )
    cut = replace(form, where=conjunction(kept))
    if ordered:
        cut = replace(cut, order_by=(), limit=None, offset=None)
    told = f"“{said}” is {ref} = {place}, which this query doesn't ask for"
    mended = with_condition(cut, f.Comparison("=", column, wanted))
    yield Finding(Veto("place", told, f"“{said}” is read as {ref} = {place}"), mended)
