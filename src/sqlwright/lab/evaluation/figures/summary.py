"""A run's figures, each with its interval."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from sqlwright.lab.evaluation.figures.accuracy import (
    Accuracy,
    Breakdowns,
    Measures,
    Questions,
)
from sqlwright.lab.evaluation.figures.candidates import Candidates
from sqlwright.lab.evaluation.figures.confidence import Confidence, Reliability
from sqlwright.lab.evaluation.figures.errors import Errors
from sqlwright.lab.evaluation.figures.family import Family
from sqlwright.lab.evaluation.figures.judging import Judging
from sqlwright.lab.evaluation.figures.linking import Linker, Views
from sqlwright.lab.evaluation.figures.notes import Notes
from sqlwright.lab.evaluation.figures.parts import Parts
from sqlwright.lab.evaluation.figures.spending import Latency, Spending
from sqlwright.lab.evaluation.records import Record


def summarize(
    records: Iterable[Record],
    rule: str = "spider",
    skipped: Mapping[str, tuple[int, str]] | None = None,
) -> dict[str, Any]:
    """The figures of a run as plain data: shares as {value, low, high, hits, total}, means as
    {value, low, high, total}, times in seconds. What is right goes by `rule`, but for the shares
    named by a rule of their own. The records are read once and none is kept, so they may be a
    stream of any length.

    Questions whose gold query doesn't run are left out and counted; so are those of `skipped`
    databases, given with their numbers of questions and the reasons.
    """
    families = [family() for family in FAMILIES]
    of_all = [family.add for family in families if family.of_all]
    of_scored = [family.add for family in families if not family.of_all]
    for record in records:
        right = record.right(rule)
        for add in of_all:
            add(record, right)
        if record.status != "gold":
            for add in of_scored:
                add(record, right)
    left_out = (skipped or {}).items()
    summary: dict[str, Any] = {
        "rule": rule,
        "skipped": {id_: {"questions": count, "reason": why} for id_, (count, why) in left_out},
    }
    for family in families:
        summary |= family.result()
    return summary


FAMILIES: tuple[type[Family], ...] = (
    Questions,
    Accuracy,
    Measures,
    Candidates,
    Judging,
    Confidence,
    Reliability,
    Linker,
    Views,
    Parts,
    Errors,
    Breakdowns,
    Latency,
    Spending,
    Notes,
)
