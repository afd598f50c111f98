"""Queries without end: stopped at their limit or when cancelled, seen gone on the server."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter

from tests.servers.served import PEOPLE, Served

from sqlwright.protocols import Limits, Run

SECONDS = 0.5
"""The limit of a query that has to be stopped."""
LATE_SECONDS = 0.5
"""Seconds after its limit in which it has to be gone."""
TIMES = 5


def measure_denials(served: Served) -> bool:
    """Each query without end, several times; how long after its limit it was gone."""
    late: dict[str, float] = {}
    wrong: Counter[str] = Counter()
    with served.open(checked=False) as database:
        database.execute("SELECT 1", Run())
        for what, sql in served.endless.items():
            for _ in range(TIMES):
                began = time.monotonic()
                error = database.execute(sql, Run(), limits=Limits(seconds=SECONDS)).error
                if error is None or error.kind != "timeout":
                    wrong[f"{what}: {error.kind if error else 'answered'}"] += 1
                if not served.gone(10):
                    wrong[f"{what}: still runs"] += 1
                late[what] = max(late.get(what, 0.0), time.monotonic() - began - SECONDS)
    told = ", ".join(f"{what} {seconds:.2f}" for what, seconds in late.items())
    print(
        f"{served.engine} denials: {len(late)} kinds, {TIMES} times each, not as they should: "
        f"{dict(wrong) or 'none'}; seconds after the limit until it was gone, the slowest: {told}"
    )
    return not wrong and max(late.values()) <= LATE_SECONDS


def measure_cancels(served: Served, cancels: int) -> bool:
    """Queries cancelled at random moments leave nothing that runs, is locked or is open."""
    kinds: Counter[str] = Counter()
    left, late, endless = 0, [], list(served.endless.values())
    with served.open(checked=False) as database:
        for number in range(cancels):
            run = Run()
            after = random.uniform(0.0, 0.1)
            threading.Timer(after, run.cancelled.set).start()
            began = time.monotonic()
            error = database.execute(endless[number % len(endless)], run).error
            late.append(time.monotonic() - began - after)
            kinds[error.kind if error else "ok"] += 1
            left += not served.gone(1.0)
        held = served.held()
        works = database.execute("SELECT count(*) FROM people", Run()).rows == ((PEOPLE,),)
    print(
        f"{served.engine} cancels: {cancels}, {dict(kinds)}, {left} left running, {held} locks or "
        f"transactions left, slowest answer {max(late):.2f} s after"
    )
    return not left and not held and works
