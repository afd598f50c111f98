"""A shop on a real MariaDB server, and ways to ask its connection without the tree check."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from sqlwright.database import open_database
from sqlwright.database.mysql.database import MysqlDatabase
from sqlwright.protocols import Limits
from sqlwright.types import ExecutionResult
from tests.servers.mariadb import MariadbServer
from tests.waiting import comes

SHOP = """
CREATE TABLE people (
    id INT PRIMARY KEY AUTO_INCREMENT,
    name VARCHAR(30) COMMENT 'full name',
    kind ENUM('new', 'it''s', 'a\\\\b'),
    likes SET('tea', 'milk'),
    twice INT GENERATED ALWAYS AS (id * 2) VIRTUAL
) COMMENT = 'who buys';
CREATE TABLE `order lines` (
    `number` INT, line INT, person INT, total DECIMAL(10, 2), `we``ird "name"` TEXT,
    PRIMARY KEY (`number`, line),
    FOREIGN KEY (person) REFERENCES people (id)
);
CREATE TABLE secret (shown INT, hidden INT);
CREATE VIEW adults AS SELECT id, name FROM people;
CREATE SEQUENCE tickets;
INSERT INTO people (name, kind, likes) VALUES ('Ann', 'new', 'tea,milk'), ('Bo', 'it''s', NULL);
INSERT INTO `order lines` VALUES (1, 1, 1, 9.50, 'x'), (1, 2, 1, 3, NULL), (2, 1, 2, 20, 'y');
CREATE PROCEDURE put_person() BEGIN COMMIT; INSERT INTO people (name) VALUES ('put'); END;
CREATE FUNCTION make_person() RETURNS INT BEGIN
    INSERT INTO people (name) VALUES ('made'); RETURN 1; END;
"""
ENDLESS = (
    "WITH RECURSIVE d(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM d WHERE n < 900) "
    "SELECT SUM(a.n * b.n * c.n * e.n * f.n) FROM d a, d b, d c, d e, d f"
)


@dataclass
class Shop:
    """A database on the server and two logins for it."""

    server: MariadbServer
    name: str
    reader: str
    owner: str

    @property
    def user(self) -> str:
        """The reader's name."""
        return self.reader.partition("//")[2].partition(":")[0]

    def state(self) -> list[tuple[object, ...]]:
        """All that statements could change."""
        return [
            *self.server.rows("SELECT * FROM people ORDER BY id", self.name),
            *self.server.rows("SELECT * FROM `order lines` ORDER BY 1, 2", self.name),
            *self.server.rows("SELECT next_not_cached_value FROM tickets", self.name),
            *self.server.rows("SHOW TABLES", self.name),
            *self.server.rows("SHOW DATABASES"),
            *self.server.rows("SELECT User, Host FROM mysql.user ORDER BY 1"),
            *self.server.rows(
                "SELECT * FROM information_schema.GLOBAL_VARIABLES WHERE VARIABLE_NAME NOT IN "
                "('GTID_BINLOG_POS', 'INNODB_BUFFER_POOL_LOAD_NOW', 'TIMESTAMP') ORDER BY 1"
            ),
        ]


@pytest.fixture(scope="module")
def shop(mariadb_server: MariadbServer) -> Iterator[Shop]:
    name = mariadb_server.create()
    _fill(mariadb_server, name)
    yield Shop(mariadb_server, name, mariadb_server.reader(name), mariadb_server.owner(name))
    mariadb_server.drop(name)


def _fill(server: MariadbServer, name: str) -> None:
    plain, _, routines = SHOP.partition("CREATE PROCEDURE")
    server.run(plain, name)
    for routine in f"CREATE PROCEDURE{routines}".split("CREATE ")[1:]:
        connection = server.connect(name)
        with connection.cursor() as cursor:
            cursor.execute(f"CREATE {routine.strip()}")
        connection.close()


@pytest.fixture(scope="module")
def database(shop: Shop) -> Iterator[MysqlDatabase]:
    """The shop, asked by the reader."""
    opened = open_database(shop.reader)
    assert isinstance(opened, MysqlDatabase)
    yield opened
    opened.close()


def alone(
    database: MysqlDatabase, sql: str, limits: Limits | None = None, explain: str = ""
) -> ExecutionResult:
    """Run a query by the guarded connection, past the tree check."""
    return database._run({"sql": sql, "explain": explain}, limits or Limits(), lambda: None)


def gone(shop: Shop, user: str) -> bool:
    """True once the server runs nothing for a login."""
    return comes(lambda: not shop.server.running(user))


def during(work: Callable[[], object]) -> threading.Thread:
    """Work begun in another thread."""
    thread = threading.Thread(target=work)
    thread.start()
    return thread
