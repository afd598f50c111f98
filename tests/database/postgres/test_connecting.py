"""Servers that can't be reached or don't admit: what is said, and that no password is."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from sqlwright.database import open_database
from sqlwright.database.postgres.database import PostgresDatabase
from sqlwright.errors import DatabaseUnavailable
from sqlwright.protocols import Run
from tests.servers.postgres import OWNER, PASSWORD, PostgresServer

Opener = Callable[..., PostgresDatabase]


@pytest.fixture
def closed_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@pytest.mark.parametrize(
    ("url", "words", "hint"),
    [
        ("postgresql://u:s3cret@127.0.0.1:{closed}/x", "refused", "server running"),
        ("postgresql://u:s3cret@no-such-host.invalid/x", "host", "host's name"),
        ("postgresql://owner:s3cret@127.0.0.1:{port}/postgres", "password", "PGPASSWORD"),
        ("postgresql://owner@127.0.0.1:{port}/postgres", "password", "PGPASSWORD"),
        ("{url}nowhere", "does not exist", "psql -l"),
        ("postgresql://u:s3cret@127.0.0.1:port/x", "can't be read", "engine://user@host:port"),
        ("postgresql://u:s3cret@127.0.0.1:{closed},127.0.0.1:1/x", "port: '1'", "server running"),
        ("postgresql://u:x@s3cret@127.0.0.1:{closed}/x", "refused", "server running"),
        ("postgresql:///x?host=/nowhere&user=u&password=s3cret", "No such file", "server running"),
        ("{url}postgres?sslmode=require", "SSL", "sslmode"),
        ("{url}postgres?sslnonsense=s3cret", "isn't known: sslnonsense", "sslmode"),
        ("{url}postgres?sslmode=s3cret", "invalid sslmode value", "postgresql://user@host"),
        ("postgresql://u:s3cret@[::1/x", "can't be read", ""),
    ],
)
def test_the_reason_and_what_to_do(
    postgres_server: PostgresServer, closed_port: int, url: str, words: str, hint: str
) -> None:
    text = url.format(port=postgres_server.port, closed=closed_port, url=postgres_server.url(""))
    with pytest.raises(DatabaseUnavailable, match=words) as caught:
        open_database(text)
    assert hint in caught.value.hint
    assert "?" not in str(caught.value)  # what to do is in the hint, and once
    said = f"{caught.value!r} {caught.value} {caught.value.hint}"
    assert "s3cret" not in said
    assert PASSWORD not in said


def test_nothing_secret_is_shown(postgres_server: PostgresServer, opened: Opener) -> None:
    database = opened(postgres_server.url())
    shown = f"{database!r} {database.url} {database.identity} {database._address!r}"
    assert "s3cret" not in shown
    assert database.url == f"postgresql://{OWNER}@127.0.0.1:{postgres_server.port}/postgres"


def test_what_the_url_leaves_out_comes_from_the_environment(
    postgres_server: PostgresServer,
    shop: str,
    opened: Opener,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PGHOST", "127.0.0.1")
    monkeypatch.setenv("PGPORT", str(postgres_server.port))
    monkeypatch.setenv("PGUSER", OWNER)
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    monkeypatch.setenv("PGDATABASE", shop.rpartition("/")[2])
    database = opened("postgresql://")
    assert database.execute("SELECT count(*) FROM people", Run()).rows == ((3,),)
    assert database.identity == opened(shop).identity


def test_passwords_and_services_come_from_their_files(
    postgres_server: PostgresServer,
    shop: str,
    opened: Opener,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    passwords, services = tmp_path / "pgpass", tmp_path / "services"
    passwords.write_text(f"127.0.0.1:*:*:{OWNER}:{PASSWORD}\n")
    passwords.chmod(0o600)
    services.write_text(
        f"[shop]\nhost=127.0.0.1\nport={postgres_server.port}\nuser={OWNER}\n"
        f"dbname={shop.rpartition('/')[2]}\n"
    )
    monkeypatch.setenv("PGPASSFILE", str(passwords))
    monkeypatch.setenv("PGSERVICEFILE", str(services))
    database = opened("postgresql://?service=shop")
    assert database.execute("SELECT count(*) FROM people", Run()).rows == ((3,),)


@pytest.mark.parametrize(
    ("options", "port"),
    [("", "{closed}"), ("?target_session_attrs=any", "{closed}"), ("?connect_timeout=2", "{mute}")],
    ids=["refused", "any", "silent"],
)
def test_another_host_stands_in_for_the_first(
    postgres_server: PostgresServer,
    shop: str,
    opened: Opener,
    closed_port: int,
    options: str,
    port: str,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:
        first = port.format(closed=closed_port, mute=mute.getsockname()[1])
        place = f"127.0.0.1:{postgres_server.port}"
        database = opened(shop.replace(place, f"127.0.0.1:{first},{place}") + options)
        assert database.execute("SELECT count(*) FROM people", Run()).rows == ((3,),)
        assert database.url.startswith(f"postgresql://{OWNER}@127.0.0.1:{first},{place}/")


def test_the_session_says_who_it_is(postgres_server: PostgresServer, opened: Opener) -> None:
    opened(postgres_server.url())
    opened(f"{postgres_server.url()}?application_name=reports")
    names = {
        name for (name,) in postgres_server.rows("SELECT application_name FROM pg_stat_activity")
    }
    assert {"sqlwright", "reports"} <= names


def test_options_of_other_clients(postgres_server: PostgresServer, opened: Opener) -> None:
    name = postgres_server.create(
        "CREATE SCHEMA sales; CREATE TABLE sales.orders (a int); CREATE TABLE other (b int)"
    )
    more = "pgbouncer=true&connection_limit=5&ApplicationName=tried&sslmode=DISABLE"
    for spelt in ("schema=sales", "currentSchema=sales", "search_path=sales,public"):
        database = opened(f"{postgres_server.url(name)}?{spelt}&{more}")
        assert database.schema().table("orders") is not None
        assert database.execute("SELECT count(*) FROM orders", Run()).rows == ((0,),)
        (note,) = database.noticed(())
        assert "aren't used here: pgbouncer, connection_limit." in note
    assert opened(postgres_server.url(name)).schema().table("sales.orders") is not None
