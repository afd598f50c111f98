"""Points in time of other dialects as SQLite's functions of dates."""

from __future__ import annotations

import calendar
import re

from sqlglot import exp

NUMBER = "number"
"""Mark of a part of a date that is a number where it was written; SQLite's is a text."""
DAY = "day"
"""Mark of a text that was written as a day."""
SPAN = "span"
"""Mark of a column of intervals, whose parts are no parts of a date."""
_NOW = "now"
_TIME_OF_DAY = re.compile(r"%[HMSfs]")
_PLAIN = re.compile(r"(?:%[YmdHMSjwVW]|[-/:. T\d])+")
"""Formats that SQLite's STRFTIME has, letters aside that mean something in none."""
_DATES = frozenset({"DATE", "DATE32"})
_TIMESTAMPS = frozenset(
    {"TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMPLTZ", "TIMESTAMPNTZ", "DATETIME", "DATETIME2"}
    | {"TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "DATETIME64"}
)
_CALLS_OF_NOW = frozenset(
    {"now", "get_current_timestamp", "sysdate", "transaction_timestamp", "statement_timestamp"}
    | {"clock_timestamp", "localtimestamp"}
)
_NAMES = {
    "%A": ("%w", {str(number): calendar.day_name[number - 1] for number in range(7)}),
    "%B": ("%m", {f"{number:02}": calendar.month_name[number] for number in range(1, 13)}),
}
"""Formats that give a name: the part it goes by, and the names."""
_POSTGRES_NAMES = {"F%month": "%B", "TM%month": "%B", "FM%uay": "%A", "TM%uay": "%A"}
"""Formats of TO_CHAR for names without blanks, as sqlglot's reading leaves them."""
_WRITTEN_DATES = {
    ("%d", "%m", "%Y"): (7, 4, 1),
    ("%m", "%d", "%Y"): (7, 1, 4),
    ("%Y", "%m", "%d"): (1, 5, 7),
}
"""Places at which year, month and day begin in a date that is written in an order, the last one
without anything between."""


def text(value: str) -> exp.Literal:
    """A text."""
    return exp.Literal.string(value)


def number(value: int) -> exp.Expr:
    """A whole number."""
    return exp.Literal.number(value)


def call(name: str, *arguments: exp.Expr) -> exp.Anonymous:
    """A call of a function that has no node of its own."""
    return exp.Anonymous(this=name, expressions=list(arguments))


def as_integer(node: exp.Expr) -> exp.Cast:
    """A value made a whole number."""
    return exp.Cast(this=node, to=exp.DataType.build("INT"))


# ---- moments


def today() -> exp.Date:
    """The day of now."""
    return exp.Date(this=text(_NOW))


def now(node: exp.Expr | None = None) -> exp.Anonymous:
    """The moment of now."""
    del node
    return call("DATETIME", text(_NOW))


def is_call(node: exp.Expr, *names: str) -> bool:
    """True of a call of one of these functions."""
    return isinstance(node, exp.Anonymous) and node.name.upper() in names


def is_day(node: exp.Expr) -> bool:
    """True of what is a day, whatever the columns hold."""
    node = node.unnest()
    return isinstance(node, exp.Date) or is_call(node, "DATE") or bool(node.meta.get(DAY))


def moment(node: exp.Expr, form: str = "%Y") -> exp.Expr:
    """An argument of a function of dates, without what makes no difference to it there."""
    while True:
        day = isinstance(node, exp.Date) and not _TIME_OF_DAY.search(form)
        if isinstance(
            node, (exp.Paren, exp.TsOrDsToDate, exp.TsOrDsToTimestamp, exp.AtTimeZone)
        ) or (day and node.this is not None and not node.expressions):
            node = node.this
        elif is_call(node, "DATETIME") and len(node.expressions) == 1:
            node = node.expressions[0]
        else:
            return node


def part(form: str, node: exp.Expr, *, is_number: bool = False) -> exp.TimeToStr:
    """A part of a date by a format."""
    taken = exp.TimeToStr(this=exp.TsOrDsToTimestamp(this=moment(node, form)), format=text(form))
    if is_number:
        taken.meta[NUMBER] = True
    return taken


def julian(node: exp.Expr) -> exp.Anonymous:
    """The number of a day."""
    return call("JULIANDAY", moment(node))


def days_between(end: exp.Expr, start: exp.Expr) -> exp.Sub:
    """Days from one moment to another."""
    return exp.Sub(this=julian(end), expression=julian(start))


def parts_between(form: str, end: exp.Expr, start: exp.Expr) -> exp.Sub:
    """The difference of a part of two dates."""
    return exp.Sub(this=part(form, end), expression=part(form, start))


def quarter(node: exp.Expr) -> exp.Div:
    """The quarter of a date."""
    month = as_integer(part("%m", node))
    return exp.Div(this=exp.Paren(this=exp.Add(this=month, expression=number(2))),
                   expression=number(3))  # fmt: skip


def named(form: str, node: exp.Expr) -> exp.Case:
    """The name of a weekday or month."""
    own, names = _NAMES[form]
    branches = [exp.If(this=text(value), true=text(name)) for value, name in names.items()]
    return exp.Case(this=part(own, node), ifs=branches)


# ---- rules


def current_date(node: exp.Expr) -> exp.Expr | None:
    """CURRENT_DATE."""
    del node
    return today()


def call_of_now(node: exp.Expr) -> bool:
    """True of a function without arguments that gives the moment of now."""
    return (
        isinstance(node, exp.Anonymous)
        and not node.expressions
        and node.name.lower() in _CALLS_OF_NOW
    )


def to_day(node: exp.Expr) -> exp.Expr | None:
    """A value made a day: by a function or by CAST, whose value is `this`."""
    inner = node.this
    if isinstance(inner, exp.Literal) and inner.is_string:
        marked = inner.copy()
        marked.meta[DAY] = True
        return marked
    start = _START_FORMS.get(_form_of(inner))
    if start is not None:
        return moved(moment(inner.this), text(start))
    if is_day(inner):
        return inner  # type: ignore[no-any-return]
    if is_call(inner, "DATETIME"):
        first, *further = inner.expressions
        return call("DATE", first, *further) if further else exp.Date(this=first)
    return exp.Date(this=moment(inner))


_START_FORMS = {"%Y-%m-01": "start of month", "%Y-01-01": "start of year"}


def _form_of(node: exp.Expr) -> str:
    form = node.args.get("format") if isinstance(node, exp.TimeToStr) else None
    return form.name if isinstance(form, exp.Literal) else ""


def anywhere(node: exp.Expr) -> exp.Expr | None:
    """Seconds since 1970 as a moment somewhere."""
    return node.this if is_call(node.this, "DATETIME") else None


def cast_to_moment(node: exp.Cast) -> exp.Expr | None:
    """CAST to a day, a moment or a time of day; None for other types."""
    name = _type_name(node)
    if name in _DATES:
        return to_day(node)
    if name in _TIMESTAMPS:
        # Columns of moments and texts of them compare as they are.
        return node.this  # type: ignore[no-any-return]
    if name == "TIME":
        plain = isinstance(node.this, exp.Literal)
        return node.this if plain else call("TIME", moment(node.this, "%H"))
    return None


def _type_name(node: exp.Cast) -> str:
    kind = node.to.this
    return str(getattr(kind, "name", kind))


def formatted(node: exp.Expr) -> exp.Expr | None:
    """A date by a format: STRFTIME, TO_CHAR, DATE_FORMAT. A format that SQLite lacks leaves a call
    that is no part of a date."""
    given, form = node.this, node.args.get("format")
    if isinstance(given, exp.Literal) and not isinstance(form, exp.Literal) and form is not None:
        given, form = form, given
    if not isinstance(form, exp.Literal):
        return call("FORMAT_DATE", given, *([] if form is None else [form]))
    pattern = _POSTGRES_NAMES.get(form.name, form.name)
    if pattern in _NAMES:
        return named(pattern, given)
    if pattern in {"%-m", "%-d", "%-H"}:
        return as_integer(part(pattern.replace("-", ""), given))
    if pattern == "Q":
        return quarter(given)
    if "%" not in pattern or not _PLAIN.fullmatch(pattern):
        return call("FORMAT_DATE", given, text(form.name))
    return part(pattern, given)


def day_name(node: exp.Expr) -> exp.Expr | None:
    """DAYNAME."""
    return named("%A", node.this)


def month_name(node: exp.Expr) -> exp.Expr | None:
    """MONTHNAME."""
    return named("%B", node.this)


def read_by_format(node: exp.Expr) -> exp.Expr | None:
    """A text read as a date by a format: the pieces of the text in SQLite's order."""
    form = node.args.get("format")
    if not isinstance(form, exp.Literal):
        return None
    if re.fullmatch(r"%Y-%m-%d(?:[ T]%H:%M:%S)?", form.name):
        return node.this  # type: ignore[no-any-return]
    found = re.fullmatch(r"(%[dmY])([-/. ]?)(%[dmY])\2(%[dmY])", form.name)
    places = None if found is None else _WRITTEN_DATES.get((found[1], found[3], found[4]))
    if found is None or places is None or bool(found[2]) == (places[0] == 1):
        return None
    pieces = [
        exp.Substring(this=node.this.copy(), start=number(place), length=number(4 if one else 2))
        for place, one in zip(places, (1, 0, 0), strict=True)
    ]
    year, month, day = pieces
    dashed: exp.Expr = year
    for piece in (month, day):
        dashed = exp.DPipe(this=exp.DPipe(this=dashed, expression=text("-")), expression=piece)
    return dashed


def from_seconds(node: exp.Expr) -> exp.Expr | None:
    """Seconds since 1970, or thousandths, as a moment."""
    scale, count = node.args.get("scale"), node.this
    places = 0 if scale is None else int(scale.name)
    longer = count.this if isinstance(count, exp.Cast) else count
    if isinstance(longer, exp.Mul) and longer.expression.name in {"1000", "1000000"}:
        places -= len(longer.expression.name) - 1
        count = longer.this
    if places not in {0, 3}:
        return None
    shorter = exp.Div(this=count, expression=number(1000)) if places else count
    return call("DATETIME", shorter, text("unixepoch"))


_STARTS = {"MONTH": "start of month", "YEAR": "start of year"}


def truncated(node: exp.Expr) -> exp.Expr | None:
    """DATE_TRUNC."""
    unit = node.args.get("unit")
    name = "" if unit is None else unit.name.upper()
    if name == "DAY":
        return exp.Date(this=moment(node.this))
    if name not in _STARTS:
        return None
    return moved(node.this, text(_STARTS[name]))


def last_day(node: exp.Expr) -> exp.Expr | None:
    """The last day of a month."""
    return moved(node.this, text("start of month"), text("+1 months"), text("-1 days"))


def moved(node: exp.Expr, *modifiers: exp.Expr, time: bool = False) -> exp.Anonymous:
    """A moment with SQLite's modifiers; a day, unless the moment or `time` says more."""
    node = node.unnest()
    own, given = "DATE", [moment(node, "%H" if time else "%Y")]
    if is_call(node, "DATE", "DATETIME"):
        own, given = node.name.upper(), node.expressions
    starts = modifiers[0].name.startswith("start of")
    return call("DATETIME" if time else "DATE" if starts else own, *given, *modifiers)
