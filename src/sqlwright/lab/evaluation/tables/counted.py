"""Figures of the papers that no report has and that the single answers of a run tell."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlwright.lab.evaluation.intervals import Share
from sqlwright.lab.evaluation.records import Record


def counted_figures(records: Sequence[Record], report: Mapping[str, Any]) -> dict[str, Any]:
    """Questions with a right candidate by difficulty and by database, as shares, and the number of
    questions by the exact set of those who wrote a right one, their names joined by "+"."""
    scored = [record for record in records if record.status != "gold"]
    return {
        "oracle_by_difficulty": _oracle(scored, lambda record: record.difficulty),
        "oracle_by_database": _oracle(scored, lambda record: record.db_id),
        "generators": _generators(report),
    }


def _oracle(records: Sequence[Record], key: Callable[[Record], str]) -> dict[str, Any]:
    grouped: dict[str, list[bool]] = defaultdict(list)
    for record in records:
        grouped[key(record)].append(record.oracle)
    return {name: Share(sum(grouped[name]), len(grouped[name])).as_dict() for name in grouped}


def _generators(report: Mapping[str, Any]) -> dict[str, int]:
    listed = report.get("generators")
    return {
        " + ".join(map(str, entry.get("sources") or ["none"])): int(entry.get("questions") or 0)
        for entry in (listed if isinstance(listed, list) else ())
        if isinstance(entry, dict)
    }
