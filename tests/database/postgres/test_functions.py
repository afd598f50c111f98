"""Functions and enumerations of the database's own on PostgreSQL: what is named may be used."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from sqlwright.database.address import parse_address
from sqlwright.database.postgres.database import PostgresDatabase
from sqlwright.errors import ConfigError, UnsafeQuery
from sqlwright.protocols import Limits, Run
from sqlwright.types.functions import OwnFunction
from tests.database.named import attacks, read, shown
from tests.database.postgres.conftest import Opener, UncheckedDatabase
from tests.servers.postgres import PostgresServer

CASES = read("postgres")
ATTACKS = attacks(CASES)


@pytest.fixture(scope="module")
def url(postgres_server: PostgresServer) -> Iterator[str]:
    name = postgres_server.create(CASES["script"])
    yield postgres_server.url(name)
    postgres_server.drop(name)


@pytest.fixture(scope="module")
def named(url: str) -> Iterator[PostgresDatabase]:
    with PostgresDatabase.at(parse_address(url), functions=CASES["functions"]) as found:
        yield found


@pytest.mark.parametrize("case", CASES["passes"], ids=lambda case: case["sql"][:60])
def test_what_is_named_may_be_used(case: dict, named: PostgresDatabase) -> None:
    assert shown(named.execute(case["sql"], Run())) == case["rows"]


@pytest.mark.parametrize("sql", ATTACKS)
def test_nothing_else_may(sql: str, named: PostgresDatabase) -> None:
    with pytest.raises(UnsafeQuery):
        named.check(sql)


def test_many_of_the_attacks_would_work_without_the_check(url: str) -> None:
    """Else they would prove little."""
    with UncheckedDatabase.at(parse_address(url), functions=CASES["functions"]) as unchecked:
        found = [unchecked.execute(sql, Run(), limits=Limits(seconds=0.2)) for sql in ATTACKS]
    assert sum("canary-4711" in str(one.rows) for one in found) >= 25
    assert sum(one.ok for one in found) >= 40


@pytest.mark.parametrize("case", CASES["refused"], ids=lambda case: case["name"])
def test_a_name_that_is_not_there(case: dict, url: str) -> None:
    with pytest.raises(ConfigError, match=case["says"]) as caught:
        PostgresDatabase.at(parse_address(url), functions=[case["name"]])
    assert "net_price" in caught.value.hint


def test_functions_are_told_with_what_naming_them_means(named: PostgresDatabase) -> None:
    told = {one.shown: one for one in named.functions}
    prices = [one for one in named.functions if one.name == "net_price"]
    assert [one.arguments for one in prices] == [
        "total numeric",
        "total numeric, rate numeric",
    ]
    assert prices[0] == OwnFunction(
        "net_price", "", "total numeric", "numeric", "A price without tax", ()
    )
    assert told["sales.tax"].cautions == (
        "it runs with the rights of owner, its owner",
        "it is volatile: it may do anything that a read-only transaction allows",
    )
    assert "public.lower" in told  # its name alone may be the system's
    assert told["sales.items"].result == "TABLE(item integer, price numeric)"


def test_a_name_that_two_reach_needs_its_namespace(
    postgres_server: PostgresServer, postgres_database: Callable[[str], str], opened: Opener
) -> None:
    name = postgres_database(
        "CREATE SCHEMA other; CREATE FUNCTION f(numeric) RETURNS int LANGUAGE sql AS 'SELECT 1';"
        "CREATE FUNCTION other.f(int) RETURNS int LANGUAGE sql AS 'SELECT 2';"
    )
    postgres_server.run(f"ALTER DATABASE {name} SET search_path = public, other")
    one = opened(postgres_server.url(name), functions=["f"])
    with pytest.raises(UnsafeQuery, match="the database's own"):
        one.check("SELECT f(1)")
    assert one.execute("SELECT public.f(1)", Run()).rows == ((1,),)
    both = opened(postgres_server.url(name), functions=["f", "other.f"])
    assert both.execute("SELECT f(1), f(1.5), public.f(1)", Run()).rows == ((2, 1, 1),)


def test_what_an_extension_brings_is_not_reached_by_a_named_ones_name(
    postgres_server: PostgresServer, postgres_database: Callable[[str], str], opened: Opener
) -> None:
    extensions = postgres_server.rows("SELECT name FROM pg_available_extensions")
    if ("unaccent",) not in extensions:
        pytest.skip("the server has no extension unaccent")
    name = postgres_database(
        "CREATE EXTENSION unaccent; CREATE SCHEMA own;"
        "CREATE FUNCTION own.unaccent(int) RETURNS int LANGUAGE sql AS 'SELECT 1';"
    )
    postgres_server.run(f"ALTER DATABASE {name} SET search_path = public, own")
    one = opened(postgres_server.url(name), functions=["own.unaccent"])
    with pytest.raises(UnsafeQuery):
        one.check("SELECT unaccent('é')")
    assert one.execute("SELECT own.unaccent(1)", Run()).rows == ((1,),)
    two = opened(postgres_server.url(name), functions=["unaccent"])
    assert two.execute("SELECT public.unaccent('é')", Run()).rows == (("e",),)


def test_a_named_function_writes_nothing(
    postgres_server: PostgresServer, postgres_database: Callable[[str], str], opened: Opener
) -> None:
    name = postgres_database(
        "CREATE TABLE t (a int); INSERT INTO t VALUES (1);"
        "CREATE FUNCTION empties() RETURNS int LANGUAGE sql SECURITY DEFINER AS "
        "'DELETE FROM t RETURNING 1';"
        "CREATE FUNCTION waits() RETURNS text LANGUAGE sql AS 'SELECT pg_sleep(30)::text'"
    )
    database = opened(postgres_server.url(name), functions=["empties", "waits"])
    result = database.execute("SELECT empties()", Run())
    assert result.error is not None
    assert "read-only transaction" in result.error.message
    assert postgres_server.rows("SELECT * FROM t", name) == [(1,)]
    late = database.execute("SELECT waits()", Run(), limits=Limits(seconds=0.3))
    assert late.error is not None
    assert late.error.kind == "timeout"


def test_with_some_tables_only_their_enumerations_are_cast_to(
    postgres_server: PostgresServer, postgres_database: Callable[[str], str], opened: Opener
) -> None:
    name = postgres_database(
        "CREATE TYPE shown AS ENUM ('a'); CREATE TYPE hidden AS ENUM ('canary');"
        "CREATE TABLE t (a shown); CREATE TABLE s (a hidden);"
        "CREATE FUNCTION reads() RETURNS hidden LANGUAGE sql AS 'SELECT max(a) FROM s'"
    )
    database = opened(postgres_server.url(name), tables=["t"], functions=["reads"])
    assert database.execute("SELECT 'a'::shown", Run()).rows == (("a",),)
    with pytest.raises(UnsafeQuery, match="casting"):
        database.check("SELECT 'canary'::hidden")
    # What a function's body reads isn't looked at: who names it shows that.
    assert database.execute("SELECT reads() IS NULL", Run()).rows == ((True,),)
