"""Execution accuracy of a parser on databases it never saw (the split's `valid` part).

    python -m training.embedded.parser.validate DATA WEIGHTS [--part valid] [--out FILE]
    python -m training.embedded.parser.validate DATA WEIGHTS --against FILE_OF_OTHER_WEIGHTS

A prediction is right when it gives the gold query's rows: as a multiset, columns in any order,
rows in order only where the gold query orders them.
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from itertools import permutations
from math import comb
from pathlib import Path
from typing import Any

from training.embedded.pairs import Pair, TrainingDatabase, load_databases, load_pairs
from training.embedded.questions.augment import plain_schema
from training.embedded.split import load_split

from sqlwright.indexes.values.index import ColumnValues, memory_value_index
from sqlwright.local.parser.parser import Parser
from sqlwright.protocols import Parsed
from sqlwright.schema import SchemaView
from sqlwright.steps.retrieval.values import retrieve_values

MAX_ROWS = 20_000
MAX_STEPS = 50_000_000
"""Instructions of SQLite's machine before a query is given up."""

Rows = list[tuple[Any, ...]]


@dataclass
class ValidationCounts:
    """Counts over some questions."""

    questions: int = 0
    first: int = 0
    """The best query is right."""
    first_running: int = 0
    """The best query that runs and returns something is right."""
    oracle: int = 0
    """Some query is right."""
    nothing: int = 0
    seconds: list[float] = field(default_factory=list)

    def summary(self) -> dict[str, float]:
        """Shares of the questions, and seconds a question."""
        ordered = sorted(self.seconds) or [0.0]
        return {
            "questions": self.questions,
            "first": self.first / max(1, self.questions),
            "first_running": self.first_running / max(1, self.questions),
            "oracle": self.oracle / max(1, self.questions),
            "nothing": self.nothing / max(1, self.questions),
            "median_seconds": ordered[len(ordered) // 2],
            "p95_seconds": ordered[int(len(ordered) * 0.95)],
        }


def execute(connection: sqlite3.Connection, sql: str) -> Rows | None:
    """The rows; None when the query fails or takes too long."""
    budget = [MAX_STEPS // 10_000]

    def tick() -> int:
        budget[0] -= 1
        return int(budget[0] < 0)

    connection.set_progress_handler(tick, 10_000)
    try:
        return connection.execute(sql).fetchmany(MAX_ROWS)
    except (sqlite3.Error, sqlite3.Warning):
        return None


def _plain(cell: object) -> object:
    if isinstance(cell, float):
        return int(cell) if cell.is_integer() else round(cell, 6)
    return cell


def same_rows(gold: Rows, found: Rows, *, ordered: bool) -> bool:
    """True if two results are equal with the columns of one in some order."""
    if len(gold) != len(found):
        return False
    if not gold:
        return True
    width = len(gold[0])
    if len(found[0]) != width:
        return False
    left = [tuple(map(_plain, row)) for row in gold]
    right = [tuple(map(_plain, row)) for row in found]
    wanted: Any = left if ordered else Counter(left)
    columns = [Counter(map(str, column)) for column in zip(*left, strict=True)]
    own = [Counter(map(str, column)) for column in zip(*right, strict=True)]
    if sorted(map(_key, columns)) != sorted(map(_key, own)):
        return False
    orders = permutations(range(width)) if width <= 6 else [tuple(range(width))]
    for order in orders:
        if any(own[position] != columns[index] for index, position in enumerate(order)):
            continue
        turned = [tuple(row[position] for position in order) for row in right]
        if (turned if ordered else Counter(turned)) == wanted:
            return True
    return False


def _key(column: Counter[str]) -> str:
    return repr(sorted(column.items()))


def judge(connection: sqlite3.Connection, gold: str, parsed: Sequence[Parsed]) -> list[bool | None]:
    """For each query whether it is right; None when it doesn't run or returns nothing."""
    wanted = execute(connection, gold)
    ordered = "order by" in gold.lower()
    verdicts: list[bool | None] = []
    for item in parsed:
        rows = execute(connection, item.sql)
        right = rows is not None and wanted is not None
        right = right and same_rows(wanted or [], rows or [], ordered=ordered)
        verdicts.append(None if not rows and not right else right)
    return verdicts


class Validator:
    """A parser over the databases of some pairs."""

    def __init__(self, parser: Parser, known: dict[str, TrainingDatabase], beam: int = 8) -> None:
        self.parser = parser
        self.known = known
        self.beam = beam
        self.indexes = {
            name: memory_value_index(ColumnValues(ref, texts) for ref, texts in one.values.items())
            for name, one in known.items()
        }
        self.views = {name: SchemaView(plain_schema(one.schema)) for name, one in known.items()}

    def parse(self, pair: Pair) -> list[Parsed]:
        """The parser's queries for a question, with values from the index."""
        values = retrieve_values(pair.question, self.indexes[pair.database])
        return self.parser.parse(
            pair.question,
            self.views[pair.database],
            values,
            enumerations=self.known[pair.database].enumerations,
            beam=self.beam,
        )

    def run(self, pairs: Iterable[Pair]) -> tuple[ValidationCounts, list[dict[str, Any]]]:
        """Totals, and a record of each question."""
        tally, records = ValidationCounts(), []
        for pair in pairs:
            path = self.known[pair.database].path
            if path is None:
                continue
            started = time.perf_counter()
            parsed = self.parse(pair)
            tally.seconds.append(time.perf_counter() - started)
            with sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True) as connection:
                connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
                verdicts = judge(connection, pair.sql, parsed)
            running = [verdict for verdict in verdicts if verdict is not None]
            tally.questions += 1
            tally.first += bool(verdicts and verdicts[0])
            tally.first_running += bool(running and running[0])
            tally.oracle += any(verdicts)
            tally.nothing += not parsed
            records.append(
                {
                    "database": pair.database,
                    "question": pair.question.text,
                    "gold": pair.sql,
                    "verdicts": verdicts,
                    "sql": [item.sql for item in parsed],
                    "scores": [round(item.score, 3) for item in parsed],
                }
            )
        return tally, records


def paired(before: Sequence[dict[str, Any]], after: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Questions whose first query became right or wrong, and the exact two-sided probability of a
    difference as large by chance (McNemar 1947). Raises ValueError for different questions."""
    asked = [[(one["database"], one["question"]) for one in part] for part in (before, after)]
    if asked[0] != asked[1]:
        raise ValueError("the records are of different questions")
    pairs = [
        (one["verdicts"][:1] == [True], two["verdicts"][:1] == [True])
        for one, two in zip(before, after, strict=True)
    ]
    gained, lost = pairs.count((False, True)), pairs.count((True, False))
    changed = gained + lost
    tail = sum(comb(changed, few) for few in range(min(gained, lost) + 1)) / 2**changed
    return {"gained": gained, "lost": lost, "p": min(1.0, 2 * tail)}


def main(arguments: Iterable[str] | None = None) -> None:
    """Print the totals; write the records where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("weights", type=Path)
    parser.add_argument("--part", choices=("valid", "calib"), default="valid")
    parser.add_argument("--source", default="spider")
    parser.add_argument("--beam", type=int, default=8)
    parser.add_argument("--every", type=int, default=1, help="only each n-th question")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--against", type=Path, help="records of other weights on these questions")
    options = parser.parse_args(None if arguments is None else list(arguments))
    split = load_split(options.data)
    pairs = load_pairs(options.data, split, (options.part,))
    pairs = [pair for pair in pairs if pair.source == options.source][:: options.every]
    known = load_databases(options.data, {pair.database for pair in pairs})
    tally, records = Validator(Parser.load(options.weights), known, options.beam).run(pairs)
    print(json.dumps(tally.summary()))
    if options.against:
        before = json.loads(options.against.read_text("utf-8"))["records"]
        print(json.dumps(paired(before, records)))
    if options.out:
        options.out.write_text(json.dumps({"tally": asdict(tally), "records": records}), "utf-8")


if __name__ == "__main__":
    main()
