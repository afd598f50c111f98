"""Differences between what two queries aggregate and calculate."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from sqlwright.lab.evaluation.error_classes.classes import ErrorClass, Finding
from sqlwright.lab.evaluation.error_classes.reading.said import Said
from sqlwright.lab.evaluation.error_classes.reading.subjects import Subject


def aggregates_differ(gold: Said, query: Said) -> Iterator[Finding]:
    """Aggregates, and what is to be the highest or lowest."""
    missing = [one for one in gold.aggregates if one not in query.aggregates]
    extra = [one for one in query.aggregates if one not in gold.aggregates]
    _take_means(missing, extra, query.aggregates)
    _take_means(extra, missing, gold.aggregates)
    for error, matches in _PAIRED:
        for one in list(missing):
            other = next((other for other in extra if matches(one, other)), None)
            if other is not None:
                missing.remove(one)
                extra.remove(other)
                yield Finding(error, f"gold takes {one}, the query {other}")
    for one in missing:
        yield Finding("aggregation", f"gold takes {one}, the query doesn't")
    for one in extra:
        yield Finding("aggregation", f"the query takes {one}, gold doesn't")
    yield from _extremes_differ(gold, query)


def _distinct_alone(one: Subject, other: Subject) -> bool:
    rows = not one.columns or not other.columns
    same = one.function == other.function and one.distinct != other.distinct
    return same and (rows or one.columns == other.columns)


def _same_argument(one: Subject, other: Subject) -> bool:
    return one.columns == other.columns


def _other_column(one: Subject, other: Subject) -> bool:
    return one.function == other.function and bool(one.columns and other.columns)


def _any(one: Subject, other: Subject) -> bool:
    return one != other


_PAIRED: tuple[tuple[ErrorClass, Callable[[Subject, Subject], bool]], ...] = (
    ("duplicates", _distinct_alone),
    ("aggregation", _same_argument),
    ("column", _other_column),
    ("aggregation", _any),
)
"""Pairs of aggregates that one query has in the place of the other's, the closest first."""


def _take_means(missing: list[Subject], extra: list[Subject], other: dict[Subject, None]) -> None:
    """Strike out a mean that the other query takes as a sum divided by a count."""
    for one in list(missing):
        whole = Subject(one.columns, "sum")
        counts = [each for each in other if each.function == "count"]
        if one.function == "avg" and whole in other and counts:
            missing.remove(one)
            extra[:] = [each for each in extra if each != whole and each.function != "count"]


def _extremes_differ(gold: Said, query: Said) -> Iterator[Finding]:
    missing = [key for key in gold.extremes if key not in query.extremes]
    extra = [key for key in query.extremes if key not in gold.extremes]
    _strike_unknown(missing, extra)
    for key in list(missing):
        subject, highest = key
        if (subject, not highest) in extra:
            missing.remove(key)
            extra.remove((subject, not highest))
            yield Finding(
                "order",
                f"gold takes {_end(highest)} of {subject}, the query {_end(not highest)}",
            )
    for (subject, highest), (other, end) in zip(list(missing), list(extra), strict=False):
        missing.remove((subject, highest))
        extra.remove((other, end))
        error: ErrorClass = "column" if subject.is_column and other.is_column else "order"
        yield Finding(
            error,
            f"gold takes {_end(highest)} of {subject}, the query {_end(end)} of {other}",
        )
    yield from _one_sided(gold, missing, "gold takes {}, the query doesn't")
    yield from _one_sided(query, extra, "the query takes {}, gold doesn't")


def _strike_unknown(missing: list[tuple[Subject, bool]], extra: list[tuple[Subject, bool]]) -> None:
    """Strike out the highest of what a query in FROM works out, where the other query works
    something out in place."""
    for ours, theirs in ((missing, extra), (extra, missing)):
        for key in [key for key in ours if key[0].is_unknown]:
            same = [other for other in theirs if other[1] == key[1] and not other[0].is_column]
            if same:
                ours.remove(key)
                theirs.remove(same[0])


def _one_sided(said: Said, keys: Sequence[tuple[Subject, bool]], words: str) -> Iterator[Finding]:
    for subject, highest in keys:
        error: ErrorClass = "order" if said.extremes[subject, highest] == "order" else "aggregation"
        yield Finding(error, words.format(f"{_end(highest)} of {subject}"))


def _end(highest: bool) -> str:
    return "the highest value" if highest else "the lowest value"


def calculations_differ(gold: Said, query: Said) -> Iterator[Finding]:
    """Functions, operators, numbers, parts of dates."""
    one, other = gold.calculated, query.calculated
    mean = any(call.function == "avg" for call in (*gold.aggregates, *query.aggregates))
    spared = {"/", "*"} if mean else set()
    for name in sorted(one.functions - other.functions - spared):
        yield Finding("calculation", f"gold uses {name}, the query doesn't")
    for name in sorted(other.functions - one.functions - spared):
        yield Finding("calculation", f"the query uses {name}, gold doesn't")
    if one.functions == other.functions:
        for number in sorted(one.numbers ^ other.numbers):
            first, second = ("gold", "the query")[:: 1 if number in one.numbers else -1]
            yield Finding("calculation", f"{first} calculates with {number:g}, {second} doesn't")
    parts = [_date_parts(said) for said in (gold, query)]
    for part in sorted(parts[0] ^ parts[1]):
        first, second = ("gold", "the query")[:: 1 if part in parts[0] else -1]
        yield Finding("calculation", f"{first} takes the part {part} of a date, {second} doesn't")


def _date_parts(said: Said) -> set[str]:
    """The parts of dates that are taken outside of conditions."""
    shown = [term for one in said.facts.selects for term in (*one.shown, *one.grouping)]
    ordered = [key.term for keys in said.facts.orders for key in keys]
    return {date.part for term in (*shown, *ordered) for date in term.dates}
