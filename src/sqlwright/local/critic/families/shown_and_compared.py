"""Features of how the columns that a query shows, groups and compares fit question and schema."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set

from sqlwright.english.vocabulary import KEY_WORDS
from sqlwright.english.words import plural, split_name, stem
from sqlwright.local.critic.cues import patterns
from sqlwright.local.critic.families.wording import COUNTED
from sqlwright.local.critic.parts import Parts
from sqlwright.schema import ColumnRef, Schema
from sqlwright.sql.declared_types import type_class

Features = dict[str, float]

_SAID = patterns("shown_and_compared")

ENDS_OF_KEYS = frozenset(form for word in KEY_WORDS for form in (word, plural(word)))
"""Words that a key's name may end in, in singular and plural."""


_ORDERING = frozenset({"=", "!=", "<", ">", "<=", ">="})
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.]*\w)")
NUMBER_WORDS = COUNTED | {"one": "1", "once": "1", "twice": "2", "thrice": "3"}
"""Words that are a number beside a bound."""


class Shapes:
    """One question over one schema, against which the shapes of its candidates are held."""

    def __init__(self, question: str, schema: Schema) -> None:
        self._schema = schema
        self._words = stems(re.findall(r"\w+", question))
        self._asks_id = bool(_SAID["asks_id"].search(question))
        self._named = _tables_named(schema, self._words)
        self._numbers = _numbers_named(question, schema)

    def features(self, parts: Parts, used: Sequence[ColumnRef], tables: Set[str]) -> Features:
        """The features of what a query over these columns and tables (folded names) shows and
        groups, beside what the question asks for."""
        shown = [term.column for term in parts.facts.first.shown if term.column is not None]
        grouped = [term.column for term in parts.grouping if term.column is not None]
        near, keys = self._schema.foreign_key_columns, self._schema.all_keys
        there = len(self._named & tables)
        numbers = [ref for ref in self._numbers if ref.table.casefold() in tables]
        summed = any(ref in used for ref in numbers)
        firsts = [order[0].term.aggregate for order in parts.facts.orders]
        return {
            "foreign keys shown": float(min(sum(ref in near for ref in shown), 2)),
            "keys shown unasked": float(
                min(sum(ref in keys and not self._asks_id for ref in shown), 2)
            ),
            "shown unnamed": float(min(sum(not self._names(ref) for ref in shown), 3)),
            "grouped elsewhere": float(
                bool(shown and grouped)
                and not {r.table for r in shown} & {r.table for r in grouped}
            ),
            "grouped by foreign key": float(any(ref in near for ref in grouped)),
            "grouped by lone key": float(_lone_key(self._schema, grouped, parts)),
            "groups counted": float(
                any(call is not None and call.function == "count" for call in firsts)
            ),
            "grouped unnamed": float(any(not self._names(ref) for ref in grouped)),
            "named tables used": float(min(there, 3)),
            "named tables left": float(min(len(self._named) - there, 3)),
            # “How many degrees” where a number column is called degrees: is it that, or a count?
            "named number used": float(summed),
            "named number left": float(bool(numbers) and not summed),
        }

    def _names(self, ref: ColumnRef) -> bool:
        """True if the question holds any word of a column's name."""
        return any(stem(word) in self._words for word in split_name(ref.column))


def comparison_features(question: str, parts: Parts) -> Features:
    """Features of the comparisons with the numbers that the question names."""
    wrong = unasked = lost = strict = 0
    if _SAID["bound"].search(question):
        question = _SAID["written"].sub(
            lambda found: NUMBER_WORDS[found.group().casefold()], question
        )
    for number in _NUMBER.finditer(question):
        own = _operator_before(number.group(), parts)
        before, after = question[: number.start()][-40:], question[number.end() :][:24]
        if own is None or _SAID["range"].search(before):
            continue
        more = bool(_SAID["more"].search(before) or _SAID["or_more"].search(after))
        less = bool(_SAID["less"].search(before) or _SAID["or_less"].search(after))
        if more == less:
            unasked += own in {">", "<", ">=", "<="}
            continue
        wrong += own[0] == ("<" if more else ">")
        lost += own in {"=", "!="}
        including = bool(
            _SAID["inclusive"].search(before)
            or _SAID["or_more"].search(after)
            or _SAID["or_less"].search(after)
        )
        strict += own in {">", "<", ">=", "<="} and (own in {">=", "<="}) != including
    return {
        "compared wrongly": float(min(wrong, 2)),
        "compared unasked": float(min(unasked, 2)),
        "comparison lost": float(min(lost, 2)),
        "bound in doubt": float(min(strict, 2)),
    }


def _operator_before(number: str, parts: Parts) -> str | None:
    """The operator of the first comparison with a literal that begins with a number."""
    begins = re.compile(rf"{re.escape(number)}(?![\d.])")
    for one in parts.facts.comparisons:
        if one.operator in _ORDERING and one.constant and begins.match(one.constant.text):
            return one.operator
    return None


def _lone_key(schema: Schema, grouped: Sequence[ColumnRef], parts: Parts) -> bool:
    """Groups of a single table's primary key have one row each."""
    if len(grouped) != 1 or parts.joins:
        return False
    table = schema.table(grouped[0].table)
    return table is not None and table.primary_key == (grouped[0].column,)


def _tables_named(schema: Schema, words: set[str]) -> frozenset[str]:
    """Folded names of the tables whose whole name the question holds."""
    return frozenset(
        table.name.casefold() for table in schema.tables if says(words, table.own_name)
    )


def _numbers_named(question: str, schema: Schema) -> list[ColumnRef]:
    """Columns of numbers, keys aside, that hold a word of what the question wants the number of."""
    found = _SAID["how_many"].search(question)
    if not found:
        return []
    asked = stems(word for word in found.groups() if word)
    return [ref for ref in number_columns(schema) if stems(split_name(ref.column)) & asked]


def number_columns(schema: Schema) -> Iterator[ColumnRef]:
    """The columns of numbers, keys aside."""
    for ref in schema.columns:
        column = schema.column(ref)
        if column and type_class(column.type) == "number" and ref not in schema.key_columns:
            yield ref


def stems(words: Iterable[str]) -> set[str]:
    """The stems of words in any case."""
    return {stem(word.casefold()) for word in words}


def says(words: Set[str], name: str) -> bool:
    """True if stems hold the whole of a name."""
    own = stems(split_name(name))
    return bool(own) and own <= words
