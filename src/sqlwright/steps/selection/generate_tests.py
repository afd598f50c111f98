"""Unit tests in plain language that tell candidates with different results apart."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, model_validator

from sqlwright.errors import MalformedReply, ModelFailed
from sqlwright.messages import Message
from sqlwright.prompts.fitting import Portion, fit
from sqlwright.prompts.replies import items_from, json_from
from sqlwright.prompts.sampling import Prompt, Sampling, ask
from sqlwright.prompts.templates import render
from sqlwright.protocols import Context
from sqlwright.steps.asking import asked
from sqlwright.steps.selection.agreement import chosen, clusters
from sqlwright.steps.selection.judging.queries import SCHEMA, laid_out, schema_of, shown
from sqlwright.steps.showing import EvidenceStep
from sqlwright.types import State, UnitTest

NAME = "selection.generate_tests"
GENERAL = (
    "Taken as a whole, the query answers exactly the question that is asked: it could be handed to "
    "whoever asked, with nothing missing, nothing wrong and nothing too much."
)
"""A test that always fits."""


class WrittenTests(BaseModel):
    """A tester's reply."""

    model_config = ConfigDict(json_schema_extra={"additionalProperties": False})
    reasoning: str
    tests: list[str]

    @model_validator(mode="before")
    @classmethod
    def _lenient(cls, data: Any) -> Any:
        if isinstance(data, list):
            data = {"tests": data}
        if not isinstance(data, dict):
            return data
        said = data.get("reasoning")
        tests = data.get("tests", data.get("unit_tests"))
        if isinstance(tests, list):
            tests = [next(iter(t.values()), "") if isinstance(t, dict) else t for t in tests]
        return {"reasoning": said if isinstance(said, str) else "", "tests": tests}


@dataclass(frozen=True)
class GenerateTests(EvidenceStep):
    """One call writes tests that separate the clusters of candidates with equal results.

    CHESS section 3.1, generate_unit_test. It sees the part of the schema that the queries use, and
    each cluster with its queries and the rows that not every cluster has. Fewer than two clusters
    need no tests. Where the reply can't be used the general test alone is left.
    """

    tests: int = 10
    """Tests asked for; the paper's accuracy peaks at ten (figure 4)."""
    general: bool | Literal["auto"] = "auto"
    """Add the test whether the query answers the question as a whole: always, as the paper's code
    does, never, or where the tests written are too few to tell every cluster from the others."""
    representatives: bool = False
    """Show the shortest query of each cluster, for all that differ in it."""
    sampling: Sampling = field(default_factory=lambda: Sampling(temperature=0.8))
    prompt: str = "selection/generate_tests"

    purpose: ClassVar[str] = (
        "Writes unit tests: statements on what a right query does, made to tell apart queries "
        "with different results. Run it once, where there are at least two different results. "
        "One call."
    )
    reads: ClassVar[frozenset[str]] = frozenset({"question", "view", "candidates"})
    writes: ClassVar[frozenset[str]] = frozenset({"tests"})

    def applies(self, state: State, context: Context) -> bool:
        """True if there are different results to choose from, and no tests yet."""
        return not state.tests and not chosen(state) and len(clusters(state)) > 1

    def calls(self, state: State) -> int:
        """One, and those for judging by the tests: without them it would be in vain."""
        return 1 + self.tests + bool(self.general) if len(clusters(state)) > 1 else 0

    def __call__(self, state: State, context: Context) -> State:
        groups = clusters(state)
        if len(groups) < 2 or (self.tests < 1 and not self.general):
            return state.evolve(tests=())
        general = (UnitTest(GENERAL),) if self.general else ()
        if self.tests < 1:
            return state.evolve(tests=general)
        listed = shown(groups, representatives=self.representatives)
        ones = [one.candidate for group in listed for one in group]

        def prompted(portion: Portion, state: State) -> tuple[Message, ...]:
            return render(
                self.prompt,
                schema=schema_of(ones, state, context, self.shown, portion),
                groups=laid_out(listed, state, portion),
                **self.reading,
                tests=self.tests,
                **asked(state, context),
            )

        form, sampling = WrittenTests.model_json_schema(), self.sampling
        fitted = fit(
            prompted,
            SCHEMA,
            state,
            context,
            step=NAME,
            sampling=sampling,
            reply_schema=form,
            narrow=False,
        )
        state = fitted.noted(state, NAME)
        prompt = Prompt(fitted.messages, _tests, form)
        try:
            (samples,) = ask([prompt], state, context, step=NAME, sampling=self.sampling)
        except (MalformedReply, ModelFailed) as error:
            left = "only the general one is left" if general else "there are none"
            return state.evolve(tests=general).warn(
                "judging", f"the model wrote no tests, {left}: {error}", error
            )
        texts = dict.fromkeys(text for sample in samples if sample is not None for text in sample)
        kept = tuple(map(UnitTest, list(texts)[: self.tests]))
        if self.general == "auto" and len(kept) >= len(groups) - 1:
            general = ()
        return state.evolve(tests=(*kept, *general))


def _tests(text: str) -> tuple[str, ...]:
    """The sentences of a reply. Raises MalformedReply when there are none."""
    try:
        listed = tuple(json_from(text, WrittenTests).tests)
    except MalformedReply:
        listed = items_from(text)
    kept = tuple(dict.fromkeys(one.strip() for one in listed if len(one.split()) > 1))
    if not kept:
        raise MalformedReply("it lists no tests")
    return kept
