"""Pauses before a request is sent again."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from email.utils import parsedate_to_datetime

from sqlwright.llm.endpoint import Throttle

MARGIN = 0.25
"""Seconds at most on top of what an endpoint asked for, so that not everybody is back at once."""


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds an answer asks to wait, None when it doesn't say, says nothing that can be read, or
    doesn't want any: a wish not to wait at all is none.

    `Retry-After` holds seconds or an HTTP date (RFC 9110, section 10.2.3), `retry-after-ms`
    milliseconds. `headers` has lower-case names; `now` is the time since the epoch in seconds."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        value = headers.get(name, "").strip()
        try:
            seconds = float(value) / unit
        except ValueError:
            continue
        return seconds if math.isfinite(seconds) and seconds > 0 else None
    try:
        seconds = parsedate_to_datetime(headers.get("retry-after", "")).timestamp() - now
    except (ValueError, OverflowError):
        return None
    return seconds if seconds > 0 else None


def delay(throttle: Throttle, tries: int, asked: float | None, generator: random.Random) -> float:
    """Seconds before the next attempt, after `tries` that failed.

    Without a wish of the endpoint exponential back-off with full jitter: evenly between nothing and
    a ceiling that doubles. With one, at least that, and at least the back-off: an endpoint can't
    have us come back faster. `asked` is 0 only where it is us who changed the request."""
    ceiling = min(throttle.longest_delay, throttle.first_delay * 2.0 ** min(tries - 1, 60))
    if asked is None:
        return generator.uniform(0, ceiling)
    wanted = asked + generator.uniform(0, min(MARGIN, asked / 2))
    return max(wanted, generator.uniform(0, ceiling)) if asked else 0.0
