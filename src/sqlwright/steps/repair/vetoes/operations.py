"""Operations that a question names and the form can't say, answered by another one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from sqlwright.local import form as f
from sqlwright.local.lexical import stem
from sqlwright.local.walking import inside
from sqlwright.steps.repair.vetoes.reading import Finding, Reading, named_words
from sqlwright.types import Veto


@dataclass(frozen=True)
class Operation:
    """Words that ask for an operation, and how a form says it if it can."""

    name: str
    asked: re.Pattern[str]
    said: Callable[[f.Query], bool] | None = None
    """None where it can't."""
    names: tuple[str, ...] = ()
    """Words that name it: where a column is called so, the column is meant."""


def _cue(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{pattern})(?!\w)", re.IGNORECASE)


def _divides(form: f.Query) -> bool:
    return any(one.operator in {"/", "ratio", "percent"} for one in inside(form, f.Arithmetic))


def _sets_side_by_side(form: f.Query) -> bool:
    return isinstance(form, f.SetOperation) or bool(form.group_by or form.derived)


def _rounds(form: f.Query) -> bool:
    return any(one.name in {"round", "round_to", "integer"} for one in inside(form, f.Function))


OPERATIONS = (
    Operation("median", _cue(r"median"), names=("median",)),
    Operation(
        "standard deviation",
        _cue(r"standard deviations?|std\.? ?dev\w*|variance"),
        names=("deviation", "variance", "std", "stddev"),
    ),
    Operation(
        "percentile",
        _cue(r"\w*percentiles?|quartiles?|deciles?|quantiles?"),
        names=("percentile", "quartile", "decile", "quantile"),
    ),
    Operation(
        "running total",
        _cue(r"running (?:total|sum|count|average)\w*|cumulative\w*"),
        names=("running", "cumulative"),
    ),
    Operation(
        "change over time",
        _cue(r"growth|(?:year|month|week|quarter)[- ](?:over|on)[- ](?:year|month|week|quarter)"
             r"|yoy|mom"),
        names=("growth", "grow", "yoy", "mom"),
    ),
    Operation(
        "ranking within each group",
        _cue(r"(?:top|best|first|last|bottom|worst) (?:\d+|two|three|four|five|ten)(?:\s+\S+){1,6}?"
             r"\s+(?:in|per|for|of|within|by|from) (?:each|every)"
             r"|(?:top|best|bottom) (?:\d+|two|three|four|five|ten)(?:\s+\S+){1,4}?\s+per"),
    ),
    Operation(
        "comparison",
        _cue(r"compared? (?:\S+ ){0,6}(?:with|to|against|and)|compared|versus|vs\.?"),
        _sets_side_by_side,
    ),
    Operation(
        "share",
        _cue(r"percentage|what percent|percent of|share of|proportion of|ratio (?:of|between)"),
        _divides,
        names=("percent", "percentage", "pct", "share", "proportion", "ratio", "rate"),
    ),
)  # fmt: skip
"""What is looked for. The form says the last two in some ways; none of the others."""


def lacking(form: f.Query, read: Reading) -> Iterator[Finding]:
    """An operation that the question asks for and the query doesn't work out."""
    named = named_words(form, read.schema)
    for operation in OPERATIONS:
        match = operation.asked.search(read.question)
        if match is None or (operation.said is not None and operation.said(form)):
            continue
        if named & set(map(stem, operation.names)):
            continue
        told = f"“{match.group()}” asks for a {operation.name}, which this query doesn't work out"
        yield Finding(Veto("operation", told))


_PLACES = {"second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4, "fifth": 5, "5th": 5}
_NTH = _cue(rf"(?P<place>{'|'.join(_PLACES)})[- ](?:most|least|fewest|\w+est|best|worst)")


def later_place(form: f.Query, read: Reading) -> Iterator[Finding]:
    """“Second most”, answered by the first."""
    match = _NTH.search(read.question)
    if match is None or not isinstance(form, f.Select) or not form.order_by:
        return
    place = _PLACES[match.group("place").casefold()]
    if form.limit != 1 or form.offset:
        return
    yield Finding(
        Veto(
            "place",
            f"“{match.group()}” is answered by the first",
            f"“{match.group()}” is place {place} of that order",
        ),
        replace(form, offset=place - 1),
    )


_ROUNDED = _cue(
    r"round(?:ed)?(?: off)?(?: (?:to|at) (?P<digits>\d|zero|one|two|three|four)"
    r"(?: (?:decimals?|digits?|places?))+)?"
)
_DIGITS = {"zero": 0, "one": 1, "two": 2, "three": 3, "four": 4}


def unrounded(form: f.Query, read: Reading) -> Iterator[Finding]:
    """“Rounded to two decimals”, answered by all of them."""
    match = _ROUNDED.search(read.question)
    if match is None or not isinstance(form, f.Select) or _rounds(form):
        return
    if "round" in named_words(form, read.schema):
        return
    said = match.group("digits")
    digits = 0 if said is None else _DIGITS.get(said.casefold(), int(said) if said.isdigit() else 0)
    items = tuple(_rounded(item, digits) for item in form.items)
    if items == form.items:
        return
    yield Finding(
        Veto("round", "it isn't rounded", f"rounded to {digits} decimal{'s' * (digits != 1)}"),
        replace(form, items=items),
    )


def _rounded(item: f.Expression | f.Star, digits: int) -> f.Expression | f.Star:
    fractional = isinstance(item, f.Arithmetic) or (
        isinstance(item, f.Aggregate) and item.function in {"avg", "sum", "total"}
    )
    if not fractional or isinstance(item, f.Star):
        return item
    return f.Function("round_to", (item, f.Literal(digits)))
