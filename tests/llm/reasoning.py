"""A model that thinks before it replies, for the server on loopback."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.llm.server import Asked


def limit_of(asked: Asked) -> int:
    """The reply tokens that a request allows, in any vendor's form."""
    body = asked.body
    named = body.get("max_completion_tokens") or body.get("max_tokens")
    return int(named or body.get("generationConfig", {}).get("maxOutputTokens", 0))


@dataclass
class Reasoning:
    """Spends `hidden` tokens out of sight, then replies as `inner` does; a reply that its limit has
    no room for ends for length, with what fitted."""

    inner: Callable[[Asked], str | Sequence[str]]
    hidden: int = 10_000
    told: bool = True
    """True if it says how many of its tokens were reasoning."""

    def __call__(self, asked: Asked) -> list[Mapping[str, Any]]:
        given = self.inner(asked)
        texts = [given] * asked.n if isinstance(given, str) else given
        return [self._message(text, limit_of(asked)) for text in texts]

    def _message(self, text: str, limit: int) -> Mapping[str, Any]:
        seen = text[: 4 * max(limit - self.hidden, 0)]
        message: dict[str, Any] = {"content": seen, "untold": not self.told}
        message["reasoning_tokens"] = min(self.hidden, limit)
        if seen != text:
            message["finish_reason"] = "length"
        return message
