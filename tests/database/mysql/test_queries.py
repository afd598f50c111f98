"""Generated queries on a real MariaDB: rows, cells, limits, failures as data, cancellation."""

from __future__ import annotations

import datetime
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from decimal import Decimal

import pytest

from sqlwright.database import open_database
from sqlwright.database.mysql.database import MysqlDatabase
from sqlwright.protocols import Limits, Run
from tests.database.mysql.conftest import ENDLESS, Shop, alone, during, gone

CELLS = """
CREATE TABLE cells (
    a TINYINT, b BIGINT UNSIGNED, c DECIMAL(20, 4), d DOUBLE, e DATE, f DATETIME(6), g TIMESTAMP,
    h TIME(3), i YEAR, j BIT(10), k VARBINARY(4), l JSON, m ENUM('x', 'y'), n SET('p', 'q'),
    o TEXT, p BOOLEAN
);
SET SESSION sql_mode = '';
INSERT INTO cells VALUES (
    -1, 18446744073709551615, 1.5, 0.25, '2024-02-29', '2024-02-29 12:30:00.25',
    '2024-01-02 03:04:05', '-100:00:01.5', 2024, b'1000000001', x'00ff', '{"a": [1]}', 'y', 'p,q',
    'Grüße 🙂', TRUE
), (NULL, NULL, NULL, NULL, '0000-00-00', '2024-00-00 00:00:00', '0000-00-00 00:00:00', NULL, NULL,
    NULL, NULL, NULL, NULL, NULL, NULL, NULL);
"""


@pytest.fixture
def opened(shop: Shop) -> Iterator[Callable[[str], MysqlDatabase]]:
    made: list[MysqlDatabase] = []

    def open_one(url: str) -> MysqlDatabase:
        found = open_database(url)
        assert isinstance(found, MysqlDatabase)
        made.append(found)
        return found

    yield open_one
    for one in made:
        one.close()


def test_checked_and_run(database: MysqlDatabase) -> None:
    result = database.execute(
        "SELECT p.name, SUM(o.total) AS spent FROM people p "
        "JOIN `order lines` o ON o.person = p.id "
        "GROUP BY p.name ORDER BY spent DESC",
        Run(),
    )
    assert result.error is None
    assert result.columns == ("name", "spent")
    assert result.rows == (("Bo", Decimal("20.00")), ("Ann", Decimal("12.50")))


def test_quoted_names(database: MysqlDatabase) -> None:
    result = database.execute(
        'SELECT `we``ird "name"` FROM `order lines` WHERE `number` = 2', Run()
    )
    assert result.error is None
    assert (result.columns, result.rows) == (('we`ird "name"',), (("y",),))


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM people",
        "SELECT LOAD_FILE('/etc/hostname')",
        "SELECT * FROM mysql.user",
        "SELECT SLEEP(1)",
        "SELECT @made := 1",
        "SELECT make_person()",
        "SELECT 1 INTO OUTFILE '/tmp/sqlwright-made'",
    ],
)
def test_the_tree_check_refuses(sql: str, database: MysqlDatabase) -> None:
    result = database.execute(sql, Run())
    assert result.error is not None
    assert result.error.phase == "prepare"


def test_cells(
    shop: Shop,
    mariadb_database: Callable[[str], str],
    opened: Callable[[str], MysqlDatabase],
) -> None:
    database = opened(shop.server.reader(mariadb_database(CELLS)))
    result = alone(database, "SELECT * FROM cells")
    assert result.error is None
    first, second = result.rows
    assert first == (
        -1, 18446744073709551615, Decimal("1.5000"), 0.25, datetime.date(2024, 2, 29),
        datetime.datetime(2024, 2, 29, 12, 30, 0, 250_000),
        datetime.datetime(2024, 1, 2, 3, 4, 5),
        -datetime.timedelta(hours=100, seconds=1, milliseconds=500), 2024, 513, b"\0\xff",
        '{"a": [1]}', "y", "p,q", "Grüße 🙂", 1,
    )  # fmt: skip
    assert second[4:7] == ("0000-00-00", "2024-00-00 00:00:00.000000", "0000-00-00 00:00:00")
    assert set(second[:4] + second[7:]) == {None}


@pytest.mark.parametrize(
    ("sql", "kind", "cause", "name"),
    [
        ("SELECT nope FROM people", "sql", "unknown_column", "nope"),
        ("SELECT * FROM nope", "sql", "unknown_table", "nope"),
        ("SELECT nope(1)", "sql", "unknown_function", "nope"),
        ("SELECT 1 +", "sql", "syntax", ""),
        ("SELECT name, COUNT(*) FROM people GROUP BY id HAVING", "sql", "syntax", ""),
        ("SELECT id, COUNT(*) FROM people GROUP BY name", "sql", "", ""),
    ],
)
def test_failures(sql: str, kind: str, cause: str, name: str, database: MysqlDatabase) -> None:
    error = alone(database, sql).error
    assert error is not None
    assert (error.kind, error.cause, error.name) == (kind, cause, name)
    assert error.phase == "prepare"


def test_limits_of_rows_and_bytes(shop: Shop, database: MysqlDatabase) -> None:
    numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900) "
    many = alone(database, numbers + "SELECT a.i FROM n a, n b, n c", Limits(rows=5))
    assert (len(many.rows), many.truncated) == (5, True)
    large = alone(database, numbers + "SELECT REPEAT('x', 1000) FROM n", Limits(result_bytes=4500))
    assert (len(large.rows), large.truncated) == (4, True)
    long = alone(database, "SELECT REPEAT('x', 1000)", Limits(cell_bytes=10))
    assert (long.rows, long.shortened) == ((("x" * 10,),), ((0, 0),))
    assert gone(shop, shop.user)
    assert alone(database, "SELECT 1").rows == ((1,),)


def test_the_end_of_the_caller_ends_the_query(shop: Shop) -> None:
    url = shop.server.reader(shop.name)
    code = (
        "import os, sys, threading, time\n"
        "from sqlwright.database import open_database\n"
        "from sqlwright.protocols import Run\n"
        "database = open_database(sys.argv[1])\n"
        f"t = threading.Thread(target=database.execute, args=({ENDLESS!r}, Run()), daemon=True)\n"
        "t.start()\n"
        "time.sleep(1)\n"
        "print('running', flush=True)\n"
        "sys.stdin.readline()\n"
        "os.kill(os.getpid(), 9)\n"
    )
    user = url.partition("//")[2].partition(":")[0]
    caller = subprocess.Popen(
        [sys.executable, "-c", code, url], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert caller.stdout is not None
    assert caller.stdin is not None
    assert caller.stdout.readline() == b"running\n"
    assert shop.server.running(user)
    caller.stdin.close()
    assert gone(shop, user)
    caller.wait()
    caller.stdout.close()


def test_a_killed_connection_is_renewed(shop: Shop, opened: Callable[[str], MysqlDatabase]) -> None:
    url = shop.server.reader(shop.name)
    user = url.partition("//")[2].partition(":")[0]
    database = opened(url)
    assert alone(database, "SELECT 1").rows == ((1,),)
    for (number,) in shop.server.rows(
        f"SELECT ID FROM information_schema.PROCESSLIST WHERE USER = '{user}'"
    ):
        shop.server.run(f"KILL {number}")
    assert alone(database, "SELECT 2").rows == ((2,),)
    assert database.schema().table("people") is not None


def test_a_connection_killed_during_a_query(
    shop: Shop, opened: Callable[[str], MysqlDatabase]
) -> None:
    url = shop.server.reader(shop.name)
    user = url.partition("//")[2].partition(":")[0]
    database = opened(url)
    found = []
    thread = during(lambda: found.append(alone(database, ENDLESS)))
    while not (running := shop.server.rows(
        "SELECT ID FROM information_schema.PROCESSLIST "
        f"WHERE USER = '{user}' AND INFO LIKE 'WITH%'"
    )):  # fmt: skip
        time.sleep(0.02)
    shop.server.run(f"KILL {running[0][0]}")
    thread.join()
    assert found[0].error is not None
    assert found[0].error.kind == "unavailable"
    assert alone(database, "SELECT 1").rows == ((1,),)


def test_cost(database: MysqlDatabase) -> None:
    cost = database.cost(
        "SELECT COUNT(*) FROM people p JOIN `order lines` o ON o.person = p.id", Run()
    )
    assert cost.error is None
    assert cost.scanned_rows is not None
    assert 2 <= cost.scanned_rows <= 10
    assert any(line.startswith("p:") for line in cost.outline)
    wrong = database.cost("DELETE FROM people", Run())
    assert wrong.error is not None
