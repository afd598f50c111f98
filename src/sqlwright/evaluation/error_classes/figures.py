"""Figures about a run's wrong answers: classes, and where the first wrong thing came from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from sqlwright.evaluation.error_classes.classes import LABELS
from sqlwright.evaluation.error_classes.labels import Label, label_figures, settled
from sqlwright.evaluation.error_classes.origins import ORIGINS
from sqlwright.evaluation.intervals import Share
from sqlwright.evaluation.records import Record

SPLIT = ("right", "not_chosen", "none_right", "gold_doubtful")
"""CHASE-SQL's figure 5. A doubtful gold query goes before all else."""


def error_figures(
    records: Sequence[Record], rule: str, labels: Sequence[Label] = ()
) -> dict[str, Any]:
    """The figures as plain data: shares as {value, low, high, hits, total}.

    What people say of an answer is its main class. Classes and
    origins are shares of the wrong answers that were looked at; the split is one of all questions,
    those whose gold query doesn't run included.
    """
    said = settled(labels, records)
    wrong = [r for r in records if r.status != "gold" and not r.right(rule)]
    classed = [r for r in wrong if r.errors is not None]
    main = {r.id: said.get(r.id) or main_class(r) for r in classed}
    held = {r.id: {main[r.id], *code_classes(r)} for r in classed}
    splits = Counter(_split(r, rule, said.get(r.id)) for r in records)
    origins = Counter((r.origin.get("kind", ""), r.origin.get("step", "")) for r in classed)
    return {
        "wrong": len(wrong),
        "classed": len(classed),
        "split": {name: _share(splits[name], len(records)) for name in SPLIT},
        "classes": {
            name: {
                "main": _share(sum(one == name for one in main.values()), len(classed)),
                "any": _share(sum(name in found for found in held.values()), len(classed)),
            }
            for name in LABELS
            if any(name in found for found in held.values())
        },
        "origins": [
            {"kind": kind, "step": step, **_share(origins[kind, step], len(classed))}
            for kind, step in sorted(origins, key=_place)
        ],
        "origins_by_class": {
            name: _kinds([r for r in classed if main[r.id] == name])
            for name in LABELS
            if name in main.values()
        },
        "labels": label_figures(labels, records, {r.id: code_classes(r) for r in classed}),
    }


def main_class(record: Record) -> str:
    """The main class that code gives a wrong answer; `unclear` where it gave none."""
    return next(iter(code_classes(record)), "unclear")


def code_classes(record: Record) -> list[str]:
    """The classes that code gives a wrong answer, the main one first, each once."""
    return list(dict.fromkeys(one["class"] for one in record.errors or ()))


def _split(record: Record, rule: str, label: str | None) -> str:
    doubted = label == "gold" or (label is None and record.origin.get("kind") == "gold")
    if record.status == "gold" or doubted:
        return "gold_doubtful"
    if record.right(rule) or label == "right":
        return "right"
    return "not_chosen" if record.oracle else "none_right"


def _kinds(records: Sequence[Record]) -> dict[str, int]:
    counts = Counter(r.origin.get("kind", "") for r in records)
    return {kind: counts[kind] for kind in ORIGINS if counts[kind]}


def _place(key: tuple[str, str]) -> tuple[int, str]:
    names: list[str] = list(ORIGINS)
    return (names.index(key[0]) if key[0] in names else len(names), key[1])


def _share(hits: int, total: int) -> dict[str, float]:
    return Share(hits, total).as_dict()
