"""Witness databases: tiny ones on which two queries give other results: used by `perturbed.py`.

Another method than the metric's: no stored row is looked at, and no neighbour. Tables have none to
a few rows, whose values come out of one small set for the whole database: a few numbers and texts,
the literals of both queries and those beside them, and NULL. Nearly every small database can come
up that way. It keeps NOT NULL, primary and unique keys and declared foreign keys.

A witness counts only if each of both queries gives one result however rows are stored: forwards,
backwards and shuffled, with the declared keys (and so their indexes) and without.
"""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from benchmarks.query_mutants import parsed
from sqlglot import exp

from sqlwright.lab.evaluation.rules.published import orders, spider_match
from sqlwright.schema import Column, Schema, Table
from sqlwright.sql.declared_types import type_class
from sqlwright.sql.reading import tables_used

Rows = list[tuple[Any, ...]]
SECONDS_STEPS = 2_000_000
"""Steps of SQLite's machine for one query; tiny databases need far fewer."""


@dataclass(frozen=True)
class Witnesses:
    """Draws databases for one schema."""

    schema: Schema
    tries: int = 120

    def differ(self, gold: str, other: str, rng: random.Random) -> bool:
        """True if a database was found that proves two queries different."""
        names = {name for sql in (gold, other) for name in tables_used(sql)}
        tables = [t for name in names if (t := self.schema.table(name)) is not None]
        if not tables or any(table.kind == "view" for table in tables):
            return False
        tables.sort(key=lambda table: table.name)
        numbers, texts, most = _values(gold, other)
        for attempt in range(self.tries):
            size = 3 if attempt < self.tries // 2 else most
            filled = {
                table.name: self._rows(table, rng.randint(0, size), numbers, texts, rng)
                for table in tables
            }
            self._keep_keys(filled)
            if self._proves(tables, filled, gold, other, rng):
                return True
        return False

    def _rows(
        self, table: Table, count: int, numbers: Sequence[Any], texts: Sequence[Any],
        rng: random.Random,
    ) -> Rows:  # fmt: skip
        few = rng.random() < 0.5
        numbers = rng.sample(numbers, min(2, len(numbers))) if few else numbers
        texts = rng.sample(texts, min(2, len(texts))) if few else texts
        rows, taken = [], set()
        for _ in range(count):
            row = tuple(self._cell(table, column, numbers, texts, rng) for column in table.columns)
            names = [column.name for column in table.columns]
            key = tuple(row[names.index(name)] for name in table.primary_key)
            if not key or key not in taken:
                taken.add(key)
                rows.append(row)
        return rows

    def _cell(
        self, table: Table, column: Column, numbers: Sequence[Any], texts: Sequence[Any],
        rng: random.Random,
    ) -> Any:  # fmt: skip
        key = column.name in table.primary_key
        if column.nullable and not key and rng.random() < 0.15:
            return None
        if type_class(column.type) in {"number", "boolean"}:
            return rng.choice(numbers)
        if type_class(column.type) == "untyped" and rng.random() < 0.5:
            return rng.choice(numbers)
        return rng.choice(texts)

    def _keep_keys(self, filled: dict[str, Rows]) -> None:
        """Leave out rows that refer to nothing, till none does."""
        changed = True
        while changed:
            changed = False
            for key in self.schema.foreign_keys:
                if key.table not in filled or key.target_table not in filled:
                    continue
                near, far = self.schema.table(key.table), self.schema.table(key.target_table)
                assert near is not None
                assert far is not None
                there = {_taken(far, row, key.target_columns) for row in filled[far.name]}
                kept = [
                    row
                    for row in filled[near.name]
                    if None in (own := _taken(near, row, key.columns)) or own in there
                ]
                changed = changed or len(kept) < len(filled[near.name])
                filled[near.name] = kept

    def _proves(
        self, tables: Sequence[Table], filled: dict[str, Rows], gold: str, other: str,
        rng: random.Random,
    ) -> bool:  # fmt: skip
        ordered = orders(gold)
        seen: list[tuple[Rows, Rows]] = []
        for keyed in (True, False):
            for turn in ("forwards", "backwards", "shuffled"):
                with closing(sqlite3.connect(":memory:")) as connection:
                    stored = _build(connection, tables, filled, turn, rng, keyed=keyed)
                    if not stored:
                        return False
                    found = _run(connection, gold), _run(connection, other)
                if found[0] is None or found[1] is None:
                    return False
                if spider_match(found[1], found[0], ordered=ordered):
                    return False
                seen.append((found[0], found[1]))
        golds, others = [one for one, _ in seen], [one for _, one in seen]
        steady = all(spider_match(one, golds[0], ordered=ordered) for one in golds)
        return steady and all(spider_match(one, others[0], ordered=ordered) for one in others)


def _taken(table: Table, row: tuple[Any, ...], columns: Sequence[str]) -> tuple[Any, ...]:
    names = [column.name for column in table.columns]
    return tuple(row[names.index(name)] for name in columns)


def _build(
    connection: sqlite3.Connection, tables: Sequence[Table], filled: dict[str, Rows], turn: str,
    rng: random.Random, *, keyed: bool,
) -> bool:  # fmt: skip
    for table in tables:
        columns = [f'"{column.name}" {column.type}' for column in table.columns]
        if keyed and table.primary_key:
            names = ", ".join(f'"{name}"' for name in table.primary_key)
            columns.append(f"PRIMARY KEY ({names})")
        rows = list(filled[table.name])
        if turn == "backwards":
            rows.reverse()
        elif turn == "shuffled":
            rng.shuffle(rows)
        try:
            connection.execute(f'CREATE TABLE "{table.name}" ({", ".join(columns)})')
            marks = ", ".join("?" * len(table.columns))
            connection.executemany(f'INSERT INTO "{table.name}" VALUES ({marks})', rows)
        except sqlite3.Error:
            return False
    return True


def _run(connection: sqlite3.Connection, sql: str) -> Rows | None:
    steps = iter(range(SECONDS_STEPS // 10_000))
    connection.set_progress_handler(lambda: next(steps, None) is None, 10_000)
    try:
        return connection.execute(sql).fetchall()
    except (sqlite3.Error, OverflowError):
        return None


def _values(*queries: str) -> tuple[list[Any], list[Any], int]:
    """Numbers, texts, and the most rows of a table, out of the literals of queries."""
    numbers: dict[Any, None] = dict.fromkeys((1, 2, 3))
    texts: dict[Any, None] = dict.fromkeys(("a", "b"))
    most = 4
    for sql in queries:
        tree = parsed(sql)
        for literal in () if tree is None else tree.find_all(exp.Literal):
            if not literal.is_string:
                value = float(literal.name)
                small = value.is_integer() and value <= 11
                most = max(most, int(value) + 1) if small else most
                whole = int(value) if value.is_integer() else value
                numbers.update(dict.fromkeys((whole, whole + 1, whole - 1)))
                texts.update({str(whole): None})
                continue
            bare = literal.name.strip("%")
            texts.update(dict.fromkeys((bare, f"{bare}s", bare.lower(), bare[:-1] or "a")))
            if bare.lstrip("-").isdigit():
                numbers.update(dict.fromkeys((int(bare), int(bare) + 1)))
        if tree is not None:
            # SQLite takes a name in double quotes that names nothing for a text.
            quoted = [one for one in tree.find_all(exp.Identifier) if one.args.get("quoted")]
            texts.update(dict.fromkeys(one.name for one in quoted))
    return list(numbers), list(texts), most
