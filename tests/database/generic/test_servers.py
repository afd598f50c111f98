"""Servers by SQLAlchemy alone: namespaces, signs of the driver's, queries stopped on the server."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sqlwright.database.address import parse_address
from sqlwright.database.generic.database import SqlalchemyDatabase
from sqlwright.protocols import Limits, Run
from sqlwright.schema import ForeignKey
from tests.servers.mariadb import MariadbServer
from tests.servers.postgres import OWNER, PASSWORD, PostgresServer
from tests.waiting import comes

SHOP = """
CREATE TABLE people (id int PRIMARY KEY, name text NOT NULL);
COMMENT ON TABLE people IS 'Everybody who bought';
COMMENT ON COLUMN people.name IS 'as they write it';
INSERT INTO people VALUES (1, 'Ann'), (2, '100% Bo');
CREATE SCHEMA sales;
CREATE TABLE sales.orders (id int PRIMARY KEY, person int REFERENCES people, total numeric(8, 2));
INSERT INTO sales.orders VALUES (1, 1, 9.5), (2, 1, 3), (3, 2, 20);
CREATE TABLE sales.people (note text);
CREATE TABLE sales.bare ();
CREATE VIEW sales.large AS SELECT id, total FROM sales.orders WHERE total > 5;
"""


DIALECT = """
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg

class Dialect(PGDialect_psycopg):
    pass
"""


def by_sqlalchemy(url: str, driver: str) -> SqlalchemyDatabase:
    """A database that something is written for, as if nothing were."""
    pytest.importorskip("sqlalchemy", reason="SQLAlchemy isn't installed")
    text = f"{driver}://{url.partition('://')[2]}"
    address = dataclasses.replace(parse_address(url), engine="generic", text=text)
    return SqlalchemyDatabase(address, accepted=True)


@pytest.fixture(scope="module")
def shop(postgres_server: PostgresServer) -> str:
    return postgres_server.url(postgres_server.create(SHOP))


@pytest.fixture(scope="module")
def database(shop: str) -> Iterator[SqlalchemyDatabase]:
    with by_sqlalchemy(shop, "postgresql+psycopg") as found:
        yield found


def test_a_table_without_columns_is_told(database: SqlalchemyDatabase) -> None:
    assert database.schema().table("sales.bare") is None
    assert database.noticed(()) == ("sales.bare is left out: none of its columns can be read.",)


def test_every_namespace_is_read(database: SqlalchemyDatabase) -> None:
    schema = database.schema()
    assert [(table.name, table.namespace, table.kind) for table in schema.tables] == [
        ("people", "", "table"),
        ("sales.orders", "sales", "table"),
        ("sales.people", "sales", "table"),
        ("sales.large", "sales", "view"),
    ]
    people = schema.table("people")
    assert people is not None
    assert (people.description, people.primary_key) == ("Everybody who bought", ("id",))
    assert people.columns[1].description == "as they write it"
    assert schema.foreign_keys == (
        ForeignKey("sales.orders", ("person",), "people", ("id",)),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT name FROM people WHERE name LIKE '100%%'", (("100% Bo",),)),
        ("SELECT name FROM people WHERE name LIKE '%nn%'", (("Ann",),)),
        ("SELECT 7 % 4 FROM people WHERE id = 1", ((3,),)),
        ("SELECT name FROM people WHERE name <> ':x' AND id = 1", (("Ann",),)),
        ("SELECT count(*) FROM sales.orders o JOIN public.people p ON p.id = o.person", ((3,),)),
        ("SELECT count(*) FROM sales.people", ((0,),)),
    ],
)
def test_queries(sql: str, rows: object, database: SqlalchemyDatabase) -> None:
    result = database.execute(sql, Run())
    assert result.error is None
    assert result.rows == rows


def test_a_session_stays_read_only_from_its_first_query_on(shop: str) -> None:
    pytest.importorskip("sqlalchemy", reason="SQLAlchemy isn't installed")
    from sqlwright.database.generic.engine import SqlalchemyConnection

    url = f"postgresql+psycopg://{shop.partition('://')[2]}"
    connection = SqlalchemyConnection({"url": url, "environment": {}})
    for _ in range(2):
        _, rows = connection.execute("SELECT current_setting('transaction_read_only')")
        assert list(rows) == [("on",)]
        connection.finish()
    connection.close()


@pytest.mark.parametrize(
    "sql",
    ["SELECT * FROM pg_catalog.pg_user", "SELECT * FROM information_schema.tables",
     "SELECT * FROM elsewhere.people", "DELETE FROM sales.orders"],
)  # fmt: skip
def test_what_is_not_listed_is_refused(sql: str, database: SqlalchemyDatabase) -> None:
    error = database.execute(sql, Run()).error
    assert error is not None
    assert error.phase == "prepare"


def test_a_query_is_stopped_on_the_server(
    postgres_server: PostgresServer, shop: str, database: SqlalchemyDatabase
) -> None:
    slow = "SELECT count(*) FROM people a, " + ", ".join(f"people p{n}" for n in range(40))
    error = database.execute(slow, Run(), limits=Limits(seconds=0.5)).error
    assert error is not None
    assert error.kind == "timeout"
    name = shop.rpartition("/")[2]
    assert comes(lambda: not postgres_server.activity(name))
    assert database.execute("SELECT count(*) FROM people", Run()).rows == ((2,),)


def test_a_server_with_several_databases(
    mariadb_server: MariadbServer, mariadb_database: Callable[[str], str]
) -> None:
    name = mariadb_database("CREATE TABLE people (id int PRIMARY KEY, name varchar(20));"
                            "INSERT INTO people VALUES (1, 'Ann'), (2, '100% Bo')")  # fmt: skip
    other = mariadb_database("CREATE TABLE notes (person int, note text)")
    with by_sqlalchemy(mariadb_server.owner(name), "mysql+pymysql") as database:
        names = [table.name for table in database.schema().tables]
        assert names[0] == "people"
        assert f"{other}.notes" in names
        assert not [one for one in names if one.startswith(("mysql.", "information_schema."))]
        result = database.execute(
            "SELECT `name` FROM `people` WHERE `name` LIKE '%00\\% B%'", Run()
        )
        assert result.rows == (("100% Bo",),)
        assert database.execute(f"SELECT count(*) FROM {other}.notes", Run()).rows == ((0,),)


@pytest.mark.parametrize(
    ("told", "stored"), [("orders", "ORDERS"), ("Orders", "Orders"), ("a b", "a b")]
)
def test_names_that_sqlalchemy_writes_small(told: str, stored: str) -> None:
    pytest.importorskip("sqlalchemy", reason="SQLAlchemy isn't installed")
    from sqlalchemy.dialects.oracle.base import OracleDialect

    from sqlwright.database.generic.engine import stored_name

    assert stored_name(OracleDialect(), told) == stored


def test_the_environment_that_drivers_look_at(
    shop: str, postgres_server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = shop.rpartition("/")[2]
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    url = f"postgresql://{OWNER}@127.0.0.1:{postgres_server.port}/{name}"
    with by_sqlalchemy(url, "postgresql+psycopg") as database:
        assert database.execute("SELECT count(*) FROM people", Run()).rows == ((2,),)
        assert "OPENAI_API_KEY" not in database._request(Limits())["opening"]["environment"]


def test_a_dialect_of_a_package_that_several_distributions_share(
    shop: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = tmp_path / "sqlalchemy_materialize-1.dist-info"
    for folder, name, text in [
        (tmp_path / "one_of_many" / "dialect", "__init__.py", DIALECT),
        (
            told,
            "entry_points.txt",
            "[sqlalchemy.dialects]\nmaterialize=one_of_many.dialect:Dialect",
        ),
        (told, "METADATA", "Name: sqlalchemy-materialize\nVersion: 1"),
    ]:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    with by_sqlalchemy(shop, "materialize") as database:
        assert database.dialect == "materialize"
        assert database.execute("SELECT count(*) FROM sales.orders", Run()).rows == ((3,),)
