"""Sets that SQL compares otherwise than people do: with NULLs, by names, between unrelated keys."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

from sqlwright.english.words import stem
from sqlwright.local.form import nodes as f
from sqlwright.local.form.walking import exchanged, inside
from sqlwright.local.left_out.reading import (
    NAMES,
    Finding,
    Reading,
    column_words,
    conjunction,
    conjuncts,
)
from sqlwright.schema import ColumnRef
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
