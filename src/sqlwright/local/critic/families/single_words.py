"""Features of how a query heeds single words of the question: an extreme, a direction, a part of a
name, another entity's key."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from sqlwright.english.vocabulary import FUNCTION_WORDS
from sqlwright.english.words import split_name
from sqlwright.local.critic.cues import patterns
from sqlwright.local.critic.families.shown_and_compared import stems
from sqlwright.local.critic.parts import Parts
from sqlwright.schema import ColumnRef, Schema
from sqlwright.sql.declared_types import type_feature
from sqlwright.sql.facts import OrderKey, Term

Features = dict[str, float]


_SAID = patterns("single_words")
_CALLED = tuple((kind, _SAID[kind]) for kind in ("avg", "sum", "max", "min"))


class Cues:
    """One question over one schema, whose cues are held against what its candidates do."""

    def __init__(self, question: str, schema: Schema) -> None:
        self._text = question.casefold()
        self._schema = schema
        self._names_asked = _name_parts(question)
        clause = _SAID["sorted"].split(question, maxsplit=1)[1:]
        self._names_sorted = _name_parts(clause[0]) if clause else (False, False)
        free = _SAID["bound"].sub(" ", _SAID["span"].sub(" ", question))
        self._wants_extreme = bool(_SAID["extreme"].search(free))
        self._up, self._down, self._oldest, self._youngest = _heard(
            free, "up", "down", "oldest", "youngest"
        )
        self._descending, self._ascending, self._old_first, self._young_first = _heard(
            question, "descending", "ascending", "old_first", "young_first"
        )
        self._periods, self._counting = _heard(question, "periods", "counting")
        self._by_count, self._each, self._everything, self._negated, self._of_group = _heard(
            question, "by_count", "each", "everything", "negated", "of_group"
        )
        chain = _SAID["chain"].search(question)
        self._chained = len(_SAID["function"].findall(chain.group())) if chain else 0
        self._uncalled = tuple(kind for kind, cue in _CALLED if not cue.search(question))
        different = _SAID["different"].search(question)
        nouns = re.findall(r"\w+", different.group(1)) if different else []
        self._different = stems(word for word in nouns if word not in FUNCTION_WORDS)

    def features(self, parts: Parts) -> Features:
        """The features of what a query does that is asked for, and of what it does unasked."""
        return (
            self._names(parts)
            | self._extremes(parts)
            | self._directions(parts)
            | self._functions(parts)
            | self._negations(parts)
            | self._groups(parts)
            | self._literals(parts)
        )

    def _names(self, parts: Parts) -> Features:
        """First and last names: “their last names” wants one column, not two."""
        first, last = self._names_asked
        shows_first, shows_last = _holds(parts.shown)
        extra = (first and shows_last) or (last and shows_first)
        right = (first and shows_first) or (last and shows_last)
        return {
            "name part extra": float(first != last and extra),
            "name part right": float(first != last and right and not extra),
            "name part lost": float(
                (first and not shows_first and shows_last)
                or (last and not shows_last and shows_first)
            ),
        } | self._name_order(parts)

    def _name_order(self, parts: Parts) -> Features:
        """Features of the part of a name that the words behind “sorted” ask for and that it sorts
        by."""
        asked, by = self._names_sorted, _holds(parts.ordered)
        told = any(by) and asked in {(True, False), (False, True)}
        missed = any(wanted and not there for wanted, there in zip(asked, by, strict=True))
        return {
            "name part ordered right": float(told and by == asked),
            "name part ordered wrong": float(told and missed),
        }

    def _extremes(self, parts: Parts) -> Features:
        fits = set()
        if self._up or self._down or self._oldest or self._youngest:
            for descending, name in _directed(parts):
                of_time = bool(_SAID["of_time"].search(name))
                fits.add(
                    (self._up if descending else self._down)
                    or (self._oldest and descending != of_time)
                    or (self._youngest and descending == of_time)
                )
        limited = bool(parts.facts.limits)
        lone = limited and not parts.grouped and bool(parts.calls)
        return {
            "limit made up": float(limited and not self._wants_extreme),
            "limit in each": float(self._each and parts.facts.limit is not None),
            "aggregate limited": float(lone),
            "extreme right": float(fits == {True}),
            "extreme wrong": float(fits == {False}),
        }

    def _directions(self, parts: Parts) -> Features:
        order = parts.facts.order
        found = dict.fromkeys(("direction right", "direction wrong", "order counted"), 0.0)
        if not order:
            return found
        if self._by_count:
            calls = {call.function for key in order for call in key.term.aggregates}
            named = any(_SAID["count_name"].search(_names_in(key.term)) for key in order)
            found["order counted"] = float(named or bool(calls & {"count", "sum"}))
        descending, name = _leading(order)
        of_time = bool(_SAID["of_time"].search(name))
        down = self._descending or (self._young_first if of_time else self._old_first)
        up = self._ascending or (self._old_first if of_time else self._young_first)
        if parts.facts.limit is None and up != down:
            found["direction right"] = float(descending == down)
            found["direction wrong"] = float(descending != down)
        return found

    def _functions(self, parts: Parts) -> Features:
        first, calls = parts.facts.first, parts.calls
        called = {call.function for call in calls}
        asked = self._chained
        made_up = sum(function in called for function in self._uncalled)
        star = any(term.star for term in first.shown)
        return {
            "aggregates lost": float(max(asked - len(calls), 0)),
            "aggregates kept": float(asked > 1 and len(calls) >= asked),
            "function made up": float(min(made_up, 2)),
            "mixed ungrouped": float(bool(calls and parts.shown)
                                     and not first.grouping),
            "star kept": float(self._everything and star),
            "star lost": float(self._everything and not star),
            "different uncounted": float(self._different_uncounted(parts)),
        }  # fmt: skip

    def _different_uncounted(self, parts: Parts) -> bool:
        """True if the number of different values of a column is asked for and not counted so."""
        if not self._different:
            return False
        keys = self._schema.all_keys
        named = any(
            self._different & stems(split_name(ref.column))
            for ref in self._schema.columns
            if ref.table.casefold() in parts.tables and ref not in keys
        )
        counts = (call for call in parts.facts.aggregates if call.function == "count")
        return named and not any(call.distinct for call in counts)

    def _negations(self, parts: Parts) -> Features:
        comparisons = parts.facts.comparisons
        joined = bool(parts.joins)
        unequal = any(one.operator == "!=" for one in comparisons)
        excepted = any(one.operator == "except" for one in parts.facts.operations) or any(
            one.operator == "in" and one.negated for one in comparisons
        )
        return {
            # Another one of its rows may be equal.
            "unequal joined": float(self._negated and unequal and joined),
            "excepted": float(self._negated and excepted),
            "excepted joined": float(self._negated and excepted and joined),
        }

    def _groups(self, parts: Parts) -> Features:
        keys = self._schema.all_keys
        grouped = {ref.column.casefold() for ref in parts.grouped}
        first, calls = parts.facts.first, parts.calls
        having = any(select.has_having for select in parts.facts.selects)
        alone = len(first.shown) == 1 and not first.grouping
        return {
            # One number where one for each was asked for, or where no number was.
            "each in one": float(bool(calls) and alone and (self._each or self._periods)),
            "counted alone": float(
                alone and any(call.function == "count" for call in calls) and not self._counting
            ),
            "shown key ungrouped": float(
                bool(first.grouping)
                and any(ref in keys and ref.column.casefold() not in grouped for ref in parts.shown)
            ),
            "having kept": float(having and self._of_group),
        }

    def _literals(self, parts: Parts) -> Features:
        facts = parts.facts
        cuts = [cut for one in facts.selects for cut in (one.limit, one.offset) if cut is not None]
        written = [(one.text.casefold(), one.is_text) for one in facts.constants]
        written += [(str(cut), False) for cut in cuts]
        texts = [text for text, is_text in written if is_text or len(text) > 1]
        repeated = any(texts.count(text) > max(self._text.count(text), 1) for text in set(texts))
        compared = sum(
            not one.is_text and column is not None and type_feature(column.type) == "text-type"
            for one in parts.compared
            for column in [self._schema.column(one.column)]
        )
        return {
            "literal repeated": float(repeated and not facts.combines),
            "literal empty": float(any(is_text and not text.strip(" %")
                                       for text, is_text in written)),
            "text against number": float(compared),
            "constant shown": float(parts.shown_constant),
        }  # fmt: skip


def _heard(text: str, *cues: str) -> tuple[bool, ...]:
    """True for each of the cues, by their names, that is in a text, else False."""
    return tuple(bool(_SAID[cue].search(text)) for cue in cues)


def _name_parts(text: str) -> tuple[bool, bool]:
    """True if a text asks for first names, then True if it asks for last names."""
    first, last = _heard(text, "first_name", "last_name")
    return first, last


def _holds(refs: Sequence[ColumnRef]) -> tuple[bool, bool]:
    """True if columns hold first names, then True if they hold last names."""
    return (
        any(_SAID["first_column"].search(ref.column) for ref in refs),
        any(_SAID["last_column"].search(ref.column) for ref in refs),
    )


def _names_in(term: Term) -> str:
    """The names of an expression's columns, and of the parts of dates that it takes."""
    return " ".join([*(ref.column for ref in term.columns), *(one.part for one in term.dates)])


def _leading(order: Sequence[OrderKey]) -> tuple[bool, str]:
    """True if an ORDER BY puts the largest first, with the names that it orders by."""
    return order[0].descending, _names_in(order[0].term)


def _directed(parts: Parts) -> Iterator[tuple[bool, str]]:
    """Each extreme that is taken: True if the largest comes first, and the names it is of."""
    yield from map(_leading, parts.facts.extremes)
    for call in parts.facts.aggregates:
        if call.function in {"max", "min"}:
            yield call.function == "max", _names_in(call.argument)
