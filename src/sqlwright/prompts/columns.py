"""Text about single columns in prompts: descriptions, counts, stored values as examples."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlwright.prompts.cells import flat, literal, shortened
from sqlwright.schema import Column, ColumnRef, ForeignKey
from sqlwright.types import Cell, DescriptionMatch, ValueMatch

if TYPE_CHECKING:
    from sqlwright.catalog.records import ColumnProfile
    from sqlwright.protocols import Catalog

FEW_VALUES = 20
"""Columns with fewer different values show up to MORE_EXAMPLES of them (CHESS's code)."""
MORE_EXAMPLES = 5
"""Examples at most, likewise."""
MOST_RETRIEVED = 10
"""Retrieved values shown of one column."""
LONGEST_TEXT = 1_000
"""Characters of a description shown."""

_DATE_FORMATS = frozenset(
    "iso_date iso_datetime date_mdy date_dmy date_ambiguous date_words date_compact year_month "  # noqa: SIM905
    "time".split()
)
_DATE_NAME = re.compile(r"date|time", re.IGNORECASE)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


@dataclass(frozen=True)
class ColumnKnowledge:
    """Descriptions, counts and values of columns."""

    descriptions: Mapping[ColumnRef, Mapping[str, str]] | None
    values: Mapping[ColumnRef, list[str]]
    catalog: Catalog | None
    examples: int
    limit: int
    joined: frozenset[ColumnRef]
    """Columns that refer to others."""

    def profile(self, ref: ColumnRef) -> ColumnProfile | None:
        """The catalog's profile of a column."""
        return None if self.catalog is None else self.catalog.columns.get(ref)

    def described(self, table: str, column: Column) -> tuple[str, str]:
        """The column's label and description in one line, and what is said of its values; empty
        where none is shown."""
        if self.descriptions is None:
            parts = [column.label, column.description, column.value_description]
        else:
            texts = self.descriptions.get(ColumnRef(table, column.name))
            if texts is None:
                return "", ""
            parts = [texts.get(part, "") for part in ("label", "description", "value_description")]
        name = bare(column.name)
        label = bare(parts[0]) if parts[0] else ""
        if label == name:
            parts[0] = ""
        if len(parts[1]) < 2 * max(len(label), len(name)) and bare(parts[1]) in {label, name}:
            parts[1] = ""
        *about, of_values = (shortened(flat(part), LONGEST_TEXT) for part in parts)
        return "; ".join(filter(None, about)), of_values

    def counts(self, profile: ColumnProfile | None, *, key: bool, rough: bool = False) -> str:
        """Numbers of different values and NULLs of a column, in words; empty when not known.

        A primary key's are all different, whatever a sample had; of other columns a sample tells
        no more than a least number. Where `rough`, whether there are one or many.
        """
        if profile is None or not profile.rows:
            return ""
        if key or profile.unique:
            return "all different"
        if rough:
            different = "many" if profile.distinct > 1 else f"{profile.distinct}"
            return f"{different} different{', some NULL' if profile.nulls else ''}"
        if profile.sampled:
            return f"at least {profile.distinct:,} different" if profile.distinct > 1 else ""
        about = "" if profile.distinct_exact else "about "
        nulls = f", {profile.nulls:,} NULL" if profile.nulls else ""
        return f"{about}{profile.distinct:,} different{nulls}"

    def guessed(self, key: ForeignKey) -> bool:
        """True if an inferred key had no values that could have confirmed it."""
        ends = [self.profile(near) for near, _ in key.pairs]
        return any(end is not None and end.rows == end.nulls for end in ends)

    def literals(
        self, ref: ColumnRef, column: Column, profile: ColumnProfile | None, *, key: bool
    ) -> tuple[list[str], bool]:
        """Values to show as literals, retrieved ones first, and whether they are all there are."""
        storage = "" if profile is None else profile.main_storage
        number = storage in {"integer", "real"}
        retrieved = list(dict.fromkeys(self.values.get(ref, ())))[:MOST_RETRIEVED]
        shown = [
            value if number and _NUMBER.fullmatch(value) else literal(value, 4 * self.limit)
            for value in retrieved
        ]
        if profile is None or not self.examples or (number and (key or ref in self.joined)):
            return shown, False
        if shown and not _holds_dates(column, profile):
            return shown, False
        wanted = self.examples
        if profile.distinct < FEW_VALUES and not number:
            wanted = max(wanted, MORE_EXAMPLES)
        if shown:
            wanted = 1  # a date's format shows beside what was retrieved
        for cell, _ in profile.frequent:
            if wanted <= 0:
                break
            if _fits(cell, self.limit) and (text := literal(cell)) not in shown:
                shown.append(text)
                wanted -= 1
        textual = storage == "text"
        odd = (cell for cell, _ in profile.frequent if isinstance(cell, str) != textual)
        other = next((literal(cell) for cell in odd if _fits(cell, self.limit)), "")
        if other and other not in shown:
            shown.append(other)  # what text there is among the numbers, or the other way
        return shown, profile.complete and len(shown) >= profile.distinct


def described_parts(
    descriptions: Iterable[DescriptionMatch],
) -> dict[ColumnRef, dict[str, str]]:
    """Parts of columns' descriptions that were found, by column."""
    texts: dict[ColumnRef, dict[str, str]] = {}
    for match in descriptions:
        texts.setdefault(match.column, {})[match.part] = match.text
    return texts


def values_by_column(values: Iterable[ValueMatch]) -> dict[ColumnRef, list[str]]:
    """Stored values found, by their column."""
    found: dict[ColumnRef, list[str]] = {}
    for match in values:
        found.setdefault(match.column, []).append(match.value)
    return found


def _holds_dates(column: Column, profile: ColumnProfile) -> bool:
    if any(form.name in _DATE_FORMATS for form in profile.formats):
        return True
    return bool(_DATE_NAME.search(column.type) or _DATE_NAME.search(column.name))


def _fits(cell: Cell, limit: int) -> bool:
    """True if a cell is worth showing as an example."""
    if isinstance(cell, str):
        return 0 < len(cell) <= limit and bool(cell.strip())
    return isinstance(cell, int | float) and math.isfinite(cell)


def bare(text: str) -> str:
    """A name without case, blanks and marks, to tell whether two say the same."""
    return re.sub(r"[\W_]+", "", text).casefold()
