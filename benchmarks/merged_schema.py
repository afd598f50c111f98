"""Accuracy on many databases merged into one, as a share of that on the separate ones.

    python -m benchmarks.merged_schema DATA FOLDER [--part valid] [--questions 150] [--columns 3800]
        [--set K=V]

Every Spider database of the parts `fit`, `valid` and `calib` goes into one SQLite file, tables,
keys and rows, in an order drawn by seed; BIRD's training schemas with made-up rows follow until
there are enough columns. A table keeps its name; one whose name is taken gets its database's in
front. A seeded sample of the questions on `valid`, or on another part, is asked of their own
databases and of the merged one, both prepared, with the same weights. An answer is right when it
gives the gold query's rows on the question's own database (Spider's rule). The development
databases are left out unless their questions are asked (`--part dev`, a reading of them).

The merged file is kept in FOLDER, and so are the records of both sides, as JSON lines.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.large_schema import Source, read_sources
from benchmarks.merge_databases import StoredSource, add_database
from benchmarks.new_database import DatabaseWriter, Row, new_database

from sqlwright import api
from sqlwright.database import open_database
from sqlwright.lab.datasets.example import Example
from sqlwright.lab.datasets.spider import load_spider, load_split
from sqlwright.lab.evaluation.intervals import Share
from sqlwright.lab.evaluation.rules.published import orders, spider_match
from sqlwright.lab.evaluation.scoring import Scorer
from sqlwright.local.models import EmbeddedModels
from sqlwright.prepare import prepare, prepared_folder
from sqlwright.schema import ColumnRef, Schema, Table
from sqlwright.session import Session
from sqlwright.sql.reading import columns_used, tables_used
from sqlwright.types import ExecutionResult

COLUMNS = 3_800
KEPT = 40
"""Columns at which the linker's recall is taken."""

Names = Mapping[str, Mapping[str, str]]
"""Per database the merged names of its tables."""


@dataclass(frozen=True)
class Asked:
    """What came of one question on one side."""

    id: str
    db_id: str
    question: str
    sql: str | None
    status: str
    right: bool
    first: bool
    oracle: bool
    seconds: float
    columns: int
    """Needed columns."""
    columns_linked: int
    """Those among the linker's best `KEPT`."""
    columns_seen: int
    """Those in the view that the parser was given."""
    tables: int
    tables_linked: int
    """Needed tables of which the best `KEPT` columns hold one."""
    tables_seen: int


@dataclass(frozen=True)
class Gold:
    """What a question needs and what it should give, from its own database."""

    result: ExecutionResult
    columns: frozenset[ColumnRef]
    tables: frozenset[str]


@dataclass(frozen=True)
class MadeSource:
    """One of BIRD's training schemas with made-up rows."""

    name: str
    tables: Sequence[Source]
    drawn: random.Random

    @property
    def schema(self) -> Schema:
        by_name = {table.name.casefold(): table.name for table in self.tables}
        keys = tuple(
            replace(key, target_table=by_name.get(key.target_table.casefold(), key.target_table))
            for table in self.tables
            for key in table.foreign_keys()
        )
        return Schema(self.name, tuple(table.table() for table in self.tables), keys)

    def rows(self, table: Table) -> Iterator[Row]:
        (made,) = (one for one in self.tables if one.name == table.name)
        return made.rows(self.drawn)


def make_merged(
    data: Path, folder: Path, columns: int, seed: int, *, dev: bool = False
) -> tuple[Path, Names]:
    """The merged file and its tables' names; one that is there is kept."""
    path = folder / f"merged_{columns}_{seed}{'_dev' if dev else ''}.sqlite"
    names_path = path.with_suffix(".json")
    if not names_path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        with new_database(path) as writer:
            names = dict(_fill_merged(writer, data, columns, seed, dev))
        names_path.write_text(json.dumps(names), encoding="utf-8")
    return path, json.loads(names_path.read_text(encoding="utf-8"))


def _fill_merged(
    writer: DatabaseWriter, data: Path, columns: int, seed: int, dev: bool
) -> Iterator[tuple[str, dict[str, str]]]:
    drawn = random.Random(seed)
    split = load_split(data)
    spider = sorted(split.fit | split.valid | split.calib | (split.dev if dev else frozenset()))
    drawn.shuffle(spider)
    taken: set[str] = set()
    total = 0
    for name in spider:
        path = data / "spider" / "database" / name / f"{name}.sqlite"
        if path.exists():
            with closing(open_database(str(path))) as database:
                yield name, add_database(writer, StoredSource(name, database), taken)
                tables = (one for one in database.schema().tables if one.kind == "table")
                total += sum(len(table.columns) for table in tables)
    sources = read_sources(data / "bird" / "train" / "train_schemas_ddl.json")
    others = sorted(sources)
    drawn.shuffle(others)
    for name in others:
        if total >= columns:
            break
        source = MadeSource(name, sources[name], drawn)
        yield f"bird/{name}", add_database(writer, source, taken)
        total += source.schema.column_count


def sample(
    data: Path, part: str, count: int, seed: int, *, reworded: bool = False
) -> list[Example]:
    """Questions on the databases of a part that are there, or their rewordings, by database."""
    questions = data / "spider_syn" / "train.json" if reworded else None
    loaded = load_spider(data / "spider", split=part, questions=questions).examples
    examples = [example for example in loaded if example.database.exists()]
    random.Random(seed).shuffle(examples)
    return sorted(examples[:count], key=lambda example: example.db_id)


def ask(session: Session, example: Example, gold: Gold, names: Mapping[str, str]) -> Asked:
    """Ask, and compare with the gold; `names` are the tables' names in this session."""
    started = time.perf_counter()
    answer, state = session.run(example.question, evidence=example.evidence)
    seconds = time.perf_counter() - started
    scorer = Scorer(session.workspace.database, session.workspace.schema)
    ordered = orders(example.gold_sql)
    known: dict[str, bool] = {}

    def right(sql: str | None) -> bool:
        if sql and sql not in known:
            found = scorer.execute(sql)
            known[sql] = found.ok and spider_match(found.rows, gold.result.rows, ordered=ordered)
        return bool(sql) and known[sql]

    best = max(state.candidates, key=lambda candidate: candidate.score, default=None)
    columns = {ColumnRef(names[ref.table], ref.column) for ref in gold.columns}
    tables = {names[table] for table in gold.tables}
    linked = [link.column for link in state.columns[:KEPT]]
    seen = state.view.visible_schema()
    return Asked(
        id=example.id,
        db_id=example.db_id,
        question=example.question,
        sql=answer.sql,
        status=answer.status,
        right=answer.status == "answered" and right(answer.sql),
        first=right(best.sql) if best else False,
        oracle=any(right(candidate.sql) for candidate in state.candidates),
        seconds=seconds,
        columns=len(columns),
        columns_linked=len(columns & set(linked)),
        columns_seen=len(columns & set(seen.columns)),
        tables=len(tables),
        tables_linked=len(tables & {ref.table for ref in linked}),
        tables_seen=len(tables & {table.name for table in seen.tables}),
    )


def open_prepared(path: Path, home: Path, **options: Any) -> Session:
    """A session over a database whose values and names are all known beforehand."""
    prepare(str(path), folder=home / "databases" / prepared_folder(str(path)).name)
    session = api.open(path, home=home, record=False, **options)
    session.warm()
    return session


def find_gold(session: Session, example: Example) -> Gold:
    schema: Schema = session.workspace.schema
    result = Scorer(session.workspace.database, schema).execute(example.gold_sql)
    return Gold(result, *needed(example, schema))


def needed(example: Example, schema: Schema) -> tuple[frozenset[ColumnRef], frozenset[str]]:
    """Columns and tables of the gold query, by their names in its own database."""
    stored = {table.name.casefold(): table.name for table in schema.tables}
    tables = frozenset(stored[name.casefold()] for name in tables_used(example.gold_sql))
    return frozenset(columns_used(example.gold_sql, schema)), tables


def report(title: str, asked: Sequence[Asked]) -> None:
    """Accuracy, recall and time of one side."""
    count = len(asked)
    print(f"{title}: EX {Share(sum(one.right for one in asked), count)}")
    print(
        f"  first {sum(one.first for one in asked) / count:.1%},"
        f" oracle {sum(one.oracle for one in asked) / count:.1%},"
        f" refused {sum(one.status == 'refused' for one in asked)}"
    )
    for what in ("columns", "tables"):
        needed = sum(getattr(one, what) for one in asked)
        for place, words in (("linked", f"among {KEPT} columns"), ("seen", "in the view")):
            found = sum(getattr(one, f"{what}_{place}") for one in asked)
            all_found = sum(getattr(one, f"{what}_{place}") == getattr(one, what) for one in asked)
            print(f"  {what} {words}: {found / needed:.1%}, all of them {all_found / count:.1%}")
    times = sorted(one.seconds for one in asked)
    print(
        f"  a question: first {asked[0].seconds * 1000:.0f} ms, median {median(times) * 1000:.0f},"
        f" p95 {times[int(0.95 * count)] * 1000:.0f}"
    )


def losses(separate: Sequence[Asked], merged: Sequence[Asked]) -> Iterator[tuple[str, Asked]]:
    """Questions right on their own database only, with the first thing that went wrong."""
    for own, one in zip(separate, merged, strict=True):
        if own.right and not one.right:
            if one.tables_seen < one.tables:
                yield "a table isn't in the view", one
            elif one.columns_seen < one.columns:
                yield "a column isn't in the view", one
            elif not one.oracle:
                yield "no candidate is right", one
            elif one.status == "refused":
                yield "refused", one
            else:
                yield "another candidate was chosen", one


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--part", choices=("fit", "valid", "calib", "dev"), default="valid")
    parser.add_argument("--questions", type=int, default=150)
    parser.add_argument("--columns", type=int, default=COLUMNS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--set", action="append", default=[], dest="overrides", metavar="K=V")
    options = parser.parse_args()
    dev = options.part == "dev"
    path, names = make_merged(options.data, options.folder, options.columns, options.seed, dev=dev)
    examples = sample(options.data, options.part, options.questions, options.seed)
    models = EmbeddedModels()
    golds, separate = {}, []
    for database, group in groupby(examples, key=lambda example: example.database):
        with open_prepared(database, options.folder, models=models) as session:
            same = {table.name: table.name for table in session.workspace.schema.tables}
            for example in group:
                golds[example.id] = find_gold(session, example)
                separate.append(ask(session, example, golds[example.id], same))
    report("separate", separate)
    started = time.perf_counter()
    overrides = options.overrides
    with open_prepared(path, options.folder, models=models, overrides=overrides) as session:
        schema = session.workspace.schema
        print(
            f"merged: {len(schema.tables)} tables, {schema.column_count} columns,"
            f" opened in {time.perf_counter() - started:.1f} s"
        )
        merged = [ask(session, one, golds[one.id], names[one.db_id]) for one in examples]
    report("merged", merged)
    right = (sum(one.right for one in merged), sum(one.right for one in separate))
    both = sum(a.right and b.right for a, b in zip(separate, merged, strict=True))
    print(f"merged as a share of separate: {right[0] / right[1]:.1%} ({right[0]} of {right[1]})")
    print(f"right on both: {Share(both, right[1])}")
    lost = list(losses(separate, merged))
    print("lost:", dict(Counter(reason for reason, _ in lost)))
    for reason, one in lost:
        print(f"  {reason}: {one.db_id}: {one.question}\n    {one.sql}")
    write(options.folder / "separate.jsonl", separate)
    write(options.folder / "merged.jsonl", merged)


def write(path: Path, asked: Iterable[Asked]) -> None:
    path.write_text("".join(json.dumps(asdict(one)) + "\n" for one in asked), encoding="utf-8")


if __name__ == "__main__":
    main()
