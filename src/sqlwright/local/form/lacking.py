"""Operations that questions name and that a query may lack, and how the form says them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sqlwright.english.cues import SOME_NUMBER, whole_words
from sqlwright.local.form import nodes as f
from sqlwright.local.form.read.patterns import deviation_of
from sqlwright.local.form.sequence.symbols import RANKS, WINDOW_AGGREGATES
from sqlwright.local.form.walking import changed, inside


@dataclass(frozen=True)
class Operation:
    """Words that ask for an operation, and how a form says it."""

    name: str
    asked: re.Pattern[str]
    said: Callable[[f.Query], bool]
    """True of a form that says it."""
    names: tuple[str, ...] = ()
    """Words that name it: where a column is called so, the column is meant."""
    mend: Callable[[f.Query], f.Query] | None = None
    """Makes a form say it that says something close to it; the form itself where it doesn't."""


def _divides(form: f.Query) -> bool:
    return any(one.operator in {"/", "ratio", "percent"} for one in inside(form, f.Arithmetic))


def _sets_side_by_side(form: f.Query) -> bool:
    return isinstance(form, f.SetOperation) or bool(form.group_by or form.derived)


def _goes_through_all(form: f.Query) -> bool:
    within = any(one.negated for one in inside(form, f.InQuery))
    return _sets_side_by_side(form) or within or any(one.negated for one in inside(form, f.Exists))


def _takes(*functions: str) -> Callable[[f.Query], bool]:
    """True if a form works out one of some aggregates."""
    return lambda form: any(one.function in functions for one in inside(form, f.Aggregate))


def _takes_median(form: f.Query) -> bool:
    return any(one.function == "median" or one.at == MIDDLE for one in inside(form, f.Aggregate))


def _takes_variance(form: f.Query) -> bool:
    """The square of a standard deviation, or what one is the root of."""
    squares = (one for one in inside(form, f.Function) if one.name == "power")
    return any(
        isinstance(one.arguments[0], f.Aggregate) and one == _squared(one.arguments[0])
        for one in squares
    ) or any(deviation_of(one) is not None for one in inside(form, f.Arithmetic))


def _squared(node: object) -> object:
    """The variance where a node is a standard deviation."""
    if isinstance(node, f.Aggregate) and node.function in _DEVIATIONS:
        return f.Function("power", (node, f.Literal(2)))
    return node


def _with_variances(form: f.Query) -> f.Query:
    return changed(form, _squared)


def _takes_percentile(form: f.Query) -> bool:
    parts = any(one.function == "ntile" for one in inside(form, f.Window))
    return parts or _takes("percentile")(form)


def _runs(form: f.Query) -> bool:
    aggregates = (one for one in inside(form, f.Window) if one.function in WINDOW_AGGREGATES)
    return any(one.order for one in aggregates)


def _sets_against_before(form: f.Query) -> bool:
    """One row's value and another's, or two that are each worked out, and their difference."""
    if any(one.function in {"lag", "lead"} for one in inside(form, f.Window)):
        return True
    differences = (one for one in inside(form, f.Arithmetic) if one.operator == "-")
    return any(_worked_out(one.left) and _worked_out(one.right) for one in differences)


def _worked_out(node: f.Expression) -> bool:
    return any(
        True for kind in (f.Aggregate, f.Subquery, f.DerivedColumn) for _ in inside(node, kind)
    )


def _ranks_within(form: f.Query) -> bool:
    ranks = (one for one in inside(form, f.Window) if one.function in RANKS)
    return any(one.partition for one in ranks)


_DEVIATIONS = ("stddev", "stddev_pop")
MIDDLE = 50
"""The percentile that is the median."""
OPERATIONS = (
    Operation("median", whole_words(r"median"), _takes_median, names=("median",)),
    Operation(
        "standard deviation",
        whole_words(r"standard deviations?|std\.? ?dev\w*"),
        _takes(*_DEVIATIONS),
        names=("deviation", "std", "stddev"),
    ),
    Operation(
        "variance",
        whole_words(r"variances?"),
        _takes_variance,
        names=("variance",),
        mend=_with_variances,
    ),
    Operation(
        "percentile",
        whole_words(r"\w*percentiles?|quartiles?|deciles?|quantiles?"),
        _takes_percentile,
        names=("percentile", "quartile", "decile", "quantile"),
    ),
    Operation(
        "running total",
        whole_words(r"running (?:total|sum|count|average)\w*|cumulative\w*"),
        _runs,
        names=("running", "cumulative"),
    ),
    Operation(
        "change over time",
        whole_words(
            r"growth|yoy|mom"
            r"|(?:year|month|week|quarter)[- ](?:over|on)[- ](?:year|month|week|quarter)"
        ),
        _sets_against_before,
        names=("growth", "grow", "yoy", "mom"),
    ),
    Operation(
        "ranking within each group",
        whole_words(rf"(?:top|best|first|last|bottom|worst) {SOME_NUMBER}(?:\s+\S+){{1,6}}?"
             r"\s+(?:in|per|for|of|within|by|from) (?:each|every)"
             rf"|(?:top|best|bottom) {SOME_NUMBER}(?:\s+\S+){{1,4}}?\s+per"),
        _ranks_within,
    ),
    Operation(
        "match with every one",
        whole_words(r"(?:by|in|from|at|with|to) every"),
        _goes_through_all,
    ),
    Operation(
        "comparison",
        whole_words(r"compared? (?:\S+ ){0,6}(?:with|to|against|and)|compared|versus|vs\.?"),
        _sets_side_by_side,
    ),
    Operation(
        "share",
        whole_words(
            r"percentage|what percent|percent of|share of|proportion of|ratio (?:of|between)"
        ),
        _divides,
        names=("percent", "percentage", "pct", "share", "proportion", "ratio", "rate"),
    ),
)  # fmt: skip
"""Operations that are looked for."""


def asked_operations(text: str) -> Iterator[tuple[int, int]]:
    """Start and end, in characters, of each request for one of them in a text."""
    for operation in OPERATIONS:
        yield from (match.span() for match in operation.asked.finditer(text))
