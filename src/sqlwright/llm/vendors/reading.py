"""Type-checked reading of a server's JSON: nothing in it is trusted to have the right type."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from sqlwright.llm.endpoint import Completion, PlainMessage
from sqlwright.llm.sending.failures import unreadable
from sqlwright.messages import TokenLogprob

UNREADABLE = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError)
"""Errors that reading malformed JSON raises."""


@contextmanager
def guarded() -> Iterator[None]:
    """Whatever is wrong with a body's form becomes the error that says so, without the body."""
    try:
        yield
    except UNREADABLE:
        raise unreadable() from None


def well_formed(text: Any) -> str:
    """Text without halves of surrogate pairs, which can be neither stored nor sent."""
    whole = "" if text is None else str(text)
    return whole.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


_FINISH = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "max_output_tokens": "length",
    "max_length": "length",
    "model_length": "length",
    "token_limit": "length",
    "model_context_window_exceeded": "length",
}
"""Vendors' words for the reason why a reply ended; OpenAI's are ours."""


def finish(reason: Any) -> str:
    """The reason why a reply ended, in our words where they are known, else the server's if it is
    one word."""
    word = str(reason or "stop").lower()
    word = _FINISH.get(word, word)
    return word if re.fullmatch(r"[a-z_]{1,40}", word) else "other"


LASTING = frozenset(
    {"temperature", "seed", "reasoning_effort", "verbosity"}
    | {"thinking", "thinking_config", "effort"}
)
"""Parameters without which a model replies otherwise, by the vendors' names; nothing takes their
place."""


def without(refused: Set[str], completion: Completion) -> Completion:
    """The completion, its replies with the parameters that were refused before and so not sent."""
    left_out = tuple(sorted(LASTING & refused))
    if not left_out:
        return completion
    replies = tuple(replace(reply, left_out=left_out) for reply in completion.replies)
    return replace(completion, replies=replies)


def without_system(messages: Sequence[PlainMessage]) -> tuple[PlainMessage, ...]:
    """The messages for a model that takes the user's and its own by turns: the system's stand
    before the first of the user's."""
    turns: list[PlainMessage] = []
    for message in messages:
        turn = replace(message, role="user") if message.role == "system" else message
        if turns and turns[-1].role == turn.role == "user":
            turns[-1] = replace(turn, text=f"{turns[-1].text}\n\n{turn.text}")
        else:
            turns.append(turn)
    return tuple(turns)


MOST_TOKENS = 100_000_000
"""Tokens of one request at most; no context is as long."""
HIGHEST_PRICE = 10_000.0
"""US dollars for one request."""


def count(value: Any) -> int | None:
    """A number of tokens; None when it is none that can be meant."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if 0 <= value <= MOST_TOKENS else None


def price(value: Any) -> float | None:
    """An amount of money; None when it is none that can be meant."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= HIGHEST_PRICE else None


def arguments_text(value: Any) -> str:
    """A tool call's arguments as JSON text, whichever way a server gives them."""
    if isinstance(value, dict):
        return json.dumps(value)
    return well_formed(value) or "{}"


def opaque(text: str) -> dict[str, Any]:
    """A vendor's own record that was kept as text, as an object; empty for a text that is none."""
    try:
        kept = json.loads(text)
    except ValueError:
        return {}
    return kept if isinstance(kept, dict) else {}


MOST_LIKELIEST = 20
"""Likeliest tokens at a place that vendors give at most."""


def likeliest(wanted: int) -> int:
    """The number of likeliest tokens to ask for."""
    return max(0, min(wanted, MOST_LIKELIEST))


def token_logprobs(
    places: Sequence[tuple[Mapping[str, Any], Sequence[Mapping[str, Any]]]], name: str
) -> tuple[TokenLogprob, ...]:
    """Tokens of a reply, each from its own form and those of the likeliest at its place; `name` is
    what the vendor calls the log probability."""
    return tuple(
        TokenLogprob(*_token(form, name), tuple(_token(each, name) for each in others))
        for form, others in places
    )


def _token(form: Mapping[str, Any], name: str) -> tuple[str, float]:
    return well_formed(form.get("token")), min(float(form[name]), 0.0)


def shares(total: int, parts: int) -> list[int]:
    """A whole number in so many nearly equal parts; the first ones are the larger ones."""
    if parts <= 0:
        return []
    each, rest = divmod(total, parts)
    return [each + (index < rest) for index in range(parts)]
