"""The plan that all executors go by, the records they hand over, what they leave out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from sqlwright.boundary.text import counted
from sqlwright.errors import DatabaseUnavailable
from sqlwright.lab.datasets.example import Example
from sqlwright.lab.evaluation.records import Record
from sqlwright.lab.evaluation.settings import EvaluationSettings


class NotAsked(Exception):
    """The budget of the run was spent before a question was answered."""


Keep = Callable[[Record, str], None]
"""Takes each record with its trace, which is empty where none is kept."""
Notice = Callable[[str], None]
"""Takes one line about what is being done besides asking, and about what is left out."""

LOST = (
    "the worker that asked it ended three times: killed, crashed, out of memory or without an end"
)
"""The message of a question that cost as many workers as one may (`workers.PATIENCE`)."""


@dataclass(frozen=True, slots=True)
class Plan:
    """All that asking a data set's questions takes, as plain data: workers elsewhere get it."""

    settings: EvaluationSettings
    rule: str
    descriptions: Mapping[str, Path] = field(default_factory=dict)
    """Folders of description files by database."""

    def elsewhere(self) -> Plan:
        """The same for another process, which loads models of its own."""
        settings = replace(self.settings, models=None, overrides=tuple(self.settings.overrides))
        return replace(self, settings=settings, descriptions=dict(self.descriptions))

    def address(self, example: Example) -> str:
        """The path or URL of the question's database."""
        if example.url or not self.settings.databases:
            return example.address
        name, folder = example.database.name, example.database.parent.name
        inside = f"{folder}/{name}" if folder == example.db_id else name
        return f"{self.settings.databases.rstrip('/')}/{inside}"


@dataclass(frozen=True, slots=True)
class Skipped:
    """A database that can't be opened; its questions aren't asked and are in no figure."""

    db_id: str
    questions: int
    error: DatabaseUnavailable

    def __str__(self) -> str:
        return f"{self.db_id} is left out with {counted(self.questions, 'question')}: {self.error}"


class Executor(Protocol):
    """Asks questions. Whichever it is, the records are the same but for their times."""

    skipped: list[Skipped]
    """Databases that couldn't be opened, so far."""

    def run(self, examples: Sequence[Example], keep: Keep) -> None:
        """Hand each record to `keep` as soon as it is there, all from this thread.

        Whatever ends it early, KeyboardInterrupt included: what has been answered by then is kept,
        what is under way is dropped. Raises UserError from opening and asking, but for a database
        that can't be opened: that is `skipped`.
        """
        ...


def lost(example: Example, dialect: str) -> Record:
    """The record of a question that cost its worker each time it was asked; the dialect is its
    database's."""
    return Record(
        id=example.id,
        db_id=example.db_id,
        question=example.question,
        gold_sql=example.gold_sql,
        sql=None,
        status="failed",
        message=LOST,
        difficulty=example.difficulty,
        evidence=example.evidence,
        tags=dict(example.tags),
        dialect=dialect,
    )
