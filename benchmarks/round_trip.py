"""How much of a benchmark's gold SQL survives the intermediate form.

    python benchmarks/round_trip.py --data FOLDER --split fit [--archer] [--bird] [--failures N]

Every gold query is read, linearized, read back, written and run; its rows must be those of the
gold query (as a multiset, in order where the gold query orders, columns in order). Golds that do
not run are left out and counted. With --bird, the text of BIRD's training part is read and what is
written is prepared on empty databases made from its table definitions.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from training.embedded.split import load_split

from sqlwright.errors import UnsupportedQuery
from sqlwright.local.form.read.sql import read_sql
from sqlwright.local.form.sequence.grammar import delinearize, linearize
from sqlwright.local.form.write.sql import write_sql
from sqlwright.schema import Column, ForeignKey, Schema, Table

SECONDS = 20.0
Rows = list[tuple[Any, ...]]


@dataclass
class Tally:
    """What became of the queries."""

    total: int = 0
    skipped: int = 0
    kept: int = 0
    causes: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)
    lengths: list[int] = field(default_factory=list)
    explicit: int = 0

    def fail(self, cause: str, *texts: str) -> None:
        self.causes[cause] += 1
        self.examples.setdefault(cause, []).append("\n    ".join(texts))

    def report(self, failures: int) -> None:
        judged = self.total - self.skipped
        low, high = wilson(self.kept, judged)
        print(f"queries {self.total}, golds that do not run {self.skipped}, judged {judged}")
        print(f"kept {self.kept} = {self.kept / max(judged, 1):.2%}  [{low:.2%}, {high:.2%}]")
        if self.lengths:
            ordered = sorted(self.lengths)
            mean = sum(ordered) / len(ordered)
            p95, longest = ordered[int(0.95 * len(ordered))], ordered[-1]
            print(f"symbols: mean {mean:.1f}, 95th percentile {p95}, longest {longest}")
            print(f"with explicit joins: {self.explicit}")
        for cause, count in self.causes.most_common():
            print(f"{count:6}  {cause}")
            for example in self.examples[cause][:failures]:
                print(f"        {example}")


def wilson(hits: int, total: int, z: float = 1.96) -> tuple[float, float]:
    """The 95 % confidence interval of a proportion (Wilson 1927)."""
    if not total:
        return 0.0, 1.0
    share, spread = hits / total, z * z / total
    middle = (share + spread / 2) / (1 + spread)
    half = z / (1 + spread) * math.sqrt(share * (1 - share) / total + spread / (4 * total))
    return middle - half, middle + half


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def read_schema(connection: sqlite3.Connection, name: str, entry: dict[str, Any] | None) -> Schema:
    """The schema as stored, with the keys of `tables.json` where the file declares none."""
    names = [
        row[0]
        for row in connection.execute(
            "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') "
            "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid"
        )
    ]
    tables = []
    for table in names:
        rows = connection.execute(f"PRAGMA table_info({quoted(table)})").fetchall()
        primary = tuple(row[1] for row in sorted(rows, key=lambda row: row[5]) if row[5])
        columns = tuple(Column(row[1], row[2] or "", not row[3]) for row in rows)
        tables.append(Table(table, columns, primary))
    schema = Schema(name, tuple(tables))
    keys = {
        key.pairs: key
        for raw in (*stored_keys(connection, schema), *listed_keys(entry))
        if (key := exact_key(raw, schema)) is not None
    }
    return Schema(name, tuple(tables), tuple(keys.values()))


def stored_keys(connection: sqlite3.Connection, schema: Schema) -> Iterator[ForeignKey]:
    for table in schema.tables:
        grouped: dict[int, list[tuple[Any, ...]]] = {}
        for row in connection.execute(f"PRAGMA foreign_key_list({quoted(table.name)})"):
            grouped.setdefault(row[0], []).append(row)
        for _, rows in sorted(grouped.items()):
            target = schema.table(rows[0][2])
            if target is None:
                continue
            far = [row[4] for row in rows]
            if None in far:
                far = list(target.primary_key)
            if len(far) == len(rows):
                yield ForeignKey(table.name, tuple(r[3] for r in rows), target.name, tuple(far))


def listed_keys(entry: dict[str, Any] | None) -> Iterator[ForeignKey]:
    if entry is None:
        return
    names, columns = entry["table_names_original"], entry["column_names_original"]
    for near, far in entry["foreign_keys"]:
        yield ForeignKey(
            names[columns[near][0]], (columns[near][1],), names[columns[far][0]], (columns[far][1],)
        )


def exact_key(key: ForeignKey, schema: Schema) -> ForeignKey | None:
    """A key under stored names; None when it names something that isn't there."""
    near, far = schema.table(key.table), schema.table(key.target_table)
    if near is None or far is None:
        return None
    own = [near.column(name) for name in key.columns]
    other = [far.column(name) for name in key.target_columns]
    if None in own or None in other:
        return None
    own_names = tuple(column.name for column in own if column)
    return ForeignKey(near.name, own_names, far.name, tuple(c.name for c in other if c))


def run(connection: sqlite3.Connection, sql: str) -> Rows:
    deadline = time.monotonic() + SECONDS
    connection.set_progress_handler(lambda: time.monotonic() > deadline, 100_000)
    return connection.execute(sql).fetchall()


def same_rows(gold: Rows, other: Rows, *, ordered: bool) -> bool:
    if ordered:
        return gold == other
    return Counter(map(repr, gold)) == Counter(map(repr, other))


def has_order(sql: str) -> bool:
    """Whether the outermost query orders its rows."""
    while re.search(r"\([^()]*\)", sql):
        sql = re.sub(r"\([^()]*\)", " ", sql)
    return re.search(r"\border\s+by\b", sql, re.IGNORECASE) is not None


def judge(tally: Tally, connection: sqlite3.Connection, schema: Schema, gold: str) -> None:
    tally.total += 1
    try:
        expected = run(connection, gold)
    except sqlite3.Error:
        tally.skipped += 1
        return
    try:
        form = read_sql(gold, schema)
        symbols = linearize(form)
        sql = write_sql(delinearize(symbols), schema)
    except UnsupportedQuery as error:
        tally.fail(f"unsupported: {error}", gold)
        return
    tally.lengths.append(len(symbols))
    tally.explicit += any(str(symbol) in {"join", "left", "cross"} for symbol in symbols)
    if delinearize(symbols) != form:
        tally.fail("the sequence loses something", gold, " ".join(map(str, symbols)))
        return
    try:
        rows = run(connection, sql)
    except sqlite3.Error as error:
        tally.fail(f"does not run: {error}", gold, sql)
        return
    if same_rows(expected, rows, ordered=has_order(gold)):
        tally.kept += 1
        return
    tied = same_rows(expected, rows, ordered=False)
    cause = "other rows"
    if tied:
        cause = "other order"
    elif len(expected) == len(rows) and re.search(r"\blimit\b|\bgroup\b", gold, re.IGNORECASE):
        cause = "other rows, as many (LIMIT or GROUP BY: ties?)"
    tally.fail(cause, f"[{schema.name}] {gold}", sql)


def spider(folder: Path, split: str, *, archer: bool) -> Tally:
    parts = load_split(folder)
    groups = ("fit", "valid", "calib", "dev") if split == "all" else (split,)
    wanted = frozenset[str]().union(*(getattr(parts, group) for group in groups))
    spider_folder = folder / "spider"
    file = "archer_train.json" if archer else "train_spider.json"
    entries = {row["db_id"]: row for row in json.loads((spider_folder / "tables.json").read_text())}
    golds: dict[str, list[str]] = {}
    for row in json.loads((spider_folder / file).read_text()):
        if row["db_id"] in wanted:
            golds.setdefault(row["db_id"], []).append(row["query"])
    tally = Tally()
    for name, queries in sorted(golds.items()):
        path = spider_folder / "database" / name / f"{name}.sqlite"
        if not path.exists():
            tally.total += len(queries)
            tally.skipped += len(queries)
            continue
        with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as connection:
            connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
            schema = read_schema(connection, name, entries.get(name))
            for gold in queries:
                judge(tally, connection, schema, gold)
    return tally


def statements(script: str) -> Iterator[str]:
    statement = ""
    for part in re.split(r"(?<=;)", script):
        statement += part
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
    if statement.strip():
        yield statement


def bird(folder: Path) -> Tally:
    """Read BIRD's training queries and prepare what is written on empty databases."""
    train = folder / "bird" / "train"
    definitions = json.loads((train / "train_schemas_ddl.json").read_text())
    databases: dict[str, tuple[sqlite3.Connection, Schema]] = {}
    for name, definition in definitions.items():
        connection = sqlite3.connect(":memory:")
        for statement in statements(definition):
            # SQLite's own tables are listed too; they can't be made.
            if not re.match(r"\s*create\s+table\s+\W?sqlite_", statement, re.IGNORECASE):
                connection.execute(statement)
        databases[name] = (connection, read_schema(connection, name, None))
    tally = Tally()
    for row in json.loads((train / "train.json").read_text()):
        tally.total += 1
        if row["db_id"] not in databases:
            tally.skipped += 1
            continue
        prepare(tally, *databases[row["db_id"]], row["SQL"])
    return tally


def prepare(tally: Tally, connection: sqlite3.Connection, schema: Schema, gold: str) -> None:
    try:
        connection.execute(f"EXPLAIN {gold}")
    except sqlite3.Error:
        tally.skipped += 1
        return
    try:
        symbols = linearize(read_sql(gold, schema))
        sql = write_sql(delinearize(symbols), schema)
        connection.execute(f"EXPLAIN {sql}")
    except UnsupportedQuery as error:
        tally.fail(f"unsupported: {error}", f"[{schema.name}] {gold}")
    except sqlite3.Error as error:
        tally.fail(f"does not prepare: {error}", gold, sql)
    else:
        tally.kept += 1
        tally.lengths.append(len(symbols))
        tally.explicit += any(str(symbol) in {"join", "left", "cross"} for symbol in symbols)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--split", choices=("fit", "valid", "calib", "dev", "all"), default="fit")
    parser.add_argument("--archer", action="store_true", help="the Archer questions instead")
    parser.add_argument("--bird", action="store_true", help="BIRD's training text instead")
    parser.add_argument("--failures", type=int, default=0, help="examples to show of each cause")
    parser.add_argument("--at-least", type=float, default=0.0, help="share below which to fail")
    options = parser.parse_args()
    if options.bird:
        tally = bird(options.data)
    else:
        tally = spider(options.data, options.split, archer=options.archer)
    tally.report(0 if options.split in {"dev", "all"} else options.failures)
    if tally.kept < options.at_least * (tally.total - tally.skipped):
        raise SystemExit(f"fewer than {options.at_least:.1%} kept")


if __name__ == "__main__":
    main()
