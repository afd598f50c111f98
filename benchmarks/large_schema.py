"""A database with as many columns as an industrial one, merged from BIRD's training schemas.

    python benchmarks/large_schema.py DATA FOLDER                  at least 4,337 columns
    python benchmarks/large_schema.py DATA FOLDER --columns 100    about 100
    python benchmarks/large_schema.py DATA FOLDER --columns 1000 --around data/bird
                                                   a data set whose databases are that large

CHESS (sections 4.1.1 and 4.2.2) merged BIRD's databases into schemas of up to 4,337 columns. This
does the same by seed from the DDL of the training part: whole databases in a random order, every
table named `database_table`, declared keys kept, a few rows made for each, column meanings as
description files beside it. The training part alone doesn't have that many columns: once every
database is in, they come again as `database_archive_table`, as a warehouse keeps old copies. The
databases that are kept for measuring are left out.

That schema has no questions. With --around, the databases of a data set in BIRD's layout, or in
Spider's (`--rule spider`), are copied, each with its own tables and rows as they are and schemas of
others beside them. Its questions and gold queries stay what they were: for pass@k by number of
columns (figure 3), `sqlwright lab ablate pass-at-1 pass-at-5 --data bird:FOLDER/around_1000_0 ...`.
The paper drew single columns for sizes in between; here whole databases are drawn.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import shutil
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from benchmarks.new_database import DatabaseWriter, new_database

from sqlwright.catalog.descriptions import DescribedColumn
from sqlwright.lab.datasets.bird import load_bird
from sqlwright.lab.datasets.describing import description_file, file_name
from sqlwright.lab.datasets.example import Dataset
from sqlwright.lab.datasets.spider import HELD_BACK, load_spider
from sqlwright.schema import Column, ForeignKey, Table

COLUMNS = 4_337
"""The largest schema of the paper."""
ROWS = 4
OVER = 1.1
"""A database is taken only if the total stays below so many times what is wanted."""
WORDS = ("amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heron", "indigo", "lotus")


@dataclass(frozen=True)
class Source:
    """A table as it stands in its own database."""

    database: str
    name: str
    columns: tuple[tuple[str, str, int], ...]
    """Name, declared type, place in the primary key or 0."""
    keys: tuple[tuple[tuple[str, ...], str, tuple[str, ...]], ...]
    """Columns, table and columns they point to; the latter empty for its primary key."""

    def table(self, prefix: str = "") -> Table:
        """It under its new name."""
        primary = sorted((place, name) for name, _, place in self.columns if place)
        return Table(
            prefixed(prefix, self.name),
            tuple(Column(name, kind) for name, kind, _ in self.columns),
            tuple(name for _, name in primary),
        )

    def foreign_keys(self, prefix: str = "") -> Iterator[ForeignKey]:
        """Its keys under the new names."""
        for near, target, far in self.keys:
            yield ForeignKey(prefixed(prefix, self.name), near, prefixed(prefix, target), far)

    def rows(self, drawn: random.Random) -> Iterator[tuple[int | float | str, ...]]:
        """A few rows of values that suit the declared types; keys count from 1."""
        linked = {name for near, _, _ in self.keys for name in near}
        for row in range(1, ROWS + 1):
            yield tuple(
                cell(kind, row, is_key=bool(place) or name in linked, drawn=drawn)
                for name, kind, place in self.columns
            )


def make_large_schema(data: Path, folder: Path, columns: int = COLUMNS, seed: int = 0) -> Path:
    """A SQLite file in `folder` with at least `columns` columns, at most a tenth more, and its
    description files; the same for the same seed. One that is there already is kept."""
    path = folder / f"large_{columns}_{seed}" / f"large_{columns}_{seed}.sqlite"
    if path.exists():
        return path
    sources = read_sources(data / "bird" / "train" / "train_schemas_ddl.json")
    meanings = json.loads(
        (data / "bird" / "train" / "train_column_meaning.json").read_text("utf-8")
    )
    drawn = random.Random(seed)
    descriptions = path.parent / "database_description"
    descriptions.mkdir(parents=True, exist_ok=True)
    with new_database(path) as writer:
        for prefix, tables in chosen(sources, columns, drawn):
            for table in tables:
                add_made(writer, table, prefix, drawn)
                describe(table, prefix, meanings, descriptions)
    return path


def add_made(writer: DatabaseWriter, table: Source, prefix: str, drawn: random.Random) -> None:
    """Write a table with made-up rows."""
    writer.create(table.table(prefix), table.foreign_keys(prefix))
    writer.insert(table.table(prefix), table.rows(drawn))


def surround(data: Path, dataset: Dataset, folder: Path, columns: int, seed: int = 0) -> Path:
    """A copy of a data set in `folder` whose databases have at least `columns` columns each; both
    loaders read it. One that is there already is kept."""
    whole = folder / f"around_{columns}_{seed}"
    if (whole / "dev.json").exists():
        return whole
    sources = read_sources(data / "bird" / "train" / "train_schemas_ddl.json")
    meanings = json.loads(
        (data / "bird" / "train" / "train_column_meaning.json").read_text("utf-8")
    )
    for path in {example.database for example in dataset.examples}:
        others = {name: tables for name, tables in sources.items() if name != path.stem}
        place = whole / "database" / path.stem
        place.mkdir(parents=True, exist_ok=True)
        copy, described = place / path.name, place / "database_description"
        shutil.copyfile(path, copy)
        if (path.parent / described.name).is_dir():
            shutil.copytree(path.parent / described.name, described, dirs_exist_ok=True)
        described.mkdir(exist_ok=True)
        _widen(copy, others, meanings, columns, random.Random(f"{seed}/{path.stem}"))
    rows = [
        {
            "question_id": one.id, "db_id": one.db_id, "question": one.question,
            "evidence": one.evidence, "SQL": one.gold_sql, "query": one.gold_sql,
            "difficulty": one.difficulty,
        }
        for one in dataset.examples
    ]  # fmt: skip
    (whole / "dev.json").write_text(json.dumps(rows, indent=1), encoding="utf-8")
    return whole


def _widen(
    path: Path,
    sources: dict[str, tuple[Source, ...]],
    meanings: Mapping[str, str],
    columns: int,
    drawn: random.Random,
) -> None:
    """Add others' tables to a database until it has so many columns."""
    connection = sqlite3.connect(path)
    (own,) = connection.execute(
        "SELECT count(*) FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table'"
    ).fetchone()
    there = {name.lower() for (name,) in connection.execute("SELECT name FROM sqlite_schema")}
    for prefix, tables in _others(sources, columns - own, drawn):
        if there.isdisjoint(prefixed(prefix, table.name).lower() for table in tables):
            for table in tables:
                add_made(DatabaseWriter(connection), table, prefix, drawn)
                describe(table, prefix, meanings, path.parent / "database_description")
    connection.commit()
    connection.close()


def _others(
    sources: dict[str, tuple[Source, ...]], columns: int, drawn: random.Random
) -> Iterator[tuple[str, tuple[Source, ...]]]:
    """Those that come beside a database that lacks so many columns; the last may be too large."""
    return chosen(sources, columns, drawn, over=math.inf) if columns > 0 else iter(())


def read_sources(path: Path) -> dict[str, tuple[Source, ...]]:
    """The tables of every database that may be used, by database."""
    sources = {}
    for name, text in sorted(json.loads(path.read_text("utf-8")).items()):
        if name not in HELD_BACK:
            # SQLite keeps this table itself and refuses to be told so.
            statements = text.replace("CREATE TABLE sqlite_sequence", "CREATE TABLE kept_sequence")
            with sqlite3.connect(":memory:") as connection:
                connection.executescript(statements)
                sources[name] = tuple(_tables(connection, name))
    return sources


def _tables(connection: sqlite3.Connection, database: str) -> Iterator[Source]:
    names = connection.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        " AND name <> 'kept_sequence' ORDER BY rowid"
    ).fetchall()
    for (name,) in names:
        info = connection.execute("SELECT name, type, pk FROM pragma_table_info(?)", (name,))
        columns = tuple(info.fetchall())
        keys: dict[int, list[tuple[str, str, str | None]]] = {}
        listed = connection.execute(
            'SELECT id, "table", "from", "to" FROM pragma_foreign_key_list(?) ORDER BY id, seq',
            (name,),
        )
        for number, target, near, far in listed:
            keys.setdefault(number, []).append((target, near, far))
        yield Source(database, name, columns, tuple(_key(pairs) for pairs in keys.values()))


def _key(
    pairs: list[tuple[str, str, str | None]],
) -> tuple[tuple[str, ...], str, tuple[str, ...]]:
    far = tuple(column for _, _, column in pairs if column is not None)
    return tuple(near for _, near, _ in pairs), pairs[0][0], far


def chosen(
    sources: dict[str, tuple[Source, ...]], columns: int, drawn: random.Random, over: float = OVER
) -> Iterator[tuple[str, tuple[Source, ...]]]:
    """Prefixes and tables of whole databases until there are enough columns, at most `over` times
    as many."""
    total = 0
    for turn in count():
        names = list(sources)
        drawn.shuffle(names)
        before = total
        for name in names:
            size = sum(len(table.columns) for table in sources[name])
            if total >= columns:
                return
            if total + size <= columns * over:
                total += size
                yield (
                    name + ("_archive" * bool(turn)) + (f"_{turn}" if turn > 1 else ""),
                    sources[name],
                )
        if total == before:
            raise SystemExit(f"no selection of databases has about {columns} columns")


def prefixed(prefix: str, name: str) -> str:
    """A table's new name; its own where there is no prefix."""
    return f"{prefix}_{name}" if prefix else name


def cell(kind: str, row: int, *, is_key: bool, drawn: random.Random) -> int | float | str:
    """A value for a column of a declared type."""
    kind = kind.upper()
    if "INT" in kind:
        return row if is_key else drawn.randrange(1, 5_000)
    if "DATE" in kind or "TIME" in kind:
        return f"20{drawn.randrange(10, 26)}-{drawn.randrange(1, 13):02}-{row:02}"
    if any(part in kind for part in ("REAL", "FLOA", "DOUB", "DEC", "NUM")):
        return row if is_key else drawn.randrange(100, 99_999) / 100
    return f"K{row:03}" if is_key else f"{drawn.choice(WORDS)} {drawn.choice(WORDS)}"


def describe(table: Source, prefix: str, meanings: Mapping[str, str], folder: Path) -> None:
    """A description file in BIRD's layout with the columns' meanings, where there are any."""
    told = [
        DescribedColumn(name, "", text)
        for name, _, _ in table.columns
        if (text := meanings.get(f"{table.database}|{table.name}|{name}"))
    ]
    if told:
        path = folder / file_name(prefixed(prefix, table.name))
        path.write_text(description_file(told), "utf-8")


def main(arguments: Iterable[str] | None = None) -> None:
    """Make one and say how large it is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--columns", type=int, default=COLUMNS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--around", type=Path, help="a data set whose databases are widened")
    parser.add_argument("--rule", choices=("bird", "spider"), default="bird", help="its layout")
    parser.add_argument("--split", help="of a set in Spider's layout")
    options = parser.parse_args(None if arguments is None else list(arguments))
    if options.around is not None:
        dataset = (
            load_bird(options.around)
            if options.rule == "bird"
            else load_spider(options.around, split=options.split)
        )
        whole = surround(options.data, dataset, options.folder, options.columns, options.seed)
        print(f"{whole}: {len(dataset.examples)} questions, {len(dataset.db_ids)} databases")
        return
    path = make_large_schema(options.data, options.folder, options.columns, options.seed)
    with sqlite3.connect(path) as connection:
        tables, columns = connection.execute(
            "SELECT count(DISTINCT t.name), count(*)"
            " FROM sqlite_schema t, pragma_table_info(t.name) WHERE t.type = 'table'"
        ).fetchone()
    print(f"{path}: {tables} tables, {columns} columns")


if __name__ == "__main__":
    main()
