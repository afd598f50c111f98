"""Real servers under stress, started on loopback for as long as it takes.

    python -m benchmarks.servers [--engine postgres|mariadb] [--only PART] [--cancels 200]
        [--kills 20]

Prints a line for each part of each server: `schema`, `latency`, `questions` (PostgreSQL), then
`denials`, `cancels`, `sessions`, `kills` and `network`. A part that doesn't hold is said to fail,
and the exit code is 1.
"""

from __future__ import annotations

import argparse
import random
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.servers.faults import measure_kills, measure_network, measure_sessions
from benchmarks.servers.speed import measure_latency, measure_questions, measure_schema
from benchmarks.servers.stopping import measure_cancels, measure_denials
from tests.servers.served import ENGINES, Served, missing, serving


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--engine", choices=ENGINES)
    parser.add_argument("--only", default="")
    parser.add_argument("--cancels", type=int, default=200)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    random.seed(asked.seed)
    failed = []
    for engine in ENGINES:
        if asked.engine not in {None, engine}:
            continue
        if reason := missing(engine):
            print(f"{engine}: {reason}")
            continue
        folder = Path(tempfile.mkdtemp(prefix="bench-"))
        try:
            with serving(engine) as served:
                for name, part in parts(served, folder, asked.cancels, asked.kills).items():
                    if asked.only in {"", name} and not part():
                        failed.append(f"{engine} {name}")
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    if failed:
        raise SystemExit(f"failed: {', '.join(failed)}")


def parts(served: Served, folder: Path, cancels: int, kills: int) -> dict[str, Callable[[], bool]]:
    """What is measured of a server, by name; each prints its line and tells whether it holds."""
    speed: dict[str, Callable[[], bool]] = {}
    if served.engine == "postgres":
        speed = {
            "schema": lambda: measure_schema(served.server),
            "latency": lambda: measure_latency(served, folder),
            "questions": lambda: measure_questions(served.server, folder),
        }
    return speed | {
        "denials": lambda: measure_denials(served),
        "cancels": lambda: measure_cancels(served, cancels),
        "sessions": lambda: measure_sessions(served, kills, folder),
        "kills": lambda: measure_kills(served, kills, folder),
        "network": lambda: measure_network(served, kills),
    }


if __name__ == "__main__":
    main()
