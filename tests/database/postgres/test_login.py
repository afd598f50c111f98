"""What a login could do, and the documented statements that make one which can only read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from sqlwright.database.postgres.database import PostgresDatabase
from sqlwright.protocols import Run
from tests.servers.postgres import PostgresServer

Opener = Callable[..., PostgresDatabase]
PAGE = Path(__file__).parents[3] / "docs" / "engines.md"


def test_the_owner_could_do_anything(database: PostgresDatabase) -> None:
    rights = database.rights()
    assert "it is a superuser: nothing on the server is out of its reach" in rights.more
    assert "it may write to public.adults, public.orders, public.people" in rights.more
    assert "it owns public.adults, public.orders, public.people" in rights.more
    assert any("pg_read_file" in words for words in rights.more if words.startswith("it may call"))


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
    assert opened(url).rights().more == (
        "it has the roles pg_read_server_files",
        "it may write to public.orders, public.people",
        "it may create tables in notes",
        "it may call pg_reload_conf",
    )


def test_a_long_list_is_cut(postgres_server: PostgresServer, own_shop: str, opened: Opener) -> None:
    name = own_shop.rpartition("/")[2]
    made = "; ".join(f"CREATE TABLE t{n:02} (id int)" for n in range(21))
    postgres_server.run(made, name)
    url = postgres_server.reader(name, *(f"INSERT ON t{n:02}" for n in range(21)))
    (words,) = opened(url).rights().more
    assert words.endswith("public.t18, public.t19 and more")


def test_the_documented_statements_make_a_login_that_only_reads(
    postgres_server: PostgresServer, own_shop: str, opened: Opener
) -> None:
    name = own_shop.rpartition("/")[2]
    script = PAGE.read_text("utf-8").partition("```sql\nCREATE ROLE")[2].partition("```")[0]
    script = f"CREATE ROLE{script}".replace("DATABASE shop", f"DATABASE {name}")
    some = script.replace("ALL TABLES IN SCHEMA public", "public.people")
    some = "".join(line for line in some.splitlines(True) if "DEFAULT PRIV" not in line)
    for role, written, tables in (
        ("looks", script, {"people", "orders", "adults"}),
        ("looks_once", some, {"people"}),
    ):
        postgres_server.run(written.replace("sqlwright_reader", role).replace("...", "pw"), name)
        database = opened(postgres_server.url(name, role, "pw"))
        assert database.rights().more == ()
        assert {table.name for table in database.schema().tables} == tables
        assert database.execute("SELECT count(*) FROM people", Run()).rows == ((3,),)
    for role in ("looks", "looks_once"):
        postgres_server.run(f"DROP OWNED BY {role}; ", name)
    postgres_server.drop(name)
    postgres_server.run("DROP ROLE looks; DROP ROLE looks_once")
