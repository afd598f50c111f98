"""What a worker process can't do, and the memory that it and all of them together take."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from sqlwright.database import open_database
from sqlwright.protocols import Limits, Run
from tests.database.conftest import Opener
from tests.database.test_worker import gone
from tests.waiting import comes

needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
CANARIES = (
    "OPENAI_API_KEY",
    "AWS_SECRET_ACCESS_KEY",
    "SQLWRIGHT_KEYS",
    "DATABASE_URL",
    "PGPASSWORD",
)
MEBIBYTE = 2**20
ATTEMPTS = {
    "opens a file elsewhere": "open(sys.argv[2])",
    "opens the password file": "open('/etc/passwd')",
    "lists a folder": "os.listdir('/')",
    "writes a file": "open(sys.argv[1] + '/new', 'w')",
    "writes the database": "open(sys.argv[1] + '/shop.db', 'r+b')",
    "removes the database": "os.unlink(sys.argv[1] + '/shop.db')",
    "renames it": "os.rename(sys.argv[1] + '/shop.db', sys.argv[1] + '/x.db')",
    "cuts it short": "os.truncate(sys.argv[1] + '/shop.db', 0)",
    "changes its mode": "os.chmod(sys.argv[1] + '/shop.db', 0o777)",
    "changes its times": "os.utime(sys.argv[1] + '/shop.db')",
    "links it": "os.link(sys.argv[1] + '/shop.db', sys.argv[1] + '/l.db')",
    "links symbolically": "os.symlink('/etc', sys.argv[1] + '/etc')",
    "makes a folder": "os.mkdir(sys.argv[1] + '/folder')",
    "makes a pipe": "os.mkfifo(sys.argv[1] + '/pipe')",
    "opens a socket": "socket.socket()",
    "opens a local socket": "socket.socket(socket.AF_UNIX)",
    "starts a program": "os.execv(sys.executable, [sys.executable, '-c', ''])",
    "forks": "os.fork()",
    "spawns": "os.posix_spawn(sys.executable, [sys.executable, '-c', ''], {})",
    "kills": "os.kill(os.getppid(), 0)",
    "makes a file in memory": "os.memfd_create('x')",
    "goes elsewhere": "os.chroot('/tmp')",
}


def status(pid: int, name: str) -> int:
    """A number from the system's table of processes; kilobytes as bytes."""
    for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * (1024 if line.endswith("kB") else 1)
    raise LookupError(name)


@needs_linux
@pytest.mark.parametrize("attempt", ATTEMPTS.values(), ids=ATTEMPTS)
def test_a_confined_process_can_not(attempt: str, shop: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere.txt"
    elsewhere.write_text("canary")
    code = (
        "import os, socket, sys\n"
        "from sqlwright.database.workers.confinement import confine\n"
        "open(sys.argv[2]).close()\n"
        "holds = confine(sys.argv[1])\n"
        "if not {'landlock', 'seccomp'} <= set(holds): sys.exit(77)\n"
        "open(sys.argv[1] + '/shop.db', 'rb').close()\n"
        f"try: {attempt}\n"
        "except OSError as error: print('refused', error.errno)\n"
        "else: print('done')\n"
    )
    before = shop.stat()
    done = subprocess.run(
        [sys.executable, "-c", code, str(shop.parent), str(elsewhere)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 77:
        pytest.skip("this kernel has no Landlock or no filter")
    assert done.stdout.startswith("refused"), done
    assert [path.name for path in shop.parent.iterdir()] == ["shop.db"]
    assert (shop.stat().st_mtime_ns, shop.stat().st_mode) == (before.st_mtime_ns, before.st_mode)


@needs_linux
def test_workers_are_confined(shop: Path, opened: Opener) -> None:
    database = opened(shop)
    assert database.execute("SELECT datetime('now', 'localtime')", Run()).ok
    assert "no_new_privs" in database.confinement
    for pid in database.worker_pids:
        assert status(pid, "NoNewPrivs") == 1
        assert status(pid, "Seccomp") == (2 if "seccomp" in database.confinement else 0)


@needs_linux
def test_workers_get_no_keys(shop: Path, opened: Opener, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in CANARIES:
        monkeypatch.setenv(name, "canary-of-the-environment")
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    database = opened(shop)
    result = database.execute("SELECT time(0, 'unixepoch', 'localtime')", Run())
    assert result.rows == (("05:30:00",),)
    for pid in database.worker_pids:
        held = Path(f"/proc/{pid}/environ").read_bytes()
        assert b"canary" not in held
        assert {line.split(b"=")[0] for line in held.split(b"\0") if line} <= {b"TZ", b"LC_CTYPE"}


BOMBS = {
    "texts": "SELECT group_concat(printf('%.*c', 2000000, 'x')) FROM json_each('[{}]')",
    "rows": "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
    "SELECT count(DISTINCT hex(i || i || i || i || i)) FROM n",
    "sorting": "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
    "SELECT i FROM n ORDER BY printf('%.*c', 1000, 'x') || i",
    "columns": "SELECT " + ", ".join(["printf('%.*c', 40000000, 'x')"] * 200),
    "printf": "SELECT printf('%.*c', 60000000, 'x'), printf('%.*c', 60000000, 'é')",
    "emoji": "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
    "SELECT replace(printf('%.*c', 500000, 'x'), 'x', '\U0001f600') FROM n",
}
MANY = ",".join("1" * 2000)


@needs_linux
@pytest.mark.parametrize("bomb", BOMBS)
def test_a_limit_of_memory_holds(bomb: str, shop: Path, opened: Opener) -> None:
    database = opened(shop)
    limits = Limits(seconds=2, memory_bytes=256 * MEBIBYTE, rows=10**6, result_bytes=2**30,
                    cell_bytes=2**30)  # fmt: skip
    most = []
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.005):
            for pid in database.worker_pids:
                try:
                    most.append(status(pid, "VmHWM"))
                except (OSError, LookupError):
                    continue

    watcher = threading.Thread(target=watch)
    watcher.start()
    result = database.execute(BOMBS[bomb].format(MANY), Run(), limits=limits)
    done.set()
    watcher.join()
    assert result.error is None or result.error.kind in {"memory", "timeout"}
    assert max(most) <= 256 * MEBIBYTE
    assert database.execute("SELECT 1", Run()).ok


@needs_linux
def test_memory_is_bounded_over_all_workers(shop: Path, opened: Opener) -> None:
    database = opened(shop)
    limits = Limits(seconds=20, memory_bytes=512 * MEBIBYTE)
    sums = []
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.005):
            total = 0
            for pid in database.worker_pids:
                try:
                    total += status(pid, "VmRSS")
                except (OSError, LookupError):
                    continue
            sums.append(total)

    results = []
    bomb = BOMBS["columns"]
    threads = [
        threading.Thread(
            target=lambda: results.append(database.execute(bomb, Run(), limits=limits))
        )
        for _ in range(4)
    ]
    watcher = threading.Thread(target=watch)
    watcher.start()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    done.set()
    watcher.join()
    assert [result.error and result.error.kind for result in results] == ["memory"] * 4
    assert max(sums) <= (512 + 3 * 128) * MEBIBYTE
    assert sum(status(pid, "VmRSS") for pid in database.worker_pids) <= 4 * 128 * MEBIBYTE


@needs_linux
def test_a_worker_that_stays_large_is_ended(shop: Path) -> None:
    with open_database(str(shop)) as database:
        assert database.execute("SELECT 1", Run()).ok
        before = set(database.worker_pids)
        limits = Limits(rows=10**6, result_bytes=2**30, seconds=60)
        large = (
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600000) "
            "SELECT i, hex(i) || 'text' FROM n"
        )
        assert len(database.execute(large, Run(), limits=limits).rows) == 600_000
        ended = before - set(database.worker_pids)
        assert ended
        assert all(gone(pid) for pid in ended)
        assert comes(lambda: database.worker_pids)
        assert database.execute("SELECT 1", Run()).ok


def test_a_query_that_needs_much_memory_is_answered(shop: Path, opened: Opener) -> None:
    sort = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400000) "
        "SELECT printf('%.*c', 500, 'x') || i AS x FROM n ORDER BY x DESC LIMIT 1"
    )
    result = opened(shop).execute(sort, Run(), limits=Limits(seconds=60))
    assert result.ok, result.error


@pytest.mark.parametrize("character", ["x", "é", "東", "\U0001f600"])
def test_result_bytes_are_bytes(character: str, shop: Path, opened: Opener) -> None:
    limits = Limits(result_bytes=100_000, rows=100_000)
    sql = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) "
        f"SELECT replace(printf('%.*c', 500, 'x'), 'x', '{character}') FROM n"
    )
    result = opened(shop).execute(sql, Run(), limits=limits)
    assert result.truncated
    size = sum(len(row[0].encode()) for row in result.rows)  # type: ignore[union-attr]
    assert 90_000 < size <= 100_000
