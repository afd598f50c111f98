"""Does a query order, rank, count and switch by the columns that the question names for it?

Read from the query's text, so that queries of any author can be described; what can't be read
counts as nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from functools import cached_property

from sqlwright.english.words import FUNCTION_WORDS, split_name, stem
from sqlwright.local.critic.shown_and_compared import SHOWN, number_columns, says, stems
from sqlwright.local.critic.wording import list_items
from sqlwright.schema import ColumnRef, Schema, Table

Features = dict[str, float]

_ORDERED_BY = re.compile(
    r"\b(?:order(?:ed|ing)?|sort(?:ed|ing)?|rank(?:ed)?|arranged?|listed)\b(?:\s+\w+){0,4}?\s+"
    r"(?:by|on|according to)\s+((?:[\w']+\s*){1,7})|"
    r"\b(?:ascending|descending|increasing|decreasing|alphabetical|lexicographical|chronological)\s+"
    r"(?:order\s+)?(?:of|by|on)\s+((?:[\w']+\s*){1,5})",
    re.IGNORECASE,
)
_EXTREME = re.compile(
    r"\b(?:highest|lowest|largest|smallest|greatest|biggest|maximum|minimum|max|min|most|least|top|"
    r"fewest|longest|shortest|earliest|latest)\s+((?:[\w']+\s*){1,3})",
    re.IGNORECASE,
)
_STOPS = frozenset({
    "and", "of", "in", "from", "with", "that", "which", "who", "for", "among", "when", "where",
    "by", "ascending", "descending", "order", "asc", "desc",
})  # fmt: skip
_ORDER = re.compile(r"\border\s+by\s+(.+?)(?:\blimit\b|\)|$)", re.IGNORECASE | re.DOTALL)
_EXTREMES = re.compile(r"\b(?:max|min)\s*\(([^()]*)\)", re.IGNORECASE)
_CALLED = re.compile(r"\b(?:count|sum|avg|min|max)\s*\(", re.IGNORECASE)
_COUNTS = re.compile(r"\bcount\s*\(", re.IGNORECASE)
_OFF = re.compile(r"(\w+)\"?\s*=\s*'?(?:0|f|false|n|no)(?:'|\b)(?!\.)", re.IGNORECASE)
_ON = re.compile(r"(\w+)\"?\s*=\s*'?(?:1|t|true|y|yes)(?:'|\b)(?!\.)", re.IGNORECASE)
_NEGATED = re.compile(
    r"\bnot\b|n't\b|\bno\b|\bnon\b|\bnever\b|\bwithout\b|\bfalse\b|\bzero\b|\b0\b|\bin(?=active)|"
    r"\bun(?!der|til|less|i)(?=\w)|\bneither\b|\bexcept\b",
    re.IGNORECASE,
)


class Keys:
    """One question over one schema, against which the keys of its candidates are held."""

    def __init__(self, question: str, schema: Schema) -> None:
        self._schema = schema
        self._question = question
        self._stems = stems(re.findall(r"\w+", question))
        self._order = self._said(_ORDERED_BY)
        self._extreme = self._said(_EXTREME)
        self._negated = bool(_NEGATED.search(question))

    def features(self, sql: str, used: Sequence[ColumnRef], tables: Set[str]) -> Features:
        """What a query over these columns and tables (folded names) goes by."""
        ordered = _ORDER.findall(sql)
        keys = _key_words(ordered[-1:])
        extremes = keys | _key_words(_EXTREMES.findall(sql))
        called = bool(ordered and _CALLED.search(ordered[-1]))
        numbers = [ref for ref in self._numbers if ref.table.casefold() in tables]
        off = [name for name in _OFF.findall(sql) if says(self._stems, name)]
        on = [name for name in _ON.findall(sql) if says(self._stems, name)]
        subtypes = [table for table in self._named if self._is_subtype(table, tables)]
        return {
            "ordered as said": float(bool(self._order & keys)),
            "ordered elsewhere": float(bool(self._order and keys) and not self._order & keys
                                       and not called),
            "extreme as said": float(bool(self._extreme & extremes)),
            "extreme elsewhere": float(bool(self._extreme and extremes)
                                       and not self._extreme & extremes),
            "shown twice": float(_shown_twice(sql)),
            "number counted": float(bool(_COUNTS.search(sql) and numbers)
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
        return [table for table in self._schema.tables if says(self._stems, table.name)]

    def _is_subtype(self, table: Table, tables: Set[str]) -> bool:
        """Whether an unused table's rows are some of those of a used one."""
        return table.name.casefold() not in tables and any(
            key.table == table.name
            and set(key.columns) == set(table.primary_key)
            and key.target_table.casefold() in tables
            for key in self._schema.foreign_keys
        )


def _key_words(clauses: Sequence[str]) -> set[str]:
    """Stems of the words of names in clauses; of a qualified name, its column's."""
    names = [name.split(".")[-1] for clause in clauses for name in re.findall(r"[\w.]+", clause)]
    return {stem(word) for name in names for word in split_name(name)}


def _shown_twice(sql: str) -> bool:
    """Whether a column is shown more than once, plainly and in an aggregate included."""
    shown = SHOWN.search(sql)
    if not shown:
        return False
    names = [_CALLED.sub("", item).strip(" ()").casefold() for item in list_items(shown.group(1))]
    bare = [name.removeprefix("distinct ").split(" as ")[0].split(".")[-1] for name in names]
    told = [name for name in bare if name and name != "*"]
    return len(told) > len(set(told))
