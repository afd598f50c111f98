"""Watch processes that ask a question and live on for a while: what they send, what they leave.

    python benchmarks/network.py shop.sqlite "How many orders are open?" --seconds 25

Libraries that report to their vendors begin some ten seconds after they are loaded. `ask`, `chat`
and the Python API run side by side, each with an empty home. Exit code 1 when one of them opened a
socket, looked up a name, or left a file outside sqlwright's own folder.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from platformdirs import user_cache_path
from tests.watched import Watched, strace_problem, watch

OURS = f"home/{user_cache_path('sqlwright').relative_to(Path.home()).as_posix()}/"


def findings(seen: Watched) -> Iterator[str]:
    """What a run did that it shouldn't have."""
    if seen.code != 0:
        yield f"exit code {seen.code}: {seen.errors.strip()[-400:]}"
    yield from (f"file {name}" for name in seen.files if not name.startswith(OURS))
    yield from (f"Python: {event}" for event in seen.heard)
    yield from (f"socket {row}" for row in seen.sockets)
    yield from (f"call {call}" for call in seen.traced or ())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("database", type=Path)
    parser.add_argument("question")
    parser.add_argument("--seconds", type=float, default=25.0, help="to live on after the answer")
    given = parser.parse_args()
    database = str(given.database.absolute())
    ways = {
        "ask": ([database, given.question], ""),
        "chat": ([database], f"{given.question}\n:quit\n"),
        "open": ([database, given.question], ""),
    }
    if problem := strace_problem():
        print(f"without system calls: {problem}")
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(len(ways)) as pool:

        def run(way: str) -> Watched:
            words, stdin = ways[way]
            return watch(Path(scratch) / way, [way, *words], seconds=given.seconds, stdin=stdin)

        found = {
            way: list(findings(seen)) for way, seen in zip(ways, pool.map(run, ways), strict=True)
        }
    for way, what in found.items():
        print(f"{way:<5} {'nothing sent, nothing left' if not what else ''}")
        for line in what:
            print(f"      {line}")
    return 1 if any(found.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
