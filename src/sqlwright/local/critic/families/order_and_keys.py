"""Features that compare ORDER BY, MAX, MIN, COUNT and booleans with what the question names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import cached_property

from sqlwright.english.vocabulary import FUNCTION_WORDS
from sqlwright.english.words import split_name, stem
from sqlwright.local.critic.cues import patterns, words
from sqlwright.local.critic.families.shown_and_compared import number_columns, says, stems
from sqlwright.local.critic.parts import Parts
from sqlwright.schema import ColumnRef, Schema, Table
from sqlwright.sql.facts import QueryFacts, SelectFacts, Term

Features = dict[str, float]

_SAID = patterns("order_and_keys")
_STOPS = words("stops.order_and_keys")

_NO = frozenset({"0", "f", "false", "n", "no"})
_YES = frozenset({"1", "t", "true", "y", "yes"})
"""First words of what a switch is compared with."""
_WORD = re.compile(r"\w+(?!\.)\b")


class Keys:
    """One question over one schema, against which the keys of its candidates are held."""

    def __init__(self, question: str, schema: Schema) -> None:
        self._schema = schema
        self._question = question
        self._stems = stems(re.findall(r"\w+", question))
        self._order = self._said(_SAID["ordered_by"])
        self._extreme = self._said(_SAID["extreme"])
        self._negated = bool(_SAID["negated"].search(question))

    def features(self, parts: Parts, used: Sequence[ColumnRef], tables: Set[str]) -> Features:
        """The features of a query over these columns and tables (folded names)."""
        facts, ordered = parts.facts, [key.term for key in parts.last_order]
        keys = _key_words(ordered)
        limits = [call.argument for call in facts.aggregates if call.function in {"max", "min"}]
        extremes = keys | _key_words(limits)
        called = any(term.aggregates for term in ordered)
        numbers = [ref for ref in self._numbers if ref.table.casefold() in tables]
        off = [name for name in _switched(facts, _NO) if says(self._stems, name)]
        on = [name for name in _switched(facts, _YES) if says(self._stems, name)]
        subtypes = [table for table in self._named if self._is_subtype(table, tables)]
        return {
            "ordered as said": float(bool(self._order & keys)),
            "ordered elsewhere": float(bool(self._order and keys) and not self._order & keys
                                       and not called),
            "extreme as said": float(bool(self._extreme & extremes)),
            "extreme elsewhere": float(bool(self._extreme and extremes)
                                       and not self._extreme & extremes),
            "shown twice": float(_shown_twice(facts.first)),
            "number counted": float(bool(facts.calls("count") and numbers)
                                    and not any(ref in used for ref in numbers)),
            "number taken": float(any(ref in used for ref in numbers)),
            "off unasked": float(bool(off) and not self._negated),
            "off": float(bool(off) and self._negated),
            "on unasked": float(bool(on) and self._negated),
            "on": float(bool(on) and not self._negated),
            "subtype left": float(bool(subtypes)),
        }  # fmt: skip

    def _said(self, pattern: re.Pattern[str]) -> set[str]:
        """Stems of the column names' words among those that follow a cue."""
        found: set[str] = set()
        for match in pattern.finditer(self._question):
            for word in re.findall(r"\w+", next(filter(None, match.groups())).casefold()):
                if word in _STOPS:
                    break
                if word not in FUNCTION_WORDS:
                    found.add(stem(word))
        return found & self._column_stems

    @cached_property
    def _column_stems(self) -> set[str]:
        return {stem(word) for ref in self._schema.columns for word in split_name(ref.column)}

    @cached_property
    def _numbers(self) -> list[ColumnRef]:
        """Columns of numbers, keys aside, whose whole name the question holds."""
        return [ref for ref in number_columns(self._schema) if says(self._stems, ref.column)]

    @cached_property
    def _named(self) -> list[Table]:
        return [table for table in self._schema.tables if says(self._stems, table.own_name)]

    def _is_subtype(self, table: Table, tables: Set[str]) -> bool:
        """True if an unused table's rows are some of those of a used one."""
        return table.name.casefold() not in tables and any(
            key.table == table.name
            and set(key.columns) == set(table.primary_key)
            and key.target_table.casefold() in tables
            for key in self._schema.foreign_keys
        )


def _key_words(terms: Iterable[Term]) -> set[str]:
    """Stems of the words of columns' names in expressions, and the aggregates they call."""
    terms = list(terms)
    words = {word for term in terms for ref in term.columns for word in split_name(ref.column)}
    calls = {call.function for term in terms for call in term.aggregates}
    return {stem(word) for word in words | calls}


def _switched(facts: QueryFacts, values: Set[str]) -> Iterator[str]:
    """Names of the columns that a query sets equal to one of these."""
    for one in facts.comparisons:
        column, constant = one.left.column, one.constant
        if one.operator == "=" and column is not None and constant is not None:
            first = _WORD.match(constant.text.casefold())
            if first and first.group() in values:
                yield column.column


def _shown_twice(first: SelectFacts) -> bool:
    """True if a column is shown more than once, plainly and in an aggregate included."""
    told: list[str | Term] = []
    for term in first.shown:
        inner = term.aggregate.argument if term.aggregate is not None else term
        if not inner.star:
            told.append(term if inner.column is None else inner.column.column.casefold())
    return len(told) > len(set(told))
