"""Two tables that several keys join, each for a part that somebody plays: the question says
which."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from sqlwright.english.vocabulary import KEY_WORDS
from sqlwright.english.words import singular, split_name, stem
from sqlwright.local.form import nodes as f
from sqlwright.local.form.walking import inside
from sqlwright.local.left_out.reading import Finding, Reading, joined
from sqlwright.schema import ColumnRef, ForeignKey
from sqlwright.types import Veto

_FROM = frozenset({"origin", "source", "from", "departure", "sender", "start"})
_TO = frozenset({"destination", "target", "to", "arrival", "receiver", "recipient", "end"})
"""Words in the names of keys for both ends of a way: “from Oslo”, “to Oslo”."""
_LEAVES, _REACHES = (
    re.compile(rf"\b(?:{words})\s+(?:the\s+)?$", re.IGNORECASE) for words in ("from", "to|into")
)
_KEYS = frozenset(map(stem, KEY_WORDS))
_DOERS = ("er", "or", "ee")
"""Endings of who does something or to whom it is done: reporter, creator, assignee."""


def other_role(form: f.Query, read: Reading) -> Iterator[Finding]:
    """“Reported by Ann”, joined by the key of the one it was assigned to."""
    if not isinstance(form, f.Select) or form.derived or any(inside(form, f.Window)):
        return
    mentioned = {column.ref for column in inside(replace(form, joins=()), f.Column)}
    said = _said(read)
    for pair in joined(form, read.schema):
        for near, far in (pair, pair[::-1]):
            keys = [key for key in read.schema.foreign_keys if _leads(key, near.table, far)]
            used = [key for key in keys if key.columns == (near.column,)]
            named = [key for key in keys if _roles(key, read) & said]
            if not used or used[0] in named or len(named) != 1:
                continue
            other = ColumnRef(near.table, named[0].columns[0])
            if other in mentioned or near in mentioned or not _once(form, far):
                continue
            told = f"joined by {near}; the question names {other}"
            done = f"joined by {other}, which the question names, instead of {near}"
            yield Finding(Veto("join", told, done), _rejoined(form, near, other, far))


def _leads(key: ForeignKey, table: str, target: ColumnRef) -> bool:
    """True if a key of one column leads from a table to a column."""
    ends = (key.target_table, key.target_columns)
    return key.table == table and len(key.columns) == 1 and ends == (target.table, (target.column,))


def _said(read: Reading) -> frozenset[str]:
    """The words of the question that no stored value stands for, as stems and without the endings
    of who does something; “from” and “to” before a value name the ends of a way."""
    spans = [match.span for match in read.values if match.span]
    words = [word.text for word in read.words if not any(word.within(span) for span in spans)]
    for start, _ in spans:
        before = read.question[:start]
        words += _FROM if _LEAVES.search(before) else _TO if _REACHES.search(before) else ()
    return frozenset(root for word in words for root in _roots(word))


def _roles(key: ForeignKey, read: Reading) -> frozenset[str]:
    """The words of a key's column that neither say that it is a key nor name one of its tables."""
    dull = _KEYS | {
        stem(word)
        for table in (key.table, key.target_table)
        for word in split_name(read.schema.spoken(table))
    }
    words = [word for word in split_name(key.columns[0]) if stem(word) not in dull]
    return frozenset(root for word in words for root in _roots(word))


def _roots(word: str) -> frozenset[str]:
    """A word's stem, and that of the verb where it may name who does something."""
    singular_word = singular(word)
    doer = singular_word.endswith(_DOERS) and len(singular_word) > 5
    return frozenset({stem(word), *([stem(singular_word[:-2])] if doer else [])})


def _once(form: f.Select, target: ColumnRef) -> bool:
    """True if the table appears once in a query."""
    instances = {c.instance for c in inside(form, f.Column) if c.ref.table == target.table}
    return instances <= {1} and not any(source.table == target.table for source in form.extra)


def _rejoined(form: f.Select, near: ColumnRef, other: ColumnRef, far: ColumnRef) -> f.Select:
    """The query with the join by another column of the same table."""
    ends = {f.Column(near), f.Column(far)}
    kept = tuple(join for join in form.joins if {join.left, join.right} != ends)
    outer = any(join.outer for join in form.joins if {join.left, join.right} == ends)
    return replace(form, joins=(*kept, f.Join(f.Column(other), f.Column(far), outer)))
