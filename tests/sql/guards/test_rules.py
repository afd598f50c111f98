"""The rules about names: tables, their namespaces and case, functions and columns."""

from __future__ import annotations

import random

import pytest

from sqlwright.errors import UnsafeQuery
from sqlwright.sql.guard import check_query
from sqlwright.sql.guards.rules import Own, Readable
from sqlwright.sql.tokens import UnreadableQuery
from tests.database.shapes import all_shapes
from tests.sql.guards import WRITTEN, harmless, readable

READ: list[tuple[str, Readable, str, set[str]]] = [
    # dialect, readable, query, what it reads
    ("postgres", ["orders"], "SELECT * FROM Orders", {"orders"}),
    ("postgres", ["orders"], 'SELECT * FROM "orders"', {"orders"}),
    ("postgres", ["Orders"], 'SELECT * FROM "Orders"', {"Orders"}),
    ("postgres", ["public.orders"], "SELECT * FROM public.orders", {"public.orders"}),
    ("postgres", ["sales.orders"], "SELECT * FROM Sales.ORDERS", {"sales.orders"}),
    ("duckdb", ["Orders"], 'SELECT * FROM "oRDERS"', {"orders"}),
    ("duckdb", ["Sales.Orders"], "FROM sales.orders", {"sales.orders"}),
    ("mysql", ["orders", "shop.orders"], "SELECT * FROM shop.orders", {"shop.orders"}),
    ("mysql", ["Orders"], "SELECT * FROM `Orders`", {"Orders"}),
    ("snowflake", ["orders"], "SELECT * FROM ORDERS", {"orders"}),
    ("clickhouse", ["Orders"], "SELECT * FROM Orders", {"Orders"}),
    ("postgres", [("sales.2024",)], 'SELECT * FROM "sales.2024"', {"sales.2024"}),
    ("postgres", [("a.b", "c.d")], 'SELECT "c.d".id FROM "a.b"."c.d"', {"a.b.c.d"}),
    ("duckdb", [("Sales.2024",)], 'SELECT * FROM main."sales.2024"', {"sales.2024"}),
    ("mysql", [("sales.2024",)], "SELECT * FROM `sales.2024`", {"sales.2024"}),
    ("postgres", ["a"], "WITH b AS (SELECT * FROM a) SELECT * FROM B", {"a", "b"}),
    ("postgres", [], "WITH x AS (SELECT 1), y AS (SELECT * FROM x) SELECT * FROM y", {"x", "y"}),
    ("postgres", [], "WITH x AS (SELECT 1) SELECT (SELECT count(*) FROM x)", {"x"}),
]
UNKNOWN: list[tuple[str, Readable, str, str]] = [
    ("postgres", ["orders"], 'SELECT * FROM "Orders"', "Orders"),
    ("postgres", ["Orders"], "SELECT * FROM Orders", "Orders"),
    ("postgres", ["orders"], "SELECT * FROM sales.orders", "sales.orders"),
    ("postgres", ["sales.orders"], "SELECT * FROM orders", "orders"),
    ("postgres", ["sales.orders"], 'SELECT * FROM "sales.orders"', "sales.orders"),
    ("postgres", ["orders"], "SELECT * FROM shop.public.orders", "shop.public.orders"),
    # Another namespace may be looked in first: this one's table may be hidden.
    ("postgres", ["orders"], "SELECT * FROM public.orders", "public.orders"),
    ("mysql", ["orders"], "SELECT * FROM Orders", "Orders"),
    ("mysql", ["orders"], "SELECT * FROM shop.orders", "shop.orders"),
    ("clickhouse", ["orders"], "SELECT * FROM Orders", "Orders"),
    ("postgres", [("sales.2024",)], 'SELECT * FROM sales."2024"', "sales.2024"),
    ("postgres", [("a.b", "c")], 'SELECT * FROM a."b.c"', "a.b.c"),
    ("duckdb", [("orders.csv",)], "SELECT * FROM orders.csv", "orders.csv"),
    ("mysql", [("a", "b.c")], "SELECT * FROM `a.b`.c", "a.b.c"),
    ("duckdb", ["orders"], 'SELECT * FROM "orders.csv"', "orders.csv"),
    ("postgres", [], "SELECT * FROM (WITH x AS (SELECT 1) SELECT * FROM x) AS y, x", "x"),
    ("duckdb", [], "WITH RECURSIVE x AS (SELECT 1 UNION BY NAME SELECT * FROM x) FROM x", "x"),
    ("postgres", [], "WITH x AS (SELECT * FROM y), y AS (SELECT 1) SELECT * FROM x", "y"),
]
OTHERS_REFUSED = [
    ("clickhouse", "SELECT 1 IN secrets"),
    ("clickhouse", "SELECT * FROM file('/etc/passwd')"),
    ("clickhouse", "SELECT * FROM url('https://evil.example', CSV, 'a Int8')"),
    ("clickhouse", "SELECT * FROM remote('evil', system.users)"),
    ("clickhouse", "SELECT * FROM system.users"),
    ("clickhouse", "SELECT dictGet('d', 'a', 1)"),
    ("clickhouse", "SELECT 1 SETTINGS max_execution_time = 0"),
    ("clickhouse", "SELECT * FROM orders INTO OUTFILE '/tmp/x'"),
    ("clickhouse", "SELECT sleep(3)"),
    ("clickhouse", "SELECT * FROM numbers(10)"),
    ("tsql", "SELECT * FROM OPENROWSET(BULK '/etc/passwd', SINGLE_CLOB) AS x"),
    ("tsql", "SELECT * INTO copied FROM orders"),
    ("tsql", "EXEC xp_cmdshell 'id'"),
    ("tsql", "SELECT * FROM orders WITH (TABLOCKX)"),
    ("tsql", "SELECT @@VERSION"),
    ("tsql", "SELECT * FROM [secrets]"),
    ("bigquery", "SELECT * FROM EXTERNAL_QUERY('c', 'SELECT 1')"),
    ("bigquery", "SELECT * FROM `project.other.secrets`"),
    ("snowflake", "SELECT $1 FROM @stage"),
    ("snowflake", "SELECT SYSTEM$CANCEL_QUERY('x')"),
    ("snowflake", "SELECT * FROM TABLE(RESULT_SCAN('x'))"),
    ("oracle", "SELECT utl_http.request('http://evil.example') FROM dual"),
    ("oracle", "SELECT * FROM orders@evil"),
    ("trino", "SELECT * FROM TABLE(system.query('SELECT 1'))"),
    ("spark", "SELECT reflect('java.lang.System', 'exit', 0)"),
    ("spark", "SELECT * FROM csv.`/etc/passwd`"),
    ("hive", "SELECT TRANSFORM (id) USING '/bin/sh' FROM orders"),
    ("hive", "SELECT '${env:HOME}'"),
    ("spark", "SELECT `${env:HOME}` FROM orders"),
    ("spark", "SELECT 1 -- ${env:HOME}"),
    ("clickhouse", "SELECT id FROM orders WHERE id IN (secrets)"),
    ("clickhouse", "SELECT id FROM orders WHERE id NOT IN ((shop.secrets))"),
    ("clickhouse", "WITH secrets AS x SELECT 1 IN (x)"),
    ("oracle", "SELECT tickets.NEXTVAL FROM dual"),
    ("oracle", "SELECT tickets.nextval, x.nextval FROM (SELECT 1 AS nextval FROM dual) x"),
    ("oracle", "SELECT package.evil FROM orders"),
    ("oracle", "SELECT user FROM dual"),
    ("snowflake", "SELECT shop.public.tickets.nextval"),
    ("snowflake", "SELECT current_account"),
    ("tsql", "SELECT user"),
    ("trino", "SELECT 0x1F"),
]
OTHERS_READ: list[tuple[str, Readable, str, set[str]]] = [
    ("clickhouse", "SELECT toStartOfMonth(d) AS m, uniq(id) FROM orders GROUP BY m ORDER BY m"),
    ("tsql", "SELECT TOP 5 [id], count(*) FROM [orders] GROUP BY [id] ORDER BY 2 DESC"),
    ("tsql", "SELECT id FROM orders WHERE d > dateadd(day, -7, getdate())"),
    ("bigquery", "SELECT date_trunc(d, MONTH) AS m, sum(x) FROM `orders` GROUP BY 1"),
    ("snowflake", "SELECT id FROM orders QUALIFY row_number() OVER (ORDER BY x) = 1"),
    ("oracle", "SELECT nvl(x, 0), to_char(d, 'YYYY') FROM orders FETCH FIRST 5 ROWS ONLY"),
    ("trino", "SELECT date_trunc('month', d), approx_distinct(id) FROM orders GROUP BY 1"),
    ("redshift", "SELECT date_trunc('month', d), listagg(x, ',') FROM orders GROUP BY 1"),
]


@pytest.mark.parametrize(("dialect", "tables", "sql", "read"), READ)
def test_what_a_query_reads(dialect: str, tables: Readable, sql: str, read: set[str]) -> None:
    assert check_query(sql, dialect, readable=tables) == read


@pytest.mark.parametrize(("dialect", "tables", "sql", "name"), UNKNOWN)
def test_what_is_not_listed_is_unknown(dialect: str, tables: Readable, sql: str, name: str) -> None:
    with pytest.raises(UnreadableQuery) as caught:
        check_query(sql, dialect, readable=tables)
    assert (caught.value.cause, caught.value.name) == ("unknown_table", name)


@pytest.mark.parametrize(("dialect", "sql"), OTHERS_REFUSED)
def test_dialects_that_nothing_is_written_for(dialect: str, sql: str) -> None:
    with pytest.raises(UnsafeQuery):
        check_query(sql, dialect, readable=["orders"])


@pytest.mark.parametrize(("dialect", "sql"), OTHERS_READ)
def test_their_ordinary_queries_pass(dialect: str, sql: str) -> None:
    assert check_query(sql, dialect, readable=["orders"]) == {"orders"}


@pytest.mark.parametrize("dialect", WRITTEN)
def test_functions_of_the_database_pass_where_they_are_named(dialect: str) -> None:
    for sql, name in (("SELECT tax(1)", "tax"), ("SELECT shop.tax(1)", "shop.tax")):
        with pytest.raises(UnreadableQuery, match="no function"):
            check_query(sql, dialect)
        check_query(sql, dialect, own=Own(functions=frozenset({name})))


def test_types_of_the_database_pass_where_they_are_named() -> None:
    for sql in ("SELECT 'open'::order_status", "SELECT CAST('open' AS order_status)"):
        with pytest.raises(UnsafeQuery, match="casting"):
            check_query(sql, "postgres")
        check_query(sql, "postgres", own=Own(types=frozenset({"order_status"})))


@pytest.mark.parametrize(
    ("dialect", "sql", "told"),
    [
        ("postgres", "SELECT $$it's$$", "dollar quotes"),
        ("postgres", "SELECT $a$it's$a$", "dollar quotes"),
        ("postgres", "SELECT $1", "parameters"),
        ("mysql", "SELECT born::date FROM patients", r"CAST\(x AS type\)"),
        ("mariadb", r"SELECT 'it\'s'", "write '' for it"),
    ],
)
def test_what_cannot_be_cut_is_called_by_its_name(dialect: str, sql: str, told: str) -> None:
    with pytest.raises(UnreadableQuery, match=told):
        check_query(sql, dialect)


def test_functions_of_others_have_suggestions() -> None:
    for dialect, call, written in (
        ("postgres", "strftime('%Y', x)", "to_char"),
        ("duckdb", "to_char(x, 'YYYY')", "strftime"),
        ("mysql", "string_agg(x, ',')", "group_concat"),
    ):
        with pytest.raises(UnreadableQuery, match=f"write {written}") as caught:
            check_query(f"SELECT {call}", dialect)
        assert caught.value.cause == "unknown_function"


def test_a_name_after_a_dot_is_a_column_in_postgres() -> None:
    sql = "SELECT o.discounted FROM orders o"
    check_query(sql, "postgres", readable=["orders"])
    check_query(sql, "postgres", readable=["orders"], columns={"discounted"})
    with pytest.raises(UnreadableQuery, match="no such column"):
        check_query(sql, "postgres", readable=["orders"], columns={"id"})
    for sql in (
        "SELECT o.discounted AS discounted FROM orders o",
        "SELECT o.discounted FROM orders o, (SELECT 1 AS discounted) AS x",
        "SELECT 1 AS discounted FROM orders o ORDER BY o.discounted",
        "SELECT j.discounted FROM (orders o CROSS JOIN orders p) AS j, (SELECT 1 AS discounted) x",
        "SELECT s.discounted FROM (SELECT o.* FROM orders o) AS s, (SELECT 1 AS discounted) AS x",
    ):
        with pytest.raises(UnreadableQuery, match="no such column"):
            check_query(sql, "postgres", readable=["orders"], columns={"id"})
    given = "SELECT o.n FROM (SELECT count(*) AS n FROM orders) AS o"
    check_query(given, "postgres", readable=["orders"], columns={"id"})


GIVEN = [
    "SELECT t.n FROM (SELECT count(*) FROM orders) AS t(n)",
    "SELECT s.x, s.id FROM (SELECT * FROM (SELECT id AS x FROM orders) q, orders o) AS s",
    "SELECT s.id, s.n FROM (SELECT o.*, 1 AS n FROM orders o) AS s",
    "SELECT u.y FROM (SELECT id AS y FROM orders UNION SELECT id FROM orders) AS u",
    "SELECT l.m FROM orders o, LATERAL (SELECT max(id) AS m FROM orders p WHERE p.id = o.id) l",
    "SELECT v.a, v.column2 FROM (VALUES (1, 2)) AS v(a)",
    "SELECT z.a, z.b FROM unnest(ARRAY[1]) WITH ORDINALITY AS z(a, b)",
    "SELECT z.z, z.ordinality FROM unnest(ARRAY[1]) WITH ORDINALITY AS z",
    "SELECT e.value, k.key FROM jsonb_array_elements('[]') AS e, json_each('{}') AS k",
    "SELECT r.a, j.b FROM json_to_record('{}') AS r(a int), "
    "JSON_TABLE('[1]', '$[*]' COLUMNS (b int PATH '$')) AS j",
    "SELECT j.id FROM (orders o CROSS JOIN orders p) AS j",
    "WITH RECURSIVE c(d) AS (SELECT 0 UNION ALL SELECT c.d + 1 FROM c) SELECT c.d FROM c",
    "WITH a AS (SELECT id AS b FROM orders), c AS (SELECT * FROM a) SELECT c.b FROM c",
    "SELECT g.id FROM (SELECT g.* FROM orders g) AS g",
    "SELECT min(o.id) AS xmin FROM orders o ORDER BY xmin",
    # Names are looked for from the innermost query outwards.
    "WITH t AS (SELECT t.id AS n FROM orders t WHERE t.id = 1) SELECT t.n FROM t ORDER BY t.n",
    "WITH orders AS (SELECT orders.id AS n FROM orders) SELECT orders.n FROM orders",
    "WITH o(n) AS (SELECT o.id FROM orders o) SELECT max(o.n) FROM o GROUP BY o.n HAVING o.n > 0",
    "WITH x AS (WITH y AS (SELECT y.id AS k FROM orders y) SELECT y.k FROM y) SELECT y.id "
    "FROM orders y WHERE EXISTS (SELECT 1 FROM x y WHERE y.k = 1)",
    "WITH RECURSIVE t AS (SELECT t.id, 0 AS n FROM orders t WHERE t.id > 0 "
    "UNION ALL SELECT o.id, t.n + 1 FROM orders o JOIN t ON t.id = o.id WHERE t.n < 3) "
    "SELECT t.n FROM t",
    "SELECT (SELECT max(t.n) FROM (SELECT t.id AS n FROM orders t) AS t) FROM orders t "
    "WHERE t.id > 1",
    "SELECT t.id FROM orders t WHERE EXISTS (SELECT 1 FROM (SELECT 1 AS n) AS t "
    "JOIN orders o ON t.n = o.id)",
    "WITH t AS (SELECT 1 AS one) SELECT t.one FROM t UNION ALL SELECT t.id FROM orders t",
    "SELECT l.n FROM orders t LEFT JOIN LATERAL (SELECT t.n FROM (SELECT t.id AS n) t) l ON true",
    "SELECT t.id, t.rank FROM (SELECT t.id, rank() OVER (PARTITION BY t.id) FROM orders t "
    "WINDOW w AS (ORDER BY t.id)) AS t WHERE t.rank = 1",
    "SELECT t.id FROM (orders t JOIN orders o ON o.id = t.id) WHERE o.id > 1",
    "SELECT t.count, t.sum FROM (SELECT count(*), sum(id)::int FROM orders) AS t",
    "SELECT t.n FROM (SELECT DISTINCT ON (t.id) t.id AS n FROM orders t) AS t JOIN orders o "
    "ON o.id = t.n",
]


@pytest.mark.parametrize("sql", GIVEN)
def test_what_a_query_gives_itself_may_stand_after_a_dot(sql: str) -> None:
    check_query(sql, "postgres", readable=["orders"], columns={"id"})


def test_a_long_chain_of_expressions_is_told() -> None:
    chain = "".join(f", a{n} AS (SELECT * FROM a{n - 1})" for n in range(1, 600))
    with pytest.raises(UnreadableQuery, match="build on each other"):
        check_query(f"WITH a0 AS (SELECT 1 AS x){chain} SELECT z.x FROM a599 AS z", "postgres")


def test_in_oracle_every_name_is_a_column() -> None:
    sql = "SELECT o.id, total, n FROM orders o, (SELECT count(*) AS n FROM orders) WHERE rownum < 5"
    check_query(sql, "oracle", readable=["orders"], columns={"id", "TOTAL"})
    for sql in ("SELECT evil FROM dual", "SELECT orders.evil FROM orders"):
        with pytest.raises(UnreadableQuery, match="no such column"):
            check_query(sql, "oracle", readable=["orders"], columns={"id"})


class StoppedError(Exception):
    """What a caller raises to end the check."""


@pytest.mark.parametrize("dialect", WRITTEN)
def test_the_check_stops_when_it_is_told_to(dialect: str) -> None:
    def stop() -> None:
        raise StoppedError

    with pytest.raises(StoppedError):
        check_query("SELECT 1 AS never_read_before", dialect, stop=stop)


@pytest.mark.parametrize("dialect", [*WRITTEN, "clickhouse", "tsql", "snowflake"])
def test_every_shape_is_read_in_few_steps(dialect: str) -> None:
    """A stop is asked for every 256 steps and 512 nodes: that tells how many there were."""
    shapes = random.Random(dialect).sample(list(all_shapes()), 60)
    for text in [shape.text(times) for shape in shapes for times in (15, 60)]:
        asked = 0

        def count() -> None:
            nonlocal asked
            asked += 1

        try:
            check_query(text, dialect, readable=["a", "p", "t"], stop=count)
        except UnsafeQuery:
            continue
        assert asked <= 4 + (2_000 + 8 * len(text)) // 256, text


def room(sql: str, dialect: str) -> bool:
    """True if the query twice in one isn't too much to be read."""
    twice = f"SELECT ({sql.rstrip(';')}), ({sql.rstrip(';')})"
    try:
        check_query(twice, dialect, readable=readable(dialect))
    except UnsafeQuery as error:
        return "too many readings" not in str(error)
    return True


@pytest.mark.parametrize("dialect", WRITTEN)
def test_queries_of_the_cases_are_far_from_the_limit_of_steps(dialect: str) -> None:
    texts = [sql for sql in harmless(dialect) if sql.startswith("SELECT") and "--" not in sql]
    assert [sql for sql in texts if not room(sql, dialect)] == []
