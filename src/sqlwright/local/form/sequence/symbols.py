"""The symbols a linearized query is made of.

The order of KEYWORDS is frozen: models learn it. New ones go to the end; a model that doesn't know
them is never asked about them.
"""

from __future__ import annotations

from typing import NamedTuple

from sqlwright.local.form.nodes import Literal
from sqlwright.schema import ColumnRef

SET_OPERATORS = ("union", "union_all", "intersect", "except")
QUERY_WORDS = (
    "end",
    "select",
    "distinct",
    "with",
    "from",
    "join",
    "left",
    "cross",
    "where",
    "group",
    "having",
    "asc",
    "desc",
    "limit_1",
    "limit",
    "offset",
    *SET_OPERATORS,
)
CONDITION_WORDS = ("and", "or", "not", "(", ")", "exists", "not_exists")
COMPARISONS = ("=", "!=", "<", ">", "<=", ">=")
LIKES = ("contains", "starts", "ends", "matches")
OPERATORS = (
    *COMPARISONS,
    "between",
    "not_between",
    "in",
    "not_in",
    *LIKES,
    *(f"not_{kind}" for kind in LIKES),
    "is_null",
    "not_null",
)
_FIRST_AGGREGATES = ("count", "sum", "avg", "min", "max", "group_concat", "total")
LATER_AGGREGATES = ("median", "stddev", "stddev_pop", "percentile")
AGGREGATES = (*_FIRST_AGGREGATES, *LATER_AGGREGATES)
RANKS = ("row_number", "rank", "dense_rank")
"""Windows without an operand."""
NEIGHBOURS = ("lag", "lead", "first_value")
"""Windows of another row's value."""
WINDOWS = (*RANKS, "ntile", *NEIGHBOURS, "over")
"""`over` makes a window of the aggregate behind it. The parts of a window end with `end`."""
WINDOW_AGGREGATES = ("count", "sum", "avg", "min", "max")
WINDOW_WORDS = (*WINDOWS, "per", "moving")
LATER_QUERY_WORDS = ("keep", "shown", "on")
"""`keep w = n` keeps the rows whose window is so; `shown item_n` is an item of this SELECT, in its
order; `on c` is a further condition of a LEFT JOIN."""
ARITHMETIC = ("+", "-", "*", "/", "%", "||", "ratio", "percent")
_FIRST_FUNCTIONS = {
    "abs": 1,
    "round": 1,
    "round_to": 2,
    "upper": 1,
    "lower": 1,
    "length": 1,
    "trim": 1,
    "trim_of": 2,
    "replace": 3,
    "substr": 2,
    "substr_to": 3,
    "instr": 2,
    "real": 1,
    "integer": 1,
    "text": 1,
    "year": 1,
    "month": 1,
    "day": 1,
    "strftime": 2,
    "date": 1,
    "time": 1,
    "datetime": 1,
    "julianday": 1,
    "coalesce": 2,
    "nullif": 2,
    "greatest": 2,
    "least": 2,
    "now": 0,
}
TEXT_FORMATS = ("from_dmy", "from_mdy", "from_compact", "from_dmy_time", "from_mdy_time")
"""Texts as dates: 31/01/2024, 01/31/2024, 20240131 (a number, too); with a time behind them."""
AMOUNTS = ("amount", "amount_comma", "decimal_comma")
"""Texts as numbers: $1,234.50; 1.234,50 €; 1234,50 €."""
DATE_PARTS = (
    *("weekday", "hour", "minute", "week", "year_month", "quarter", "month_day"),
    *("weekday_name", "month_name"),
)
LATER_FUNCTIONS = {
    **dict.fromkeys(TEXT_FORMATS, 1),
    **dict.fromkeys(AMOUNTS, 1),
    **dict.fromkeys(DATE_PARTS, 1),
    "from_seconds": 1,
    "from_milliseconds": 1,
    "start_of_month": 1,
    "start_of_year": 1,
    "days_after": 2,
    "days_before": 2,
    "months_after": 2,
    "months_before": 2,
    "years_after": 2,
    "years_before": 2,
    "days_between": 2,
    "seconds_between": 2,
    "sqrt": 1,
    "power": 2,
    "sign": 1,
    "ceiling": 1,
    "floor": 1,
}
FUNCTIONS = {**_FIRST_FUNCTIONS, **LATER_FUNCTIONS}
"""Functions by number of arguments. `strftime` takes its format first, as a constant;
`days_between` the later date first."""
CONDITIONALS = ("count_if", "iif", "when")
"""`count_if c` is SUM of 1 where c and 0 elsewhere; `iif c x y`; `when c x`, else NULL."""
MARKERS = ("outer", "second", "third")
DERIVED = ("derived_1", "derived_2", "derived_3")
ITEMS = tuple(f"item_{number}" for number in range(1, 13))
FIRST_CONSTANTS: dict[str, int | float | str] = {
    **{str(number): number for number in (0, 1, 2, 3, 4, 10, 100, 365)},
    "empty": "",
}
"""Constants that are never pointed at."""
_NUMBERS = (
    *(5, 6, 7, 8, 9, 12, 15, 20, 24, 25, 30, 50, 52, 60, 75, 90, 95, 99, 1000, 1024, 1440, 3600),
    *(10_000, 60_000, 86_400, 1_000_000, 1_048_576, 1_000_000_000, 0.5, 1.0, 100.0),
)
LATER_CONSTANTS: dict[str, int | float | str] = {
    **{f"number_{number}": number for number in _NUMBERS},
    "blank": " ",
    "dash": "-",
    "comma": ", ",
    **{f"text_{number}": str(number) for number in range(7)},
    **{f"text_{number:02}": f"{number:02}" for number in range(1, 13)},
}
"""Constants that are pointed at where the question says them: units, percentiles, what stands
between joined texts, days of the week, months."""
CONSTANTS = {**FIRST_CONSTANTS, **LATER_CONSTANTS}
"""Constants that need no pointer into the question."""
SPARE = tuple(f"spare_{number}" for number in range(10))

KEYWORDS: tuple[str, ...] = (
    *QUERY_WORDS,
    *CONDITION_WORDS,
    *OPERATORS,
    *_FIRST_AGGREGATES,
    *ARITHMETIC,
    *_FIRST_FUNCTIONS,
    *CONDITIONALS,
    *MARKERS,
    *DERIVED,
    *ITEMS,
    "rows",
    *FIRST_CONSTANTS,
    *SPARE,
    # Since the second generation:
    *WINDOW_WORDS,
    *LATER_QUERY_WORDS,
    *LATER_AGGREGATES,
    *LATER_FUNCTIONS,
    *LATER_CONSTANTS,
)


class Keyword(NamedTuple):
    """A word of the grammar, by its position in KEYWORDS."""

    position: int

    @property
    def name(self) -> str:
        return KEYWORDS[self.position]

    def __str__(self) -> str:
        return self.name


class TableSymbol(NamedTuple):
    """A table by its exact stored name."""

    name: str

    def __str__(self) -> str:
        return f"{self.name}.*"


Symbol = Keyword | ColumnRef | TableSymbol | Literal


def keyword_name(symbol: Symbol | None) -> str:
    """A keyword's name; empty for anything else."""
    return symbol.name if isinstance(symbol, Keyword) else ""


BY_NAME: dict[str, Keyword] = {name: Keyword(index) for index, name in enumerate(KEYWORDS)}
"""Every keyword by its name."""

_OF_CONSTANT = {(type(value), value): BY_NAME[name] for name, value in LATER_CONSTANTS.items()}


def constant_word(value: str | float) -> Keyword | None:
    """The keyword of a constant that the question may not say; None where there is none."""
    return _OF_CONSTANT.get((type(value), value))
