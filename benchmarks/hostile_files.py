"""Opens, asks and prepares hostile and damaged files, and says whether any did harm.

    python -m benchmarks.hostile_files [COUNT] [SEED]

makes COUNT damaged files (300) besides those of every kind that is made by SQL or lies beside a
sound file, visits them all in one process, and fails where one crashes that process, changes a byte
of its folder, or takes more time or memory than is allowed. Then it asks large files a question
with three seconds for it, twice each.
"""

import gzip
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import duckdb
from tests.database.files.workbooks import workbook
from tests.database.hostile import hostile_files
from tests.database.test_hostile_files import regular_state, visited

import sqlwright

SECONDS = 2 + 10 + 10
"""To open and ask, to read the schema for `prepare`, and to prepare; the rest is `_SPARE`."""
_SPARE = 8
MEBIBYTES = 200
SHOWN = 12
ASKED, MOST = 3.0, 5.0
"""Seconds for a question to a large file, and those after which it has to be back."""


def large_files(folder: Path) -> Iterator[Path]:
    """Files that are small on the disk and take long to be gone through."""
    path = folder / "rows.csv.gz"
    with gzip.open(path, "wb") as packed:
        packed.write(b"a,b\n")
        for _ in range(50):
            packed.write(b"1,2\n" * 1_000_000)
    yield path
    path = folder / "line.csv"
    path.write_bytes(b"a,b\n" + b"x" * 50_000_000 + b",1\n")
    yield path
    path = folder / "lines.csv"
    path.write_bytes(b"a,b\n" + (b"x" * 1_900_000 + b",1\n") * 25)
    yield path
    path = folder / "sheets.xlsx"
    path.write_bytes(workbook({f"s{n}": [["a", "b"], [1, 2]] for n in range(20_000)}))
    yield path
    path = folder / "wide.parquet"
    columns = ", ".join(f"{n} AS c{n}" for n in range(20_000))
    duckdb.sql(f"COPY (SELECT {columns}) TO '{path}'")
    yield path


def late_answers(folder: Path) -> int:
    """The large files whose question takes too long, each told with its seconds."""
    late = 0
    for path in large_files(folder):
        with sqlwright.open(path, home=folder / "home", record=False) as session:
            for _ in range(2):
                began = time.monotonic()
                try:
                    said = session.ask("How many rows are there?", seconds=ASKED).message
                except sqlwright.SqlwrightError as error:
                    said = str(error)
                took = time.monotonic() - began
                late += took > MOST
                print(f"{took:6.1f} s  {path.name}: {said[:100]}")
        path.unlink()
    return late


def main() -> int:
    """Visit the files; 1 when one did harm."""
    given = [int(word) for word in sys.argv[1:]]
    count, seed = (*given, *(300, 7)[len(given) :])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "files"
        folder.mkdir()
        files = list(hostile_files(folder, count, seed))
        before = {path: regular_state(path.parent) for _, path in files}
        results = visited(files, Path(name) / "home", "prepare")
        changed = [kind for kind, path in files if regular_state(path.parent) != before[path]]
        unanswered = late_answers(Path(name))
    rows = sorted(
        (
            (seconds, grown, kind, said)
            for (kind, _), (said, seconds, grown) in zip(files, results, strict=True)
        ),
        reverse=True,
    )
    for seconds, grown, kind, said in rows[:SHOWN]:
        print(f"{seconds:6.1f} s {grown:5} MiB  {kind}: {said[:100]}")
    late = [row for row in rows if row[0] > SECONDS + _SPARE]
    large = [row for row in rows if row[1] > MEBIBYTES]
    opened = sum(said.startswith("opened") for _, _, _, said in rows)
    print(f"{len(rows)} files, {opened} opened, {len(changed)} changed, {len(late)} too slow, "
          f"{len(large)} too large; at most {rows[0][0]:.1f} s and "
          f"{max(row[1] for row in rows)} MiB more")  # fmt: skip
    return 1 if changed or late or large or unanswered else 0


if __name__ == "__main__":
    raise SystemExit(main())
