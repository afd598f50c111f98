"""Whether stored values leave under `schema-only`: every engine, asked by every recipe.

    python -m benchmarks.canaries
    python -m benchmarks.canaries --engines duckdb files --recipes chase chess-ir-cg-ut

A model elsewhere (on loopback, called remote) writes the queries of `tests/cases/llm`, which would
carry canaries out. Printed: of each database and recipe how many requests were sent and which
canaries were in them. Exit code 1 when any was.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.llm.canaries import DATABASES, RECIPES, Place, canaries, sent
from tests.servers import mariadb, postgres
from tests.servers.starting import running


class Servers:
    """The servers of the tests' fixtures, each started when it is first asked for."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._running: dict[str, Any] = {}

    def __call__(self, fixture: str) -> Any:
        """Raises pytest's exception where the machine has none."""
        if fixture not in self._running:
            module: Any = postgres if fixture == "postgres_server" else mariadb
            programs = module.find_programs()
            if programs is None:
                pytest.skip(f"no {fixture.partition('_')[0]} on this machine")
            started = running(module.start_server, programs, fixture[:2])
            self._running[fixture] = self._stack.enter_context(started)
        return self._running[fixture]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--engines", nargs="+", default=list(DATABASES), choices=list(DATABASES))
    parser.add_argument("--recipes", nargs="+", default=list(RECIPES), choices=list(RECIPES))
    given = parser.parse_args()
    total, leaked, began = 0, 0, time.monotonic()
    with ExitStack() as stack, pytest.MonkeyPatch.context() as patch:
        patch.setenv("SQLWRIGHT_PREPARE", "false")
        servers = Servers(stack)
        for kind, make in (
            (k, m) for engine in given.engines for k, m in DATABASES[engine].items()
        ):
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            try:
                url, queries = make(folder, servers, patch)
            except pytest.skip.Exception as missing:
                print(f"{kind}: skipped: {missing}")
                continue
            for recipe in given.recipes:
                requests = list(sent(Place(url, folder), recipe, queries))
                found = canaries(iter(requests))
                total, leaked = total + len(requests), leaked + bool(found)
                print(
                    f"{kind:<9} {recipe:<15} {len(requests):>4} requests {found or ''}", flush=True
                )
    print(f"{total:,} requests in {time.monotonic() - began:.0f} s; {leaked} runs with a canary")
    return 1 if leaked else 0


if __name__ == "__main__":
    raise SystemExit(main())
