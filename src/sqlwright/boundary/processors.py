"""The number of processors that this process may use."""

from __future__ import annotations

import os


def processors() -> int:
    """The number that it is bound to, where the system says so; else of all. At least 1."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
