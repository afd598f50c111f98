"""Features of key columns and of the operands of set operations; features that compare ORDER BY,
MAX, MIN, COUNT and booleans with what the question names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import cached_property

from sqlwright.english.vocabulary import FUNCTION_WORDS
from sqlwright.english.words import split_name, stem, tokens
from sqlwright.local.critic.cues import patterns, words
from sqlwright.local.critic.families.shown_and_compared import (
    ENDS_OF_KEYS,
    number_columns,
    says,
    stems,
)
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


class References:
    """One question over one schema, against which the keys of its candidates are held."""

    def __init__(self, question: str, schema: Schema) -> None:
        self._schema = schema
        self._words = [token.text for token in tokens(question)]
        self._stems = [stem(word) for word in self._words]

    def features(self, parts: Parts) -> Features:
        """The features of a query."""
        apart = sum(self._apart(left, right) for left, right in parts.operands)
        kinds = set(self._key_kinds(parts))
        identified = [any(self._identifies(ref, t) for ref in parts.grouped) for t in self._each]
        return {
            "grouped by each": float(any(identified)),
            "grouped by another": float(bool(parts.grouped and identified) and not any(identified)),
            "operands apart": float(min(apart, 2)),
            "key as said": float("own" in kinds),
            "key of another": float("other" in kinds),
            "joined by another role": float(min(self._other_roles(parts), 2)),
        }

    @cached_property
    def _each(self) -> list[Table]:
        """Tables of whose rows the question wants something for each: “each customer”."""
        pairs = zip(self._words, self._stems[1:], [*self._stems[2:], ""], strict=False)
        asked = [{one, other} for word, one, other in pairs if word in {"each", "every", "per"}]
        return [
            table
            for table in self._schema.tables
            if (own := split_name(table.own_name))
            and any(stem(own[-1]) in words for words in asked)
        ]

    @staticmethod
    def _is_name(ref: ColumnRef) -> bool:
        words = split_name(ref.column)
        return bool(words) and words[-1] in {"name", "title", "fullname"}

    def _identifies(self, ref: ColumnRef, table: Table) -> bool:
        """True if a column tells a table's rows apart, or refers to them."""
        if ref.table == table.name:
            return ref.column in table.primary_key or self._is_name(ref)
        return self._refers(ref, table.name)

    def _refers(self, ref: ColumnRef, table: str) -> bool:
        """True if a column refers to a table."""
        return any(
            key.table == ref.table and ref.column in key.columns and key.target_table == table
            for key in self._schema.foreign_keys
        )

    def _apart(self, left: ColumnRef, right: ColumnRef) -> bool:
        """True if two columns neither share a name nor are joined by a key."""
        pairs = self._schema.key_pairs
        return left.column.casefold() != right.column.casefold() and not (
            (left, right) in pairs or (right, left) in pairs
        )

    def _key_kinds(self, parts: Parts) -> Iterator[str]:
        """For each “manufacturer code” that the question says and each key that the query uses:
        `own` if it is that table's key or one that refers to it, else `other`."""
        if not self._keys_said:
            return
        used = (*parts.shown, *parts.worked_out, *parts.counted, *parts.conditions, *parts.grouped)
        for ref in dict.fromkeys((*used, *parts.ordered)):
            words = split_name(ref.column)
            if ref not in self._schema.all_keys and not (words and words[-1] in ENDS_OF_KEYS):
                continue
            for table, word in self._keys_said:
                refers = self._refers(ref, table)
                yield "own" if ref.table == table or refers or word in stems(words) else "other"

    @cached_property
    def _keys_said(self) -> list[tuple[str, str]]:
        """Tables whose keys the question speaks of, with the stem that it names them by."""
        pairs = zip(self._words, self._words[1:], self._stems, strict=False)
        return [
            (table.name, named)
            for word, key, named in pairs
            if key in ENDS_OF_KEYS and word not in FUNCTION_WORDS
            for table in self._schema.tables
            if stems(split_name(table.own_name)) == {named}
        ]

    def _other_roles(self, parts: Parts) -> int:
        """Joins by one of several keys between two tables while the question names another:
        reported by, not closed by."""
        return sum(
            max(map(self._role, rivals)) > self._role(own)
            for near, far in self._directed_joins(parts)
            if len(rivals := self._keys_between.get((near.table, far.table), [])) > 1
            for own in rivals
            if own == near
        )

    @staticmethod
    def _directed_joins(parts: Parts) -> Iterator[tuple[ColumnRef, ColumnRef]]:
        for select in parts.facts.selects:
            for join in select.joins:
                for one, other in join.pairs:
                    yield one, other
                    yield other, one

    @cached_property
    def _keys_between(self) -> dict[tuple[str, str], list[ColumnRef]]:
        """Referring columns by the names of their table and of the one referred to."""
        found: dict[tuple[str, str], list[ColumnRef]] = {}
        for key in self._schema.foreign_keys:
            if len(key.columns) == 1:
                ends = key.table, key.target_table
                found.setdefault(ends, []).append(ColumnRef(key.table, key.columns[0]))
        return found

    def _role(self, ref: ColumnRef) -> int:
        """The number of words of a referring column, tables' names aside, that the question
        holds."""
        own = (
            stems(split_name(ref.column))
            - stems(ENDS_OF_KEYS)
            - stems(split_name(self._schema.spoken(ref.table)))
        )
        targets = (
            key.target_table for key in self._schema.foreign_keys
            if key.table == ref.table and ref.column in key.columns
        )  # fmt: skip
        for target in targets:
            own -= stems(split_name(target))
        return len(own & set(self._stems))
