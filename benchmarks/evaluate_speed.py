"""What a run takes beyond the steps of its recipe, and how much faster two workers are than one.

    python -m benchmarks.evaluate_speed data/spider --split dev --limit 200 --pairs 3

Runs of one worker and of two take turns, so that whatever else the machine does meets both. Bars:
one worker takes at most 1.15 times as long as the steps of all its questions together; two take at
most 1 / 1.7 of the time of one. Both want an idle machine: the load average stands beside each.
`--limit 0` takes all questions; of a few, loading the models is a larger part.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from sqlwright.lab.datasets.example import Dataset
from sqlwright.lab.datasets.spider import load_spider
from sqlwright.lab.evaluation import records
from sqlwright.lab.evaluation.records import Record
from sqlwright.lab.evaluation.run import EvaluationSettings, evaluate

MOST_BESIDE = 1.15
LEAST_FASTER = 1.7


@dataclass(frozen=True)
class Measured:
    """One run."""

    workers: int
    wall: float
    until_first: float
    """Seconds until the first record: processes, models and the first database."""
    steps: float
    questions: int
    load: float

    def __str__(self) -> str:
        return (
            f"{self.workers} worker{'s' * (self.workers > 1)}: {self.wall:.1f} s for "
            f"{self.questions} questions ({self.until_first:.1f} s until the first), steps "
            f"{self.steps:.1f} s, {self.wall / self.steps:.3f} times; load {self.load:.1f}"
        )


def measured(dataset: Dataset, settings: EvaluationSettings) -> Measured:
    firsts: list[float] = []

    def tell(_: int, __: int, record: Record | None) -> None:
        if record is not None and not firsts:
            firsts.append(time.perf_counter())

    with TemporaryDirectory() as folder:
        started = time.perf_counter()
        evaluate(dataset, settings, Path(folder) / "run", progress=tell)
        wall = time.perf_counter() - started
        kept = records.read(Path(folder) / "run")
    steps = sum(seconds for record in kept for seconds in record.times.values())
    load = os.getloadavg()[0]
    return Measured(settings.workers, wall, firsts[0] - started, steps, len(kept), load)


def pairs(dataset: Dataset, limit: int | None, count: int) -> Iterator[tuple[Measured, Measured]]:
    for number in range(count):
        order = (1, 2) if number % 2 == 0 else (2, 1)
        found = {}
        for workers in order:
            settings = EvaluationSettings(workers=workers, limit=limit)
            found[workers] = measured(dataset, settings)
            print(found[workers], flush=True)
        yield found[1], found[2]


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--split", default=None)
    parser.add_argument("--limit", type=int, default=200)
    parser.add_argument("--pairs", type=int, default=3)
    chosen = parser.parse_args(words)
    dataset = load_spider(chosen.folder, split=chosen.split)
    found = list(pairs(dataset, chosen.limit or None, chosen.pairs))
    beside = median(one.wall / one.steps for one, _ in found)
    faster = median(one.wall / two.wall for one, two in found)
    print(f"one worker: {beside:.3f} times its steps (at most {MOST_BESIDE})")
    print(f"two workers: {faster:.2f} times as fast as one (at least {LEAST_FASTER})")
    return 0 if beside <= MOST_BESIDE and faster >= LEAST_FASTER else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
