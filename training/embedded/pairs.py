"""Questions with their SQL, and the databases they are asked of, for training.

Nothing from a database that is held back for measuring leaves this module: `load_pairs` checks
every pair against the split.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from training.embedded.split import Split

from sqlwright.catalog.records import LISTED_LENGTH, LISTED_VALUES
from sqlwright.schema import Column, ColumnRef, ForeignKey, Schema, Table
from sqlwright.sql.tokens import quote_name
from sqlwright.types import Question
from sqlwright.types.stored import Formats

MAX_VALUES = 20_000
"""Distinct text values read from one column."""

MAX_VALUE_LENGTH = 80


@dataclass(frozen=True, slots=True)
class Pair:
    """A question and its gold SQL."""

    question: Question
    sql: str
    database: str
    source: str


@dataclass(frozen=True)
class TrainingDatabase:
    """A database as training knows it."""

    schema: Schema
    """With the labels that the benchmark's authors gave tables and columns."""
    values: Mapping[ColumnRef, tuple[tuple[str, int], ...]] = field(default_factory=dict)
    """Stored texts with their row counts, of text columns."""
    path: Path | None = None
    enumerable: bool = True
    """True if `values` are all there are."""
    formats: Formats = field(default_factory=dict)
    """Columns whose dates and amounts are converted by rule; gold queries are learnt without it."""

    @cached_property
    def enumerations(self) -> dict[ColumnRef, tuple[str, ...]]:
        """All values of the columns that hold few short ones, as the parser is told them."""
        if not self.enumerable:
            return {}
        return {
            ref: tuple(text for text, _ in found)
            for ref, found in self.values.items()
            if 0 < len(found) <= LISTED_VALUES
            and all(len(text) <= LISTED_LENGTH for text, _ in found)
        }


def load_pairs(folder: Path, split: Split, parts: Sequence[str] = ("fit",)) -> list[Pair]:
    """Spider, Spider-Syn and Archer questions on the databases of the given parts of the split."""
    spider = folder / "spider"
    wanted = frozenset[str]().union(*(getattr(split, part) for part in parts))
    rows = [("spider", row) for row in _read(spider / "train_spider.json")]
    rows += [("spider-syn", row) for row in _read(folder / "spider_syn" / "train.json")]
    rows += [("archer", row) for row in _read(spider / "archer_train.json")]
    plain = {(row["db_id"], row["question"]) for name, row in rows if name == "spider"}
    pairs = []
    for source, row in rows:
        if row["db_id"] not in wanted:
            continue
        text = row.get("SpiderSynQuestion") or row.get("question")
        if source == "spider-syn" and (row["db_id"], text) in plain:
            continue
        evidence = str(row.get("commonsense_knowledge") or "") if source == "archer" else ""
        pairs.append(Pair(Question(_tidy(text), evidence), row["query"], row["db_id"], source))
    if "fit" in parts:
        check_trainable(pairs, split)
    return pairs


def check_trainable(pairs: Iterable[Pair], split: Split) -> None:
    """Raise ValueError when a pair's database is held back for measuring."""
    for pair in pairs:
        split.check_trainable(pair.database)


def _read(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def _tidy(text: str) -> str:
    """One blank between words, none before a closing mark, as a user would type it."""
    text = re.sub(r"\s+", " ", text).strip()
    text = re.sub(r" ([?.!,;:])", r"\1", text)
    return text.replace("``", '"').replace("''", '"')


def load_databases(folder: Path, names: Iterable[str]) -> dict[str, TrainingDatabase]:
    """Schemas with labels and stored values of Spider databases."""
    entries = {row["db_id"]: row for row in _read(folder / "spider" / "tables.json")}
    known = {}
    for name in sorted(set(names)):
        described = _from_entry(entries[name])
        path = folder / "spider" / "database" / name / f"{name}.sqlite"
        known[name] = (
            load_file(name, path, described) if path.exists() else TrainingDatabase(described)
        )
    return known


def _from_entry(entry: Mapping[str, Any]) -> Schema:
    """A schema from an item of Spider's tables.json; its readable names become labels."""
    originals, readable = entry["column_names_original"], entry["column_names"]
    primary = {
        index
        for keys in entry["primary_keys"]
        for index in (keys if isinstance(keys, list) else [keys])
    }
    tables = []
    for number, name in enumerate(entry["table_names_original"]):
        own = [index for index, (table, _) in enumerate(originals) if table == number]
        columns = tuple(
            Column(originals[i][1], entry["column_types"][i], label=readable[i][1]) for i in own
        )
        keys = tuple(originals[i][1] for i in own if i in primary)
        tables.append(Table(name, columns, keys, label=entry["table_names"][number]))
    refs = [
        ColumnRef(tables[table].name, column) if table >= 0 else None for table, column in originals
    ]
    links = [
        ForeignKey(near.table, (near.column,), far.table, (far.column,))
        for near, far in ((refs[a], refs[b]) for a, b in entry["foreign_keys"])
        if near and far
    ]
    return Schema(entry["db_id"], tuple(tables), tuple(links))


def load_file(name: str, path: Path, described: Schema) -> TrainingDatabase:
    """The schema as stored, with labels and further keys from `described`, and stored texts."""
    with sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True) as connection:
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        schema = read_schema(connection, name, described)
        return TrainingDatabase(schema, dict(_stored_texts(connection, schema)), path)


def read_schema(connection: sqlite3.Connection, name: str, described: Schema) -> Schema:
    """Tables and keys as stored, with labels and further keys from `described`."""
    tables: list[Table] = []
    keys: list[ForeignKey] = []
    listed = connection.execute(
        "select name from sqlite_master where type = 'table' and name not like 'sqlite\\_%' "
        "escape '\\' order by rowid"
    ).fetchall()
    for (table,) in listed:
        other = described.table(table)
        tables.append(_stored_table(connection, table, other))
        keys += _stored_keys(connection, table)
    schema = Schema(name, tuple(tables))
    keys = _merged_keys(schema, [*keys, *described.foreign_keys])
    return replace(schema, foreign_keys=tuple(keys))


def _stored_table(connection: sqlite3.Connection, name: str, described: Table | None) -> Table:
    columns, primary = [], []
    listed = connection.execute(f"pragma table_info({quote_name(name)})")
    for _, column, kind, required, _, key in listed:
        other = described.column(column) if described else None
        columns.append(Column(column, kind, not required, label=other.label if other else ""))
        if key:
            primary.append((key, column))
    label = described.label if described else ""
    names = tuple(column for _, column in sorted(primary))
    if not names and described:
        names = described.primary_key
    return Table(name, tuple(columns), names, label=label)


def _stored_keys(connection: sqlite3.Connection, table: str) -> Iterator[ForeignKey]:
    grouped: dict[int, list[tuple[str, str, str | None]]] = defaultdict(list)
    for row in connection.execute(f"pragma foreign_key_list({quote_name(table)})"):
        grouped[row[0]].append((row[2], row[3], row[4]))
    for parts in grouped.values():
        if all(far for _, _, far in parts):
            yield ForeignKey(
                table,
                tuple(near for _, near, _ in parts),
                parts[0][0],
                tuple(str(far) for _, _, far in parts),
            )


def _merged_keys(schema: Schema, keys: Iterable[ForeignKey]) -> list[ForeignKey]:
    """Keys under exact stored names, each once; keys to unknown columns are left out."""
    merged: dict[tuple[object, ...], ForeignKey] = {}
    for key in keys:
        near, far = schema.table(key.table), schema.table(key.target_table)
        if near is None or far is None:
            continue
        own = [near.column(name) for name in key.columns]
        other = [far.column(name) for name in key.target_columns]
        if None in own or None in other:
            continue
        exact = ForeignKey(
            near.name,
            tuple(column.name for column in own if column),
            far.name,
            tuple(column.name for column in other if column),
        )
        merged.setdefault(exact.pairs, exact)
    return list(merged.values())


def _stored_texts(
    connection: sqlite3.Connection, schema: Schema
) -> Iterator[tuple[ColumnRef, tuple[tuple[str, int], ...]]]:
    for ref in schema.columns:
        column = quote_name(ref.column)
        found = connection.execute(
            f"select {column}, count(*) from {quote_name(ref.table)} "
            f"where typeof({column}) = 'text' "
            f"and length({column}) between 1 and {MAX_VALUE_LENGTH} "
            f"group by 1 order by count(*) desc limit {MAX_VALUES}"
        ).fetchall()
        if found:
            yield ref, tuple(found)
