"""Proposes columns that could join two tables, by names and keys alone.

Names only propose; `joins` lets the stored values decide.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sqlwright.english.vocabulary import GENERIC_NAMES, KEY_WORDS
from sqlwright.english.words import name_spans, singular, split_name
from sqlwright.schema import ColumnRef, Schema, Table

NAMED_AFTER = "it is named after the table"
STRONG = 0.8
"""Names that score so much are telling."""
MOST_TARGETS = 6
"""Targets tried per column, best first."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """Two columns whose names suggest a join."""

    near: ColumnRef
    far: ColumnRef
    score: float
    """Strength of the names' evidence, in (0, 1]."""
    reason: str
    primary: bool
    """True if the far column is its table's primary key."""
    exact: bool
    """True if the names alone decide: a table's name and its key's, or one telling name twice."""


def words(name: str) -> tuple[str, ...]:
    """The words of a name in lower case and singular: `OrderItems_ID` gives order, item, id."""
    return tuple(singular(word.casefold()) for word in split_name(name))


def propose(
    schema: Schema,
    is_unique: Callable[[ColumnRef], bool],
    admits: Callable[[Proposal], bool] = lambda _: True,
    rank_of_target: Callable[[ColumnRef, ColumnRef], tuple[int, ...]] = lambda *_: (),
) -> Iterator[list[Proposal]]:
    """For every column without a declared key, the columns it may refer to, best first.

    `is_unique` says whether a column's values are known to be all different, `admits` which
    proposals count, `rank_of_target` what ranks those whose names are equally telling.
    """
    prefixes = _prefixes(schema)
    keys = _keys_by_form(schema, is_unique, prefixes)
    declared = {
        ref.table.casefold() + "\0" + ref.column.casefold()
        for key in schema.foreign_keys
        for ref, _ in key.pairs
    }
    for table in schema.tables:
        for column in table.columns:
            ref = ColumnRef(table.name, column.name)
            if f"{table.name}\0{column.name}".casefold() in declared:
                continue
            found = [
                proposal for proposal in _for_column(ref, table, keys, prefixes) if admits(proposal)
            ]
            if found:
                ranked = sorted(
                    found,
                    key=lambda proposal: rank_of_target(proposal.near, proposal.far),
                    reverse=True,
                )
                yield sorted(ranked, key=lambda proposal: -proposal.score)[:MOST_TARGETS]


@dataclass(frozen=True, slots=True)
class _Key:
    """A column others may refer to, and how its own and its table's name read."""

    ref: ColumnRef
    primary: bool
    table: tuple[str, ...]
    column: str

    @property
    def owner(self) -> str:
        return "".join(self.table)


Forms = dict[str, list[tuple[_Key, float, str, bool]]]
"""Keys by a form of name that refers to them, with how telling it is, why, and whether exact."""


def _keys_by_form(
    schema: Schema, is_unique: Callable[[ColumnRef], bool], prefixes: frozenset[str]
) -> Forms:
    """Keys by every form of name a referring column may have."""
    forms: Forms = {}
    initials: dict[str, list[_Key]] = {}
    for table in schema.tables:
        if table.kind == "view":
            continue
        for column in table.columns:
            ref = ColumnRef(table.name, column.name)
            primary = sole_key(table, column.name) or _undeclared_key(table, column.name, is_unique)
            if not primary and (column.name in table.primary_key or not is_unique(ref)):
                continue  # part of a key is no key, even where its few values differ
            owner, parts = words(table.own_name), words(column.name)
            key = _Key(ref, primary, owner, "".join(parts))
            for form, score, reason, exact in _forms(key):
                forms.setdefault(form, []).append((key, score, reason, exact))
            if len(parts) > 1 and owner[:1] == parts[:1] and owner[0] in prefixes:
                bare = _Key(ref, primary, owner[1:], "".join(parts[1:]))
                for form, score, reason, _ in _forms(bare):
                    forms.setdefault(form, []).append((key, score, reason, False))
            if primary and key.owner and key.column in KEY_WORDS:
                initials.setdefault(key.owner[0] + key.column, []).append(key)
    for form, sharing in initials.items():
        if len(sharing) == 1 and form not in forms:
            forms[form] = [(sharing[0], 0.5, "it starts like the table's name", False)]
    return forms


def _prefixes(schema: Schema) -> frozenset[str]:
    """Words that names begin with by custom, as in sbTicker and sbCustomer: more than one table's
    name does, and no table is called by it alone."""
    names = [words(table.own_name) for table in schema.tables]
    begins = Counter(name[0] for name in names if len(name) > 1)
    alone = {name[0] for name in names if len(name) == 1}
    return frozenset(word for word, tables in begins.items() if tables > 1 and word not in alone)


def _forms(key: _Key) -> Iterator[tuple[str, float, str, bool]]:
    """The names that refer to a key, how telling each is, why, and whether it leaves no doubt."""
    owner, column = key.owner, key.column
    head = key.table[-1] if key.table else ""
    related = bool(owner) and column.startswith((owner, head))
    if owner:
        yield owner + column, 1.0, "its name is the table's and the key's", True
        if len(key.table) > 1 and column in KEY_WORDS:
            yield head + column, 0.7, "its name ends like the table's", False
    if column not in GENERIC_NAMES:
        score = 0.95 if related else 0.8 if key.primary else 0.65
        yield column, score, "both have the same name", related or key.primary
    if key.primary and owner and owner not in GENERIC_NAMES:
        yield owner, 0.7, NAMED_AFTER, False
        for word in KEY_WORDS:
            if owner + word not in (owner + column, column):
                yield owner + word, 0.6, NAMED_AFTER, False


def sole_key(table: Table, column: str) -> bool:
    """True if a column alone is its table's primary key."""
    return tuple(map(str.casefold, table.primary_key)) == (column.casefold(),)


def _undeclared_key(table: Table, column: str, is_unique: Callable[[ColumnRef], bool]) -> bool:
    """True if a table that declares no key has one by a column's name, `ticker_id` of tickers, and
    by its values, each of which is another."""
    if table.primary_key or table.kind == "view":
        return False
    is_key = words(column)[-1:] and words(column)[-1] in KEY_WORDS
    return (
        bool(is_key)
        and names_its_table(table.own_name, column)
        and is_unique(ColumnRef(table.name, column))
    )


def names_its_table(table: str, column: str) -> bool:
    """True if a key's name is that of its own table, or of what that table's name ends in, or is
    short for it: `school_people.people_id`, `student.stu_id`, `staff.id`."""
    stem = list(words(column))
    while stem and stem[-1] in KEY_WORDS:
        stem.pop()
    owner = words(table)
    named = "".join(stem)
    return not stem or (
        bool(owner) and ("".join(owner).endswith(named) or owner[-1].startswith(named))
    )


def propose_composite(schema: Schema) -> Iterator[tuple[Table, Table, tuple[tuple[str, str], ...]]]:
    """Tables that have all columns of another's composite primary key, by name: near table, far
    table, pairs of columns. Where both could refer to each other the later one does."""
    for position, far in enumerate(schema.tables):
        if not 2 <= len(far.primary_key) <= 4:
            continue
        wanted = ["".join(words(name)) for name in far.primary_key]
        if sum(name not in GENERIC_NAMES for name in wanted) < 2:
            continue  # tables that share a place and a year don't refer to each other
        for other, near in enumerate(schema.tables):
            if near is far or near.kind == "view" or (other < position and _same_key(near, far)):
                continue
            named = {"".join(words(column.name)): column.name for column in near.columns}
            if all(name in named for name in wanted):
                pairs = zip((named[name] for name in wanted), far.primary_key, strict=True)
                yield near, far, tuple(pairs)


def _same_key(near: Table, far: Table) -> bool:
    return {"".join(words(name)) for name in near.primary_key} == {
        "".join(words(name)) for name in far.primary_key
    }


def _for_column(
    ref: ColumnRef, table: Table, keys: Forms, prefixes: frozenset[str]
) -> list[Proposal]:
    own_key = sole_key(table, ref.column)
    owner, parts = "".join(words(table.own_name)), words(ref.column)
    prefixed = parts[:1] == words(table.own_name)[:1] and bool(prefixes & {*parts[:1]})
    ranges = list(name_spans(ref.column))
    counts = bool(parts) and ref.column[slice(*ranges[-1])].casefold() != parts[-1]
    own_name = parts[-1:] and parts[-1] in KEY_WORDS and "".join(parts[:-1]) == owner
    best: dict[ColumnRef, Proposal] = {}
    for form, factor, remark in _readings(ref.column, prefixed=prefixed):
        for key, score, reason, exact in keys.get(form, ()):
            if key.ref == ref or (key.ref.table == ref.table and (own_key or not remark)):
                continue
            # order_items.order_item_id is no key of orders, nor chains.store_chain_id of stores.
            if remark and (own_name or (own_key and remark.startswith("without"))):
                continue
            if table.kind == "view" and not key.primary:
                continue
            if counts and reason == NAMED_AFTER:
                continue  # home_games is a number of games
            if remark and len(form) < (3 if key.primary else 4):
                continue
            weight = score * factor
            known = best.get(key.ref)
            if known is None or known.score < weight:
                why = f"{reason}, {remark}" if remark else reason
                best[key.ref] = Proposal(
                    ref, key.ref, weight, why, key.primary, exact and not remark
                )
    return list(best.values())


def _readings(name: str, *, prefixed: bool) -> Iterator[tuple[str, float, str]]:
    """Names that a column may refer to by its own name: a form, how much less sure that is than the
    whole name, and what was left out. A `prefixed` name begins with a word that says nothing."""
    parts = words(name)
    yield "".join(parts), 1.0, ""
    starts = [start for start, _ in name_spans(name)]
    while parts and parts[-1].isdigit():
        parts = parts[:-1]
        yield "".join(parts), 0.9, "without its number"
    for start in range(1, len(parts)):
        form = "".join(parts[start:])
        if form not in GENERIC_NAMES:
            yield form, 0.8, f"after '{name[: starts[start]]}'"
    if len(parts) > 2 and parts[-1] in KEY_WORDS:
        for stop in range(2 if prefixed else 1, len(parts) - 1):
            left_out = name[starts[stop] : starts[len(parts) - 1]]
            yield "".join(parts[:stop]) + parts[-1], 0.7, f"without '{left_out}'"
