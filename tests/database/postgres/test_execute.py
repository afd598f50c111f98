"""Queries on a real server: what comes back, what is refused, what the limits cut."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path

import pytest
import yaml

from sqlwright.database.address import parse_address
from sqlwright.database.postgres.database import PostgresDatabase
from sqlwright.protocols import Limits, Run
from tests.database.postgres.conftest import SHOP, UncheckedDatabase
from tests.servers.postgres import PostgresServer
from tests.waiting import comes

Opener = Callable[..., PostgresDatabase]
REFUSED = yaml.safe_load(
    (Path(__file__).parents[2] / "cases" / "postgres" / "refused.yaml").read_text("utf-8")
)


def test_rows_and_names(database: PostgresDatabase) -> None:
    result = database.execute(
        "SELECT name, total FROM people JOIN orders ON person = id ORDER BY total", Run()
    )
    assert result.columns == ("name", "total")
    assert result.rows == (("Ann", Decimal("3.00")), ("Ann", Decimal("9.50")), ("Cy", Decimal(20)))
    assert result.whole


def test_no_rows_have_names(database: PostgresDatabase) -> None:
    result = database.execute("SELECT id, name FROM people WHERE age > 100", Run())
    assert (result.columns, result.rows, result.error) == (("id", "name"), (), None)


@pytest.mark.parametrize(
    ("sql", "cause", "name"),
    [
        ("SELECT nope FROM people", "unknown_column", "nope"),
        ("SELECT p.nope FROM people p", "unknown_column", "p.nope"),
        ("SELECT * FROM nope", "unknown_table", "nope"),
        ("SELECT nofunction(1)", "unknown_function", "nofunction"),
        ("SELECT lower(1, 2)", "unknown_function", "lower"),
        ("SELECT FROM WHERE", "syntax", ""),
        ("SELECT * FROM adults WHERE", "syntax", ""),
    ],
)
def test_causes_by_the_server(unchecked: PostgresDatabase, sql: str, cause: str, name: str) -> None:
    error = unchecked.execute(sql, Run()).error
    assert error is not None
    assert (error.kind, error.phase, error.cause, error.name) == ("sql", "prepare", cause, name)


def test_an_error_of_the_data_is_one_of_running(database: PostgresDatabase) -> None:
    error = database.execute("SELECT 1 / (age - 17) FROM people", Run()).error
    assert error is not None
    assert (error.kind, error.phase, error.cause) == ("sql", "run", "")


@pytest.fixture(scope="module")
def writable(postgres_server: PostgresServer) -> Iterator[tuple[str, PostgresDatabase]]:
    """A shop with a sequence and a function that writes: its name, and opened by its owner."""
    name = postgres_server.create(
        f"{SHOP} CREATE SEQUENCE numbers; CREATE FUNCTION adds() RETURNS int LANGUAGE sql VOLATILE "
        "SECURITY DEFINER AS 'INSERT INTO people VALUES (9, ''x'', 1) RETURNING 1'"
    )
    with UncheckedDatabase.at(parse_address(postgres_server.url(name))) as found:
        yield name, found
    postgres_server.drop(name)


@pytest.mark.parametrize("sql", REFUSED)
def test_the_connection_alone_refuses(
    postgres_server: PostgresServer, writable: tuple[str, PostgresDatabase], sql: str
) -> None:
    name, database = writable
    result = database.execute(sql, Run())
    assert result.error is not None
    assert result.error.kind in {"sql", "unsafe"}
    assert postgres_server.rows("SELECT count(*) FROM people", name) == [(3,)]
    assert postgres_server.activity(name) == []
    assert database.execute("SELECT count(*) FROM people", Run()).rows == ((3,),)


def test_a_function_of_the_databases_own_is_no_systems(
    postgres_server: PostgresServer, own_shop: str, opened: Opener
) -> None:
    postgres_server.run(
        "CREATE FUNCTION lower(int) RETURNS text LANGUAGE sql AS 'SELECT ''own''::text'",
        own_shop.rpartition("/")[2],
    )
    database = opened(own_shop)
    for sql in ("SELECT lower(7)", 'SELECT "lower" (7)', "SELECT LOWER/* a */(name) FROM people"):
        error = database.execute(sql, Run()).error
        assert error is not None
        assert error.kind == "unsafe"
        assert "the database's own" in error.message
    assert database.execute("SELECT upper('a')", Run()).rows == (("A",),)


def test_a_function_called_like_a_column_is_refused(
    postgres_server: PostgresServer, own_shop: str, opened: Opener
) -> None:
    postgres_server.run(
        "CREATE FUNCTION told(people) RETURNS text LANGUAGE sql AS 'SELECT ''own''::text'",
        own_shop.rpartition("/")[2],
    )
    database = opened(own_shop)
    assert database.execute("SELECT p.told FROM people AS p", Run()).error is not None
    assert database.execute("SELECT p.name FROM people AS p", Run()).ok


@pytest.mark.parametrize("sql", ["SELECT lo_create(0)", "SELECT lo_from_bytea(0, 'x')"])
def test_large_objects_are_rolled_back(
    postgres_server: PostgresServer, writable: tuple[str, PostgresDatabase], sql: str
) -> None:
    name, database = writable
    database.execute(sql, Run())  # refused from version 16 on
    assert postgres_server.rows("SELECT count(*) FROM pg_largeobject_metadata", name) == [(0,)]


@pytest.mark.parametrize(
    ("sql", "left"),
    [
        ("SELECT set_config('search_path', 'nowhere', false)", "SHOW search_path"),
        ("SELECT set_config('lock_timeout', '1', false)", "SHOW lock_timeout"),
        (
            "SELECT set_config('default_transaction_read_only', 'off', false)",
            "SHOW default_transaction_read_only",
        ),
        ("SELECT set_config('timezone', 'Asia/Tokyo', false)", "SHOW timezone"),
    ],
)
def test_settings_end_with_the_query(unchecked: PostgresDatabase, sql: str, left: str) -> None:
    database = unchecked
    with database.reader() as reader:
        before = list(reader.rows(left))
    assert database.execute(sql, Run()).ok
    with database.reader() as reader:
        assert list(reader.rows(left)) == before


def test_locks_end_with_the_query(
    postgres_server: PostgresServer, shop: str, unchecked: PostgresDatabase
) -> None:
    database = unchecked
    for sql in (
        "SELECT pg_advisory_lock(7) FROM people",
        "SELECT pg_advisory_lock(8), 1 / (id - id) FROM people",
    ):
        database.execute(sql, Run())
        assert (
            postgres_server.rows(
                "SELECT * FROM pg_locks JOIN pg_database d ON d.oid = database "
                f"WHERE datname = '{shop.rpartition('/')[2]}'"
            )
            == []
        )


def test_too_many_rows_are_cut(
    postgres_server: PostgresServer, shop: str, unchecked: PostgresDatabase
) -> None:
    database = unchecked
    result = database.execute(
        "SELECT generate_series(1, 100000000), repeat('x', 100)", Run(),
        limits=Limits(rows=130),
    )  # fmt: skip
    assert (len(result.rows), result.truncated) == (130, True)
    assert postgres_server.activity(shop.rpartition("/")[2]) == []


def test_too_many_bytes_are_cut(unchecked: PostgresDatabase) -> None:
    result = unchecked.execute(
        "SELECT repeat('x', 1000) FROM generate_series(1, 10000)", Run(),
        limits=Limits(rows=10_000, result_bytes=50_000),
    )  # fmt: skip
    assert (len(result.rows), result.truncated) == (50, True)


def test_large_cells_are_cut(unchecked: PostgresDatabase) -> None:
    result = unchecked.execute(
        "SELECT repeat('é', 1000), ARRAY[repeat('x', 2000)]", Run(), limits=Limits(cell_bytes=101)
    )
    assert result.rows[0][0] == "é" * 50
    assert result.shortened == ((0, 0), (0, 1))


def test_a_row_beyond_the_memory_is_an_error(unchecked: PostgresDatabase) -> None:
    database = unchecked
    limits = Limits(memory_bytes=100_000_000, seconds=20)
    error = database.execute("SELECT repeat('x', 150000000)", Run(), limits=limits).error
    assert error is not None
    assert error.kind == "memory"
    assert database.execute("SELECT 1", Run()).rows == ((1,),)


def test_a_locked_table_is_not_waited_for(
    postgres_server: PostgresServer, own_shop: str, opened: Opener
) -> None:
    database = opened(own_shop)
    database.schema()
    with postgres_server.connect(own_shop.rpartition("/")[2]) as other:
        other.execute("BEGIN; LOCK TABLE people IN ACCESS EXCLUSIVE MODE")
        error = database.execute("SELECT * FROM people", Run()).error
        assert error is not None
        assert (error.kind, error.cause) == ("unavailable", "locked")
    assert database.execute("SELECT count(*) FROM people", Run()).rows == ((3,),)


def test_costs(postgres_server: PostgresServer, own_shop: str, opened: Opener) -> None:
    name = own_shop.rpartition("/")[2]
    postgres_server.run(
        "CREATE TABLE many AS SELECT g AS id, repeat('x', 500) AS t "
        "FROM generate_series(1, 20000) g; CREATE INDEX ON many (id); ANALYZE many",
        name,
    )
    postgres_server.run("CREATE TABLE uncounted AS TABLE many", name)
    database = opened(own_shop)
    whole = database.cost("SELECT count(*) FROM many", Run())
    uncounted = database.cost("SELECT count(*) FROM uncounted", Run())
    one = database.cost("SELECT t FROM many WHERE id = 7", Run())
    few = database.cost("SELECT t FROM many LIMIT 10", Run())
    size = postgres_server.rows("SELECT pg_relation_size('many')", name)[0][0]
    assert whole.scanned_rows == 20_000
    assert whole.scanned_bytes == size
    assert uncounted.scanned_bytes == size
    assert (one.rows, one.scanned_rows, one.scanned_bytes) == (1, 1, 8192)
    assert few.scanned_bytes is not None
    assert few.scanned_bytes < size / 100
    joined = database.cost(
        "SELECT count(*) FROM many a, (SELECT id FROM many WHERE id < 11) b", Run()
    )
    assert joined.scanned_rows is not None
    assert 20_000 <= joined.scanned_rows <= 40_000
    assert any("Seq Scan on many" in line for line in whole.outline)
    assert database.cost("SELECT nope FROM many", Run()).error is not None
    assert database.cost("DELETE FROM many", Run()).error is not None


def test_the_fingerprint_follows_data_and_definitions(
    postgres_server: PostgresServer, own_shop: str, opened: Opener
) -> None:
    database = opened(own_shop)
    name = own_shop.rpartition("/")[2]
    seen = {database.fingerprint()}
    for number, change in enumerate(
        (
            "UPDATE people SET age = 32 WHERE id = 1",
            "COMMENT ON TABLE people IS 'all'",
            "ALTER TABLE people RENAME COLUMN age TO years",
            "CREATE TABLE more (a int)",
            "TRUNCATE orders",
        ),
        2,
    ):
        postgres_server.run(change, name)  # the session's end hands its counts over
        assert comes(lambda: database.fingerprint() not in seen), change
        seen.add(database.fingerprint())
        assert len(seen) == number, change
    assert database.fingerprint() in seen
    assert (database.size() or 0) > 0
