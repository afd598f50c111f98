"""Sets that SQL compares otherwise than people do: with NULLs, by names, between unrelated keys;
things that aren't there; the one of several keys that the question names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

from sqlwright.english.cues import whole_words
from sqlwright.english.vocabulary import GENERIC_NAMES, KEY_WORDS
from sqlwright.english.words import singular, split_name, stem
from sqlwright.local.form import nodes as f
from sqlwright.local.form.walking import exchanged, inside, own_tables
from sqlwright.local.left_out.reading import (
    NAMES,
    Finding,
    Reading,
    column_words,
    conjuncts,
    excludes,
    fault,
    joined,
    with_condition,
    with_parts,
    with_rows_of,
)
from sqlwright.schema import ColumnRef, ForeignKey, Schema

_Items = tuple[f.Expression | f.Star, ...]


def null_in_list(form: f.Query, read: Reading) -> Iterator[Finding]:
    """NOT IN over a column with NULLs is true of nothing; the NULLs are left out."""
    for condition in inside(form, f.InQuery):
        inner = condition.query
        if not condition.negated or not isinstance(inner, f.Select):
            continue
        column = inner.items[0]
        if not isinstance(column, f.Column) or inner.group_by or column.outer:
            continue
        profile = read.profile(column.ref)
        if profile is None or not profile.nulls:
            continue
        parts, there = conjuncts(inner.where), f.IsNull(column, negated=True)
        if there in parts or any(_is_false_of_null(column, part) for part in parts):
            continue
        mended = replace(condition, query=with_parts(inner, (*parts, there)))
        told = f"NOT IN finds nothing: {column.ref} has empty entries"
        done = f"empty entries of {column.ref} are left out, or NOT IN would find nothing"
        yield fault("null", told, done, exchanged(form, condition, mended))


def _is_false_of_null(column: f.Column, part: f.Condition) -> bool:
    """True of a condition that can't hold of a NULL in the column."""
    match part:
        case f.Comparison(_, left, right):
            return column in (left, right)
        case f.Between(operand) | f.InList(operand) | f.Like(_, operand):
            return operand == column
    return False


def no_row_has_both(form: f.Query, read: Reading) -> Iterator[Finding]:
    """“Suppliers in Germany and France” as those that are in both: a row has one country."""
    first = form if isinstance(form, f.Select) else form.left
    if not isinstance(first, f.Select):
        return
    parts = conjuncts(first.where)
    if isinstance(form, f.SetOperation):
        theirs = conjuncts(form.right.where)
        new = [part for part in theirs if part not in parts]
        alike = replace(first, where=None) == replace(form.right, where=None)
        if form.operator != "intersect" or not alike or len(new) != 1 or len(parts) != len(theirs):
            return
        parts = (*parts, *new)
    for one, other in combinations(parts, 2):
        match one, other:
            case f.Comparison("=", f.Column(ref) as column, f.Literal() as value), f.Comparison(
                "=", f.Column() as same, f.Literal() as second
            ) if column == same and (first is form or _tells_apart(first, ref, read)):
                either = f.InList(column, (value, second))
                kept = (either if part == one else part for part in parts if part != other)
                told = f"{ref} has to equal two values at once, which it can in no row"
                yield fault("both", told, f"either value of {ref} counts", with_parts(first, kept))


def _tells_apart(form: f.Select, ref: ColumnRef, read: Reading) -> bool:
    """True if what is shown tells the rows of a column's table apart."""
    shown = [item.ref for item in form.items if isinstance(item, f.Column)]
    of_it = {one.table for one in shown} == {ref.table}
    return of_it and any(_is_unique(one, read) for one in shown)


def _is_unique(ref: ColumnRef, read: Reading) -> bool | None:
    """True if no two rows share a value of a column; None when nobody looked."""
    profile = read.profile(ref)
    return None if profile is None else profile.distinct >= profile.rows - profile.nulls


def excludes_all(form: f.Query, read: Reading) -> Iterator[Finding]:
    """EXCEPT and NOT IN by all rows of the table itself, which leave nothing."""
    del read
    pairs: list[tuple[_Items, f.Query]] = [
        ((one.operand,), one.query) for one in inside(form, f.InQuery) if one.negated
    ]
    pairs += [
        (query.left.items, query.right)
        for query in inside(form, f.SetOperation)
        if query.operator == "except" and isinstance(query.left, f.Select)
    ]
    for items, among in pairs:
        if isinstance(among, f.Select) and among == f.Select(items, distinct=among.distinct):
            yield fault("all", "all rows are excluded, so nothing is left")


def by_names(form: f.Query, read: Reading) -> Iterator[Finding]:
    """EXCEPT and NOT IN by a column that isn't unique, where its table has a key: what shares its
    name with another is taken for the other."""
    if isinstance(form, f.SetOperation):
        left = form.left
        if form.operator != "except" or not isinstance(left, f.Select):
            return
        if left.group_by or left.limit is not None or left.derived:
            return
        among = _by_key(left.items, form.right, read)
        if among is not None:
            mended = with_parts(replace(left, distinct=False), (*conjuncts(left.where), among))
            yield _named_by(left.items, among, mended)
        return
    for part in conjuncts(form.where):
        if isinstance(part, f.InQuery) and part.negated and isinstance(part.query, f.Select):
            among = _by_key((part.operand,), part.query, read)
            if among is not None:
                yield _named_by((part.operand,), among, exchanged(form, part, among))


def _by_key(items: _Items, query: f.Select, read: Reading) -> f.InQuery | None:
    """NOT IN by the key of the one table whose column both sides compare, where that doesn't tell
    its rows apart; else None."""
    key = _key_of(items, read) if items == query.items else None
    if key is None or query.group_by or query.limit is not None:
        return None
    keys = replace(query, items=(f.Column(key),), distinct=False)
    return f.InQuery(f.Column(key), keys, negated=True)


def _key_of(items: _Items, read: Reading) -> ColumnRef | None:
    column = items[0]
    if len(items) != 1 or not isinstance(column, f.Column) or column.instance != 1:
        return None
    table = read.schema.table(column.ref.table)
    if table is None or len(table.primary_key) != 1:
        return None
    key = ColumnRef(table.name, table.primary_key[0])
    if column.ref == key or column.ref in read.schema.foreign_key_columns:
        return None
    # A column that the question asks for itself, such as the countries that have no stadium, stands
    # for its own values, unless it is called a name.
    words = column_words(column.ref)
    is_name = bool(words & NAMES) or not words & read.stems
    return key if is_name and _is_unique(column.ref, read) is False else None


def _named_by(items: _Items, among: f.InQuery, mended: f.Query | None) -> Finding:
    names = ", ".join(str(item.ref) for item in items if isinstance(item, f.Column))
    key = among.operand.ref if isinstance(among.operand, f.Column) else ""
    told = f"excluded by {names}, which several rows share; {key} tells them apart"
    done = f"excluded by {key} instead of {names}, which several rows share"
    return fault("name", told, done, mended)


# ---- things that aren't there: empty keys, rows that no key joins

_LACKING = whole_words(
    r"(?:no|without|lack(?:s|ing)?|missing|not hav(?:e|ing)|\w+n['’]t have)"
    r"(?: (?:an?|any|the|their|its|his|her|assigned|known))*\s+(?P<noun>[\w-]+)"
)
"""“Have no manager”."""


def unrelated(form: f.Query, read: Reading) -> Iterator[Finding]:
    """A key among the values of a column that it has nothing to do with: rows of two tables have
    the same numbers by chance."""
    for part in inside(form, f.InQuery):
        inner = part.query
        item = inner.items[0] if isinstance(inner, f.Select) else None
        if not isinstance(part.operand, f.Column) or not isinstance(item, f.Column):
            continue
        near, far = part.operand.ref, item.ref
        if not {near, far} & read.schema.all_keys or _related(near, far, read.schema):
            continue
        pairs = {pair for one in read.schema.key_pairs for pair in (one, one[::-1])}
        ends = [one for one in pairs if (one[0].table, one[1].table) == (near.table, far.table)]
        mended = None
        if len(ends) == 1 and isinstance(inner, f.Select):
            one, other = map(f.Column, ends[0])
            meant = replace(part, operand=one, query=replace(inner, items=(other,)))
            mended = exchanged(form, part, meant)
        told = f"{near} is looked for among {far}, and no key joins them"
        yield fault("key", told, "looked for by the key that joins the tables", mended)


def _related(near: ColumnRef, far: ColumnRef, schema: Schema) -> bool:
    """True if two columns hold the same things: keys lead from both to one column, both are called
    so, or both are of one table, which may refer to itself."""
    name = near.column.casefold()
    if near.table == far.table or (name == far.column.casefold() and name not in GENERIC_NAMES):
        return True
    reached = [{near}, {far}]
    for found in reached:
        while new := {end for start, end in schema.key_pairs if start in found} - found:
            found.update(new)
    return bool(reached[0] & reached[1])


def empty_key(form: f.Query, read: Reading) -> Iterator[Finding]:
    """“Without a manager”, answered by who manages nobody: the asked rows have a key called so,
    and it may be empty."""
    said = _LACKING.search(read.question)
    outer = form.left if isinstance(form, f.SetOperation) and form.operator == "except" else form
    if said is None or not isinstance(outer, f.Select) or outer.derived:
        return
    tables = with_rows_of(replace(outer, where=None), outer.items)
    keys = [k for k in read.schema.foreign_keys if k.table in tables and len(k.columns) == 1]
    profiles = [(key, read.profile(key.pairs[0][0])) for key in keys]
    empty = [key for key, profile in profiles if profile is not None and profile.nulls]
    key = _called(stem(said["noun"].casefold()), empty, read.schema)
    if key is None:
        return
    ref = key.pairs[0][0]
    meant = f.IsNull(f.Column(ref))
    if meant in inside(form, f.IsNull):
        return
    kept = (part for part in conjuncts(outer.where) if not excludes(part))
    plain = replace(with_parts(outer, kept), joins=(), extra=())
    mended = with_condition(plain, meant) if own_tables(plain) <= {ref.table} else None
    told = f"“{said.group()}” is an empty {ref}, and this query doesn't go by that"
    yield fault("key", told, f"“{said.group()}” is read as an empty {ref}", mended)


def _called(noun: str, keys: list[ForeignKey], schema: Schema) -> ForeignKey | None:
    """The key that a noun names: by its column, by the table it leads to, unless that refers to
    this one, too, or as the only one within its table where nothing else is called so."""
    back = {(key.target_table, key.table) for key in schema.foreign_keys}
    within = [key for key in keys if key.table == key.target_table]
    for key in keys:
        words = [word for word in split_name(key.columns[0]) if word not in KEY_WORDS]
        if (key.table, key.target_table) not in back:
            words += split_name(schema.spoken(key.target_table))
        if noun in map(stem, words):
            return key
    names = [name for ref in schema.columns for name in (ref.column, ref.table)]
    called = any(noun == stem(word) for name in names for word in split_name(name))
    return within[0] if len(within) == 1 and not called else None


# ---- several keys that join two tables, each for a part that somebody plays

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
    if not isinstance(form, f.Select) or inside(form, f.Window) or form.derived:
        return
    mentioned = {column.ref for column in inside(replace(form, joins=()), f.Column)}
    said = _roles_said(read)
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
            yield fault("join", told, done, _rejoined(form, near, other, far))


def _leads(key: ForeignKey, table: str, target: ColumnRef) -> bool:
    """True if a key of one column leads from a table to a column."""
    ends = (key.target_table, key.target_columns)
    return key.table == table and len(key.columns) == 1 and ends == (target.table, (target.column,))


def _roles_said(read: Reading) -> frozenset[str]:
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
    tables = (split_name(read.schema.spoken(one)) for one in (key.table, key.target_table))
    dull = _KEYS | {stem(word) for words in tables for word in words}
    words = [word for word in split_name(key.columns[0]) if stem(word) not in dull]
    return frozenset(root for word in words for root in _roots(word))


def _roots(word: str) -> frozenset[str]:
    """A word's stem, and that of the verb where it may name who does something."""
    one = singular(word)
    doer = one.endswith(_DOERS) and len(one) > 5
    return frozenset({stem(word), *([stem(one[:-2])] if doer else [])})


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
