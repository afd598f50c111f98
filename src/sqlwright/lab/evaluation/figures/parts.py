"""Work of a recipe's parts: values retrieved, examples kept, queries revised, unit tests that tell
queries apart, sub-questions. What linking leaves is told by `Views`."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable

from sqlwright.candidates import history, valid
from sqlwright.lab.evaluation.figures.family import Family, share_of
from sqlwright.lab.evaluation.intervals import Sample
from sqlwright.lab.evaluation.records import Record
from sqlwright.schema import Schema
from sqlwright.sql.reading import compared_texts
from sqlwright.types import Candidate, State

IsRight = Callable[[str], bool]
Counted = tuple[int, int]
"""Hits and total."""


class Parts(Family):
    """By the name of a part's figure (`parts_of`) its share over all questions for which the
    part had something to do; intervals draw questions. `sub_questions` is the mean number of parts
    that a question was taken into, itself included; None where none was."""

    def __init__(self) -> None:
        self._parts: defaultdict[str, Counter[tuple[int, int]]] = defaultdict(Counter)
        self._depths: Counter[float] = Counter()

    def add(self, record: Record, right: bool) -> None:
        del right
        for name, (hits, total) in record.parts.items():
            self._parts[name][hits, total] += 1
        if record.sub_questions:
            self._depths[record.sub_questions] += 1

    def result(self) -> dict[str, object]:
        mean = Sample.counted(self._depths).mean()
        return {
            "parts": {name: share_of(self._parts[name]) for name in sorted(self._parts)},
            "sub_questions": None if mean is None else mean.as_dict(),
        }


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
    versions = {one.id: one for last in state.candidates for one in history(last)}.values()
    pairs = [
        (one.source, _right(one.parent, is_right), _right(one, is_right))
        for one in versions
        if one.parent is not None
    ]
    came_to = Counter(step for step, _, _ in pairs)
    came_to.update(tried.source for one in versions for tried in one.tried if tried.sql)
    changes = Counter((step, now - was) for step, was, now in pairs)
    return {
        f"{step} {name}": (changes[step, change], number)
        for step, number in came_to.items()
        for name, change in (("helped", 1), ("hurt", -1))
    }


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
