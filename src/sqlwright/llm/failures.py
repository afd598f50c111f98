"""What an endpoint's refusal means, in our own words.

Servers quote prompts, and proxies keys, in their errors. So nothing of a body goes into a message:
only the status, and what it stands for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from sqlwright.llm.endpoint import EndpointError
from sqlwright.llm.waiting import retry_after

_TOO_LONG = ("context_length", "context length", "too long", "maximum context", "context window")
_NO_CREDIT = ("insufficient_quota", "billing", "credit balance", "credits")
_SLOW_DOWN = {429, 529}
_PASSING = {408, 409, 425, 429}


@dataclass(frozen=True, slots=True)
class Address:
    """What a message may name: the model, where it is, and which variable holds the key."""

    name: str
    """`provider/model`."""
    base_url: str
    key_variable: str = ""
    key_sent: bool = True

    @property
    def origin(self) -> str:
        """The base URL without user, password and query."""
        parts = urlsplit(self.base_url)
        port = f":{parts.port}" if parts.port else ""
        return f"{parts.scheme}://{parts.hostname or ''}{port}{parts.path}"


def refused(
    address: Address, status: int, headers: Mapping[str, str], body: Any, now: float
) -> EndpointError:
    """The error for an HTTP status that isn't a success. `now` is seconds since the epoch."""
    wanted = retry_after({name.lower(): value for name, value in headers.items()}, now)
    if mentions(body, _NO_CREDIT) and status in {400, 402, 403, 429}:
        return _final(address, status, "the account has no credit left; see the provider's billing")
    if status in _PASSING or status >= 500:
        crowded = status in _SLOW_DOWN
        text = "it asks to slow down" if crowded else "it failed for the moment"
        return EndpointError(f"{text} ({status})", retry_after=wanted, crowded=crowded)
    return _final(address, status, _advice(address, status, body))


def unreachable(address: Address, *, timed_out: bool = False) -> EndpointError:
    """The error for a connection that couldn't be made or broke."""
    what = "timed out" if timed_out else "failed or was broken off"
    return EndpointError(f"the connection to {address.origin} {what}")


def unreadable() -> EndpointError:
    """The error for a body that isn't the JSON it should be."""
    return EndpointError("the answer was no valid JSON of the expected form")


def mentions(body: Any, words: Iterable[str]) -> bool:
    """Whether an error's code, type, parameter or message holds one of the words."""
    error = body.get("error", body) if isinstance(body, Mapping) else body
    fields = error.values() if isinstance(error, Mapping) else [error]
    text = " ".join(str(value) for value in fields if isinstance(value, str)).lower()
    return any(word in text for word in words)


def _advice(address: Address, status: int, body: Any) -> str:
    if status == 401 and not address.key_sent and address.key_variable:
        return f"it wants a key; put it into the variable {address.key_variable}"
    if status == 401:
        return f"the key wasn't accepted; check the variable {address.key_variable or 'of the key'}"
    if status == 402:
        return "the account has no credit left; see the provider's billing"
    if status == 403:
        return "access was refused: the key may not be allowed to use this model"
    if status in {404, 405, 410}:
        return f"not found: check the model's name and the base URL {address.origin}"
    if 300 <= status < 400:
        return f"{address.origin} redirects, which isn't followed: name the final base URL"
    if status == 413 or mentions(body, _TOO_LONG):
        return "the prompt is too long for this model"
    return "the request was refused; a capability may be set that the model doesn't have"


def _final(address: Address, status: int, advice: str) -> EndpointError:
    return EndpointError(f"{address.name}: {advice} ({status})", kind="rejected", retryable=False)
