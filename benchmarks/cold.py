"""What a cold `sqlwright ask` takes: time, processor time and memory, beside another version.

    python -m benchmarks.cold --before FOLDER [--after FOLDER] [--database FILE] [--pairs 20]

Each question is a process of its own, as a person starts it, with `--json`. FOLDER is a checkout of
the version to compare with; both run in this environment's Python and take turns, so that a busy
machine is unfair to none. The database is the demo's business unless another is named. It is asked
as it is found (unprepared) and prepared, each version with a folder of its own for what it keeps.
With `--warm`, questions to one open session instead, half a minute each; with `--help-only`, the
time of `--help`.

Printed: the median of either version, and the median of the pairs' ratios with a 95 % interval
(bootstrap over pairs). Memory: the caller's peak (`ru_maxrss`), and from runs of their own, which
the looking slows down, the peak of the sum over all its processes of their share of the memory
(PSS). Answers that differ between the versions are counted; confidence is compared to 6 digits.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlwright.demo.business import demo_questions, write_business

HERE = Path(__file__).resolve().parents[1]
COMMAND = "from sqlwright.cli.main import run; run()"
LOOK_SECONDS = 0.01
WARM = """
import sys, time, json, resource, sqlwright
questions = json.loads(sys.argv[2])
with sqlwright.open(sys.argv[1], record=False, prepare=False) as session:
    for question in questions: session.ask(question)
    print("ready", flush=True)
    for line in sys.stdin:
        started, worked = time.perf_counter(), time.process_time()
        for question in questions: session.ask(question)
        print(time.perf_counter() - started, time.process_time() - worked, flush=True)
"""


@dataclass(frozen=True)
class Version:
    """A checkout, with a folder for what it keeps."""

    name: str
    folder: Path
    home: Path

    @property
    def environment(self) -> dict[str, str]:
        """What its processes run with."""
        return {
            **os.environ,
            "PYTHONPATH": str(self.folder / "src"),
            "SQLWRIGHT_HOME": str(self.home),
            "SQLWRIGHT_PREPARE": "false",  # but by the command that does it
        }

    def start(self, arguments: Sequence[str], output: Any) -> subprocess.Popen[bytes]:
        """Run the command line."""
        return subprocess.Popen(
            [sys.executable, "-c", COMMAND, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.DEVNULL,
            env=self.environment,
            cwd=self.home,
        )


@dataclass(frozen=True)
class Taken:
    """What one process took."""

    wall: float
    processor: float
    """Seconds, with its children's."""
    peak: float
    """MB, the caller alone."""
    output: bytes


def measured(version: Version, arguments: Sequence[str]) -> Taken:
    """Run a command line and wait for it."""
    with tempfile.TemporaryFile() as output:
        started = time.perf_counter()
        process = version.start(arguments, output)
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        megabytes = used.ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3 / 1.024)
        return Taken(wall, used.ru_utime + used.ru_stime, megabytes, output.read())


def looked_at(version: Version, arguments: Sequence[str]) -> float:
    """MB: the peak of what a command line's processes hold together, memory that several share
    divided among them."""
    process, most = version.start(arguments, subprocess.DEVNULL), 0.0
    while process.poll() is None:
        most = max(most, sum(map(_share, _family(process.pid))))
        time.sleep(LOOK_SECONDS)
    return most


def _family(pid: int) -> list[int]:
    found = [pid]
    for parent in found:
        for listed in Path(f"/proc/{parent}/task").glob("*/children"):
            try:
                found += map(int, listed.read_text().split())
            except OSError:
                continue
    return found


def _share(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) * 1.024 / 1e3


def answered(output: bytes) -> Any:
    """What has to be the same."""
    try:
        found = json.loads(output)
    except ValueError:
        return output
    sure = found.get("confidence")
    return found.get("status"), found.get("sql"), found.get("rows"), sure and round(sure, 6)


class Pairs:
    """Figures of both versions, pair by pair, by what was measured."""

    def __init__(self) -> None:
        self.found: dict[str, list[tuple[float, float]]] = {}

    def add(self, what: str, before: float, after: float) -> None:
        """Note one pair."""
        self.found.setdefault(what, []).append((before, after))

    def show(self, title: str) -> None:
        """Print medians and ratios."""
        print(f"\n{title}")
        for what, pairs in self.found.items():
            before, after = (statistics.median(column) for column in zip(*pairs, strict=True))
            ratios = [after / before for before, after in pairs if before]
            low, high = interval(ratios)
            times = f"{statistics.median(ratios):.3f} times [{low:.3f}, {high:.3f}]"
            print(f"  {what:34} {before:9.3f} -> {after:9.3f}   {times}, {len(ratios)} pairs")


def interval(ratios: Sequence[float], rounds: int = 2000) -> tuple[float, float]:
    """Of the median, 95 %, by bootstrap."""
    rng = random.Random(1)
    medians = sorted(statistics.median(rng.choices(ratios, k=len(ratios))) for _ in range(rounds))
    return medians[rounds * 25 // 1000], medians[rounds * 975 // 1000]


def in_turn(
    versions: tuple[Version, Version], turn: int, act: Callable[[Version], Any]
) -> tuple[Any, Any]:
    """What an act gives for either version; who is first changes with every turn."""
    found: Mapping[str, Any] = {
        one.name: act(one) for one in (versions if turn % 2 else reversed(versions))
    }
    return found[versions[0].name], found[versions[1].name]


def cold(
    versions: tuple[Version, Version], database: Path, questions: Sequence[str], counts: list[int]
) -> None:
    """Ask in fresh processes, unprepared and prepared."""
    for version in versions:  # the folders for compiled modules and the files' pages are filled
        measured(version, ["ask", str(database), questions[0], "--json"])
    for state in ("unprepared", "prepared"):
        pairs, differing = Pairs(), 0
        if state == "prepared":
            in_turn(versions, 0, lambda one: measured(one, ["prepare", str(database)]))
        for turn in range(counts[0]):
            asked = ["ask", str(database), questions[turn % len(questions)], "--json"]
            before, after = in_turn(versions, turn, lambda one, asked=asked: measured(one, asked))
            pairs.add("seconds", before.wall, after.wall)
            pairs.add("seconds of the processor", before.processor, after.processor)
            pairs.add("the caller's peak, MB", before.peak, after.peak)
            differing += answered(before.output) != answered(after.output)
        for turn in range(counts[1]):
            asked = ["ask", str(database), questions[turn % len(questions)], "--json"]
            looked = in_turn(versions, turn, lambda one, asked=asked: looked_at(one, asked))
            pairs.add("all processes' peak together, MB", *looked)
        pairs.show(f"cold, {state}: {differing} of {counts[0]} answers differ")


def helped(versions: tuple[Version, Version], count: int) -> None:
    """The time of `--help`."""
    pairs = Pairs()
    for turn in range(-1, count):
        before, after = in_turn(versions, turn, lambda one: measured(one, ["--help"]))
        if turn >= 0:
            pairs.add("seconds", before.wall, after.wall)
            pairs.add("seconds of the processor", before.processor, after.processor)
    pairs.show("--help")


def warm(
    versions: tuple[Version, Version], database: Path, questions: Sequence[str], count: int
) -> None:
    """All questions to a session that stays open, the two sessions in turn."""
    running = {}
    for one in versions:
        running[one.name] = subprocess.Popen(
            [sys.executable, "-c", WARM, str(database), json.dumps(questions)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=one.environment,
        )  # fmt: skip
        assert running[one.name].stdout.readline() == "ready\n"

    def ask(version: Version) -> list[float]:
        process = running[version.name]
        process.stdin.write("\n")
        process.stdin.flush()
        return [float(figure) / len(questions) for figure in process.stdout.readline().split()]

    pairs = Pairs()
    for turn in range(count):
        before, after = in_turn(versions, turn, ask)
        pairs.add("seconds a question", before[0], after[0])
        pairs.add("seconds of the processor", before[1], after[1])
    for process in running.values():
        process.communicate()
    pairs.show(f"warm, {len(questions)} questions")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--before", type=Path, required=True)
    parser.add_argument("--after", type=Path, default=HERE)
    parser.add_argument("--database", type=Path)
    parser.add_argument("--question", action="append", help="the demo's when left out")
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--memory-pairs", type=int, default=5)
    parser.add_argument("--warm", type=int, metavar="ROUNDS", help="an open session instead")
    parser.add_argument("--help-only", action="store_true", help="--help instead")
    given = parser.parse_args()
    questions = given.question or [one.text for one in demo_questions()]
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        database = (given.database or write_demo(place)).resolve()
        versions = (
            Version("before", given.before.resolve(), place / "before"),
            Version("after", given.after.resolve(), place / "after"),
        )
        for version in versions:
            version.home.mkdir()
        if given.help_only:
            helped(versions, given.pairs)
        elif given.warm:
            warm(versions, database, questions, given.warm)
        else:
            cold(versions, database, questions, [given.pairs, given.memory_pairs])


def write_demo(folder: Path) -> Path:
    """The demo's business."""
    write_business(path := folder / "business.sqlite")
    return path


if __name__ == "__main__":
    main()
