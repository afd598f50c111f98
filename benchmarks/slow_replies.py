"""How long a question takes when a model's reply is SQL that takes long to read.

    python -m benchmarks.slow_replies --seconds 3

Each text is a reply of a model on loopback to one question, over DuckDB and SQLite, by two recipes.
Printed: what each took, and how much of it this process worked. Exit code 1 when one took more than
2 s over the limit.
"""

from __future__ import annotations

import argparse
import sqlite3
import sys
import tempfile
import time
from pathlib import Path

import duckdb

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.llm.server import Asked, ModelServer

from sqlwright import api
from sqlwright.llm.options import LlmOptions

OVER = 2.0
TABLE = "CREATE TABLE t (id INTEGER, a VARCHAR, b VARCHAR)"
REPLIES = {
    "16 columns of 200 subscripts": "SELECT " + ", ".join(["a" + "[1]" * 200] * 16) + " FROM t",
    "700 subscripts": "SELECT a" + "[1]" * 700 + " FROM t",
    "300 slices": "SELECT a" + "[1:2]" * 300 + " FROM t",
    "1,600 subscripts": "SELECT a" + "[1]" * 1_600 + " FROM t",
    "400 columns of 20 subscripts": "SELECT " + ", ".join(["a" + "[1]" * 20] * 400) + " FROM t",
    "subscripts of calls": "SELECT " + "lower(" * 40 + "a" + ")[1]" * 40 + " FROM t",
    "subscripts of sums": "SELECT " + ", ".join([f"({'+'.join('a' * 40)})[1]"] * 90) + " FROM t",
    "fields of subscripts": "SELECT a" + "[1].b" * 400 + " FROM t",
    "9,000 columns": "SELECT " + ", ".join(["a"] * 9_000) + " FROM t",
    "5,000 sums": "SELECT " + "+".join(["id"] * 5_000) + " FROM t",
    "3,000 conditions": "SELECT a FROM t WHERE " + " OR ".join(["id = 1"] * 3_000),
    "2,000 columns twice": "SELECT " + ", ".join(f"a AS c{n}" for n in range(2_000))
    + " FROM t GROUP BY " + ", ".join(str(n + 1) for n in range(2_000)),
    "9,000 numbers": "SELECT a FROM t WHERE id IN (" + ", ".join(map(str, range(4_900))) + ")",
    "90 unions": " UNION ALL ".join(["SELECT a, b FROM t WHERE id = 1"] * 90),
    "300 common tables": "WITH " + ", ".join(f"c{n} AS (SELECT a FROM t)" for n in range(300))
    + " SELECT a FROM c299",
    "90 queries in each other": "SELECT a FROM (" * 90 + "SELECT a FROM t" + ") x" * 90,
    "200 joins": "SELECT t.a FROM t"
    + "".join(f" JOIN t t{n} ON t{n}.id = t.id" for n in range(200)),
    "joins without conditions": "SELECT 1 FROM t" + " JOIN t" * 60,
    "600 cases": "SELECT " + ", ".join(["CASE WHEN a = 'x' THEN b ELSE a END"] * 600) + " FROM t",
    "calls in calls": "SELECT " + "coalesce(a, " * 60 + "b" + ")" * 60 + " FROM t",
    "casts": "SELECT " + ", ".join(["CAST(a AS INTEGER)"] * 1_500) + " FROM t",
}  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--recipes", nargs="+", default=["baseline", "chase"])
    given = parser.parse_args()
    late = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with duckdb.connect(folder / "t.duckdb") as connection:
            connection.execute(TABLE)
        with sqlite3.connect(folder / "t.sqlite") as stored:
            stored.execute(TABLE)
        for file in ("t.duckdb", "t.sqlite"):
            for recipe in given.recipes:
                for what, sql in REPLIES.items():
                    taken, worked = ask(folder / file, recipe, sql, given.seconds)
                    late += taken > given.seconds + OVER
                    times = f"{taken:5.2f} s ({worked:.2f} s of work)"
                    print(f"{times}  {file:<9} {recipe:<9} {what}", flush=True)
    return 1 if late else 0


def ask(database: Path, recipe: str, sql: str, seconds: float) -> tuple[float, float]:
    """Seconds that one question takes, and of the processor in this process."""

    def reply(asked: Asked) -> list[str]:
        return [f"```sql\n{sql}\n```"] * asked.n

    with ModelServer(answer=reply) as server:
        llm = LlmOptions("openai-compatible/m", server.url, cache=False)
        with api.open(database, recipe=recipe, llm=llm, prepare=False, record=False) as session:
            session.warm()
            began, worked = time.monotonic(), time.process_time()
            session.ask("Which a has the highest b?", seconds=seconds)
            return time.monotonic() - began, time.process_time() - worked


if __name__ == "__main__":
    raise SystemExit(main())
