"""What groups show beside their keys: one value runs, any of several is refused."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sqlwright.database import open_database
from sqlwright.database.mysql.database import is_determined
from sqlwright.protocols import Database, Run
from sqlwright.sql.reading import read_facts
from tests.servers.mariadb import MariadbServer

SCRIPT = """
CREATE TABLE customers (id INT PRIMARY KEY, name VARCHAR(9), city VARCHAR(9));
CREATE TABLE orders (id INT PRIMARY KEY, customer INT, day DATE, total INT);
CREATE TABLE `order lines` (`order` INT, line INT, what VARCHAR(9), PRIMARY KEY (`order`, line));
INSERT INTO customers VALUES (1, 'Ann', 'Ulm'), (2, 'Ann', 'Bonn'), (3, 'Bo', 'Ulm');
INSERT INTO orders VALUES (1, 1, '2026-01-01', 5), (2, 1, '2026-02-01', 7), (3, 2, NULL, 1);
INSERT INTO `order lines` VALUES (1, 1, 'a'), (1, 2, 'b');
"""
ONE_VALUE = [
    "SELECT c.id, c.name, count(*) FROM customers c JOIN orders o ON o.customer = c.id "
    "GROUP BY c.id ORDER BY c.city",
    "SELECT c.name, sum(o.total) AS s FROM customers c LEFT JOIN orders o ON o.customer = c.id "
    "GROUP BY c.id HAVING sum(o.total) > 1 ORDER BY s DESC",
    "SELECT c.name, max(o.total) FROM orders o JOIN customers c ON c.id = o.customer "
    "GROUP BY o.customer",
    "SELECT concat(name, ' of ', city) FROM customers GROUP BY id",
    "SELECT `order`, line, what FROM `order lines` GROUP BY line, `order`",
    "SELECT name, count(*) FROM customers GROUP BY name",
    "SELECT c.name, year(o.day), count(*) FROM customers c JOIN orders o ON o.customer = c.id "
    "GROUP BY c.id, year(o.day)",
]
ANY_VALUE = [
    "SELECT city, name FROM customers GROUP BY name",
    "SELECT name, max(id) FROM customers",
    "SELECT what FROM `order lines` GROUP BY `order`",
    "SELECT c.name, o.total FROM customers c JOIN orders o ON o.customer = c.id GROUP BY c.id",
    "SELECT c.name FROM customers c LEFT JOIN orders o ON o.customer = c.id GROUP BY o.customer",
    "SELECT b.name FROM customers a JOIN customers b ON a.city = b.city GROUP BY a.id",
    "SELECT upper(city) FROM customers GROUP BY lower(name)",
    "SELECT name FROM customers GROUP BY id % 2",
    "SELECT id, (SELECT name FROM customers d GROUP BY city LIMIT 1) FROM customers GROUP BY id",
    "SELECT city FROM customers GROUP BY name HAVING city = 'Ulm' ORDER BY city",
]
ACCEPTED = [
    "SELECT count(*) FROM customers GROUP BY name HAVING city = 'Ulm'",
    "SELECT count(*) FROM customers GROUP BY name ORDER BY city",
    "SELECT id FROM (SELECT name AS id, city FROM customers) customers GROUP BY city",
    "WITH customers AS (SELECT city AS id, name FROM orders, customers) "
    "SELECT name FROM customers GROUP BY id",
]


"""MariaDB itself takes these, though it shouldn't."""


@pytest.fixture(scope="module")
def database(mariadb_server: MariadbServer) -> Iterator[Database]:
    with open_database(mariadb_server.reader(mariadb_server.create(SCRIPT))) as opened:
        yield opened


@pytest.mark.parametrize("sql", ONE_VALUE)
def test_what_the_key_determines_is_shown(sql: str, database: Database) -> None:
    result = database.execute(sql, Run())
    assert result.error is None
    assert result.rows


@pytest.mark.parametrize("sql", ANY_VALUE)
def test_what_it_leaves_open_is_refused(sql: str, database: Database) -> None:
    assert database.execute(ONE_VALUE[0], Run()).error is None  # and changes nothing for the next
    error = database.execute(sql, Run()).error
    assert error is not None
    assert "GROUP BY" in error.message


@pytest.mark.parametrize("sql", ANY_VALUE + ACCEPTED)
def test_the_mode_is_kept_for_it(sql: str, database: Database) -> None:
    facts = read_facts(sql, database.schema())
    assert facts is not None
    assert not is_determined(facts, database.schema())
