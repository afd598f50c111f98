"""What every vendor's package is told about HTTP: where to, which headers, for how long."""

from __future__ import annotations

import ipaddress
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from sqlwright.llm.endpoint import THREAD, Throttle
from sqlwright.llm.failures import Address
from sqlwright.messages import Capabilities

CONNECT = 15.0
"""Seconds to wait for a connection at most."""
NO_KEY = "none"
"""Stands for the key towards a vendor's package where there is none; it is never sent."""

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
    """Whether requests to that address stay on this machine."""
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True, slots=True)
class Site:
    """A model at an address, with all that is needed to call it."""

    name: str
    """`provider/model`."""
    model: str
    base_url: str
    capabilities: Capabilities
    throttle: Throttle
    key: str | None = None
    """Already known to belong to this address."""
    key_variable: str = ""
    vendor_headers: tuple[str, ...] = ()
    """Headers besides the usual ones that the vendor's package may send, in lower case."""
    proxies: bool = True
    """Whether proxies of the environment are used. What is to stay on this machine mustn't."""
    wall: Callable[[], float] = time.time

    def __repr__(self) -> str:
        return f"Site({self.name!r})"  # no key in a traceback

    @property
    def address(self) -> Address:
        here = is_loopback(self.base_url)
        return Address(self.name, self.base_url, self.key_variable, self.key is not None, here)

    def client(self, header: str, scheme: str = "") -> Any:
        """An HTTP client that keeps connections open, follows no redirect, and sends the key in
        `header`, after `scheme`, and no other headers than it must."""
        import httpx2

        seconds = self.throttle.seconds
        secret = {header: f"{scheme} {self.key}".strip()} if self.key else {}
        return httpx2.AsyncClient(
            follow_redirects=False,
            trust_env=self.proxies,
            timeout=httpx2.Timeout(seconds, connect=min(CONNECT, seconds)),
            limits=httpx2.Limits(max_connections=None, max_keepalive_connections=100),
            event_hooks={"request": [headers_hook(self.base_url, secret, self.vendor_headers)]},
        )


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


def headers_hook(
    base_url: str, secret: Mapping[str, str], vendor_headers: Sequence[str] = ()
) -> Callable[[Any], Awaitable[None]]:
    """A hook for an HTTP client that takes off every header nobody asked for.

    Vendors' packages add headers and keys they find in the environment to any request, also to one
    that goes to somebody else's server. `secret` is the one key header that belongs to the host of
    `base_url`, with its value; `vendor_headers` are further names that may go out."""
    host = urlsplit(base_url).hostname
    allowed = USUAL | set(vendor_headers)

    async def strip(request: Any) -> None:
        for name in set(request.headers):
            if name.lower() not in allowed:
                del request.headers[name]
        if request.url.host == host:
            request.headers.update(secret)

    return strip
