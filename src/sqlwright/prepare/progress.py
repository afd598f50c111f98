"""Progress of a preparation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of `prepare`."""

    stage: str
    """One of: waiting, changes, tables, joins, texts, index, descriptions, signatures, vectors,
    done."""
    detail: str
    """The table being read, the process waited for, and the like."""
    done: int
    total: int | None
    """Rows, columns, texts or values, as the stage has it; None when it isn't known."""


ProgressSink = Callable[[Progress], None]


def no_progress(progress: Progress) -> None:
    """The sink that drops everything."""
