"""A run's figures, each with its interval."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from sqlwright.evaluation.error_classes.figures import error_figures
from sqlwright.evaluation.error_classes.labels import Label
from sqlwright.evaluation.intervals import Share
from sqlwright.evaluation.records import Record
from sqlwright.evaluation.rules.registry import RULES
from sqlwright.spending import plus
from sqlwright.types import Usage


def summarize(
    records: Iterable[Record],
    rule: str = "spider",
    skipped: Mapping[str, tuple[int, str]] | None = None,
    labels: Sequence[Label] = (),
) -> dict[str, Any]:
    """The figures of a run as plain data: shares as {value, low, high, hits, total}, times in
    seconds. What is right goes by `rule`, but for the two shares named by a rule of their own.

    Questions whose gold query doesn't run are left out and counted; so are those of `skipped`
    databases, given with their numbers of questions and the reasons. `labels` are the classes that
    people gave wrong answers.
    """
    records = list(records)
    scored = [r for r in records if r.status != "gold"]
    full = [r for r in scored if not r.gold_empty]
    linked = [r for r in scored if r.needed_columns and r.kept_columns]
    calibrated = _calibrated(scored)
    confident = sorted(calibrated, key=lambda r: -(r.confidence or 0.0))[: len(calibrated) // 2]

    def right(record: Record) -> bool:
        return record.right(rule)

    return {
        "rule": rule,
        "questions": len(records),
        "gold_does_not_run": len(records) - len(scored),
        "gold_returns_nothing": len(scored) - len(full),
        "skipped": {
            db_id: {"questions": count, "reason": reason}
            for db_id, (count, reason) in (skipped or {}).items()
        },
        "status": dict(Counter(r.status for r in scored)),
        "stood_in": _share([r for r in scored if r.answered_by == "stand_in"], right),
        "execution_accuracy": _share(scored, right),
        "execution_accuracy_gold_not_empty": _share(full, right),
        "by_rule": {name: _share(scored, lambda r: r.right(name)) for name in RULES},  # noqa: B023
        "first_candidate": _share(scored, lambda r: r.first),
        "oracle_over_candidates": _share(scored, lambda r: r.oracle),
        "most_confident_half": _share(confident, right),
        "expected_calibration_error": calibration_error(calibrated, rule=rule)
        if calibrated
        else None,
        "linker": {
            "column_recall": _ratio(linked, lambda r: (r.found_columns, r.needed_columns)),
            "column_precision": _ratio(linked, lambda r: (r.found_columns, r.kept_columns)),
            "table_recall": _ratio(linked, lambda r: (r.found_tables, r.needed_tables)),
            "all_columns_found": _share(linked, lambda r: r.found_columns == r.needed_columns),
        },
        "views": view_figures(scored),
        "errors": error_figures(records, rule, labels),
        "by_difficulty": {
            level: _share([r for r in scored if r.difficulty == level], right)
            for level in sorted({r.difficulty for r in scored if r.difficulty})
        },
        "by_database": {
            db_id: _share([r for r in scored if r.db_id == db_id], right)
            for db_id in sorted({r.db_id for r in scored})
        },
        "seconds": quantiles([r.seconds for r in scored]),
        "seconds_per_step": _per_step(scored),
        "usage": usage_totals(records),
    }


def view_figures(records: Sequence[Record]) -> dict[str, dict[str, Any]]:
    """Of the whole schema and after each step that may narrow it: recall and precision of what is
    shown over all questions together, columns and tables left at the mean, the columns by database,
    and how often all that a question needs is still there. Empty if no step narrows.

    Each step over the questions for which it ran, `questions`; those whose gold query names no
    column, such as count(*), aren't among them.
    """
    by_step: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        for step in record.views if record.needed_columns else ():
            by_step[step].append(record)
    return {step: _view(step, asked) for step, asked in by_step.items()}


def _view(step: str, records: Sequence[Record]) -> dict[str, Any]:
    def counted(what: str) -> list[int]:
        return [record.views[step][what] for record in records]

    by_database: dict[str, list[int]] = defaultdict(list)
    for record in records:
        by_database[record.db_id].append(record.views[step]["columns"])
    columns, found_columns = counted("columns"), counted("found_columns")
    tables, found_tables = counted("tables"), counted("found_tables")
    needed_columns = sum(record.needed_columns for record in records)
    needed_tables = sum(record.needed_tables for record in records)
    return {
        "questions": len(records),
        "column_recall": sum(found_columns) / needed_columns,
        "column_precision": sum(found_columns) / max(1, sum(columns)),
        "table_recall": sum(found_tables) / max(1, needed_tables),
        "table_precision": sum(found_tables) / max(1, sum(tables)),
        "all_columns_shown": _share(
            records, lambda r: r.views[step]["found_columns"] == r.needed_columns
        ),
        "all_tables_shown": _share(
            records, lambda r: r.views[step]["found_tables"] == r.needed_tables
        ),
        "columns": sum(columns) / len(records),
        "tables": sum(tables) / len(records),
        "columns_by_database": {
            db_id: sum(counts) / len(counts) for db_id, counts in sorted(by_database.items())
        },
    }


def usage_totals(records: Sequence[Record]) -> dict[str, dict[str, Any]]:
    """Usage of language models for all questions, in all and by step; empty if none was asked.

    Replies from the cache or a recording are counted as `cached` and are in no other number."""
    by_step: dict[str, Usage] = defaultdict(Usage)
    for record in records:
        for step, used in record.usage.items():
            by_step[step] = plus(by_step[step], Usage(**used))
    if not by_step:
        return {}
    total = Usage()
    for used_by_step in by_step.values():
        total = plus(total, used_by_step)
    return {"in all": asdict(total)} | {step: asdict(by_step[step]) for step in sorted(by_step)}


def _calibrated(records: Sequence[Record]) -> Sequence[Record]:
    """The records, if a probability stands beside the answers; none where they have another basis,
    which has no calibration error and no confident half."""
    answered = [r for r in records if r.status == "answered"]
    return records if answered and all(r.confidence is not None for r in answered) else []


def calibration_error(records: Sequence[Record], bins: int = 10, *, rule: str = "spider") -> float:
    """Expected calibration error (Naeini et al. 2015): the mean gap between confidence and
    accuracy over equal-width bins, weighted by their sizes."""
    grouped: dict[int, list[Record]] = defaultdict(list)
    for record in records:
        grouped[min(bins - 1, int((record.confidence or 0.0) * bins))].append(record)
    gaps = (
        abs(sum(r.confidence or 0.0 for r in group) - sum(r.right(rule) for r in group))
        for group in grouped.values()
    )
    return sum(gaps) / len(records) if records else 0.0


def quantiles(values: Sequence[float]) -> dict[str, float]:
    """Median, 95th percentile and maximum."""
    if not values:
        return {"median": 0.0, "p95": 0.0, "max": 0.0}
    ranked = sorted(values)
    at = {"median": 0.5, "p95": 0.95, "max": 1.0}
    return {name: ranked[round(q * (len(ranked) - 1))] for name, q in at.items()}


def _share(records: Sequence[Record], hit: Callable[[Record], bool]) -> dict[str, float]:
    return Share(sum(hit(r) for r in records), len(records)).as_dict()


def _ratio(records: Iterable[Record], counts: Callable[[Record], tuple[int, int]]) -> float:
    pairs = [counts(r) for r in records]
    total = sum(whole for _, whole in pairs)
    return sum(part for part, _ in pairs) / total if total else 0.0


def _per_step(records: Sequence[Record]) -> dict[str, dict[str, float]]:
    by_step: dict[str, list[float]] = defaultdict(list)
    for record in records:
        for step, seconds in record.times.items():
            by_step[step].append(seconds)
    return {step: quantiles(values) for step, values in by_step.items()}
