"""Columns that are shown although something else was asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from sqlwright.english.vocabulary import FUNCTION_WORDS, NAMING_WORDS, OPERATION_WORDS
from sqlwright.english.words import split_name, stem
from sqlwright.form import nodes as f
from sqlwright.form.walking import inside
from sqlwright.schema import ColumnRef, Table
from sqlwright.steps.repair.vetoes.flags import flag_asked, flag_values
from sqlwright.steps.repair.vetoes.reading import Finding, Reading, column_words, conjuncts
from sqlwright.types import Veto

_ASKS_FOR_THINGS = re.compile(r"\s*(?:who|which|list|find)\b(?!.*\bwhether\b)", re.IGNORECASE)
"""Beginnings of questions that ask for things rather than whether something is so."""
_NAMES = tuple(map(stem, NAMING_WORDS))


def measure_for_thing(form: f.Query, read: Reading) -> Iterator[Finding]:
    """“Products priced below 20”, answered by their prices: the column that is compared is shown
    in place of the things themselves."""
    if not isinstance(form, f.Select) or len(form.items) != 1:
        return
    item = form.items[0]
    if not isinstance(item, f.Column) or form.group_by:
        return
    ranged = (part for part in conjuncts(form.where) if _is_range(part))
    table = read.schema.table(item.ref.table)
    if table is None or not any(item in set(inside(part, f.Column)) for part in ranged):
        return
    if not _is_subject(table, read) or set(_NAMES) & column_words(item.ref):
        return
    name = _name_of(table)
    if name is None:
        return
    shown = f"{item.ref} is shown, which the question goes by; it asks for {table.name}"
    done = f"{name} is shown instead of {item.ref}"
    yield Finding(Veto("shown", shown, done), replace(form, items=(f.Column(name),)))


def flag_for_thing(form: f.Query, read: Reading) -> Iterator[Finding]:
    """“Who are the admins?”, answered by yes and no: a flag that the question names is shown, and
    nothing goes by it."""
    if not isinstance(form, f.Select) or len(form.items) != 1 or form.group_by or form.where:
        return
    item = form.items[0]
    if not isinstance(item, f.Column) or not _ASKS_FOR_THINGS.match(read.question):
        return
    table, values = read.schema.table(item.ref.table), flag_values(item.ref, read)
    asked = flag_asked(item.ref, read)
    name = _name_of(table) if table is not None else None
    if values is None or asked is None or name is None:
        return
    told = f"{item.ref} is shown, which says yes or no of each row"
    done = f"{name} is shown where {item.ref} is {read.shown(item.ref, values[asked])}"
    where = f.Comparison("=", item, f.Literal(values[asked]))
    mended = replace(form, items=(f.Column(name),), where=where, distinct=False)
    yield Finding(Veto("shown", told, done), mended)


def _is_range(part: f.Condition) -> bool:
    if isinstance(part, f.Between):
        return True
    return isinstance(part, f.Comparison) and part.operator in {"<", ">", "<=", ">="}


def _is_subject(table: Table, read: Reading) -> bool:
    """True if the first thing that the question names is the table."""
    named = {stem(word) for word in split_name(table.own_name)}
    for word in read.words:
        if word.text not in FUNCTION_WORDS and word.text not in OPERATION_WORDS:
            return stem(word.text) in named
    return False


def _name_of(table: Table) -> ColumnRef | None:
    """The column that names a table's rows: the first that is called a name."""
    for word in _NAMES:
        for column in table.columns:
            ref = ColumnRef(table.name, column.name)
            if word in column_words(ref):
                return ref
    return None
