"""How long the guard holds a caller: random texts of up to 10,000 tokens, and shapes that grow.

    python benchmarks/guard_bounds.py --count 10000 --seed 1 --seconds 1

Every text goes through `Database.execute` of a small database with a limit of --seconds. Reported:
the longest time, also of all else that reads a text, and how much memory the caller took on. Exit
code 1 when a text took more than 0.2 s over the limit, or the caller 100 MB. --shapes N takes every
Nth of some 25,000 shapes, each repeated 12, 30 and 90 times; --readers N lets all else that reads
SQL read every Nth text, one reader after the other.
"""

from __future__ import annotations

import argparse
import random
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from sqlwright.local.critic.tree import read_parts

from sqlwright.database import open_database
from sqlwright.errors import UnsupportedQuery
from sqlwright.local.form.read.sql import read_sql
from sqlwright.protocols import Limits, Run
from sqlwright.schema import Schema
from sqlwright.sql.reading import (
    columns_used,
    compared_texts,
    format_sql,
    has_order_by,
    tables_used,
)

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.database.conftest import make_database
from tests.database.fuzzing import Fuzzer
from tests.database.shapes import all_shapes, random_text

OVER = 0.2
MEMORY_MB = 100


def texts(count: int, seed: int, every: int) -> Iterator[str]:
    """Random texts first, then shapes."""
    chosen = random.Random(seed)
    longer = list(Fuzzer(seed + 1).texts(2_000))
    for number in range(count):
        tokens = chosen.choice((10, 100, 1_000, 9_000))
        if number % 4:
            yield random_text(chosen, tokens)
        else:
            joined = chosen.choice((" UNION ALL ", " , ", " IN ( ", " JOIN ", " + ", " ) , ( "))
            parts = [chosen.choice(longer) for _ in range(max(1, tokens // 40))]
            yield joined.join(parts)
    for shape in list(all_shapes())[::every] if every else ():
        for times in (12, 30, 90):
            yield shape.text(times)


def peak_mb() -> float:
    """Of this process, in megabytes, so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--shapes", type=int, default=20, metavar="N")
    parser.add_argument("--readers", type=int, default=10, metavar="N")
    given = parser.parse_args()
    kinds: Counter[str] = Counter()
    slowest: dict[str, tuple[float, str]] = {"the guard": (0.0, ""), "the readers": (0.0, "")}
    with tempfile.TemporaryDirectory() as folder:
        path = make_database(Path(folder) / "shop.db")
        with open_database(str(path)) as database:
            run, limits = Run(), Limits(seconds=given.seconds)
            database.execute("SELECT count(date('now')) FROM people", run, limits=limits)
            before = peak_mb()
            schema = database.schema()
            for number, sql in enumerate(texts(given.count, given.seed, given.shapes)):
                started = time.monotonic()
                result = database.execute(sql, Run(), limits=limits)
                checked = time.monotonic()
                kinds[result.error.message[:40] if result.error else "answered"] += 1
                if number % given.readers == 0:
                    read(sql, schema)
                times = (checked - started, time.monotonic() - checked)
                for what, taken in zip(tuple(slowest), times, strict=True):
                    slowest[what] = max(slowest[what], (taken, sql[:100]))
    grown = peak_mb() - before
    print(f"{sum(kinds.values()):,} texts. The commonest ends:")
    print("\n".join(f"  {number:,} {kind}" for kind, number in kinds.most_common(8)))
    for what, (taken, sql) in slowest.items():
        print(f"{what}: at most {taken:.2f} s: {sql!r}")
    print(f"limit {given.seconds:g} s; the caller's memory grew by {grown:.0f} MB")
    late = max(taken for taken, _ in slowest.values()) > given.seconds + OVER
    return 1 if late or grown > MEMORY_MB else 0


def read(sql: str, schema: Schema) -> None:
    """All else that reads a candidate, safe or not."""
    columns = columns_used(sql, schema)
    tables_used(sql)
    compared_texts(sql, schema)
    has_order_by(sql)
    format_sql(sql)
    read_parts(sql, columns)
    with suppress(UnsupportedQuery):
        read_sql(sql, schema)


if __name__ == "__main__":
    raise SystemExit(main())
