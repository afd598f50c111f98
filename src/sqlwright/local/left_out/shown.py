"""Columns that are shown although something else was asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sqlwright.english.vocabulary import FUNCTION_WORDS, OPERATION_WORDS
from sqlwright.english.words import split_name, stem
from sqlwright.local.form import nodes as f
from sqlwright.local.form.walking import inside
from sqlwright.local.left_out.reading import (
    NAMES,
    Finding,
    Reading,
    column_words,
    conjuncts,
    name_of,
)
from sqlwright.schema import Table
from sqlwright.types import Veto


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
    if not _is_subject(table, read) or NAMES & column_words(item.ref):
        return
    name = name_of(table)
    if name is None:
        return
    shown = f"{item.ref} is shown, which the question goes by; it asks for {table.name}"
    done = f"{name} is shown instead of {item.ref}"
    yield Finding(Veto("shown", shown, done), replace(form, items=(f.Column(name),)))


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
