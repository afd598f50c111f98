"""What a login could do, and the statements that make one which can only read."""

from __future__ import annotations

from collections.abc import Callable

from sqlwright.database.postgres.database import PostgresDatabase
from sqlwright.database.postgres.login import reading_login
from sqlwright.protocols import Run
from tests.servers.postgres import PostgresServer

Opener = Callable[..., PostgresDatabase]


def test_the_owner_could_do_anything(database: PostgresDatabase) -> None:
    login = database.login()
    assert login.superuser
    assert login.excess
    assert login.writable == ("public.adults", "public.orders", "public.people")
    assert "pg_read_file" in login.functions
    assert any("superuser" in words for words in login.excess)


def test_what_a_login_may_do_is_listed(
    postgres_server: PostgresServer, own_shop: str, opened: Opener
) -> None:
    name = own_shop.rpartition("/")[2]
    postgres_server.run("CREATE SCHEMA notes", name)
    url = postgres_server.reader(
        name, "SELECT ON people", "INSERT ON orders", "UPDATE (age) ON people",
        "CREATE, USAGE ON SCHEMA notes", "pg_read_server_files",
        "EXECUTE ON FUNCTION pg_reload_conf",
    )  # fmt: skip
    login = opened(url).login()
    assert not login.superuser
    assert login.writable == ("public.orders", "public.people")
    assert login.owns == ()
    assert login.creates_in == ("notes",)
    assert login.roles == ("pg_read_server_files",)
    assert login.functions == ("pg_reload_conf",)
    assert len(login.excess) == 4


def test_the_statements_make_a_login_that_only_reads(
    postgres_server: PostgresServer, own_shop: str, opened: Opener
) -> None:
    name = own_shop.rpartition("/")[2]
    for role, tables in (("looks", ()), ("looks_once", (("public", "people"),))):
        script = " ".join(reading_login(name, ["public"], role, tables)).replace("'...'", "'pw'")
        postgres_server.run(script, name)
        database = opened(postgres_server.url(name, role, "pw"))
        login = database.login()
        assert login.excess == ()
        assert not login.temporary_tables
        found = {table.name for table in database.schema().tables}
        assert found == ({"people"} if tables else {"people", "orders", "adults"})
        assert database.execute("SELECT count(*) FROM people", Run()).rows == ((3,),)
    for role in ("looks", "looks_once"):
        postgres_server.run(f"DROP OWNED BY {role}; ", name)
    postgres_server.drop(name)
    postgres_server.run("DROP ROLE looks; DROP ROLE looks_once")


def test_the_statements_are_about_the_namespace_that_is_usual(
    postgres_server: PostgresServer, postgres_database: Callable[[str], str], opened: Opener
) -> None:
    name = postgres_database("CREATE SCHEMA sales; CREATE TABLE sales.orders (id int)")
    postgres_server.run(f"ALTER DATABASE {name} SET search_path = sales")
    rights = opened(postgres_server.url(name)).rights()
    assert any('GRANT USAGE ON SCHEMA "sales"' in text for text in rights.statements)
    assert not any('"public"' in text for text in rights.statements)
