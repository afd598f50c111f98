"""The worker processes: they end when they should, and never stay behind."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from sqlwright.database import open_database
from sqlwright.protocols import Limits, Run
from tests.database.conftest import Opener
from tests.database.test_execute import ENDLESS, STUBBORN
from tests.waiting import comes


def ended(pid: int) -> bool:
    """Whether a process has ended, reaped or not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2]
    except OSError:
        return True
    return state.split()[0] == "Z"


def gone(pid: int) -> bool:
    """Whether a process ends."""
    return comes(lambda: ended(pid))


needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")


@needs_proc
def test_close_ends_it(shop: Path, opened: Opener) -> None:
    database = opened(shop)
    assert database.execute("SELECT 1", Run()).ok
    pids = database.worker_pids
    assert pids
    database.close()
    database.close()
    assert all(gone(pid) for pid in pids)
    result = database.execute("SELECT 1", Run())
    assert result.error is not None
    assert "closed" in result.error.message


@needs_proc
def test_closing_during_a_query(shop: Path, opened: Opener) -> None:
    database = opened(shop)
    results = []
    thread = threading.Thread(target=lambda: results.append(database.execute(ENDLESS, Run())))
    thread.start()
    while not database.worker_pids:
        time.sleep(0.01)
    time.sleep(0.1)
    pids = database.worker_pids
    database.close()
    thread.join()
    assert results[0].error is not None
    assert results[0].error.kind == "cancelled"
    assert all(gone(pid) for pid in pids)


@needs_proc
def test_forgetting_the_database_ends_it(shop: Path) -> None:
    database = open_database(str(shop))
    assert database.execute("SELECT 1", Run()).ok
    pids = database.worker_pids
    assert pids
    del database
    gc.collect()
    assert all(gone(pid) for pid in pids)


@needs_proc
@pytest.mark.parametrize(
    ("ending", "query"),
    [
        ("pass", "SELECT 1"),
        ("os._exit(3)", ENDLESS),
        ("os.kill(os.getpid(), 9)", STUBBORN),
        ("1 / 0", ENDLESS),
    ],
    ids=["returns", "exits", "is killed", "fails"],
)
def test_the_end_of_the_caller_ends_it(shop: Path, ending: str, query: str) -> None:
    code = (
        "import os, sys, threading, time\n"
        "from sqlwright.database import open_database\n"
        "from sqlwright.protocols import Run\n"
        "database = open_database(sys.argv[1])\n"
        "assert database.execute('SELECT 1', Run()).ok\n"
        f"t = threading.Thread(target=database.execute, args=({query!r}, Run()), daemon=True)\n"
        "t.start()\n"
        "time.sleep(0.1)\n"
        "print(*database.worker_pids, flush=True)\n"
        f"{ending}\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(shop)], capture_output=True, text=True, check=False
    )
    pids = [int(pid) for pid in done.stdout.split()]
    assert pids
    assert all(gone(pid) for pid in pids)


@needs_proc
@pytest.mark.parametrize("asks", [True, False], ids=["asks itself", "asks nothing"])
def test_a_child_of_the_caller_does_not_keep_it(shop: Path, asks: bool) -> None:
    code = (
        "import os, sys, threading, time\n"
        "from sqlwright.database import open_database\n"
        "from sqlwright.protocols import Run\n"
        "database = open_database(sys.argv[1])\n"
        # A child can't go on with what another thread is importing at the fork: imported before.
        "database.execute('SELECT 1', Run())\n"
        f"t = threading.Thread(target=database.execute, args=({ENDLESS!r}, Run()), daemon=True)\n"
        "t.start()\n"
        "time.sleep(0.2)\n"
        "pids = database.worker_pids\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        f"    print(database.execute('SELECT 7', Run()).rows[0][0] if {asks} else 7, flush=True)\n"
        "    os.close(1)\n"
        "    os.close(2)\n"
        "    time.sleep(60)\n"
        "    os._exit(0)\n"
        "time.sleep(1)\n"
        "print(child, *pids, flush=True)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(shop)], capture_output=True, text=True, check=False
    )
    answered, child, *pids = (int(word) for word in done.stdout.split())
    try:
        assert answered == 7
        assert pids
        assert all(gone(pid) for pid in pids)
    finally:
        os.kill(child, signal.SIGKILL)


@needs_proc
def test_a_killed_worker_is_replaced(shop: Path, opened: Opener) -> None:
    database = opened(shop)
    assert database.execute("SELECT 1", Run()).ok
    pids = database.worker_pids
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
        assert gone(pid)
    assert database.execute("SELECT 2", Run()).rows == ((2,),)
    assert not set(pids) & set(database.worker_pids)


def test_workers_killed_this_moment_lose_no_query(shop: Path, opened: Opener) -> None:
    database = opened(shop)
    for _ in range(20):
        assert database.execute("SELECT 1", Run()).ok
        for pid in database.worker_pids:
            os.kill(pid, signal.SIGKILL)
        assert database.execute("SELECT 2", Run()).rows == ((2,),)


@needs_proc
def test_several_killed_workers_are_replaced(shop: Path, opened: Opener) -> None:
    database = opened(shop)
    # A query over a tenth of a second gets a spare worker started beside it.
    until = time.monotonic() + 20
    while len(database.worker_pids) < 2 and time.monotonic() < until:
        database.execute(ENDLESS, Run(), limits=Limits(seconds=0.4))
    pids = database.worker_pids
    assert len(pids) >= 2
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
        assert gone(pid)
    assert database.execute("SELECT 2", Run()).rows == ((2,),)


def test_a_worker_killed_during_a_query_is_an_error(shop: Path, opened: Opener) -> None:
    database = opened(shop)
    assert database.execute("SELECT 1", Run()).ok

    def kill_all() -> None:
        for pid in database.worker_pids:
            os.kill(pid, signal.SIGKILL)

    timer = threading.Timer(0.3, kill_all)
    timer.start()
    result = database.execute(ENDLESS, Run())
    timer.join()
    assert result.error is not None
    assert result.error.kind == "memory"
    assert database.execute("SELECT 1", Run()).ok


def test_a_stopped_worker_does_not_hang_the_caller(shop: Path, opened: Opener) -> None:
    database = opened(shop)
    assert database.execute("SELECT 1", Run()).ok
    for pid in database.worker_pids:
        os.kill(pid, signal.SIGSTOP)
    result = database.execute("SELECT 1", Run(seconds=0.2))
    assert result.error is not None
    assert result.error.kind == "cancelled"
    assert database.execute("SELECT 1", Run()).ok


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_after_a_fork_each_process_has_its_own(shop: Path) -> None:
    code = (
        "import os, sys\n"
        "from sqlwright.database import open_database\n"
        "from sqlwright.protocols import Run\n"
        "database = open_database(sys.argv[1])\n"
        "assert database.execute('SELECT 1', Run()).ok\n"
        "child = os.fork()\n"
        "ok = [database.execute(f'SELECT {i}', Run()).rows == ((i,),) for i in range(20)]\n"
        "if not child: os._exit(0 if all(ok) else 1)\n"
        "status = os.waitpid(child, 0)[1]\n"
        "sys.exit(0 if all(ok) and status == 0 else 1)\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, str(shop)], capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_worker_cannot_write_files(shop: Path, tmp_path: Path) -> None:
    """Even if both layers failed: the process may not make any file grow."""
    code = (
        "from sqlwright.database.workers.confinement import _lower_limits\n"
        "import signal\n"
        "_lower_limits()\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "import os\n"
        f"os.write(os.open({str(tmp_path / 'x')!r}, os.O_CREAT | os.O_WRONLY), b'x')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "File too large" in done.stderr


def test_the_reader_can_be_interrupted(shop: Path, opened: Opener) -> None:
    with opened(shop).reader() as connection:
        timer = threading.Timer(0.1, connection.interrupt)
        timer.start()
        with pytest.raises(Exception, match="interrupted"):
            list(connection.rows(ENDLESS))
        timer.join()
        assert list(connection.rows("SELECT ?", (1,))) == [(1,)]


@needs_proc
def test_a_query_stopped_early_leaves_no_reply_for_the_next(shop: Path, opened: Opener) -> None:
    """A worker that is slow to take a query in answers it after its caller has given up."""
    database = opened(shop)
    for number in range(12):
        expected = ((number,),)
        assert database.execute(f"SELECT {number}", Run()).rows == expected
        pids = database.worker_pids
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        wakes = [threading.Timer(0.055, os.kill, (pid, signal.SIGCONT)) for pid in pids]
        for wake in wakes:
            wake.start()
        database.execute("SELECT 'stopped'", Run(seconds=0.015))
        for wake in wakes:
            wake.join()
        assert database.execute(f"SELECT {number}", Run()).rows == expected
