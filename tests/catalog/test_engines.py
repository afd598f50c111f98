"""What is read of DuckDB, PostgreSQL and MariaDB, and how much."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from sqlwright.catalog.joins import infer_joins, unmatched_keys
from sqlwright.catalog.reading import TimedReader
from sqlwright.catalog.records import Catalog, ColumnProfile
from sqlwright.catalog.scan import ScanLimits, TableScan, estimated_rows, scan_table
from sqlwright.protocols import Run
from sqlwright.schema import ColumnRef, ForeignKey, Schema
from sqlwright.sql.dialects import dialect_named

from .drivers import DriverReader

Opened = tuple[Schema, TimedReader, DriverReader]
Open = Callable[[str], Opened]

KINDS = {
    "duckdb": """
        CREATE TYPE mood AS ENUM ('calm', 'cross');
        CREATE TABLE t (id INTEGER PRIMARY KEY, name VARCHAR, price DECIMAL(10, 2),
            count DECIMAL(9, 0), big HUGEINT, ok BOOLEAN, day DATE, moment TIMESTAMP,
            clock TIME, gap INTERVAL, key UUID, tags VARCHAR[], doc JSON, how mood,
            picture BLOB, "odd ""name" VARCHAR);
        INSERT INTO t SELECT i, 'n' || i % 3, i / 4.0, i, 170141183460469231731687303715884105727,
            i % 2 = 0, DATE '2024-01-01' + i::INTEGER,
            TIMESTAMP '2024-01-01 10:00:00' + to_hours(i),
            TIME '10:00:00' + to_minutes(i), to_days(i::INTEGER), uuid(), ['a', 'b' || i],
            '{"a": ' || i || '}', CASE WHEN i % 3 = 0 THEN 'cross' ELSE 'calm' END::mood,
            repeat('x', 10000)::BLOB, i || repeat(' long', 1000)
        FROM range(40) AS r(i);
    """,
    "postgres": """
        CREATE TYPE mood AS ENUM ('calm', 'cross');
        CREATE TABLE t (id INTEGER PRIMARY KEY, name VARCHAR(20), price DECIMAL(10, 2),
            count DECIMAL(9, 0), big NUMERIC, ok BOOLEAN, day DATE, moment TIMESTAMPTZ, clock TIME,
            gap INTERVAL, key UUID, tags TEXT[], doc JSONB, how mood, picture BYTEA,
            "odd ""name" TEXT);
        INSERT INTO t SELECT i, 'n' || i % 3, i / 4.0, i, 170141183460469231731687303715884105727,
            i % 2 = 0, DATE '2024-01-01' + i,
            TIMESTAMPTZ '2024-01-01 10:00:00Z' + i * INTERVAL '1h',
            TIME '10:00:00' + i * INTERVAL '1min', i * INTERVAL '1 day', gen_random_uuid(),
            ARRAY['a', 'b' || i], jsonb_build_object('a', i),
            CASE WHEN i % 3 = 0 THEN 'cross' ELSE 'calm' END::mood,
            convert_to(repeat('x', 10000), 'UTF8'), i || repeat(' long', 1000)
        FROM generate_series(0, 39) AS r(i);
    """,
    "mariadb": """
        CREATE TABLE t (id INTEGER PRIMARY KEY, name VARCHAR(20), price DECIMAL(10, 2),
            count DECIMAL(9, 0), big DECIMAL(39, 0), ok BOOLEAN, day DATE, moment DATETIME,
            clock TIME, gap TEXT, `key` UUID, tags JSON, doc JSON, how ENUM ('calm', 'cross'),
            picture BLOB, `odd "name` TEXT);
        INSERT INTO t SELECT seq, concat('n', seq % 3), seq / 4.0, seq,
            170141183460469231731687303715884105727, seq % 2 = 0,
            DATE '2024-01-01' + INTERVAL seq DAY,
            TIMESTAMP '2024-01-01 10:00:00' + INTERVAL seq HOUR,
            TIME '10:00:00' + INTERVAL seq MINUTE, NULL, uuid(), '["a", "b"]',
            json_object('a', seq), CASE WHEN seq % 3 = 0 THEN 'cross' ELSE 'calm' END,
            repeat('x', 10000), concat(seq, repeat(' long', 1000)) FROM seq_0_to_39;
    """,
}
LARGE = {
    "duckdb": "CREATE TABLE t AS SELECT i AS id, 'n' || i % 10 AS name FROM range({}) AS r(i)",
    "postgres": "CREATE TABLE t AS SELECT i AS id, 'n' || i % 10 AS name"
    " FROM generate_series(0, {} - 1) AS r(i)",
    "mariadb": "CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO t SELECT seq,"
    " concat('n', seq % 10) FROM seq_0_to_9999999 LIMIT {}",
}


@pytest.fixture(params=["duckdb", "postgres", "mariadb"])
def engine(request: pytest.FixtureRequest) -> str:
    """The name of each dialect."""
    name: str = request.param
    return name


@pytest.fixture
def opened(engine: str, request: pytest.FixtureRequest) -> Iterator[Open]:
    """Fills a database of the engine by a script and opens it for reading."""
    connections: list[Any] = []

    def made(script: str) -> Opened:
        connection = CONNECT[engine](request, script)
        connections.append(connection)
        reader = DriverReader(connection, engine)
        return reader.schema(), TimedReader(reader, Run()), reader

    yield made
    for connection in connections:
        connection.close()


def _duckdb(request: pytest.FixtureRequest, script: str) -> Any:
    duckdb = pytest.importorskip("duckdb", reason="duckdb isn't installed")
    folder: Path = request.getfixturevalue("tmp_path")
    connection = duckdb.connect(str(folder / "made.duckdb"))
    connection.execute(script)
    return connection


def _postgres(request: pytest.FixtureRequest, script: str) -> Any:
    server = request.getfixturevalue("postgres_server")
    return server.connect(server.create(script))


def _mariadb(request: pytest.FixtureRequest, script: str) -> Any:
    server = request.getfixturevalue("mariadb_server")
    return server.connect(server.create(script))


CONNECT = {"duckdb": _duckdb, "postgres": _postgres, "mariadb": _mariadb}


def scan(opened: Opened, table: str = "t", rows: int | None = None) -> TableScan:
    schema, reading, _ = opened
    found = schema.table(table)
    assert found is not None
    return scan_table(reading, found, ScanLimits(rows=rows), dialect=dialect_named(schema.dialect))


def profiles(scanned: TableScan) -> dict[str, ColumnProfile]:
    return {column.ref.column: column.profile for column in scanned.columns}


def test_cells_of_every_kind(opened: Open, engine: str) -> None:
    made = opened(KINDS[engine])
    scanned = scan(made)
    assert scanned.profile.note == ""
    assert (scanned.profile.rows, scanned.profile.rows_exact) == (40, True)
    found = profiles(scanned)
    stored = {name: set(profile.storage) for name, profile in found.items()}
    assert stored["price"] == {"real"}
    assert stored["count"] == stored["id"] == stored["ok"] == {"integer"}
    assert stored["picture"] == {"blob"}
    assert all(stored[name] == {"text"} for name in ("day", "moment", "key", "tags", "doc", "how"))
    assert (found["price"].minimum, found["price"].maximum) == (0.0, 9.75)
    assert (found["count"].minimum, found["count"].maximum) == (0, 39)
    assert (found["day"].minimum, found["day"].maximum) == ("2024-01-01", "2024-02-09")
    assert str(found["moment"].maximum).startswith("2024-01-03 01:00:00")
    formats = {name: [form.name for form in profile.formats] for name, profile in found.items()}
    assert formats["day"] == ["iso_date"]
    assert formats["moment"] == ["iso_datetime"]
    assert formats["ok"] == ["boolean"]
    assert formats["key"] == ["uuid"]
    assert found["day"].unique
    assert dict(found["how"].frequent) == {"calm": 26, "cross": 14}
    indexed = {name: profile.indexing for name, profile in found.items()}
    assert indexed["name"] == indexed["how"] == indexed["day"] == "whole"
    assert indexed["key"] == "identifier"
    assert indexed['odd "name'] == "free_text"
    if engine != "mariadb":  # to which JSON is a text
        assert indexed["tags"] == indexed["doc"] == "free_text"
    assert indexed["moment"] == indexed["clock"] == indexed["picture"] == "none"
    listed = {column.ref.column: dict(column.texts) for column in scanned.columns}
    assert listed["name"] == {"n0": 14, "n1": 13, "n2": 13}
    assert listed["day"]["2024-01-31"] == 1
    catalog = Catalog(made[0], columns={c.ref: c.profile for c in scanned.columns})
    assert catalog.dates[ColumnRef("t", "day")]
    assert catalog.dates[ColumnRef("t", "moment")]


def test_a_large_table_is_sampled_from_all_over(opened: Open, engine: str) -> None:
    made = opened(LARGE[engine].format(400_000))
    scanned = scan(made, rows=5_000)
    found = profiles(scanned)
    assert scanned.profile.sampled
    assert not scanned.profile.rows_exact
    assert 300_000 < scanned.profile.rows < 500_000
    assert 2_000 < found["id"].rows < 12_000
    least, most = found["id"].minimum, found["id"].maximum
    assert isinstance(least, int)
    assert isinstance(most, int)
    assert least < 60_000
    assert most > 340_000
    assert len(found["name"].frequent) == 10
    assert made[2].read < 20_000


def test_a_table_below_the_limit_is_read_whole(opened: Open, engine: str) -> None:
    made = opened(LARGE[engine].format(3_000))
    scanned = scan(made, rows=5_000)
    assert (scanned.profile.rows, scanned.profile.rows_exact) == (3_000, True)
    assert not scanned.profile.sampled
    assert profiles(scanned)["id"].unique


def test_views_are_read_from_their_beginning(opened: Open, engine: str) -> None:
    made = opened(LARGE[engine].format(30_000) + "; CREATE VIEW v AS SELECT name FROM t;")
    scanned = scan(made, "v", rows=2_000)
    assert scanned.profile.sampled
    assert 2_000 <= profiles(scanned)["name"].rows <= 2_001
    assert len(profiles(scanned)["name"].frequent) == 10


def test_rows_are_estimated_not_counted(opened: Open, engine: str) -> None:
    schema, reading, reader = opened(LARGE[engine].format(200_000))
    rows = estimated_rows(reading, schema.tables[0], dialect_named(engine))
    assert rows is not None
    assert 150_000 < rows < 250_000
    assert reader.read <= 3


CUSTOMERS = """
    CREATE TABLE customers (id INTEGER PRIMARY KEY, code VARCHAR(20), name VARCHAR(20));
    CREATE TABLE orders (order_id INTEGER PRIMARY KEY, customer_id VARCHAR(20),
        customer_code CHAR(4));
    INSERT INTO customers VALUES (1, 'A001', 'ann'), (2, 'A002', 'bob'), (3, 'A003', 'cy'),
        (4, 'A004', 'dee'), (5, 'A005', 'eve'), (6, 'A006', 'flo');
    INSERT INTO orders VALUES (10, '1', 'a001'), (11, '2', 'a002'), (12, '3', 'a003'),
        (13, '4', 'a004'), (14, '5', 'a005'), (15, '6', 'a006'), (16, '1', NULL);
"""


def test_numbers_and_texts_are_compared_as_texts(opened: Open) -> None:
    schema, reading, _ = opened(CUSTOMERS)
    columns = [
        column
        for table in schema.tables
        for column in scan_table(
            reading, table, ScanLimits(), dialect=dialect_named(schema.dialect)
        ).columns
    ]
    (key,) = infer_joins(schema, {c.ref: c.profile for c in columns}, reading)
    assert key.pairs == ((ColumnRef("orders", "customer_id"), ColumnRef("customers", "id")),)
    assert "100 % of 6 sampled values found" in key.evidence
    assert "compared as texts, since their types differ" in key.evidence


def test_keys_that_match_in_another_case(opened: Open, engine: str) -> None:
    schema, reading, _ = opened(CUSTOMERS)
    key = ForeignKey("orders", ("customer_code",), "customers", ("code",))
    told = unmatched_keys(schema, [key], reading)
    if engine == "mariadb":  # its texts are equal whatever their case
        assert told == {}
    else:
        assert told[key] == (
            "none of 6 values is found there; join on"
            ' "orders"."customer_code" = lower("customers"."code"), which finds all 6'
        )


def test_a_table_that_cannot_be_read_is_a_note(opened: Open, engine: str) -> None:
    schema, reading, reader = opened(LARGE[engine].format(10))
    reader.connection.cursor().execute("DROP TABLE t")
    scanned = scan((schema, reading, reader))
    assert scanned.profile.note.startswith("t could not be read: ")
    assert scanned.columns[0].profile.rows == 0


def test_parquet_files_are_sampled_without_reading_them_whole(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb", reason="duckdb isn't installed")
    connection = duckdb.connect()
    connection.execute(
        f"COPY (SELECT i AS id, 'n' || i % 10 AS name FROM range(400_000) AS r(i))"
        f" TO '{tmp_path}/t.parquet' (ROW_GROUP_SIZE 50_000);"
        f" CREATE VIEW t AS FROM '{tmp_path}/t.parquet'"
    )
    reader = DriverReader(connection, "duckdb")
    scanned = scan((reader.schema(), TimedReader(reader, Run()), reader), rows=8_000)
    found = profiles(scanned)
    assert (scanned.profile.rows, scanned.profile.sampled) == (400_000, True)
    assert found["id"].rows == 8_000
    assert isinstance(found["id"].maximum, int)
    assert found["id"].maximum > 340_000
    assert reader.read < 10_000
