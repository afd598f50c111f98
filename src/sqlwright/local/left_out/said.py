"""The meaning of a query, as far as the phrases of a question ask for it."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from math import isclose

from sqlwright.english.cues import PROPERTIES
from sqlwright.english.words import is_abbreviation, split_name, stem
from sqlwright.schema import ColumnRef, Schema
from sqlwright.sql.facts import QueryFacts
from sqlwright.types.periods import is_bound

_RANGES = frozenset({"<", ">", "<=", ">=", "between"})
_NO = frozenset({"0", "0.0", "no", "n", "false", "f", "none", "never"})
_NEGATIVE = ("no ", "non", "not", "un", "in", "im", "dis", "never", "without")
"""Beginnings of stored values that say what isn't so."""
_RANKING = frozenset({"row_number", "rank", "dense_rank", "ntile", "first_value", "last_value",
                      "max", "min", "percent_rank", "cume_dist", "lag", "lead"})  # fmt: skip
_DIVISION = frozenset({"/", "%"})
_PARTS_OF_TEXT = frozenset({"substr", "substring", "instr", "str_position", "left", "right"})
_FACTORS = (1, 7, 12, 24, 52, 60, 1024, 3600, 86_400, 1024 * 1024, 2.54, 0.45359237)
_POWERS = (1, 10, 100, 1e3, 1e6, 1e9)
"""Units are so many times of one another."""
_NUMBERS = re.compile(r"\d+")
_LEAST = 4
"""Letters of a word that may be part of a longer name; chosen."""


@dataclass(frozen=True)
class Said:
    """The facts of a query as answers. `functions` are its calculations' names in lower case."""

    facts: QueryFacts
    schema: Schema
    functions: frozenset[str] = field(default_factory=frozenset)

    @cached_property
    def _names(self) -> tuple[tuple[str, _Name], ...]:
        """Its columns and tables, and the words of their names and labels."""
        found: list[tuple[str, _Name]] = []
        for ref in self.facts.columns:
            column = self.schema.column(ref)
            found.append((str(ref), _name(ref.column, column.label if column else "")))
        for name in self.facts.tables:
            table = self.schema.table(name)
            found.append((name, _name(self.schema.spoken(name), table.label if table else "")))
        return tuple(found)

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of the words in the names and labels of its columns and tables."""
        return frozenset(one for _, name in self._names for one in name.stems)

    @cached_property
    def referred(self) -> frozenset[str]:
        """The tables that its tables' keys refer to: who takes part in a course is a student."""
        own = set(self.facts.tables)
        return frozenset(key.target_table for key in self.schema.foreign_keys if key.table in own)

    @cached_property
    def grouped(self) -> frozenset[ColumnRef]:
        """The columns that it groups by: each of their values has a row of its own."""
        terms = [term for one in self.facts.selects for term in one.grouping]
        return frozenset(ref for term in terms for ref in term.columns)

    @cached_property
    def shown(self) -> frozenset[ColumnRef]:
        """The columns that it shows as they are."""
        return frozenset(term.column for term in self.facts.first.shown if term.column is not None)

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """Its constants as texts, folded, without a pattern's percent signs."""
        found = (one.text.strip(" %").casefold() for one in self.facts.constants)
        return tuple(dict.fromkeys(text for text in found if text))

    @cached_property
    def numbers(self) -> tuple[float, ...]:
        """Its constants that are numbers, and how many rows it takes or leaves out."""
        found: list[float] = [float(one) for one in self.facts.limits]
        found += [float(one.offset) for one in self.facts.selects if one.offset]
        for one in self.facts.constants:
            try:
                found.append(float(one.value))
            except ValueError:
                continue
        return tuple(found)

    def naming(self, word: str) -> str:
        """The column or table that a word stands for, generously: by its stem, its short form, as a
        part of the name, or as a property that such columns hold; empty for none."""
        return next((shown for shown, name in self._names if _stands_for(word, name)), "")

    def shows(self, word: str) -> bool:
        """True if a word stands for a column that it shows, as generously as `naming`."""
        shown = {str(ref) for term in self.facts.first.shown for ref in term.columns}
        return any(_stands_for(word, name) for place, name in self._names if place in shown)

    def holds(self, text: str) -> bool:
        """True if a constant is a text, part of it, or has it as a part."""
        wanted = text.strip().casefold()
        return any(wanted in one or (len(one) > 1 and one in wanted) for one in self.texts)

    def has_number(self, worth: float) -> bool:
        """True if a number is there, in some unit or as the next one of a strict bound."""
        next_one = self.bounds or bool(self.facts.limits)
        return any(
            same_amount(worth, one) or (next_one and abs(worth - one) == 1) for one in self.numbers
        ) or any(f"{worth:g}" in text or _is_beside(f"{worth:g}", text) for text in self.texts)

    def has_time(self, first: str, last: str) -> str:
        """The constant that a time of the question, in ISO 8601, is; empty for none."""
        wanted = [first, last, first.replace("-", ""), first[:4]]
        for text in self.texts:
            if any(time in text for time in wanted) or first[2:4] in _NUMBERS.findall(text):
                return text
            if _is_beside(first, text) or _is_beside(last, text):
                return text
        return ""

    def spare(self, text: str, known: Collection[str]) -> tuple[str, ...]:
        """The constants that something must equal and that stand neither in a text nor among the
        `known`: codes, switches, parts of dates."""
        folded = text.casefold()
        found: dict[str, None] = {}
        for one in self.facts.comparisons:
            if one.operator not in {"=", "in", "like", "!="}:
                continue
            for term in one.right:
                constant = term.constant
                if constant is None or constant.is_format:
                    continue
                said = constant.text.strip(" %").casefold()
                if said and said not in known and not _stands_in(said, folded):
                    found[constant.text] = None
        return tuple(found)

    @cached_property
    def excludes(self) -> str:
        """The part that excludes something; empty for nothing."""
        facts = self.facts
        for one in facts.comparisons:
            if one.negated or one.operator == "!=":
                return "a negation"
            if one.operator == "null":
                return "IS NULL"
            told = one.constant.text.casefold() if one.constant is not None else ""
            if told in _NO or (one.operator == "=" and told.startswith(_NEGATIVE)):
                return f"'{told}'"
        if any(one.operator == "except" for one in facts.operations):
            return "EXCEPT"
        return "LEFT JOIN" if self._keeps_all else ""

    @property
    def _keeps_all(self) -> bool:
        return any(join.kind == "left" for one in self.facts.selects for join in one.joins)

    @cached_property
    def bounds(self) -> bool:
        """True if it compares by size."""
        return any(one.operator in _RANGES for one in self.facts.comparisons)

    @cached_property
    def matches_texts(self) -> bool:
        """True if it looks at parts of texts."""
        operators = {one.operator for one in self.facts.comparisons}
        return bool(operators & {"like", "matches"} or self.functions & _PARTS_OF_TEXT)

    @cached_property
    def ranks(self) -> bool:
        """True if it orders, takes a largest or smallest value, or ranks."""
        facts = self.facts
        return bool(facts.orders or facts.calls("max", "min") or self.functions & _RANKING)

    @cached_property
    def averages(self) -> bool:
        """True if it works out a mean of some kind."""
        return self.facts.calls("avg") or bool(self.functions & (_DIVISION | {"median"}))

    @cached_property
    def counts(self) -> bool:
        """True if it counts or adds up."""
        return self.facts.calls("count", "sum", "total") or bool(self.functions & _RANKING)


def _stands_in(said: str, text: str) -> bool:
    """True if a constant stands in a text, a short one as a word of its own."""
    if len(said) >= _LEAST:
        return said in text
    return re.search(rf"(?<!\w){re.escape(said)}(?!\w)", text) is not None


@dataclass(frozen=True, slots=True)
class _Name:
    words: frozenset[str]
    stems: frozenset[str]
    joined: tuple[str, ...]
    """Without anything between its words."""


@lru_cache(maxsize=16384)
def _name(*names: str) -> _Name:
    words = frozenset(word for name in names for word in split_name(name))
    joined = tuple({"".join(split_name(name)) for name in names if name})
    return _Name(words, frozenset(map(stem, words)), joined)


@lru_cache(maxsize=65536)
def _stands_for(word: str, name: _Name) -> bool:
    root = stem(word)
    if root in name.stems or name.words & set(PROPERTIES.get(word, ())):
        return True
    if any(is_abbreviation(part, word) or is_abbreviation(word, part) for part in name.words):
        return True
    if any(_akin(root, other) for other in name.stems):
        return True
    return (
        any(
            (len(root) >= _LEAST and root in one) or (len(one) >= _LEAST and one in word)
            for one in name.joined
        )
        or word in name.joined
    )


def called(word: str, name: str, label: str = "") -> bool:
    """True if a word is one of a name's or label's own, or all of it, strictly."""
    known = _name(name, label)
    return stem(word) in known.stems or word in known.joined


def _akin(one: str, other: str) -> bool:
    """True if two stems begin alike for most of their letters: `nation` and `national`."""
    shared = next(
        (at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]),
        min(len(one), len(other)),
    )
    return shared >= _LEAST and shared * 4 >= max(len(one), len(other)) * 3


def _is_beside(iso: str, text: str) -> bool:
    """True if a text is the day before or after a time, which says as well how it is bounded."""
    return is_bound(iso, ">", [text]) or is_bound(iso, "<", [text])


def same_amount(asked: float, there: float) -> bool:
    """True if two numbers are the same in some unit."""
    if not asked or not there:
        return asked == there
    ratio = abs(asked / there)
    return any(
        isclose(ratio, wanted, rel_tol=1e-6)
        for factor in _FACTORS
        for power in _POWERS
        for wanted in (factor * power, 1 / (factor * power))
    )
