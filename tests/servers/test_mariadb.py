"""The tests' own MariaDB: it starts, serves, and ends with whoever started it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.servers.mariadb import MariadbServer
from tests.waiting import comes

STARTED = """
import sys, time
from pathlib import Path
from tests.servers.mariadb import find_programs, start_server
server, _ = start_server(find_programs(), Path(sys.argv[1]))
print((server.folder / "data" / "pid").read_text().strip(), flush=True)
time.sleep(60)
"""


def test_a_database_is_made_from_a_script(
    mariadb_server: MariadbServer, mariadb_database: Callable[[str], str]
) -> None:
    name = mariadb_database("CREATE TABLE a (b int); INSERT INTO a VALUES (7)")
    assert mariadb_server.rows("SELECT b FROM a", name) == [(7,)]


def test_it_ends_with_a_killed_owner(mariadb_server: MariadbServer) -> None:
    folder = Path(f"/tmp/my-killed-{os.getpid()}")
    folder.mkdir()
    root = Path(__file__).parents[2]
    owner = subprocess.Popen(
        [sys.executable, "-c", STARTED, str(folder)], stdout=subprocess.PIPE, cwd=root
    )
    assert owner.stdout is not None
    try:
        server = int(owner.stdout.readline())
        os.kill(server, 0)
        owner.kill()
        comes(lambda: not Path(f"/proc/{server}").exists())
        assert not Path(f"/proc/{server}").exists()
    finally:
        owner.kill()
        owner.wait()
        owner.stdout.close()
        subprocess.run(["rm", "-rf", str(folder)], check=True)
