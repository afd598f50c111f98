"""Servers that encrypt, with certificates of an authority made here: what the URL asks for is kept,
what doesn't hold is said, and no password is."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sqlwright.database import open_database
from sqlwright.errors import DatabaseUnavailable
from sqlwright.protocols import Run
from tests.servers import certificates, mariadb, postgres
from tests.servers.certificates import HOST, Certificates
from tests.servers.served import missing
from tests.servers.starting import running, serving_user

ENCRYPTED = {
    "mariadb": [
        "", "ssl_mode=REQUIRED", "ssl-mode=required", "sslmode=require", "ssl=true",
        "ssl_ca={ca}", "ssl_ca={ca}&ssl_verify_cert=true",
        "ssl_ca={ca}&ssl_verify_identity=1", "ssl_ca={ca}&ssl_check_hostname=true",
        "ssl-ca={ca}&ssl-mode=VERIFY_CA", "ssl_ca={ca}&sslMode=VERIFY_IDENTITY",
        "ssl_ca={ca}&sslmode=verify-full",
    ],
    "postgres": [
        "", "sslmode=require", "sslmode=verify-ca&sslrootcert={ca}",
        "sslmode=verify-full&sslrootcert={ca}",
    ],
}  # fmt: skip
"""Parameters of a URL with which a login that must be encrypted is admitted."""
CHECKED_BY_ADDRESS = {
    "mariadb": ["ssl_ca={ca}", "ssl_mode=required"],
    "postgres": ["sslmode=verify-ca&sslrootcert={ca}", "sslmode=require"],
}
"""Those that don't look at the host's name."""
REFUSED = {
    "mariadb": [
        ("ssl_ca={other}", HOST, "certificate verify failed"),
        ("ssl_mode=verify_ca", HOST, "certificate verify failed"),
        ("ssl_verify_cert=true", HOST, "certificate verify failed"),
        ("ssl_ca={ca}&ssl_verify_identity=true", "127.0.0.1", "not valid for '127.0.0.1'"),
        ("ssl_ca={ca}&ssl_mode=verify_identity", "127.0.0.1", "not valid for '127.0.0.1'"),
        ("ssl_mode=required&ssl_ca={other}", HOST, "certificate verify failed"),
        ("ssl_mode=preferred&ssl_verify_cert=true", HOST, "certificate verify failed"),
        ("ssl_ca={ca}.missing", HOST, "certificates that the URL names"),
        ("ssl_disabled=true", HOST, "Access denied"),
        ("sslmode=disable", HOST, "Access denied"),
    ],
    "postgres": [
        ("sslmode=verify-full&sslrootcert={other}", HOST, "certificate verify failed"),
        ("sslmode=verify-ca&sslrootcert={other}", HOST, "certificate verify failed"),
        ("sslmode=verify-full&sslrootcert={ca}", "127.0.0.1", "does not match host name"),
        ("sslmode=verify-full&sslrootcert={ca}.missing", HOST, "does not exist"),
        ("sslmode=disable", HOST, "no encryption"),
    ],
}
Server = Any


@dataclass(frozen=True)
class Encrypting:
    """A server with a certificate, and the URL of a login that is admitted by TLS alone."""

    engine: str
    url: str
    files: Certificates
    encrypted: Callable[[], int]
    """The number of sessions of that login which are encrypted now."""

    def at(self, parameters: str, host: str = HOST) -> str:
        """The URL with some parameters, by some name of this machine."""
        given = parameters.format(ca=self.files.authority, other=self.files.other)
        return f"{self.url.replace('@127.0.0.1:', f'@{host}:')}?{given}"


@pytest.fixture(scope="module")
def files() -> Iterator[Certificates]:
    if reason := certificates.missing():
        pytest.skip(reason)
    # Not in the tests' own folder, which the server's user may not enter.
    with tempfile.TemporaryDirectory(prefix="tls-") as made:
        Path(made).chmod(0o755)
        yield certificates.make(Path(made) / "files", serving_user())


@pytest.fixture(scope="module")
def of_mariadb(files: Certificates) -> Iterator[Encrypting]:
    if reason := missing("mariadb"):
        pytest.skip(reason)
    programs = mariadb.find_programs()
    assert programs is not None
    options = (
        f"--ssl-ca={files.authority}",
        f"--ssl-cert={files.server}",
        f"--ssl-key={files.key}",
    )

    def start(found: tuple[str, str], folder: Path) -> tuple[Server, Callable[[], None]]:
        return mariadb.start_server(found, folder, options=options)

    with running(start, programs, "my") as server:
        name = server.create("CREATE TABLE a (b INT); INSERT INTO a VALUES (7)")
        login = server.login(f"SELECT ON {name}.*")
        server.run(f"ALTER USER {login}@'%' REQUIRE SSL")

        def encrypted() -> int:
            return len(
                server.rows(f"SELECT 1 FROM information_schema.PROCESSLIST WHERE USER = '{login}'")
            )

        yield Encrypting("mariadb", server.url(name, login), files, encrypted)


@pytest.fixture(scope="module")
def of_postgres(files: Certificates) -> Iterator[Encrypting]:
    if reason := missing("postgres"):
        pytest.skip(reason)
    options = (
        "-c",
        "ssl=on",
        "-c",
        f"ssl_cert_file={files.server}",
        "-c",
        f"ssl_key_file={files.key}",
    )

    def start(found: Path, folder: Path) -> tuple[Server, Callable[[], None]]:
        return postgres.start_server(found, folder, options=options)

    programs = next(filter(_encrypts, postgres.all_programs()), None)
    if programs is None:
        pytest.skip("no PostgreSQL here was built with TLS")
    with running(start, programs, "pg") as server:
        yield from _encrypting(server, files)


def _encrypts(programs: Path) -> bool:
    """True for programs that were built with TLS."""
    asked = programs / "pg_config"
    if not asked.exists():
        return False
    told = subprocess.run([str(asked), "--configure"], capture_output=True, text=True, check=False)
    return "ssl" in told.stdout


def _encrypting(server: postgres.PostgresServer, files: Certificates) -> Iterator[Encrypting]:
    name = server.create("CREATE TABLE a (b int); INSERT INTO a VALUES (7)")
    url = server.reader(name, "SELECT ON a")
    login = url.partition("://")[2].partition(":")[0]
    rules = server.folder / "data" / "pg_hba.conf"
    kept = rules.read_text()
    rules.write_text(f"hostnossl all {login} all reject\n{kept}")
    server.run("SELECT pg_reload_conf()")

    def encrypted() -> int:
        return len(
            server.rows(
                "SELECT 1 FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) "
                f"WHERE ssl AND usename = '{login}'"
            )
        )

    yield Encrypting("postgres", url, files, encrypted)


@pytest.fixture(params=["mariadb", "postgres"])
def encrypting(request: pytest.FixtureRequest) -> Encrypting:
    """Each server in turn."""
    found: Encrypting = request.getfixturevalue(f"of_{request.param}")
    return found


def test_what_the_url_asks_for_is_kept(encrypting: Encrypting) -> None:
    asked = [(one, HOST) for one in ENCRYPTED[encrypting.engine]]
    asked += [(one, "127.0.0.1") for one in CHECKED_BY_ADDRESS[encrypting.engine]]
    for parameters, host in asked:
        with open_database(encrypting.at(parameters, host)) as database:
            assert database.execute("SELECT b FROM a", Run()).rows == ((7,),), parameters
            assert encrypting.encrypted(), parameters


def test_what_does_not_hold_is_said_without_the_password(encrypting: Encrypting) -> None:
    secret = encrypting.url.partition("//")[2].partition(":")[2].rpartition("@")[0]
    for parameters, host, said in REFUSED[encrypting.engine]:
        with pytest.raises(DatabaseUnavailable, match=said) as caught:
            open_database(encrypting.at(parameters, host)).close()
        told = f"{caught.value!r} {caught.value} {caught.value.hint}"
        assert caught.value.hint, parameters
        assert "ssl" in caught.value.hint or "denied" in said, told
        assert secret not in told
        assert mariadb.PASSWORD not in told
