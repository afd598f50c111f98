"""JSON over HTTP to one address, over connections that stay open.

Every request has a client with a single connection to itself, the one given back last. One client
with a pool of them would look through all of its connections whenever one is taken or given back;
with twenty requests at once that costs as much as sending them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlwright.llm.sending.failures import unreachable
from sqlwright.llm.sending.transport import AGENT, ModelAddress

ACCEPT = {
    "accept": "application/json",
    "accept-encoding": "identity",
    "content-type": "application/json",
}


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

    async def post(self, form: Mapping[str, Any]) -> HttpAnswer:
        """The answer to one request. Raises EndpointError when there is none; cancelling it closes
        its connection."""
        body = json.dumps(form, ensure_ascii=False, separators=(",", ":"))
        return await self._exchange("POST", body.encode("utf-8", "replace"))

    async def get(self) -> HttpAnswer:
        """The answer to a request for what is there. Raises EndpointError when there is none."""
        return await self._exchange("GET", b"")

    async def _exchange(self, method: str, content: bytes) -> HttpAnswer:
        import httpx2

        request = httpx2.Request(method, self._url, headers=self._headers, content=content)
        client = self._take()
        try:
            answer = await client.send(request)
        except httpx2.TimeoutException:
            raise unreachable(self._site.address, timed_out=True) from None
        except (httpx2.HTTPError, OSError) as error:
            raise unreachable(self._site.address, error) from None
        finally:
            self._free.append(client)
        return HttpAnswer(answer.status_code, answer.headers, answer.content)

    async def aclose(self) -> None:
        """Close all of them."""
        for client in self._all:
            await client.aclose()

    def _take(self) -> Any:
        if self._free:
            return self._free.pop()
        self._all.append(self._make())
        return self._all[-1]
