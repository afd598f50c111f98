"""The classes of errors, and the order in which one of them is the main one.

They unite those of CHESS (appendix F) and CHASE-SQL (A.4); docs/measuring.md has the table.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

ErrorClass = Literal[
    "nothing", "gold", "table", "column", "join", "literal", "condition",
    "calculation", "aggregation", "grouping", "duplicates", "order", "limit", "shape",
    "evidence", "unclear",
]  # fmt: skip

CLASSES: tuple[ErrorClass, ...] = get_args(ErrorClass)
"""In the order in which the first that holds is the main one: no query before everything, then what
makes the comparison void, then the cause before its consequences. A query over the wrong table has
the wrong columns and the wrong rows as well. Evidence comes last: it may name all that gold uses,
so what is wrong says more, and that the evidence named it is told beside."""

MEANINGS: dict[str, str] = {
    "nothing": "no query: refused, failed, an error when it runs, too slow",
    "gold": "the gold query is doubtful",
    "evidence": "what the evidence names is left out",
    "table": "a table too many, too few, or another one",
    "column": "another column in the same place",
    "join": "tables joined otherwise",
    "literal": "a column compared with another value",
    "condition": "a condition too many, too few, or with another operator",
    "calculation": "another function, operation, rounding or part of a date",
    "aggregation": "another aggregate, or one too many or too few",
    "grouping": "rows grouped by something else",
    "duplicates": "rows or values counted once or more than once",
    "order": "rows in another order, or the other end of it",
    "limit": "another number of rows kept",
    "shape": "columns too many, too few, or in another order",
    "unclear": "code finds no difference",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One class that holds of a wrong answer, and what shows it."""

    error: ErrorClass
    evidence: str
    """In words, such as "gold compares orders.status with 'open', the query with 'Open'"."""
    weak: bool = False
    """True of a doubt that explains nothing: the main class is any other that holds."""


def ranked(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings, each once, the main one first."""
    unique = dict.fromkeys(findings)
    return tuple(sorted(unique, key=lambda one: (one.weak, CLASSES.index(one.error))))
