"""The way in which files were read as tables, where it had to be guessed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class TableReading:
    """One table."""

    name: str
    told: str
    """Its files and their settings, in one line."""
    columns: tuple[tuple[str, str], ...]
    """Names and types."""
    notes: tuple[str, ...]
    """Notes of what was left out or read in another way than the files say."""
    details: tuple[str, ...] = ()
    """The guesses about columns, and how many cells each concerns."""


@dataclass(frozen=True, slots=True)
class Readings:
    """All tables of a database."""

    tables: tuple[TableReading, ...]
    notes: tuple[str, ...]
    """Notes of files that no table was made of."""
    corrections: str
    """A file of corrections, as YAML, that says all of this."""
    place: Path
    """The path under which that file is obeyed."""
