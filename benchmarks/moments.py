"""Questions that name a day, a month or a longer time: how many are answered right.

    python -m benchmarks.moments DATA [--each 2] [--seed 1] [--stored iso]

For every Spider database of the parts `fit`, `valid` and `calib`, and Chinook and Northwind beside
them, each column declared as a date whose stored values SQLite reads as dates: “How many orders
have an order date in May 1997?”, the moment drawn from the stored ones; and “How many orders are
there per month of order date?” An answer is right by Spider's rule. The wordings are two
sentences', so the figure tells whether moments are understood, not how good answers are in general.
With `--stored` the same questions are asked of copies whose dates are written otherwise: dmy, mdy,
compact, seconds or milliseconds.
Prints the share right, by kind of moment.
"""

from __future__ import annotations

import argparse
import random
import sqlite3
import tempfile
from calendar import month_name
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from benchmarks.refusal import SAMPLES

import sqlwright
from sqlwright.english.words import split_name
from sqlwright.lab.datasets.spider import load_split
from sqlwright.lab.evaluation.intervals import Share
from sqlwright.lab.evaluation.rules.published import spider_match
from sqlwright.sql.tokens import quote_name

LEAST_ROWS = 5
LIKELY = ("1980-01-01", "2100-01-01")
"""Dates that are taken for such in seconds since 1970."""
STORED = {
    "iso": "",
    "dmy": "strftime('%d/%m/%Y', {0})",
    "mdy": "strftime('%m/%d/%Y', {0})",
    "compact": "CAST(strftime('%Y%m%d', {0}) AS INTEGER)",
    "seconds": "CAST(strftime('%s', {0}) AS INTEGER)",
    "milliseconds": "strftime('%s', {0}) * 1000",
}
"""Ways of writing a date, as what makes them of ISO ones."""
TYPES = ("date", "time")


@dataclass(frozen=True)
class Dated:
    """A column of dates and one that it holds."""

    table: str
    column: str
    held: date


@dataclass(frozen=True)
class Asked:
    """A question with what its answer counts."""

    kind: str
    text: str
    sql: str


def dated_columns(connection: sqlite3.Connection, rng: random.Random) -> Iterator[Dated]:
    """Columns declared as dates that hold nothing else."""
    tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    for (table,) in connection.execute(tables).fetchall():
        for _, column, kind, *_ in connection.execute(f"PRAGMA table_info({quote_name(table)})"):
            if not any(part in kind.lower() for part in TYPES):
                continue
            name, source = quote_name(column), quote_name(table)
            rows = connection.execute(
                f"SELECT date({name}) FROM {source} WHERE {name} IS NOT NULL AND typeof({name}) = "
                "'text'"
            ).fetchall()
            held = [day for (day,) in rows if day and "1600" < day < "2100"]
            if len(held) >= LEAST_ROWS and len(held) == len(rows):
                yield Dated(table, column, date.fromisoformat(rng.choice(held)))


def questions(dated: Dated) -> Iterator[Asked]:
    """One of each kind."""
    day, month = dated.held, month_name[dated.held.month]
    quarter = (day.month + 2) // 3
    things = " ".join(split_name(dated.table))
    things += "" if things.endswith("s") else "s"
    head = f"How many {things} have a {' '.join(split_name(dated.column))}"
    column = quote_name(dated.column)
    a_day, a_month = f"date({column})", f"strftime('%Y-%m', {column})"
    low = f"{day.year}-{quarter * 3 - 2:02d}"
    nth = ("first", "second", "third", "fourth")[quarter - 1]
    for kind, phrase, condition in (
        ("year", f"in {day.year}", f"strftime('%Y', {column}) = '{day.year}'"),
        ("month", f"in {month} {day.year}", f"{a_month} = '{day:%Y-%m}'"),
        ("since a day", f"since {month} {day.day}, {day.year}", f"{a_day} >= '{day}'"),
        ("before a day", f"before {day.day} {month} {day.year}", f"{a_day} < '{day}'"),
        ("a day", f"on {day}", f"{a_day} = '{day}'"),
        ("after a month", f"after {month} {day.year}", f"{a_month} > '{day:%Y-%m}'"),
        ("quarter", f"in the {nth} quarter of {day.year}",
         f"{a_month} BETWEEN '{low}' AND '{day.year}-{quarter * 3:02d}'"),
        ("range", f"between January {day.year} and {month} {day.year}",
         f"{a_month} BETWEEN '{day.year}-01' AND '{day:%Y-%m}'"),
    ):  # fmt: skip
        sql = f"SELECT count(*) FROM {quote_name(dated.table)} WHERE {condition}"
        yield Asked(kind, f"{head} {phrase}?", sql)
    told = f"How many {things} are there per {{}} of {' '.join(split_name(dated.column))}?"
    for unit, part in (("month", a_month), ("year", f"strftime('%Y', {column})")):
        sql = f"SELECT {part}, count(*) FROM {quote_name(dated.table)} GROUP BY 1"
        yield Asked(f"per {unit}", told.format(unit), sql)


def rewritten(path: Path, columns: list[Dated], way: str, folder: Path) -> Path:
    """A copy of a database whose dates are written in another way; declared as they were."""
    copy = folder / path.name
    source = f"file:{path}?mode=ro&immutable=1"
    with (
        closing(sqlite3.connect(source, uri=True)) as opened,
        closing(sqlite3.connect(copy)) as made,
    ):
        opened.backup(made)
        for one in columns:
            column = quote_name(one.column)
            meant = STORED[way].format(column)
            made.execute(f"UPDATE {quote_name(one.table)} SET {column} = {meant}")
        made.commit()
    return copy


def alike(rows: Iterable[Iterable[Any]]) -> list[tuple[Any, ...]]:
    """Rows with texts of whole numbers as the numbers: a year is one or the other, by how dates
    are stored."""
    return [tuple(int(c) if str(c).isdigit() else c for c in row) for row in rows]


def can_be(connection: sqlite3.Connection, dated: Dated, way: str) -> bool:
    """True if a column can be written in a way, and the way be told from the column."""
    column, table = quote_name(dated.column), quote_name(dated.table)
    least, most, plain = connection.execute(
        f"SELECT MIN(date({column})), MAX(date({column})), SUM(typeof({column}) != 'text') "
        f"FROM {table} WHERE {column} IS NOT NULL"
    ).fetchone()
    if plain or least is None:
        return False
    if way in {"seconds", "milliseconds"}:
        return bool(LIKELY[0] <= least and most < LIKELY[1])
    days = connection.execute(f"SELECT MAX(strftime('%d', {column})) FROM {table}").fetchone()
    return way == "compact" or int(days[0]) > 12


def databases(data: Path) -> list[Path]:
    """Those that are asked."""
    split = load_split(data)
    names = sorted(split.fit | split.valid | split.calib)
    paths = [data / "spider" / "database" / name / f"{name}.sqlite" for name in names]
    return [path for path in (*paths, *(data / one for one in SAMPLES.values())) if path.exists()]


def main() -> None:
    """Ask and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--each", type=int, default=2, help="columns of a database at most")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--stored", choices=tuple(STORED), default="iso")
    parser.add_argument("--limit", type=int, help="databases at most")
    options = parser.parse_args()
    right: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as home:
        for path in databases(options.data)[: options.limit]:
            rng = random.Random(f"{options.seed}/{path.stem}")
            with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as opened:
                opened.text_factory = lambda raw: raw.decode("utf-8", "replace")
                columns = list(dated_columns(opened, rng))
                if options.stored != "iso":
                    columns = [one for one in columns if can_be(opened, one, options.stored)]
                chosen = rng.sample(columns, min(options.each, len(columns)))
                wanted = [
                    (one, opened.execute(one.sql).fetchall())
                    for dated in chosen
                    for one in questions(dated)
                ]
            if not wanted:
                continue
            asked_of = path
            if options.stored != "iso":
                asked_of = rewritten(path, chosen, options.stored, Path(home))
            with sqlwright.open(asked_of, home=home, record=False) as session:
                for one, rows in wanted:
                    answer = session.ask(one.text)
                    asked[one.kind] += 1
                    right[one.kind] += spider_match(alike(answer.rows), alike(rows), ordered=False)
    print("right:", Share(right.total(), asked.total()))
    for kind, count in asked.items():
        print(f"  {kind}: {right[kind]} of {count}")


if __name__ == "__main__":
    main()
