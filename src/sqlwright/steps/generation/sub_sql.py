"""A language model writes the query for a sub-question, from the query for the one before it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from sqlwright.errors import MalformedReply, ModelFailed
from sqlwright.prompts.cells import render_sql
from sqlwright.prompts.demonstrations import (
    load_demonstrations,
    load_next_demonstrations,
    texts,
)
from sqlwright.prompts.fitting import Fitted
from sqlwright.prompts.sampling import Sampling, ask
from sqlwright.prompts.templates import model_text
from sqlwright.protocols import Context
from sqlwright.steps.demonstrating import chosen, features_of
from sqlwright.steps.showing import Style
from sqlwright.steps.task import QueryStep
from sqlwright.types import Candidate, State

SOURCE = "generation.sub_sql"
FIRST = "sub_sql_first"
NEXT_PROMPT = "generation/sub_sql_next"
"""The prompt with an earlier query."""
ATTEMPTS = 3
"""Prompts at most for the question itself."""
APART = 100
"""Numbers of a round, for its seed, that the attempts at one sub-question are apart."""


@dataclass(frozen=True)
class SubSql(QueryStep):
    """Has a language model write the query for the sub-question at hand, inside `sub_questions`.

    MAG-SQL section 3.3, one call. Where a sub-question before it has a query, the prompt shows both
    and asks to add what is missing; elsewhere, and where there are no sub-questions, it asks for
    the query from scratch. A query that ended in an error isn't built on: the one before it is.

    Where no reply can be used, a sub-question is left without a query, and the next one builds on
    the one before. The question itself is asked about up to `ATTEMPTS` times, from scratch
    after the first.
    """

    prompt: str = "generation/sub_sql_first"
    """The prompt without an earlier query."""
    shots: int = 3
    """Worked examples shown without an earlier query, those that fit the question best."""
    next_shots: int = 2
    """Worked examples shown with one."""
    style: Style = "ddl"
    """The form of the schema."""
    examples: int = 6
    """Stored values shown beside a column at most."""
    sampling: Sampling = field(default_factory=Sampling)

    purpose: ClassVar[str] = (
        "Writes a query for the sub-question at hand, from the one for the sub-question before "
        "it. One call."
    )
    reads: ClassVar[frozenset[str]] = frozenset({"question", "view"})
    writes: ClassVar[frozenset[str]] = frozenset({"candidates", "declines"})

    def __post_init__(self) -> None:
        for option in ("examples", "shots", "next_shots"):
            if getattr(self, option) < 0:
                raise ValueError(f"{option} must not be negative, not {getattr(self, option)}")

    def calls(self, state: State) -> int:
        """One, if there is anything to ask."""
        return 1 if state.question.text.strip() else 0

    def __call__(self, state: State, context: Context) -> State:
        if not state.question.text.strip() or not any(True for _ in state.view.visible):
            return state
        earlier = _earlier(state)
        problem: MalformedReply | ModelFailed | None = None
        for attempt in range(1 if state.goal else ATTEMPTS):
            built_on = earlier if attempt == 0 else None
            fitted = self._fitted(built_on, state, context)
            turn = max(state.sub_question - 1, 0) + APART * attempt
            prompt = self.prompt_of(fitted, context, turn)
            try:
                (replies,) = ask(
                    [prompt], state, context,
                    step=SOURCE, sampling=self.sampling, leaving=1 if state.goal else 0,
                )  # fmt: skip
            except (MalformedReply, ModelFailed) as error:
                problem = error
                continue
            return self.added(replies, fitted.noted(state, SOURCE), context, step=SOURCE)
        if state.goal:
            told = f"no query could be written for sub-question {state.sub_question}: {problem}"
            return state.warn("model", told, problem)
        return state.warn("left_out", f"left out: {problem}", problem)

    def _fitted(self, earlier: Candidate | None, state: State, context: Context) -> Fitted:
        """The prompt from scratch, or from an earlier query."""
        demonstrations = self._demonstrations(earlier, state, context)
        built_on = {}
        if earlier is not None:
            sql = render_sql(earlier, state.question)
            built_on = {"earlier": model_text(earlier.goal), "earlier_sql": sql}
        template = self.prompt if earlier is None else NEXT_PROMPT
        return self.laid_out(
            template, demonstrations, state, context, step=SOURCE, told=lambda _: built_on
        )

    def _demonstrations(
        self, earlier: Candidate | None, state: State, context: Context
    ) -> list[Mapping[str, Any]]:
        features, dialect = features_of(state, context), state.view.schema.dialect
        if earlier is None:
            first = load_demonstrations(FIRST, dialect)
            return [texts(one) for one in chosen(first, features, self.shots)]
        following = load_next_demonstrations(dialect)
        return [texts(one) for one in chosen(following, features, self.next_shots)]


def _earlier(state: State) -> Candidate | None:
    """The query for the nearest sub-question before this one that has one without an error."""
    for part in reversed(state.sub_questions[: max(state.sub_question - 1, 0)]):
        for candidate in reversed(state.candidates):
            failed = candidate.result is not None and not candidate.result.ok
            if candidate.goal == part.text and not failed:
                return candidate
    return None
