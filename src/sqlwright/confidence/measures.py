"""The measures of an answer, taken before anybody says how sure it is: a line for each.

`EMBEDDED` are the measures of a query that the embedded critic has judged, `WRITTEN` those of a
query of a language model. What the critic measured of its choice (`State.measures`) may be named by
a calibration without standing here.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from sqlwright.candidates import facts_of, group_by_result, valid
from sqlwright.confidence.calibration import log_odds
from sqlwright.schema import Schema
from sqlwright.sql.facts import QueryFacts
from sqlwright.types import FINDINGS, Basis, Candidate, ExecutionResult, SignKind, State

SCORE = "score of the critic"
"""Log odds of the critic's own probability; what a calibration of embedded models rises with."""
AGREEMENT = "agreement"
"""Log odds of the samples that agree; what one of language models rises with."""
BELIEF = "belief of the embedded models"
"""Log odds that the embedded models give a result, where a language model was asked beside them;
what a calibration of both rises with. A step that asks so puts it into `State.measures`."""
STAYS = "stays"
"""1 where the embedded models' own answer was chosen then."""
MOST = 6.0
"""Counts beyond which a measure doesn't rise; chosen."""


@dataclass(frozen=True)
class Seen:
    """A state that a recipe ended in with the query it chose, as the measures see it."""

    state: State
    chosen: Candidate
    schema: Schema
    basis: Basis

    @cached_property
    def facts(self) -> QueryFacts | None:
        """The facts of the query; None where it can't be read."""
        return facts_of(self.chosen, self.schema)

    @property
    def result(self) -> ExecutionResult:
        return self.chosen.result or ExecutionResult()

    @cached_property
    def authors(self) -> tuple[int, int]:
        """Authors (models, each with its prompts) most of whose samples give the chosen result, and
        all that wrote a query that runs."""
        by_author: defaultdict[str, list[Candidate]] = defaultdict(list)
        for one in self.state.for_question:
            if valid(one):
                by_author[one.writer].append(one)
        agreeing = 0
        for written in by_author.values():
            groups = group_by_result(written)
            best = max(groups, key=lambda group: len(group.candidates))
            agreeing += len(group_by_result([best.best, self.chosen])) == 1
        return agreeing, len(by_author)

    @cached_property
    def tests(self) -> tuple[int, int]:
        """Unit tests that the chosen query passes, and all that were judged."""
        ids = [one.id for one in self.state.candidates]
        place = ids.index(self.chosen.id) if self.chosen.id in ids else -1
        judged = [test.passed for test in self.state.tests if test.passed is not None]
        return sum(place in passed for passed in judged), len(judged)

    def signs(self, kind: SignKind, *, favours: bool) -> int:
        """The signs of a kind that speak for the answer, or against it."""
        return sum(sign.kind == kind and sign.favours is favours for sign in self.basis.signs)


Measure = Callable[[Seen], float]

WRITTEN: Mapping[str, Measure] = {
    AGREEMENT: lambda seen: _part(seen.basis.agreeing, seen.basis.of),
    "authors": lambda seen: _part(*seen.authors),
    "tests": lambda seen: _part(*seen.tests) if seen.tests[1] else 0.0,
    "second opinion": lambda seen: float(
        seen.signs("second_opinion", favours=True) - seen.signs("second_opinion", favours=False)
    ),
    "faults": lambda seen: float(
        bool(seen.chosen.vetoes) or any(s.grave and not s.favours for s in seen.basis.signs)
    ),
    "findings": lambda seen: float(
        bool(seen.signs("machine_check", favours=False))
        or any(note.kind in FINDINGS for note in seen.chosen.warnings)
    ),
    "unexplained": lambda seen: float(bool(seen.signs("unexplained", favours=False))),
    "nothing found": lambda seen: float(seen.result.empty),
    "repaired": lambda seen: float(seen.chosen.parent is not None),
    "tables": lambda seen: min(float(len(seen.facts.tables)), MOST) if seen.facts else 2.0,
    "selects": lambda seen: min(float(len(seen.facts.selects)), MOST) if seen.facts else 1.0,
}
"""Of a query of a language model."""

EMBEDDED: Mapping[str, Measure] = {
    SCORE: lambda seen: log_odds(seen.state.confidence or 0.0),
    "vetoed": lambda seen: float(bool(seen.chosen.vetoes)),
    "mended": lambda seen: float(bool(seen.chosen.mended)),
    "evidence": lambda seen: float(bool(seen.state.question.evidence)),
    "characters": lambda seen: math.log1p(len(seen.state.question.text)),
}
"""Of a query that the embedded critic has judged, beside what that measured."""


ASKED: Mapping[str, int] = {
    BELIEF: 1, AGREEMENT: 1, "second opinion": 1, STAYS: 0, "faults": -1, "nothing found": -1,
}  # fmt: skip
"""Of an answer for which a language model was asked beside the embedded ones, each with the sign of
its weight."""


def of_embedded(state: State) -> bool:
    """True if the embedded critic alone has judged the answer."""
    return state.confidence is not None and BELIEF not in state.measures


def measured(seen: Seen) -> dict[str, float]:
    """All measures of an answer, by name."""
    state, kinds = seen.state, dict[str, Measure]()
    kinds |= WRITTEN if not of_embedded(state) else {}
    kinds |= EMBEDDED if state.confidence is not None else {}
    return {**state.measures, **{name: measure(seen) for name, measure in kinds.items()}}


def _part(agreeing: int, of: int) -> float:
    """Log odds of a part, 0 for one of one: a lone author agrees with nobody."""
    if agreeing < 1:
        return -math.log(2 * of + 1)
    return math.log((agreeing - 0.5) / (of - agreeing + 0.5))
