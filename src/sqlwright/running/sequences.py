"""Sequences of steps with a rule of their own: on a view of their own, in place of a language model
that wrote no query, or once for each sub-question."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from sqlwright.english.languages import foreign_language
from sqlwright.events import SubQuestionStarted
from sqlwright.prompts.sampling import MOST_REPLY_TOKENS
from sqlwright.protocols import Context, Run
from sqlwright.running import combinators
from sqlwright.schema import SchemaView
from sqlwright.types import State, SubQuestion, Usage


class OwnView(combinators.Sequence):
    """Steps one after another on a view of their own: what comes next sees the schema as it was.

    CHASE-SQL links columns for one of its calls only; all others see the whole schema.
    """

    @property
    def writes(self) -> frozenset[str]:
        return super().writes - {"view"}

    def __call__(self, state: State, context: Context) -> State:
        return super().__call__(state, context).evolve(view=state.view)


WROTE = "no language model wrote a query that can be used, so the embedded models answered"
FORBIDDEN = (
    "no language model wrote a query that can be used, and embedded models may not stand in for it"
)
UNREADABLE = (
    "no language model wrote a query that can be used, and the question seems to be in {language}, "
    "which the embedded models can't read"
)


@dataclass(frozen=True)
class StandIn(combinators.Sequence):
    """Steps that answer the question afresh, from its words and the whole schema, where there is
    no candidate and nobody declined, if the run allows them (`Run.stand_in`).

    A note of the kind `stand_in` says that they wrote the candidates, or why they didn't.
    """

    @property
    def reads(self) -> frozenset[str]:
        return super().reads | {"candidates"}

    def __call__(self, state: State, context: Context) -> State:
        if state.for_question or state.declines or state.refusal is not None:
            return state
        if not context.run.stand_in:
            return state.warn("stand_in", FORBIDDEN)
        if language := foreign_language(state.question.text):
            return state.warn("stand_in", UNREADABLE.format(language=language))
        # As `local` would: what the language model's steps found and narrowed is left behind.
        fresh = State(state.question, SchemaView(context.workspace.schema), warnings=state.warnings)
        after = super().__call__(fresh, context)
        return after.warn("stand_in", WROTE) if after.candidates else after


@dataclass(frozen=True)
class SubQuestions(combinators.Sequence):
    """Steps one after another for the first sub-question, then for the next, the last being the
    question itself (MAG-SQL sections 3.3 and 3.4).

    The steps find the number of the sub-question at hand in the state, and the queries for those
    before it among the candidates, each with its sub-question as its goal. At the end these are
    gone: a query for a part of the conditions is no answer. Where there are no sub-questions the
    steps run once, for the question.

    A sub-question that the database can't answer ends them: the question itself is asked next, and
    where that has no query either, what was said of the part stands for all of it.

    Where the budget or the time may not reach for another sub-question and the question, it goes on
    with the question at once, and says so. What a round takes is reckoned by those before it.
    """

    most: int = 20
    """Sub-questions gone through at most, the last of them the question."""

    def __post_init__(self) -> None:
        if self.most < 1:
            raise ValueError(f"most must be at least 1, not {self.most}")

    @property
    def writes(self) -> frozenset[str]:
        return super().writes - {"sub_question"}

    def __call__(self, state: State, context: Context) -> State:
        asked = state.sub_questions or (SubQuestion(state.question.text),)
        total, rounds, number = len(asked), _Rounds(context.run), 0
        while number < total and state.refusal is None:
            number += 1
            if number < total and not (number < self.most and rounds.two_more()):
                state = _told(state, number, total)
                number = total
            text = asked[number - 1].text
            context.run.events(SubQuestionStarted(number, total, text, state.sample))
            rounds.begin()
            declined = len(state.declines)
            state = super().__call__(state.evolve(sub_question=number), context)
            rounds.end()
            if number < total and len(state.declines) > declined:
                said = state.declines[-1].declined
                state = state.warn("model", f"no query for sub-question {number}: {said}")
                number = total - 1
        return _whole(state.evolve(sub_question=0))


def _told(state: State, number: int, total: int) -> State:
    """The state with a note on the sub-questions that are passed over."""
    passed = f"sub-question {number}" if number == total - 1 else f"{number} to {total - 1}"
    if number < total - 1:
        passed = f"sub-questions {passed}"
    return state.warn("budget", f"{passed} of {total} were left out, to answer the question itself")


def _whole(state: State) -> State:
    """The state without the queries for a part of the conditions; a note where that leaves none."""
    kept = state.for_question
    declines = [one for one in state.declines if not one.goal]
    if not kept and not declines:
        declines = [replace(one, goal="") for one in state.declines]
    state = state.evolve(declines=tuple(declines)) if state.declines else state
    if len(kept) == len(state.candidates):
        return state
    if not kept and not declines:
        told = "queries were written for a part of the question's conditions only; none answers it"
        state = state.warn("model", told)
    return state.evolve(candidates=kept)


class _Cost(NamedTuple):
    """The price of calls."""

    calls: int = 0
    tokens: int = 0
    money: float = 0.0


@dataclass
class _Rounds:
    """The greatest cost of a round so far, to tell whether one more leaves enough for the last."""

    run: Run
    most: _Cost = _Cost()  # noqa: RUF009 - frozen
    seconds: float = 0.0
    before: _Cost = _Cost()  # noqa: RUF009 - frozen
    began: float = 0.0

    def begin(self) -> None:
        """A round begins."""
        self.before, self.began = _cost(self.run.spending.total), self.run.clock()

    def end(self) -> None:
        """It has ended."""
        used, then, most = _cost(self.run.spending.total), self.before, self.most
        self.most = _Cost(
            max(most.calls, used.calls - then.calls),
            max(most.tokens, used.tokens - then.tokens),
            max(most.money, used.money - then.money),
        )
        self.seconds = max(self.seconds, self.run.clock() - self.began)

    def two_more(self) -> bool:
        """True if budget and time reach for two more rounds."""
        if self.run.remaining() <= 2 * self.seconds:
            return False
        left, most = self.run.spending.left(), self._expected()
        # A call is sent only where the longest reply to it could be paid.
        needed = _Cost(2 * most.calls, 2 * most.tokens + MOST_REPLY_TOKENS, 2 * most.money)
        return all(
            have is None or have >= need
            for have, need in zip((left.calls, left.tokens, left.cost), needed, strict=True)
        )

    def _expected(self) -> _Cost:
        """The cost of a round: that of the costliest one; before the first that of the costliest
        call, on average, of a step before it."""
        if self.most.calls:
            return self.most
        steps = [_cost(used) for used in self.run.spending.by_step.values() if used.calls]
        return _Cost(
            1,
            max((one.tokens // one.calls for one in steps), default=0),
            max((one.money / one.calls for one in steps), default=0.0),
        )


def _cost(used: Usage) -> _Cost:
    return _Cost(used.calls, used.prompt_tokens + used.reply_tokens, used.cost or 0.0)
