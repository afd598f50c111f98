"""The origin of a wrong answer: the step of the recipe that lost the first thing it needed.

CHASE-SQL's split (A.4) tells apart whether a right candidate was there; of questions without one,
what was missing before the queries were written is told as well.

The classes of errors stand in the order in which one of them is the main one. They unite those of
CHESS (appendix F) and CHASE-SQL (A.4); docs/measuring.md has the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from sqlwright.candidates import history
from sqlwright.lab.evaluation.views import Needed, ViewListener
from sqlwright.schema import ColumnRef, Schema
from sqlwright.sql.reading import columns_used, compared_texts, tables_used
from sqlwright.types import State

ErrorClass = Literal[
    "nothing", "gold", "table", "column", "key", "join", "literal", "condition",
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
    "key": "the wrong key between two tables",
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


OriginKind = Literal[
    "gold", "not_chosen", "repaired_away", "linked_away", "not_retrieved", "never_generated"
]
ORIGINS: dict[OriginKind, str] = {
    "not_retrieved": "a stored value that gold compares with wasn't found",
    "linked_away": "a column that gold reads was no longer shown",
    "never_generated": "all that is needed was there; no candidate is right",
    "repaired_away": "a candidate was right until it was repaired",
    "not_chosen": "a candidate is right and another one was chosen",
    "gold": "the gold query is doubtful",
}


@dataclass(frozen=True, slots=True)
class Origin:
    """The first thing that went wrong, and its step."""

    kind: OriginKind
    step: str = ""
    evidence: str = ""


@dataclass(frozen=True)
class Asked:
    """A question that was answered wrong, with what its run left."""

    gold_sql: str
    sql: str | None
    state: State
    schema: Schema
    needed: Needed
    views: ViewListener | None
    is_right: Callable[[str | None], bool]


def origin_of(asked: Asked, findings: Sequence[Finding]) -> Origin:
    """The first of what can be told: a right candidate at hand rules out all before it."""
    if findings and findings[0].error == "gold":
        return Origin("gold", evidence=findings[0].evidence)
    candidates = asked.state.candidates
    right = next((one for one in candidates if asked.is_right(one.sql)), None)
    if right is not None:
        return Origin("not_chosen", "selection", f"{right.source} wrote {right.sql}")
    for one in candidates:
        for earlier in list(history(one))[1:]:
            if asked.is_right(earlier.sql):
                return Origin("repaired_away", one.source, f"it was {earlier.sql}")
    return _missing_value(asked) or _hidden_column(asked) or Origin("never_generated", "generation")


def _missing_value(asked: Asked) -> Origin | None:
    """A text that gold compares a column with, in no query written, found by no retrieval and said
    by neither question nor evidence. Of recipes that look up values only."""
    if not (steps := asked.state.looked_up):
        return None
    question = asked.state.question
    said = f"{question.text} {question.evidence}".casefold()
    written = {
        each.text.casefold()
        for sql in _queries(asked)
        for each in compared_texts(sql, asked.schema)
    }
    found = {match.value.casefold() for match in asked.state.values}
    for one in compared_texts(asked.gold_sql, asked.schema):
        text = one.text.strip("%").casefold()
        if text and not one.pattern and text not in found | written and text not in said:
            return Origin(
                "not_retrieved", steps[0], f"gold compares {one.column} with {one.text!r}"
            )
    return None


def _hidden_column(asked: Asked) -> Origin | None:
    """A column that gold reads, that a step left out of the view and the answer doesn't read. Where
    gold names no column, a table."""
    if asked.views is None:
        return None
    read = set(columns_used(asked.sql, asked.schema)) if asked.sql else set[ColumnRef]()
    tables = {ref.table for ref in read} | set(tables_used(asked.sql or "", asked.schema.dialect))
    for step, shown in asked.views.shown():
        lost = [ref for ref in sorted(asked.needed.columns - shown) if ref not in read]
        if lost:
            return Origin("linked_away", step, f"gold reads {lost[0]}")
        hidden = asked.needed.tables - {ref.table for ref in shown} - tables
        if hidden:
            return Origin("linked_away", step, f"gold reads {min(hidden)}")
    return None


def _queries(asked: Asked) -> set[str]:
    written = {one.sql for one in asked.state.candidates}
    return written | ({asked.sql} if asked.sql else set())
