"""Times that the question names, left out of the query or compared with what holds no dates;
moments that say whether something happened; days that a column of dates doesn't reach."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from sqlwright.candidates import execute, valid
from sqlwright.english.bounds import bound_before
from sqlwright.english.cues import TIME
from sqlwright.english.dates import WITHIN, Moment
from sqlwright.english.words import is_participle, split_name, stem
from sqlwright.errors import UnsupportedQuery
from sqlwright.local.form import nodes as f
from sqlwright.local.form.walking import exchanged, inside, selects
from sqlwright.local.form.write.sql import write_sql
from sqlwright.local.form.written import form_of
from sqlwright.local.left_out.reading import (
    Finding,
    Reading,
    column_words,
    compared,
    conjuncts,
    fault,
    negated_at,
    overlaps,
    table_names,
    tables_of,
    texts,
    with_condition,
    with_parts,
)
from sqlwright.local.parser.dating import Dating
from sqlwright.local.parser.dressing.dress import dress
from sqlwright.local.parser.dressing.undress import undress
from sqlwright.local.question.retelling import untold
from sqlwright.protocols import Context
from sqlwright.schema import ColumnRef
from sqlwright.types import Candidate, Cell, Note
from sqlwright.types.periods import Period, is_bound, period_of

_YEAR = re.compile(r"(?:1[6-9]|20)\d\d")
_NUMBERS = (1000, 2200)
"""Least and greatest stored number that may be a year; chosen."""
_TIMES = frozenset({"year", "yr", "years", "date", "time", "season", "since", "founded", "vintage"})
"""Words in the names of columns that hold points in time, whatever they are stored as."""


def time_left_out(form: f.Query, read: Reading) -> Iterator[Finding]:
    """A day, month, quarter or year of the question that the query doesn't go by."""
    named = untold(read.moments, read.values)
    years = [word for word in read.words if _YEAR.fullmatch(word.text)]
    if not named and not years:
        return
    said = texts(form)
    for one in named:
        if not one.is_among(said):
            told = f"no query goes by “{one.said}”"
            asked = _AskedTime(one.said, one.operator or "=", one.year, named)
            yield _finding(asked, told, form, read)
    numbers = {str(literal.value).strip(" %") for literal in inside(form, f.Literal)}
    for word in years:
        place = (word.start, word.start + 1)
        known = [*(one.span for one in named), *(match.span for match in read.values)]
        if overlaps(place, known):
            continue
        before = read.question[: word.start]
        operator = bound_before(before) or ("=" if WITHIN.search(before) else None)
        if operator is None or any(word.text in number for number in numbers):
            continue
        if not is_bound(word.text, operator, said):
            told = f"“{word.text}” isn't used"
            yield _finding(_AskedTime(word.text, operator, word.text), told, form, read)


class _AskedTime(NamedTuple):
    """A time as the question says it, and its year as a condition."""

    said: str
    operator: f.ComparisonOperator
    year: str
    named: tuple[Moment, ...] = ()


def _finding(asked: _AskedTime, told: str, form: f.Query, read: Reading) -> Finding:
    """That a query leaves a time out; mended by a condition on the likeliest column of dates."""
    date = date_beside(form, read)
    if date is None or not isinstance(form, f.Select) or form.derived:
        return fault("moment", told)
    year = f.Function("year", (f.Column(date),))
    condition = f.Comparison(asked.operator, year, f.Literal(asked.year))
    dating = Dating("", asked.named, lambda column: read.is_date(column.ref))
    others = (part for part in conjuncts(form.where) if not _goes_by(part, date, asked.year))
    done = f"“{asked.said}” is read as a time of {date}"
    return fault("moment", told, done, dating.query(with_parts(form, (*others, condition))))


def _goes_by(part: f.Condition, date: ColumnRef, year: str) -> bool:
    """True if a condition is about a date's year and nothing else."""
    columns = {column.ref for column in inside(part, f.Column)}
    return columns == {date} and any(year in text for text in texts(part))


def misplaced_year(form: f.Query, read: Reading) -> Iterator[Finding]:
    """A year of the question compared with a key or an amount, although a date is there."""
    years = {word for word in read.said if _YEAR.fullmatch(word)}
    years |= {moment.year for moment in read.moments}
    for comparison, column, value in compared(form) if years else ():
        year, ref = str(value).strip(" %"), column.ref
        if year not in years or _may_hold_years(ref, year, read):
            continue
        date = date_beside(form, read, ref.table)
        if date is not None:
            wanted = f.Function("year", (f.Column(date),))
            meant = f.Comparison(comparison.operator, wanted, f.Literal(year))
            told = f"{year} is compared with {ref}, which holds no years; {date} holds dates"
            done = f"{year} is read as the year of {date}"
            yield fault("year", told, done, exchanged(form, comparison, meant))
            return
        if read.profile(ref) is not None and ref not in read.schema.all_keys:
            yield fault("year", f"{ref} holds no years, such as {year}")


def _may_hold_years(ref: ColumnRef, year: str, read: Reading) -> bool:
    """True if a column may be compared with a year: it holds times, or a value with this one."""
    profile = read.profile(ref)
    if _TIMES & set(split_name(ref.column)) or read.is_date(ref) or profile is None:
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
    tables = table_names(form)
    dates = [one for one in read.schema.columns if one.table in tables and read.is_date(one)]
    return max(dates, key=lambda one: (one.table == table, read.link(one)), default=None)


# ---- moments that say whether something happened: a payment's `paid_at` is empty until it is

_MOMENT_WORDS = frozenset({"at", "on", "date", "time", "timestamp", "datetime", "day", "moment"})
"""Words in a column's name that say that it holds a moment."""
_ASKS_WHEN = frozenset({*TIME, "last", "first", "earliest", "newest", "oldest", "long", "time"})
"""Words of a question that asks for the moment itself, or goes by it."""
_UN = ("un", "non", "not")


def event_left_out(form: f.Query, read: Reading) -> Iterator[Finding]:
    """“Paid invoices” without a condition on what says so, and “unpaid” taken for paid: the moment
    is there, or it is empty. A question that goes by the moment itself is left alone."""
    if not isinstance(form, f.Select) or form.derived or read.said & _ASKS_WHEN or read.moments:
        return
    for name in sorted(tables_of(form)):
        table = read.schema.table(name)
        for column in table.columns if table else ():
            ref = ColumnRef(name, column.name)
            event = _event(ref, read)
            happened = None if event is None else _happened(event, read)
            if event is not None and happened is not None:
                yield from _event_findings(form, ref, event, happened=happened)


def _event_findings(
    form: f.Select, ref: ColumnRef, event: str, *, happened: bool
) -> Iterator[Finding]:
    column = f.Column(ref)
    meant = f.IsNull(column, negated=happened)
    said = f"{ref} is {'set' if happened else 'empty'}, as the question says"
    for test in conjuncts(form.where):
        if isinstance(test, f.IsNull) and test.operand == column and test.negated != happened:
            told = f"{ref} is {'set' if test.negated else 'empty'} is the opposite of that"
            yield fault("negation", told, said, exchanged(form, test, meant))
    if any(one.ref == ref for one in inside(form, f.Column)) or _answered(form, event):
        return
    told = f"nothing in this query goes by {ref}, which says whether that happened"
    yield fault("negation", told, said, with_condition(form, meant))


def _event(ref: ColumnRef, read: Reading) -> str | None:
    """The participle that names a moment's column, which is empty in some rows: the `paid` of
    `paidAt` and `date_paid`."""
    words = split_name(ref.column)
    left = [word for word in words if word not in _MOMENT_WORDS]
    if len(left) != 1 or len(left) == len(words) or not is_participle(left[0]):
        return None
    profile = read.profile(ref) if read.is_date(ref) else None
    return left[0] if profile is not None and 0 < profile.nulls < profile.rows else None


def _answered(form: f.Select, event: str) -> bool:
    """True if another column or a stored value of the query says it: `status = 'PAID'`."""
    said = stem(event)
    if any(said in column_words(column.ref) for column in inside(form, f.Column)):
        return True
    texts = (one.value for one in inside(form, f.Literal) if isinstance(one.value, str))
    return any(said in {stem(word) for word in split_name(text)} for text in texts)


def _happened(event: str, read: Reading) -> bool | None:
    """True if a question says that an event has happened, False if that it hasn't; None where it
    says neither, or both."""
    asked: set[bool] = set()
    for word, following in zip(read.words, (*read.words[1:], None), strict=True):
        if any(match.span and word.within(match.span) for match in read.values):
            continue
        if word.text == event and not (following and following.text == "by"):
            asked.add(not negated_at(read.question, word.start))
        elif word.text in {f"{prefix}{event}" for prefix in _UN}:
            asked.add(False)
    return asked.pop() if len(asked) == 1 else None


# ---- days on which a column of dates holds nothing any more, or yet

SECONDS = 1.0
"""Most that is spent on finding a column's first and last day; chosen."""


def beyond(candidate: Candidate, read: Reading, context: Context) -> Iterator[Note]:
    """A note for each column of dates of which a query wants days that it doesn't reach; of a time
    as seen from today, such as last month, also where it reaches only a part of them."""
    try:
        form = undress(form_of(candidate, read.schema), read.stored)
    except UnsupportedQuery:
        return
    yesterday = Period(read.today.isoformat()).before if read.today else ""
    if not any(one.relative for one in read.moments):
        yesterday = ""
    parts = (part for select in selects(form) for part in conjuncts(select.where))
    for ref, low, high in filter(None, (_days_asked(part, read) for part in parts)):
        first, last = _held_days(ref, read, context)
        if last and low > last:
            yield Note("date", f"{ref} ends on {last}, before {low}")
        elif high and high < first:
            yield Note("date", f"{ref} begins on {first}, after {high}")
        elif last and last < min(high, yesterday):
            yield Note("date", f"{ref} ends on {last}")


def _held_days(ref: ColumnRef, read: Reading, context: Context) -> tuple[str, str]:
    """The first and last day that a column of dates holds, as profiled or else looked up; empty
    where neither tells."""
    profile = read.profile(ref)
    if profile is not None and ref not in read.stored and not profile.sampled:
        ends: Sequence[Cell] = (profile.minimum, profile.maximum)
    else:
        day = f.Function("date", (f.Column(ref),))
        asked = f.Select((f.Aggregate("min", day), f.Aggregate("max", day)))
        sql = write_sql(dress(asked, read.stored), read.schema)
        looked_up = [Candidate(sql, "repair.extent")]
        (ran,) = execute(looked_up, context.workspace.database, context.run, seconds=SECONDS)
        ends = ran.result.rows[0] if valid(ran) and ran.result else ("", "")
    first, last = (str(end)[:10] for end in ends)
    return (first, last) if period_of(first) and period_of(last) else ("", "")


def _days_asked(part: f.Condition, read: Reading) -> tuple[ColumnRef, str, str] | None:
    """A column of dates with the first and last day that a condition leaves, empty for any."""
    match part:
        case f.Comparison(operator, operand, f.Literal(begin)) if operator != "!=":
            end = "" if operator in {">", ">="} else begin
            begin = "" if operator in {"<", "<="} else begin
        case f.Between(operand, f.Literal(begin), f.Literal(end), negated=False):
            pass
        case _:
            return None
    low, high = (period_of(str(bound)[:10]) for bound in (begin, end))
    refs = {column.ref for column in inside(operand, f.Column)}
    if len(refs) != 1 or not (low or high) or not read.is_date(ref := refs.pop()):
        return None
    return ref, low.first if low else "", high.last if high else ""
