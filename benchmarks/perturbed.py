"""The share of proven-different mutants that perturbed copies kill where plain EX lets them pass.

    python -m benchmarks.perturbed DATA --part dev --golds 400 --seed 1 [--survivors] [--no-neighbours]
    python -m benchmarks.perturbed DATA --part train --golds 150     # what the generator was made on

Mutants are made of Spider's gold queries (`query_mutants.py`): by one change, by two, and the gold
query of another question over the same database. Of those that give gold's result on the stored
database by Spider's rule, some of each gold are drawn; one counts if a witness database proves it
different (`witnesses.py`: another method, that knows no stored row and no neighbour). Each is then
run on the copies of its gold's suite (`lab/evaluation/perturbing`), which never see it. Rewrites that
mean the same (`equal_queries.py`) are run likewise: none may be killed. `--part dev` and `train` are
the two parts of split.json, by database. Intervals are Wilson's, 95 %.
"""  # noqa: E501

from __future__ import annotations

import argparse
import random
import resource
import sqlite3
import statistics
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.equal_queries import rewrites_of
from benchmarks.query_mutants import OWN, Mutant, mutants_of
from benchmarks.witnesses import Witnesses

from sqlwright.database import open_database
from sqlwright.lab.datasets.example import Example
from sqlwright.lab.datasets.spider import load_spider
from sqlwright.lab.evaluation.intervals import Share
from sqlwright.lab.evaluation.perturbing.suite import Effort, Suite, open_suite
from sqlwright.lab.evaluation.rules.published import orders, spider_match
from sqlwright.lab.evaluation.rules.rule import find_rule
from sqlwright.schema import Schema

T = TypeVar("T")
Rows = list[tuple[Any, ...]]
MOST_ROWS = 5_000
"""Rows of a result at most; golds with more are left out."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A mutant or a rewrite, and the number of the copy that killed it; 0 if none did."""

    gold: str
    mutant: Mutant
    killed_by: int
    database: str


@dataclass
class Found:
    """What came of all golds."""

    mutants: list[Judged] = field(default_factory=list)
    rewrites: list[Judged] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    copies: list[int] = field(default_factory=list)
    golds: int = 0
    passed: int = 0

    def add(self, other: Found) -> None:
        """Take in what came of other golds."""
        for own, more in (
            (self.mutants, other.mutants),
            (self.rewrites, other.rewrites),
            (self.seconds, other.seconds),
            (self.processor, other.processor),
            (self.copies, other.copies),
        ):
            own.extend(more)  # type: ignore[arg-type]
        self.golds += other.golds
        self.passed += other.passed


class Stored:
    """One stored database, its schema and the results of its golds."""

    def __init__(self, path: Path, golds: Sequence[str]) -> None:
        self._connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        self._connection.text_factory = lambda data: data.decode("utf-8", "replace")
        with open_database(str(path)) as database:
            self.schema: Schema = database.schema()
        self.results = {gold: self.run(gold) for gold in dict.fromkeys(golds)}

    def run(self, sql: str) -> Rows | None:
        steps = iter(range(300))
        self._connection.set_progress_handler(lambda: next(steps, None) is None, 100_000)
        try:
            rows = self._connection.execute(sql).fetchmany(MOST_ROWS + 1)
        except (sqlite3.Error, OverflowError):
            return None
        return rows if len(rows) <= MOST_ROWS else None

    def passes(self, sql: str, gold: str) -> bool:
        """True if plain EX takes a query for right."""
        expected, rows = self.results[gold], self.run(sql)
        if expected is None or rows is None:
            return False
        return spider_match(rows, expected, ordered=orders(gold))

    def close(self) -> None:
        self._connection.close()


def drawn_mutants(
    gold: str, stored: Stored, rng: random.Random, found: Found, each: int
) -> Iterator[Mutant]:
    """Proven-different mutants that plain EX lets pass, each of another operator."""
    first = mutants_of(gold, stored.schema)
    second = [
        Mutant("two changes", two.sql)
        for one in _some(first, 3, rng)
        for two in _some(mutants_of(one.sql, stored.schema), 4, rng)
    ]
    others = [Mutant("another question", sql) for sql in stored.results if sql != gold]
    by_operator: dict[str, list[Mutant]] = defaultdict(list)
    for one in (*first, *second, *others):
        by_operator[one.operator].append(one)
    witnesses, taken = Witnesses(stored.schema), 0
    for operator in _some(sorted(by_operator), len(by_operator), rng):
        passing = (
            one for one in _some(by_operator[operator], 12, rng) if stored.passes(one.sql, gold)
        )
        for mutant in islice(passing, 2):
            found.passed += 1
            if witnesses.differ(gold, mutant.sql, rng):
                taken += 1
                yield mutant
                break
        if taken >= each:
            return


def _some(items: list[T], most: int, rng: random.Random) -> list[T]:
    return rng.sample(items, min(most, len(items)))


def killed_by(suite: Suite, sql: str) -> int:
    """Number of the first copy on which a query gives another result; 0 if there is none."""
    for number, copy in enumerate(suite.copies, 1):
        if not copy.agrees(sql, suite.gold_sql, suite.rule):
            return number
    return 0


def judge(example: Example, stored: Stored, found: Found, options: argparse.Namespace) -> None:
    """Make the mutants and rewrites of one gold, and run its suite."""
    gold = example.gold_sql
    if stored.results.get(gold) is None:
        return
    rng = random.Random(f"{options.seed}:{example.id}")
    mutants = list(drawn_mutants(gold, stored, rng, found, options.each))
    rewrites = rewrites_of(gold, stored.schema)
    rng.shuffle(rewrites)
    rewrites = [one for one in rewrites[:6] if stored.passes(one.sql, gold)]
    found.golds += 1
    started, used = time.monotonic(), processor_seconds()
    effort = Effort(neighbours=0, plain=options.copies) if options.no_neighbours else Effort()
    effort = Effort(options.copies, options.drawn, effort.plain, effort.idle, effort.neighbours)
    with open_suite(
        example.database, gold, find_rule("spider"), seed=options.suite_seed, effort=effort
    ) as suite:
        found.seconds.append(time.monotonic() - started)
        found.copies.append(len(suite.copies))
        for one in mutants:
            number = killed_by(suite, one.sql)
            found.mutants.append(Judged(gold, one, number, example.db_id))
        for one in rewrites:
            number = killed_by(suite, one.sql)
            found.rewrites.append(Judged(gold, one, number, example.db_id))
    found.processor.append(processor_seconds() - used)


def processor_seconds() -> float:
    """Of this process and those that have ended under it."""
    kinds = resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN
    return sum(sum(resource.getrusage(kind)[:2]) for kind in kinds)


def judge_all(task: tuple[list[Example], list[str], argparse.Namespace]) -> Found:
    """What comes of the golds over one database."""
    examples, golds, options = task
    found = Found()
    with closing(Stored(examples[0].database, golds)) as stored:
        for example in examples:
            judge(example, stored, found, options)
    return found


def share(hits: int, total: int) -> str:
    low, high = Share(hits, total).interval
    value = hits / total if total else 0.0
    return f"{hits:5} of {total:5} = {value:6.1%} [{low:.1%}, {high:.1%}]"


def report(found: Found, options: argparse.Namespace) -> None:
    judged = found.mutants
    print(f"golds {found.golds}; mutants that plain EX lets pass and were tried {found.passed}, "
          f"proven different {len(judged)}, over {len({one.database for one in judged})} "
          f"databases")  # fmt: skip
    print(f"killed: {share(sum(one.killed_by > 0 for one in judged), len(judged))}")
    own = [one for one in judged if one.mutant.operator in OWN]
    print("  by operators that choose no copy:",
          share(sum(one.killed_by > 0 for one in own), len(own)))  # fmt: skip
    print("rewrites that mean the same, killed:",
          share(sum(one.killed_by > 0 for one in found.rewrites), len(found.rewrites)))  # fmt: skip
    print("\ncopies  killed")
    for most in (1, 2, 3, 4, 6, 8, 10, 12, 16):
        if most <= options.copies:
            hits = sum(0 < one.killed_by <= most for one in judged)
            print(f"{most:6}  {share(hits, len(judged))}")
    seconds = sorted(found.seconds) or [0.0]
    own_time = statistics.median(found.processor or [0.0])
    print(f"\nprocessor seconds to make a suite and run it: median {own_time:.2f}")
    print(f"seconds to make a suite: median {statistics.median(seconds):.2f}, "
          f"95th percentile {seconds[int(0.95 * len(seconds))]:.2f}, longest {seconds[-1]:.2f}; "
          f"copies kept: mean {statistics.mean(found.copies):.1f}, "
          f"golds without any: {found.copies.count(0)}, with fewer than four: "
          f"{sum(one < 4 for one in found.copies)}")  # fmt: skip
    by_operator: dict[str, list[Judged]] = defaultdict(list)
    for one in judged:
        by_operator[one.mutant.operator].append(one)
    print("\noperator (* chooses no copy)")
    for operator, ones in sorted(by_operator.items(), key=lambda pair: -len(pair[1])):
        mark = "*" if operator in OWN else " "
        print(f"{operator:>22}{mark} {share(sum(o.killed_by > 0 for o in ones), len(ones))}")
    kinds = Counter(one.mutant.operator for one in found.rewrites)
    print("\nrewrites:", ", ".join(f"{name} {count}" for name, count in kinds.most_common()))
    shown = [one for one in judged if not one.killed_by] if options.survivors else []
    for one in shown[: options.survivors]:
        print(f"\nsurvives ({one.mutant.operator}, {one.database})\n  {one.gold}\n  "
              f"{one.mutant.sql}")  # fmt: skip
    for one in found.rewrites:
        if one.killed_by:
            print(f"\nKILLED REWRITE ({one.mutant.operator}, {one.database}) by copy "
                  f"{one.killed_by}\n  {one.gold}\n  {one.mutant.sql}")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path, help="the folder that holds spider/")
    parser.add_argument("--part", choices=("dev", "train"), default="dev")
    parser.add_argument("--golds", type=int, default=400, help="golds that are drawn")
    parser.add_argument("--each", type=int, default=5, help="mutants of a gold at most")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--suite-seed", type=int, default=0)
    parser.add_argument("--copies", type=int, default=Effort().copies)
    parser.add_argument("--drawn", type=int, default=Effort().drawn)
    parser.add_argument("--no-neighbours", action="store_true", help="choose copies by none")
    parser.add_argument("--survivors", type=int, default=0, help="survivors to show")
    options = parser.parse_args()
    dataset = load_spider(options.data / "spider", split=options.part)
    there = [one for one in dataset.examples if one.database.exists()]
    by_text = {(one.db_id, one.gold_sql.casefold()): one for one in there}
    examples = list(by_text.values())
    random.Random(options.seed).shuffle(examples)
    chosen: dict[str, list[Example]] = defaultdict(list)
    for example in examples[: options.golds]:
        chosen[example.db_id].append(example)
    tasks = [
        (own, [one.gold_sql for one in by_text.values() if one.db_id == db_id], options)
        for db_id, own in sorted(chosen.items())
    ]
    found = Found()
    with ProcessPoolExecutor(options.jobs) as pool:
        for part in pool.map(judge_all, tasks):
            found.add(part)
            killed = sum(one.killed_by > 0 for one in found.mutants)
            false = sum(one.killed_by > 0 for one in found.rewrites)
            print(f"{found.golds} golds: {killed} of {len(found.mutants)} mutants killed, {false} "
                  f"of {len(found.rewrites)} rewrites", file=sys.stderr)  # fmt: skip
    report(found, options)


if __name__ == "__main__":
    main()
