"""A run killed at ten random moments ends as if nobody had touched it.

    python -m benchmarks.evaluate_kills data/spider --split dev --limit 60
    python -m benchmarks.evaluate_kills data/spider --split dev --limit 60 --victims workers
    python -m benchmarks.evaluate_kills data/spider --split dev --limit 60 --executor ray \\
        --victims workers

With `--victims run` the process that makes the run gets kill -9, its workers after it, and the run
is gone on with; with `--victims workers` a worker does, and the run goes on by itself. Bars: the
same records as of a run in one piece, times apart; no question twice; nothing asked again whose
record was there.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sqlwright.lab.datasets.example import Dataset
from sqlwright.lab.datasets.spider import load_spider
from sqlwright.lab.evaluation.records import PREDICTIONS, Record
from sqlwright.lab.evaluation.run import EvaluationSettings, evaluate

COMMAND = "from sqlwright.cli.main import run; run()"
MARKS = {"processes": "evaluation.executing.processes", "ray": "ray::_Actor"}


def lines(folder: Path) -> list[str]:
    path = folder / PREDICTIONS
    return [one for one in path.read_text().split("\n") if one] if path.exists() else []


def timeless(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(one) | {"seconds": 0.0, "times": {}} for one in lines(folder)]


@dataclass
class Kills:
    """Kills at random moments of a run."""

    chosen: argparse.Namespace
    dataset: Dataset
    chance: random.Random
    done: int = 0

    def of_the_run(self, out: Path) -> list[str]:
        """Kill and go on, then let it end; what went wrong."""
        wrong = []
        last = self.chosen.limit - 1
        moments = sorted(self.chance.randrange(last) for _ in range(self.chosen.kills))
        for moment in moments:
            process = self._started(out)
            before = lines(out)
            while len(lines(out)) < moment and process.poll() is None:
                time.sleep(0.01)
            time.sleep(self.chance.random() * 1.0)
            if process.poll() is None:
                self.done += 1
                process.kill()
            process.wait()
            after = lines(out)
            if after[: max(0, len(before) - 1)] != before[: max(0, len(before) - 1)]:
                wrong.append(f"records changed at {moment}")
            print(f"killed with {len(after)} records", flush=True)
        if code := self._started(out).wait():
            wrong.append(f"the last one ended with {code}")
        return wrong

    def of_workers(self, out: Path) -> list[str]:
        """Kill a worker now and then while the run goes on."""
        share = max(1, self.chosen.limit // (self.chosen.kills + 1))
        moments = {share * number for number in range(1, self.chosen.kills + 1)}

        def tell(done: int, _: int, record: Record | None) -> None:
            if record is not None and done in moments:
                time.sleep(self.chance.random() * 0.3)
                self._kill_one()

        settings = EvaluationSettings(
            workers=2, executor=self.chosen.executor, limit=self.chosen.limit
        )
        evaluate(self.dataset, settings, out, progress=tell, notice=print)
        return []

    def _started(self, out: Path) -> subprocess.Popen[bytes]:
        words = [
            "evaluate",
            "--data",
            f"spider:{self.chosen.folder}",
            "--limit",
            str(self.chosen.limit),
        ]
        words += ["--split", self.chosen.split] if self.chosen.split else []
        if self.chosen.executor != "threads":
            words += ["--executor", self.chosen.executor, "--workers", "2"]
        return subprocess.Popen(
            [sys.executable, "-c", COMMAND, *words, "--out", str(out), "--resume"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def _kill_one(self) -> None:
        listed = subprocess.run(
            ["ps", "-A", "-ww", "-o", "pid=,ppid=,args="],
            capture_output=True,
            text=True,
            check=True,
        )
        mark = MARKS[self.chosen.executor]
        rows = [line.split(None, 2) for line in listed.stdout.splitlines()]
        ours = [
            int(row[0])
            for row in rows
            if mark in row[-1] and (int(row[1]) == os.getpid() or mark.startswith("ray"))
        ]
        if ours:
            os.kill(self.chance.choice(ours), signal.SIGKILL)
            self.done += 1


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--split", default=None)
    parser.add_argument("--limit", type=int, default=60)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--executor", default="processes", choices=["threads", "processes", "ray"])
    parser.add_argument("--victims", default="run", choices=["run", "workers"])
    parser.add_argument("--seed", type=int, default=18)
    chosen = parser.parse_args(words)
    dataset = load_spider(chosen.folder, split=chosen.split)
    kills = Kills(chosen, dataset, random.Random(chosen.seed))
    with TemporaryDirectory() as folder:
        whole, out = Path(folder) / "whole", Path(folder) / "out"
        evaluate(dataset, EvaluationSettings(limit=chosen.limit), whole)
        wrong = kills.of_the_run(out) if chosen.victims == "run" else kills.of_workers(out)
        found, wanted = timeless(out), timeless(whole)
    ids = [row["id"] for row in found]
    wrong += ["a question stands twice"] * (len(ids) > len(set(ids)))
    wrong += ["a question is missing"] * (set(ids) < {row["id"] for row in wanted})
    wrong += ["the records differ"] * (found != wanted)
    print(
        f"{kills.done} kills, {len(ids)} of {len(wanted)} questions; {wrong or 'as in one piece'}"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
