"""A folder of Parquet files: how much of it is read to open it, to read its schema, to ask it small
questions; and how long a question to a CSV file takes.

    python -m benchmarks.files --gigabytes 2
    python -m benchmarks.files --folder kept --gigabytes 5

It is measured by what the system says that the workers have read (/proc/PID/io). The folder is made
in a temporary place and removed, or made once and kept. `prepare` and `ask` run as commands, and
what they read counts their programs, which are about 60 MB each.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from sqlwright.database import open_database
from sqlwright.database.guarded import GuardedDatabase
from sqlwright.protocols import Limits, Run

ROWS = 4_000_000
"""Rows of one Parquet file, about 190 MB."""
PARQUET = (
    "SELECT i AS id, DATE '2020-01-01' + (i % 1500)::INTEGER AS day, i % 1000 AS customer, "
    "(i * 7919) % 100000 / 100.0 AS amount, md5(i::VARCHAR) AS note FROM range({}, {}) t(i)"
)
QUESTIONS = {
    "count": "SELECT count(*) FROM sales",
    "largest id": "SELECT max(id) FROM sales",
    "one row": "SELECT * FROM sales WHERE id = 1234567",
    "one column": "SELECT sum(amount) FROM sales",
    "first rows": "SELECT * FROM sales LIMIT 10",
}


def bytes_read(database: GuardedDatabase) -> int:
    """Bytes that the workers that live now have read."""
    total = 0
    for pid in database.worker_pids:
        with Path(f"/proc/{pid}/io").open(encoding="ascii") as file:
            total += int(next(file).split()[1])
    return total


@contextmanager
def measured(what: str, database: GuardedDatabase) -> Iterator[None]:
    before, began = bytes_read(database), time.perf_counter()
    yield
    took = time.perf_counter() - began
    print(f"{what:14} {took:7.3f} s  {(bytes_read(database) - before) / 1e6:10.2f} MB read")


def make(folder: Path, gigabytes: float) -> None:
    connection = duckdb.connect()
    number = len(list(folder.iterdir()))
    while sum(path.stat().st_size for path in folder.iterdir()) < gigabytes * 1e9:
        query = PARQUET.format(number * ROWS, (number + 1) * ROWS)
        connection.execute(f"COPY ({query}) TO '{folder}/sales-{number:03}.parquet'")
        number += 1
    connection.close()


def ask_parquet(folder: Path) -> None:
    began = time.perf_counter()
    with open_database(str(folder / "*.parquet")) as database:
        print(f"{'open':14} {time.perf_counter() - began:7.3f} s")
        print(f"{database.size() / 1e9:.2f} GB in {len(list(folder.iterdir()))} files; "
              f"{bytes_read(database) / 1e6:.2f} MB read so far, programs included")  # fmt: skip
        with measured("schema", database):
            database.schema()
        for name, sql in QUESTIONS.items():
            with measured(name, database):
                result = database.execute(sql, Run(), limits=Limits(seconds=60))
            assert result.ok, result.error


def measure_command(what: str, home: Path, *arguments: str) -> None:
    """Runs the command line and prints what it and its workers read, by the system's own count of
    children that have ended, and the most memory that one of them held."""
    own = Path("/proc/self/io")
    before, began = int(own.read_text(encoding="ascii").split()[1]), time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "sqlwright", *arguments],
        env=os.environ | {"SQLWRIGHT_HOME": str(home)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    took = time.perf_counter() - began
    read = int(own.read_text(encoding="ascii").split()[1]) - before
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"{what:14} {took:7.1f} s  {read / 1e6:10.2f} MB read  {memory:7.0f} MB at most, "
          f"so far; code {done.returncode}")  # fmt: skip
    if done.returncode:
        print(done.stderr[-2000:])


def prepare_parquet(folder: Path, home: Path) -> None:
    pattern = str(folder / "*.parquet")
    measure_command("ask unprepared", home, "ask", pattern, "How many sales are there?")
    measure_command("prepare", home, "prepare", pattern)
    measure_command("prepare again", home, "prepare", pattern)
    measure_command("ask prepared", home, "ask", pattern, "How many sales are there?")


def ask_csv(folder: Path, megabytes: int) -> None:
    path = folder / "sales.csv"
    connection = duckdb.connect()
    rows = megabytes * 14_500
    connection.execute(f"COPY ({PARQUET.format(0, rows)}) TO '{path}'")
    connection.close()
    began = time.perf_counter()
    with open_database(str(path)) as database:
        print(f"CSV of {path.stat().st_size / 1e6:.0f} MB: opened in "
              f"{time.perf_counter() - began:.2f} s")  # fmt: skip
        for sql in ("SELECT count(*) FROM sales",
                    "SELECT customer, sum(amount) FROM sales GROUP BY 1"):  # fmt: skip
            with measured(sql[:14], database):
                result = database.execute(sql, Run(), limits=Limits(seconds=60))
            assert result.ok, result.error


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=0.2)
    parser.add_argument("--csv-megabytes", type=int, default=100)
    parser.add_argument("--folder", type=Path, help="where the files are made and kept")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as made, tempfile.TemporaryDirectory() as home:
        folder = options.folder or Path(made)
        folder.mkdir(exist_ok=True)
        make(folder, options.gigabytes)
        ask_parquet(folder)
        prepare_parquet(folder, Path(home))
        ask_csv(Path(home), options.csv_megabytes)


if __name__ == "__main__":
    main()
