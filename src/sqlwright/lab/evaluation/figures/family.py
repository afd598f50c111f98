"""The protocol of a family of figures, and what each is given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

from sqlwright.lab.evaluation.records import Record


@dataclass(frozen=True, slots=True)
class Given:
    """All that figures go by besides the records."""

    rule: str = "spider"
    """By which an answer is right."""
    skipped: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    """Databases that couldn't be opened, with their numbers of questions and the reasons."""


class Family(Protocol):
    """Takes each record once and keeps what its figures need, never the record."""

    of_all: ClassVar[bool]
    """True if it is told of questions whose gold query doesn't run, too."""

    def __init__(self, given: Given) -> None: ...

    def add(self, record: Record, right: bool) -> None:
        """Take a record in, which is right or not by the rule of the run."""

    def result(self) -> dict[str, object]:
        """The figures as plain data, by their keys in the report."""
