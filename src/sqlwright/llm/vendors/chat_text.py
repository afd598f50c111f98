"""A prompt and its reply as a model reads and writes them: in the chat template of its tokenizer.

The one rendering of chat templates. Inference takes the prompt from here and training the prompt
and the reply, so that a model is asked what it was trained on. What else a template shows than the
messages (the day, in some) is as it is on the day.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlwright.llm.endpoint import EndpointError, PlainMessage
from sqlwright.llm.vendors.reading import well_formed

LONGEST_REASON = 200
"""Characters kept of a library's error."""

_Turns = Sequence[tuple[str, str]]
"""Roles and texts."""


def prompt_tokens(
    tokenizer: Any, messages: Sequence[PlainMessage], *, thinks: bool = False
) -> list[int]:
    """Tokens of a prompt: in the tokenizer's chat template, or the bare texts for a model that has
    none. Raises EndpointError for a template that fails."""
    if not tokenizer.chat_template:
        return list(tokenizer(_bare(messages))["input_ids"])
    text, _ = _in_template(tokenizer, messages, thinks)
    return list(tokenizer(text, add_special_tokens=False)["input_ids"])


def reply_tokens(
    tokenizer: Any, messages: Sequence[PlainMessage], reply: str, *, ends: Sequence[int]
) -> list[int]:
    """Tokens of a reply that thinks nothing, and the one of `ends` that ends it; without any `ends`
    the reply alone.

    They are what the template writes after the prompt, up to that end. Of a template that writes
    the prompt otherwise once a reply follows it, they are those of the reply and the end that the
    template puts after it. Where it puts none there, the first of `ends` ends the reply.
    """
    before, text = prompt_tokens(tokenizer, messages), well_formed(reply)
    if not tokenizer.chat_template:
        said = _going_on(before, list(tokenizer(_bare(messages) + text)["input_ids"]))
        return [*(said or _alone(tokenizer, text)), *ends[:1]]
    start, turns = _in_template(tokenizer, messages, thinks=False)
    whole = _answered(tokenizer, turns, text)
    tokens = _alone(tokenizer, whole)
    if whole.startswith(start) and whole[len(start) :].lstrip().startswith(text.strip()):
        rest = _going_on(before, tokens) or _alone(tokenizer, whole[len(start) :])
        end = next((place for place, token in enumerate(rest) if token in ends), None)
        if end is not None:
            return rest[: end + 1]
        return [*_alone(tokenizer, text), *ends[:1]]
    places = [place for place, token in enumerate(tokens) if token in ends]
    ended = bool(places) and text.strip() not in tokenizer.decode(tokens[places[-1] + 1 :])
    return [*_alone(tokenizer, text), *([tokens[places[-1]]] if ended else ends[:1])]


def end_tokens(tokenizer: Any, model: Any) -> list[int]:
    """The tokens that end a reply; the tokenizer's own comes first."""
    told = model.generation_config.eos_token_id
    ends = told if isinstance(told, list) else [told]
    return list(dict.fromkeys(t for t in (tokenizer.eos_token_id, *ends) if t is not None))


def short(error: Exception) -> str:
    """The kind of a library's error and the first line of what it says."""
    lines = str(error).strip().splitlines() or [""]
    return f"{type(error).__name__}: {lines[0][:LONGEST_REASON]}"


def _bare(messages: Sequence[PlainMessage]) -> str:
    return well_formed("\n\n".join(message.text for message in messages))


def _alone(tokenizer: Any, text: str) -> list[int]:
    return list(tokenizer(text, add_special_tokens=False)["input_ids"])


def _going_on(before: list[int], tokens: list[int]) -> list[int]:
    """The tokens after those before; none where the two merge or there are none."""
    return tokens[len(before) :] if tokens[: len(before)] == before else []


def _in_template(
    tokenizer: Any, messages: Sequence[PlainMessage], thinks: bool
) -> tuple[str, _Turns]:
    """The prompt in the tokenizer's chat template, and the turns that it took. Some know no system
    message, and want the turns of two to alternate."""
    from jinja2 import TemplateError

    turns = [(each.role if each.role != "tool" else "user", each.text) for each in messages]
    try:
        return _rendered(tokenizer, turns, thinks), turns
    except TemplateError:
        merged: list[tuple[str, str]] = []
        for given, text in turns:
            role = "user" if given == "system" else given
            if merged and merged[-1][0] == role:
                merged[-1] = role, f"{merged[-1][1]}\n\n{text}"
            else:
                merged.append((role, text))
        try:
            return _rendered(tokenizer, merged, thinks), merged
        except TemplateError as error:
            raise EndpointError(
                f"the chat template of the model fails: {short(error)}",
                kind="rejected",
                retryable=False,
            ) from None


def _answered(tokenizer: Any, turns: _Turns, reply: str) -> str:
    """The conversation with its reply; empty for a template that writes none."""
    from jinja2 import TemplateError

    try:
        return _rendered(tokenizer, [*turns, ("assistant", reply)], thinks=False, asks=False)
    except TemplateError:
        return ""


def _rendered(tokenizer: Any, turns: _Turns, thinks: bool, *, asks: bool = True) -> str:
    return str(
        tokenizer.apply_chat_template(
            [{"role": role, "content": well_formed(text)} for role, text in turns],
            tokenize=False,
            add_generation_prompt=asks,
            enable_thinking=thinks,
        )
    )
