"""The classes that hold of a wrong answer, from its query, gold, and what both gave."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sqlwright.lab.evaluation.error_classes.classes import Finding, ranked
from sqlwright.lab.evaluation.error_classes.comparing.conditions import conditions_differ
from sqlwright.lab.evaluation.error_classes.comparing.rows import rows_differ, shown_differ
from sqlwright.lab.evaluation.error_classes.comparing.tables import tables_differ
from sqlwright.lab.evaluation.error_classes.comparing.values import (
    aggregates_differ,
    calculations_differ,
)
from sqlwright.lab.evaluation.error_classes.doubt import gold_doubts
from sqlwright.lab.evaluation.error_classes.ignored import ignored_evidence
from sqlwright.lab.evaluation.error_classes.reading.said import Said
from sqlwright.lab.evaluation.error_classes.reading.subjects import SameColumns
from sqlwright.lab.evaluation.error_classes.results import from_results
from sqlwright.schema import Schema
from sqlwright.sql.reading import read_facts
from sqlwright.types import ExecutionResult


@dataclass(frozen=True)
class WrongAnswer:
    """An answer that the data set's rule calls wrong. Of a right one nothing is asked."""

    gold_sql: str
    gold: ExecutionResult
    sql: str | None
    """None where there is no query."""
    result: ExecutionResult
    evidence: str = ""
    reason: str = ""
    """The cause where there is no query; may be empty."""
    ordered: bool = False
    """True if the rule compares rows in order here."""
    columns_in_order: bool = False
    """True if the rule compares columns in order."""
    repeats_count: bool = True
    """True if the rule counts how often a row comes."""

    @property
    def repeats(self) -> bool:
        """True if that the query gives a row more than once may be what is wrong."""
        return self.repeats_count and len(set(self.result.rows)) < len(self.result.rows)


def classify(
    wrong: WrongAnswer, schema: Schema, execute: Callable[[str], ExecutionResult]
) -> tuple[Finding, ...]:
    """The classes that hold, the main one first; `unclear` where code finds nothing.

    Where the two results prove that one thing alone differs, that is all that is told: what else
    the queries say differently makes no difference. `execute` runs a query of this module's own.
    """
    if wrong.sql is None:
        reason = f": {wrong.reason}" if wrong.reason else ""
        return (Finding("nothing", f"there is no query{reason}"),)
    if wrong.result.error is not None:
        error = wrong.result.error
        return (Finding("nothing", f"the query fails ({error.kind}): {error.message}"),)
    if wrong.result.cut:
        return (Finding("nothing", "the query's result is too large to be compared"),)
    gold, query = read_both(wrong.gold_sql, wrong.sql, schema)
    if gold is None or query is None:
        return (Finding("unclear", "one of the queries can't be read"),)
    doubts = tuple(gold_doubts(gold, wrong.gold, execute))
    proven = from_results(wrong.gold, wrong.result, in_order=wrong.columns_in_order)
    found: list[Finding] = [*doubts]
    if proven is not None:
        found.append(proven)
        found += calculations_differ(gold, query) if proven.error == "calculation" else ()
    else:
        found += tables_differ(gold, query)
        found += shown_differ(gold, query, in_order=wrong.columns_in_order)
        found += conditions_differ(gold, query)
        found += aggregates_differ(gold, query)
        found += calculations_differ(gold, query)
        found += rows_differ(gold, query, ordered=wrong.ordered, repeats=wrong.repeats)
        found += ignored_evidence(gold, query, wrong.evidence)
    return ranked(found) or (Finding("unclear", "code finds no difference"),)


def read_both(gold_sql: str, sql: str, schema: Schema) -> tuple[Said | None, Said | None]:
    """Both queries, read with the same columns taken for equal: those that keys join, and gold."""
    facts, other = read_facts(gold_sql, schema), read_facts(sql, schema)
    if facts is None:
        return None, None
    joined = [pair for one in facts.selects for join in one.joins for pair in join.pairs]
    same = SameColumns(schema, joined)
    gold = Said(gold_sql, facts, schema, same)
    return gold, None if other is None else Said(sql, other, schema, same)
