"""Gold queries on PostgreSQL and DuckDB: how many find SQLite's rows there.

    python -m benchmarks.engines DATA --split dev --engine duckdb
    python -m benchmarks.engines DATA --split dev --engine postgres --url postgresql://...  [--show 5]
    python -m benchmarks.engines DATA --split dev --engine duckdb --answers FILE   # what local said

Each database of Spider (a folder as `sqlwright evaluate --data spider:` takes it) is loaded into a
new one of the engine, typed by what it declares where its values allow (`engine_loading.py`); on
PostgreSQL with the order of bytes (locale C), as SQLite has it. Then each gold that runs on SQLite

- is read as a form, which is written in the engine's dialect and run there (`by the form`);
- is rewritten by sqlglot and run there (`by sqlglot`).

Rows are the same by the rule of `candidates.py`; a date is its text, a truth 1 or 0. Golds whose
rows SQLite itself doesn't fix (places shared in an order that matters, columns beside aggregates
that differ within a group) are told apart. With `--answers` (JSONL of `id` and `sql`, SQLite's, of a
run there) the same is done with those, and counted where the gold by sqlglot finds its rows: EX on
SQLite and on the engine. `--asked` are answers given on the engine itself, in its own dialect
(`engine_asking.py`), to compare with those of `--answers`. Intervals are Wilson's, 95 %.
"""  # noqa: E501

from __future__ import annotations

import argparse
import datetime
import json
import sqlite3
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from benchmarks.engine_loading import DuckDB, Engine, Postgres, Rows, load
from benchmarks.round_trip import read_schema
from sqlglot import exp

from sqlwright.candidates import same_result
from sqlwright.errors import UnsupportedQuery
from sqlwright.lab.datasets.example import Example
from sqlwright.lab.datasets.spider import load_spider
from sqlwright.lab.evaluation.intervals import Share
from sqlwright.local.form import nodes as f
from sqlwright.local.form.read.sql import read_sql
from sqlwright.local.form.walking import inside, selects
from sqlwright.local.form.write.settled import bare_columns, is_grouped
from sqlwright.local.form.write.sql import write_sql
from sqlwright.sql.tree import node_text, query_tree
from sqlwright.types import Candidate, ExecutionResult

SECONDS = 20.0
RIGHT, TIED = "same rows", "rows that SQLite doesn't fix"


@dataclass
class Tally:
    """What became of the golds, and examples of what went wrong."""

    outcomes: Counter[tuple[str, bool]] = field(default_factory=Counter)
    """By outcome, and whether SQLite fixes the rows."""
    examples: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def count(self, outcome: str, fixed: bool, *texts: str) -> None:
        self.outcomes[outcome, fixed] += 1
        self.examples[outcome].append("\n      ".join(texts))

    def report(self, title: str, show: int) -> None:
        total = self.outcomes.total()
        fixed = sum(count for (_, one), count in self.outcomes.items() if one)
        right = self.outcomes[RIGHT, True]
        print(f"{title}: {total}")
        print(f"  {RIGHT}: {told(right + self.outcomes[RIGHT, False], total)}")
        print(f"  {RIGHT}, of golds whose rows SQLite fixes: {told(right, fixed)}")
        every: Counter[str] = Counter()
        for (outcome, _), count in self.outcomes.items():
            every[outcome] += count
        for outcome, count in every.most_common():
            if outcome != RIGHT:
                print(f"  {count:5}  {outcome}")
                for example in self.examples[outcome][:show]:
                    print(f"      {example}")


def told(hits: int, total: int) -> str:
    """A share with its interval."""
    low, high = Share(hits, total).interval
    return f"{hits}/{total} = {hits / max(total, 1):.1%} [{low:.1%}, {high:.1%}]"


class Database:
    """One database on SQLite and on the engine."""

    def __init__(self, path: Path, engine: Engine, listed: dict[str, Any] | None) -> None:
        self._connection = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
        self._connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        self.schema = read_schema(self._connection, path.stem, listed)
        self.engine = engine
        self.there = load(self._connection, self.schema, engine)

    def close(self) -> None:
        self._connection.close()
        self.engine.close()

    def here(self, sql: str) -> Rows | None:
        """SQLite's rows; None where it can't run the query."""
        steps = iter(range(int(SECONDS * 500)))
        self._connection.set_progress_handler(lambda: next(steps, None) is None, 100_000)
        try:
            return self._connection.execute(sql).fetchall()
        except sqlite3.Error:
            return None

    def on_engine(self, sql: str) -> tuple[Rows, str]:
        """The engine's rows, or what it says of the query."""
        try:
            return self.engine.run(sql), ""
        except Exception as error:  # noqa: BLE001 - whatever a driver raises is what it says
            return [], f"{type(error).__name__}: {(str(error) or '?').splitlines()[0]}"

    def by_form(self, sql: str) -> str:
        """A query of SQLite's in the engine's dialect, by its form."""
        return write_sql(read_sql(sql, self.schema), self.there)

    def fixes(self, sql: str) -> bool:
        """False where SQLite's rows of a query depend on the order in which it reads tables."""
        try:
            form = read_sql(sql, self.schema)
        except UnsupportedQuery:
            return True
        return not any(
            self._has_ties(select) or self._has_choices(select) for select in selects(form)
        )

    def _has_ties(self, select: f.Select) -> bool:
        """True if rows that are shown in an order, or left out by a limit, share a place."""
        if not select.order_by or select.distinct or _borrows(select):
            return False
        terms = tuple(term.expression for term in select.order_by)
        every = replace(select, items=(*terms, *select.items), limit=None, offset=None)
        rows = self._rows_of(every)
        most = len(rows) if select.limit is None else select.limit + (select.offset or 0)
        for place in range(min(most, len(rows) - 1)):
            near, far = rows[place], rows[place + 1]
            if near[: len(terms)] == far[: len(terms)] and near != far:
                return True
        return False

    def _has_choices(self, select: f.Select) -> bool:
        """True if a column beside aggregates has several values in one group."""
        if not is_grouped(select) or _borrows(select):
            return False
        bare = tuple(dict.fromkeys(bare_columns(select)))
        if not bare:
            return False
        extremes = {
            one for one in inside(select.items, f.Aggregate) if one.function in {"min", "max"}
        }
        if len(extremes) == 1:
            return False
        counts = tuple(f.Aggregate("count", column, distinct=True) for column in bare)
        rows = self._rows_of(replace(select, items=counts, order_by=(), limit=None, offset=None))
        return any(count > 1 for row in rows for count in row)

    def _rows_of(self, form: f.Query) -> Rows:
        try:
            return self.here(write_sql(form, self.schema)) or []
        except UnsupportedQuery:
            return []


def _borrows(select: f.Select) -> bool:
    return any(column.outer for column in inside(select, f.Column))


def comparable(rows: Rows) -> tuple[tuple[Any, ...], ...]:
    """Rows as SQLite would hold them."""
    return tuple(tuple(map(_plain, row)) for row in rows)


def _plain(cell: Any) -> Any:
    if isinstance(cell, bool):
        return int(cell)
    if isinstance(cell, Decimal):
        return int(cell) if cell == cell.to_integral_value() else float(cell)
    if isinstance(cell, datetime.datetime):
        return cell.isoformat(" ")
    if isinstance(cell, datetime.date | datetime.time):
        return cell.isoformat()
    if isinstance(cell, str):
        return cell.replace("\0", "")
    return cell


def same(gold: str, expected: Rows, found: Rows) -> bool:
    """True if two results are the same, for a query as ordered as the gold."""
    pair = [
        Candidate(gold, "", result=ExecutionResult(("",) * len(rows[0] if rows else ()), rows))
        for rows in (comparable(expected), comparable(found))
    ]
    return same_result(pair[0], pair[1])


def translated(sql: str, database: Database) -> str | None:
    """A query as sqlglot rewrites it, its names as they are stored; None where it can't."""
    tree = query_tree(sql)
    if tree is None:
        return None
    tree = tree.copy()
    tables = {table.name.casefold(): table.name for table in database.schema.tables}
    columns = {ref.column.casefold(): ref.column for ref in database.schema.columns}
    for node in list(tree.find_all(exp.Column)):
        if node.this.args.get("quoted") and node.name.casefold() not in columns:
            node.replace(exp.Literal.string(node.name))  # what SQLite takes for a text
    for name in tree.find_all(exp.Identifier):
        exact = tables if isinstance(name.parent, exp.Table) and name.arg_key == "this" else columns
        is_qualifier = isinstance(name.parent, exp.Column) and name.arg_key == "table"
        exact = tables if is_qualifier else exact
        name.set("this", exact.get(name.name.casefold(), name.name.casefold()))
        name.set("quoted", True)
    return node_text(tree, database.engine.dialect.name) or None


@dataclass(frozen=True)
class Answer:
    """What was said to a question on SQLite, and on the engine where it was asked there."""

    sql: str
    asked: str | None = None


class Measures:
    """The counts of one engine."""

    def __init__(self) -> None:
        self.form = Tally()
        self.sqlglot = Tally()
        self.not_running = 0
        self.answers = Counter[tuple[bool, bool]]()
        self.lost: list[str] = []

    def judge(self, database: Database, example: Example, answer: Answer | None) -> None:
        gold = example.gold_sql
        expected = database.here(gold)
        if expected is None:
            self.not_running += 1
            return
        fixed = database.fixes(gold)
        where = f"[{example.db_id}] {gold}"
        try:
            written = database.by_form(gold)
        except UnsupportedQuery as error:
            self.form.count(f"unsupported: {error}", fixed, where)
        else:
            outcome, *texts = _outcome(database, gold, expected, written, fixed=fixed)
            self.form.count(outcome, fixed, where, *texts)
        rewritten = translated(gold, database)
        outcome, *texts = _outcome(database, gold, expected, rewritten or "", fixed=fixed)
        self.sqlglot.count(outcome, fixed, where, *texts)
        if answer is not None and outcome == RIGHT:
            self._answer(database, gold, expected, answer)

    def _answer(self, database: Database, gold: str, expected: Rows, answer: Answer) -> None:
        here = database.here(answer.sql) if answer.sql else None
        right = here is not None and same(gold, expected, here)
        sql = answer.asked
        if sql is None:
            try:
                sql = database.by_form(answer.sql) if answer.sql else ""
            except UnsupportedQuery:
                sql = ""
        found, error = database.on_engine(sql) if sql else ([], "no answer")
        there = not error and same(gold, expected, found)
        self.answers[right, there] += 1
        if right and not there:
            self.lost.append(f"[{database.schema.name}] {gold}\n      {answer.sql}\n      {sql}")

    def report(self, show: int) -> None:
        print(f"golds that don't run on SQLite: {self.not_running}")
        self.form.report("by the form", show)
        self.sqlglot.report("by sqlglot", show)
        total = self.answers.total()
        if total:
            here = sum(n for (right, _), n in self.answers.items() if right)
            there = sum(n for (_, right), n in self.answers.items() if right)
            print(f"EX of the answers on SQLite: {told(here, total)}")
            print(f"EX of the answers on the engine: {told(there, total)}")
            print(f"  of SQLite's: {there / max(here, 1):.1%}; lost {self.answers[True, False]}")
            for example in self.lost[:show]:
                print(f"      {example}")


def _outcome(
    database: Database, gold: str, expected: Rows, sql: str, *, fixed: bool
) -> tuple[str, ...]:
    """What becomes of a query on the engine, and what there is to see."""
    found, error = database.on_engine(sql) if sql else ([], "not rewritten")
    if error:
        return f"fails: {error[:50]}", sql, error
    if same(gold, expected, found):
        return (RIGHT,)
    # Without a limit only the order of rows may differ.
    if not fixed and (" limit " in gold.casefold() or same("", expected, found)):
        return TIED, sql
    return "other rows", sql, str(expected[:3]), str(found[:3])


def databases(
    options: argparse.Namespace, folder: Path
) -> Iterator[tuple[Database, list[Example]]]:
    """Each database of the split, loaded, and its questions."""
    examples = load_spider(options.data, split=options.split).examples
    listed = json.loads((options.data / "tables.json").read_text())
    entries = {row["db_id"]: row for row in listed}
    by_database: dict[str, list[Example]] = defaultdict(list)
    for example in examples:
        by_database[example.db_id].append(example)
    for name, own in sorted(by_database.items()):
        path = own[0].database
        if not path.exists():
            continue
        engine = DuckDB(folder, name) if options.engine == "duckdb" else Postgres(options.url, name)
        with closing(Database(path, engine, entries.get(name))) as database:
            yield database, own


def _said(path: Path | None) -> dict[str, str]:
    """The query of each answer in a file, empty where there was none."""
    lines = path.read_text("utf-8").splitlines() if path else []
    return {row["id"]: row["sql"] or "" for row in map(json.loads, lines)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path, help="the folder of Spider")
    parser.add_argument("--split", default="dev")
    parser.add_argument("--engine", choices=("postgres", "duckdb"), default="duckdb")
    parser.add_argument("--url", default="", help="of a PostgreSQL server, its owner's")
    parser.add_argument("--answers", type=Path, help="JSONL of id and sql")
    parser.add_argument("--asked", type=Path, help="the same, asked on the engine itself")
    parser.add_argument("--show", type=int, default=0, help="examples of each failure")
    options = parser.parse_args()
    here, there = _said(options.answers), _said(options.asked)
    answers = {
        name: Answer(sql, there.get(name, "") if there else None) for name, sql in here.items()
    }
    measures = Measures()
    with tempfile.TemporaryDirectory() as folder:
        for database, examples in databases(options, Path(folder)):
            for example in examples:
                measures.judge(database, example, answers.get(example.id))
    measures.report(options.show)


if __name__ == "__main__":
    main()
