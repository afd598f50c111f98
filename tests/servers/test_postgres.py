"""The tests' own PostgreSQL: it starts, serves, and ends with whoever started it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.servers.postgres import PostgresServer
from tests.waiting import comes

STARTED = """
import sys, tempfile, time
from pathlib import Path
from tests.servers.postgres import find_programs, start_server
server, _ = start_server(find_programs(), Path(sys.argv[1]))
print(server.pid, flush=True)
time.sleep(60)
"""


def test_a_database_is_made_from_a_script(
    postgres_server: PostgresServer, postgres_database: Callable[[str], str]
) -> None:
    name = postgres_database("CREATE TABLE a (b int); INSERT INTO a VALUES (7); SELECT 1;")
    assert postgres_server.rows("SELECT b FROM a", name) == [(7,)]


def test_it_ends_with_a_killed_owner(postgres_server: PostgresServer, tmp_path: Path) -> None:
    folder = Path(f"/tmp/pg-killed-{os.getpid()}")
    folder.mkdir()
    root = Path(__file__).parents[2]
    owner = subprocess.Popen(
        [sys.executable, "-c", STARTED, str(folder)], stdout=subprocess.PIPE, cwd=root
    )
    assert owner.stdout is not None
    try:
        server = int(owner.stdout.readline())
        os.kill(server, 0)
        owner.send_signal(signal.SIGKILL)
        comes(lambda: not _lives(server))
        assert not _lives(server)
    finally:
        owner.kill()
        owner.wait()
        owner.stdout.close()
        subprocess.run(["rm", "-rf", str(folder)], check=True)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
