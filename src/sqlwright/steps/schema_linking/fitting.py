"""A schema as large as a model can read: where it is larger, the part nearest to the question."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from sqlwright.llm.metering import estimated_tokens
from sqlwright.messages import Message, Text
from sqlwright.prompts.templates import Sampling
from sqlwright.protocols import Context, context_tokens
from sqlwright.schema import SchemaView
from sqlwright.steps.showing import Shown, Style
from sqlwright.types import State

MARGIN = 0.95
"""Part of a model's context that is used: what is counted is an estimate."""
FEWEST = 20
"""Columns below which it is left to the model to refuse the prompt."""


class Fitted(NamedTuple):
    """A prompt that fits, and whether something had to be left out of its schema for that."""

    messages: tuple[Message, ...]
    columns: int | None = None
    """Number of columns shown; None is all of them."""


def fitted(
    laid_out: Callable[[Text], tuple[Message, ...]],
    state: State,
    context: Context,
    *,
    style: Style,
    examples: int,
    shown: Shown,
    sampling: Sampling,
    step: str,
) -> Fitted:
    """The prompt with the view's schema in it, `style` permitting whole.

    Where it is larger than the model's context it is shown in compact lines; where even these are,
    only the columns that the linker finds nearest to the question, with the keys among their
    tables. Tables in between aren't shown; narrowing brings back the keys that lead through them.
    """

    def rendered(view: SchemaView, style: Style) -> Text:
        return shown.layout(view, state, context, style=style, examples=examples).text()

    most = context_tokens(context.llm(sampling.model), context.run)
    room = most * MARGIN - sampling.reply_limit(step)
    messages: tuple[Message, ...] = ()
    styles: tuple[Style, ...] = (style, "compact")
    for tried in dict.fromkeys(styles):
        messages = laid_out(rendered(state.view, tried))
        size = _size(messages)
        if size <= room:
            return Fitted(messages)
    schema = state.view.visible_schema()
    links = context.linker.link(state.question, schema, state.values, context.workspace.texts)
    ranked = [link.column for link in links.columns]
    count = int(len(ranked) * max(room, 0) / size)
    while True:
        count = max(count, FEWEST)
        view = state.view.narrowed(ranked[:count])
        messages = laid_out(rendered(view, "compact"))
        if count == FEWEST or _size(messages) <= room:
            return Fitted(messages, min(count, len(ranked)))
        count = int(count * 0.7)


def _size(messages: tuple[Message, ...]) -> int:
    return estimated_tokens([str(message.text) for message in messages])
