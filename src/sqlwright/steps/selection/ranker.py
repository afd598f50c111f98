"""All candidates in one prompt: a judge names the best."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, model_validator

from sqlwright.errors import MalformedReply, ModelFailed
from sqlwright.prompts.fitting import Messages, Portion, fit
from sqlwright.prompts.replies import json_from
from sqlwright.prompts.sampling import Prompt, Sampling, ask
from sqlwright.prompts.templates import render
from sqlwright.protocols import Context
from sqlwright.steps.asking import asked
from sqlwright.steps.selection.agreement import clusters, select
from sqlwright.steps.selection.judging.differences import CHARACTERS
from sqlwright.steps.selection.judging.queries import SCHEMA, laid_out, schema_of, shown
from sqlwright.steps.showing import SchemaStep
from sqlwright.types import State

NAME = "selection.ranker"


class Best(BaseModel):
    """A judge's reply."""

    model_config = ConfigDict(json_schema_extra={"additionalProperties": False})
    reasoning: str
    best: int

    @model_validator(mode="before")
    @classmethod
    def _lenient(cls, data: Any) -> Any:
        if isinstance(data, int):
            data = {"best": data}
        if not isinstance(data, Mapping):
            return data
        said = data.get("reasoning")
        return {**data, "reasoning": said if isinstance(said, str) else ""}


@dataclass(frozen=True)
class Ranker(SchemaStep):
    """Takes the candidate that a judge names the best of all, in one call.

    The baseline of CHASE-SQL's table 7, a ranker agent. It sees all different queries by their
    results. Where all agree, or the reply can't be used, the largest cluster is taken. Of several
    replies (`sampling.n`) the most named query wins.
    """

    rows: int = 20
    """Most rows of each result that are shown."""
    characters: int = CHARACTERS
    """Most characters of the rows of all results together."""
    evidence: Literal["letter", "sense"] = "letter"
    """Evidence holds to the letter, or, where a formula can't mean what it says, by its sense."""
    representatives: bool = False
    """Show one query of each cluster instead of all that differ."""
    sampling: Sampling = field(default_factory=Sampling)
    prompt: str = "selection/ranker"

    purpose: ClassVar[str] = (
        "Selects the best of queries with different results, all shown at once. Run it last: it "
        "ends the choice. One call."
    )
    cheaper: ClassVar[str] = "selection.largest_cluster"
    reads: ClassVar[frozenset[str]] = frozenset({"question", "view", "candidates"})
    writes: ClassVar[frozenset[str]] = frozenset({"candidates", "selected", "confidence", "basis"})

    def calls(self, state: State) -> int:
        """One where candidates differ."""
        return int(len(clusters(state)) > 1)

    def __call__(self, state: State, context: Context) -> State:
        groups = clusters(state)
        if len(groups) < 2:
            return select(state, groups)
        listed = shown(groups, representatives=self.representatives)
        ones = [one for group in listed for one in group]
        how = self.shown

        def prompted(portion: Portion, state: State) -> Messages:
            candidates = [one.candidate for one in ones]
            rows, characters = self.rows * portion.listed, self.characters * portion.listed
            return render(
                self.prompt,
                schema=schema_of(candidates, state, context, how, portion),
                groups=laid_out(listed, state, rows=math.ceil(rows), characters=int(characters)),
                count=len(ones),
                evidence_sense=self.evidence == "sense",
                **asked(state, context),
            )

        form = Best.model_json_schema()
        fitted = fit(
            prompted, SCHEMA, state, context,
            step=NAME, sampling=self.sampling, reply_schema=form, narrow=False,
        )  # fmt: skip
        state = fitted.noted(state, NAME)
        prompt = Prompt(fitted.messages, partial(_best, count=len(ones)), form)
        try:
            (samples,) = ask([prompt], state, context, step=NAME, sampling=self.sampling)
        except (MalformedReply, ModelFailed) as error:
            told = f"no query was named the best, so the most frequent result was taken: {error}"
            return select(state.warn("model", told, error), groups)
        named = Counter(sample for sample in samples if sample is not None)
        most = max(named.values())
        shares = {c.id: named[one.number] / most for one in ones for c in one.speaks_for}
        return select(state, groups, shares)


def _best(text: str, count: int) -> int:
    """The number named. Raises MalformedReply."""
    best = json_from(text, Best).best
    if not 1 <= best <= count:
        raise MalformedReply(f"there is no query {best}, only 1 to {count}")
    return best
