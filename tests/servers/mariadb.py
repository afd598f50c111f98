"""A MariaDB server of the tests' own, on loopback: fixtures `mariadb_server` and
`mariadb_database`.

The programs are the system's. One server serves a process of tests; each test makes databases and
logins of its own on it.
"""

from __future__ import annotations

import itertools
import os
import secrets
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.servers.starting import databases, free_port, running, serving_user, start_kept

PASSWORD = "s3cret/of a: login@"
"""It has characters that a URL has to escape."""
_SETTINGS = (
    # Nothing outlives the tests, so nothing has to reach the disk; but what is committed is there
    # when the server is killed and started again.
    "--innodb-flush-log-at-trx-commit=2", "--innodb-flush-method=nosync", "--skip-log-bin",
    "--innodb-buffer-pool-size=32M", "--innodb-log-file-size=16M", "--max-connections=80",
    "--default-time-zone=+00:00", "--skip-name-resolve", "--bind-address=127.0.0.1",
    # Else the databases of many tests would make it forget when tables were changed.
    "--table-definition-cache=20000",
)  # fmt: skip


@dataclass
class MariadbServer:
    """A running server. `pymysql` is needed to use it."""

    port: int
    socket: str
    folder: Path
    pid: int = 0
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def connect(self, database: str | None = None, **options: Any) -> Any:
        """A connection of the administrator's, which commits by itself."""
        import pymysql

        return pymysql.connect(
            unix_socket=self.socket,
            user="root",
            database=database,
            autocommit=True,
            ssl_disabled=True,
            **options,
        )

    def run(self, script: str, database: str | None = None) -> None:
        """Run some statements as the administrator."""
        from pymysql.constants import CLIENT

        connection = self.connect(database, client_flag=CLIENT.MULTI_STATEMENTS)
        try:
            with connection.cursor() as cursor:
                cursor.execute(script)
                while cursor.nextset():
                    pass
        finally:
            connection.close()

    def rows(self, sql: str, database: str | None = None) -> list[tuple[Any, ...]]:
        """The rows of one query, as the administrator."""
        connection = self.connect(database)
        try:
            with connection.cursor() as cursor:
                cursor.execute(sql)
                return list(cursor.fetchall())
        finally:
            connection.close()

    def create(self, script: str = "") -> str:
        """Make a new database, fill it by a script; its name."""
        name = f"db{next(self._numbers)}"
        self.run(f"CREATE DATABASE {name} CHARACTER SET utf8mb4")
        if script:
            self.run(script, name)
        return name

    def drop(self, name: str) -> None:
        """Remove a database."""
        self.run(f"DROP DATABASE IF EXISTS `{name}`")

    def url(self, database: str, user: str, password: str = PASSWORD) -> str:
        """The URL of a database, password included."""
        return f"mysql://{user}:{quote(password, safe='')}@127.0.0.1:{self.port}/{database}"

    def login(self, *grants: str) -> str:
        """Make a login with some grants ("SELECT ON shop.*"); its name, which is in no other's
        name."""
        name = f"login_{secrets.token_hex(6)}"
        self.run(f"CREATE USER {name}@'%' IDENTIFIED BY '{PASSWORD}'")
        for grant in grants:
            self.run(f"GRANT {grant} TO {name}@'%'")
        return name

    def reader(self, database: str) -> str:
        """The URL for a new login that may read a database and nothing else."""
        return self.url(database, self.login(f"SELECT, SHOW VIEW ON `{database}`.*"))

    def owner(self, database: str) -> str:
        """The URL for a new login that may do everything on the server."""
        return self.url(database, self.login("ALL ON *.*"))

    def running(self, user: str) -> list[tuple[Any, ...]]:
        """What logins whose names begin so are running: command, state, statement."""
        return self.rows(
            "SELECT COMMAND, STATE, INFO FROM information_schema.PROCESSLIST "
            f"WHERE USER LIKE '{user}%' AND COMMAND <> 'Sleep' AND INFO IS NOT NULL"
        )


def find_programs() -> tuple[str, str] | None:
    """The server and what makes its folder; None where they aren't there."""
    server = shutil.which("mariadbd")
    install = shutil.which("mariadb-install-db")
    return None if server is None or install is None else (server, install)


def _initialise(install: str, folder: Path, user: int) -> None:
    who: dict[str, Any] = {}
    if user != os.getuid():
        who = {"user": user, "group": user, "extra_groups": []}
    made = subprocess.run(
        [
            install, "--no-defaults", f"--datadir={folder / 'data'}", "--skip-test-db",
            "--auth-root-authentication-method=normal", "--innodb-log-file-size=16M",
            f"--tmpdir={folder}",  # a server that starts removes what others have in a shared one
        ],
        capture_output=True, text=True, check=False, cwd="/",
        env={"PATH": f"{os.defpath}:/usr/sbin", "LC_ALL": "C"}, **who,
    )  # fmt: skip
    if made.returncode:
        raise RuntimeError(f"mariadb-install-db: {made.stderr or made.stdout}")


def _accepts(server: MariadbServer) -> bool:
    import pymysql

    with socket.socket(socket.AF_UNIX) as tried:
        if tried.connect_ex(server.socket):
            return False
    try:
        server.connect(connect_timeout=5).close()
    except pymysql.MySQLError:
        return False
    return True


def start_server(
    programs: tuple[str, str], folder: Path, port: int = 0, options: Sequence[str] = ()
) -> tuple[MariadbServer, Callable[[], None]]:
    """Start one in an empty folder, or again in one that it ran in; with more options of the
    program's. The second value ends it."""
    user = serving_user()
    folder.chmod(0o755)
    os.chown(folder, user, -1)
    if not (folder / "data").exists():
        _initialise(programs[1], folder, user)
    server = MariadbServer(port or free_port(), str(folder / "socket"), folder)
    command = (
        programs[0], "--no-defaults", f"--datadir={folder / 'data'}",
        f"--port={server.port}", f"--socket={server.socket}",
        f"--pid-file={folder / 'data' / 'pid'}", f"--tmpdir={folder}", *_SETTINGS, *options,
    )  # fmt: skip
    stop = start_kept(command, user, folder, lambda: _accepts(server))
    server.pid = int((folder / "data" / "pid").read_text())
    return server, stop


@pytest.fixture(scope="session")
def mariadb_server() -> Iterator[MariadbServer]:
    """A server on loopback for all tests of this process."""
    pytest.importorskip("pymysql", reason="PyMySQL isn't installed")
    programs = find_programs()
    if programs is None:
        pytest.skip("no MariaDB: the system's package mariadb-server isn't installed")
    with running(start_server, programs, "my") as server:
        yield server


@pytest.fixture
def mariadb_database(mariadb_server: MariadbServer) -> Iterator[Callable[[str], str]]:
    """Makes databases from scripts, gives their names, and drops them after the test."""
    with databases(mariadb_server) as make:
        yield make
