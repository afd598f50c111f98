"""Waiting for what has to come true, however busy the machine is."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE_SECONDS = 60.0
"""Seconds after which something never comes: far more than a busy machine takes, less than the
endless queries of the tests run."""


def comes(condition: Callable[[], object]) -> bool:
    """Whether a condition comes true; looked at again and again, PATIENCE_SECONDS at the most."""
    until = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True
