"""The symbols a linearized query is made of. The order of KEYWORDS is frozen: models learn it."""

from __future__ import annotations

from typing import NamedTuple

from sqlwright.form.nodes import Literal
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
AGGREGATES = ("count", "sum", "avg", "min", "max", "group_concat", "total")
ARITHMETIC = ("+", "-", "*", "/", "%", "||", "ratio", "percent")
FUNCTIONS = {
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
"""Functions by number of arguments. `strftime` takes its format first, as a constant."""
CONDITIONALS = ("count_if", "iif", "when")
"""`count_if c` is SUM of 1 where c and 0 elsewhere; `iif c x y`; `when c x`, else NULL."""
MARKERS = ("outer", "second", "third")
DERIVED = ("derived_1", "derived_2", "derived_3")
ITEMS = tuple(f"item_{number}" for number in range(1, 13))
CONSTANTS: dict[str, int | str] = {
    **{str(number): number for number in (0, 1, 2, 3, 4, 10, 100, 365)},
    "empty": "",
}
"""Constants that need no pointer into the question."""
SPARE = tuple(f"spare_{number}" for number in range(10))

KEYWORDS: tuple[str, ...] = (
    *QUERY_WORDS,
    *CONDITION_WORDS,
    *OPERATORS,
    *AGGREGATES,
    *ARITHMETIC,
    *FUNCTIONS,
    *CONDITIONALS,
    *MARKERS,
    *DERIVED,
    *ITEMS,
    "rows",
    *CONSTANTS,
    *SPARE,
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
