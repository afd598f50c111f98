"""Units: a number of minutes compared with milliseconds, a thousand taken for one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from sqlwright.english.bounds import ANY_UNIT, NUMBER, measures, number_in
from sqlwright.english.cues import one_of
from sqlwright.english.vocabulary import NUMBERS, SCALES, UNITS
from sqlwright.english.words import singular, split_name
from sqlwright.local.form import nodes as f
from sqlwright.local.form.walking import exchanged, inside
from sqlwright.local.left_out.reading import Finding, Reading
from sqlwright.schema import ColumnRef
from sqlwright.types import Veto

_SCALES = {word: NUMBERS[word] for word in SCALES}
_SCALED = re.compile(rf"(?<![\w.]){NUMBER}\s+(?P<scale>{one_of(SCALES)})(?!\w)", re.IGNORECASE)
_SHOWN = re.compile(rf"(?<!\w)in (?P<unit>{ANY_UNIT})s?(?!\w)(?!\s+(?:of|\d))", re.IGNORECASE)
"""A unit in which something is to be shown."""


def measured_spans(text: str) -> tuple[tuple[int, int], ...]:
    """First character and end of each unit of a text: one with a number, or to show amounts in."""
    written = (match.span() for shape in (_SCALED, _SHOWN) for match in shape.finditer(text))
    return (*(one.span for one in measures(text)), *written)


def unit_as_value(form: f.Query, read: Reading) -> Iterator[Finding]:
    """A unit taken for a stored value: the megabytes of “100 MB” for the state MB."""
    spans = measured_spans(read.question)
    for match in read.values if spans else ():
        if match.span is None or not any(_within(match.span, span) for span in spans):
            continue
        compared = {f.Column(match.column), f.Literal(match.value)}
        if any({one.left, one.right} == compared for one in inside(form, f.Comparison)):
            told = f"“{match.phrase}” is a unit and is compared with {match.column}"
            yield Finding(Veto("unit", told))


def _within(inner: tuple[int, int], outer: tuple[int, int]) -> bool:
    """True if a range of characters is part of another one."""
    return inner != outer and outer[0] <= inner[0] and inner[1] <= outer[1]


def other_unit(form: f.Query, read: Reading) -> Iterator[Finding]:
    """A number with a unit, compared with a column that is named after another unit."""
    for one in measures(read.question):
        for comparison in _comparisons(form, one.number):
            column = comparison.left
            factor = _factor(one.unit, column.ref) if isinstance(column, f.Column) else None
            if isinstance(column, f.Column) and factor is not None and factor != 1:
                yield _times(factor, comparison, one.said, form, column.ref)


def unscaled(form: f.Query, read: Reading) -> Iterator[Finding]:
    """“5 thousand” compared as 5."""
    for match in _SCALED.finditer(read.question):
        for comparison in _comparisons(form, number_in(match)):
            scale = _SCALES[match.group("scale").casefold()]
            yield _times(scale, comparison, match.group(), form)


def _times(
    factor: float, comparison: f.Comparison, said: str, form: f.Query, ref: ColumnRef | None = None
) -> Finding:
    """That a number has to be compared as `factor` times as much."""
    number = _as_number(comparison.right.value) if isinstance(comparison.right, f.Literal) else None
    literal = f.Literal(_plain((number or 0.0) * factor))
    told = f"“{said}” is compared {f'with {ref} ' if ref else ''}as {_plain(number or 0.0)}"
    done = f"“{said}” is {literal}{f' in {ref}' if ref else ''}"
    mended = exchanged(form, comparison, replace(comparison, right=literal))
    return Finding(Veto("unit", told, done), mended)


def shown_in_other_unit(form: f.Query, read: Reading) -> Iterator[Finding]:
    """“In minutes”, shown in the unit that the column is named after."""
    match = _SHOWN.search(read.question)
    if match is None or not isinstance(form, f.Select):
        return
    unit = match.group("unit").casefold()
    items = tuple(_converted(item, unit) for item in form.items)
    if items != form.items:
        yield Finding(
            Veto("unit", f"it isn't shown {match.group()}", f"shown {match.group()}"),
            replace(form, items=items),
        )


def _converted(item: f.Expression | f.Star, unit: str) -> f.Expression | f.Star:
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
    words = [singular(word) for word in split_name(ref.column)]
    for units in UNITS:
        if unit in units:
            stored = {units[word] for word in words if word in units}
            return units[unit] / stored.pop() if len(stored) == 1 else None
    return None


def _comparisons(form: f.Query, number: float) -> Iterator[f.Comparison]:
    for comparison in inside(form, f.Comparison):
        literal = comparison.right
        if isinstance(literal, f.Literal) and _as_number(literal.value) == number:
            yield comparison


def _as_number(value: str | float) -> float | None:
    try:
        return float(value)
    except ValueError:
        return None


def _plain(number: float) -> int | float:
    """Whole numbers as such; floats without the noise of their last digits."""
    rounded = round(number, 9)
    return int(rounded) if rounded == int(rounded) else rounded
