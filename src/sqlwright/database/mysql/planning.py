"""A plan that MySQL or MariaDB gives as JSON, as an estimate of what a query takes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from sqlwright.protocols import Limits
from sqlwright.types.plans import QueryCost

PLAN_LIMITS = Limits(seconds=5.0, rows=10)
"""Nothing of a query runs when it is explained."""
_ACCESS = {
    "ALL": "every row", "index": "a whole index", "range": "a range of an index",
    "ref": "rows by an index", "eq_ref": "a row by a key", "const": "one row",
    "system": "one row", "ref_or_null": "rows by an index", "fulltext": "a full-text index",
    "index_merge": "several indexes",
}  # fmt: skip
_DEEPEST = 10
"""Levels that are indented."""
_BLOCKED = "block-nl-join"
"""MariaDB's join that reads its table once for many rows."""


def read_cost(text: str) -> QueryCost:
    """The estimate that a plan holds."""
    try:
        plan = json.loads(text)
    except ValueError:
        return QueryCost()
    if not isinstance(plan, dict):
        return QueryCost()
    block = plan.get("query_block", {})
    scanned, rows = _scanned(block)
    return QueryCost(
        rows=rows,
        scanned_rows=scanned,
        units=_units(block),
        outline=tuple(_outline(plan, 0)),
    )


def _scanned(node: Any) -> tuple[float, float | None]:
    """Rows that are read below a node, and rows that come out of its joins."""
    if isinstance(node, list):
        found = [_scanned(one) for one in node]
        return sum(read for read, _ in found), None
    if not isinstance(node, dict):
        return 0.0, None
    read, rows = 0.0, None
    for name, value in node.items():
        if name == "nested_loop" and isinstance(value, list):
            more, rows = _joined(value)
        elif name == "table" and isinstance(value, dict):
            more, rows = _table(value)
        else:
            more, inner = _scanned(value)
            rows = inner if rows is None else rows
        read += more
    return read, rows


def _joined(steps: list[Any]) -> tuple[float, float | None]:
    """Each table of a nested loop is read for every row of those before it."""
    read, rows = 0.0, 1.0
    for step in steps:
        if not isinstance(step, dict):
            continue
        blocked = step.get(_BLOCKED)
        inner = blocked if isinstance(blocked, dict) else step
        table = inner.get("table")
        if not isinstance(table, dict):
            read += _scanned(step)[0]
            continue
        own, kept = _table(table)
        read += own if blocked else own * max(rows, 1.0)
        rows *= kept or 0.0
    return read, rows


def _table(table: Mapping[str, Any]) -> tuple[float, float | None]:
    below = sum(_scanned(value)[0] for value in table.values() if isinstance(value, (dict, list)))
    own = _number(table.get("rows", table.get("rows_examined_per_scan")))
    share = _number(table.get("filtered"))
    own = 1.0 if own is None else own
    return own + below, own * (100.0 if share is None else share) / 100


def _units(block: Any) -> float | None:
    if not isinstance(block, dict):
        return None
    info = block.get("cost_info")
    return _number(info.get("query_cost") if isinstance(info, dict) else block.get("cost"))


def _number(value: object) -> float | None:
    try:
        return float(str(value)) if value is not None else None
    except ValueError:
        return None


def _outline(node: Any, depth: int) -> Iterator[str]:
    if isinstance(node, list):
        for one in node:
            yield from _outline(one, depth)
    if not isinstance(node, dict):
        return
    for name, value in node.items():
        if name == "table" and isinstance(value, dict):
            yield "  " * min(depth, _DEEPEST) + _line(value)
            yield from _outline(
                [part for part in value.values() if isinstance(part, (dict, list))], depth + 1
            )
        elif isinstance(value, (dict, list)):
            named = name in {"filesort", "temporary_table", "grouping_operation",
                             "ordering_operation", "duplicates_removal", "union_result",
                             "window_functions_computation", "materialized"}  # fmt: skip
            if named:
                yield "  " * min(depth, _DEEPEST) + name.replace("_", " ")
            yield from _outline(value, depth + named)


def _line(table: Mapping[str, Any]) -> str:
    name = table.get("table_name", "a message")
    access = str(table.get("access_type", ""))
    key = f" by {table['key']}" if table.get("key") else ""
    rows = _number(table.get("rows", table.get("rows_examined_per_scan")))
    about = "" if rows is None else f", about {rows:,.0f} rows"
    return f"{name}: {_ACCESS.get(access, access or table.get('message', ''))}{key}{about}"
