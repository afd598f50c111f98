"""Steps that run once for each sub-question, up to the question itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from sqlwright.events import SubQuestionStarted
from sqlwright.prompts.sampling import MOST_REPLY_TOKENS
from sqlwright.protocols import Context, Run
from sqlwright.running import combinators
from sqlwright.types import State, SubQuestion, Usage


@dataclass(frozen=True)
class SubQuestions(combinators.Sequence):
    """Steps one after another for the first sub-question, then for the next, the last being the
    question itself (MAG-SQL sections 3.3 and 3.4).

    The steps find the number of the sub-question at hand in the state, and the queries for those
    before it among the candidates, each with its sub-question as its goal. At the end these are
    gone: a query for a part of the conditions is no answer. Where there are no sub-questions the
    steps run once, for the question.

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
            state = super().__call__(state.evolve(sub_question=number), context)
            rounds.end()
        return _whole(state.evolve(sub_question=0))


def _told(state: State, number: int, total: int) -> State:
    """The state with a note on the sub-questions that are passed over."""
    passed = f"sub-question {number}" if number == total - 1 else f"{number} to {total - 1}"
    if number < total - 1:
        passed = f"sub-questions {passed}"
    return state.warn("budget", f"{passed} of {total} were left out, to answer the question itself")


def _whole(state: State) -> State:
    """The state without the queries for a part of the conditions; a note where that leaves none."""
    kept = tuple(candidate for candidate in state.candidates if not candidate.goal)
    if len(kept) == len(state.candidates):
        return state
    if not kept:
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
