"""Tells of queries that ask for days on which a column of dates holds nothing any more, or yet."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

from sqlwright.candidates import execute, form_of, valid
from sqlwright.english.dates import moments
from sqlwright.errors import UnsupportedQuery
from sqlwright.form import nodes as f
from sqlwright.form.walking import inside, selects
from sqlwright.form.write.sql import write_sql
from sqlwright.local.parser.dressing.dress import dress
from sqlwright.local.parser.dressing.undress import undress
from sqlwright.protocols import Context
from sqlwright.schema import ColumnRef
from sqlwright.steps.repair.vetoes.reading import Reading, conjuncts
from sqlwright.types import Candidate, Note
from sqlwright.types.periods import Period, period_of

SECONDS = 1.0
"""Most that is spent on finding a column's first and last day; chosen."""

Extent = tuple[str, str]
"""First and last day in ISO 8601; empty for none."""


def extents(context: Context, read: Reading) -> Callable[[ColumnRef], Extent | None]:
    """The first and last day that each column of dates holds: as it was profiled, else looked up;
    None where neither tells."""

    @cache
    def found(ref: ColumnRef) -> Extent | None:
        profile = read.profile(ref)
        if profile is not None and ref not in read.stored and not profile.sampled:
            ends = profile.minimum, profile.maximum
        else:
            day = f.Function("date", (f.Column(ref),))
            asked = f.Select((f.Aggregate("min", day), f.Aggregate("max", day)))
            sql = write_sql(dress(asked, read.stored), read.schema)
            (ran,) = execute(
                [Candidate(sql, "repair.extent")],
                context.workspace.database,
                context.run,
                seconds=SECONDS,
            )
            if not valid(ran) or ran.result is None or not ran.result.rows:
                return None
            ends = ran.result.rows[0]
        first, last = (str(end)[:10] for end in ends)
        return (first, last) if period_of(first) and period_of(last) else None

    return found


def beyond(
    candidate: Candidate, read: Reading, held: Callable[[ColumnRef], Extent | None]
) -> Iterator[Note]:
    """A note for each column of dates of which a query wants days that it doesn't reach; of a time
    as seen from today, such as last month, also where it reaches only a part of them."""
    try:
        form = undress(form_of(candidate, read.schema), read.stored)
    except UnsupportedQuery:
        return
    relative = any(one.relative for one in moments(read.question, read.today))
    for ref, (low, high) in _asked(form, read).items():
        first, last = held(ref) or ("", "")
        if last and low > last:
            yield Note("date", f"{ref} ends on {last}, before {low}")
        elif first and high and high < first:
            yield Note("date", f"{ref} begins on {first}, after {high}")
        elif last and relative and read.today and high:
            yesterday = Period(read.today.isoformat()).before
            if last < min(high, yesterday):
                yield Note("date", f"{ref} ends on {last}")


def _asked(form: f.Query, read: Reading) -> dict[ColumnRef, Extent]:
    """The first and last day that conditions leave of each column of dates."""
    found: dict[ColumnRef, Extent] = {}
    for select in selects(form):
        for part in conjuncts(select.where):
            match part:
                case f.Comparison(operator, operand, f.Literal(value)) if operator != "!=":
                    low, high = _ends(value), _ends(value)
                    low = ("", "") if operator in {"<", "<="} else low
                    high = ("", "") if operator in {">", ">="} else high
                case f.Between(operand, f.Literal(begin), f.Literal(end), negated=False):
                    low, high = _ends(begin), _ends(end)
                case _:
                    continue
            refs = {column.ref for column in inside(operand, f.Column)}
            if len(refs) != 1 or not (low[0] or high[1]) or not read.is_date(ref := refs.pop()):
                continue
            before = found.get(ref, ("", ""))
            ends = [end for end in (before[1], high[1]) if end]
            found[ref] = max(before[0], low[0]), min(ends, default="")
    return found


def _ends(value: str | float) -> Extent:
    period = period_of(str(value)[:10])
    return ("", "") if period is None else (period.first, period.last)
