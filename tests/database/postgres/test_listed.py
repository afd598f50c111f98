"""What a listed table or view would show of tables that aren't listed."""

from __future__ import annotations

import pytest

from sqlwright.errors import ConfigError
from sqlwright.protocols import Run
from tests.database.postgres.conftest import Opener
from tests.servers.postgres import PostgresServer

SCRIPT = """
CREATE TABLE secrets (id int, token text); INSERT INTO secrets VALUES (1, 'canary');
CREATE TABLE places (id int, name text); INSERT INTO places VALUES (1, 'shown');
CREATE TABLE towns () INHERITS (places); INSERT INTO towns VALUES (2, 'canary');
CREATE TABLE ports () INHERITS (towns); INSERT INTO ports VALUES (3, 'canary');
CREATE TABLE sales (day date, total int) PARTITION BY RANGE (day);
CREATE TABLE sales_a PARTITION OF sales FOR VALUES FROM ('2026-01-01') TO ('2027-01-01');
INSERT INTO sales VALUES ('2026-05-01', 7);
CREATE TABLE alone (id int, name text);
CREATE FUNCTION peek() RETURNS TABLE (t text) LANGUAGE sql AS 'SELECT token FROM secrets';
CREATE FUNCTION count_all(int) RETURNS bigint LANGUAGE sql IMMUTABLE AS 'SELECT count(*) FROM secrets';
CREATE OPERATOR ### (RIGHTARG = int, FUNCTION = count_all);
CREATE VIEW by_function AS SELECT * FROM peek();
CREATE VIEW by_operator AS SELECT ### a.id AS n FROM alone AS a;
CREATE VIEW by_text AS SELECT query_to_xml('SELECT * FROM secrets', true, true, '') AS x;
CREATE MATERIALIZED VIEW by_name AS SELECT table_to_xml('secrets', true, true, '') AS x
    WITH NO DATA;
CREATE VIEW by_file AS SELECT pg_read_file('PG_VERSION') AS x;
CREATE VIEW harmless AS SELECT upper(a.name) AS n, now() AS at, random() AS r,
    date_trunc('month', now()) AS m, a.id::text || 'x' AS i, count(*) OVER () AS c,
    to_char(now(), 'YYYY') AS y, a.id = ANY (ARRAY[1, 2]) AS f FROM alone a WHERE a.name LIKE 'x%';
"""  # noqa: E501


@pytest.fixture(scope="module")
def url(postgres_server: PostgresServer) -> str:
    return postgres_server.url(postgres_server.create(SCRIPT))


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        (["places"], "places can't be among the tables: it shows what ports holds"),
        (["places", "ports"], "it shows what towns holds"),
        (["places", "towns"], "it shows what ports holds"),
        (["by_function"], "it calls public.peek"),
        (["by_operator", "alone"], "it calls public.count_all"),
        (["by_text"], "it calls pg_catalog.query_to_xml"),
        (["by_name"], "it shows what secrets holds"),
        (["by_file"], "it calls pg_catalog.pg_read_file"),
    ],
)
def test_it_can_not_be_listed_alone(
    url: str, opened: Opener, tables: list[str], words: str
) -> None:
    with pytest.raises(ConfigError, match=words) as caught:
        opened(url, tables=tables)
    assert caught.value.hint


def test_what_shows_nothing_else_can_be_listed(url: str, opened: Opener) -> None:
    database = opened(url, tables=["ports", "sales", "harmless", "alone"])
    assert database.execute("SELECT total FROM sales", Run()).rows == ((7,),)
    assert database.execute("SELECT name FROM ports", Run()).rows == (("canary",),)
    whole = opened(url, tables=["places", "towns", "ports"])
    assert database.execute("SELECT * FROM harmless", Run()).ok
    assert whole.execute("SELECT count(*) FROM places", Run()).rows == ((3,),)
    named = opened(url, tables=["by_function"], functions=["peek"])
    assert named.execute("SELECT * FROM by_function", Run()).rows == (("canary",),)


def test_a_child_that_came_later_hides_its_parent(
    postgres_server: PostgresServer, opened: Opener
) -> None:
    name = postgres_server.create("CREATE TABLE a (i int); CREATE TABLE b (i int)")
    database = opened(postgres_server.url(name), tables=["a", "b"])
    assert database.schema().table("a") is not None
    postgres_server.run("CREATE TABLE c () INHERITS (a); INSERT INTO c VALUES (1)", name)
    assert {table.name for table in database.schema().tables} == {"b"}
    error = database.execute("SELECT * FROM a", Run()).error
    assert error is not None
    assert error.cause == "unknown_table"
