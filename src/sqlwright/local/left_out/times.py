"""Times that the question names: left out of the query, or compared with what holds no dates."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from sqlwright.english.bounds import bound_before
from sqlwright.english.dates import WITHIN, Moment, moments
from sqlwright.english.words import split_name
from sqlwright.local.form import nodes as f
from sqlwright.local.form.walking import exchanged, inside
from sqlwright.local.left_out.reading import (
    Finding,
    Reading,
    conjunction,
    conjuncts,
    table_names,
    texts,
)
from sqlwright.local.parser.dating import Dating
from sqlwright.local.question.retelling import untold
from sqlwright.schema import ColumnRef
from sqlwright.types import Veto
from sqlwright.types.periods import is_bound

_YEAR = re.compile(r"(?:1[6-9]|20)\d\d")
_NUMBERS = (1000, 2200)
"""Least and greatest stored number that may be a year; chosen."""
_TIMES = frozenset({"year", "yr", "years", "date", "time", "season", "since", "founded", "vintage"})
"""Words in the names of columns that hold points in time, whatever they are stored as."""


@dataclass(frozen=True)
class _Time:
    """A time as the question says it, and its year as a condition."""

    said: str
    operator: f.ComparisonOperator
    year: str
    missing: str
    """The veto's message for a query without it."""


def left_out(form: f.Query, read: Reading) -> Iterator[Finding]:
    """A day, month, quarter or year of the question that the query doesn't go by."""
    named = untold(moments(read.question, read.today), read.values)
    if not named and not any(_YEAR.fullmatch(word.text) for word in read.words):
        return
    said = texts(form)
    for moment in named:
        if not moment.is_among(said):
            told = f"no query goes by “{moment.said}”"
            time = _Time(moment.said, moment.operator or "=", moment.year, told)
            yield _finding(time, form, read, named)
    numbers = {str(literal.value).strip(" %") for literal in inside(form, f.Literal)}
    for word in read.words:
        if not _YEAR.fullmatch(word.text) or _told(word.start, named):
            continue
        operator = _operator(read.question[: word.start])
        stored = any(m.span and m.span[0] <= word.start < m.span[1] for m in read.values)
        if operator is None or stored or any(word.text in number for number in numbers):
            continue
        if is_bound(word.text, operator, said):
            continue
        time = _Time(word.text, operator, word.text, f"“{word.text}” isn't used")
        yield _finding(time, form, read, ())


def _told(place: int, named: tuple[Moment, ...]) -> bool:
    return any(moment.span[0] <= place < moment.span[1] for moment in named)


def _operator(before: str) -> f.ComparisonOperator | None:
    """The comparison with a year that the words before it ask for; None where they name no time."""
    return bound_before(before) or ("=" if WITHIN.search(before) else None)


def _finding(time: _Time, form: f.Query, read: Reading, named: tuple[Moment, ...]) -> Finding:
    date = date_beside(form, read)
    if date is None or not isinstance(form, f.Select) or form.derived:
        return Finding(Veto("moment", time.missing))
    year = f.Function("year", (f.Column(date),))
    condition = f.Comparison(time.operator, year, f.Literal(time.year))
    dating = Dating("", named, lambda column: read.is_date(column.ref))
    others = (part for part in conjuncts(form.where) if not _goes_by(part, date, time.year))
    added = replace(form, where=conjunction((*others, condition)))
    done = f"“{time.said}” is read as a time of {date}"
    return Finding(Veto("moment", time.missing, done), dating.query(added))


def _goes_by(part: f.Condition, date: ColumnRef, year: str) -> bool:
    """True if a condition is about a date's year and nothing else."""
    columns = {column.ref for column in inside(part, f.Column)}
    return columns == {date} and any(year in text for text in texts(part))


def misplaced_year(form: f.Query, read: Reading) -> Iterator[Finding]:
    """A year of the question compared with a key or an amount, although a date is there."""
    years = {token.text for token in read.words if _YEAR.fullmatch(token.text)}
    years |= {moment.year for moment in moments(read.question, read.today)}
    if not years:
        return
    for comparison in inside(form, f.Comparison):
        column, literal = comparison.left, comparison.right
        if not isinstance(column, f.Column) or not isinstance(literal, f.Literal):
            continue
        year = str(literal.value).strip(" %")
        if year not in years or _may_hold_years(column.ref, year, read):
            continue
        date = date_beside(form, read, column.ref.table)
        if date is None:
            if read.profile(column.ref) is not None and column.ref not in read.schema.all_keys:
                yield Finding(Veto("year", f"{column.ref} holds no years, such as {year}"))
            continue
        meant = f.Comparison(
            comparison.operator, f.Function("year", (f.Column(date),)), f.Literal(year)
        )
        told = f"{year} is compared with {column.ref}, which holds no years; {date} holds dates"
        done = f"{year} is read as the year of {date}"
        yield Finding(Veto("year", told, done), exchanged(form, comparison, meant))
        return


def _may_hold_years(ref: ColumnRef, year: str, read: Reading) -> bool:
    """True if a column may be compared with a year: it holds times, or a value with this one."""
    if _TIMES & set(split_name(ref.column)) or read.is_date(ref):
        return True
    profile = read.profile(ref)
    if profile is None:
        return True
    if any(form.name in {"year", "year_month"} for form in profile.formats):
        return True
    if ref in read.schema.all_keys:
        return False
    low, high = profile.minimum, profile.maximum
    if isinstance(low, int | float) and isinstance(high, int | float):
        return _NUMBERS[0] <= low and high <= _NUMBERS[1]
    if profile.main_storage != "text" or any("date" in form.name for form in profile.formats):
        return True
    return any(match.column == ref for match in read.values if year in match.value)


def date_beside(form: f.Query, read: Reading, table: str = "") -> ColumnRef | None:
    """The likeliest column of dates in the tables that the query reads, those of `table` first."""
    tables = set(table_names(form))
    dates = [one for one in read.schema.columns if one.table in tables and read.is_date(one)]
    return max(dates, key=lambda one: (one.table == table, read.link(one)), default=None)
