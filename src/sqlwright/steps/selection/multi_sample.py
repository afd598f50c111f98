"""All candidates and their results in one call, or by pairs: a critic names the right one."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import combinations
from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict

from sqlwright.candidates import ResultGroup, deduplicate, result_places
from sqlwright.errors import MalformedReply, ModelFailed
from sqlwright.llm.choices import choice_probabilities
from sqlwright.messages import Reply, Text
from sqlwright.prompts.cells import render_result
from sqlwright.prompts.fitting import Fitted, Messages, Portion, fit
from sqlwright.prompts.sampling import Prompt, Sampling, ask
from sqlwright.prompts.schema import render_sql
from sqlwright.prompts.templates import plain_text, render
from sqlwright.protocols import Context, Run
from sqlwright.steps.asking import asked
from sqlwright.steps.selection.agreement import clusters, select
from sqlwright.steps.selection.judging.queries import SCHEMA, Shown, schema_of, shown
from sqlwright.steps.selection.judging.scoring import Scoring
from sqlwright.steps.selection.judging.step import JudgingStep
from sqlwright.steps.selection.judging.verdicts import number_from
from sqlwright.steps.selection.probabilities import probabilities, result_probabilities
from sqlwright.types import Candidate, ExecutionResult, State

NAME = "selection.multi_sample"
_LIKELIEST = 20
"""Likeliest tokens asked for: as many numbers, or the most that endpoints give. Chosen."""
BELOW = 0.999
"""Most that another candidate may have of the probability of the embedded critic's choice."""
_TEMPLATES = {
    "prompted": "selection/multi_sample",
    "number": "selection/multi_sample_number",
    "logprobs": "selection/multi_sample_number",
}

Judge = Literal["prompted", "number", "logprobs", "critic"]
Heat = Sequence[Shown]
"""Queries that are seen at once, the better ranked first."""
Votes = Mapping[int, float]
"""Votes by the place in a heat, from 0; empty where no reply could be used."""


class Correct(BaseModel):
    """A judge's reply."""

    model_config = ConfigDict(json_schema_extra={"additionalProperties": False})
    reasoning: str
    correct_sql: int


@dataclass(frozen=True)
class MultiSample(JudgingStep):
    """Takes the candidate that a critic names, which sees several with their results at once.

    MSc-SQL section 4. Nothing is asked where all results agree. Every reply of every critic is a
    vote; ties go to the larger cluster, then to the better ranked. A reply that can't be used is
    asked for again and then doesn't vote; without any vote the largest cluster is taken.

    Candidates in error are shown with their messages, but can't be named: an error answers nothing.
    """

    form: Literal["joint", "pairs"] = "joint"
    """`joint` shows all different queries at once, the paper's form; `pairs` shows the best of each
    two clusters, in one order, and adds up the votes, as its code does."""
    judge: Judge = "prompted"
    """`prompted` reasons, then names a number; `number` is asked for the number only, the paper's
    form for a model trained on it; `logprobs` shares the vote by the probabilities of the numbers;
    `critic` is the embedded critic, by its probabilities, at no call."""
    critics: tuple[str, ...] = ()
    """Models that vote, each named as in `sampling.model`; empty is the one of `sampling`. One that
    is named several times votes with other seeds."""
    rows: int = 5
    """Most rows of each result that are shown."""
    columns: int = 5
    """Most columns of each result that are shown."""
    cell: int = 20
    """Most characters of a cell that are shown."""
    errors: int = 3
    """Most queries in error that are shown beside the others, in the joint form."""
    window: int = 0
    """Most queries in one call of the joint form, at least 2; 0 is as many as fit the context with
    their whole results."""
    beyond: Literal["sliding", "tournament"] = "sliding"
    """More queries than that are seen window by window, and the winner of one goes into the next;
    or (`tournament`) in rounds of windows side by side, whose winners meet in the next round."""
    order: Literal["ranked", "shuffled"] = "ranked"
    """`ranked` shows the largest cluster first, equals as they are ranked; `shuffled` goes by the
    seed and the question, so that no place says how many agree: the form a critic is trained in."""
    representatives: bool = False
    """Show one query of each cluster instead of all that differ; `pairs` always does."""
    evidence: Literal["letter", "sense"] = "letter"
    """Evidence holds to the letter, or, where a formula can't mean what it says, by its sense."""
    sampling: Sampling = field(default_factory=Sampling)
    prompt: str = ""
    """A template of your own; empty is the judge's."""

    purpose: ClassVar[str] = (
        "Compares queries with different results and selects the one that answers the question. "
        "Run it last: it ends the choice. One call, more only for many queries."
    )
    bounded: ClassVar[tuple[str, ...]] = ("rows", "columns", "cell", "errors", "window")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.window == 1:
            raise ValueError("window must be at least 2, or 0 for as many as fit, not 1")

    @property
    def language_models(self) -> tuple[str, ...]:
        """The critics' models, where those judge."""
        return () if self.judge == "critic" else self.critics or super().language_models

    def calls(self, state: State) -> int:
        """By the windows or pairs, once for each critic; without a window one is supposed."""
        groups = clusters(state)
        if len(groups) < 2 or self.judge == "critic":
            return 0
        count = len(self.ranked(groups))
        voices = max(len(self.critics), 1)
        if self.form == "pairs":
            return voices * count * (count - 1) // 2
        return voices * (math.ceil((count - 1) / (self.window - 1)) if self.window else 1)

    def __call__(self, state: State, context: Context) -> State:
        groups = clusters(state)
        if len(groups) < 2:
            return select(state, groups)
        if self.judge == "critic":
            return self._by_critic(groups, state, context)
        panel = _Panel(self, _failed(state, self.errors), state, context)
        listed = self.listed(state, context.run)
        shares = panel.pairs(listed) if self.form == "pairs" else panel.joint(listed)
        state = panel.state
        if panel.heard == 0:
            told = "no query was named, so the most frequent result was taken"
            cause = panel.problem
            return select(state.warn("model", f"{told}: {cause}" if cause else told, cause), groups)
        if panel.lost:
            told = f"{panel.lost} of {panel.lost + panel.heard} comparisons of queries weren't made"
            state = state.warn("model", told, panel.problem)
        did = {c.id: shares[one.number] for one in listed for c in one.speaks_for}
        return select(state, groups, did)

    def listed(self, state: State, run: Run) -> list[Shown]:
        """The queries in the order in which a prompt numbers them; windows and pairs are taken in
        this order, too."""
        ranked = self.ranked(clusters(state))
        if self.order == "shuffled":
            run.random(f"{NAME}/order/{state.question.text}").shuffle(ranked)
        return ranked

    def ranked(self, groups: Sequence[ResultGroup]) -> list[Shown]:
        """The queries that are shown, the largest cluster first; equals as they are ranked."""
        if self.form == "pairs":
            listed = [Shown(n, g.best, g.candidates) for n, g in enumerate(groups, start=1)]
        else:
            parts = shown(groups, representatives=self.representatives)
            listed = [one for part in parts for one in part]
        sizes = {c.id: len(group.candidates) for group in groups for c in group.candidates}
        return sorted(listed, key=lambda one: -sizes[one.candidate.id])

    def _by_critic(self, groups: Sequence[ResultGroup], state: State, context: Context) -> State:
        """Jointly, the embedded critic's probabilities beside all others; by pairs, the votes of
        comparisons in which it sees only two."""
        critic = context.critic
        if critic.caution:
            state = state.warn("critic", critic.caution)
        if self.form == "joint":
            ran = [candidate for group in groups for candidate in group.candidates]
            (best, top), *others = probabilities(state, ran, critic).items()
            # A query without ORDER BY is as sure as each ordered one that has its rows.
            return select(state, groups, {best: top} | {c: min(p, BELOW * top) for c, p in others})
        wins = [0.0] * len(groups)
        for one, other in combinations(range(len(groups)), 2):
            pair = [ResultGroup((groups[place].best,)) for place in (one, other)]
            first, second = result_probabilities(state, pair, critic)
            wins[one] += 0.5 if first == second else float(first > second)
            wins[other] += 0.5 if first == second else float(second > first)
        most = len(groups) - 1
        return select(state, groups, {
            c.id: won / most for g, won in zip(groups, wins, strict=True) for c in g.candidates
        })  # fmt: skip


@dataclass
class _Panel:
    """The critics of one question, and what became of their heats."""

    step: MultiSample
    failed: Sequence[Candidate]
    state: State
    """The state with what was noted on the way."""
    context: Context
    heard: int = 0
    """Heats with a vote."""
    lost: int = 0
    """Heats without one."""
    problem: MalformedReply | ModelFailed | None = None
    """The last reason why a reply was missing."""
    _round: int = 0

    def joint(self, listed: Sequence[Shown]) -> dict[int, float]:
        """The share of each query by its number: the winner's is the greatest."""
        size = min(self.step.window or self._fitting(listed), len(listed))
        if size == len(listed):
            return self._shares(listed, self._voted([listed])[0])
        last: dict[int, float] = {}
        left = list(listed)
        while len(left) > 1:
            slides = self.step.beyond == "sliding"
            heats, later = ([left[:size]], left[size:]) if slides else _even(left, size)
            winners = []
            for heat, votes in zip(heats, self._voted(heats), strict=True):
                last.update(self._shares(heat, votes))
                winners.append(self._winner(heat, votes))
            left = winners + later
        # Shares of different heats say little of each other: only who is left is better than all.
        return {number: share / 2 for number, share in last.items()} | {left[0].number: 1.0}

    def pairs(self, listed: Sequence[Shown]) -> dict[int, float]:
        """The votes of each query in all pairs by its number, as a share of the most. A pair
        without a vote gives half of its votes to each."""
        voices = len(self._models()) * self.step.sampling.n
        heats: list[Heat] = list(combinations(listed, 2))
        total = dict.fromkeys((one.number for one in listed), 0.0)
        for heat, votes in zip(heats, self._voted(heats), strict=True):
            for place, vote in (votes or dict.fromkeys((0, 1), voices / 2)).items():
                total[heat[place].number] += vote
        most = max(total.values()) or 1.0
        return {number: votes / most for number, votes in total.items()}

    def _winner(self, heat: Heat, votes: Votes) -> Shown:
        """The one with most votes; of equals, and without votes, the better ranked."""
        ranked = [one.number for one in self.step.ranked(clusters(self.state))]
        return max(
            enumerate(heat),
            key=lambda one: (votes.get(one[0], 0.0), -ranked.index(one[1].number)),
        )[1]

    @staticmethod
    def _shares(heat: Heat, votes: Votes) -> dict[int, float]:
        most = max(votes.values(), default=0.0) or 1.0
        return {one.number: votes.get(place, 0.0) / most for place, one in enumerate(heat)}

    def _fitting(self, listed: Sequence[Shown]) -> int:
        """The most queries, two at least, whose results a prompt shows every critic in full."""
        size = len(listed)
        while size > 2 and not all(
            fitted.fits and fitted.portion.listed == fitted.full.listed
            for fitted in (self._fitted(listed[:size], model) for model in set(self._models()))
        ):
            size = (size + 1) // 2
        return size

    def _models(self) -> tuple[Sampling, ...]:
        sampling = self.step.sampling
        return tuple(replace(sampling, model=name) for name in self.step.critics) or (sampling,)

    def _voted(self, heats: Sequence[Heat]) -> list[Votes]:
        """The votes in each heat, all asked side by side, one critic after another."""
        total = [defaultdict[int, float](float) for _ in heats]
        for voice, sampling in enumerate(self._models()):
            prompts, scoring = [], Scoring()
            for heat in heats:
                fitted = self._fitted(heat, sampling)
                self.state = fitted.noted(self.state, NAME)
                turn = self._round * 100 + voice
                prompts.append(self._prompt(fitted, len(heat), turn, scoring))
            try:
                replies = ask(prompts, self.state, self.context, step=NAME, sampling=sampling)
            except (MalformedReply, ModelFailed) as error:
                self.problem = error
                continue
            self.state = scoring.noted(self.state, self.context, sampling.model)
            for votes, samples in zip(total, replies, strict=True):
                for place, vote in ((p, v) for said in samples if said for p, v in said.items()):
                    votes[place] += vote
        self._round += 1
        self.heard += sum(map(bool, total))
        self.lost += sum(not votes for votes in total)
        return list(total)

    def _prompt(self, fitted: Fitted, count: int, turn: int, scoring: Scoring) -> Prompt[Votes]:
        parse, judge = partial(_named, count=count), self.step.judge
        if judge == "prompted":
            form = Correct.model_json_schema()
            return Prompt(fitted.messages, parse, form, round=turn)
        if judge == "number":
            return Prompt(fitted.messages, parse, round=turn)
        weigh = scoring.reading(partial(_weighed, count=count))
        return Prompt(fitted.messages, parse, logprobs=_LIKELIEST, weigh=weigh, round=turn)

    def _fitted(self, heat: Heat, sampling: Sampling) -> Fitted:
        step, context = self.step, self.context
        how = replace(step.shown, model=sampling.model)
        form = Correct.model_json_schema() if step.judge == "prompted" else None

        def prompted(portion: Portion, state: State) -> Messages:
            failed = self.failed[: int(len(self.failed) * portion.listed)]
            rows = math.ceil(step.rows * portion.listed)
            return render(
                step.prompt or _TEMPLATES[step.judge],
                schema=schema_of([one.candidate for one in heat], state, context, how, portion),
                evidence_sense=step.evidence == "sense",
                queries=self._laid_out([one.candidate for one in heat], rows),
                failed=self._laid_out(failed, rows),
                count=len(heat),
                **asked(state, context),
            )

        return fit(
            prompted, SCHEMA, self.state, context,
            step=NAME, sampling=sampling, reply_schema=form, narrow=False,
        )  # fmt: skip

    def _laid_out(self, candidates: Sequence[Candidate], rows: int) -> list[dict[str, Text]]:
        """Each with its number, query and result; a result is shown once."""
        return [
            {
                "number": plain_text(str(number)),
                "sql": render_sql(one, self.state.question),
                "result": self._result(one, rows)
                if first == number - 1
                else plain_text(f"the same as that of query {first + 1}"),
            }
            for number, (one, first) in enumerate(
                zip(candidates, result_places(candidates), strict=True), start=1
            )
        ]

    def _result(self, candidate: Candidate, rows: int) -> Text:
        step, result = self.step, candidate.result or ExecutionResult()
        return render_result(result, rows=rows, columns=step.columns, limit_cell=step.cell)


def _failed(state: State, most: int) -> list[Candidate]:
    """The first different queries in error."""
    wrong = (c for c in state.candidates if not c.goal and c.result and not c.result.ok)
    return list(deduplicate(wrong))[:most]


def _even(left: list[Shown], size: int) -> tuple[list[list[Shown]], list[Shown]]:
    """Heats of at most `size` queries and of about equal sizes; one that is left alone meets the
    winners."""
    each = math.ceil(len(left) / math.ceil(len(left) / size))
    heats = [left[at : at + each] for at in range(0, len(left), each)]
    alone = heats.pop() if len(heats[-1]) == 1 else []
    return heats, alone


def _named(text: str, count: int) -> Votes:
    return {number_from(text, count) - 1: 1.0}


def _weighed(reply: Reply, count: int) -> Votes | None:
    """The vote shared by the probabilities of the numbers; None without log probabilities."""
    said = choice_probabilities(reply, [str(number) for number in range(1, count + 1)])
    total = sum(said.values()) if said else 0.0
    if not said or total <= 0:
        return None
    return {int(number) - 1: share / total for number, share in said.items()}
