"""Knowledge of a database: its schema and a profile of every table and column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from sqlwright.catalog.formats import Format
from sqlwright.catalog.stored import stored_columns
from sqlwright.schema import ColumnRef, ForeignKey, Schema
from sqlwright.types import Cell
from sqlwright.types.stored import Formats

Indexing = Literal["whole", "part", "none", "free_text", "identifier", "blank", "waiting"]
"""State of a column in the value index: every text, some of them, no text stored at all, left out
as long free text, left out as opaque identifiers, nothing but blanks, not read yet."""

ISO = frozenset({"iso_date", "iso_datetime"})

ENUMERATION_VALUES = 3
"""Different values of a column at most that count as an enumeration, such as yes, no and
unknown."""
LISTED_VALUES = 12
"""Different values of a column at most that the parser is told, named in the question or not."""
LISTED_LENGTH = 24
"""Characters of each of them at most."""
ENUMERATION_LENGTH = 32
"""Characters of each of them at most. Chosen: a prompt shows all of them."""


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """Measurements of a column's values."""

    storage: Mapping[str, int] = field(default_factory=dict)
    """Cells by how SQLite stores or would store them: integer, real, text, blob; a truth is an
    integer, a date a text. NULLs are in `nulls`."""
    rows: int = 0
    """Rows looked at: all of them unless `sampled`."""
    nulls: int = 0
    distinct: int = 0
    """Different values, NULL apart. An estimate unless `distinct_exact`."""
    distinct_exact: bool = True
    minimum: Cell = None
    """Least value of the storage class that prevails (numbers or text), dates as ISO text; texts
    are cut at 200 characters."""
    maximum: Cell = None
    formats: tuple[Format, ...] = ()
    frequent: tuple[tuple[Cell, int], ...] = ()
    """Most frequent values with their rows among those looked at, most frequent first."""
    sampled: bool = False
    """True if only part of the rows was read."""
    mean_length: float = 0.0
    """Characters per text value, averaged over distinct ones."""
    indexing: Indexing = "waiting"
    missing: tuple[tuple[str, int], ...] = ()
    """Texts that stand for no value, the empty one first, with their rows among those looked at."""
    odd: tuple[tuple[Cell, int], ...] = ()
    """The most frequent values of the rarer kind, of a column with both numbers and texts, without
    `missing`, with their rows."""

    @property
    def unique(self) -> bool:
        """True if every row is known to hold a different value."""
        return (
            not self.sampled
            and self.distinct_exact
            and self.rows > 0
            and self.nulls == 0
            and self.distinct == self.rows
        )

    @property
    def complete(self) -> bool:
        """True if `frequent` holds every value there is."""
        return not self.sampled and self.distinct_exact and len(self.frequent) == self.distinct

    @property
    def main_storage(self) -> str:
        """The storage class most cells have; empty when there are none but NULLs."""
        return max(self.storage, key=lambda kind: self.storage[kind], default="")


@dataclass(frozen=True, slots=True)
class TableProfile:
    """Size of a table and how much of it was read."""

    rows: int = 0
    rows_exact: bool = True
    sampled: bool = False
    note: str = ""
    """The reason why it wasn't read, or not wholly."""


@dataclass(frozen=True)
class Catalog:
    """A schema with descriptions and inferred joins, and a profile of every table and column."""

    schema: Schema
    tables: Mapping[str, TableProfile] = field(default_factory=dict)
    """Profiles by the table's exact name."""
    columns: Mapping[ColumnRef, ColumnProfile] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    """Sentences about what was left out or couldn't be read."""
    unmatched: Mapping[ForeignKey, str] = field(default_factory=dict)
    """Declared keys of which few values are found where they lead, and how few, in words."""
    steady: Catalog | None = field(default=None, compare=False)
    """The part that doesn't depend on how much time there was to read, where that is less: prompts
    show this, so that the same question makes the same prompt. None: all of it."""

    def enumerations(self) -> dict[ColumnRef, tuple[str, ...]]:
        """All values of the columns that hold at most three different short texts and nothing
        else but NULL, the most frequent first. Columns only sampled are not among them."""
        return dict(self._enumerations)

    @cached_property
    def listed(self) -> Mapping[ColumnRef, tuple[str, ...]]:
        """All values, the most frequent first, of the columns that hold few different short texts
        and nothing else but NULL and empty texts. Columns only sampled are not among them."""
        found: dict[ColumnRef, tuple[str, ...]] = {}
        for ref, profile in self.columns.items():
            if not profile.complete or not 0 < profile.distinct <= LISTED_VALUES + 1:
                continue
            texts = [value for value, _ in profile.frequent if isinstance(value, str)]
            short = tuple(text for text in texts if text.strip() and len(text) <= LISTED_LENGTH)
            blank = sum(not text.strip() for text in texts)
            if 0 < len(short) <= LISTED_VALUES and len(short) + blank == profile.distinct:
                found[ref] = short
        return found

    @cached_property
    def dates(self) -> Mapping[ColumnRef, bool]:
        """For columns whose values are written alike: True if SQLite's functions read them as
        dates, whatever the column is declared as. Columns that hold dates are among them."""
        return {
            ref: any(form.name in ISO for form in profile.formats)
            for ref, profile in self.columns.items()
            if profile.formats
        }

    @cached_property
    def stored(self) -> Formats:
        """Columns whose dates and amounts have to be converted before a query can use them."""
        return stored_columns(self.columns, self.schema)

    @cached_property
    def _enumerations(self) -> dict[ColumnRef, tuple[str, ...]]:
        found: dict[ColumnRef, tuple[str, ...]] = {}
        for ref, profile in self.columns.items():
            if not profile.complete or not 0 < profile.distinct <= ENUMERATION_VALUES:
                continue
            texts = tuple(value for value, _ in profile.frequent if isinstance(value, str))
            if len(texts) == profile.distinct and all(
                text.strip() and len(text) <= ENUMERATION_LENGTH for text in texts
            ):
                found[ref] = texts
        return found
