"""Operations that questions name and the intermediate form can't say, or only in some ways."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sqlwright.english.cues import SOME_NUMBER, whole_words
from sqlwright.form import nodes as f
from sqlwright.form.walking import inside


@dataclass(frozen=True)
class Operation:
    """Words that ask for an operation, and how a form says it if it can."""

    name: str
    asked: re.Pattern[str]
    said: Callable[[f.Query], bool] | None = None
    """None where it can't."""
    names: tuple[str, ...] = ()
    """Words that name it: where a column is called so, the column is meant."""


def _divides(form: f.Query) -> bool:
    return any(one.operator in {"/", "ratio", "percent"} for one in inside(form, f.Arithmetic))


def _sets_side_by_side(form: f.Query) -> bool:
    return isinstance(form, f.SetOperation) or bool(form.group_by or form.derived)


def _goes_through_all(form: f.Query) -> bool:
    within = any(one.negated for one in inside(form, f.InQuery))
    return _sets_side_by_side(form) or within or any(one.negated for one in inside(form, f.Exists))


OPERATIONS = (
    Operation("median", whole_words(r"median"), names=("median",)),
    Operation(
        "standard deviation",
        whole_words(r"standard deviations?|std\.? ?dev\w*|variance"),
        names=("deviation", "variance", "std", "stddev"),
    ),
    Operation(
        "percentile",
        whole_words(r"\w*percentiles?|quartiles?|deciles?|quantiles?"),
        names=("percentile", "quartile", "decile", "quantile"),
    ),
    Operation(
        "running total",
        whole_words(r"running (?:total|sum|count|average)\w*|cumulative\w*"),
        names=("running", "cumulative"),
    ),
    Operation(
        "change over time",
        whole_words(
            r"growth|yoy|mom"
            r"|(?:year|month|week|quarter)[- ](?:over|on)[- ](?:year|month|week|quarter)"
        ),
        names=("growth", "grow", "yoy", "mom"),
    ),
    Operation(
        "ranking within each group",
        whole_words(rf"(?:top|best|first|last|bottom|worst) {SOME_NUMBER}(?:\s+\S+){{1,6}}?"
             r"\s+(?:in|per|for|of|within|by|from) (?:each|every)"
             rf"|(?:top|best|bottom) {SOME_NUMBER}(?:\s+\S+){{1,4}}?\s+per"),
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
"""Operations that are looked for. The form says the last three in some ways; none of the others."""


def asked_operations(text: str) -> Iterator[tuple[int, int]]:
    """Start and end, in characters, of each request for one of them in a text."""
    for operation in OPERATIONS:
        yield from (match.span() for match in operation.asked.finditer(text))
