"""Reasons to doubt a gold query, as far as code can find them.

Only what is wrong with the gold query itself counts. That many candidates agree on another result
is none: models make the same mistakes. That it returns nothing, or that its LIMIT cuts through
equal rows, is a weak one: a query that differs in something else as well is wrong for that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlwright.lab.evaluation.error_classes.classes import Finding
from sqlwright.lab.evaluation.error_classes.reading.said import Said
from sqlwright.sql.tied import cuts
from sqlwright.types import ExecutionResult

Execute = Callable[[str], ExecutionResult]


def gold_doubts(gold: Said, result: ExecutionResult, execute: Execute) -> Iterator[Finding]:
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


def _arbitrary_columns(gold: Said) -> list[str]:
    """Columns shown beside an aggregate that nothing ties to its group. With one MAX or MIN SQLite
    takes the row where it is."""
    first = gold.facts.first
    calls = first.aggregates
    if not calls or len(first.tables) == 0 or any(c.function in {"min", "max"} for c in calls):
        return []
    if first.grouping:
        return []
    plain = [term.column for term in first.shown if term.column is not None]
    fixed = {
        ref for one in gold.asked.conditions if one.operator == "=" for ref in one.subject.columns
    }
    return [str(ref) for ref in plain if gold.same.root(ref) not in fixed]
