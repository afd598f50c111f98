"""Candidates are judged by unit tests; the one that passes most is selected."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import ClassVar, Literal

from sqlwright.errors import MalformedReply, ModelFailed
from sqlwright.prompts.fitting import Fitted, Messages, Portion, fit
from sqlwright.prompts.sampling import Prompt, Sampling, ask
from sqlwright.prompts.schema import render_sql
from sqlwright.prompts.templates import model_text, render
from sqlwright.protocols import Context
from sqlwright.steps.asking import asked
from sqlwright.steps.selection.agreement import chosen, clusters, select
from sqlwright.steps.selection.judging.queries import SCHEMA, Shown, laid_out, schema_of, shown
from sqlwright.steps.selection.judging.verdicts import Verdicts, verdicts_from
from sqlwright.steps.showing import EvidenceStep
from sqlwright.types import State

NAME = "selection.evaluate_tests"

Judged = list[dict[int, bool]]
"""For each test the verdicts on the queries, by their numbers."""


@dataclass(frozen=True)
class EvaluateTests(EvidenceStep):
    """Takes the candidate with the greatest share of tests passed; ties go to the larger cluster.

    CHESS section 3.1, evaluate. `per_test` is the paper's better form (section 4.2.1): one call for
    each test judges all queries; `per_candidate` judges one query by all tests. What a call leaves
    unjudged, or a call that fails, counts neither for nor against. Without tests, or when all
    candidates agree, the largest cluster wins without a call.
    """

    arrangement: Literal["per_test", "per_candidate"] = "per_test"
    representatives: bool = False
    """Judge the shortest query of each cluster, for all that differ in it."""
    sampling: Sampling = field(default_factory=Sampling)
    prompt: str = ""
    """A template of your own; empty is the arrangement's."""

    purpose: ClassVar[str] = (
        "Judges the queries by the unit tests and selects the one that passes most; selects by "
        "the most frequent result where there are no tests. Run it once the tests are written: "
        "the choice ends your part. One call for each test."
    )
    cheaper: ClassVar[str] = "selection.largest_cluster"
    # Tests are read where there are some: without a step that writes them this is a vote.
    reads: ClassVar[frozenset[str]] = frozenset({"question", "view", "candidates"})
    writes: ClassVar[frozenset[str]] = frozenset(
        {"tests", "candidates", "selected", "confidence", "basis"}
    )

    def applies(self, state: State, context: Context) -> bool:
        """True if there are candidates that no choice was made from yet."""
        return bool(state.candidates) and not chosen(state)

    def calls(self, state: State) -> int:
        """One for each test, or for each different query."""
        groups = clusters(state)
        if len(groups) < 2 or not state.tests:
            return 0
        if self.arrangement == "per_test":
            return len(state.tests)
        return sum(map(len, shown(groups, representatives=self.representatives)))

    def __call__(self, state: State, context: Context) -> State:
        groups = clusters(state)
        if len(groups) < 2 or not state.tests:
            return select(state, groups)
        listed = shown(groups, representatives=self.representatives)
        try:
            asking = self._per_test if self.arrangement == "per_test" else self._per_candidate
            state, judged = asking(state, listed, context)
        except (MalformedReply, ModelFailed) as error:
            told = f"no test could be judged, so the most frequent result was taken: {error}"
            return select(state.warn("judging", told, error), groups)
        lost = sum(not verdicts for verdicts in judged)
        if lost:
            state = state.warn("judging", f"{lost} of {len(judged)} unit tests were not judged")
        return select(_recorded(state, listed, judged), groups, _shares(listed, judged))

    def _fitted(
        self, prompted: Callable[[Portion, State], Messages], state: State, context: Context
    ) -> Fitted:
        form = Verdicts.model_json_schema()
        return fit(
            prompted, SCHEMA, state, context,
            step=NAME, sampling=self.sampling, reply_schema=form, narrow=False,
        )  # fmt: skip

    def _per_test(
        self, state: State, listed: Sequence[Sequence[Shown]], context: Context
    ) -> tuple[State, Judged]:
        ones = [one.candidate for group in listed for one in group]
        template, form = self.prompt or "selection/evaluate_test", Verdicts.model_json_schema()
        longest = max((test.text for test in state.tests), key=len)

        def prompted(portion: Portion, state: State, test: str = longest) -> Messages:
            return render(
                template,
                test=model_text(test),
                schema=schema_of(ones, state, context, self.shown, portion),
                groups=laid_out(listed, state, portion),
                count=len(ones),
                **self.reading,
                **asked(state, context),
            )

        # One portion for all tests, so that what they have in common is the same text.
        fitted = self._fitted(prompted, state, context)
        shown = fitted.shown(state)
        prompts = [
            Prompt(
                prompted(fitted.portion, shown, test.text),
                partial(verdicts_from, count=len(ones)),
                form,
            )
            for test in state.tests
        ]
        state = fitted.noted(state, NAME)
        replies = ask(prompts, state, context, step=NAME, sampling=self.sampling)
        return state, [_majority(samples) for samples in replies]

    def _per_candidate(
        self, state: State, listed: Sequence[Sequence[Shown]], context: Context
    ) -> tuple[State, Judged]:
        template, form = self.prompt or "selection/evaluate_candidate", Verdicts.model_json_schema()
        count = len(state.tests)
        common = {
            "tests": [model_text(test.text) for test in state.tests],
            "count": count,
            **self.reading,
            **asked(state, context),
        }

        def prompted(place: int, one: Shown, portion: Portion, state: State) -> Messages:
            return render(
                template,
                schema=schema_of([one.candidate], state, context, self.shown, portion),
                sql=render_sql(one.candidate, state.question),
                result=laid_out(listed, state, portion)[place]["result"],
                **common,
            )

        ones = [(place, one) for place, group in enumerate(listed) for one in group]
        fitted = [self._fitted(partial(prompted, *each), state, context) for each in ones]
        prompts = [
            Prompt(each.messages, partial(verdicts_from, count=count), form) for each in fitted
        ]
        for each in fitted:
            state = each.noted(state, NAME)
        replies = ask(prompts, state, context, step=NAME, sampling=self.sampling)
        judged: Judged = [{} for _ in state.tests]
        for (_, one), samples in zip(ones, replies, strict=True):
            for number, passed in _majority(samples).items():
                judged[number - 1][one.number] = passed
        return state, judged


def _majority(samples: Sequence[Mapping[int, bool] | None]) -> dict[int, bool]:
    """The verdict of most samples on each number; a tie is a failure."""
    said: dict[int, list[bool]] = {}
    for sample in samples:
        for number, passed in (sample or {}).items():
            said.setdefault(number, []).append(passed)
    return {number: 2 * sum(votes) > len(votes) for number, votes in sorted(said.items())}


def _shares(listed: Sequence[Sequence[Shown]], judged: Judged) -> dict[str, float]:
    """The share of tests passed of those judged, by the candidate's id.

    One imagined pass and one imagined failure are added to each, so that few verdicts weigh little
    and none at all stand in the middle; among equally often judged ones more passes win.
    """
    shares: dict[str, float] = {}
    for group in listed:
        for one in group:
            verdicts = [said[one.number] for said in judged if one.number in said]
            share = (sum(verdicts) + 1) / (len(verdicts) + 2)
            shares.update({candidate.id: share for candidate in one.speaks_for})
    return shares


def _recorded(state: State, listed: Sequence[Sequence[Shown]], judged: Judged) -> State:
    """The state with who passed each test; a test that nothing judged stays as it was."""
    ones = [one for group in listed for one in group]
    tests = []
    for test, verdicts in zip(state.tests, judged, strict=True):
        passed = {c.id for one in ones if verdicts.get(one.number) for c in one.speaks_for}
        places = tuple(n for n, c in enumerate(state.candidates) if c.id in passed)
        tests.append(replace(test, passed=places) if verdicts else test)
    return state.evolve(tests=tuple(tests))
