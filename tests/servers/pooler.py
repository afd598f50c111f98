"""PgBouncer before the tests' PostgreSQL server: the fixture `pooler`.

It hands a session of the server to a client for one transaction, then to the next client, as
poolers of many hosted servers do: what a client leaves in the session, others find there.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from tests.servers.postgres import OWNER, PASSWORD, PostgresServer
from tests.servers.starting import free_port, serving_user, start_kept

PLACES = ("/usr/sbin/pgbouncer", "/usr/local/sbin/pgbouncer", "/opt/homebrew/bin/pgbouncer")
_SETTINGS = """
[databases]
* = host=127.0.0.1 port={server}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
auth_type = plain
auth_file = {folder}/users
unix_socket_dir =
pool_mode = transaction
default_pool_size = {size}
ignore_startup_parameters = extra_float_digits
"""


@dataclass(frozen=True)
class Pooler:
    """A running PgBouncer, which lends out so many sessions of the server."""

    port: int

    def url(self, database: str) -> str:
        """The URL of a database by way of the pooler, password included."""
        return f"postgresql://{OWNER}:{quote(PASSWORD, safe='')}@127.0.0.1:{self.port}/{database}"

    def connect(self, database: str) -> Any:
        """A client that commits by itself, as an application's would be."""
        import psycopg

        return psycopg.connect(self.url(database), autocommit=True, prepare_threshold=None)


def find_program() -> str | None:
    """The program; None where it isn't installed."""
    found = shutil.which("pgbouncer")
    return found or next((place for place in PLACES if Path(place).exists()), None)


@contextmanager
def started(server: PostgresServer, program: str, size: int = 1) -> Iterator[Pooler]:
    """A pooler before a server, for as long as the block runs."""
    user, port = serving_user(), free_port()
    with tempfile.TemporaryDirectory(prefix="pooler-") as made:
        folder = Path(made)
        folder.chmod(0o755)
        (folder / "users").write_text(f'"{OWNER}" "{PASSWORD}"\n', "utf-8")
        settings = _SETTINGS.format(server=server.port, port=port, folder=folder, size=size)
        (folder / "settings").write_text(settings, "utf-8")
        for path in (folder, *folder.iterdir()):
            os.chown(path, user, -1)
        pooler = Pooler(port)
        stop = start_kept([program, str(folder / "settings")], user, folder, _accepting(pooler))
        try:
            yield pooler
        finally:
            stop()


def _accepting(pooler: Pooler) -> Callable[[], bool]:
    import psycopg

    def accepts() -> bool:
        try:
            pooler.connect("postgres").close()
        except psycopg.OperationalError:
            return False
        return True

    return accepts


@pytest.fixture(scope="module")
def pooler(postgres_server: PostgresServer) -> Iterator[Pooler]:
    """A pooler with one session of the server, which all clients share in turn."""
    program = find_program()
    if program is None:
        pytest.skip("no PgBouncer is installed")
    with started(postgres_server, program) as found:
        yield found
