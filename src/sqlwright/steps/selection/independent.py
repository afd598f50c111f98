"""One candidate a call: a critic says whether it is right, without seeing the others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict

from sqlwright.candidates import ResultGroup
from sqlwright.errors import MalformedReply, ModelFailed
from sqlwright.llm.choices import choice_probabilities
from sqlwright.messages import Reply
from sqlwright.prompts.cells import render_result
from sqlwright.prompts.fitting import Fitted, Messages, Portion, fit
from sqlwright.prompts.sampling import Prompt, Sampling, ask
from sqlwright.prompts.schema import render_sql
from sqlwright.prompts.templates import render
from sqlwright.protocols import Context
from sqlwright.steps.asking import asked
from sqlwright.steps.selection.agreement import clusters, select
from sqlwright.steps.selection.judging.queries import SCHEMA, Shown, schema_of, shown
from sqlwright.steps.selection.judging.scoring import Scoring
from sqlwright.steps.selection.judging.step import JudgingStep
from sqlwright.steps.selection.judging.verdicts import right_from
from sqlwright.steps.selection.probabilities import result_probabilities
from sqlwright.types import Candidate, ExecutionResult, State

NAME = "selection.independent"
_WORDS = ("yes", "no")
_LIKELIEST = 8
"""Likeliest tokens asked for: both words in a few spellings. Chosen."""
_UNKNOWN = 0.5
"""The share of a query whose verdict is lost."""


class Verdict(BaseModel):
    """A judge's reply."""

    model_config = ConfigDict(json_schema_extra={"additionalProperties": False})
    reasoning: str
    verdict: Literal["right", "wrong"]


@dataclass(frozen=True)
class Independent(JudgingStep):
    """Takes the candidate that a critic most surely holds for right, judging each by itself.

    MSc-SQL section 4.1, the independent critic of its table 5, against which seeing all candidates
    at once is measured. Nothing is asked where all results agree. Ties go to the larger cluster,
    then to the better ranked. A verdict that is lost is as good as even; without any the largest
    cluster is taken. Candidates in error aren't judged.
    """

    judge: Literal["logprobs", "prompted", "critic"] = "logprobs"
    """`logprobs` is asked for one word, and the probability of yes counts, or the word itself where
    a model gives no probabilities; `prompted` reasons, then says right or wrong; `critic` is the
    embedded critic, at no call."""
    rows: int = 5
    """Most rows of the result that are shown."""
    columns: int = 5
    """Most columns of the result that are shown."""
    cell: int = 20
    """Most characters of a cell that are shown."""
    representatives: bool = True
    """Judge one query of each cluster instead of all that differ."""
    evidence: Literal["letter", "sense"] = "letter"
    """Evidence holds to the letter, or, where a formula can't mean what it says, by its sense."""
    sampling: Sampling = field(default_factory=Sampling)
    prompt: str = ""
    """A template of your own; empty is the judge's."""

    purpose: ClassVar[str] = (
        "Judges each query with another result by itself and selects the one that is most surely "
        "right. Run it last: it ends the choice. One call for each result."
    )
    bounded: ClassVar[tuple[str, ...]] = ("rows", "columns", "cell")

    def calls(self, state: State) -> int:
        """One for each query that is judged."""
        groups = clusters(state)
        return 0 if self.judge == "critic" or len(groups) < 2 else len(self._listed(groups))

    def __call__(self, state: State, context: Context) -> State:
        groups = clusters(state)
        if len(groups) < 2:
            return select(state, groups)
        listed = self._listed(groups)
        if self.judge == "critic":
            state, shares = _by_critic(listed, state, context)
        else:
            try:
                state, shares = self._asked(listed, state, context)
            except (MalformedReply, ModelFailed) as error:
                told = f"no query was judged, so the most frequent result was taken: {error}"
                return select(state.warn("model", told, error), groups)
        did = {
            c.id: share for one, share in zip(listed, shares, strict=True) for c in one.speaks_for
        }
        return select(state, groups, did)

    def _listed(self, groups: Sequence[ResultGroup]) -> list[Shown]:
        if self.representatives:
            return [Shown(n, g.best, g.candidates) for n, g in enumerate(groups, start=1)]
        return [one for part in shown(groups, representatives=False) for one in part]

    def _asked(
        self, listed: Sequence[Shown], state: State, context: Context
    ) -> tuple[State, list[float]]:
        ones = [one.candidate for one in listed]
        fitted = [self._fitted(one, ones, state, context) for one in ones]
        for each in fitted:
            state = each.noted(state, NAME)
        scoring = Scoring()
        prompts = [self._prompt(each, scoring) for each in fitted]
        replies = ask(prompts, state, context, step=NAME, sampling=self.sampling)
        state = scoring.noted(state, context, self.sampling.model)
        verdicts = [[said for said in samples if said is not None] for samples in replies]
        lost = sum(not said for said in verdicts)
        if lost:
            told = f"{lost} of {len(verdicts)} queries were not judged"
            state = state.warn("model", told)
        return state, [sum(said) / len(said) if said else _UNKNOWN for said in verdicts]

    def _prompt(self, fitted: Fitted, scoring: Scoring) -> Prompt[float]:
        if self.judge == "prompted":
            return Prompt(fitted.messages, _right, Verdict.model_json_schema())
        weigh = scoring.reading(_weighed)
        return Prompt(fitted.messages, _right, logprobs=_LIKELIEST, weigh=weigh)

    def _fitted(
        self, one: Candidate, ones: Sequence[Candidate], state: State, context: Context
    ) -> Fitted:
        how, result = self.shown, one.result or ExecutionResult()
        prompted = self.judge == "prompted"
        template = self.prompt or f"selection/independent{'' if prompted else '_word'}"

        def laid_out(portion: Portion, state: State) -> Messages:
            rows = math.ceil(self.rows * portion.listed)
            return render(
                template,
                # The same part for every candidate: what one of them leaves out may be right.
                schema=schema_of(ones, state, context, how, portion),
                evidence_sense=self.evidence == "sense",
                sql=render_sql(one, state.question),
                result=render_result(result, rows=rows, columns=self.columns, limit_cell=self.cell),
                **asked(state, context),
            )

        form = Verdict.model_json_schema() if prompted else None
        return fit(
            laid_out, SCHEMA, state, context,
            step=NAME, sampling=self.sampling, reply_schema=form, narrow=False,
        )  # fmt: skip


def _by_critic(
    listed: Sequence[Shown], state: State, context: Context
) -> tuple[State, list[float]]:
    """The embedded critic's probabilities of candidates that it sees one at a time."""
    critic = context.critic
    if critic.caution:
        state = state.warn("critic", critic.caution)
    alone = [(ResultGroup((one.candidate,)),) for one in listed]
    return state, [result_probabilities(state, one, critic)[0] for one in alone]


def _right(text: str) -> float:
    return float(right_from(text))


def _weighed(reply: Reply) -> float | None:
    """The part of yes in the probability of both words; None without log probabilities."""
    said = choice_probabilities(reply, _WORDS)
    total = sum(said.values()) if said else 0.0
    return said[_WORDS[0]] / total if said and total > 0 else None
