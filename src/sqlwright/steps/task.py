"""Prompts that have a query written: the question, the schema, values found for it."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from sqlwright.candidates import grounded
from sqlwright.english.words import singular, split_name
from sqlwright.messages import Message, Span, Text
from sqlwright.prompts.fitting import Fitted, Portion, fit
from sqlwright.prompts.replies import Written, prose_from, written_from
from sqlwright.prompts.sampling import Prompt
from sqlwright.prompts.templates import render
from sqlwright.protocols import Context
from sqlwright.steps.asking import asked
from sqlwright.steps.showing import (
    EvidenceStep,
    Shown,
    Style,
    found_values,
    matched_values,
    own_functions,
)
from sqlwright.types import Candidate, State

LONGEST_REASON = 400
"""Characters kept of what an author says in place of a query."""
MOST_UNFOUND = 10
"""Phrases named at most of which nothing was found."""


class QueryStep(EvidenceStep):
    """A step whose prompts have a query written."""

    style: Style
    """The form of the schema."""
    examples: int
    """Stored values shown beside a column at most."""

    def laid_out(
        self,
        template: str,
        demonstrations: Sequence[Mapping[str, Any]],
        state: State,
        context: Context,
        *,
        step: str,
        listed: float = 0.0,
        told: Callable[[float], Mapping[str, Any]] = lambda _: {},
        order: Callable[[], random.Random | None] = lambda: None,
    ) -> Fitted:
        """The prompt, as much of it as the model has room for.

        `told` makes the variables of the step's own from the share of rows there is room for, which
        is `listed` at most; `order` the order in which tables and columns are shown.
        """

        def messages(portion: Portion, state: State) -> tuple[Message, ...]:
            return render(
                template,
                demonstrations=demonstrations[: portion.shots],
                **self.reading,
                **told(portion.listed),
                **task(
                    state,
                    context,
                    style=portion.style,
                    examples=portion.examples,
                    shuffle=order(),
                    shown=self.shown.within(portion),
                ),
            )

        full = Portion(len(demonstrations), self.style, self.examples, listed=listed)
        return fit(messages, full, state, context, step=step, sampling=self.sampling)

    def prompt_of(self, fitted: Fitted, context: Context, turn: int = 0) -> Prompt[Written]:
        """The prompt for a query, or for what is said in its place."""
        read = partial(written_from, dialect=context.workspace.schema.dialect)
        return Prompt(fitted.messages, read, otherwise=prose_from, round=turn)

    def added(
        self,
        replies: Sequence[Written | None],
        state: State,
        context: Context,
        *,
        step: str,
        prompt: str = "",
    ) -> State:
        """The state with a candidate for each reply with a query, and with the others' declines."""
        candidates, declines = list(state.candidates), list(state.declines)
        for number, reply in enumerate(replies, start=1 if len(replies) > 1 else 0):
            if reply is None:
                continue
            one = Candidate(
                sql=reply.sql,
                source=step,
                goal=state.goal,
                plan=reply.plan,
                sample=state.sample or number,
                prompt=prompt,
                declined=" ".join(reply.cannot.split())[:LONGEST_REASON],
                model=self.sampling.model,
                by_model=True,
            )
            if one.declined:
                declines.append(one)
            else:
                candidates.append(grounded(one, state.values, context.workspace.schema))
        return state.evolve(candidates=tuple(candidates), declines=tuple(declines))


def task(
    state: State,
    context: Context,
    *,
    style: Style = "ddl",
    examples: int = 3,
    shuffle: random.Random | None = None,
    shown: Shown | None = None,
) -> dict[str, Any]:
    """The variables of `asked`, and `schema`, `matched`, `found` and `unfound`;
    `generation/_task.jinja` lays them out.

    The schema is what the state's view shows, with what the catalog knows and what was found for
    the question in it, and behind it functions of the database's own that may be called; `shuffle`
    puts its tables and columns in another order.
    """
    shown = shown or Shown()
    layout = shown.layout(state.view, state, context, style=style, examples=examples)
    matched = matched_values(state, context) if style == "soft" else Text()
    return {
        **asked(state, context),
        "schema": layout.text(shuffle) + own_functions(state.view, context),
        "matched": matched,
        "found": bool(matched) if style == "soft" else bool(found_values(state, context)),
        "unfound": _unfound(state),
    }


def _unfound(state: State) -> Text:
    """The phrases looked up among the stored values that look like one and that nothing resembles:
    those with a word that has a capital, or letters and digits; words of the schema apart."""
    if not state.searched:
        return Text()
    hits = {match.phrase.casefold() for match in state.values}
    known = {word for ref in state.view.schema.columns for name in ref for word in _words(name)}
    phrases = [
        phrase
        for phrase in dict.fromkeys(state.searched)
        if any(map(_is_named, phrase.split()))
        and not any(hit in phrase.casefold() for hit in hits)
        and not _words(phrase) <= known
    ]
    if not phrases:
        return Text()
    told = ", ".join(f'"{" ".join(phrase.split())}"' for phrase in phrases[:MOST_UNFOUND])
    text = f"Looked up among the stored values, and nothing like it found: {told}"
    return Text((Span(text, "value", ""),))


def _is_named(word: str) -> bool:
    return any(map(str.isalpha, word)) and any(c.isupper() or c.isdigit() for c in word)


def _words(text: str) -> set[str]:
    return {singular(word.casefold()) for part in text.split() for word in split_name(part)}
