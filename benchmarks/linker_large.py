"""The embedded linker on schemas of thousands of columns: time, memory, what it keeps.

    python -m benchmarks.linker_large DATA FOLDER
    python -m benchmarks.linker_large DATA FOLDER --recall

Time: the schema of `large_schema.py`, unprepared and prepared, each in a process of its own with
the models loaded. Told are the first question, the later ones, and what preparing takes.

Recall: `valid`'s questions, Spider's, with the values that retrieval finds, asked of their
databases merged into one schema with others until it has 3,800 columns. Told is how much of what
the gold query needs is among the best forty columns and their tables, unprepared and prepared.
Processor time is told too: on a busy machine the wall time says more about the neighbours.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, cast

from benchmarks.large_schema import COLUMNS, make_large_schema
from benchmarks.setting import load_average, questions_about

from sqlwright.indexes.text_vectors import PreparedVectors
from sqlwright.local.linker.linker import Linker
from sqlwright.local.models import load
from sqlwright.prepare import Progress, open_workspace, prepare
from sqlwright.prepare.texts import embed_texts, prepared_texts
from sqlwright.schema import Column, Schema, Table
from sqlwright.types import ColumnLink, Question, ValueMatch

KEEP = 40
WIDE = 3_800
BARS = {"first": 0.3, "later": 0.3}
"""Seconds for one question of a prepared schema."""


class Watch:
    """Wall and processor seconds since it was made."""

    def __init__(self) -> None:
        self._wall, self._processor = time.perf_counter(), time.process_time()

    def read(self) -> tuple[float, float]:
        return time.perf_counter() - self._wall, time.process_time() - self._processor


def prepared(database: Path, folder: Path) -> dict[str, Any]:
    """Prepare a database from nothing; seconds of the whole and of embedding its texts."""
    began: dict[str, Watch] = {}
    took: dict[str, tuple[float, float]] = {}

    def progress(event: Progress) -> None:
        if event.stage == "texts":
            began.setdefault("texts", Watch())
            took["texts"] = began["texts"].read()
            took["count"] = (event.done, 0)

    whole = Watch()
    prepare(str(database), folder=folder, progress=progress)
    return {
        "whole": whole.read(),
        "texts": took.get("texts", (0.0, 0.0)),
        "count": took.get("count", (0, 0))[0],
        "bytes": (folder / "texts.vectors").stat().st_size,
    }


def linked(
    linker: Linker,
    question: Question,
    schema: Schema,
    values: Sequence[ValueMatch],
    texts: PreparedVectors | None = None,
) -> tuple[ColumnLink, ...]:
    """Every column, best first, as the recipes have them ranked."""
    return linker.link(question, schema, values, texts).columns


def asked(database: Path, folder: Path, questions: int) -> dict[str, Any]:
    """Seconds of the first and the later questions, in this process."""
    linker = cast("Linker", load("linker"))
    # The models' own first run isn't counted.
    linker.link(Question("What is it?"), Schema("other", (Table("a", (Column("b"),)),)))
    opening = Watch()
    workspace = open_workspace(str(database), folder=folder)
    opened = opening.read()
    times = []
    for text in questions_about(database, questions + 1):
        watch = Watch()
        linked(linker, Question(text), workspace.schema, (), workspace.texts)
        times.append(watch.read())
    columns = workspace.schema.column_count
    workspace.database.close()
    return {"columns": columns, "open": opened, "times": times}


def in_a_fresh_process(data: Path, database: Path, folder: Path, questions: int) -> dict[str, Any]:
    """`asked` where nothing is warm but the models."""
    command = [sys.executable, "-m", "benchmarks.linker_large", str(data), str(folder)]
    command += ["--ask", str(database), "--questions", str(questions)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def told(name: str, times: Sequence[Sequence[float]], bar: float | None = None) -> bool:
    """Print median and 95th percentile; say whether the bar is kept at both."""
    walls, processor = (sorted(part) for part in zip(*times, strict=True))
    median, p95 = statistics.median(walls), walls[int(0.95 * (len(walls) - 1))]
    good = bar is None or p95 <= bar
    verdict = "" if bar is None else f"; bar {1000 * bar:.0f} {'ok' if good else 'MISSED'}"
    print(f"  {name:32} {1000 * median:7.0f} ms median, {1000 * p95:6.0f} p95; processor "
          f"{1000 * statistics.median(processor):6.0f}{verdict}", flush=True)  # fmt: skip
    return good


def measure_time(data: Path, folder: Path, columns: int, questions: int, processes: int) -> bool:
    """Print what the module's docstring promises; whether the bars are kept."""
    database = make_large_schema(data, folder, columns)
    place = folder / f"prepared-{columns}-{time.time_ns()}"
    good = True
    for name, where in (("unprepared", folder / "absent"), ("prepared", place)):
        if where == place:
            made = prepared(database, place)
            for part in ("texts", "whole"):
                wall, processor = made[part]
                print(f"  preparing, {part:21} {wall:7.1f} s; processor {processor:.1f} s")
            print(f"  vectors of {made['count']:,} texts: {made['bytes'] / 1e6:.1f} MB on disk")
        found = [in_a_fresh_process(data, database, where, questions) for _ in range(processes)]
        first = [one["times"][0] for one in found]
        later = [each for one in found for each in one["times"][1:]]
        print(f" {name}, {found[0]['columns']:,} columns, {processes} processes; {load_average()}")
        told("opening", [one["open"] for one in found])
        bars = BARS if where == place else {}
        good &= told("first question", first, bars.get("first"))
        good &= told("later questions", later, bars.get("later"))
    return good


def measure_recall(data: Path, folder: Path) -> None:
    """Print the recall of needed columns and tables on merged schemas."""
    # Loaded here, since the time is measured without them.
    from training.embedded.linker.data import (
        bird_examples,
        in_merged,
        merge,
        spider_examples,
        without_labels,
    )
    from training.embedded.pairs import load_databases
    from training.embedded.split import load_split

    split = load_split(data)
    examples = [e for e in spider_examples(data, split, ("valid",)) if e.source == "spider"]
    schemas = {example.database: example.schema for example in examples}
    others = {example.database: example.schema for example in bird_examples(data)}
    known = load_databases(data, split.calib)
    others |= {name: without_labels(one.schema) for name, one in known.items()}
    for name, schema in others.items():
        if sum(one.column_count for one in schemas.values()) < WIDE:
            schemas.setdefault(name, schema)
    merged, renamed = merge(schemas.values())
    moved = [in_merged(one, merged, renamed[one.database]) for one in examples]
    place = folder / "merged"
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    embed_texts(place, merged, lambda *_: None)
    for name, vectors in (("unprepared", None), ("prepared", prepared_texts(place))):
        linker = cast("Linker", load("linker"))
        linker.encode(merged, vectors)
        columns = whole = tables = tables_whole = 0
        for one in moved:
            links = linked(linker, one.question, merged, one.values)
            kept = {link.column for link in links[:KEEP]}
            owners = {ref.table for ref in kept}
            columns += len(one.used.columns & kept)
            whole += one.used.columns <= kept
            tables += len(one.used.tables & owners)
            tables_whole += one.used.tables <= owners
        needed = sum(len(one.used.columns) for one in moved)
        needed_tables = sum(len(one.used.tables) for one in moved)
        print(
            f" {name}, {merged.column_count:,} columns, {len(moved)} questions, {KEEP} kept: "
            f"columns {columns / needed:.1%}, all of them {whole / len(moved):.1%}; "
            f"tables {tables / needed_tables:.1%}, all of them {tables_whole / len(moved):.1%}",
            flush=True,
        )


def main(arguments: Iterable[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("folder", type=Path, help="for the databases; kept")
    parser.add_argument("--columns", type=int, default=COLUMNS)
    parser.add_argument("--questions", type=int, default=40)
    parser.add_argument("--processes", type=int, default=5)
    parser.add_argument("--recall", action="store_true", help="measure that instead of time")
    parser.add_argument("--ask", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args(None if arguments is None else list(arguments))
    if options.ask is not None:
        json.dump(asked(options.ask, options.folder, options.questions), sys.stdout)
        return 0
    if options.recall:
        measure_recall(options.data, options.folder)
        return 0
    return int(
        not measure_time(
            options.data, options.folder, options.columns, options.questions, options.processes
        )
    )


if __name__ == "__main__":
    sys.exit(main())
