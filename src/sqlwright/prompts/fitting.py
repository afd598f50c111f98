"""Prompts that fit a model's context, by leaving out what matters least.

Whoever has a prompt says how to lay it out for a `Portion`, and `fit` finds the largest that fits.
Before anything is left out, the reply gets less room: the gate cuts its limit, down to
`metering.least_reply`. Then, in this order: worked examples, one by one; the schema in compact
lines; stored values beside columns; rows, queries and names that are listed; descriptions; and
columns, those furthest from the question first. What is too long even so is refused by the gate
before it is sent. All sizes are upper estimates. A small model is shown one worked example and the
schema in compact lines whatever its context.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from sqlwright.llm.metering import PER_MESSAGE, estimated_tokens, least_reply
from sqlwright.messages import Message
from sqlwright.prompts.sampling import Sampling
from sqlwright.prompts.schema import SchemaStyle
from sqlwright.protocols import Context, context_tokens
from sqlwright.schema import ColumnRef, Detail, SchemaView
from sqlwright.types import State

FEWEST = 8
"""Columns of which at least a schema is shown."""
MOST_TRIES = 20
"""Numbers of columns tried at most."""

SMALL_SHOTS = 1
"""Worked examples that a small model is shown; chosen."""

Messages = tuple[Message, ...]


@dataclass(frozen=True)
class Portion:
    """The amounts of everything that a prompt shows."""

    shots: int = 0
    """Worked examples."""
    style: SchemaStyle = "ddl"
    examples: int = 0
    """Stored values beside a column."""
    listed: float = 1.0
    """Share shown of what is listed besides: rows of results, names of hidden tables; 0 where there
    is nothing of the kind."""
    described: bool = True
    """True shows the descriptions that were found."""
    columns: int | None = None
    """Columns of the schema, the nearest to the question; None is all."""


@dataclass(frozen=True)
class Fitted:
    """A prompt and its portion."""

    messages: Messages
    portion: Portion
    full: Portion
    columns: int
    """Columns that there are to show."""
    context_tokens: int
    fits: bool
    small: bool = False
    """True for a small model, which is shown less than it has room for."""

    def shown(self, state: State) -> State:
        """The state without the descriptions that were left out."""
        return state if self.portion.described else state.evolve(descriptions=())

    def noted(self, state: State, step: str) -> State:
        """The state with a warning on what was left out, if anything was."""
        parts = list(self._left_out())
        if not parts:
            return state
        why = f"to fit the model's context of {self.context_tokens:,} tokens"
        if self.small and self.portion == _for_small(self.full):
            why = "for a model of few weights"
        listed = ", ".join(parts[:-1]) + (" and " if len(parts) > 1 else "") + parts[-1]
        return state.warn("prompt", f"{why}, prompts of {step} show {listed}")

    def _left_out(self) -> Iterator[str]:
        shown, full = self.portion, self.full
        if shown.columns is not None:
            nearest = f"the {shown.columns:,} columns nearest to the question of {self.columns:,}"
            yield nearest
        if shown.shots < full.shots:
            yield f"{shown.shots} of {full.shots} worked examples"
        if shown.style != full.style:
            yield "the schema in short"
        if shown.examples < full.examples:
            yield "one stored value a column" if shown.examples else "no stored values of columns"
        if shown.listed < full.listed:
            yield "a part of the rows and names"
        if shown.described < full.described:
            yield "no descriptions that were found"


def room(
    sampling: Sampling, context: Context, step: str, reply_schema: Mapping[str, Any] | None = None
) -> int:
    """Tokens that the messages of a prompt may have: the context less the shortest reply that is
    asked for, and less the reply's schema where that is sent."""
    model = context.llm(sampling.model)
    size = context_tokens(model, context.run)
    wanted = sampling.reply_limit(step)
    left = size - least_reply(wanted, size, reasoning=model.capabilities.reasoning)
    if reply_schema is not None and model.capabilities.json_schema:
        left -= estimated_tokens([json.dumps(dict(reply_schema))])
    return left


def message_tokens(messages: Messages) -> int:
    """Tokens of a prompt's messages, an upper estimate."""
    texts = [str(message.text) for message in messages]
    return estimated_tokens(texts) + PER_MESSAGE * len(messages)


def fit(
    laid_out: Callable[[Portion, State], Messages],
    full: Portion,
    state: State,
    context: Context,
    *,
    step: str,
    sampling: Sampling,
    reply_schema: Mapping[str, Any] | None = None,
    narrow: bool = True,
) -> Fitted:
    """The prompt with as much of `full` as fits. `narrow` lets it leave out columns, too; the state
    that `laid_out` is given then shows fewer of them."""
    allowed = room(sampling, context, step, reply_schema)  # asks the server about the model
    small = context.llm(sampling.model).capabilities.small
    made = partial(
        Fitted,
        full=full,
        small=small,
        columns=sum(1 for _ in state.view.visible),
        context_tokens=context_tokens(context.llm(sampling.model), context.run),
    )
    full = _for_small(full) if small else full
    portion, messages = full, laid_out(full, state)
    size = message_tokens(messages)
    # Of a soft schema the details are the point: columns go before them.
    keeps_details = narrow and full.style == "soft"
    for smaller in _ladder(full, details=not keeps_details):
        if size <= allowed:
            break
        shown = state if smaller.described else state.evolve(descriptions=())
        portion, messages = smaller, laid_out(smaller, shown)
        size = message_tokens(messages)
    if size <= allowed and portion.shots == 0 < full.shots and portion == replace(full, shots=0):
        for shots in range(full.shots - 1, 0, -1):  # without any it fits: how many do
            more = replace(full, shots=shots)
            tried = laid_out(more, state)
            if message_tokens(tried) <= allowed:
                portion, messages = more, tried
                break
    if size > allowed and narrow:
        narrowed = partial(
            _narrowed, laid_out, state=state, context=context, allowed=allowed, size=size, made=made
        )
        fitted = narrowed(portion)
        return fitted if fitted.fits or not keeps_details else narrowed([*_ladder(full)][-1])
    return made(messages, portion, fits=size <= allowed)


def _for_small(full: Portion) -> Portion:
    """The most that a small model is shown of it."""
    style = "compact" if full.style == "ddl" else full.style
    return replace(full, shots=min(full.shots, SMALL_SHOTS), style=style)


def _ladder(full: Portion, *, details: bool = True) -> Iterator[Portion]:
    """Smaller portions, each without what matters least of what the one before shows; without
    `details` those that still show what is known of columns."""
    portion = full
    changes: Sequence[Mapping[str, Any]] = (
        {"shots": 0},
        {"style": "compact" if full.style == "ddl" else full.style},
        {"examples": min(full.examples, 1)},
        {"listed": full.listed / 4},
        {"examples": 0, "listed": full.listed / 16},
        {"described": False, "listed": 0.0},
    )
    for change in changes if details else changes[:-2]:
        smaller = replace(portion, **change)
        if smaller != portion:
            portion = smaller
            yield portion


def _narrowed(
    laid_out: Callable[[Portion, State], Messages],
    portion: Portion,
    state: State,
    context: Context,
    *,
    allowed: int,
    size: int,
    made: Callable[..., Fitted],
) -> Fitted:
    """The prompt with as many columns as fit, nearest to the question, and the keys among their
    tables. Tables in between aren't shown; narrowing brings back the keys that lead through them.
    """
    ranked = _ranked(state, context)
    if portion.style != "soft":
        state = state.evolve(descriptions=())
    guess = int(2 * len(ranked) * max(allowed, 0) / size)  # a fair bound: fixed parts are in size
    least, most = FEWEST, max(min(len(ranked) - 1, guess), FEWEST)

    def tried(count: int) -> Fitted:
        shown = replace(portion, columns=min(count, len(ranked)))
        messages = laid_out(shown, state.evolve(view=_shortened(state.view, ranked[:count])))
        return made(messages, shown, fits=message_tokens(messages) <= allowed)

    best: Fitted | None = None
    for _ in range(MOST_TRIES):
        count = least if best is None and most <= least else (least + most) // 2
        one = tried(count)
        if one.fits:
            best, least = one, count + 1
        else:
            most = count - 1
        if least > most:
            break
    return best or tried(FEWEST)


def _shortened(view: SchemaView, kept: Sequence[ColumnRef]) -> SchemaView:
    """The view without all but these columns, in the detail they had."""
    shorter = view.narrowed(kept)
    brief = {ref: Detail.BRIEF for ref in kept if view.detail(ref) is Detail.BRIEF}
    return SchemaView(view.schema, {**shorter.details, **brief}) if brief else shorter


def _ranked(state: State, context: Context) -> Sequence[ColumnRef]:
    """The columns of the view, those in full before those in brief, nearest to the question
    first."""

    def link() -> tuple[ColumnRef, ...]:
        schema = state.view.visible_schema()
        links = context.linker.link(state.question, schema, state.values, context.workspace.texts)
        ranked = [link.column for link in links.columns]
        ranked.sort(key=lambda ref: state.view.detail(ref) is Detail.BRIEF)
        return tuple(ranked)

    inputs = (state.question, state.view, state.values)
    return context.run.once(link, "fitting/ranked", inputs)
