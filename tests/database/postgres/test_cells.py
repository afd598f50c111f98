"""Values as the server has them, through the worker."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from sqlwright.database.postgres.database import PostgresDatabase
from sqlwright.protocols import Run
from tests.database.postgres.conftest import UncheckedDatabase, parse_address
from tests.servers.postgres import PostgresServer

CASES = yaml.safe_load(
    (Path(__file__).parents[2] / "cases" / "postgres" / "cells.yaml").read_text("utf-8")
)


@pytest.fixture(scope="module")
def database(postgres_server: PostgresServer) -> Iterator[PostgresDatabase]:
    name = postgres_server.create("CREATE TYPE mood AS ENUM ('sad', 'ok')")
    with UncheckedDatabase.at(parse_address(postgres_server.url(name))) as found:
        yield found
    postgres_server.drop(name)


@pytest.mark.parametrize(("expression", "cell"), CASES, ids=[case[0] for case in CASES])
def test_cells(database: PostgresDatabase, expression: str, cell: str) -> None:
    result = database.execute(f"SELECT {expression} AS it", Run())
    assert result.error is None
    assert result.columns == ("it",)
    assert repr(result.rows[0][0]) == cell


def test_a_moment_with_a_zone_keeps_it(
    postgres_server: PostgresServer,
    postgres_database: Callable[[str], str],
    opened: Callable[..., PostgresDatabase],
) -> None:
    name = postgres_database("")
    postgres_server.run(f"ALTER DATABASE {name} SET timezone = 'Europe/Berlin'")
    found = opened(postgres_server.url(name)).execute(
        "SELECT CAST('2024-07-01 12:00+00' AS timestamptz) AS t", Run()
    )
    assert found.rows[0][0] == datetime.datetime(2024, 7, 1, 12, tzinfo=datetime.UTC)
    assert found.rows[0][0].utcoffset() == datetime.timedelta(hours=2)  # type: ignore[union-attr]


def test_text_that_is_no_utf8_is_read(
    postgres_server: PostgresServer, opened: Callable[..., PostgresDatabase]
) -> None:
    postgres_server.run("CREATE DATABASE bytes ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0")
    try:
        with postgres_server.connect("bytes") as connection:
            connection.execute("CREATE TABLE t (a text)")
            connection.execute("INSERT INTO t VALUES (convert_from('\\x636166e9', 'SQL_ASCII'))")
        database = opened(postgres_server.url("bytes"))
        assert database.execute("SELECT a FROM t", Run()).rows == (("caf\ufffd",),)
    finally:
        postgres_server.drop("bytes")
