"""Spider's hardness of a query: easy, medium, hard, extra.

From the published definition (Yu et al. 2018 and the pages of the benchmark). Three counts are
taken of the outermost SELECT:

- first components: WHERE, GROUP BY, ORDER BY, LIMIT, each further source of FROM, each OR, each
  LIKE. The pages name HAVING, too, but what their script graded shows that it doesn't count.
- second components: each kind of set operation, each query within a condition or FROM.
- others, one each: more than one aggregate, shown expression, condition in WHERE, key of GROUP BY.

An own implementation; it wasn't checked against the official script as a whole.
"""

from __future__ import annotations

from sqlwright.sql.facts import Comparison, QueryFacts, Term

LEVELS = ("easy", "medium", "hard", "extra")
"""The grades, the easiest first."""


def hardness(facts: QueryFacts | None) -> str:
    """The grade of a query; empty where it couldn't be read."""
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
