"""JSON over HTTP to one address, over connections that stay open.

Every request has a client with a single connection to itself, the one given back last. One client
with a pool of them would look through all of its connections whenever one is taken or given back;
with twenty requests at once that costs as much as sending them.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlwright.llm.sending.failures import silent, unreachable
from sqlwright.llm.sending.transport import AGENT, CONNECT, ModelAddress, is_streamed, joined

ACCEPT = {
    "accept": "application/json, text/event-stream",
    "accept-encoding": "identity",
    "content-type": "application/json",
}

READ = 4_800
"""Bytes of a prompt for which a server on this machine may be silent as long again: at the usual
120 s it reads ten tokens a second."""


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """An HTTP response, whatever its status."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300

    @property
    def refusal_body(self) -> Any:
        """The body of a refusal: its JSON, or its text where it is none."""
        try:
            return json.loads(self.content)
        except (ValueError, RecursionError):
            return self.content.decode("utf-8", "replace")


def inner(form: Any, *keys: str) -> Any:
    """The value under nested keys; None where there is none."""
    for key in keys:
        form = form.get(key) if isinstance(form, dict) else None
    return form


class Connections:
    """Connections to one address with one key: as many as there are requests at once. Used on one
    event loop.

    Nobody's redirects are followed, and no other headers go out than are named here or by the site.
    """

    def __init__(self, site: ModelAddress, url: str, header: str, scheme: str = "") -> None:
        """The key is sent in `header`, after `scheme`."""
        import httpx2

        self._site = site
        self._url = httpx2.URL(url)
        self._headers = {**ACCEPT, "user-agent": AGENT, **dict(site.vendor_headers)}
        self._headers |= site.secret(header, scheme)
        self._make: Callable[[], Any] = site.clients()
        self._all: list[Any] = []
        self._free: list[Any] = []
        self._waiting: dict[asyncio.Timeout, float] = {}
        """Requests that a server on this machine is silent about, and the seconds it may be."""

    async def post(self, form: Mapping[str, Any], *, tokens: int = 0) -> HttpAnswer:
        """The answer to one request, put together where it is streamed; `tokens` is what its
        replies may have. Raises EndpointError when there is none; cancelling it closes its
        connection."""
        body = json.dumps(form, ensure_ascii=False, separators=(",", ":"))
        return await self._exchange("POST", body.encode("utf-8", "replace"), tokens)

    async def get(self) -> HttpAnswer:
        """The answer to a request for what is there. Raises EndpointError when there is none."""
        return await self._exchange("GET", b"")

    async def _exchange(self, method: str, content: bytes, tokens: int = 0) -> HttpAnswer:
        import httpx2

        silence = self._silence(content)
        timeout = httpx2.Timeout(silence, connect=min(CONNECT, silence)).as_dict()
        if self._site.address.here:
            timeout["read"] = None  # what is heard of another request counts, too
        request = httpx2.Request(
            method, self._url, headers=self._headers, content=content,
            extensions={"timeout": timeout},
        )  # fmt: skip
        client, answer, limit = self._take(), None, asyncio.timeout(silence)
        try:
            async with limit:
                if self._site.address.here:
                    self._waiting[limit] = silence
                answer = await client.send(request, stream=True)
                self._heard()
                if tokens and answer.is_success and is_streamed(answer):
                    if limit not in self._waiting:
                        limit.reschedule(None)  # now silence is what the client looks out for
                    largest = self._site.largest
                    body = await joined(answer, tokens=tokens, largest=largest, heard=self._heard)
                else:
                    body = await answer.aread()
        except (httpx2.TimeoutException, TimeoutError):
            raise silent(self._site.address, silence) from None
        except (httpx2.HTTPError, OSError) as error:
            raise unreachable(self._site.address, error) from None
        finally:
            self._waiting.pop(limit, None)
            self._heard()
            if answer is not None:
                await answer.aclose()
            self._free.append(client)
        return HttpAnswer(answer.status_code, answer.headers, body)

    def _heard(self) -> None:
        """A server on this machine works: one that takes requests by turns says nothing about
        those that wait."""
        now = asyncio.get_running_loop().time()
        for limit, silence in self._waiting.items():
            if not limit.expired():
                limit.reschedule(now + silence)

    def _silence(self, content: bytes) -> float:
        """Seconds without a byte after which a request is given up: a server on this machine says
        nothing while it reads the prompt, which a processor does slowly."""
        seconds = self._site.throttle.seconds
        return seconds * (1 + len(content) / READ) if self._site.address.here else seconds

    async def aclose(self) -> None:
        """Close all of them."""
        for client in self._all:
            await client.aclose()

    def _take(self) -> Any:
        if self._free:
            return self._free.pop()
        self._all.append(self._make())
        return self._all[-1]
