"""Selectors whose judge sees queries in heats: how heats are asked, and what becomes of gaps."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from pydantic import BaseModel

from sqlwright.candidates import ResultGroup
from sqlwright.errors import MalformedReply, ModelFailed
from sqlwright.llm.choices import choice_probabilities
from sqlwright.messages import Reply
from sqlwright.prompts.fitting import Fitted, Messages, Portion, fit
from sqlwright.prompts.sampling import Prompt, ask
from sqlwright.prompts.templates import render
from sqlwright.protocols import Context
from sqlwright.steps.asking import asked
from sqlwright.steps.selection.agreement import clusters, select
from sqlwright.steps.selection.judging.queries import SCHEMA, Shown, schema_of
from sqlwright.steps.showing import EvidenceStep
from sqlwright.types import Candidate, Judgement, State

Heat = Sequence[Shown]
"""Queries that are seen at once."""
Votes = Mapping[int, float]
"""The votes of a reply on the queries of a heat, by their places from 0."""


class JudgingStep(EvidenceStep):
    """A selector whose judge is the language model of `sampling`, or the embedded critic.

    Nothing is asked where all results agree. A reply that can't be used is asked for again and then
    doesn't count; without any the largest cluster is taken.
    """

    judge: str = "prompted"
    """`prompted` reasons before it replies, `logprobs` counts by the probabilities of the short
    reply, and `critic` is the embedded critic."""
    prompt: str

    name: ClassVar[str]
    templates: ClassVar[Mapping[str, str]]
    """By the judge."""
    reply: ClassVar[type[BaseModel]]
    """The form of a reply that reasons."""
    likeliest: ClassVar[int] = 8
    """Likeliest tokens asked for: two short replies in a few spellings. Chosen."""
    bounded: ClassVar[tuple[str, ...]] = ()
    """Options that must not be negative."""
    cheaper: ClassVar[str] = "selection.largest_cluster"
    reads: ClassVar[frozenset[str]] = frozenset({"question", "view", "candidates"})
    writes: ClassVar[frozenset[str]] = frozenset(
        {"candidates", "selected", "confidence", "basis", "judgements"}
    )

    def __post_init__(self) -> None:
        for option in self.bounded:
            if getattr(self, option) < 0:
                raise ValueError(f"{option} must not be negative, not {getattr(self, option)}")

    @property
    def roles(self) -> tuple[str, ...]:
        """The embedded critic, where it judges."""
        return ("critic",) if self.judge == "critic" else ()

    @property
    def language_models(self) -> tuple[str, ...]:
        """The model of `sampling`, where one judges."""
        return () if self.judge == "critic" else super().language_models

    def calls(self, state: State) -> int:
        """By the number of heats; none where all agree or the embedded critic judges."""
        groups = clusters(state)
        return 0 if self.judge == "critic" or len(groups) < 2 else self.heats(groups)

    def __call__(self, state: State, context: Context) -> State:
        groups = clusters(state)
        if self.judge == "critic" and state.declines:  # it judges queries alone
            votes = sum(len(group.candidates) for group in groups[:-1])
            groups = groups[-1:] if len(state.declines) > votes else groups[:-1]
        if len(groups) < 2:
            return select(state, groups)
        panel = Panel(self, state, context)
        if self.judge == "critic":
            if context.critic.caution:
                panel.state = state.warn("critic", context.critic.caution)
            shares = self.by_critic(groups, panel)
            return select(panel.state, groups, shares)
        shares = self.asked(groups, panel)
        state, problem = panel.state, panel.problem
        if panel.heard == 0:
            told = "no query was judged, so the most frequent result was taken"
            told = f"{told}: {problem}" if problem else told
            return select(state.warn("judging", told, problem), groups)
        if panel.lost:
            total = panel.lost + panel.heard
            told = f"{panel.lost} of {total} judgements of queries were not made"
            state = state.warn("judging", told, problem)
        return select(state, groups, shares)

    @abstractmethod
    def heats(self, groups: Sequence[ResultGroup]) -> int:
        """The number of heats."""

    @abstractmethod
    def asked(self, groups: Sequence[ResultGroup], panel: Panel) -> dict[str, float]:
        """The share of each candidate by its id, in [0, 1], by the replies of the judge."""

    def by_critic(self, groups: Sequence[ResultGroup], panel: Panel) -> dict[str, float]:
        """The same by the embedded critic."""
        raise NotImplementedError

    @abstractmethod
    def read(self, text: str, count: int) -> Votes:
        """The votes of a reply on a heat of so many queries. Raises MalformedReply."""

    def words(self, count: int) -> Sequence[str]:
        """The short replies, by the places that they vote for."""
        raise NotImplementedError

    @abstractmethod
    def variables(self, heat: Heat, state: State, portion: Portion) -> dict[str, Any]:
        """The variables of the template beside those of every judge."""


@dataclass
class Panel:
    """A judge at one question, and what became of its heats."""

    step: JudgingStep
    state: State
    """The state with what was noted on the way."""
    context: Context
    heard: int = 0
    """Heats with a reply."""
    lost: int = 0
    """Heats without."""
    problem: MalformedReply | ModelFailed | None = None
    """The last reason why replies were missing."""
    by_text: bool = False
    """True once a reply came without log probabilities: its text is all there is to go by."""
    _round: int = 0

    def said(self, heats: Sequence[Heat], schema: Heat = ()) -> list[list[Votes]]:
        """For each heat what the replies say that can be used; all are asked side by side. Every
        prompt shows the part of the schema that `schema` uses, or that its own queries do."""
        step = self.step
        fitted = [self.fitted(heat, schema) for heat in heats]
        for each in fitted:
            self.state = each.noted(self.state, step.name)
        prompts = [self._prompt(each, len(h)) for each, h in zip(fitted, heats, strict=True)]
        said: list[list[Votes]] = [[] for _ in heats]
        try:
            replies = ask(prompts, self.state, self.context, step=step.name, sampling=step.sampling)
        except (MalformedReply, ModelFailed) as error:
            self.problem = error
        else:
            said = [[votes for votes in samples if votes is not None] for samples in replies]
            if self.by_text:
                model = self.context.llm(step.sampling.model).name
                told = f"{model} gives no log probabilities"
                told = f"{told}, so its replies were scored by their text"
                self.state = self.state.warn("judging", told)
        for heat, votes in zip(heats, said, strict=True):
            parts = [of / len(votes) for of in summed(heat, votes).values()]
            self.record([one.candidate for one in heat], parts)
        self._round += 1
        self.heard += sum(map(bool, said))
        self.lost += sum(not votes for votes in said)
        return said

    def record(self, shown: Iterable[Candidate], votes: Iterable[float]) -> None:
        """Add a judgement of candidates, as they were shown, to the state."""
        one = Judgement(self.step.name, tuple(each.id for each in shown), tuple(votes))
        self.state = self.state.evolve(judgements=(*self.state.judgements, one))

    def fitted(self, heat: Heat, schema: Heat = ()) -> Fitted:
        """The prompt of a heat, with as much as fits the model's context."""
        step, context = self.step, self.context
        shown = [one.candidate for one in schema or heat]

        def prompted(portion: Portion, state: State) -> Messages:
            return render(
                step.prompt or step.templates[step.judge],
                schema=schema_of(shown, state, context, step.shown, portion),
                **step.variables(heat, state, portion),
                **step.reading,
                **asked(state, context),
            )

        form = step.reply.model_json_schema() if step.judge == "prompted" else None
        return fit(
            prompted, SCHEMA, self.state, context,
            step=step.name, sampling=step.sampling, reply_schema=form, narrow=False,
        )  # fmt: skip

    def _prompt(self, fitted: Fitted, count: int) -> Prompt[Votes]:
        step = self.step
        prompt = partial(Prompt, fitted.messages, partial(step.read, count=count))
        if step.judge == "prompted":
            return prompt(step.reply.model_json_schema(), round=self._round)
        if step.judge != "logprobs":
            return prompt(round=self._round)
        words = step.words(count)

        def weigh(reply: Reply) -> Votes | None:
            """The vote shared by the probabilities of the words; None without any."""
            self.by_text |= not reply.logprobs
            said = choice_probabilities(reply, words)
            total = sum(said.values()) if said else 0.0
            if not said or total <= 0:
                return None
            return {place: said[word] / total for place, word in enumerate(words)}

        return prompt(logprobs=step.likeliest, weigh=weigh, round=self._round)


def summed(heat: Heat, said: Sequence[Votes]) -> dict[int, float]:
    """The votes of all replies by the place in a heat; empty without a reply."""
    places = range(len(heat)) if said else ()
    return {place: sum(votes.get(place, 0.0) for votes in said) for place in places}


def shares(heat: Heat, votes: Votes) -> dict[int, float]:
    """The votes of each query by its number, as a part of the most."""
    most = max(votes.values(), default=0.0) or 1.0
    return {one.number: votes.get(place, 0.0) / most for place, one in enumerate(heat)}


def by_candidate(heat: Heat, did: Mapping[int, float]) -> dict[str, float]:
    """The shares of queries by their numbers, for all candidates they speak for by their id."""
    return {c.id: did[one.number] for one in heat for c in one.speaks_for}
