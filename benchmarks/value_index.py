"""How fast the value index is and what it finds, beside what others do.

    python benchmarks/value_index.py synthetic values.tsv queries.jsonl
    python benchmarks/value_index.py real DATA [--all] [--seed 77 | --queries FILE] [--peers]
    python benchmarks/value_index.py question values.tsv

`values.tsv` has a column and a value a line, divided by a tab; `queries.jsonl` an object with
`kind`, `query` and `value` a line. `real` takes the text values of every SQLite file under DATA:
those with words (3 to 80 characters, one line, more than digits and what stands between them, as
numbers, dates and telephone numbers are), or with `--all` every one. `--peers` measures in the
same run the published MinHash procedure (`sqlwright.indexes.minhash`; needs the `lsh` extra) and a
scan of all values by edit ratio.

Two rows beside these are not lookups one by one. "Batched" is ours through `search_many`, 20
phrases a call as a question's are. "With the published keyword splits" is MinHash as CHESS's
published code asks it: a keyword is looked up whole and, for each blank in it, as what stands
before and as what stands after the blank, 1 + 2k lookups for k blanks. (What stands after an
equals sign, which that code looks up too, is left out.) `question` times `retrieve_values` for
questions of 15 words over the first 10,000 values.

All may give ten matches from one column (`--per-column`). Wall and CPU time are of the fastest of
three calls for each query and index. The indexes take turns every 25 queries, and ratios are of
CPU time in the one run, so that a busy machine disturbs them little. `--json FILE` writes all
figures.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sqlite3
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from rapidfuzz import fuzz, process

from sqlwright.indexes.minhash import MinHashIndex
from sqlwright.indexes.values.index import (
    ColumnValues,
    DiskValueIndex,
    build_value_index,
    memory_value_index,
    open_value_index,
)
from sqlwright.schema import ColumnRef
from sqlwright.steps.retrieval.values import retrieve_values
from sqlwright.types import Question
from value_queries import Query, make_queries

Search = Callable[[str], Sequence[str]]
BATCH = 20
"""Phrases in one call, as a question has."""
PASSES = 3
"""Times each index is asked each query; the fastest counts."""
TURN = 25
"""Queries after which another index has its turn."""
OURS, BATCHED = "sqlwright", "sqlwright, batched through search_many"
LSH, SPLITS = "minhash, as published", "minhash, with the published keyword splits"
SCAN = "scan by edit ratio"
_NUMBER = re.compile(r"[\d\s.,:/+\-]+")


def read_values(path: Path) -> list[tuple[str, str]]:
    with path.open(encoding="utf-8") as lines:
        return [tuple(line.rstrip("\n").split("\t", 1)) for line in lines]  # type: ignore[misc]


def read_queries(path: Path) -> list[Query]:
    with path.open(encoding="utf-8") as lines:
        found = [json.loads(line) for line in lines]
    return [Query(item["kind"], item["query"], item["value"]) for item in found]


def read_databases(folder: Path, *, everything: bool) -> list[tuple[str, str]]:
    """(column, value) of all text values, or of those with words, each value once."""
    found: dict[str, str] = {}
    files = [p for p in folder.rglob("*") if p.suffix in {".sqlite", ".db", ".sqlite3"}]
    for path in sorted(files):
        connection = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        tables = connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        ).fetchall()
        for (table,) in tables:
            for row in connection.execute(f'PRAGMA table_info("{table}")').fetchall():
                rows = connection.execute(
                    f'SELECT DISTINCT "{row[1]}" FROM "{table}" WHERE typeof("{row[1]}") = \'text\''
                )
                for (text,) in rows:
                    if _has_words(text) or (everything and text):
                        found.setdefault(text, f"{path.stem}.{table}.{row[1]}")
        connection.close()
    return [(column, text) for text, column in found.items()]


def _has_words(text: str) -> bool:
    """Whether a text is of middling length, on one line, and more than a number or a date."""
    plain = 3 <= len(text) <= 80 and len(text.splitlines()) == 1
    return plain and not _NUMBER.fullmatch(text)


def columns_of(rows: Iterable[tuple[str, str]]) -> list[ColumnValues]:
    columns: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for column, value in rows:
        columns[column].append((value, 1))
    return [ColumnValues(ColumnRef(*name.rsplit(".", 1)), v) for name, v in columns.items()]


def timed(action: Callable[[], Any]) -> dict[str, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    action()
    return {"seconds": time.perf_counter() - wall, "cpu": time.process_time() - cpu}


@dataclass
class Asked:
    """What came of asking one index all queries, some times over."""

    wall: dict[int, float] = field(default_factory=dict)
    """Milliseconds of each query, by its number, in the fastest pass."""
    cpu: dict[int, float] = field(default_factory=dict)
    found: dict[int, list[str]] = field(default_factory=dict)

    def ask(self, search: Search, number: int, text: str) -> None:
        start, busy = time.perf_counter(), time.thread_time()
        self.found[number] = list(search(text))
        wall, cpu = time.perf_counter() - start, time.thread_time() - busy
        self.wall[number] = min(1e3 * wall, self.wall.get(number, math.inf))
        self.cpu[number] = min(1e3 * cpu, self.cpu.get(number, math.inf))

    def figures(self, queries: Sequence[Query]) -> dict[str, Any]:
        wall, cpu = list(self.wall.values()), list(self.cpu.values())
        by_kind: dict[str, list[int]] = defaultdict(list)
        for number, query in enumerate(queries):
            by_kind[query.kind].append(number)
        return {
            "queries": len(queries),
            "wall_ms": {"p50": np.percentile(wall, 50), "p95": np.percentile(wall, 95)},
            "cpu_ms": {
                "p50": np.percentile(cpu, 50),
                "p95": np.percentile(cpu, 95),
                "mean": np.mean(cpu),
            },
            **self._recall(queries, range(len(queries))),
            "kinds": {
                kind: self._recall(queries, numbers)
                | {"cpu_ms_p50": np.median([self.cpu[number] for number in numbers])}
                for kind, numbers in by_kind.items()
            },
        }

    def _recall(self, queries: Sequence[Query], numbers: Sequence[int]) -> dict[str, Any]:
        return {
            f"recall_at_{most}": np.mean(
                [queries[number].value in self.found[number][:most] for number in numbers]
            )
            for most in (1, 10)
        }


def ask(indexes: Mapping[str, Search], queries: Sequence[Query]) -> dict[str, dict[str, Any]]:
    """Times and recall of each index.

    They take turns every few queries, so that a machine that is faster at one time than at another
    favours none. A query's calls lie a pass apart: in a row they would meet the same disturbance,
    the more so the shorter they are.
    """
    asked = {name: Asked() for name in indexes}
    for _ in range(PASSES):
        for low in range(0, len(queries), TURN):
            for name, search in indexes.items():
                for number, query in enumerate(queries[low : low + TURN], low):
                    asked[name].ask(search, number, query.text)
    return {name: one.figures(queries) for name, one in asked.items()}


def built(rows: Sequence[tuple[str, str]], folder: Path) -> tuple[DiskValueIndex, dict[str, Any]]:
    """The value index in `folder`, and what it took to build and open it."""
    columns = columns_of(rows)
    builds = [timed(lambda: build_value_index(columns, folder)) for _ in range(3)]
    opened = [timed(lambda: open_value_index(folder))["seconds"] for _ in range(9)]
    return open_value_index(folder), {
        "values": len(rows),
        "build_seconds": float(np.median([build["seconds"] for build in builds])),
        "build_values_per_second": len(rows) / np.median([b["seconds"] for b in builds]),
        "build_values_per_cpu_second": len(rows) / np.median([b["cpu"] for b in builds]),
        "open_ms": 1e3 * float(np.median(opened)),
        "megabytes": sum(path.stat().st_size for path in folder.iterdir()) / 1e6,
    }


def batched(index: DiskValueIndex, queries: Sequence[Query], per_column: int) -> dict[str, Any]:
    """Time of a lookup when a question's phrases go in one call, in milliseconds.

    The queries are dealt over the calls in an order of their own, so that each call has all kinds.
    """
    dealt = np.random.default_rng(0).permutation(len(queries))
    texts = [queries[at].text for at in dealt.tolist()]
    calls = [texts[low : low + BATCH] for low in range(0, len(texts), BATCH)]
    wall, cpu, all_cpu = [], [], 0.0
    for call in calls:
        spent = [
            timed(partial(index.search_many, call, 10, per_column=per_column)) for _ in range(3)
        ]
        wall.append(1e3 * min(one["seconds"] for one in spent) / len(call))
        cpu.append(1e3 * min(one["cpu"] for one in spent) / len(call))
        all_cpu += cpu[-1] * len(call)
    return {
        "phrases_a_call": BATCH,
        "wall_ms_a_lookup": {"p50": np.percentile(wall, 50), "p95": np.percentile(wall, 95)},
        "cpu_ms_a_lookup": {
            "mean": all_cpu / len(texts),
            "p50": np.percentile(cpu, 50),
            "p95": np.percentile(cpu, 95),
        },
    }


def keyword_splits(phrase: str) -> list[str]:
    """The phrase, then what is left and what is right of each blank, as CHESS's code asks."""
    blanks = [at for at, char in enumerate(phrase) if char == " "]
    parts = [part for at in blanks for part in (phrase[:at], phrase[at + 1 :])]
    return [phrase, *(part for part in parts if part)]


def minhash_searches(index: MinHashIndex) -> tuple[Search, Search]:
    """One lookup for each query; and the published splits of it, all matches together."""

    def search(text: str) -> list[str]:
        return [match.value for match in index.search(text, 10, per_column=10)]

    def search_splits(text: str) -> list[str]:
        found = [index.search(part, 10, per_column=10) for part in keyword_splits(text)]
        # The whole phrase's matches stay first: the parts can only add to what it finds.
        return list(dict.fromkeys(match.value for match in chain.from_iterable(found)))

    return search, search_splits


def scan(rows: Sequence[tuple[str, str]]) -> Search:
    """All values by edit ratio."""
    values = [value for _, value in rows]

    def search(text: str) -> list[str]:
        found = process.extract(text, values, scorer=fuzz.ratio, limit=10, score_cutoff=30)
        return [value for value, _, _ in found]

    return search


def measure(
    rows: Sequence[tuple[str, str]], queries: Sequence[Query], per_column: int, *, peers: bool
) -> dict[str, Any]:
    """Figures of ours and, on request, of what others do and how they compare."""
    with tempfile.TemporaryDirectory() as scratch:
        index, figures = built(rows, Path(scratch) / "values")

        def search(text: str) -> list[str]:
            return [match.value for match in index.search(text, 10, per_column=per_column)]

        indexes: dict[str, Search] = {OURS: search}
        results: dict[str, Any] = {OURS: figures}
        if peers:
            made: list[MinHashIndex] = []
            build = timed(lambda: made.append(MinHashIndex(columns_of(rows))))
            indexes[LSH], indexes[SPLITS] = minhash_searches(made[0])
            indexes[SCAN] = scan(rows)
            lookups = [len(keyword_splits(query.text)) for query in queries]
            results[LSH] = {
                "build_seconds": build["seconds"],
                "build_values_per_cpu_second": len(rows) / build["cpu"],
            }
            results[SPLITS] = {"lookups_a_phrase": float(np.mean(lookups))}
        for query in queries[:: max(len(queries) // 50, 1)]:
            search(query.text)
        for name, found in ask(indexes, queries).items():
            results[name] = results.get(name, {}) | found
        results[BATCHED] = batched(index, queries, per_column)
    if peers:
        results["ratios"] = ratios(results)
    return results


def ratios(results: dict[str, Any]) -> dict[str, float]:
    """Of CPU time, how many times as fast ours is; and what it finds more."""
    ours, lsh, splits = results[OURS], results[LSH], results[SPLITS]
    return {
        "speed, minhash": lsh["cpu_ms"]["p50"] / ours["cpu_ms"]["p50"],
        "speed at p95, minhash": lsh["cpu_ms"]["p95"] / ours["cpu_ms"]["p95"],
        "speed on average, minhash": lsh["cpu_ms"]["mean"] / ours["cpu_ms"]["mean"],
        "batched speed (mean), minhash one by one": lsh["cpu_ms"]["mean"]
        / results[BATCHED]["cpu_ms_a_lookup"]["mean"],
        "speed, minhash with splits": splits["cpu_ms"]["p50"] / ours["cpu_ms"]["p50"],
        "speed at p95, minhash with splits": splits["cpu_ms"]["p95"] / ours["cpu_ms"]["p95"],
        "build speed, minhash": ours["build_values_per_cpu_second"]
        / lsh["build_values_per_cpu_second"],
        "recall at 10 less minhash": ours["recall_at_10"] - lsh["recall_at_10"],
        "speed, scan": results[SCAN]["cpu_ms"]["p50"] / ours["cpu_ms"]["p50"],
        "recall at 10 less scan": ours["recall_at_10"] - results[SCAN]["recall_at_10"],
    }


def measure_question(rows: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Questions of fifteen words that name two of 10,000 stored values."""
    rows = rows[:10_000]
    index = memory_value_index(columns_of(rows))
    names = [value for _, value in rows if len(value.split()) == 2]
    questions = [
        f"How many of the orders that went to {names[at]} last year came from {names[-at - 1]}?"
        for at in range(200)
    ]
    wall, cpu = [], []
    for question in questions:
        spent = [timed(partial(retrieve_values, Question(question), index)) for _ in range(3)]
        wall.append(1e3 * min(one["seconds"] for one in spent))
        cpu.append(1e3 * min(one["cpu"] for one in spent))
    return {
        "values": len(rows),
        "wall_ms": {"p50": np.percentile(wall, 50), "p95": np.percentile(wall, 95)},
        "cpu_ms": {"p50": np.percentile(cpu, 50), "p95": np.percentile(cpu, 95)},
    }


def show(name: str, figures: dict[str, Any]) -> None:
    print(f"\n{name}")
    for key, value in figures.items():
        if key == "kinds":
            for kind, parts in value.items():
                text = "  ".join(f"{part} {figure:.3f}" for part, figure in parts.items())
                print(f"    {kind:8} {text}")
        elif isinstance(value, dict):
            print(f"  {key:28} " + "  ".join(f"{k} {v:.2f}" for k, v in value.items()))
        else:
            print(f"  {key:28} {value:,.3f}" if isinstance(value, float) else f"  {key:28} {value}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["synthetic", "real", "question"])
    parser.add_argument("source", type=Path)
    parser.add_argument("queries", type=Path, nargs="?")
    parser.add_argument("--queries", dest="queries_option", type=Path)
    parser.add_argument("--seed", type=int, default=77)
    parser.add_argument("--each", type=int, default=50)
    parser.add_argument("--per-column", type=int, default=10)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows = (
        read_databases(options.source, everything=options.all)
        if options.what == "real"
        else read_values(options.source)
    )
    results: dict[str, Any] = {}
    if options.what == "question":
        results["question"] = measure_question(rows)
    else:
        path = options.queries or options.queries_option
        values = [value for _, value in rows]
        queries = read_queries(path) if path else make_queries(values, options.each, options.seed)
        results = measure(rows, queries, options.per_column, peers=options.peers)
    for name, figures in results.items():
        show(name, figures)
    if options.json:
        options.json.write_text(json.dumps(results, indent=2, default=float) + "\n")


if __name__ == "__main__":
    main()
