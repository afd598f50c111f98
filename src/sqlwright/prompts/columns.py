"""Text about single columns in prompts: descriptions, stored values as examples."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple

from sqlwright.english.words import split_name
from sqlwright.messages import HIDDEN
from sqlwright.prompts.cells import literal
from sqlwright.prompts.descriptions import essential
from sqlwright.prompts.dialects.names import Names
from sqlwright.prompts.measures import NUMERIC, least_and_greatest, newest, number
from sqlwright.schema import Column, ColumnRef, ForeignKey
from sqlwright.types import Cell, ColumnExamples, DescriptionMatch, ValueMatch

if TYPE_CHECKING:
    from sqlwright.catalog.records import ColumnProfile
    from sqlwright.protocols import Catalog

FEW_VALUES = 20
"""Texts up to which a column is listed whole, as far as its profile has them all."""
FEW_NUMBERS = 5
"""Numbers likewise."""
LISTED = 400
"""Characters of such a list at most."""
LISTED_ONCE = 120
"""The same where every row has a text of its own: a list of few things, or names of many."""
LONGEST_LISTED = 50
"""Characters of a value in a list."""
LONGEST_EXAMPLE = 30
"""Characters shown of an example, and those of what is taken for one first."""
FEW_LONG = 2
"""Examples of texts that are long or all different."""
MOST_RETRIEVED = 10
"""Retrieved values shown of one column."""
LONGEST_RETRIEVED = 200
"""Characters shown of one."""

_OPAQUE = frozenset({"url", "email", "phone", "ip", "uuid", "hash", "json"})
"""Formats of which one example says it all."""
_BY_NAME = frozenset({"id", "email", "url"})
"""Last words of the names of columns whose values say nothing (MAG-SQL)."""
MOST_NUMBERS = 10
"""Different numbers of a column of which the most frequent say something (MAG-SQL)."""
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_RESEMBLE = f"{HIDDEN} (some resemble words of the question)"


class Listed(NamedTuple):
    """Values to show of a column."""

    literals: Sequence[str]
    every: bool = False
    """True if these are all there are, missing ones apart."""
    instead: str = HIDDEN
    """Stands for them where they may not leave the machine."""


@dataclass(frozen=True)
class ColumnKnowledge:
    """Descriptions and values of columns."""

    descriptions: Mapping[ColumnRef, Mapping[str, str]]
    """Parts of descriptions that were found; a column with any of them is described whole."""
    every: bool
    """True describes the other columns, too."""
    values: Mapping[ColumnRef, Mapping[str, str]]
    """Retrieved values and what in the question each resembles."""
    catalog: Catalog | None
    examples: int
    joined: frozenset[ColumnRef]
    """Columns that refer to others."""
    names: frozenset[str]
    """Names of all tables and columns, folded."""
    written: Names
    """Writes names as a query does."""
    drawn: Callable[[ColumnRef], random.Random] | None = None
    """Draws the one example of a column that is shown; None shows frequent ones."""
    given: Mapping[ColumnRef, ColumnExamples] = field(default_factory=dict)
    """Examples shown in place of those of the catalog."""
    frequent: bool = False
    """True shows the most frequent values of columns where they say what the column holds, up to
    `examples` of them."""

    def profile(self, ref: ColumnRef) -> ColumnProfile | None:
        """The catalog's profile of a column."""
        return None if self.catalog is None else self.catalog.columns.get(ref)

    def described(self, table: str, column: Column) -> tuple[str, str]:
        """The column's label and description in one line, and what is said of its values; empty
        where none is shown."""
        found = self.descriptions.get(ColumnRef(table, column.name))
        if found is None:
            if not self.every:
                return "", ""
            found = {}
        parts = [
            column.label or found.get("label", ""),
            column.description or found.get("description", ""),
            column.value_description or found.get("value_description", ""),
        ]
        name = bare(column.name)
        label = bare(parts[0]) if parts[0] else ""
        if label == name:
            parts[0] = ""
        if len(parts[1]) < 2 * max(len(label), len(name)) and bare(parts[1]) in {label, name}:
            parts[1] = ""
        *about, of_values = map(essential, parts)
        return "; ".join(filter(None, about)), of_values

    def guessed(self, key: ForeignKey) -> bool:
        """True if an inferred key had no values that could have confirmed it."""
        ends = [self.profile(near) for near, _ in key.pairs]
        return any(end is not None and end.rows == end.nulls for end in ends)

    def unmatched(self, key: ForeignKey) -> str:
        """In words, how few values of a declared key are found where it leads; empty for others."""
        return "" if self.catalog is None else self.catalog.unmatched.get(key, "")

    def listed(self, ref: ColumnRef, profile: ColumnProfile | None, *, key: bool) -> Listed:
        """A small column's values, all of them, with what was retrieved marked; of others, what
        was retrieved beside usual examples."""
        found = self.values.get(ref, {})
        numeric = profile is not None and profile.main_storage in NUMERIC
        marked = {
            value if numeric and _NUMBER.fullmatch(value) else literal(value, LONGEST_RETRIEVED): (
                f' (like "{phrase}")' if phrase else ""
            )
            for value, phrase in list(found.items())[:MOST_RETRIEVED]
        }
        instead = _RESEMBLE if marked else HIDDEN
        shown = [f"{text}{mark}" for text, mark in marked.items()]
        given = self.given.get(ref)
        if given is not None and self.examples:
            texts = [_cut(cell, given.characters) for cell in given.values[: self.examples]]
            every = profile is not None and profile.complete and profile.distinct <= len(texts)
            more = [text for text in texts if text not in marked]
            return Listed([*shown, *more], every, instead)
        if profile is None or not self.examples or (numeric and (key or ref in self.joined)):
            return Listed(shown, instead=instead)
        usual = _usual(profile)
        if self.frequent:
            most = 0 if key else _telling(ref, profile, usual, self.examples)
            texts = [literal(cell) if isinstance(cell, str) else number(cell) for cell in usual]
            more = [text for text in texts[:most] if text not in marked]
            every = profile.complete and 0 < len(usual) <= most and marked.keys() <= set(texts)
            return Listed([*shown, *more], every, instead)
        textual = profile.main_storage == "text"
        main = [cell for cell in usual if isinstance(cell, str) == textual]
        if self.drawn is not None and main:
            one = self.drawn(ref).choice(main)
            return Listed([*shown, _example(one)], instead=instead)
        whole = [literal(cell) for cell in usual]
        if _is_small(profile, usual, whole) and marked.keys() <= set(whole):
            return Listed([f"{text}{marked.get(text, '')}" for text in whole], True, instead)
        wanted = min(self.examples, _examples(profile))
        texts = [_example(cell) for cell in _best(main)]
        more = [text for text in texts if text not in marked]
        return Listed([*shown, *more[: 1 if shown else wanted]], instead=instead)


def described_parts(
    descriptions: Iterable[DescriptionMatch],
) -> dict[ColumnRef, dict[str, str]]:
    """Parts of columns' descriptions that were found, by column."""
    texts: dict[ColumnRef, dict[str, str]] = {}
    for match in descriptions:
        texts.setdefault(match.column, {})[match.part] = match.text
    return texts


def values_by_column(values: Iterable[ValueMatch]) -> dict[ColumnRef, dict[str, str]]:
    """Stored values found, by their column, each with the words that it resembles."""
    found: dict[ColumnRef, dict[str, str]] = {}
    for match in values:
        phrase = " ".join(match.phrase.replace('"', " ").split())
        found.setdefault(match.column, {}).setdefault(match.value, phrase)
    return found


def _usual(profile: ColumnProfile) -> list[Cell]:
    """Frequent values but those that stand for a missing one, of any kind."""
    absent = {text for text, _ in profile.missing}
    return [cell for cell, _ in profile.frequent if cell not in absent and _is_worth_it(cell)]


def _is_worth_it(cell: Cell) -> bool:
    if isinstance(cell, str):
        return bool(cell.strip())
    if isinstance(cell, int | float | Decimal):
        return math.isfinite(cell)
    return cell is not None and not isinstance(cell, bytes)


def _is_small(profile: ColumnProfile, usual: Sequence[Cell], whole: Sequence[str]) -> bool:
    """True if a column's values are few and short enough to list them all."""
    absent = len(profile.missing)
    if not profile.complete or not usual or len(usual) + absent < profile.distinct:
        return False
    if profile.main_storage != "text":
        return len(usual) <= FEW_NUMBERS
    if len(usual) > FEW_NUMBERS and (
        least_and_greatest(profile) or any(form.name in _OPAQUE for form in profile.formats)
    ):
        return False
    size = sum(map(len, whole))
    most = LISTED_ONCE if profile.unique and len(usual) > FEW_NUMBERS else LISTED
    return len(usual) <= FEW_VALUES and size <= most and max(map(len, whole)) <= LONGEST_LISTED + 2


def _examples(profile: ColumnProfile) -> int:
    """Examples that are enough for a column."""
    if any(form.name in _OPAQUE for form in profile.formats):
        return 1
    if profile.main_storage in NUMERIC:
        return 1 if least_and_greatest(profile) else FEW_NUMBERS
    if least_and_greatest(profile):
        return 0  # the range shows how dates are written
    return FEW_LONG if profile.unique or profile.mean_length > LONGEST_EXAMPLE else FEW_NUMBERS


def _telling(ref: ColumnRef, profile: ColumnProfile, usual: Sequence[Cell], most: int) -> int:
    """Values that tell what a column holds, `most` at most: none of identifiers, addresses, many
    numbers and long texts; one of dates (MAG-SQL)."""
    named = split_name(ref.column)[-1:]
    if not named or named[0].casefold() in _BY_NAME:
        return 0
    if profile.main_storage in NUMERIC:
        return most if profile.distinct <= MOST_NUMBERS else 0
    if any(isinstance(cell, str) and len(cell) > LONGEST_LISTED for cell in usual):
        return 0
    if any(form.name in _OPAQUE for form in profile.formats):
        return 0
    return most if newest(profile) is None else 1


def _best(usual: Sequence[Cell]) -> list[Cell]:
    """Values as examples: short ones where there are any, and numbers but zero."""
    short = [cell for cell in usual if not isinstance(cell, str) or len(cell) <= LONGEST_EXAMPLE]
    telling = [cell for cell in short if cell != 0]
    return telling or short or list(usual[:1])


def _example(cell: Cell) -> str:
    return _cut(cell, LONGEST_EXAMPLE)


def _cut(cell: Cell, characters: int) -> str:
    return literal(cell, characters) if isinstance(cell, str) else number(cell)


def bare(text: str) -> str:
    """A name without case, blanks and marks, to tell whether two say the same."""
    return re.sub(r"[\W_]+", "", text).casefold()
