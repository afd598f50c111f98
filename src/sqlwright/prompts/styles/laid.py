"""A table's pieces in a prompt, before they are put in an order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlwright.messages import Span
from sqlwright.schema import Column, ForeignKey, Table


@dataclass(frozen=True)
class ShownTable:
    """A table and what is shown of it."""

    table: Table
    columns: list[tuple[Column, bool]]
    """Each with whether it is shown in full."""
    keys: list[ForeignKey]
    elsewhere: Mapping[str, str]
    """The target of a column that refers to a table that isn't shown."""

    def group(self, column: str) -> int:
        """Rank of a column in another order: the primary key first, then the other keys."""
        if column in self.table.primary_key:
            return 0
        foreign_key_columns = column in self.elsewhere or any(
            column in key.columns for key in self.keys
        )
        return 1 if foreign_key_columns else 2


@dataclass(frozen=True)
class Line:
    """A column as it is shown, whatever the order."""

    group: int
    declared: str
    about: tuple[Span, ...]


@dataclass(frozen=True)
class LaidTable:
    """A table's pieces."""

    opening: tuple[Span, ...]
    lines: list[Line]
    closing: tuple[Span, ...]
    separator: str
    """Behind what is declared of each column but the last, which has it if more than columns
    follows."""
    separated: bool
    """True if more follows."""
    ordered: bool
    """True for a view: its columns are in the order of its query, and stay so."""
