"""The schema as the login may see it, in a handful of statements."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from sqlwright.database.postgres.database import PostgresDatabase
from sqlwright.database.postgres.introspect import read_known
from sqlwright.database.reader import DatabaseReader
from sqlwright.errors import ConfigError
from sqlwright.protocols import Run
from sqlwright.schema import ForeignKey
from tests.servers.postgres import PostgresServer

Opener = Callable[..., PostgresDatabase]
BUSINESS = """
CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
CREATE DOMAIN price AS numeric(8, 2) NOT NULL CHECK (value >= 0);
CREATE TABLE "Customers" (
    id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    "Full Name" varchar(40) NOT NULL,
    feels mood,
    secret text
);
COMMENT ON TABLE "Customers" IS 'Everybody who bought';
COMMENT ON COLUMN "Customers"."Full Name" IS 'as they write it';
CREATE SCHEMA sales;
CREATE TABLE sales.orders (
    id int, day date, customer int NOT NULL REFERENCES "Customers", net price,
    gross numeric GENERATED ALWAYS AS (net * 1.2) STORED, PRIMARY KEY (id, day)
) PARTITION BY RANGE (day);
CREATE TABLE sales.orders_2023 PARTITION OF sales.orders
    FOR VALUES FROM ('2023-01-01') TO ('2024-01-01');
CREATE TABLE sales.orders_2024 PARTITION OF sales.orders
    FOR VALUES FROM ('2024-01-01') TO ('2025-01-01');
CREATE TABLE sales.lines (
    order_id int, day date, text text, FOREIGN KEY (order_id, day) REFERENCES sales.orders
);
CREATE TABLE orders (note text);
CREATE TABLE pg_tables (note text);
CREATE VIEW happy AS SELECT id, "Full Name" FROM "Customers" WHERE feels = 'happy';
CREATE MATERIALIZED VIEW sales.per_day AS SELECT day, count(*) AS n FROM sales.orders GROUP BY day;
CREATE EXTENSION pg_buffercache;
CREATE SCHEMA chunks;
CREATE TABLE chunks.chunk_1 (note text);
ALTER EXTENSION pg_buffercache ADD SCHEMA chunks;
CREATE TABLE gone (a int, b int, c int);
ALTER TABLE gone DROP COLUMN b;
INSERT INTO "Customers" ("Full Name", feels) VALUES ('Ann', 'happy'), ('Bo', 'sad');
INSERT INTO sales.orders (id, day, customer, net)
    VALUES (1, '2023-05-05', 1, 10), (2, '2024-05-05', 1, 5);
ANALYZE;
"""


@pytest.fixture(scope="module")
def business(postgres_server: PostgresServer) -> Iterator[str]:
    """The name of a database with two namespaces and most that there is."""
    name = postgres_server.create(BUSINESS)
    yield name
    postgres_server.drop(name)


def test_tables_views_columns_and_keys(
    postgres_server: PostgresServer, business: str, opened: Opener
) -> None:
    database = opened(postgres_server.url(business))
    schema = database.schema()
    assert (schema.name, schema.dialect) == (business, "postgres")
    shown = {table.name: (table.namespace, table.kind) for table in schema.tables}
    assert shown == {
        "Customers": ("", "table"),
        "orders": ("", "table"),
        "happy": ("", "view"),
        "gone": ("", "table"),
        "public.pg_tables": ("public", "table"),  # its name alone is the system's
        "sales.orders": ("sales", "table"),
        "sales.lines": ("sales", "table"),
        "sales.per_day": ("sales", "view"),
    }
    customers, orders = schema.table("Customers"), schema.table("sales.orders")
    assert customers is not None
    assert orders is not None
    assert customers.description == "Everybody who bought"
    assert customers.primary_key == ("id",)
    columns = [(c.name, c.type, c.nullable, c.generated) for c in customers.columns]
    assert columns == [
        ("id", "integer", False, True),
        ("Full Name", "character varying(40)", False, False),
        ("feels", "mood", True, False),
        ("secret", "text", True, False),
    ]
    assert customers.columns[1].description == "as they write it"
    assert customers.columns[2].value_description == "one of: sad, ok, happy"
    assert orders.primary_key == ("id", "day")
    assert [(c.name, c.type, c.nullable, c.generated) for c in orders.columns[3:]] == [
        ("net", "numeric(8,2)", False, False),
        ("gross", "numeric", True, True),
    ]
    gone = schema.table("gone")
    assert gone is not None
    assert [column.name for column in gone.columns] == ["a", "c"]
    assert set(schema.foreign_keys) == {
        ForeignKey("sales.orders", ("customer",), "Customers", ("id",)),
        ForeignKey("sales.lines", ("order_id", "day"), "sales.orders", ("id", "day")),
    }
    happy = schema.table("happy")
    assert happy is not None
    assert 'FROM "Customers"' in happy.definition


def test_names_in_queries(postgres_server: PostgresServer, business: str, opened: Opener) -> None:
    database = opened(postgres_server.url(business))
    counted = {
        sql: database.execute(sql, Run())
        for sql in (
            'SELECT count(*) FROM "Customers"',
            "SELECT count(*) FROM sales.orders",
            "SELECT count(*) FROM orders",
            'SELECT count("Full Name") FROM happy',
            "SELECT count(*) FROM sales.per_day",
            'SELECT count(*) FROM public."Customers"',
        )
    }
    assert {sql: result.rows for sql, result in counted.items()} == dict(
        zip(counted, (((n,),) for n in (2, 2, 0, 1, 0, 2)), strict=True)
    )
    assert database.execute("SELECT count(*) FROM Customers", Run()).error is not None
    assert database.execute("SELECT count(*) FROM pg_tables", Run()).error is not None


def test_the_first_namespace_of_the_path_is_the_usual_one(
    postgres_server: PostgresServer, business: str, opened: Opener
) -> None:
    url = postgres_server.reader(business, "USAGE ON SCHEMA sales", "SELECT ON sales.orders",
                                 "SELECT ON orders")  # fmt: skip
    role = url.split("//")[1].partition(":")[0]
    postgres_server.run(f"ALTER ROLE {role} SET search_path = nowhere, sales, public")
    database = opened(url)
    schema = database.schema()
    assert [(t.name, t.namespace) for t in schema.tables] == [
        ("orders", ""),
        ("public.orders", "public"),
    ]
    assert database.execute("SELECT count(*) FROM orders", Run()).rows == ((2,),)
    assert database.execute("SELECT count(*) FROM sales.orders", Run()).rows == ((2,),)


def test_only_what_the_login_may_read_is_known(
    postgres_server: PostgresServer, business: str, opened: Opener
) -> None:
    url = postgres_server.reader(
        business, 'SELECT (id, "Full Name") ON "Customers"', "SELECT ON happy"
    )
    database = opened(url)
    schema = database.schema()
    assert {t.name: [c.name for c in t.columns] for t in schema.tables} == {
        "Customers": ["id", "Full Name"],
        "happy": ["id", "Full Name"],
    }
    assert database.execute('SELECT "Full Name" FROM "Customers"', Run()).ok
    assert database.execute("SELECT id FROM happy", Run()).ok
    for sql in ('SELECT secret FROM "Customers"', 'SELECT * FROM "Customers"'):
        error = database.execute(sql, Run()).error
        assert error is not None
        assert (error.kind, error.cause) == ("sql", "forbidden")
    hidden = database.execute("SELECT * FROM sales.orders", Run()).error
    assert hidden is not None
    assert hidden.cause == "unknown_table"


def test_listed_tables_alone_are_known(
    postgres_server: PostgresServer, business: str, opened: Opener
) -> None:
    database = opened(postgres_server.url(business), tables=["customers", "sales.orders"])
    assert database.tables == ("Customers", "sales.orders")
    assert {t.name for t in database.schema().tables} == {"Customers", "sales.orders"}
    assert database.execute("SELECT count(*) FROM sales.orders", Run()).rows == ((2,),)
    for name in ("orders", "sales.lines", "happy", "sales.orders_2023", "pg_catalog.pg_class"):
        error = database.execute(f"SELECT * FROM {name}", Run()).error
        assert error is not None, name
        assert error.cause == "unknown_table" or error.kind == "unsafe"


@pytest.mark.parametrize(
    ("tables", "words"),
    [
        (["nowhere"], "has no table 'nowhere'"),
        (["sales.per_day"], "it shows what sales.orders holds"),
        (["happy"], "it shows what Customers holds"),
    ],
)
def test_lists_that_do_not_fit(
    postgres_server: PostgresServer, business: str, opened: Opener, tables: list[str], words: str
) -> None:
    with pytest.raises(ConfigError, match=words) as caught:
        opened(postgres_server.url(business), tables=tables)
    assert caught.value.hint


def test_a_view_over_what_the_login_may_not_read_can_be_listed(
    postgres_server: PostgresServer, business: str, opened: Opener
) -> None:
    database = opened(postgres_server.reader(business, "SELECT ON happy"), tables=["happy"])
    assert database.execute("SELECT count(*) FROM happy", Run()).rows == ((1,),)
    happy = database.schema().table("happy")
    assert happy is not None
    assert happy.definition == ""


def test_a_new_table_is_found_by_the_query_that_names_it(
    postgres_server: PostgresServer, own_shop: str, opened: Opener
) -> None:
    database = opened(own_shop)
    database.schema()
    postgres_server.run("CREATE TABLE later AS SELECT 7 AS x", own_shop.rpartition("/")[2])
    database._known = (0.0, database._known[1]) if database._known else None  # long ago
    assert database.execute("SELECT x FROM later", Run()).rows == ((7,),)


class CountingReader:
    """Counts the statements of another reader."""

    def __init__(self, reader: DatabaseReader) -> None:
        self._reader = reader
        self.statements = 0

    def rows(self, sql: str) -> Iterator[tuple[object, ...]]:
        self.statements += 1
        return self._reader.rows(sql)


def test_a_large_schema_takes_few_statements(
    postgres_server: PostgresServer, postgres_database: Callable[[str], str], opened: Opener
) -> None:
    name = postgres_database("""
        DO $$ BEGIN FOR i IN 1..500 LOOP
            EXECUTE format('CREATE TABLE t%s (id int, %s)', i, (
                SELECT string_agg(format('c%s int', j), ', ') FROM generate_series(1, 19) j));
        END LOOP; END $$; CREATE VIEW v AS SELECT * FROM t1;
    """)
    with opened(postgres_server.url(name)).reader() as reader:
        counting = CountingReader(reader)
        known = read_known(counting)  # type: ignore[arg-type]
    assert (len(known.schema.tables), known.schema.column_count) == (501, 10_020)
    assert counting.statements <= 7
