"""Many databases merged into one, as large as an industrial one, with the questions kept.

    python -m benchmarks.merge_databases OUT bird:FOLDER [--columns 4337] [--seed 0] [--prefix]

CHESS (sections 4.1.1 and 4.2.2) merged BIRD's databases into schemas of up to 4,337 columns. Here
whole databases, tables, keys and rows, go into one file in an order drawn by seed. A table keeps
its name; one whose name is taken gets its database's in front, and so do all of them where that is
asked for. Gold queries are rewritten to the merged names and run on both sides: a question whose
query can't be rewritten, or gives other rows, is left out and counted. Views aren't merged.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from benchmarks.new_database import DatabaseWriter, Row, new_database

from sqlwright.boundary.text import counted
from sqlwright.catalog.descriptions import (
    FOLDER,
    DescribedColumn,
    describe,
    find_descriptions,
    read_descriptions,
)
from sqlwright.database import open_database
from sqlwright.errors import DatabaseUnavailable, DatasetError
from sqlwright.lab.datasets.describing import description_file, file_name
from sqlwright.lab.datasets.example import Dataset, Example
from sqlwright.lab.datasets.registry import load_dataset
from sqlwright.lab.datasets.selection import Selection
from sqlwright.protocols import Database, Limits, Run
from sqlwright.schema import ForeignKey, Schema, Table, fold_name
from sqlwright.sql.tokens import quote_name
from sqlwright.sql.tree import node_text, query_tree
from sqlwright.types import ExecutionResult

NAME = "merged"
"""The merged database."""
QUESTIONS = "dev.json"
PAGE = 100_000
"""Rows of a table that are read at once at most."""
WHOLE = Limits(
    seconds=600.0, rows=1_000_000, result_bytes=512 * 1024 * 1024, cell_bytes=64 * 1024 * 1024
)
"""Limits of what is read and compared."""

Names = Mapping[str, str]
"""The merged name of each table by its own."""


class Source(Protocol):
    """A database to be merged."""

    @property
    def name(self) -> str: ...
    @property
    def schema(self) -> Schema:
        """Its tables and declared keys, described."""
        ...

    def rows(self, table: Table) -> Iterator[Row]:
        """A table's rows, a cell for each of its columns."""
        ...


@dataclass(frozen=True, slots=True)
class StoredSource:
    """A database that is there, read as everything is: in a process of its own."""

    name: str
    database: Database
    descriptions: Path | None = None

    @property
    def schema(self) -> Schema:
        schema = self.database.schema()
        if self.descriptions is None:
            return schema
        return describe(schema, read_descriptions(self.descriptions))[0]

    def rows(self, table: Table) -> Iterator[Row]:
        """Raises DatasetError where the table can't be read."""
        page, at = PAGE, 0
        while True:
            asked = f"SELECT * FROM {quote_name(table.name)} LIMIT {page} OFFSET {at}"
            result = self.database.execute(asked, Run(), limits=WHOLE)
            if not result.ok or result.shortened or (result.truncated and page == 1):
                problem = result.error.message if result.error else "its values are too large"
                raise DatasetError(f"{self.name}: {table.name} can't be read: {problem}")
            if result.truncated:
                page = max(1, page // 4)
                continue
            yield from result.rows
            at += page
            if len(result.rows) < page:
                return


def rename_tables(sql: str, names: Mapping[str, str], dialect: str = "sqlite") -> str | None:
    """The query with tables' new names by their old ones, each under its old name as an alias where
    it has no other, so that the columns' qualifiers hold; the text itself where none is renamed,
    None where it can't be read as a query."""
    from sqlglot import exp

    tree = query_tree(sql, dialect)
    if tree is None:
        return None
    changed = tree.copy()
    new = {fold_name(old): name for old, name in names.items() if old != name}
    own = {fold_name(cte.alias) for cte in changed.find_all(exp.CTE)}
    renamed = False
    for node in changed.find_all(exp.Table):
        old = node.name
        name = new.get(fold_name(old))
        if name is None or fold_name(old) in own or not isinstance(node.this, exp.Identifier):
            continue
        if not node.alias:
            node.set("alias", exp.TableAlias(this=exp.to_identifier(old, quoted=True)))
        node.set("this", exp.to_identifier(name, quoted=True))
        renamed = True
    return node_text(changed, dialect) if renamed else sql


def add_database(
    writer: DatabaseWriter, source: Source, taken: set[str], *, prefix: str | None = None
) -> dict[str, str]:
    """Write every table of a database; the merged names by its own. `taken` are folded names,
    and gets those that are given. A `prefix` stands before all of them."""
    schema = source.schema
    tables = [table for table in schema.tables if table.kind == "table"]
    named = _named([table.name for table in tables], source.name, taken, prefix)
    for table in tables:
        keys = [_renamed(key, named) for key in schema.foreign_keys if key.table == table.name]
        merged = replace(table, name=named[table.name])
        writer.create(merged, [key for key in keys if key])
        writer.insert(merged, source.rows(table))
    return named


def _named(
    tables: Iterable[str], database: str, taken: set[str], prefix: str | None
) -> dict[str, str]:
    listed = list(tables)
    own = {fold_name(table) for table in listed}
    named = {}
    for table in listed:
        new = table if prefix is None else f"{prefix}_{table}"
        while fold_name(new) in (taken if new == table else taken | own):
            new = f"{database}_{new}"
        taken.add(fold_name(new))
        named[table] = new
    return named


def _renamed(key: ForeignKey, named: Names) -> ForeignKey | None:
    """A declared key under the merged names; None for one that was inferred."""
    if key.inferred or key.target_table not in named:
        return None
    return replace(key, table=named[key.table], target_table=named[key.target_table])


@dataclass(frozen=True, slots=True)
class Merged:
    """A data set that was merged."""

    folder: Path
    databases: int
    tables: int
    columns: int
    questions: int
    left_out: tuple[str, ...] = ()


def merge(
    dataset: Dataset,
    folder: Path,
    *,
    columns: int | None = None,
    seed: int = 0,
    prefix: bool = False,
) -> Merged:
    """Write a data set in BIRD's and Spider's layout over the merged databases of another one: of
    all, or of as many as it takes for so many columns. Raises DatasetError and WorkspaceError."""
    if folder.exists() and any(folder.iterdir()):
        raise DatasetError(f"{folder} isn't empty", hint="Name another folder.")
    dataset.check_sqlite("merging databases")
    place = folder / "database" / NAME
    try:
        place.mkdir(parents=True, exist_ok=True)
        names, total, left_out = _write(dataset, place, columns, seed, prefix=prefix)
        kept, more = _rewritten(dataset, place / f"{NAME}.sqlite", names)
        _write_json(folder / "names.json", names)
        _write_json(folder / QUESTIONS, [_row(example) for example in kept])
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    tables = sum(map(len, names.values()))
    return Merged(folder, len(names), tables, total, len(kept), (*left_out, *more))


def _write(
    dataset: Dataset, place: Path, columns: int | None, seed: int, *, prefix: bool
) -> tuple[dict[str, Names], int, list[str]]:
    """Write the database and its description files; names of tables, columns, what is left out."""
    files = {example.db_id: example.database for example in dataset.examples}
    order = sorted(files)
    random.Random(seed).shuffle(order)
    names: dict[str, Names] = {}
    left_out, taken, total = [], set[str](), 0
    described = place / FOLDER
    described.mkdir()
    with new_database(place / f"{NAME}.sqlite") as writer:
        for db_id in order:
            if columns is not None and total >= columns:
                break
            try:
                database = open_database(str(files[db_id]))
            except DatabaseUnavailable as error:
                left_out.append(f"{db_id} is left out: {error}")
                continue
            with closing(database):
                found = dataset.descriptions.get(db_id) or find_descriptions(files[db_id])
                source = StoredSource(db_id, database, found)
                names[db_id] = add_database(writer, source, taken, prefix=db_id if prefix else None)
                schema = source.schema.only(names[db_id])
                total += schema.column_count
                write_described(schema, names[db_id], described)
    if not names:
        raise DatasetError("none of the databases can be opened", hint=" ".join(left_out[:3]))
    if columns is not None and total < columns:
        left_out.append(f"all databases together have {total:,} columns, not {columns:,}")
    return names, total, left_out


def write_described(schema: Schema, names: Names, folder: Path) -> None:
    """A description file for each table that has any."""
    for table in schema.tables:
        told = [
            DescribedColumn(one.name, one.label, one.description, one.value_description)
            for one in table.columns
            if one.label or one.description or one.value_description
        ]
        if told:
            (folder / file_name(names[table.name])).write_text(description_file(told), "utf-8")


def _rewritten(
    dataset: Dataset, merged: Path, names: Mapping[str, Names]
) -> tuple[list[Example], list[str]]:
    """The questions over merged databases with queries that give the same rows there, and a line
    for each reason why others are left out."""
    kept, without = [], Counter[str]()
    by_database: dict[str, list[Example]] = {}
    for example in dataset.examples:
        if example.db_id in names:
            by_database.setdefault(example.db_id, []).append(example)
    with closing(open_database(str(merged))) as whole:
        for db_id, examples in by_database.items():
            with closing(open_database(str(examples[0].database))) as own:
                for example in examples:
                    found = _moved(example, own, whole, names[db_id])
                    if isinstance(found, str):
                        without[found] += 1
                    else:
                        kept.append(replace(found, db_id=NAME, database=merged))
    return kept, [f"{counted(count, 'question')} left out: {why}" for why, count in without.items()]


def _moved(example: Example, own: Database, whole: Database, names: Names) -> Example | str:
    """The question with its query for the merged database, or the reason why it has none."""
    sql = rename_tables(example.gold_sql, names)
    if sql is None:
        return "the query can't be read"
    before, after = (
        database.execute(query, Run(), limits=WHOLE)
        for database, query in ((own, example.gold_sql), (whole, sql))
    )
    if not before.ok:
        return "the query doesn't run"
    if not after.ok or _rows(before) != _rows(after):
        return "the query gives other rows over the merged tables"
    return replace(example, gold_sql=sql)


def _rows(result: ExecutionResult) -> Counter[Row]:
    return Counter(result.rows)


def _row(example: Example) -> dict[str, str]:
    """A question as loaders of both layouts read it."""
    return {
        "question_id": example.id,
        "db_id": NAME,
        "question": example.question,
        "evidence": example.evidence,
        "SQL": example.gold_sql,
        "query": example.gold_sql,
        "difficulty": example.difficulty,
    }


def _write_json(path: Path, content: object) -> None:
    path.write_text(json.dumps(content, indent=1) + "\n", "utf-8")


def main() -> None:
    """Merge a data set's databases as the options say, and tell what was left out."""
    reader = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    reader.add_argument("out", type=Path, help="folder for the merged data set; not there yet")
    reader.add_argument("data", help="NAME:FOLDER, a data set and where it is")
    reader.add_argument("--columns", type=int, help="merge until there are so many columns")
    reader.add_argument("--seed", type=int, default=0, help="of the order of the databases")
    reader.add_argument("--prefix", action="store_true", help="name every table DATABASE_TABLE")
    given = reader.parse_args()
    name, _, folder = given.data.partition(":")
    dataset = load_dataset(name, Path(folder), Selection())
    merged = merge(dataset, given.out, columns=given.columns, seed=given.seed, prefix=given.prefix)
    for line in merged.left_out:
        print(line)
    print(
        f"{counted(merged.databases, 'database')}, {counted(merged.tables, 'table')}, "
        f"{counted(merged.columns, 'column')}, {counted(merged.questions, 'question')} "
        f"in {merged.folder}"
    )


if __name__ == "__main__":
    main()
