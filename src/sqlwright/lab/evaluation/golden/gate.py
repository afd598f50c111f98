"""Conditions that a run has to meet, and what one met."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlwright.lab.datasets.example import Example
from sqlwright.lab.evaluation.golden.baseline import Baseline, Changes, changes, taken
from sqlwright.lab.evaluation.intervals import Share
from sqlwright.lab.evaluation.records import Record


@dataclass(frozen=True, slots=True)
class Gate:
    """The conditions; each of them may be left out."""

    least: float | None = None
    """Execution accuracy at least, in [0, 1]."""
    baseline: Baseline | None = None
    """No answer that was right in it may be wrong now,"""
    lost: int = 0
    """but for so many."""

    def check(self, asked: Sequence[Example], found: Sequence[Record], rule: str) -> Checked:
        """The outcome of a run. `asked` are the questions that it was to ask: one without an
        answer, because its database or its gold query fails, counts as wrong. In a check that
        nobody watches nothing may drop out unseen."""
        right = sum(record.right(rule) for record in found)
        since = None
        if self.baseline is not None:
            ids = [example.id for example in asked]
            since = changes(self.baseline, ids, taken(found, rule))
        return Checked(
            self,
            Share(right, len(asked)),
            since,
            {example.id: example.question for example in asked},
            {example.id: _outcome(record) for example, record in _paired(asked, found)},
        )


@dataclass(frozen=True, slots=True)
class Checked:
    """The outcome of a run by a gate."""

    gate: Gate
    share: Share
    """Right answers of all questions of the set."""
    changes: Changes | None
    """None without a baseline."""
    questions: Mapping[str, str]
    """Texts by id."""
    outcomes: Mapping[str, str]
    """Of each question why its answer isn't right, in a few words."""

    @property
    def under(self) -> bool:
        """True if too few answers are right."""
        return self.gate.least is not None and self.share.value < self.gate.least

    @property
    def lost(self) -> bool:
        """True if too many answers that were right aren't any more."""
        return self.changes is not None and len(self.changes.lost) > self.gate.lost

    def as_dict(self) -> dict[str, Any]:
        """The outcome as plain data."""
        since = self.changes
        told = {} if since is None else {
            "lost": [
                {"id": id_, "question": self.questions[id_], "reason": self.outcomes[id_]}
                for id_ in since.lost
            ],
            "mended": [{"id": id_, "question": self.questions[id_]} for id_ in since.mended],
            "rewritten": list(since.rewritten),
            "added": list(since.added),
            "removed": list(since.removed),
        }  # fmt: skip
        return {
            "passed": not (self.under or self.lost),
            "share": self.share.as_dict(),
            "least": self.gate.least,
            "allowed_lost": self.gate.lost,
            "since_baseline": told or None,
        }


def _paired(
    asked: Sequence[Example], found: Sequence[Record]
) -> list[tuple[Example, Record | None]]:
    by_id = {record.id: record for record in found}
    return [(example, by_id.get(example.id)) for example in asked]


def _outcome(record: Record | None) -> str:
    if record is None:
        return "not asked: its database can't be opened"
    if record.status == "gold":
        return f"its gold query doesn't run: {record.message}"
    if record.status != "answered":
        return f"{record.status}: {record.message}" if record.message else record.status
    first = next(iter(record.errors or ()), None)
    return f"{first['class']}: {first['shown_by']}" if first else "other rows"
