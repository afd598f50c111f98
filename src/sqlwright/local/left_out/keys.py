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
from sqlwright.local.left_out.asked import negations
from sqlwright.local.left_out.reading import (
    FOUND,
    NAMES,
    Finding,
    Reading,
    column_words,
    conjunction,
    conjuncts,
    joined,
    with_condition,
)
from sqlwright.schema import ColumnRef, ForeignKey, Schema
from sqlwright.types import Veto


def null_in_list(form: f.Query, read: Reading) -> Iterator[Finding]:
    """NOT IN over a column with NULLs is true of nothing; the NULLs are left out."""
    for condition in inside(form, f.InQuery):
        if not condition.negated or not isinstance(condition.query, f.Select):
            continue
        inner = condition.query
        column = inner.items[0]
        if not isinstance(column, f.Column) or inner.group_by or column.outer:
            continue
        profile = read.profile(column.ref)
        if profile is None or not profile.nulls:
            continue
        there = f.IsNull(column, negated=True)
        if any(part in (there, *_compared(column, part)) for part in conjuncts(inner.where)):
            continue
        sound = replace(inner, where=conjunction((*conjuncts(inner.where), there)))
        mended = replace(condition, query=sound)
        yield Finding(
            Veto(
                "null",
                f"NOT IN finds nothing: {column.ref} has empty entries",
                f"empty entries of {column.ref} are left out, or NOT IN would find nothing",
            ),
            exchanged(form, condition, mended),
        )


def _compared(column: f.Column, part: f.Condition) -> tuple[f.Condition, ...]:
    """The part itself where it can't hold of a NULL in the column."""
    match part:
        case f.Comparison(_, left, right) if column in (left, right):
            return (part,)
        case f.Between(operand) | f.InList(operand) | f.Like(_, operand) if operand == column:
            return (part,)
    return ()


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
                kept = tuple(either if part == one else part for part in parts if part != other)
                told = f"{ref} has to equal two values at once, which it can in no row"
                mended = replace(first, where=conjunction(kept))
                yield Finding(Veto("both", told, f"either value of {ref} counts"), mended)


def _tells_apart(form: f.Select, ref: ColumnRef, read: Reading) -> bool:
    """True if what is shown tells the rows of a column's table apart."""
    shown = [item.ref for item in form.items if isinstance(item, f.Column)]
    profiles = [read.profile(one) for one in shown]
    return {one.table for one in shown} == {ref.table} and any(
        one is not None and one.distinct >= one.rows - one.nulls for one in profiles
    )


def excludes_all(form: f.Query, read: Reading) -> Iterator[Finding]:
    """EXCEPT and NOT IN by all rows of the table itself, which leave nothing."""
    del read
    pairs: list[tuple[tuple[f.Expression | f.Star, ...], f.Query]] = [
        ((one.operand,), one.query) for one in inside(form, f.InQuery) if one.negated
    ]
    pairs += [
        (query.left.items, query.right)
        for query in inside(form, f.SetOperation)
        if query.operator == "except" and isinstance(query.left, f.Select)
    ]
    for items, among in pairs:
        if isinstance(among, f.Select) and among == f.Select(items, distinct=among.distinct):
            yield Finding(Veto("all", "all rows are excluded, so nothing is left"))


def by_names(form: f.Query, read: Reading) -> Iterator[Finding]:
    """EXCEPT and NOT IN by a column that isn't unique, where its table has a key: what shares its
    name with another is taken for the other."""
    if isinstance(form, f.SetOperation):
        if form.operator == "except":
            yield from _difference(form, read)
        return
    for part in conjuncts(form.where):
        if isinstance(part, f.InQuery) and part.negated and isinstance(part.query, f.Select):
            yield from _not_among(form, part, part.query, read)


def _difference(form: f.SetOperation, read: Reading) -> Iterator[Finding]:
    left, right = form.left, form.right
    if not isinstance(left, f.Select) or left.group_by or left.limit is not None or left.derived:
        return
    key = _shared_key(left.items, right.items, read)
    if key is None or right.group_by or right.limit is not None:
        return
    among = f.InQuery(f.Column(key), replace(right, items=(f.Column(key),), distinct=False), True)
    sound = replace(left, where=conjunction((*conjuncts(left.where), among)), distinct=False)
    yield _by_key(key, left.items, sound)


def _not_among(
    form: f.Select, part: f.InQuery, inner: f.Select, read: Reading
) -> Iterator[Finding]:
    key = _shared_key((part.operand,), inner.items, read)
    if key is None or inner.group_by or inner.limit is not None:
        return
    among = replace(
        part, operand=f.Column(key), query=replace(inner, items=(f.Column(key),), distinct=False)
    )
    yield _by_key(key, (part.operand,), exchanged(form, part, among))


def _by_key(
    key: ColumnRef, items: tuple[f.Expression | f.Star, ...], mended: f.Query | None
) -> Finding:
    names = ", ".join(str(item.ref) for item in items if isinstance(item, f.Column))
    return Finding(
        Veto(
            "name",
            f"excluded by {names}, which several rows share; {key} tells them apart",
            f"excluded by {key} instead of {names}, which several rows share",
        ),
        mended,
    )


def _shared_key(
    left: tuple[f.Expression | f.Star, ...], right: tuple[f.Expression | f.Star, ...], read: Reading
) -> ColumnRef | None:
    """The key of the one table whose columns both sides compare, where these don't tell its rows
    apart; else None."""
    if left != right:
        return None
    columns = [item for item in left if isinstance(item, f.Column) and item.instance == 1]
    tables = {column.ref.table for column in columns}
    if len(columns) != len(left) or len(tables) != 1:
        return None
    table = read.schema.table(tables.pop())
    if table is None or len(table.primary_key) != 1:
        return None
    key = ColumnRef(table.name, table.primary_key[0])
    for column in columns:
        if column.ref == key or column.ref in read.schema.foreign_key_columns:
            return None
        if not _names_rows(column.ref, read):
            return None
        profile = read.profile(column.ref)
        if profile is None or profile.distinct >= profile.rows - profile.nulls:
            return None
    return key if len(columns) == 1 else None


def _names_rows(ref: ColumnRef, read: Reading) -> bool:
    """True if a column stands for its table's rows, as a name does. One that the question asks for
    itself, such as the countries that have no stadium, stands for its own values."""
    words = column_words(ref)
    return bool(words & NAMES) or not words & {stem(word.text) for word in read.words}


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
        joined = [
            pair for pair in pairs if (pair[0].table, pair[1].table) == (near.table, far.table)
        ]
        told, mended = f"{near} is looked for among {far}, and no key joins them", None
        if len(joined) == 1 and isinstance(inner, f.Select):
            one, other = map(f.Column, joined[0])
            meant = replace(part, operand=one, query=replace(inner, items=(other,)))
            mended = exchanged(form, part, meant)
        yield Finding(Veto("key", told, "looked for by the key that joins the tables"), mended)


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
    tables = own_tables(replace(outer, where=None)) | {s.table for s in inside(outer.items, f.Star)}
    keys = [k for k in read.schema.foreign_keys if k.table in tables and len(k.columns) == 1]
    profiles = [(key, read.profile(key.pairs[0][0])) for key in keys]
    empty = [key for key, profile in profiles if profile is not None and profile.nulls]
    key = _called(stem(said["noun"].casefold()), empty, read.schema)
    if key is None:
        return
    ref = key.pairs[0][0]
    meant = f.IsNull(f.Column(ref))
    if any(one == meant for one in inside(form, f.IsNull)):
        return
    kept = tuple(part for part in conjuncts(outer.where) if not _excludes(part))
    plain = replace(outer, where=conjunction(kept), joins=(), extra=())
    mended = with_condition(plain, meant) if own_tables(plain) <= {ref.table} else None
    told = f"“{said.group()}” is an empty {ref}, and this query doesn't go by that"
    yield Finding(Veto("key", told, f"“{said.group()}” is read as an empty {ref}"), mended)


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


def _excludes(part: f.Condition) -> bool:
    """True if a condition excludes something."""
    if isinstance(part, f.IsNull):
        return not part.negated
    if isinstance(part, f.InQuery | f.InList | f.Like | f.Exists | f.Between):
        return part.negated
    return isinstance(part, f.Not) or (isinstance(part, f.Comparison) and part.operator == "!=")


def excluded_by_name(form: f.Query, read: Reading) -> Iterator[Finding]:
    """“Won't fix” or “never married”, excluded although it is a stored value's own name: the
    question excludes nothing."""
    words = [one.span for one in negations(read.question)]
    named = {
        match.value: (match.span, match.phrase)
        for match in read.values
        if match.span and match.score >= FOUND and any(match.span[0] <= at < match.span[1]
                                                       for at, _ in words)
    }  # fmt: skip
    spans = [span for span, _ in named.values()]
    if not named or any(not any(low <= at < high for low, high in spans) for at, _ in words):
        return
    phrase = next(iter(named.values()))[1]
    told = f"“{phrase}” is a stored value, and this query excludes something"
    veto = Veto("negation", told, f"“{phrase}” is a stored value, not a negation")
    if isinstance(form, f.SetOperation):
        yield from [Finding(veto)] if form.operator == "except" else []
    elif any(map(_excludes, parts := conjuncts(form.where))):
        turned = (_turned(part, set(named)) if _excludes(part) else part for part in parts)
        kept = tuple(part for part in turned if part is not None)
        yield Finding(veto, replace(form, where=conjunction(kept)))


def _turned(part: f.Condition, texts: set[str]) -> f.Condition | None:
    """A negated condition as it is without the negation; None where it isn't about the values."""
    if not any(one.value in texts for one in inside(part, f.Literal)):
        return None
    if isinstance(part, f.InQuery | f.InList | f.Like):
        return replace(part, negated=False)
    return replace(part, operator="=") if isinstance(part, f.Comparison) else None


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
            yield Finding(Veto("join", told, done), _rejoined(form, near, other, far))


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
