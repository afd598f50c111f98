"""Numbers and amounts: units, keys and flags added up, texts as numbers, rows counted twice."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from sqlwright.english.bounds import ANY_UNIT, NUMBER, measures, number_in
from sqlwright.english.cues import COUNT, SHARE, TOTAL, one_of, whole_words
from sqlwright.english.vocabulary import KEY_WORDS, NUMBERS, ORDINALS, SCALES, UNITS
from sqlwright.english.words import singular, split_name, stem
from sqlwright.errors import UnsupportedQuery
from sqlwright.local.form import nodes as f
from sqlwright.local.form.sequence.symbols import DATE_PARTS, LATER_AGGREGATES
from sqlwright.local.form.walking import exchanged, inside, own, own_tables, selects
from sqlwright.local.form.written import form_of
from sqlwright.local.left_out.asked import numbers
from sqlwright.local.left_out.flags import flag_asked, flag_values
from sqlwright.local.left_out.reading import (
    Finding,
    Reading,
    Span,
    column_words,
    compared,
    conjuncts,
    fault,
    overlaps,
    with_condition,
    with_parts,
    with_rows_of,
)
from sqlwright.local.left_out.said import same_amount
from sqlwright.local.parser.dressing.dress import dress
from sqlwright.protocols import Workspace
from sqlwright.schema import ColumnRef, ForeignKey
from sqlwright.sql.dialects import dialect_of
from sqlwright.sql.hazards import held
from sqlwright.types import Candidate, Note
from sqlwright.types.candidates import VetoKind

# ---- units: a number of minutes compared with milliseconds, a thousand taken for 1

_SCALED = re.compile(rf"(?<![\w.]){NUMBER}\s+(?P<scale>{one_of(SCALES)})(?!\w)", re.IGNORECASE)
_SHOWN = re.compile(rf"(?<!\w)in (?P<unit>{ANY_UNIT})s?(?!\w)(?!\s+(?:of|\d))", re.IGNORECASE)
"""A unit in which something is to be shown."""


def measured_spans(text: str) -> tuple[Span, ...]:
    """The place of each unit of a text: one with a number, or to show amounts in."""
    written = (match.span() for shape in (_SCALED, _SHOWN) for match in shape.finditer(text))
    return (*(one.span for one in measures(text)), *written)


def unit_as_value(form: f.Query, read: Reading) -> Iterator[Finding]:
    """A unit taken for a stored value: the megabytes of “100 MB” for the state MB."""
    spans = measured_spans(read.question)
    for match in read.values if spans else ():
        if match.span is None or not any(_within(match.span, span) for span in spans):
            continue
        told = {f.Column(match.column), f.Literal(match.value)}
        if any({one.left, one.right} == told for one in inside(form, f.Comparison)):
            yield fault("unit", f"“{match.phrase}” is a unit and is compared with {match.column}")


def _within(inner: Span, outer: Span) -> bool:
    """True if a range of characters is part of another one."""
    return inner != outer and outer[0] <= inner[0] and inner[1] <= outer[1]


def other_unit(form: f.Query, read: Reading) -> Iterator[Finding]:
    """A number with a unit, compared with a column that is named after another unit."""
    for one in measures(read.question):
        for comparison in _numbers_compared(form, one.number):
            column = comparison.left
            factor = _factor(one.unit, column.ref) if isinstance(column, f.Column) else None
            if isinstance(column, f.Column) and factor is not None and factor != 1:
                yield _times(factor, comparison, one.said, form, column.ref)


def unscaled(form: f.Query, read: Reading) -> Iterator[Finding]:
    """“5 thousand” compared as 5."""
    for match in _SCALED.finditer(read.question):
        for comparison in _numbers_compared(form, number_in(match)):
            scale = NUMBERS[match.group("scale").casefold()]
            yield _times(scale, comparison, match.group(), form)


def _numbers_compared(form: f.Query, number: float) -> Iterator[f.Comparison]:
    """The comparisons with a number, written as a text or not."""
    for one in inside(form, f.Comparison):
        with suppress(ValueError):
            if isinstance(one.right, f.Literal) and float(one.right.value) == number:
                yield one


def _times(
    factor: float, comparison: f.Comparison, said: str, form: f.Query, ref: ColumnRef | None = None
) -> Finding:
    """That a number has to be compared as `factor` times as much."""
    number = float(comparison.right.value) if isinstance(comparison.right, f.Literal) else 0.0
    literal = f.Literal(_plain(number * factor))
    told = f"“{said}” is compared {f'with {ref} ' if ref else ''}as {_plain(number)}"
    done = f"“{said}” is {literal}{f' in {ref}' if ref else ''}"
    mended = exchanged(form, comparison, replace(comparison, right=literal))
    return fault("unit", told, done, mended)


def shown_in_other_unit(form: f.Query, read: Reading) -> Iterator[Finding]:
    """“In minutes”, shown in the unit that the column is named after."""
    match = _SHOWN.search(read.question)
    if match is None or not isinstance(form, f.Select):
        return
    items = tuple(_in_unit(item, match.group("unit").casefold()) for item in form.items)
    if items != form.items:
        said, mended = f"shown {match.group()}", replace(form, items=items)
        yield fault("unit", f"it isn't {said}", said, mended)


def _in_unit(item: f.Expression | f.Star, unit: str) -> f.Expression | f.Star:
    operand = item.operand if isinstance(item, f.Aggregate) else item
    if isinstance(item, f.Aggregate) and item.function == "count":
        return item
    if not isinstance(operand, f.Column) or isinstance(item, f.Star):
        return item
    factor = _factor(unit, operand.ref)
    if factor is None or factor == 1:
        return item
    if factor > 1:
        return f.Arithmetic("ratio", item, f.Literal(_plain(factor)))
    return f.Arithmetic("*", item, f.Literal(_plain(1 / factor)))


def _factor(unit: str, ref: ColumnRef) -> float | None:
    """The factor from a unit to the one that a column is named after (minutes to seconds: 60); None
    where the name has no unit of the same kind, or several."""
    units = next((one for one in UNITS if unit in one), {})
    stored = {units[word] for word in map(singular, split_name(ref.column)) if word in units}
    return units[unit] / stored.pop() if len(stored) == 1 else None


def _plain(number: float) -> int | float:
    """Whole numbers as such; floats without the noise of their last digits."""
    rounded = round(number, 9)
    return int(rounded) if rounded == int(rounded) else rounded


# ---- numbers that are no amounts, and that nobody named

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
    for call in inside(form, f.Aggregate):
        column = call.operand
        if call.function not in _ADDED or not isinstance(column, f.Column):
            continue
        kind, adds = _label(column.ref, read), call.function == "sum"
        named = kind != "keys" and not adds and column_words(column.ref) <= read.stems
        if kind == "yes and no" and adds:
            counts = _COUNTS.search(read.question) or not _TOTALS.search(read.question)
            named = bool(counts) and flag_asked(column.ref, read) is not None
        elif kind == "yes and no":
            named = bool(_SHARES.search(read.question))
        if kind and not named:
            yield fault(
                "amount", f"{call.function} of {column.ref}, which holds {kind}, no amounts"
            )


def _label(ref: ColumnRef, read: Reading) -> str:
    """The kind of a column's numbers where they aren't amounts; empty where they may be."""
    profile, last = read.profile(ref), (split_name(ref.column) or ("",))[-1]
    if ref in read.schema.all_keys or last in {"id", "code"}:
        return "keys"
    if profile is None or not isinstance(profile.maximum, int):
        return ""
    low, high = profile.minimum, profile.maximum
    if flag_values(ref, read) is not None:
        return "yes and no"
    if not isinstance(low, int):
        return ""
    if last in _PERIODS:
        return "periods" if low >= _PERIODS[last][0] and high <= _PERIODS[last][1] else ""
    dense = low in {0, 1} and profile.distinct == high - low + 1
    return "places in an order" if last in _PLACES and dense else ""


def out_of_nowhere(form: f.Query, read: Reading) -> Iterator[Finding]:
    """A number that the question doesn't say and that the column compared with it can't equal."""
    for _, column, worth in compared(form):
        profile = read.profile(column.ref)
        if isinstance(worth, str) or profile is None:
            continue
        low, high = profile.minimum, profile.maximum
        if not isinstance(low, int | float) or not isinstance(high, int | float):
            continue
        if low <= worth <= high or worth in {0, 1}:
            continue
        if flag_values(column.ref, read) is not None or not _is_said(worth, read):
            told = (
                f"{column.ref} is compared with {worth:g}, which neither it nor the question says"
            )
            yield fault("number", told)


def _is_said(worth: float, read: Reading) -> bool:
    """True if a question, or what is known beside it, says a number, in whatever unit; a question
    that names a time may say any."""
    said = (*numbers(read.question), *numbers(read.state.question.evidence))
    return bool(read.moments) or any(
        same_amount(one.worth, worth) or abs(one.worth - worth) == 1 for one in said
    )


def ordinal(form: f.Query, read: Reading) -> Iterator[Finding]:
    """“The third floor” without the number 3 of the column of floors: it is neither the third row
    of an order nor another column's 3."""
    if not isinstance(form, f.Select) or form.derived:
        return
    told = [one.span for one in read.moments]
    told += [one.span for one in read.values if one.span and not one.phrase.isdigit()]
    for match in _ORDINAL.finditer(read.question):
        if overlaps(match.span(), told):
            continue
        word, noun = (match["ordinal"] or "").casefold(), match["of"] or match["noun"]
        place = ORDINALS.get(word) or int(match["number"] or re.sub(r"\D", "", word))
        for ref in _numbering(noun, place, form, read):
            yield from _placed(match.group(), ref, place, form)
            return


def _numbering(noun: str, place: int, form: f.Select, read: Reading) -> Iterator[ColumnRef]:
    """The columns of a query's tables that number what a noun names and hold a place."""
    tables = with_rows_of(form, form)
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
    ends = [part for part in parts if column in inside(part, f.Column)]
    has = [part for part in parts if wanted in inside(part, f.Literal)]
    ordered = any(column in inside(term, f.Column) for term in form.order_by)
    if any(part in has for part in ends) or (place == 1 and not (ordered or ends)):
        return
    others = (part for part in parts if part not in ends)
    kept = (part for part in others if not (part in has and isinstance(part, f.Comparison)))
    cut = with_parts(form, kept)
    if ordered:
        cut = replace(cut, order_by=(), limit=None, offset=None)
    told = f"“{said}” is {ref} = {place}, which this query doesn't ask for"
    mended = with_condition(cut, f.Comparison("=", column, wanted))
    yield fault("place", told, f"“{said}” is read as {ref} = {place}", mended)


# ---- columns worked out with as what they don't hold

_SUMS = frozenset({"sum", "avg", "total", *LATER_AGGREGATES})
_WORKED_OUT = frozenset({"+", "-", "*", "/", "%", "ratio", "percent"})
_SAME = frozenset({"-", "/", "ratio", "percent"})
"""Operators whose result with twice the same doesn't depend on it."""
_DATE_PARTS = frozenset(
    {"year", "month", "day", "strftime", "date", "datetime", "julianday", *DATE_PARTS}
)


def text_as_number(form: f.Query, read: Reading) -> Iterator[Finding]:
    """SUM, AVG or arithmetic over texts that aren't numbers."""
    for call in inside(form, f.Aggregate):
        column = call.operand
        if call.function in _SUMS and isinstance(column, f.Column) and read.holds_words(column.ref):
            told = f"{call.function} of {column.ref}, which holds text"
            yield _converted("text", told, column.ref, form, read)
    for operation in inside(form, f.Arithmetic):
        for side in (operation.left, operation.right):
            if operation.operator not in _WORKED_OUT or not isinstance(side, f.Column):
                continue
            if read.holds_words(side.ref):
                told = f"{side.ref} holds text and is worked out with as a number"
                yield _converted("text", told, side.ref, form, read)


def part_of_no_date(form: f.Query, read: Reading) -> Iterator[Finding]:
    """The year, month or day of a column that holds no dates that the engine reads."""
    engine = dialect_of(read.schema).title
    for call in inside(form, f.Function):
        column = call.arguments[-1] if call.name in _DATE_PARTS and call.arguments else None
        if isinstance(column, f.Column) and read.holds_dates(column.ref) is False:
            part = call.name if call.name in {"year", "month", "day"} else "date"
            told = f"{column.ref} doesn't hold dates as {engine} reads them, so it has no {part}"
            yield _converted("date", told, column.ref, form, read)


def _converted(kind: VetoKind, told: str, ref: ColumnRef, form: f.Query, read: Reading) -> Finding:
    """The fault, mended where it is known how the column's values have to be converted."""
    if ref not in read.stored:
        return fault(kind, told)
    done = f"{ref} is stored as {read.stored[ref].sample} and was converted"
    return fault(kind, told, done, dress(form, read.stored))


def same_twice(form: f.Query, read: Reading) -> Iterator[Finding]:
    """A column less or divided by itself, which is nought or one in every row."""
    del read
    pairs = [(one.left, one.right) for one in inside(form, f.Arithmetic) if one.operator in _SAME]
    pairs += [
        (call.arguments[0], call.arguments[-1])
        for call in inside(form, f.Function)
        if call.name == "days_between"
    ]
    if any(left == right and _varies(left) for left, right in pairs):
        yield fault("constant", "something is compared with itself, which tells nothing")


def constants_only(form: f.Query, read: Reading) -> Iterator[Finding]:
    """An expression that no column plays a part in."""
    del read
    worked_out: list[f.Arithmetic | f.Aggregate] = list(inside(form, f.Arithmetic))
    worked_out += [one for one in inside(form, f.Aggregate) if not isinstance(one.operand, f.Star)]
    if any(inside(one, f.Literal) and not _varies(one) for one in worked_out):
        yield fault("constant", "it works out constants only, none of them stored")


def _varies(node: object) -> bool:
    """True of what isn't the same in every row."""
    kinds = (f.Column, f.DerivedColumn, f.Star, f.Subquery)
    calls = inside(node, f.Function)
    return any(inside(node, kind) for kind in kinds) or any(one.name == "now" for one in calls)


# ---- checks of any query that runs

_ADDED_UP = frozenset({"sum", "avg", "total"})


def machine_checks(candidate: Candidate, workspace: Workspace) -> tuple[Note, ...]:
    """Warnings about a query, empty when nothing is wrong or it can't be read.

    - A sum or average over a table whose rows come once per matching row of another table counts
      rows more than once (fan-out).
    - A sum or average of text that isn't numbers is 0 or nonsense.
    """
    try:
        form = form_of(candidate, workspace.schema)
    except UnsupportedQuery:
        return ()
    found: dict[Note, None] = {}
    for select in selects(form):
        calls = [one for one in own(select, f.Aggregate) if one.function in _ADDED_UP]
        found.update(dict.fromkeys(_fan_out(select, calls, workspace)))
        found.update(dict.fromkeys(_text_as_number(calls, workspace)))
    return tuple(found)


def _fan_out(select: f.Select, calls: list[f.Aggregate], workspace: Workspace) -> Iterator[Note]:
    tables = own_tables(select)
    for call in calls:
        summed = {column.ref.table for column in own(call, f.Column)}
        for key in () if call.distinct else workspace.schema.foreign_keys:
            if key.target_table not in summed or key.table not in tables - summed:
                continue
            if _many(key, workspace):
                yield Note(
                    "fan_out",
                    f"{call.function} may count rows of {key.target_table} more than once: "
                    f"once for each matching row of {key.table}",
                )


def _many(key: ForeignKey, workspace: Workspace) -> bool:
    """True if several rows of the key's table may point to the same row."""
    table = workspace.schema.table(key.table)
    if table is None or set(table.primary_key) == set(key.columns):
        return False
    profiles = {} if workspace.catalog is None else workspace.catalog.columns
    near = [profiles.get(ColumnRef(key.table, column)) for column in key.columns]
    return not any(profile is not None and profile.unique for profile in near)


def _text_as_number(calls: list[f.Aggregate], workspace: Workspace) -> Iterator[Note]:
    for call in calls:
        if isinstance(call.operand, f.Column) and workspace.catalog is not None:
            ref = call.operand.ref
            profile = workspace.catalog.columns.get(ref)
            if profile is not None and profile.main_storage == "text" and held(profile) is None:
                yield Note("text_as_number", f"{call.function} of {ref}, which holds text")
