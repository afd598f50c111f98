"""A MariaDB server of the tests' own, on loopback: fixtures `mariadb_server` and
`mariadb_database`.

The programs are the system's. One server serves a process of tests; each test makes databases and
logins of its own on it.
"""

from __future__ import annotations

import getpass
import itertools
import os
import pwd
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

START_SECONDS = 30.0
PASSWORD = "s3cret/of a: login@"
"""It has characters that a URL has to escape."""
_SETTINGS = (
    # Nothing outlives the tests, so nothing has to reach the disk.
    "--innodb-flush-log-at-trx-commit=0", "--innodb-flush-method=nosync", "--skip-log-bin",
    "--innodb-buffer-pool-size=32M", "--innodb-log-file-size=16M", "--max-connections=80",
    "--default-time-zone=+00:00", "--skip-name-resolve", "--bind-address=127.0.0.1",
)  # fmt: skip


@dataclass
class MariadbServer:
    """A running server. `pymysql` is needed to use it."""

    port: int
    socket: str
    folder: Path
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
    path = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/sbin", "/usr/local/sbin"))
    server = shutil.which("mariadbd", path=path)
    install = shutil.which("mariadb-install-db", path=path)
    return None if server is None or install is None else (server, install)


def _serving_user() -> int:
    """The user to run it as: it shouldn't be able to write where tests are told that it did."""
    return pwd.getpwnam("nobody").pw_uid if os.getuid() == 0 else os.getuid()


def _initialise(install: str, folder: Path, user: int) -> None:
    who: dict[str, Any] = {}
    if user != os.getuid():
        who = {"user": user, "group": user, "extra_groups": []}
    made = subprocess.run(
        [
            install, "--no-defaults", f"--datadir={folder / 'data'}", "--skip-test-db",
            "--auth-root-authentication-method=normal", "--innodb-log-file-size=16M",
        ],
        capture_output=True, text=True, check=False, cwd="/",
        env={"PATH": f"{os.defpath}:/usr/sbin", "LC_ALL": "C"}, **who,
    )  # fmt: skip
    if made.returncode:
        raise RuntimeError(f"mariadb-install-db: {made.stderr or made.stdout}")


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


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
    programs: tuple[str, str], folder: Path
) -> tuple[MariadbServer, Callable[[], None]]:
    """Start one in an empty folder. The second value ends it."""
    user = _serving_user()
    folder.chmod(0o755)
    os.chown(folder, user, -1)
    if not (folder / "data").exists():
        _initialise(programs[1], folder, user)
    server = MariadbServer(_free_port(), str(folder / "socket"), folder)
    log = (folder / "log").open("wb")
    keeper = subprocess.Popen(
        [
            sys.executable, "-I", "-S", str(Path(__file__).with_name("kept.py")), str(user),
            programs[0], "--no-defaults", f"--datadir={folder / 'data'}",
            f"--port={server.port}", f"--socket={server.socket}",
            f"--pid-file={folder / 'data' / 'pid'}", *_SETTINGS,
        ],
        stdin=subprocess.PIPE, stdout=log, stderr=log, env={"PATH": os.defpath, "LC_ALL": "C"},
        start_new_session=True,
    )  # fmt: skip

    def stop() -> None:
        assert keeper.stdin is not None
        keeper.stdin.close()
        keeper.wait(30)
        log.close()

    until = time.monotonic() + START_SECONDS
    while not _accepts(server):
        if keeper.poll() is not None or time.monotonic() > until:
            stop()
            raise RuntimeError(f"mariadbd: {(folder / 'log').read_text()}")
        time.sleep(0.05)
    return server, stop


@pytest.fixture(scope="session")
def mariadb_server() -> Iterator[MariadbServer]:
    """A server on loopback for all tests of this process."""
    pytest.importorskip("pymysql", reason="PyMySQL isn't installed")
    programs = find_programs()
    if programs is None:
        pytest.skip("no MariaDB: the system's package mariadb-server isn't installed")
    # A socket's path may have a hundred characters, so it isn't in the tests' own long one.
    folder = Path(tempfile.mkdtemp(prefix=f"my-{getpass.getuser()[:8]}-"))
    try:
        server, stop = start_server(programs, folder)
        try:
            yield server
        finally:
            stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def mariadb_database(mariadb_server: MariadbServer) -> Iterator[Callable[[str], str]]:
    """Makes databases from scripts, gives their names, and drops them after the test."""
    made: list[str] = []

    def make(script: str) -> str:
        made.append(mariadb_server.create(script))
        return made[-1]

    yield make
    for name in made:
        mariadb_server.drop(name)
