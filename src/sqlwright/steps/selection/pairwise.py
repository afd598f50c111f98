"""A tournament: judges compare candidates with different results by pairs, each in both orders."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import permutations
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict

from sqlwright.candidates import ResultGroup
from sqlwright.errors import MalformedReply, ModelFailed
from sqlwright.llm.choices import choice_probabilities
from sqlwright.messages import Reply, Text
from sqlwright.prompts.fitting import Fitted, Messages, Portion, fit
from sqlwright.prompts.sampling import Prompt, Sampling, ask
from sqlwright.prompts.schema import render_sql
from sqlwright.prompts.templates import render
from sqlwright.protocols import Context
from sqlwright.steps.asking import asked
from sqlwright.steps.selection.agreement import clusters, select
from sqlwright.steps.selection.judging.differences import CHARACTERS, render_differences
from sqlwright.steps.selection.judging.queries import SCHEMA, schema_of
from sqlwright.steps.selection.judging.scoring import Scoring
from sqlwright.steps.selection.judging.step import JudgingStep
from sqlwright.steps.selection.judging.verdicts import letter_from
from sqlwright.steps.selection.probabilities import result_probabilities
from sqlwright.types import Candidate, State

NAME = "selection.pairwise"
LETTERS = ("A", "B")
_LIKELIEST = 8
"""Likeliest tokens asked for: both letters in a few spellings. Chosen."""
_TEMPLATES = {
    "prompted": "selection/pairwise",
    "letter": "selection/pairwise_letter",
    "logprobs": "selection/pairwise_letter",
}

Judge = Literal["prompted", "letter", "logprobs", "critic"]
Points = Mapping[tuple[int, int], float]
"""By clusters (first shown, second shown) the first one's share of the point, in [0, 1]."""


class Choice(BaseModel):
    """A judge's reply."""

    model_config = ConfigDict(json_schema_extra={"additionalProperties": False})
    reasoning: str
    better: Literal["A", "B"]


@dataclass(frozen=True)
class Pairwise(JudgingStep):
    """Takes the candidate that wins most comparisons; ties go to the larger cluster.

    CHASE-SQL section 3.5, algorithm 3. There every candidate meets every other in both orders, and
    two with the same result give each other a point. Candidates with one result are right or wrong
    together, so the best of each cluster speaks for it, and a comparison counts as often as the
    other cluster has members: a candidate scores its cluster's other members plus, for each other
    cluster, its points from both orders times that cluster's size. This takes k(k - 1) calls for k
    clusters, asked side by side, and none where all agree. Candidates in error take no part.

    A comparison that is lost gives each half of the point. Where all are lost the largest cluster
    is taken.
    """

    judge: Judge = "prompted"
    """`prompted` reasons, then chooses; `letter` is asked for one letter only, the paper's form for
    a model trained on it; `logprobs` shares the point by the probability of that letter; `critic`
    is the embedded critic, by its probabilities, at no call."""
    rows: int = 20
    """Most rows of each result that are shown."""
    characters: int = CHARACTERS
    """Most characters of the rows of both results together."""
    evidence: Literal["letter", "sense"] = "letter"
    """Evidence holds to the letter, or, where a formula can't mean what it says, by its sense."""
    sampling: Sampling = field(default_factory=Sampling)
    prompt: str = ""
    """A template of your own; empty is the judge's."""

    purpose: ClassVar[str] = (
        "Compares queries with different results by pairs, in both orders, and selects the one "
        "that wins most. Run it last: it ends the choice. Two calls for each pair of results."
    )
    bounded: ClassVar[tuple[str, ...]] = ("rows", "characters")

    def calls(self, state: State) -> int:
        """Two for each pair of clusters."""
        count = len(clusters(state))
        return 0 if self.judge == "critic" else count * (count - 1)

    def __call__(self, state: State, context: Context) -> State:
        groups = clusters(state)
        if len(groups) < 2:
            return select(state, groups)
        if self.judge == "critic":
            state, points = _by_critic(groups, state, context)
            return select(state, groups, _shares(groups, points))
        try:
            state, points = self._asked(groups, state, context)
        except (MalformedReply, ModelFailed) as error:
            told = f"no pair could be compared, so the most frequent result was taken: {error}"
            return select(state.warn("model", told, error), groups)
        lost = len(groups) * (len(groups) - 1) - len(points)
        if lost:
            told = f"{lost} of {lost + len(points)} comparisons of queries were not made"
            state = state.warn("model", told)
        return select(state, groups, _shares(groups, points))

    def _asked(
        self, groups: Sequence[ResultGroup], state: State, context: Context
    ) -> tuple[State, Points]:
        pairs = orders(groups)
        fitted = [self._fitted(groups[a].best, groups[b].best, state, context) for a, b in pairs]
        scoring = Scoring()
        prompts = [self._prompt(each, scoring) for each in fitted]
        for each in fitted:
            state = each.noted(state, NAME)
        replies = ask(prompts, state, context, step=NAME, sampling=self.sampling)
        state = scoring.noted(state, context, self.sampling.model)
        points = {}
        for pair, samples in zip(pairs, replies, strict=True):
            said = [sample for sample in samples if sample is not None]
            if said:
                points[pair] = sum(said) / len(said)
        return state, points

    def _prompt(self, fitted: Fitted, scoring: Scoring) -> Prompt[float]:
        if self.judge == "prompted":
            return Prompt(fitted.messages, _first_wins, Choice.model_json_schema())
        if self.judge == "letter":
            return Prompt(fitted.messages, _first_wins)
        weigh = scoring.reading(_weighed)
        return Prompt(fitted.messages, _first_wins, logprobs=_LIKELIEST, weigh=weigh)

    def _fitted(
        self, first: Candidate, second: Candidate, state: State, context: Context
    ) -> Fitted:
        how = self.shown
        template = self.prompt or _TEMPLATES[self.judge]

        def prompted(portion: Portion, state: State) -> Messages:
            return render(
                template,
                schema=schema_of([first, second], state, context, how, portion),
                evidence_sense=self.evidence == "sense",
                queries=self._laid_out(first, second, state, portion),
                **asked(state, context),
            )

        form = Choice.model_json_schema() if self.judge == "prompted" else None
        return fit(
            prompted, SCHEMA, state, context,
            step=NAME, sampling=self.sampling, reply_schema=form, narrow=False,
        )  # fmt: skip

    def _laid_out(
        self, first: Candidate, second: Candidate, state: State, portion: Portion
    ) -> list[dict[str, Any]]:
        rows, characters = self.rows * portion.listed, self.characters * portion.listed
        shown = render_differences(
            [one.result for one in (first, second) if one.result is not None],
            rows=math.ceil(rows),
            characters=int(characters),
        )
        return [
            {"letter": Text.of(letter, "template"), "sql": sql, "result": result}
            for letter, sql, result in zip(
                LETTERS,
                map(partial(render_sql, question=state.question), (first, second)),
                shown,
                strict=True,
            )
        ]


def orders(groups: Sequence[ResultGroup]) -> list[tuple[int, int]]:
    """The comparisons in the order in which they are asked: the places of the results that are
    shown as A and as B."""
    return list(permutations(range(len(groups)), 2))


def _first_wins(text: str) -> float:
    return float(letter_from(text, LETTERS) == LETTERS[0])


def _weighed(reply: Reply) -> float | None:
    """The first letter's part of the probability of both; None without log probabilities."""
    said = choice_probabilities(reply, LETTERS)
    total = sum(said.values()) if said else 0.0
    return said[LETTERS[0]] / total if said and total > 0 else None


def _by_critic(
    groups: Sequence[ResultGroup], state: State, context: Context
) -> tuple[State, Points]:
    """Points by the embedded critic: of each pair, a cluster's part of the sum of both
    probabilities; the order in which they are shown doesn't matter to it."""
    critic = context.critic
    if critic.caution:
        state = state.warn("critic", critic.caution)
    sure = result_probabilities(state, groups, critic)
    points = {}
    for a, b in orders(groups):
        both = sure[a] + sure[b]
        points[a, b] = sure[a] / both if both > 0 else 0.5
    return state, points


def _shares(groups: Sequence[ResultGroup], points: Points) -> dict[str, float]:
    """The score of each candidate by its id, as a share of the most that one can have."""
    sizes = [len(group.candidates) for group in groups]
    most = 2 * sum(sizes)
    shares: dict[str, float] = {}
    for place, group in enumerate(groups):
        score = (
            sizes[place]
            - 1
            + sum(
                size * (points.get((place, other), 0.5) + 1 - points.get((other, place), 0.5))
                for other, size in enumerate(sizes)
                if other != place
            )
        )
        shares.update({one.id: score / most for one in group.candidates})
    return shares
