"""Work of a recipe's parts for one question: values retrieved, examples kept, queries revised, unit
tests that tell queries apart; as the linking's is counted by `views`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from sqlwright.candidates import history, valid
from sqlwright.schema import Schema
from sqlwright.sql.reading import compared_texts
from sqlwright.types import Candidate, State

IsRight = Callable[[str], bool]
Counted = tuple[int, int]
"""Hits and total."""


def parts_of(state: State, gold_sql: str, schema: Schema, is_right: IsRight) -> dict[str, Counted]:
    """Hits and total by figure, those alone of parts that had something to do:

    - `values found`: of the texts that gold compares columns with (=, <>, IN), those that retrieval
      found or showed in their column;
    - `examples kept`: of the examples that a model made, those that can be used;
    - `STEP helped`, `STEP hurt`: of the queries that a repair came to, those that are right in
      place of a wrong one, and those that are wrong in place of a right one;
    - `tests that divide`: of the unit tests that were judged, those that some of the queries that
      ran pass and others don't;
    - `tests for the right`: of these, where right and wrong queries ran, those that a greater share
      of the right ones passes.
    """
    made = len(state.demonstrations) + len(state.discarded)
    counted = {
        "values found": _values(state, gold_sql, schema),
        "examples kept": (len(state.demonstrations), made),
        **_repairs(state, is_right),
        **_tests(state, is_right),
    }
    return {name: one for name, one in counted.items() if one[1]}


def _values(state: State, gold_sql: str, schema: Schema) -> Counted:
    if not (state.looked_up or state.examples):
        return 0, 0
    texts = compared_texts(gold_sql, schema)
    wanted = {(one.column, one.text.casefold()) for one in texts if not one.pattern}
    found = {(match.column, match.value.casefold()) for match in state.values}
    found |= {(one.column, str(cell).casefold()) for one in state.examples for cell in one.values}
    return len(wanted & found), len(wanted)


def _repairs(state: State, is_right: IsRight) -> dict[str, Counted]:
    versions = {one.id: one for last in state.candidates for one in history(last)}
    came_to: Counter[str] = Counter()
    helped: Counter[str] = Counter()
    hurt: Counter[str] = Counter()
    for new in versions.values():
        came_to.update(tried.source for tried in new.tried if tried.sql)
        if (old := new.parent) is not None:
            came_to[new.source] += 1
            was, now = _right(old, is_right), _right(new, is_right)
            helped[new.source] += now and not was
            hurt[new.source] += was and not now
    counts = {"helped": helped, "hurt": hurt}
    return {f"{step} {k}": (counts[k][step], n) for step, n in came_to.items() for k in counts}


def _tests(state: State, is_right: IsRight) -> dict[str, Counted]:
    ran = {place for place, one in enumerate(state.candidates) if valid(one)}
    passes = [ran.intersection(one.passed) for one in state.tests if one.passed is not None]
    dividing = [passed for passed in passes if 0 < len(passed) < len(ran)]
    right = {n for n in ran if is_right(state.candidates[n].sql)} if dividing else set[int]()
    wrong = ran - right
    both = dividing if right and wrong else []
    told = sum(
        len(passed & right) * len(wrong) > len(passed & wrong) * len(right) for passed in both
    )
    return {
        "tests that divide": (len(dividing), len(passes)),
        "tests for the right": (told, len(both)),
    }


def _right(one: Candidate, is_right: IsRight) -> bool:
    return valid(one) and is_right(one.sql)
