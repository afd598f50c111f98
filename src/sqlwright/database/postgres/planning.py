"""The cost of a query, from the server's plan for it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlwright.database.reader import DatabaseReader
from sqlwright.presentation.numbers import counted
from sqlwright.types.plans import QueryCost

EXPLAIN = "EXPLAIN (FORMAT JSON, VERBOSE)"
PAGES = """
    SELECT n.nspname, c.relname, c.reltuples,
        greatest(c.relpages::int8, pg_catalog.pg_relation_size(c.oid) / 8192)
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'm') AND (n.nspname || '.' || c.relname) IN ({places})
"""
"""Rows of some tables, as they were counted last, and pages: those counted, or what there are now
where that is more, since nothing is counted before the first ANALYZE."""
_PAGE_BYTES = 8192
"""Bytes of a page, unless the server was built otherwise."""
_DEEPEST = 10
"""Levels of a plan that are indented."""
_BLOCKING = frozenset({"Sort", "Hash", "Materialize", "Memoize", "Aggregate", "HashAggregate"})
"""Steps that take all of what is below them before they give anything."""
_KEEPING = frozenset({"Hash", "Materialize"})
"""Steps that keep what is below them, and so run it once."""
_DETAILS = ("Index Cond", "Filter", "Hash Cond", "Merge Cond", "Join Filter")


@dataclass(frozen=True, slots=True)
class Scan:
    """One reading of a table: how often, and the part of the table."""

    table: str
    rows: float
    """Rows that it gives in all, however often it runs."""
    times: float
    share: float
    whole: bool
    """True if it goes through the table from its beginning."""


def read_cost(text: str, connection: DatabaseReader) -> QueryCost:
    """The estimate that a plan, as JSON, stands for. Raises ReadFailed."""
    plan: dict[str, Any] = json.loads(text)[0]["Plan"]
    scans = list(_scans(plan, 1.0, 1.0))
    sizes = _sizes(connection, {scan.table for scan in scans if scan.table})
    rows = size = 0.0
    for scan in scans:
        stored, pages = sizes.get(scan.table, (0.0, 0.0))
        read = max(stored * scan.times, scan.rows) * scan.share if scan.whole else scan.rows
        rows += read
        if stored > 0 and not scan.whole:
            # An index finds rows one by one: a page for each, and never more than all.
            size += min(read, pages) * _PAGE_BYTES
        else:
            size += pages * _PAGE_BYTES * scan.share
    return QueryCost(
        rows=float(plan["Plan Rows"]),
        scanned_rows=rows,
        scanned_bytes=size,
        units=float(plan["Total Cost"]),
        outline=tuple(_outline(plan, 0)),
    )


def _scans(node: Mapping[str, Any], share: float, times: float) -> Iterator[Scan]:
    kind = str(node["Node Type"])
    if kind == "Limit":
        share *= _limited(node)
    elif kind in _BLOCKING:
        share = 1.0
        times = 1.0 if kind in _KEEPING else times
    if "Relation Name" in node:
        table = f"{node.get('Schema', '')}.{node['Relation Name']}"
        whole = kind in {"Seq Scan", "Sample Scan"}
        given = float(node["Plan Rows"]) * times
        yield Scan(table, given * (1.0 if whole else share), times, share, whole)
    below = list(node.get("Plans", ()))
    for number, child in enumerate(below):
        # The second part of a nested loop runs for each row of the first.
        again = kind == "Nested Loop" and number == 1
        yield from _scans(child, share, times * (float(below[0]["Plan Rows"]) if again else 1.0))


def _limited(limit: Mapping[str, Any]) -> float:
    """The share of what is below a limit that is done, were it done evenly."""
    below = limit["Plans"][0]
    run = float(below["Total Cost"]) - float(below["Startup Cost"])
    if run <= 0:
        return 1.0
    return max(0.0, min(1.0, (float(limit["Total Cost"]) - float(below["Startup Cost"])) / run))


def _sizes(connection: DatabaseReader, tables: set[str]) -> dict[str, tuple[float, float]]:
    if not tables:
        return {}
    sql = PAGES.format(places=", ".join("?" for _ in tables))
    return {
        f"{namespace!s}.{name!s}": (max(float(str(rows)), 0.0), float(str(pages)))
        for namespace, name, rows, pages in connection.rows(sql, sorted(tables))
    }


def _outline(node: Mapping[str, Any], depth: int) -> Iterator[str]:
    words = [str(node["Node Type"])]
    if "Index Name" in node:
        words.append(f"by {node['Index Name']}")
    if "Relation Name" in node:
        words.append(f"on {node['Relation Name']}")
    words += [f"{what}: {node[what]}" for what in _DETAILS if what in node]
    words.append(f"(about {counted(node['Plan Rows'], 'row')})")
    yield "  " * min(depth, _DEEPEST) + " ".join(words)
    for child in node.get("Plans", ()):
        yield from _outline(child, depth + 1)
