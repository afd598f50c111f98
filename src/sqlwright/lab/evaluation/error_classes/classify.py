"""The classes that hold of a wrong answer, from its query, gold, and what both gave."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from sqlwright.candidates import cell_key
from sqlwright.lab.evaluation.error_classes.differences import (
    aggregates_differ,
    calculations_differ,
    conditions_differ,
    ignored_evidence,
    rows_differ,
    shown_differ,
    tables_differ,
)
from sqlwright.lab.evaluation.error_classes.origins import Finding, ranked
from sqlwright.lab.evaluation.error_classes.reading import Reading, SameColumns
from sqlwright.presentation.cells import plain_text
from sqlwright.schema import Schema
from sqlwright.sql.reading import read_facts
from sqlwright.sql.tied import cuts
from sqlwright.types import Cell, ExecutionResult


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


def read_both(gold_sql: str, sql: str, schema: Schema) -> tuple[Reading | None, Reading | None]:
    """Both queries, read with the same columns taken for equal: those that keys join, and gold."""
    facts, other = read_facts(gold_sql, schema), read_facts(sql, schema)
    if facts is None:
        return None, None
    joined = [pair for one in facts.selects for join in one.joins for pair in join.pairs]
    same = SameColumns(schema, joined)
    gold = Reading(gold_sql, facts, schema, same)
    return gold, None if other is None else Reading(sql, other, schema, same)


Execute = Callable[[str], ExecutionResult]


def gold_doubts(gold: Reading, result: ExecutionResult, execute: Execute) -> Iterator[Finding]:
    """The reasons for which the gold result can't tell right from wrong."""
    bare = _arbitrary_columns(gold)
    if bare:
        said = f"gold shows {', '.join(bare)} beside an aggregate without grouping by it"
        yield Finding("gold", f"{said}: any of the group's values may come")
    elif not result.rows:
        yield Finding("gold", "gold gives no rows", weak=True)
    limit = gold.facts.limit
    full = limit is not None and 0 < limit <= len(result.rows)
    cut = next(cuts(gold.sql, gold.schema.dialect, 1), None) if full else None
    if cut is None or limit is None or not cut.whole or cut.first:
        return
    found, count = execute(cut.sql), len(gold.facts.order)
    if not found.ok or len(found.rows) <= limit:
        return
    last, beyond = found.rows[limit - 1], found.rows[limit]
    if last[-count:] == beyond[-count:] and last != beyond:
        said = f"the last of the {limit} and the next are equal by its order"
        if limit == 1:
            said = "the first and the second are equal by its order"
        yield Finding("gold", f"which rows gold keeps is chance: {said}", weak=True)


def _arbitrary_columns(gold: Reading) -> list[str]:
    """Columns shown beside an aggregate that nothing ties to its group. With one MAX or MIN SQLite
    takes the row where it is."""
    first = gold.facts.first
    calls = first.aggregates
    if not calls or len(first.tables) == 0 or any(c.function in {"min", "max"} for c in calls):
        return []
    if first.grouping:
        return []
    plain = [term.column for term in first.shown if term.column is not None]
    fixed = {ref for one in gold.conditions if one.operator == "=" for ref in one.subject.columns}
    return [str(ref) for ref in plain if gold.same.root(ref) not in fixed]


Row = tuple[object, ...]
SHOWN = 8
"""Rows, and columns, that are kept of a result."""
CELL = 80
"""Characters that are kept of a text."""
LOOSE = 2
"""Digits after the point to which numbers that were rounded differently are still equal."""


def from_results(
    gold: ExecutionResult, query: ExecutionResult, *, in_order: bool
) -> Finding | None:
    """The one thing that differs, where the rows prove that all else is the same.

    The same rows in another order, the same ones more or less often, the same with columns more or
    less, the same but for rounding or type. None where the rows themselves differ, or where there
    are none.
    """
    ours, theirs = _rows(gold), _rows(query)
    if not ours or not theirs:
        return None
    width, other = len(gold.rows[0]), len(query.rows[0])
    if width == other:
        if Counter(ours) == Counter(theirs):
            return Finding("order", "the same rows in another order")
        if set(ours) == set(theirs):
            return Finding(
                "duplicates",
                f"the same rows, {len(ours):,} in gold's result, {len(theirs):,} in the query's",
            )
        turned = _arranged(theirs, ours)
        if turned and in_order:
            return Finding("shape", "the columns are the same in another order")
        if turned:
            return Finding("order", "the same rows in another order")
        return _nearly(gold.rows, query.rows)
    wide, narrow = (ours, theirs) if width > other else (theirs, ours)
    if len(wide) > 1 and len(wide) == len(narrow) and _arranged(wide, narrow):
        names = (gold if width > other else query).columns
        more = f"{max(width, other)} columns ({', '.join(names[:6])}) against {min(width, other)}"
        who = "the query shows fewer" if width > other else "the query shows more"
        return Finding("shape", f"the same rows, but {who}: {more}")
    return None


def preview(result: ExecutionResult) -> dict[str, Any]:
    """The beginning of a result as JSON types, for whoever looks at it later."""
    if result.error is not None:
        return {"error": result.error.message}
    rows = [[_short(cell) for cell in row[:SHOWN]] for row in result.rows[:SHOWN]]
    return {"columns": list(result.columns[:SHOWN]), "rows": rows, "count": len(result.rows)}


def _short(cell: Cell) -> str | int | float | None:
    if isinstance(cell, bytes):
        return f"x'{cell[:16].hex()}'"
    if cell is None or isinstance(cell, int | float):
        return cell
    text = plain_text(cell)
    return f"{text[:CELL]}…" if len(text) > CELL else text


def _rows(result: ExecutionResult) -> list[Row]:
    return [tuple(cell_key(cell) for cell in row) for row in result.rows]


def _arranged(wide: Sequence[Row], narrow: Sequence[Row]) -> bool:
    """True if some of the columns of one, each used once, give the rows of the other."""
    have = [Counter(column) for column in zip(*wide, strict=True)]
    want = [Counter(column) for column in zip(*narrow, strict=True)]
    chosen: list[int] = []
    for column in want:
        place = next((i for i, h in enumerate(have) if h == column and i not in chosen), None)
        if place is None:
            return False
        chosen.append(place)
    return Counter(tuple(row[i] for i in chosen) for row in wide) == Counter(narrow)


def _nearly(gold: Sequence[Row], query: Sequence[Row]) -> Finding | None:
    """Rows that only rounding or the type of their cells tells apart."""
    if Counter(_loosely(gold)) == Counter(_loosely(query)):
        return Finding("calculation", "the same rows but for rounding or the type of values")
    return None


def _loosely(rows: Sequence[Sequence[object]]) -> list[Row]:
    return [tuple(_loose(cell) for cell in row) for row in rows]


def _loose(cell: object) -> object:
    if isinstance(cell, str):
        try:
            cell = float(cell)
        except ValueError:
            return cell
    if isinstance(cell, int | float | Decimal):
        return round(float(cell), LOOSE) + 0.0
    return cell
