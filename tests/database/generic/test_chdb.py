"""An engine that nothing was written for, by its SQLAlchemy dialect: ClickHouse in process."""

from __future__ import annotations

import datetime
import subprocess
import sys
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest

from sqlwright.boundary.accepted import accept_login, is_accepted
from sqlwright.database import open_database
from sqlwright.database.generic.database import SqlalchemyDatabase
from sqlwright.errors import ConfigError, DatabaseUnavailable, UnsafeQuery
from sqlwright.protocols import Database, Limits, Run

MAKE = """
import sys
import sqlalchemy as sa
with sa.create_engine(sys.argv[1]).connect() as connection:
    for statement in sys.argv[2:]:
        connection.exec_driver_sql(statement)
"""
SCRIPT = (
    "CREATE TABLE people (id Int32 COMMENT 'number', name String, born Nullable(Date), "
    "total Decimal(10, 2), tags Array(String)) ENGINE = MergeTree ORDER BY id",
    "CREATE TABLE orders (id Int32, person Int32) ENGINE = MergeTree ORDER BY id",
    "INSERT INTO people VALUES (1, 'Ann', '2001-02-03', 1.5, ['a', 'b']), (2, 'Bo', NULL, 2, [])",
    "INSERT INTO orders VALUES (1, 1), (2, 1), (3, 2)",
)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    pytest.importorskip("sqlalchemy", reason="SQLAlchemy isn't installed")
    pytest.importorskip("chdb_sqlalchemy", reason="chdb-sqlalchemy isn't installed")
    found = f"chdb:///{tmp_path_factory.mktemp('chdb') / 'data'}"
    subprocess.run([sys.executable, "-c", MAKE, found, *SCRIPT], check=True, capture_output=True)
    return found


@pytest.fixture(scope="module")
def database(url: str) -> Iterator[SqlalchemyDatabase]:
    from sqlwright.database.address import parse_address

    opened = SqlalchemyDatabase(parse_address(url), accepted=True)
    yield opened
    opened.close()


def test_the_login_has_to_be_accepted_once(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SQLWRIGHT_HOME", str(tmp_path / "home"))
    with pytest.raises(ConfigError, match="nothing but the login") as caught:
        open_database(url)
    assert "--accept-login" in caught.value.hint
    from sqlwright.database.address import parse_address

    identity = parse_address(url).identity
    accept_login(identity)
    assert is_accepted(identity)
    assert not is_accepted(identity + "x")


def test_schema(database: SqlalchemyDatabase) -> None:
    assert isinstance(database, Database)
    assert database.dialect == "clickhouse"
    schema = database.schema()
    assert sorted(table.name for table in schema.tables) == ["orders", "people"]
    people = schema.table("people")
    assert people is not None
    assert [column.name for column in people.columns] == ["id", "name", "born", "total", "tags"]
    assert people.columns[2].nullable


def test_queries(database: SqlalchemyDatabase) -> None:
    result = database.execute("SELECT * FROM people ORDER BY id", Run())
    assert result.error is None
    assert result.rows == (
        (1, "Ann", datetime.date(2001, 2, 3), Decimal("1.5"), ("a", "b")),
        (2, "Bo", None, Decimal(2), ()),
    )
    joined = database.execute(
        "SELECT p.name, COUNT(*) AS n FROM people AS p JOIN orders AS o ON o.person = p.id "
        "GROUP BY p.name ORDER BY n DESC",
        Run(),
    )
    assert joined.rows == (("Ann", 2), ("Bo", 1))


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO people VALUES (3, 'x', NULL, 1, [])",
        "DROP TABLE orders",
        "SELECT * FROM file('/etc/passwd', 'LineAsString')",
        "SELECT * FROM system.tables",
        "SET readonly = 0",
    ],
)
def test_the_tree_check_refuses(sql: str, database: SqlalchemyDatabase) -> None:
    error = database.execute(sql, Run()).error
    assert error is not None
    assert error.phase == "prepare"


def test_the_session_is_read_only(database: SqlalchemyDatabase) -> None:
    for sql in ("INSERT INTO orders VALUES (9, 9)", "DROP TABLE orders", "SET readonly = 0"):
        result = database._run({"sql": sql, "explain": ""}, Limits(), lambda: None)
        assert result.error is not None
    counted = database.execute("SELECT COUNT(*) FROM orders", Run())
    assert counted.rows == ((3,),)


def test_time_is_limited(database: SqlalchemyDatabase) -> None:
    endless = (
        "SELECT COUNT(*) FROM people AS a, people AS b, people AS c, people AS d, people AS e, "
        "people AS f, people AS g, people AS h, people AS i, people AS j, people AS k, people AS l,"
        "people AS m, people AS n, people AS o, people AS p, people AS q, people AS r, people AS s,"
        "people AS t, people AS u, people AS v, people AS w, people AS x, people AS y, people AS z,"
        "people AS a1, people AS a2, people AS a3, people AS a4, people AS a5, people AS a6"
    )
    result = database.execute(endless, Run(), limits=Limits(seconds=1))
    assert result.error is not None
    assert result.error.kind in {"timeout", "memory"}
    assert database.execute("SELECT COUNT(*) FROM orders", Run()).rows == ((3,),)


def test_listed_tables(url: str, database: SqlalchemyDatabase) -> None:
    database.close()  # one process alone may be at its files
    from sqlwright.database.address import parse_address

    opened = SqlalchemyDatabase(parse_address(url), ["ORDERS"], accepted=True)
    try:
        assert [table.name for table in opened.schema().tables] == ["orders"]
        error = opened.execute("SELECT COUNT(*) FROM people", Run()).error
        assert error is not None
        assert error.cause == "unknown_table"
    finally:
        opened.close()


def test_a_dialect_that_nobody_brings() -> None:
    with pytest.raises(DatabaseUnavailable) as caught:
        open_database("trino://somebody@127.0.0.1:1/nope")
    assert "docs.sqlalchemy.org" in caught.value.hint


def test_functions_that_are_named(url: str, tmp_path: Path) -> None:
    from sqlwright.database.address import parse_address

    own = f"chdb:///{tmp_path / 'data'}"
    made = (
        *SCRIPT,
        "CREATE FUNCTION net_price AS (total, rate) -> total / (1 + rate)",
        "CREATE FUNCTION NET_PRICE AS (x) -> 'another'",
        "CREATE FUNCTION doubled AS x -> x * 2",
    )
    subprocess.run([sys.executable, "-c", MAKE, own, *made], check=True, capture_output=True)
    address = parse_address(own)
    with pytest.raises(ConfigError, match="did you mean 'doubled'"):
        SqlalchemyDatabase(address, functions=["doubles"], accepted=True)
    with SqlalchemyDatabase(address, functions=["net_price", "doubled"], accepted=True) as found:
        assert [(one.name, one.arguments) for one in found.functions] == [
            ("net_price", "total, rate"),
            ("doubled", "x"),
        ]
        result = found.execute("SELECT net_price(214, 0.07), doubled(id) FROM orders", Run())
        assert result.rows[0] == (200.0, 2)
        for sql in ("SELECT NET_PRICE(1)", "SELECT Doubled(1)", "SELECT sleep(1)"):
            with pytest.raises(UnsafeQuery):
                found.check(sql)
