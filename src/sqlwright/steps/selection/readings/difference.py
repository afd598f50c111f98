"""The one thing in which two queries differ, by their facts.

A query's facts are laid out as statements. Two queries whose statements differ in one place, or in
several by the same exchange of one column for another, differ in one thing; all others differ in
none that could be told in a sentence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from sqlwright.schema import ColumnRef
from sqlwright.sql.facts import AggregateCall, Comparison, QueryFacts, SelectFacts, Term
from sqlwright.types.candidates import ReadingKind

Place = Literal[
    "shown", "grouping", "order", "whole order", "comparison", "distinct", "limit", "left join",
    "tables", "set",
]  # fmt: skip
Content = tuple[object, ...]
BOUNDS = frozenset({"<", "<=", ">", ">="})
OPPOSITES = ({"=", "!="}, {False, True})
"""Each turns a condition into its opposite, which is no other reading."""
WRITTEN = frozenset({"where", "having"})
"""Clauses whose conditions are told; those of ON follow from the tables."""


@dataclass(frozen=True)
class Statement:
    """One thing that a query says: where it says it, and what."""

    place: Place
    select: int
    """Place among the SELECTs."""
    content: Content
    fact: Term | Comparison | None = None
    """The fact that it was laid out from, where there is one."""


@dataclass(frozen=True)
class Difference:
    """The thing in which two queries differ, as each of them has it; None for neither having it."""

    kind: ReadingKind
    one: Statement | None
    other: Statement | None
    columns: tuple[ColumnRef, ColumnRef] | None = None
    """The columns exchanged, where that is all."""

    @property
    def asks(self) -> tuple[object, ...]:
        """All that has to be the same for a third reading to be a choice beside these two."""
        said = self.one or self.other
        if self.columns is not None:
            return (self.kind, self.columns[0])
        return (self.kind, None if said is None else (said.place, said.select, self.one))


def difference(one: QueryFacts, other: QueryFacts) -> Difference | None:
    """The one thing in which two queries differ; None if they differ in several or in none."""
    if len(one.selects) != len(other.selects) or one.operations != other.operations:
        return None
    left, right = _apart(list(_statements(one)), list(_statements(other)))
    told = [statement for statement in (*left, *right) if statement.place != "tables"]
    if not told:
        return _by_tables(left, right)
    left = [statement for statement in left if statement.place != "tables"]
    right = [statement for statement in right if statement.place != "tables"]
    if len(left) == len(right):
        return _exchanged(left, right) or (_changed(left[0], right[0]) if len(left) == 1 else None)
    added = _added(left, right)
    if added is not None and added.kind == "each" and not _works_out(added, one, other):
        return None
    return added


def _works_out(each: Difference, one: QueryFacts, other: QueryFacts) -> bool:
    """True if the query without groups works something out of all rows together."""
    said, ungrouped = (each.one, other) if each.one is not None else (each.other, one)
    return said is not None and bool(ungrouped.selects[said.select].aggregates)


def _statements(facts: QueryFacts) -> Iterator[Statement]:
    for place, select in enumerate(facts.selects):
        yield from _of_select(place, select)
    for comparison in facts.comparisons:
        if comparison.clause in WRITTEN:
            yield Statement("comparison", comparison.select, _comparison(comparison), comparison)
    if facts.combines:
        for key in facts.order:
            yield Statement("whole order", 0, (_term(key.term), key.descending), key.term)
        if facts.limit is not None:
            yield Statement("limit", -1, (facts.limit,))


def _of_select(place: int, select: SelectFacts) -> Iterator[Statement]:
    for term in select.shown:
        yield Statement("shown", place, _term(term), term)
    for term in select.grouping:
        yield Statement("grouping", place, _term(term), term)
    for key in select.order:
        yield Statement("order", place, (_term(key.term), key.descending), key.term)
    if select.distinct:
        yield Statement("distinct", place, ())
    if select.limit is not None or select.offset is not None:
        yield Statement("limit", place, (select.limit, select.offset))
    for join in select.joins:
        if join.kind == "left":
            yield Statement("left join", place, (frozenset(map(frozenset, join.pairs)),))
    yield Statement("tables", place, (frozenset(Counter(select.tables).items()), select.derived))


def _term(term: Term) -> Content:
    if term.column is not None:
        return ("column", term.column)
    if term.constant is not None:
        return ("constant", term.constant.value)
    if term.star:
        return ("star",)
    if term.aggregate is not None:
        return ("aggregate", *_aggregate(term.aggregate))
    aggregates = tuple(_aggregate(call) for call in term.aggregates)
    constants = tuple(one.value for one in term.constants)
    dates = tuple((one.part, one.columns) for one in term.dates)
    return ("expression", term.columns, aggregates, constants, dates, term.queries)


def _aggregate(call: AggregateCall) -> Content:
    return (call.function, call.distinct, _term(call.argument))


def _comparison(one: Comparison) -> Content:
    right = tuple(_term(term) for term in one.right)
    return (one.clause, one.operator, one.negated, _term(one.left), right)


def _apart(
    one: Sequence[Statement], other: Sequence[Statement]
) -> tuple[list[Statement], list[Statement]]:
    """The statements of each that the other doesn't make."""
    return _without(one, other), _without(other, one)


def _without(one: Sequence[Statement], other: Sequence[Statement]) -> list[Statement]:
    known = Counter((s.place, s.select, s.content) for s in other)
    left = []
    for statement in one:
        key = (statement.place, statement.select, statement.content)
        if known[key]:
            known[key] -= 1
        else:
            left.append(statement)
    return left


def _leaves(one: object, other: object) -> list[tuple[object, object]]:
    """The pairs in which two contents of the same shape differ."""
    if one == other and type(one) is type(other):
        return []
    plain = isinstance(one, ColumnRef) or isinstance(other, ColumnRef)
    if plain or not isinstance(one, tuple) or not isinstance(other, tuple):
        return [(one, other)]
    if len(one) != len(other):
        return [(one, other)]
    return [leaf for a, b in zip(one, other, strict=True) for leaf in _leaves(a, b)]


def _exchanged(left: Sequence[Statement], right: Sequence[Statement]) -> Difference | None:
    """One column in place of another, wherever it stands."""
    pairs = set()
    for one, other in zip(left, right, strict=True):
        if (one.place, one.select) != (other.place, other.select):
            return None
        pairs.update(_leaves(one.content, other.content))
    if len(pairs) != 1:
        return None
    ours, theirs = pairs.pop()
    if not (isinstance(ours, ColumnRef) and isinstance(theirs, ColumnRef)):
        return None
    return Difference("column", left[0], right[0], (ours, theirs))


def _changed(one: Statement, other: Statement) -> Difference | None:
    """One statement in place of another."""
    if (one.place, one.select) != (other.place, other.select):
        return None
    leaves = _leaves(one.content, other.content)
    if one.place == "comparison":
        if len(leaves) == 1 and set(leaves[0]) in OPPOSITES:
            return None
        return Difference(_kind_of_comparison(one, leaves), one, other)
    if one.place in {"order", "whole order"} and leaves == [(one.content[1], other.content[1])]:
        return Difference("direction", one, other)
    if one.place == "shown" and isinstance(one.fact, Term) and isinstance(other.fact, Term):
        if leaves in ([(False, True)], [(True, False)]):
            return Difference("repeats", one, other)
        if one.fact.aggregate or other.fact.aggregate:
            return Difference("operation", one, other)
    return None


def _kind_of_comparison(
    one: Statement, leaves: Sequence[tuple[object, object]]
) -> Literal["value", "bound", "condition"]:
    operator = one.content[1]
    if len(leaves) == 1:
        ours, theirs = leaves[0]
        if ours in BOUNDS and theirs in BOUNDS:
            return "bound"
        if isinstance(ours, str) and isinstance(theirs, str) and ours != operator:
            return "value"
    return "condition"


def _added(left: Sequence[Statement], right: Sequence[Statement]) -> Difference | None:
    """A statement that one of the queries makes and the other doesn't; DISTINCT aside, for a list
    tells the same with repeats and without."""
    more, fewer = (left, right) if len(left) > len(right) else (right, left)
    if fewer or not more:
        return None
    kinds: dict[Place, ReadingKind] = {
        "comparison": "condition", "left join": "without", "limit": "first",
    }  # fmt: skip
    said = more[0]
    places = {statement.place for statement in more}
    if len(more) == 1 and said.place in kinds:
        kind = kinds[said.place]
    elif places <= {"order", "limit", "whole order"} and "limit" in places:
        kind = "first"
        said = next(statement for statement in more if statement.place == "limit")
    elif places <= {"grouping", "shown"} and "grouping" in places:
        kind = "each"
        said = next(statement for statement in more if statement.place == "grouping")
    else:
        return None
    return Difference(kind, said, None) if more is left else Difference(kind, None, said)


def _by_tables(left: Sequence[Statement], right: Sequence[Statement]) -> Difference | None:
    """A table that one of the queries joins only to leave rows out."""
    if len(left) != 1 or len(right) != 1:
        return None
    ours, theirs = (dict(_counted(one)) for one in (left[0], right[0]))
    small, large = sorted((ours, theirs), key=lambda counts: sum(counts.values()))
    fits = all(large.get(name, 0) >= count for name, count in small.items())
    if not fits or sum(large.values()) != sum(small.values()) + 1:
        return None
    return Difference("without", left[0], right[0])


def _counted(statement: Statement) -> frozenset[tuple[str, int]]:
    counted = statement.content[0]
    return counted if isinstance(counted, frozenset) else frozenset()
