"""What every vendor's package is told about HTTP: which headers leave, and to whom."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

USUAL = frozenset(
    {
        "accept",
        "accept-encoding",
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


def shares(total: int, parts: int) -> list[int]:
    """A whole number in so many nearly equal parts; the first ones are the larger ones."""
    if parts <= 0:
        return []
    each, rest = divmod(total, parts)
    return [each + (place < rest) for place in range(parts)]
