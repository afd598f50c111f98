"""Tells of queries that ask for days on which a column of dates holds nothing any more, or yet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlwright.candidates import execute, valid
from sqlwright.english.dates import moments
from sqlwright.errors import UnsupportedQuery
from sqlwright.local.form import nodes as f
from sqlwright.local.form.walking import inside, selects
from sqlwright.local.form.write.sql import write_sql
from sqlwright.local.form.written import form_of
from sqlwright.local.left_out.reading import Reading, conjuncts
from sqlwright.local.parser.dressing.dress import dress
from sqlwright.local.parser.dressing.undress import undress
from sqlwright.protocols import Context
from sqlwright.schema import ColumnRef
from sqlwright.types import Candidate, Cell, Note
from sqlwright.types.periods import Period, period_of

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
    for ref, low, high in filter(None, (_asked(part, read) for part in parts)):
        first, last = held_days(ref, read, context)
        if last and low > last:
            yield Note("date", f"{ref} ends on {last}, before {low}")
        elif high and high < first:
            yield Note("date", f"{ref} begins on {first}, after {high}")
        elif last and last < min(high, yesterday):
            yield Note("date", f"{ref} ends on {last}")


def _asked(part: f.Condition, read: Reading) -> tuple[ColumnRef, str, str] | None:
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
