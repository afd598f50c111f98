"""How long preparing and first opening take.

    python benchmarks/prepare.py                      a file of about 1 MB, made by seed
    python benchmarks/prepare.py --large              one of about 1 GB as well (a minute to make)
    python benchmarks/prepare.py --wide               a schema of 4,000 columns
    python benchmarks/prepare.py --joins              inferred joins against Spider's declared ones
    python benchmarks/prepare.py --files A.db B.db    any files
    python benchmarks/prepare.py --cost A.db B.db     constants of prepare/unasked.py, fitted anew

First opening is timed in a process of its own, imports included, with nothing prepared. `--joins`
hides the declared keys of the databases that are fit for training and infers them again; it needs
SQLWRIGHT_DATA.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlwright.prepare.unasked import Work

SYLLABLES = re.findall("..", "bacodafegihojukalominaperasativuwexiyozabudyferiglek")
CITIES = ("Aachen", "Bergen", "Cork", "Evora", "Fresno", "Ghent", "Hanoi", "Kyoto", "Malmö")
STATES = ("new", "paid", "shipped", "returned")
OPEN = """
import json, sys, time
from sqlwright.prepare import open_workspace
w = open_workspace(sys.argv[1])
found = len(w.values.search("Kyoto"))
print(json.dumps({"cpu": time.process_time(), "notes": w.notes, "found": found,
                  "values": len(getattr(w.values, "index", w.values)),
                  "joins": len(w.schema.foreign_keys)}))
w.database.close()
"""


def make_shop(path: Path, orders: int, seed: int) -> None:
    """A shop with `orders` orders; everything else in proportion. The same for the same seed."""
    connection = sqlite3.connect(path)
    connection.create_function("name", 1, name_of, deterministic=True)
    connection.executescript(
        """
        PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA page_size=4096;
        CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, email TEXT, city TEXT,
                                joined TEXT);
        CREATE TABLE products (id INTEGER PRIMARY KEY, title TEXT, code TEXT, price REAL);
        CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER, placed TEXT, state TEXT,
                             token TEXT, note TEXT);
        CREATE TABLE order_items (order_id INTEGER, product_id INTEGER, quantity INTEGER,
                                  price REAL, label TEXT);
        """
    )
    cities = " ".join(f"WHEN {i} THEN '{city}'" for i, city in enumerate(CITIES))
    states = " ".join(f"WHEN {i} THEN '{state}'" for i, state in enumerate(STATES))
    customers, products = max(orders // 12, 10), max(orders // 150, 5)
    counted = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {0})"
    mixed = f"((i * 2654435761 + {seed}) % 4294967296)"
    connection.execute(
        f"INSERT INTO customers {counted.format(customers)} SELECT i, name(i * 7919 + {seed}),"
        f" 'user' || i || '@example.org', CASE {mixed} % {len(CITIES)} {cities} END,"
        f" date('2015-01-01', '+' || ({mixed} % 3600) || ' days') FROM n"
    )
    connection.execute(
        f"INSERT INTO products {counted.format(products)} SELECT i, name(i * 104729 + {seed})"
        f" || ' ' || name(i), printf('%c%c-%04d', 65 + i % 26, 65 + i / 26 % 26, i % 10000),"
        f" ({mixed} % 100000) / 100.0 FROM n"
    )
    connection.execute(
        f"INSERT INTO orders {counted.format(orders)} SELECT i, 1 + {mixed} % {customers},"
        f" datetime('2018-01-01', '+' || (i % 3000000) || ' minutes'),"
        f" CASE {mixed} % 4 {states} END, printf('%08x%08x%08x', {mixed}, i, {mixed} / 3),"
        f" CASE WHEN i % 3 = 0 THEN 'call ' || {mixed} % 5000 || ' before delivery' END FROM n"
    )
    connection.execute(
        f"INSERT INTO order_items {counted.format(orders * 3)} SELECT 1 + i / 3,"
        f" 1 + {mixed} % {products}, 1 + {mixed} % 9, ({mixed} % 100000) / 100.0,"
        f" 'batch ' || ({mixed} % 200000) FROM n"
    )
    connection.commit()
    connection.close()


def name_of(number: int) -> str:
    """A pronounceable name for a number."""
    words = []
    for _ in range(2):
        word = ""
        for _ in range(3):
            number, rest = divmod(number, len(SYLLABLES))
            word += SYLLABLES[rest]
        words.append(word.capitalize())
    return " ".join(words)


def make_wide(path: Path) -> None:
    """4,000 columns: 80 tables of 50, twenty rows each."""
    connection = sqlite3.connect(path)
    for table in range(80):
        columns = [f"field_{table}_{column}" for column in range(49)]
        names = ", ".join(f"{name} TEXT" for name in columns)
        connection.execute(f"CREATE TABLE table_{table} (id INTEGER PRIMARY KEY, {names})")
        marks = ", ".join("?" * 50)
        connection.executemany(
            f"INSERT INTO table_{table} VALUES ({marks})",
            [[row, *(f"{name} {row % 7}" for name in columns)] for row in range(20)],
        )
    connection.commit()
    connection.close()


def measure(path: Path) -> None:
    """First opening, prepare, prepare again, opening what is prepared."""
    from sqlwright.prepare import open_workspace, prepare, purge

    print(f"{path.name}: {path.stat().st_size / 1e6:.1f} MB")
    with tempfile.TemporaryDirectory() as home:
        os.environ["SQLWRIGHT_HOME"] = home
        started = time.perf_counter()
        done = subprocess.run(
            [sys.executable, "-c", OPEN, str(path)], capture_output=True, text=True, check=True
        )
        whole = time.perf_counter() - started
        told = json.loads(done.stdout)
        print(
            f"  first opening {whole:6.2f} s with the process ({told['cpu']:.2f} s of processor"
            f" time), {told['values']:,} values, {told['joins']} joins, {told['found']} matches"
        )
        for note in told["notes"]:
            print(f"    note: {note}")
        usage = resource.getrusage(resource.RUSAGE_SELF)
        prepared = prepare(str(path))
        after = resource.getrusage(resource.RUSAGE_SELF)
        print(
            f"  prepare       {prepared.seconds:6.2f} s"
            f" ({after.ru_utime - usage.ru_utime:.2f} s of processor time),"
            f" {path.stat().st_size / 1e6 / prepared.seconds:.1f} MB/s, {prepared.values:,} values,"
            f" peak {after.ru_maxrss / 1024:,.0f} MB"
        )
        for note in prepared.notes:
            print(f"    note: {note}")
        print(f"  again         {prepare(str(path)).seconds:6.2f} s, nothing changed")
        os.utime(path)
        again = prepare(str(path))
        print(f"  touched       {again.seconds:6.2f} s, {len(again.read)} tables read")
        times, work = [], []
        for _ in range(5):
            started, worked = time.perf_counter(), time.thread_time()
            workspace = open_workspace(str(path))
            times.append(time.perf_counter() - started)
            work.append(time.thread_time() - worked)
            workspace.database.close()
        print(
            f"  opening       {sorted(times)[2] * 1000:6.1f} ms (median of 5;"
            f" {sorted(work)[2] * 1000:.1f} ms of processor time)"
        )
        size = sum(file.stat().st_size for file in Path(home).rglob("*") if file.is_file())
        print(f"  kept on disk  {size / 1e6:6.1f} MB")
        purge(str(path))


ENOUGH = 0.95
"""Share of preparations that may not take longer than is estimated."""


def fit_cost(paths: list[Path], most: float = 0.99) -> None:
    """Fit what `prepare/unasked.py` estimates by to the processor time of preparing these files.

    An expectile, as far up as it takes for `ENOUGH` of them to have been faster. The time per
    column is split by preparing once more with the names embedded already.
    """
    import numpy as np

    work, first, again = [], [], []
    for path in paths:
        one, *seconds = costs(path)
        work.append([1.0, one.columns, one.columns, one.cells, one.size])
        first.append(seconds[0])
        again.append(seconds[1])
        print(f"  {seconds[0]:6.2f} s, {one.seconds:6.2f} s as it is estimated now: {path.name}")
    features, target = np.array(work * 2), np.array(first + again)
    features[len(first) :, 2] = 0.0
    kept, weights = list(range(features.shape[1])), np.ones(len(target))
    constants = np.zeros(features.shape[1])
    for _ in range(300):  # an expectile of the relative error; none of the constants negative
        scale = np.sqrt(weights) / target
        found = np.linalg.lstsq(features[:, kept] * scale[:, None], target * scale, rcond=None)[0]
        if (found < 0).any():
            kept = [at for at, value in zip(kept, found, strict=True) if value >= 0]
            continue
        constants[:] = 0
        constants[kept] = found
        weights = np.where(target > features @ constants, most, 1 - most)
    constants *= max(1.0, float(np.quantile(target / (features @ constants), ENOUGH)))
    names = ("FIXED", "PER_COLUMN", "PER_NEW_COLUMN", "PER_CELL", "PER_BYTE")
    for name, value in zip(names, constants.tolist(), strict=True):
        print(f"  {name} = {value:.1e}")


def costs(path: Path) -> tuple[Work, float, float]:
    """What there is to do for a file, and the processor seconds of preparing it for the first time
    and of reading it all again with its names known; the lesser of two each."""
    from sqlwright.catalog.reading import TimedReader
    from sqlwright.database import open_database
    from sqlwright.prepare import prepare, prepared_folder
    from sqlwright.prepare.unasked import work_on
    from sqlwright.protocols import Run

    took: list[list[float]] = [[], []]
    for _ in range(2):
        with tempfile.TemporaryDirectory() as home:
            os.environ["SQLWRIGHT_HOME"] = home
            for times in took:
                started = time.process_time()
                prepare(str(path))
                times.append(time.process_time() - started)
                shutil.rmtree(prepared_folder(str(path)) / "stages")
                (prepared_folder(str(path)) / "manifest.json").unlink()
    with (
        open_database(str(path)) as database,
        database.reader() as reader,
        TimedReader(reader, Run()) as reading,
    ):
        work = work_on(reading, database.schema(), path.stat().st_size)
    return work, min(took[0]), min(took[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--large", action="store_true", help="a file of about 1 GB as well")
    parser.add_argument("--wide", action="store_true", help="a schema of 4,000 columns")
    parser.add_argument("--joins", action="store_true", help="inferred joins against declared ones")
    parser.add_argument("--part", default="fit", choices=["fit", "valid"], help="for --joins")
    parser.add_argument("--files", nargs="*", type=Path, default=None)
    parser.add_argument("--cost", nargs="*", type=Path, help="files to fit the estimate to")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.joins:
        from join_quality import report  # beside this file

        report(Path(os.environ["SQLWRIGHT_DATA"]), options.part)
        return
    if options.cost:
        fit_cost(options.cost)
        return
    if options.files is not None:
        for path in options.files:
            measure(path)
        return
    sizes = [("shop_1mb.db", 6_000)] + [("shop_1gb.db", 5_400_000)] * options.large
    for name, orders in sizes:
        path = options.folder / f"{options.seed}-{name}"
        if not path.exists():
            make_shop(path, orders, options.seed)
        measure(path)
    if options.wide:
        path = options.folder / "wide_4000.db"
        if not path.exists():
            make_wide(path)
        measure(path)


if __name__ == "__main__":
    main()
