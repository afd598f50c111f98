"""DuckDB's plan of a query as an estimate of its cost."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from sqlwright.presentation.numbers import counted
from sqlwright.types.plans import QueryCost
from sqlwright.types.results import ExecutionError

_ROWS = "Estimated Cardinality"
_SHOWN = ("Table", "Function", "Filters", "Conditions", "Groups", "Aggregates", "Order By", "Top")
"""Entries of a step that are shown."""
_MOST_CHARACTERS = 120
"""Characters of a step's line that are shown at most; the rest is cut."""
_DEEPEST = 10
"""Levels of a plan that are indented."""


def read_cost(plan: str) -> QueryCost:
    """The cost that a plan in JSON tells."""
    try:
        roots = json.loads(plan)
        steps = [step for root in roots for step in _steps(root, 0)]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return QueryCost(error=ExecutionError("sql", "the engine's plan can't be read"))
    scanned = [_number(step) for _, step in steps if not step.get("children")]
    rows = next((n for _, step in steps if (n := _number(step)) is not None), None)
    known = [number for number in scanned if number is not None]
    return QueryCost(
        rows=rows,
        scanned_rows=sum(known) if known else None,
        outline=tuple("  " * min(depth, _DEEPEST) + _line(step) for depth, step in steps),
    )


def _steps(step: Mapping[str, Any], depth: int) -> Iterator[tuple[int, Mapping[str, Any]]]:
    yield depth, step
    for child in step.get("children", ()):
        yield from _steps(child, depth + 1)


def _number(step: Mapping[str, Any]) -> float | None:
    written = (step.get("extra_info") or {}).get(_ROWS)
    try:
        return None if written is None else float(str(written))
    except ValueError:
        return None


def _line(step: Mapping[str, Any]) -> str:
    told = step.get("extra_info") or {}
    parts = []
    for key in _SHOWN:
        value = told.get(key)
        if value:
            text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
            parts.append(text.replace('"sqlwright_stored".', "").replace("sqlwright_stored.", ""))
    name = str(step.get("name", "")).replace("_", " ").strip().capitalize()
    text = f"{name} {'; '.join(parts)}".replace("\n", " ").strip()
    text = text if len(text) <= _MOST_CHARACTERS else text[: _MOST_CHARACTERS - 1] + "…"
    rows = _number(step)
    return text if rows is None else f"{text} (about {counted(round(rows), 'row')})"
