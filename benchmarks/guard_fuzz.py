"""The check of the parse tree against the engine's own judgement, on random texts.

    python benchmarks/guard_fuzz.py --count 1000000 --seed 1
    python benchmarks/guard_fuzz.py --engine postgres --count 20000    # or mariadb, duckdb

Every text that the check accepts is analysed (not run) on a small database: SQLite asks its
authorizer, PostgreSQL and MariaDB keep it as a view, DuckDB gives its parse tree. It may only read
tables that the check told of and call functions that it knows. Prints each text on which they
disagree; exit code 1 when there is one. `tests/database/test_fuzz.py` does the same with 20,000
texts, `tests/sql/guards/test_engines.py` with 1,000 for each other engine.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlwright.errors import UnsafeQuery
from sqlwright.sql.guard import check_query
from sqlwright.sql.token_check import FUNCTIONS

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.database.fuzzing import Fuzzer
from tests.database.oracle import Oracle, disagreement
from tests.database.test_fuzz import seeds
from tests.servers import mariadb, postgres
from tests.servers.starting import running
from tests.sql.guards import attacks, harmless, readable
from tests.sql.guards import fuzzing as others
from tests.sql.guards.judges import Judge, judging_duckdb, judging_mariadb, judging_postgres
from tests.sql.guards.oracles import COLUMNS


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--engine", default="sqlite", choices=["sqlite", *_JUDGES])
    given = parser.parse_args()
    started = time.monotonic()
    if given.engine == "sqlite":
        counts = _against_sqlite(given.count, given.seed)
    else:
        with _JUDGES[given.engine]() as judge:
            counts = _against(judge, given.count, given.seed)
    print(f"{given.count:,} texts in {time.monotonic() - started:.0f} s: " +
          ", ".join(f"{number:,} {kind}" for kind, number in counts.items()))  # fmt: skip
    return 1 if counts["disagreed"] else 0


def _against_sqlite(count: int, seed: int) -> Counter[str]:
    oracle = Oracle()
    counts: Counter[str] = Counter()
    for sql in Fuzzer(seed, seeds()).texts(count):
        try:
            names = check_query(sql, views=oracle.views)
        except UnsafeQuery:
            counts["refused"] += 1
            continue
        counts["accepted"] += 1
        counts["prepared"] += oracle.prepare(sql) is not None
        if problem := disagreement(sql, names, FUNCTIONS, oracle):
            counts["disagreed"] += 1
            print(f"{problem}: {sql!r}")
    return counts


def _against(judge: Judge, count: int, seed: int) -> Counter[str]:
    dialect, counts = judge.dialect, Counter[str]()
    texts = others.Fuzzer(seed, harmless(dialect), attacks(dialect)).texts(count)
    for sql in texts:
        try:
            told = check_query(sql, dialect, readable=readable(dialect), columns=COLUMNS)
        except UnsafeQuery:
            counts["refused"] += 1
            continue
        counts["accepted"] += 1
        problem = judge.problem(sql, told)
        counts["analysed"] += problem is not None
        if problem:
            counts["disagreed"] += 1
            print(f"{problem}: {sql!r}")
    return counts


@contextmanager
def _postgres() -> Iterator[Judge]:
    programs = postgres.find_programs()
    if programs is None:
        raise SystemExit("there is no PostgreSQL")
    with (
        running(postgres.start_server, programs, "pg") as server,
        judging_postgres(server) as judge,
    ):
        yield judge


@contextmanager
def _mariadb() -> Iterator[Judge]:
    programs = mariadb.find_programs()
    if programs is None:
        raise SystemExit("there is no MariaDB")
    with running(mariadb.start_server, programs, "my") as server, judging_mariadb(server) as judge:
        yield judge


_JUDGES = {"postgres": _postgres, "mariadb": _mariadb, "duckdb": judging_duckdb}


if __name__ == "__main__":
    raise SystemExit(main())
