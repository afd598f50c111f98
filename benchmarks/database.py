"""What the worker process costs, and how soon it stops a query.

    python benchmarks/database.py

Prints the median extra time of a warm query over the same query on the same binding in this
process (check of the parse tree included, and apart), and how long past its limit each query of
tests/cases/denial ran.
"""

from __future__ import annotations

import argparse
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import yaml

from sqlwright.database import open_database
from sqlwright.database.sqlite.connection import TrustedConnection
from sqlwright.database.sqlite.database import SqliteDatabase
from sqlwright.database.sqlite.files import DatabaseFile
from sqlwright.protocols import Limits, Run

DENIAL = Path(__file__).parents[1] / "tests" / "cases" / "denial" / "queries.yaml"
QUERIES = {
    "one row by key": "SELECT t FROM numbers WHERE n = {i}",
    "count": "SELECT count(*) FROM numbers WHERE n > {i}",
    "group": "SELECT n % 10 AS k, count(*), avg(n) FROM numbers GROUP BY k ORDER BY k LIMIT {i}",
    "join": "SELECT a.t, b.n FROM numbers a JOIN numbers b ON a.n = b.n WHERE a.n < {i}",
    "1,000 rows of 5": "SELECT n, t, x, n + {i}, t || 'x' FROM numbers LIMIT 1000",
    "1,000 rows, NULLs": "SELECT nullif(n % 3, 0), nullif(t, 'text {i}') FROM numbers LIMIT 1000",
}


class Cost(NamedTuple):
    wall: float
    """Median, ms."""
    processor: float
    """Mean, ms: tells more than the wall clock on a busy machine."""


def make(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE numbers (n INTEGER PRIMARY KEY, t TEXT, x REAL)")
    rows = [(i, f"text {i}", i / 7) for i in range(20_000)]
    connection.executemany("INSERT INTO numbers VALUES (?, ?, ?)", rows)
    connection.commit()
    connection.close()


def cost(call: Callable[[int], object], times: int, pids: tuple[int, ...] = ()) -> Cost:
    taken = []
    processor = processor_ms(pids)
    for i in range(times):
        start = time.perf_counter()
        call(i + 1)
        taken.append(time.perf_counter() - start)
    return Cost(statistics.median(taken) * 1000, (processor_ms(pids) - processor) / times)


def processor_ms(pids: tuple[int, ...]) -> float:
    """Processor time so far, this process's and the named ones'."""
    others = (Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii") for pid in pids)
    return time.process_time() * 1000 + sum(int(text.split()[0]) for text in others) / 1e6


def overhead(path: Path, database: SqliteDatabase, times: int) -> None:
    run, limits = Run(), Limits(rows=100_000)
    direct = TrustedConnection(DatabaseFile(path).source().uri)
    print(f"{'(ms)':20}{'in process':>11}{'worker':>9}{'extra':>9}{'ratio':>8}", end="")
    print(f"{'extra, same text':>19}{'extra processor time':>23}")
    for name, query in QUERIES.items():
        inside = cost(lambda i, q=query: list(direct.rows(q.format(i=i))), times)
        outside = cost(
            lambda i, q=query: database.execute(q.format(i=i), run, limits=limits),
            times,
            database.worker_pids,
        )
        # The same text again: its check is remembered.
        again = cost(lambda _, q=query: database.execute(q.format(i=7), run, limits=limits), times)
        same = cost(lambda _, q=query: list(direct.rows(q.format(i=7))), times)
        print(
            f"{name:20}{inside.wall:11.3f}{outside.wall:9.3f}{outside.wall - inside.wall:9.3f}"
            f"{outside.wall / inside.wall:8.1f}{again.wall - same.wall:19.3f}"
            f"{outside.processor - inside.processor:23.3f}"
        )
    direct.close()


def denial(database: SqliteDatabase, seconds: float) -> None:
    run, limits = Run(), Limits(seconds=seconds, memory_bytes=512 * 2**20)
    worst = 0.0
    print(f"\n{'denial attempt':34}{'past limit':>11}{'next query':>12}  outcome (s)")
    for name, query in yaml.safe_load(DENIAL.read_text(encoding="utf-8")).items():
        start = time.perf_counter()
        result = database.execute(query, run, limits=limits)
        past = time.perf_counter() - start - seconds
        start = time.perf_counter()
        works = database.execute("SELECT count(*) FROM numbers", run).ok
        after = time.perf_counter() - start
        worst = max(worst, past)
        outcome = result.error.kind if result.error else "finished"
        print(f"{name:34}{past:11.3f}{after:12.3f}  {outcome}{'' if works else ', NEXT FAILED'}")
    print(f"worst past the limit: {worst:.3f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=300, help="repetitions of each query")
    parser.add_argument("--seconds", type=float, default=0.5, help="time limit of each attempt")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "numbers.db"
        make(path)
        start = time.perf_counter()
        database = open_database(str(path))
        opened = time.perf_counter()
        database.execute("SELECT 1", Run())
        first = time.perf_counter() - opened
        print(f"open {opened - start:.3f} s, first query after {first:.3f} s\n")
        overhead(path, database, options.times)
        denial(database, options.seconds)
        database.close()


if __name__ == "__main__":
    main()
