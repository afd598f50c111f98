"""Simulated authors of known accuracy: states as recipes with language models leave them.

Each question has its own difficulty, each author an accuracy of its own; an author that errs often
errs alike, as language models do. Unit tests, a second opinion and machine checks tell right
queries from wrong ones a little. No query of these is ever run; results are made up with them.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlwright.confidence.calibration import probability
from sqlwright.confidence.fitting import Sample
from sqlwright.confidence.measures import Seen, measured
from sqlwright.running.grounds import basis_of
from sqlwright.schema import Column, Schema, SchemaView, Table
from sqlwright.steps.selection.agreement import clusters, select
from sqlwright.types import Basis, Candidate, ExecutionResult, Question, Sign, State, UnitTest

SCHEMA = Schema(
    "simulated", (Table("things", (Column("name", "TEXT"), Column("size", "INTEGER"))),)
)


@dataclass(frozen=True, slots=True)
class Crowd:
    """Authors and what they are asked."""

    accuracy: float
    """Log odds of an author being right about a question of middling difficulty."""
    authors: int = 1
    samples: int = 4
    """Of each author."""
    hard: float = 1.5
    """Standard deviation of the questions' difficulty, in log odds."""
    alike: float = 0.6
    """Part of the wrong samples about a question that are wrong in the same way."""
    tests: int = 0
    sharp: float = 0.7
    """Probability that a test, a second opinion or a check says what is so."""


FAMILIES: Sequence[Crowd] = (
    Crowd(0.5), Crowd(1.5, alike=0.8), Crowd(-0.5, samples=6), Crowd(1.0, authors=2, tests=3),
    Crowd(0.0, authors=3, samples=3, hard=2.0), Crowd(2.0, samples=1),
    Crowd(0.5, tests=5, sharp=0.8), Crowd(-1.0, authors=2, samples=2),
    Crowd(1.0, samples=10, alike=0.4),
)  # fmt: skip
"""Kinds of recipes, models and questions."""


def simulated(seed: int, each: int = 200, families: Sequence[Crowd] = FAMILIES) -> list[Sample]:
    """Answers of all families, drawn by seed."""
    return [
        sample
        for number, crowd in enumerate(families)
        for sample in answers(crowd, random.Random(f"{seed}/{number}"), each, f"crowd {number}")
    ]


def answers(crowd: Crowd, draw: random.Random, count: int, family: str) -> list[Sample]:
    """Answers to so many questions."""
    found = []
    for number in range(count):
        state, right = answered(crowd, draw)
        chosen = state.selected
        assert chosen is not None
        seen = Seen(state, chosen, SCHEMA, basis_of(state, chosen))
        found.append(Sample(measured(seen), right, family, str(number)))
    return found


def answered(crowd: Crowd, draw: random.Random) -> tuple[State, bool]:
    """The state in which a question ends, and whether its answer is right."""
    ease = crowd.accuracy + draw.gauss(0.0, crowd.hard)
    tables = 1 + (ease < 0) + (draw.random() < 0.4)
    common = draw.randrange(1, 4)
    written: list[Candidate] = []
    for author in range(crowd.authors):
        skill = ease + draw.gauss(0.0, 0.7)
        for sample in range(crowd.samples):
            right = draw.random() < probability(skill)
            wrong = common if draw.random() < crowd.alike else draw.randrange(4, 40)
            written.append(_candidate(author, sample + 1, 0 if right else wrong, tables))
    state = State(Question("How many?"), SchemaView(SCHEMA), candidates=tuple(written))
    state = state.evolve(tests=_tests(crowd, state, draw))
    judged = [test.passed for test in state.tests if test.passed is not None]
    shares = {
        one.id: sum(place in passed for passed in judged) / len(judged) if judged else 1.0
        for place, one in enumerate(written)
    }
    state = select(state, clusters(state), shares if judged else None)
    right = _is_right(state.selected)
    told = right if draw.random() < crowd.sharp else not right
    signs = [Sign("second_opinion", "another result" if not told else "the same", told)]
    if draw.random() < (0.02 if right else 0.15):
        signs.append(Sign("machine_check", "it counts rows twice", False, grave=True))
    if draw.random() < (0.05 if right else 0.2):
        signs.append(Sign("unexplained", "nothing matches", False))
    basis = replace(state.basis or Basis(), signs=tuple(signs))
    return state.evolve(basis=basis), right


def _candidate(author: int, sample: int, outcome: int, tables: int) -> Candidate:
    joined = "".join(f" JOIN things AS t{n} ON t0.name = t{n}.name" for n in range(1, tables))
    sql = f"SELECT COUNT(*) FROM things AS t0{joined} WHERE t0.size > {outcome}"
    result = ExecutionResult(("n",), ((outcome,),))
    return Candidate(
        sql, "generation.direct", result=result, sample=sample, prompt=f"prompt {author}",
        by_model=True,
    )  # fmt: skip


def _is_right(chosen: Candidate | None) -> bool:
    return bool(chosen and chosen.result and chosen.result.rows == ((0,),))


def _tests(crowd: Crowd, state: State, draw: random.Random) -> tuple[UnitTest, ...]:
    return tuple(
        UnitTest(
            f"test {number}",
            tuple(
                place
                for place, one in enumerate(state.candidates)
                if draw.random() < (crowd.sharp if _is_right(one) else 1.0 - crowd.sharp)
            ),
        )
        for number in range(crowd.tests)
    )
