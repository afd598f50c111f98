"""The guard's second layer against SQLite's own authorizer, on random texts.

    python benchmarks/guard_fuzz.py --count 1000000 --seed 1

Every text that the check accepts is prepared (not run) on a small database. SQLite may then ask its
authorizer only to read tables that the check told of and to call functions that it knows. Prints
each text on which they disagree; exit code 1 when there is one. `tests/database/test_fuzz.py` does
the same with 20,000 texts.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

from sqlwright.errors import UnsafeQuery
from sqlwright.sql.guard import check_query
from sqlwright.sql.token_check import FUNCTIONS

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.database.fuzzing import Fuzzer
from tests.database.oracle import Oracle, disagreement
from tests.database.test_fuzz import seeds


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    oracle = Oracle()
    counts: Counter[str] = Counter()
    started = time.monotonic()
    for sql in Fuzzer(given.seed, seeds()).texts(given.count):
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
    print(f"{given.count:,} texts in {time.monotonic() - started:.0f} s: " +
          ", ".join(f"{number:,} {kind}" for kind, number in counts.items()))  # fmt: skip
    return 1 if counts["disagreed"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
