"""How many gold queries the intermediate form can say, by source and by kind of question.

    python -m benchmarks.form_coverage --pairs FOLDER --databases FOLDER [--without NAME ...]
    python -m benchmarks.form_coverage --data FOLDER [--failures N]

With --pairs, question files of JSON lines (`database`, `sql`, `kinds`) over NAME.sqlite files; with
--data, Spider's training part, Archer's, and the text of BIRD's. Each gold is read, linearized,
read back and written; where its database is there, both are run by the engine that answers, and the
rows are compared: columns in any order, numbers to four digits, rows in any order.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import apsw
from training.embedded.bird_pairs import load_bird_pairs, load_bird_schemas
from training.embedded.pairs import load_databases, load_pairs, read_schema
from training.embedded.split import load_split

from sqlwright.errors import UnsupportedQuery
from sqlwright.local.form.read.sql import read_sql
from sqlwright.local.form.sequence.grammar import delinearize, linearize
from sqlwright.local.form.write.sql import write_sql
from sqlwright.schema import Schema

SECONDS = 10.0
Rows = list[tuple[Any, ...]]


class Gold(NamedTuple):
    """A query with where it comes from."""

    source: str
    kinds: tuple[str, ...]
    sql: str
    schema: Schema
    file: Path | None


@dataclass
class Tally:
    """What became of the queries of one source or kind."""

    total: int = 0
    read: int = 0
    run: int = 0
    same: int = 0
    lengths: list[int] = field(default_factory=list)


@dataclass
class Report:
    """Tallies by source and by kind, and why queries failed."""

    sources: dict[str, Tally] = field(default_factory=lambda: defaultdict(Tally))
    kinds: dict[str, Tally] = field(default_factory=lambda: defaultdict(Tally))
    causes: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def fail(self, cause: str, *texts: str) -> None:
        self.causes[cause] += 1
        self.examples[cause].append("\n      ".join(" ".join(text.split()) for text in texts))

    def show(self, failures: int) -> None:
        for title, tallies in (("source", self.sources), ("kind", self.kinds)):
            print(f"{title:<18}{'golds':>7}{'said':>14}{'same rows':>17}{'symbols':>9}")
            for name, one in sorted(tallies.items(), key=lambda item: -item[1].total):
                said = f"{one.read} {one.read / one.total:.1%}"
                same = f"{one.same}/{one.run} {one.same / max(one.run, 1):.1%}"
                middle = sorted(one.lengths)[len(one.lengths) // 2] if one.lengths else 0
                print(f"{name:<18}{one.total:>7}{said:>14}{same:>17}{middle:>9}")
        for cause, count in self.causes.most_common():
            print(f"{count:>5}  {cause}")
            for example in self.examples[cause][:failures]:
                print(f"      {example}")


def judge(gold: Gold, report: Report) -> None:
    """Read a query, write it back, and compare the rows."""
    tallies = [report.sources[gold.source], *(report.kinds[kind] for kind in gold.kinds)]
    for tally in tallies:
        tally.total += 1
    try:
        form = read_sql(gold.sql, gold.schema)
        symbols = linearize(form)
        if delinearize(symbols) != form:
            report.fail("the sequence loses something", gold.sql)
            return
        written = write_sql(form, gold.schema)
    except UnsupportedQuery as error:
        report.fail(f"can't be said: {error}", gold.sql)
        return
    for tally in tallies:
        tally.read += 1
        tally.lengths.append(len(symbols))
    same = None if gold.file is None else _same(gold, written, report)
    for tally in tallies if same is not None else ():
        tally.run += 1
        tally.same += bool(same)


def _same(gold: Gold, written: str, report: Report) -> bool | None:
    """Whether both find the same rows; None where the gold query doesn't run."""
    connection = apsw.Connection(
        f"file:{gold.file}?immutable=1", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    )
    try:
        expected = _rows(connection, gold.sql)
    except apsw.Error:
        return None
    try:
        found = _rows(connection, written)
    except apsw.Error as error:
        report.fail(f"does not run: {error}", gold.sql, written)
        return False
    finally:
        connection.close()
    if expected != found:
        report.fail("other rows", f"[{gold.schema.name}] {gold.sql}", written)
    return expected == found


def _rows(connection: apsw.Connection, sql: str) -> Counter[tuple[str, ...]]:
    deadline = time.monotonic() + SECONDS
    connection.set_progress_handler(lambda: time.monotonic() > deadline, 100_000)
    rows = connection.execute(sql).fetchall()
    return Counter(tuple(sorted(map(_rounded, row))) for row in rows)


def _rounded(value: object) -> str:
    if isinstance(value, int | float):
        return f"{float(value):.4g}"
    return str(value)


def own_pairs(folder: Path, databases: Path, without: Sequence[str]) -> Iterator[Gold]:
    """Questions of our own."""
    for file in sorted(folder.glob("*.jsonl")):
        for line in file.read_text("utf-8").splitlines():
            row = json.loads(line)
            name = row["database"]
            path = databases / f"{name}.sqlite"
            if name in without or not path.exists():
                continue
            yield Gold("own", tuple(row["kinds"]), row["sql"], _schema(path), path)


def _schema(path: Path, known: dict[Path, Schema] = {}) -> Schema:  # noqa: B006 - a cache
    if path not in known:
        with sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True) as connection:
            known[path] = read_schema(connection, path.stem, Schema(path.stem, ()))
    return known[path]


def published(data: Path) -> Iterator[Gold]:
    """Spider's training part, Archer's and BIRD's."""
    pairs = [pair for pair in load_pairs(data, load_split(data)) if pair.source != "synthetic"]
    databases = load_databases(data, {pair.database for pair in pairs})
    for pair in pairs:
        path = data / "spider" / "database" / pair.database / f"{pair.database}.sqlite"
        schema = databases[pair.database].schema
        yield Gold(pair.source, (), pair.sql, schema, path if path.exists() else None)
    known = load_bird_schemas(data)
    for pair in load_bird_pairs(data):
        if pair.database in known:
            yield Gold("bird", (), pair.sql, known[pair.database].schema, None)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--pairs", type=Path)
    parser.add_argument("--databases", type=Path)
    parser.add_argument("--without", nargs="*", default=[], help="databases to leave out")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--failures", type=int, default=0, help="examples to show of each cause")
    options = parser.parse_args()
    report = Report()
    if options.pairs is not None and options.databases is not None:
        for gold in own_pairs(options.pairs, options.databases, options.without):
            judge(gold, report)
    if options.data is not None:
        for gold in published(options.data):
            judge(gold, report)
    report.show(options.failures)


if __name__ == "__main__":
    main()
