"""Things that aren't there: empty keys, rows that no key joins, negations that are a stored value's
own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sqlwright.english.cues import whole_words
from sqlwright.english.vocabulary import GENERIC_NAMES, KEY_WORDS
from sqlwright.english.words import split_name, stem
from sqlwright.local.form import nodes as f
from sqlwright.local.form.walking import exchanged, inside, own_tables
from sqlwright.local.left_out.asked import negations
from sqlwright.local.left_out.reading import (
    FOUND,
    Finding,
    Reading,
    conjunction,
    conjuncts,
    with_condition,
)
from sqlwright.schema import ColumnRef, ForeignKey, Schema
from sqlwright.types import Veto

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
