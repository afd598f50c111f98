"""HTTP for every vendor: addresses, allowed headers, time-outs and sizes.

A reply that is streamed in OpenAI's chunks is put together as it would come whole. A server that
works shows it by every chunk, however long the reply takes. One that never stops, or that holds to
no limit of tokens, is left when it has sent more than was asked for, and so is one whose replies
repeat themselves without end.
"""

from __future__ import annotations

import ipaddress
import json
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from sqlwright.llm.endpoint import THREAD, Batching, EndpointError, Throttle
from sqlwright.llm.sending.failures import Address, compressed, too_large
from sqlwright.llm.sending.repetition import EVERY, REPEATS, cycle_of
from sqlwright.messages import Capabilities

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


async def joined(
    answer: Any, *, tokens: int, largest: int, heard: Callable[[], None] = lambda: None
) -> bytes:
    """The body that a stream amounts to, as JSON; `tokens` is what all its replies may have, and
    `heard` is called for each chunk. Raises EndpointError where it is larger than `largest` bytes,
    or ends before they do."""
    import httpx2

    form: dict[str, Any] = {}
    choices: dict[int, dict[str, Any]] = {}
    size = events = looked = 0
    ended = False
    async for event in httpx2.EventSource(answer, max_event_size=LARGEST_EVENT):
        heard()
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
        if size >= looked + EVERY:
            looked = size
            ends = [_end(choice) for choice in choices.values()]
            if REPEATS in ends and all(ends):
                for choice, end in zip(choices.values(), ends, strict=True):
                    choice["finish_reason"] = end
                form["usage"] = {"completion_tokens": events}  # the server tells it at its end
                break
    if not ended and not (choices and all(each["finish_reason"] for each in choices.values())):
        raise EndpointError("the stream ended before the reply was finished", failures=3)
    return json.dumps(form | {"choices": list(choices.values())}).encode()


def _end(choice: dict[str, Any]) -> Any:
    """The reason why a choice has ended; None while it goes on. Without end is one, too."""
    texts = (choice["message"].get(name) for name in ("content", "reasoning_content", "reasoning"))
    text = next((each for each in texts if each and isinstance(each, str)), "")
    return choice["finish_reason"] or (REPEATS if cycle_of(text) else None)


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


CONNECT = 15.0
"""Seconds to wait for a connection at most."""
LARGEST = 2_000_000
"""Bytes of an answer. Twenty replies of 4,096 tokens have less than a quarter of it."""
MOST_PARTS = 100_000
"""Brackets and colons of an answer: each may become an object of a hundred bytes."""
FRAMES = 40
"""Bytes of a stream for each byte of its text at most; servers take 30 to 80 for a short word."""
NO_KEY = "none"
"""Stands for the key towards a vendor's package where there is none; it is never sent."""

AGENT = "sqlwright"
"""User agent of requests that no vendor's package makes."""

USUAL = frozenset(
    {
        "accept",
        "accept-encoding",
        "anthropic-version",
        "connection",
        "content-length",
        "content-type",
        "host",
        "transfer-encoding",
        "user-agent",
        "x-stainless-raw-response",  # how the packages tell themselves to hand out the body
    }
)
"""Headers that hold nothing about the user."""


def is_loopback(url: str) -> bool:
    """True if requests to that address stay on this machine."""
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True, slots=True)
class ModelAddress:
    """A model at an address, with all that is needed to call it."""

    name: str
    """`provider/model`."""
    model: str
    base_url: str
    capabilities: Capabilities
    throttle: Throttle
    key: str | None = None
    """The key, already known to belong to this address."""
    key_variable: str = ""
    vendor_headers: tuple[tuple[str, str], ...] = ()
    """Names and values of headers that this vendor wants besides the usual ones."""
    largest: int = LARGEST
    """Bytes an answer may have."""
    proxies: bool = True
    """True uses proxies of the environment. What is to stay on this machine mustn't."""
    wall: Callable[[], float] = time.time
    batches: Batching | None = None
    """The batches that requests for replies go in; None where each goes alone."""

    def __repr__(self) -> str:
        return f"Site({self.name!r})"  # no key in a traceback

    @property
    def address(self) -> Address:
        here = is_loopback(self.base_url)
        return Address(self.name, self.base_url, self.key_variable, self.key is not None, here)

    def secret(self, header: str, scheme: str = "") -> dict[str, str]:
        """The header with the key, after `scheme`; nothing where there is no key."""
        return {header: f"{scheme} {self.key}".strip()} if self.key else {}

    def client(self, header: str, scheme: str = "") -> Any:
        """An HTTP client for a vendor's package. It keeps connections open, follows no redirect,
        and sends the key in `header`, after `scheme`, and no other headers than it must."""
        import httpx2

        hook = headers_hook(self.base_url, self.secret(header, scheme))
        return self._client(
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=100),
            event_hooks={"request": [hook], "response": [self._bound]},
        )

    def clients(self) -> Callable[[], Any]:
        """Makes HTTP clients of one connection each, which follow no redirect and add nothing to
        what they are given to send."""
        import httpx2

        trusted = httpx2.create_ssl_context(trust_env=self.proxies)  # takes longest to make
        limits = httpx2.Limits(max_connections=1, max_keepalive_connections=1)
        hooks = {"response": [self._bound]}
        return lambda: self._client(limits=limits, verify=trusted, event_hooks=hooks)

    async def _bound(self, answer: Any) -> None:
        """A hook for an HTTP client that has an answer cut off where it gets too large. Raises
        EndpointError for one that is compressed: nobody knows what it would unpack to."""
        encoding = answer.headers.get("content-encoding", "identity").strip().lower()
        if encoding not in {"", "identity"}:
            raise compressed()
        length = answer.headers.get("content-length", "").strip()
        if length.isdigit() and (len(length) > 18 or int(length) > self.largest):
            raise too_large(self.largest)
        times = FRAMES if is_streamed(answer) else 1
        answer.stream = _bounded(answer.stream, self.largest * times, MOST_PARTS * times)

    def _client(self, **options: Any) -> Any:
        import httpx2

        seconds = self.throttle.seconds
        if self.batches is not None:
            options["transport"] = self.batches.transport(self.address)
        return httpx2.AsyncClient(
            follow_redirects=False,
            trust_env=self.proxies,
            timeout=httpx2.Timeout(seconds, connect=min(CONNECT, seconds)),
            **options,
        )


def check_size(size: int, most: int) -> None:
    """Raise EndpointError for more than is taken."""
    if size > most:
        raise too_large(most)


def _bounded(stream: Any, most: int, most_parts: int) -> Any:
    """The same stream of bytes, which raises EndpointError where it gets too large."""
    import httpx2

    class Bounded(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            size = parts = 0
            async for piece in stream:
                size += len(piece)
                parts += sum(piece.count(mark) for mark in (b"[", b"{", b":"))
                check_size(size, most)
                check_size(parts, most_parts)
                yield piece

        async def aclose(self) -> None:
            await stream.aclose()

    return Bounded()


class Discreet(logging.Filter):
    """Keeps what a vendor's package says about our requests out of logs: it quotes prompts.

    Records of other threads, which are other users of the package, pass."""

    def filter(self, record: logging.LogRecord) -> bool:
        return record.levelno >= logging.WARNING or record.threadName != THREAD

    @classmethod
    def hush(cls, *loggers: str) -> None:
        """Put the filter on loggers that don't have it yet."""
        for name in loggers:
            logger = logging.getLogger(name)
            if not any(isinstance(each, cls) for each in logger.filters):
                logger.addFilter(cls())


class AtSite:
    """The part of `Endpoint` that an address alone can answer."""

    def __init__(self, site: ModelAddress) -> None:
        self._site = site

    @property
    def name(self) -> str:
        return self._site.name

    @property
    def capabilities(self) -> Capabilities:
        return self._site.capabilities

    @property
    def throttle(self) -> Throttle:
        return self._site.throttle


def headers_hook(base_url: str, secret: Mapping[str, str]) -> Callable[[Any], Awaitable[None]]:
    """A hook for an HTTP client that takes off every header nobody asked for.

    Vendors' packages add headers and keys they find in the environment to any request, also to one
    that goes to somebody else's server. `secret` is the one key header that belongs to the host of
    `base_url`, with its value."""
    host = urlsplit(base_url).hostname

    async def strip(request: Any) -> None:
        for name in set(request.headers):
            if name.lower() not in USUAL:
                del request.headers[name]
        request.headers["accept-encoding"] = "identity"
        if request.url.host == host:
            request.headers.update(secret)

    return strip
