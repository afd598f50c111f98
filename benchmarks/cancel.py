"""Cancel a question at random moments: how soon it returns, with what, and what it leaves behind.

    python benchmarks/cancel.py shop.sqlite "How many orders are open?" --times 20

Half of the moments lie in a session's first question, opening and loading included, the others in a
warm one. Exit code 1 when an answer took longer than a second after the cancellation, or when a
process is left once the session is closed.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import threading
import time
from pathlib import Path

import sqlwright
from sqlwright.local.models import EmbeddedModels

BAR = 1.0


def children() -> set[int]:
    """Live processes whose parent is this one."""
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = stat.read_text().rpartition(")")
        except OSError:
            continue
        state, parent = rest.split()[:2]
        if int(parent) == os.getpid() and state != "Z":
            found.add(int(name.split()[0]))
    return found


def ask_and_cancel(session: sqlwright.Session, question: str, moment: float) -> tuple[float, str]:
    """Seconds from the cancellation to the return, and the answer's status."""
    cancelled, times = threading.Event(), []

    def cancel() -> None:
        times.append(time.monotonic())
        cancelled.set()

    timer = threading.Timer(moment, cancel)
    timer.start()
    answer = session.ask(question, cancelled=cancelled)
    ended = time.monotonic()
    timer.cancel()
    timer.join()
    return (max(ended - times[0], 0.0) if times else 0.0), answer.status


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("database")
    parser.add_argument("question")
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    drawn = random.Random(options.seed)
    slowest, left = 0.0, False
    for place in range(options.times):
        warm = place % 2 == 1
        with sqlwright.open(options.database, models=EmbeddedModels(), record=False) as session:
            span = 2.0
            if warm:
                started = time.monotonic()
                session.ask(options.question)
                started = time.monotonic()
                session.ask(options.question)
                span = time.monotonic() - started
            took, status = ask_and_cancel(session, options.question, drawn.uniform(0, span))
        deadline = time.monotonic() + BAR
        while children() and time.monotonic() < deadline:
            time.sleep(0.01)
        remaining = children()
        left = left or bool(remaining)
        slowest = max(slowest, took)
        print(f"{'warm' if warm else 'cold'}  {took:6.3f} s  {status}  left {len(remaining)}")
    print(f"slowest {slowest:.3f} s, bar {BAR:g} s; processes left: {'yes' if left else 'none'}")
    return int(left or slowest > BAR)


if __name__ == "__main__":
    sys.exit(main())
