"""What a worker that reads DuckDB files can't do."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from sqlwright.protocols import Limits, Run
from sqlwright.types import ExecutionResult
from tests.database.duckdb.conftest import Opener, ask
from tests.database.duckdb.test_denials import used_seconds
from tests.database.test_confinement import ATTEMPTS, status
from tests.waiting import comes

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")


def test_workers_are_confined(shop: Path, opened: Opener) -> None:
    database = opened(shop)
    assert ask(database, "SELECT count(*) FROM people").ok
    assert {"limits", "no_new_privs"} <= set(database.confinement)
    # One that is just being started isn't yet.
    assert comes(lambda: all(status(pid, "NoNewPrivs") for pid in database.worker_pids))
    for pid in database.worker_pids:
        assert status(pid, "Seccomp") == (2 if "seccomp" in database.confinement else 0)


@pytest.mark.parametrize("attempt", ATTEMPTS.values(), ids=ATTEMPTS)
def test_the_process_alone_can_not(attempt: str, shop: Path, tmp_path: Path) -> None:
    """Once the library is loaded and a file is open."""
    elsewhere = tmp_path / "elsewhere.txt"
    elsewhere.write_text("canary")
    shop = shop.rename(shop.with_name("shop.db"))
    code = (
        "import os, socket, sys\n"
        "from sqlwright.database.duckdb.engine import ENGINE\n"
        "open(sys.argv[2]).close()\n"
        "holds = ENGINE.start(sys.argv[1])\n"
        "if not {'landlock', 'seccomp'} <= set(holds): sys.exit(77)\n"
        "ENGINE.set_memory(200_000_000)\n"
        "trusted = ENGINE.trusted({'file': sys.argv[1] + '/shop.db'})\n"
        "assert list(trusted.rows('SELECT count(*) FROM people')) == [(3,)]\n"
        f"try: {attempt}\n"
        "except OSError as error: print('refused', error.errno)\n"
        "else: print('done')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(shop.parent), str(elsewhere)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode == 77:
        pytest.skip("this kernel has no Landlock or no filter")
    assert done.stdout.startswith("refused"), done
    assert [path.name for path in shop.parent.iterdir()] == ["shop.db"]


ENDLESS = "SELECT count(*) FROM range(100000000000) AS a, range(100000) AS b"


@pytest.mark.parametrize("ended", [signal.SIGABRT, signal.SIGSEGV])
def test_a_process_that_ends_for_want_of_memory_is_followed_by_one_that_has_more(
    ended: signal.Signals, shop: Path, opened: Opener
) -> None:
    """A library's thread that gets no memory ends the process, so here the test does."""
    database = opened(shop)
    found: list[ExecutionResult] = []
    run = Run(limits=Limits(seconds=600))
    thread = threading.Thread(target=lambda: found.append(database.execute(ENDLESS, run)))
    assert ask(database, "SELECT 1").ok
    thread.start()
    killed: set[int] = set()

    def has_ended() -> bool:
        """End whoever computes, as long as something does."""
        for pid in database.worker_pids:
            if used_seconds(pid) > 100:
                killed.add(pid)
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, ended)
        return not thread.is_alive()

    assert comes(has_ended)
    assert len(killed) >= 2
    assert found[0].error is not None
    assert (found[0].error.kind, "memory" in found[0].error.message) == ("memory", True)
