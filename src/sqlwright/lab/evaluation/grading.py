"""Difficulty of a query: Spider's hardness, the order of levels whoever named them, and components
as exact set match compares them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from sqlwright.schema import ColumnRef, Schema
from sqlwright.sql.calculations import calculations
from sqlwright.sql.facts import AggregateCall, Comparison, OrderKey, QueryFacts, Term
from sqlwright.sql.reading import read_facts


def hardness(facts: QueryFacts | None) -> str:
    """The grade of a query; empty where it couldn't be read.

    From the published definition (Yu et al. 2018 and the pages of the benchmark). Three counts
    are taken of the outermost SELECT:

    - first components: WHERE, GROUP BY, ORDER BY, LIMIT, each further source of FROM, each OR,
      each LIKE. The pages name HAVING, too, but what their script graded shows that it doesn't
      count.
    - second components: each kind of set operation, each query within a condition or FROM.
    - others, one each: more than one aggregate, shown expression, condition in WHERE, key of
      GROUP BY.

    An own implementation; it wasn't checked against the official script as a whole.
    """
    if facts is None:
        return ""
    first, second, others = _counts(facts)
    if second == 0:
        if first <= 1 and others == 0:
            return "easy"
        if (first <= 1 and others <= 2) or (first == 2 and others < 2):
            return "medium"
        if (first <= 2 and others > 2) or (first == 3 and others <= 2):
            return "hard"
    elif second == 1 and first <= 1 and others == 0:
        return "hard"
    return "extra"


def _counts(facts: QueryFacts) -> tuple[int, int, int]:
    """First components, second components and others of the outermost SELECT."""
    select = facts.first
    own = [one for one in facts.comparisons if one.select == 0]
    where = [one for one in own if one.clause == "where"]
    conditions = [one for one in own if one.clause in {"on", "where", "having"}]
    first = (
        bool(where)
        + bool(select.grouping)
        + bool(select.order or (facts.combines and facts.order))
        + (select.limit is not None)
        + len(select.joins)
        + select.alternatives
        + sum(one.operator == "like" for one in conditions)
    )
    combined = {one.operator for one in facts.operations if one.left == 0}
    nested = sum(len(one.left.queries) + _right_queries(one) for one in conditions)
    second = len(combined) + nested + len(select.derived)
    others = (
        (_aggregates(facts, conditions) > 1)
        + (len(select.shown) > 1)
        + (len(where) > 1)
        + (len(select.grouping) > 1)
    )
    return first, second, others


def _right_queries(comparison: Comparison) -> int:
    return sum(len(term.queries) for term in comparison.right)


def _aggregates(facts: QueryFacts, conditions: list[Comparison]) -> int:
    """Aggregates in the outermost SELECT, wherever they stand in it."""
    terms: list[Term] = [*facts.first.shown, *facts.first.grouping]
    terms += [key.term for key in facts.first.order]
    for one in conditions:
        terms += [one.left, *one.right]
    return sum(len(term.aggregates) for term in terms)


LEVELS = ("simple", "easy", "moderate", "medium", "hard", "challenging", "extra", "extra hard")
"""Levels of difficulty from the easiest, as Spider and BIRD call them."""


def level_place(name: str) -> tuple[int, str]:
    """The place of a level of difficulty, from the easiest; unknown ones come last, by name."""
    plain = name.casefold()
    return (LEVELS.index(plain) if plain in LEVELS else len(LEVELS), plain)


Component = tuple[object, ...]


def components(sql: str, schema: Schema) -> Component | None:
    """The components of a query; None where it can't be read.

    The components of a SELECT: what it shows, its tables, the conditions of WHERE and of
    HAVING, what it groups by, what it orders by with directions, if it has a LIMIT, if it has
    an OR, queries in FROM and in conditions, set operations with theirs. All but the order
    keys are multisets. Left out are values, DISTINCT, the conditions of ON, aliases, and which
    of two columns that a key joins is named.
    """
    facts = read_facts(sql, schema)
    if facts is None:
        return None
    # Operators and functions aren't told per expression: those of the whole query are compared.
    functions = calculations(sql, schema.dialect).functions
    return (_Parts(facts, schema).whole(), tuple(sorted(functions)))


class _Parts:
    """The components of one query's SELECTs."""

    def __init__(self, facts: QueryFacts, schema: Schema) -> None:
        self._facts, self._schema = facts, schema
        self._reached: set[int] = set()

    def whole(self) -> Component:
        """Those of the outermost SELECT, of common table expressions, and of the whole."""
        facts = self._facts
        first = self.select(0)
        # What is reached by then was reached from an earlier one.
        places = range(1, len(facts.selects))
        others = [self.select(place) for place in places if place not in self._reached]
        return (first, _bag(others), self._order(facts.order), facts.limit is not None)

    def select(self, place: int) -> Component:
        """Those of a SELECT and of what is combined with it."""
        if not 0 <= place < len(self._facts.selects):
            return ("values",)  # rows that are written out
        self._reached.add(place)
        one = self._facts.selects[place]
        own = [each for each in self._facts.comparisons if each.select == place]
        return (
            _bag(self._term(term) for term in one.shown),
            _bag(one.tables),
            _bag(self.select(inner) for inner in one.derived),
            _bag(self._condition(each) for each in own if each.clause == "where"),
            _bag(self._condition(each) for each in own if each.clause == "having"),
            one.alternatives > 0,
            _bag(self._term(term) for term in one.grouping),
            self._order(one.order),
            one.limit is not None,
            _bag(
                (each.operator, self.select(each.right))
                for each in self._facts.operations
                if each.left == place
            ),
        )

    def _order(self, keys: Iterable[OrderKey]) -> Component:
        return tuple((self._term(key.term), key.descending) for key in keys)

    def _condition(self, one: Comparison) -> Component:
        right = _bag({self._term(term) for term in one.right})
        return (one.operator, one.negated, self._term(one.left), right)

    def _term(self, term: Term) -> Component:
        """An expression without its values."""
        if term.constant is not None:
            return ("value",)
        if term.star:
            return ("*",)
        kind = "column" if term.column else "aggregate" if term.aggregate else "expression"
        return (
            kind,
            _bag(self._column(ref) for ref in term.columns),
            _bag(self._call(call) for call in term.aggregates),
            _bag(date.part for date in term.dates),
            _bag(self.select(place) for place in term.queries),
        )

    def _call(self, call: AggregateCall) -> Component:
        return (call.function, self._term(call.argument))

    def _column(self, ref: ColumnRef) -> Component:
        return tuple(self._same.get(ref, ref))

    @cached_property
    def _same(self) -> dict[ColumnRef, ColumnRef]:
        """For each column that a key joins, one that stands for all those joined with it."""
        stands: dict[ColumnRef, ColumnRef] = {}
        pairs = [
            pair for key in self._schema.foreign_keys if not key.inferred for pair in key.pairs
        ]
        for near, far in pairs:
            one, other = stands.get(near, near), stands.get(far, far)
            for ref, standing in list(stands.items()):
                if standing == one:
                    stands[ref] = other
            stands[near] = stands[one] = stands[far] = other
        return stands


def _bag(parts: Iterable[object]) -> Component:
    """Parts whatever their order, each as often as it is there."""
    return tuple(sorted(parts, key=repr))
