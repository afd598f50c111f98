"""A pooler of connections in between, which gives each transaction to any session: nothing is left
behind for others, and nothing that others left changes an answer."""

from __future__ import annotations

from collections.abc import Callable

from sqlwright.database.postgres.database import PostgresDatabase
from sqlwright.protocols import Limits, Run
from tests.servers.pooler import Pooler
from tests.servers.postgres import PostgresServer
from tests.waiting import comes

Opener = Callable[..., PostgresDatabase]
SETTINGS = (
    "default_transaction_read_only", "search_path", "lock_timeout", "statement_timeout",
    "idle_in_transaction_session_timeout", "row_security", "intervalstyle", "bytea_output",
    "client_connection_check_interval", "client_encoding", "datestyle",
)  # fmt: skip


def ask_all(database: PostgresDatabase) -> list[object]:
    """Everything that sqlwright asks a server for, once."""
    return [
        database.schema(),
        database.fingerprint() and None,
        database.size(),
        database.execute("SELECT name FROM people ORDER BY id", Run()).rows,
        database.execute("SELECT nonsense FROM people", Run()).ok,
        database.cost("SELECT * FROM people", Run()),
        database.rights(),
    ]


def test_others_find_their_session_as_it_was(pooler: Pooler, own_shop: str, opened: Opener) -> None:
    name = own_shop.rpartition("/")[2]
    with pooler.connect(name) as other:
        asked = " UNION ALL ".join(f"SELECT current_setting('{one}')" for one in SETTINGS)
        before = other.execute(asked).fetchall()
        asked_directly = ask_all(opened(own_shop))
        assert ask_all(opened(pooler.url(name))) == asked_directly
        assert other.execute(asked).fetchall() == before
        other.execute("INSERT INTO people VALUES (4, 'Di', 20)")


def test_what_others_set_changes_no_answer(pooler: Pooler, own_shop: str, opened: Opener) -> None:
    name = own_shop.rpartition("/")[2]
    database = opened(pooler.url(name), checked=False)
    with pooler.connect(name) as other:
        other.execute("CREATE SCHEMA elsewhere; CREATE TABLE elsewhere.people (name text)")
        before = [
            database.schema().tables[0].name,
            database.execute("SELECT count(*), interval '1 day 2 hours' FROM people", Run()).rows,
        ]
        other.execute(
            "SET search_path = elsewhere; SET intervalstyle = 'iso_8601'; "
            "SET standard_conforming_strings = off; SET default_transaction_read_only = off; "
            "SET statement_timeout = 0"
        )
        after = [
            database.schema().tables[0].name,
            database.execute("SELECT count(*), interval '1 day 2 hours' FROM people", Run()).rows,
        ]
        assert after == before
        refused = database.execute("SELECT * FROM people FOR UPDATE", Run()).error
        assert refused is not None
        found = database.execute(r"SELECT 'a\'", Run())
        assert found.rows == (("a\\",),)
        other.execute("RESET ALL")


def test_a_query_is_stopped_on_the_server(
    pooler: Pooler, own_shop: str, postgres_server: PostgresServer, opened: Opener
) -> None:
    name = own_shop.rpartition("/")[2]
    database = opened(pooler.url(name), checked=False)
    error = database.execute("SELECT pg_sleep(100)", Run(), limits=Limits(seconds=0.5)).error
    assert error is not None
    assert error.kind == "timeout"
    assert comes(lambda: not postgres_server.activity(name))
    assert database.execute("SELECT count(*) FROM people", Run()).rows == ((3,),)
