"""Stored functions of a MariaDB database: those that are named may be called."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from sqlwright.database import open_database
from sqlwright.database.mysql.database import MysqlDatabase
from sqlwright.errors import ConfigError, UnsafeQuery
from sqlwright.protocols import Run
from sqlwright.types.functions import OwnFunction
from tests.database.named import attacks, read, shown
from tests.servers.mariadb import MariadbServer

CASES = read("mysql")


@dataclass
class Shop:
    """A database with functions, another one beside it, and the URL of a login for both."""

    server: MariadbServer
    name: str
    other: str
    url: str

    def written(self, sql: str) -> str:
        return sql.replace("{shop}", self.name).replace("{other}", self.other)


@pytest.fixture(scope="module")
def shop(mariadb_server: MariadbServer) -> Iterator[Shop]:
    name = mariadb_server.create(
        "CREATE TABLE orders (id INT, total DECIMAL(10, 2)); INSERT INTO orders VALUES (1, 119);"
        "CREATE TABLE secrets (token TEXT); INSERT INTO secrets VALUES ('canary-4711');"
    )
    other = mariadb_server.create("CREATE TABLE t (a INT)")
    made = Shop(mariadb_server, name, other, f"{mariadb_server.owner(name)}?databases={other}")
    for database, routines in ((name, CASES["routines"]), (other, CASES["others"])):
        for routine in routines:
            connection = mariadb_server.connect(database)
            with connection.cursor() as cursor:
                cursor.execute(made.written(routine))
            connection.close()
    yield made
    mariadb_server.drop(name)
    mariadb_server.drop(other)


@pytest.fixture(scope="module")
def named(shop: Shop) -> Iterator[MysqlDatabase]:
    opened = open_database(shop.url, functions=CASES["functions"])
    assert isinstance(opened, MysqlDatabase)
    yield opened
    opened.close()


@pytest.mark.parametrize("case", CASES["passes"], ids=lambda case: case["sql"][:60])
def test_what_is_named_may_be_called(case: dict, shop: Shop, named: MysqlDatabase) -> None:
    assert shown(named.execute(shop.written(case["sql"]), Run())) == case["rows"]


@pytest.mark.parametrize("sql", attacks(CASES))
def test_nothing_else_may(sql: str, shop: Shop, named: MysqlDatabase) -> None:
    with pytest.raises(UnsafeQuery):
        named.check(shop.written(sql))


@pytest.mark.parametrize("case", CASES["refused"], ids=lambda case: case["name"])
def test_a_name_that_is_not_there(case: dict, shop: Shop) -> None:
    with pytest.raises(ConfigError, match=case["says"]) as caught:
        open_database(shop.url, functions=[case["name"]])
    assert "net_price" in caught.value.hint


def test_a_named_function_writes_nothing(shop: Shop, named: MysqlDatabase) -> None:
    result = named.execute(f"SELECT {shop.name}.writes()", Run())
    assert result.error is not None
    assert "READ ONLY" in result.error.message
    assert shop.server.rows("SELECT COUNT(*) FROM orders", shop.name) == [(1,)]


def test_functions_are_told_with_what_naming_them_means(shop: Shop, named: MysqlDatabase) -> None:
    prices, _, writes = sorted(named.functions, key=lambda one: (one.name != "net_price", one.name))
    rights = "it runs with the rights of root@localhost, who defined it"
    assert prices == OwnFunction(
        "net_price", shop.name, "total decimal(10,2)", "decimal(10,2)", "A price without tax",
        (rights,),
    )  # fmt: skip
    assert writes.cautions == (
        rights,
        "it is declared to change data, which the read-only transaction refuses",
    )


def test_a_stored_function_is_not_taken_for_one_of_the_servers(shop: Shop) -> None:
    """MariaDB has no ANY_VALUE, which MySQL has; and a blank before the parenthesis may reach a
    stored function of a native one's name."""
    for routine in ("any_value(x INT)", "`count`(x INT)"):
        shop.server.run(
            f"CREATE FUNCTION {routine} RETURNS TEXT RETURN (SELECT MAX(token) FROM secrets)",
            shop.name,
        )
    with open_database(shop.url) as database:
        for call in ("ANY_VALUE(1)", "any_value (id)", "`Any_Value`(1)", "count (id)"):
            with pytest.raises(UnsafeQuery, match="the database's own"):
                database.check(f"SELECT {call} FROM orders")
