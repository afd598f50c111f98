"""How long the schema, a query and a question take."""

from __future__ import annotations

import random
import sqlite3
import statistics
import time
from pathlib import Path

import psycopg
from tests.servers.postgres import PostgresServer
from tests.servers.served import PEOPLE, Served

import sqlwright
from sqlwright.database import open_database
from sqlwright.database.guarded import GuardedDatabase
from sqlwright.demo.business import (
    SEED,
    business_rows,
    demo_questions,
    typed_script,
    write_business,
)
from sqlwright.protocols import Run

TABLES = """
DO $$ BEGIN FOR i IN 1..500 LOOP
    EXECUTE format('CREATE TABLE t%s (id int PRIMARY KEY, %s)', i, (
        SELECT string_agg(format('c%s int', j), ', ') FROM generate_series(1, 19) j));
    EXECUTE format('COMMENT ON TABLE t%s IS ''table %s''', i, i);
END LOOP; END $$
"""


def measure_schema(server: PostgresServer) -> bool:
    name = server.create(TABLES)
    with open_database(server.url(name)) as database:
        times = []
        for _ in range(5):
            began = time.perf_counter()
            schema = database.schema()
            times.append(time.perf_counter() - began)
    print(
        f"postgres schema: {len(schema.tables)} tables, {schema.column_count:,} columns in "
        f"{statistics.median(times):.2f} s (first {times[0]:.2f} s)"
    )
    return len(schema.tables) == 500 and max(times) <= 3.0


def measure_latency(served: Served, folder: Path) -> bool:
    path = folder / "shop.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE people (id int PRIMARY KEY, name text)")
    connection.executemany(
        "INSERT INTO people VALUES (?, ?)", [(g, f"person {g}") for g in range(1, PEOPLE + 1)]
    )
    connection.commit()
    connection.close()
    medians = {}
    with open_database(served.url) as theirs, open_database(str(path)) as ours:
        databases: dict[str, GuardedDatabase] = {"PostgreSQL": theirs, "SQLite": ours}
        for sql in (
            "SELECT name FROM people WHERE id = 7",
            "SELECT id, name FROM people LIMIT 900",
        ):
            times: dict[str, list[float]] = {engine: [] for engine in databases}
            for _ in range(200):
                for engine, database in databases.items():
                    began = time.perf_counter()
                    assert database.execute(sql, Run()).ok
                    times[engine].append(time.perf_counter() - began)
            for engine, taken in times.items():
                medians[engine] = statistics.median(taken) * 1000
            told = ", ".join(f"{engine} {ms:.2f} ms" for engine, ms in medians.items())
            print(f"postgres latency, median of 200: {told}: {sql}")
    return medians["PostgreSQL"] - medians["SQLite"] < 20


def measure_questions(server: PostgresServer, folder: Path, rounds: int = 5) -> bool:
    """The demo's questions by `local` on both, prepared and warm, in turn; the differences of the
    pairs. At most 20 ms more, of the median."""
    path = folder / "business.sqlite"
    write_business(path)
    url = server.url(server.create())
    _fill_business(url)
    differences = []
    with (
        sqlwright.open(path, home=folder / "home", prepare=True, record=False) as ours,
        sqlwright.open(url, home=folder / "home", prepare=True, record=False) as theirs,
    ):
        for session in (ours, theirs):
            session.ask("How many products are there?")
        for _ in range(rounds):
            for question in demo_questions():
                times = []
                for session in (ours, theirs):
                    began = time.perf_counter()
                    session.ask(question.text)
                    times.append(time.perf_counter() - began)
                differences.append(1000 * (times[1] - times[0]))
    least, median, most = statistics.quantiles(differences, n=4)
    print(
        f"postgres questions: a warm one takes {median:+.0f} ms more than on SQLite, the median of "
        f"{len(differences)} pairs; half of them {least:+.0f} to {most:+.0f} ms"
    )
    return median <= 20


def _fill_business(url: str) -> None:
    with psycopg.connect(url) as connection, connection.cursor() as cursor:
        cursor.execute(typed_script().encode())
        for table, rows in business_rows(random.Random(SEED)):
            marks = ", ".join(["%s"] * len(rows[0]))
            cursor.executemany(f"INSERT INTO {table} VALUES ({marks})".encode(), rows)
        cursor.execute("ANALYZE")
