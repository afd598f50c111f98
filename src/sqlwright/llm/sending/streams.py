"""A reply that is streamed in OpenAI's chunks, put together as it would come whole.

A server that works shows it by every chunk, however long the reply takes. One that never stops, or
that holds to no limit of tokens, is left when it has sent more than was asked for.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sqlwright.llm.endpoint import EndpointError
from sqlwright.llm.sending.failures import too_large

LARGEST_EVENT = 200_000
"""Bytes of a chunk; usual ones have some hundred."""
SPARE_EVENTS = 500
"""Chunks on top of one for each token."""
CHARACTERS = 16
"""Characters of a token at most, by and large: indentation is longest."""
_ONCE = frozenset({"role", "id", "type", "name", "index"})
"""Texts that some servers repeat with every chunk; others come in parts."""


def is_streamed(answer: Any) -> bool:
    """True for an HTTP response whose body is a stream of events."""
    kind: str = answer.headers.get("content-type", "")
    return kind.partition(";")[0].strip().lower() == "text/event-stream"


async def joined(answer: Any, *, tokens: int, largest: int) -> bytes:
    """The body that a stream amounts to, as JSON; `tokens` is what all its replies may have. Raises
    EndpointError where it is larger than `largest` bytes, or ends before they do."""
    import httpx2

    form: dict[str, Any] = {}
    choices: dict[int, dict[str, Any]] = {}
    size = events = 0
    ended = False
    async for event in httpx2.EventSource(answer, max_event_size=LARGEST_EVENT):
        if ended := event.data.strip() == "[DONE]":
            break
        chunk = _chunk(event.data)
        if chunk.get("error"):
            return json.dumps({"error": chunk["error"]}).encode()
        for part in chunk.pop("choices", None) or ():
            size += _choice(choices, part)
        form |= {name: value for name, value in chunk.items() if value is not None}
        events += 1
        if size > largest:
            raise too_large(largest)
        if events > tokens + SPARE_EVENTS or size > CHARACTERS * (tokens + SPARE_EVENTS):
            for choice in choices.values():
                choice["finish_reason"] = choice["finish_reason"] or "length"
            break
    if not ended and not (choices and all(each["finish_reason"] for each in choices.values())):
        raise EndpointError("the stream ended before the reply was finished", failures=3)
    return json.dumps(form | {"choices": list(choices.values())}).encode()


def _chunk(data: str) -> dict[str, Any]:
    """A chunk's object; what is none says nothing."""
    try:
        chunk = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return chunk if isinstance(chunk, dict) else {}


def _choice(choices: dict[int, dict[str, Any]], part: Mapping[str, Any]) -> int:
    """Add a part of a choice; the characters that came."""
    number = int(part.get("index") or 0)
    whole = choices.setdefault(number, {"index": number, "message": {}, "finish_reason": None})
    whole["finish_reason"] = part.get("finish_reason") or whole["finish_reason"]
    beside = {name: part[name] for name in ("logprobs",) if part.get(name)}
    delta = part.get("delta") or part.get("message") or {}
    return _add(whole["message"], delta) + _add(whole, beside)


def _add(whole: dict[str, Any], part: Mapping[str, Any]) -> int:
    """Add the parts of texts, lists and objects to those before; the characters that came."""
    size = 0
    for name, value in part.items():
        before = whole.get(name)
        if name == "tool_calls" and isinstance(value, list):
            calls = whole.setdefault(name, [])
            for place, call in enumerate(value):
                number = int(call.get("index") or place)
                calls += [{}] if number >= len(calls) else []
                size += _add(calls[min(number, len(calls) - 1)], call)
        elif isinstance(value, dict) and isinstance(before, dict | None):
            size += _add(whole.setdefault(name, {}), value)
        elif value is not None:
            joins = (
                name not in _ONCE and type(before) is type(value) and isinstance(value, str | list)
            )
            whole[name] = before + value if joins else value
            size += len(value) if isinstance(value, str) else len(json.dumps(value))
    return size
