"""The places of a query that go by a column's numbers or by an order, and the query with each of
them put right: numbers compared as numbers, texts among them left out, NULL last."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlwright.schema import ColumnRef, Schema
from sqlwright.sql.dialects import dialect_of
from sqlwright.sql.names import Names, numbered_item, read_from, renamed_item
from sqlwright.sql.shape.tree import fold
from sqlwright.sql.tree import node_text, query_tree
from sqlwright.sql.tree_facts.nodes import CONDITIONS, aggregate_of, sides_of

if TYPE_CHECKING:
    from sqlwright.catalog.records import ColumnProfile

MOST = 0.5
"""Least share of numbers among a column's known texts, those for no value apart, from which it is a
column of numbers; chosen: words among numbers are mostly few."""
_STYLED = frozenset({"number_grouped", "number_comma", "money", "percent"})
"""Formats of numbers that an engine doesn't read as such."""
_PLAIN = frozenset({"", "number_text"})
_NUMBER = re.compile(r"\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,2})?\s*\Z")
_WHOLE = re.compile(r"[+-]?\d{1,15}\Z")


def is_number(text: str) -> bool:
    """True of a text that is nothing but a number."""
    return _NUMBER.match(text) is not None


@dataclass(frozen=True, slots=True)
class Held:
    """A column of numbers that isn't nothing but numbers."""

    words: tuple[str, ...] = ()
    """Texts among its numbers, a few of them."""
    digits: bool = False
    """Numbers stand in it as texts."""
    misplaced: tuple[str, str] | None = None
    """Two of its numbers whose order as texts isn't theirs, the lesser text first."""
    whole: bool = False
    """Each of its numbers is known and whole."""
    styled: bool = False
    """Its numbers are written with signs: money, grouped thousands."""
    mixed: bool = False
    """Texts may stand among its numbers, known ones or others."""


def held(profile: ColumnProfile) -> Held | None:
    """The texts that a column of numbers holds; None for any other column, and
    for one that holds nothing but numbers."""
    texts = list(dict.fromkeys(_texts(profile)))
    blank = {text for text, _ in profile.missing}
    numbers = [text for text in texts if is_number(text)]
    words = tuple(text for text in texts if not is_number(text))
    stored = profile.storage.get("integer", 0) + profile.storage.get("real", 0)
    as_text = profile.storage.get("text", 0)
    if not as_text:
        return None
    if stored:
        missing = sum(rows for _, rows in profile.missing)
        if stored < (as_text - missing) * MOST:
            return None
        return Held(words, bool(numbers), mixed=True)
    name = profile.formats[0].name if profile.formats else ""
    if name in _STYLED:
        return Held(misplaced=_misplaced(texts), digits=True, styled=True)
    of_words = [text for text in words if text not in blank]
    enough = len(numbers) > 1 and len(numbers) >= MOST * (len(numbers) + len(of_words))
    if name not in _PLAIN or not (enough or name):
        return None
    whole = profile.complete and all(_WHOLE.match(text.strip()) for text in numbers)
    sure = not words and (profile.complete or (bool(name) and profile.formats[0].share >= 1.0))
    return Held(words, True, _misplaced(numbers), whole, mixed=not sure)


def _texts(profile: ColumnProfile) -> Iterator[str]:
    yield from (text for text, _ in profile.missing)
    seen = [*profile.odd, *profile.frequent, (profile.minimum, 1), (profile.maximum, 1)]
    yield from (value for value, _ in seen if isinstance(value, str))


def _misplaced(texts: Sequence[str]) -> tuple[str, str] | None:
    valued = [(text, float(digits)) for text in texts if (digits := _digits(text)) is not None]
    ordered = sorted(valued)
    return next(((a, b) for (a, x), (b, y) in pairwise(ordered) if x > y), None)


def _digits(text: str) -> str | None:
    """A number without its signs, for comparing; None where it can't be told."""
    bare = text.strip()
    if not is_number(bare):
        if re.search(r",\d{1,2}(?!\d)", bare):
            bare = bare.replace(".", "").replace(",", ".")
        bare = re.sub(r"[^\d.+-]", "", bare)
    return bare if is_number(bare) else None


_ADDED = frozenset({"sum", "avg", "total", "median", "stddev", "stddev_pop", "percentile"})
_EXTREMES = frozenset({"min", "max"})
_WITHIN = (exp.Paren, exp.Neg, exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Distinct)
_RANKS = (exp.RowNumber, exp.Rank, exp.DenseRank)
_UNEQUAL = frozenset({"<", ">", "<=", ">=", "between"})
_NEVER_NULL = (exp.Count, exp.Coalesce)
_READS_NUMBER = r"^\s*[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)\s*$"


@dataclass(frozen=True, slots=True)
class Place:
    """A column where a number is wanted of it."""

    ref: ColumnRef
    what: str
    """The function, or "the order" or "the comparison"."""
    node: exp.Expr
    """The node that a number may take the place of; a key of an order by another name is whole."""
    column: exp.Column
    """The column's node in it, or the one behind its name."""
    first_rows: bool = True
    """False of an order that rises, and of which nothing takes the first rows."""
    others: tuple[exp.Expr, ...] = ()
    """The expressions that it is compared with."""

    def by_text(self, one: Held) -> bool:
        """True if texts may decide here what numbers should."""
        if self.what.lower() in _ADDED:
            return bool(one.words)
        words = bool(one.words) and self.first_rows
        return words or one.misplaced is not None or (bool(self.others) and one.digits)


@dataclass(frozen=True, slots=True)
class OrderingKey:
    """A key of an order of which the first rows are taken, where the engine puts NULL first."""

    node: exp.Ordered
    meant: exp.Expr
    """The expression that it orders by."""
    refs: tuple[ColumnRef, ...]
    """The columns that it is NULL by."""
    outer: bool
    """True if a table is joined that may have no row."""


@dataclass
class Places:
    """The places found in one query. Its tree is its own."""

    tree: exp.Query
    schema: Schema
    numbers: list[Place] = field(default_factory=list)
    keys: list[OrderingKey] = field(default_factory=list)
    _names: dict[int, Names] = field(default_factory=dict)

    @property
    def columns(self) -> tuple[ColumnRef, ...]:
        """The stored columns of all places, each once."""
        keyed = (ref for key in self.keys for ref in key.refs)
        return tuple(dict.fromkeys([*(place.ref for place in self.numbers), *keyed]))

    def mended(self, held: Mapping[ColumnRef, Held], nulls: Collection[ColumnRef]) -> str:
        """The query with numbers compared as such and NULL last; empty where nothing is to be done
        or it can't be said. The tree is used up."""
        changed = False
        for key in self.keys:
            if not key.outer and not any(ref in nulls for ref in key.refs):
                continue
            key.node.set("nulls_first", False)
            if isinstance(key.node.this, exp.Literal):  # the number of what is shown
                key.node.set("this", key.meant.copy())
            changed = True
        for place in self.numbers:
            one = held.get(place.ref)
            if one is None or not place.by_text(one):
                continue
            number = _as_number(place.column.copy(), one, dialect_of(self.schema).parser)
            if number is None:
                continue
            if isinstance(place.node.parent, exp.Ordered) and one.mixed:
                place.node.parent.set("nulls_first", False)
            place.node.replace(number)
            for other in place.others:
                if isinstance(other, exp.Literal) and other.is_string:
                    other.replace(exp.Literal.number(other.name.strip()))
            changed = True
        return node_text(self.tree, self.schema.dialect) if changed else ""

    # ---- reading

    def read(self) -> Places:
        """Find the places."""
        for node in self.tree.find_all(exp.Column):
            self._column(node)
        for ordered in self.tree.find_all(exp.Ordered):
            self._ordered(ordered)
        return self

    def _names_at(self, node: exp.Expr) -> Names:
        query = node if isinstance(node, exp.Query) else node.find_ancestor(exp.Query)
        if query is None:
            return Names(self.schema)
        if id(query) not in self._names:
            around = self._names_at(query.parent) if query.parent else Names(self.schema)
            within = isinstance(query, exp.Select)
            self._names[id(query)] = around.within(query) if within else around.with_queries(query)
        return self._names[id(query)]

    def _column(self, node: exp.Column) -> None:
        top: exp.Expr = node
        while isinstance(top.parent, _WITHIN):
            top = top.parent
        around = top.parent
        if around is None or isinstance(around, exp.Ordered):
            return
        call = aggregate_of(around)
        if call is not None:
            if call[0] in _ADDED | _EXTREMES:
                self._found(node, call[0].upper())
        elif isinstance(around, CONDITIONS) and not isinstance(around, (exp.And, exp.Or, exp.Not)):
            operator, sides = sides_of(around)
            others = tuple(side for side in sides if side is not top)
            if len(others) < len(sides) and _compares_numbers(operator, others):
                self._found(node, "the comparison", others)

    def _found(self, node: exp.Column, what: str, others: tuple[exp.Expr, ...] = ()) -> None:
        ref = self._names_at(node).find(node).column
        if ref is not None:
            self.numbers.append(Place(ref, what, node, node, others=others))

    def _ordered(self, ordered: exp.Ordered) -> None:
        query = ordered.find_ancestor(exp.Select, exp.SetOperation)
        if not isinstance(query, exp.Select):
            return
        window = ordered.find_ancestor(exp.Window, exp.Select)
        names, written = self._names_at(ordered), ordered.this
        falls = bool(ordered.args.get("desc"))  # SQLite has texts above all numbers
        if isinstance(window, exp.Window):
            meant, first = written, isinstance(window.this, _RANKS)
        else:
            meant = renamed_item(numbered_item(written, query), names)
            first = query.args.get("limit") is not None
        inner = meant.unnest()
        stored = names.stored()
        found = stored.find(inner).column if isinstance(inner, exp.Column) else None
        if found is not None and isinstance(inner, exp.Column):
            self.numbers.append(Place(found, "the order", written, inner, first or falls))
        if first and ordered.args.get("nulls_first"):
            refs = [stored.find(one).column for one in _that_may_be_null(meant)]
            kept = _held_back(query, stored)
            known = tuple(ref for ref in refs if ref is not None and ref not in kept)
            outer = any(join is not None and join.side for _, join in read_from(query))
            if known or (refs and outer):
                self.keys.append(OrderingKey(ordered, meant, known, outer))


def read_places(sql: str, schema: Schema) -> Places | None:
    """The places of a query in the schema's dialect; None where there is none, or where it can't be
    read."""
    tree = query_tree(sql, schema.dialect)
    kinds = (exp.Ordered, exp.AggFunc, exp.Predicate)
    if not isinstance(tree, exp.Query) or tree.find(*kinds) is None:
        return None
    own = tree.copy()
    for name in own.find_all(exp.Identifier):
        fold(name, dialect_of(schema))
    try:
        found = Places(own, schema).read()
    except RecursionError:
        return None
    return found if found.numbers or found.keys else None


def _compares_numbers(operator: str, others: tuple[exp.Expr, ...]) -> bool:
    """True if a column is compared with what may be a number."""
    if operator == "=":
        return any(_has_extreme(one) for one in others)
    texts = [one.name for one in others if isinstance(one, exp.Literal) and one.is_string]
    return operator in _UNEQUAL and all(map(is_number, texts))


def _has_extreme(node: exp.Expr) -> bool:
    query = node.unnest()
    return isinstance(query, exp.Select) and any(
        call.find_ancestor(exp.Select) is query for call in query.find_all(exp.Min, exp.Max)
    )


def _that_may_be_null(node: exp.Expr) -> Iterator[exp.Column]:
    """The columns by which an expression may be NULL."""
    for one in node.walk(prune=lambda part: isinstance(part, _NEVER_NULL)):
        if isinstance(one, exp.Column):
            yield one


def _held_back(query: exp.Select, names: Names) -> set[ColumnRef | None]:
    """The columns whose NULLs a query's conditions leave out."""
    where = query.args.get("where")
    whole = None if where is None else where.this
    compared = list(whole.flatten()) if isinstance(whole, exp.And) else [whole] if whole else []
    kept = [one for one in compared if not isinstance(one, (exp.Is, exp.Or))]
    return {names.find(column).column for one in kept for column in one.find_all(exp.Column)}


def _as_number(column: exp.Expr, one: Held, parser: str) -> exp.Expr | None:
    """A column as a number, its other texts as NULL; None where that can't be said."""
    if one.styled:
        return None
    kind = "BIGINT" if one.whole else "DOUBLE"
    match parser:
        case "duckdb":
            return exp.TryCast(this=column, to=exp.DataType.build(kind))
        case "sqlite":
            number: exp.Expr = exp.cast(column.copy(), kind)
            digits = exp.Literal.string("*[0-9]*"), exp.Literal.string("*[^0-9.eE+-]*")
            shaped = [exp.Glob(this=column.copy(), expression=one) for one in digits]
            test: exp.Expr = exp.and_(shaped[0], exp.not_(shaped[1]))
            if not one.digits:
                number = column.copy()
                told = exp.func("TYPEOF", column.copy())
                test = exp.NEQ(this=told, expression=exp.Literal.string("text"))
        case "postgres":
            number = exp.cast(column.copy(), "DECIMAL")
            test = exp.RegexpLike(this=column.copy(), expression=exp.Literal.string(_READS_NUMBER))
        case "mysql":
            nought = exp.Literal.number(0)
            number = exp.Add(this=column.copy(), expression=nought)
            test = exp.or_(
                exp.NEQ(this=number.copy(), expression=nought.copy()),
                exp.Like(this=column.copy(), expression=exp.Literal.string("0%")),
            )
        case _:
            return None
    return exp.Case().when(test, number) if one.mixed else number
