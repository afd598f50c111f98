"""Times that the question names, left out of the query or compared with what holds no dates;
moments that say whether something happened; days that a column of dates doesn't reach."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sqlwright.candidates import execute, valid
from sqlwright.english.bounds import bound_before
from sqlwright.english.cues import TIME
from sqlwright.english.dates import WITHIN, Moment, moments
from sqlwright.english.words import is_participle, split_name, stem
from sqlwright.errors import UnsupportedQuery
from sqlwright.local.form import nodes as f
from sqlwright.local.form.walking import exchanged, inside, own, own_tables, selects
from sqlwright.local.form.write.sql import write_sql
from sqlwright.local.form.written import form_of
from sqlwright.local.left_out.reading import (
    Finding,
    Reading,
    column_words,
    conjunction,
    conjuncts,
    negated_at,
    table_names,
    texts,
    with_condition,
)
from sqlwright.local.parser.dating import Dating
from sqlwright.local.parser.dressing.dress import dress
from sqlwright.local.parser.dressing.undress import undress
from sqlwright.local.question.retelling import untold
from sqlwright.protocols import Context
from sqlwright.schema import ColumnRef
from sqlwright.types import Candidate, Cell, Note, Veto
from sqlwright.types.periods import Period, is_bound, period_of

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


def time_left_out(form: f.Query, read: Reading) -> Iterator[Finding]:
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


_MOMENT_WORDS = frozenset({"at", "on", "date", "time", "timestamp", "datetime", "day", "moment"})
"""Words in a column's name that say that it holds a moment."""
_ASKS_WHEN = frozenset({*TIME, "last", "first", "earliest", "newest", "oldest", "long", "time"})
"""Words of a question that asks for the moment itself, or goes by it."""
_UN = ("un", "non", "not")


def event_left_out(form: f.Query, read: Reading) -> Iterator[Finding]:
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
            asked = _event_asked(ref, read)
            if asked is not None:
                yield from _event_findings(form, ref, happened=asked)


def _event_findings(form: f.Select, ref: ColumnRef, *, happened: bool) -> Iterator[Finding]:
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


def _event_asked(ref: ColumnRef, read: Reading) -> bool | None:
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


SECONDS = 1.0
"""Most that is spent on finding a column's first and last day; chosen."""


def held_days(ref: ColumnRef, read: Reading, context: Context) -> tuple[str, str]:
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


def beyond(candidate: Candidate, read: Reading, context: Context) -> Iterator[Note]:
    """A note for each column of dates of which a query wants days that it doesn't reach; of a time
    as seen from today, such as last month, also where it reaches only a part of them."""
    try:
        form = undress(form_of(candidate, read.schema), read.stored)
    except UnsupportedQuery:
        return
    yesterday = Period(read.today.isoformat()).before if read.today else ""
    if not any(one.relative for one in moments(read.question, read.today)):
        yesterday = ""
    parts = (part for select in selects(form) for part in conjuncts(select.where))
    for ref, low, high in filter(None, (_days_asked(part, read) for part in parts)):
        first, last = held_days(ref, read, context)
        if last and low > last:
            yield Note("date", f"{ref} ends on {last}, before {low}")
        elif high and high < first:
            yield Note("date", f"{ref} begins on {first}, after {high}")
        elif last and last < min(high, yesterday):
            yield Note("date", f"{ref} ends on {last}")


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
