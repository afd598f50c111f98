"""A model is shown the schema and chooses from it: what its samples name, all together."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Literal, TypeVar

from pydantic import BaseModel

from sqlwright.errors import MalformedReply, ModelFailed
from sqlwright.messages import Message, Text
from sqlwright.prompts.fitting import Portion, fit
from sqlwright.prompts.replies import json_from
from sqlwright.prompts.sampling import Prompt, Sampling, ask
from sqlwright.prompts.templates import render
from sqlwright.protocols import Context
from sqlwright.schema import SchemaView
from sqlwright.steps.asking import asked
from sqlwright.steps.showing import Shown, found_values
from sqlwright.types import State

R = TypeVar("R", bound=BaseModel)
T = TypeVar("T", bound=Hashable)

MENTIONED = 3
"""Unknown names that a warning quotes."""


def choose(
    state: State,
    context: Context,
    *,
    step: str,
    what: Literal["tables", "columns"],
    template: str,
    style: Literal["ddl", "compact"],
    examples: int,
    shown: Shown,
    sampling: Sampling,
    form: type[R],
    resolve: Callable[[R], tuple[list[T], list[str]]],
    view: SchemaView | None = None,
    others: Text | None = None,
    tables_beside: bool = False,
    held: bool = True,
) -> tuple[State, set[T]]:
    """The state with warnings, and what any sample chose; nothing when no reply could be used.

    The prompt shows `view`, by default the state's, and `others`, what is named beside it,
    among it tables where `tables_beside`. `held` holds the reply to the form where a model can be.
    `resolve` takes a reply apart into what is in the schema and the names that aren't. A reply of
    which nothing is counts as one that can't be parsed.
    """

    def parsed(text: str) -> tuple[list[T], list[str]]:
        known, unknown = resolve(json_from(text, form))
        if not known:
            named = f"the schema has no {unknown[0]!r}" if unknown else "it chooses nothing"
            raise MalformedReply(named)
        return known, unknown

    def laid_out(portion: Portion, state: State) -> tuple[Message, ...]:
        layout = shown.within(portion).layout(
            state.view, state, context, style=portion.style, examples=portion.examples
        )
        beside = others if others is not None and portion.listed == 1 else Text()
        return render(
            template,
            schema=layout.text(),
            others=beside,
            tables_beside=int(bool(tables_beside) and bool(beside)),
            found=len(found_values(state, context)),
            **asked(state, context),
        )

    schema = form.model_json_schema() if held else None
    fitted = fit(
        laid_out,
        Portion(style=style, examples=examples, listed=float(bool(others))),
        state if view is None else state.evolve(view=view),
        context,
        step=step,
        sampling=sampling,
        reply_schema=schema,
    )
    state = fitted.noted(state, step)
    prompt = Prompt(fitted.messages, parsed, schema)
    try:
        (samples,) = ask([prompt], state, context, step=step, sampling=sampling, leaving=1)
    except (MalformedReply, ModelFailed) as error:
        return state.warn(
            "linking", f"choosing {what} left the schema as it was: {error}", error
        ), set()
    replies = [reply for reply in samples if reply is not None]
    absent = list(dict.fromkeys(name for _, unknown in replies for name in unknown))
    if absent:
        names = ", ".join(map(repr, absent[:MENTIONED]))
        names += ", ..." if len(absent) > MENTIONED else ""
        warning = f"choosing {what}, the model named what isn't in the schema: {names}"
        state = state.warn("linking", warning)
    return state, {ref for known, _ in replies for ref in known}
