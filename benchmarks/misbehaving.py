"""How a question ends that is asked of an endpoint which misbehaves, in each of some hundred ways.

    python -m benchmarks.misbehaving                           every mode, one line each
    python -m benchmarks.misbehaving --recipe chess-ir-cg-ut --seconds 3 --calls 5
    python -m benchmarks.misbehaving --only "429"              those whose name has it

The modes are those of `tests/llm/misbehaving.py`, over real sockets. Each question is asked in a
process of its own kind, so that its memory is known: the most it had above what it had before. It
tells how far the answer came behind its time limit, and how many requests were sent for how many
that the budget allows. Exit code 1 where one raised, came more than 0.5 s late, took more than
100 MB or sent a request too many. The times mean something on an idle machine only.
"""

from __future__ import annotations

import argparse
import json
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.llm.misbehaving import MODES, Misbehaving

from sqlwright import api
from sqlwright.llm.options import LlmOptions
from sqlwright.local.models import EmbeddedModels
from sqlwright.spending import Budget

LATE = 0.5
"""Seconds behind the time limit that are too many."""
LARGE = 100.0
"""Megabytes that are too many."""
GOOD = "early hints first"
"""A mode in which everything is answered."""
PATIENCE = 100.0
"""Seconds after which a question counts as hanging."""


@dataclass(frozen=True)
class Asking:
    """How questions are asked."""

    recipe: str = "baseline"
    seconds: float = 2.0
    calls: int = 3
    retrying: float = 1.0


@dataclass(frozen=True)
class Ended:
    """What became of one question."""

    mode: str
    status: str
    """Of the answer, or the error's name where there was none."""
    message: str
    late: float
    """Seconds behind the limit."""
    megabytes: float
    requests: int
    calls: int
    """As they were counted."""
    tokens: int = 0

    def wrong(self, asking: Asking) -> list[str]:
        """What isn't as it should be, times aside."""
        found = []
        if self.status not in {"answered", "refused", "failed"}:
            found.append(f"raised {self.status}: {self.message}")
        if self.megabytes > LARGE:
            found.append(f"took {self.megabytes:.0f} MB")
        if max(self.requests, self.calls) > asking.calls:
            found.append(f"sent {self.requests} requests of {asking.calls}")
        return found


class Asker:
    """A process that asks, one question after another."""

    def __init__(self, database: Path, asking: Asking) -> None:
        self._asking = asking
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.misbehaving", "--child", str(database),
             "--recipe", asking.recipe, "--seconds", str(asking.seconds),
             "--calls", str(asking.calls), "--retrying", str(asking.retrying)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            cwd=Path(__file__).parents[1],
        )  # fmt: skip
        self._lines: queue.Queue[str] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self._line()  # it is ready
        self.ask(GOOD)  # and has loaded all there is to load

    def ask(self, mode: str) -> Ended:
        """What became of a question to an endpoint in that mode. Raises TimeoutError."""
        assert self._process.stdin is not None
        with Misbehaving(MODES[mode]) as endpoint:
            self._process.stdin.write(endpoint.url + "\n")
            self._process.stdin.flush()
            told = json.loads(self._line())
            return Ended(mode, requests=endpoint.requests, **told)

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        self._reader.join()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put("")

    def _line(self) -> str:
        try:
            line = self._lines.get(timeout=PATIENCE)
        except queue.Empty:
            raise TimeoutError("the question doesn't end") from None
        if not line:
            raise ChildProcessError("the process that asks has ended")
        return line


def child(database: Path, asking: Asking) -> None:
    """Ask each endpoint named on standard input; tell on standard output what came of it."""
    models = EmbeddedModels()
    with api.open(database, models=models, record=False) as session:
        session.ask("How many people are there?")
    print(json.dumps("ready"), flush=True)
    for line in sys.stdin:
        print(json.dumps(_asked(database, models, asking, line.strip())), flush=True)


def _asked(database: Path, models: Any, asking: Asking, url: str) -> dict[str, Any]:
    options = LlmOptions(
        "openai-compatible/m",
        url,
        budget=Budget(calls=asking.calls),
        cache=False,
        retrying=asking.retrying,
    )
    _reset_peak()
    before, started = _memory("VmRSS"), time.monotonic()
    calls = tokens = 0
    try:
        with api.open(
            database, recipe=asking.recipe, llm=options, models=models, record=False, environ={}
        ) as session:
            answer = session.ask("How many people are there?", seconds=asking.seconds)
            late = time.monotonic() - started - asking.seconds
        status, message, used = str(answer.status), answer.message, answer.usage
        calls, tokens = used.calls, used.prompt_tokens + used.reply_tokens
    except Exception as error:  # noqa: BLE001 - what is looked for
        late = time.monotonic() - started - asking.seconds
        status, message = type(error).__name__, str(error)
    return {
        "status": status,
        "message": message[:300],
        "late": late,
        "megabytes": max(_memory("VmHWM") - before, 0.0),
        "calls": calls,
        "tokens": tokens,
    }


def _reset_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def _memory(what: str) -> float:
    """Megabytes of this process, by Linux's account."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(what):
            return int(line.split()[1]) / 1024
    raise LookupError(what)


def people(folder: Path) -> Path:
    """A small database to ask about."""
    import sqlite3

    path = folder / "people.sqlite"
    with sqlite3.connect(path) as connection:
        connection.executescript(
            "CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT, city TEXT);"
            "INSERT INTO people VALUES (1, 'Ada', 'Bonn'), (2, 'Bob', 'Cork');"
        )
    connection.close()
    return path


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; its exit code."""
    usual = Asking()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)  # fmt: skip  # noqa: E501
    parser.add_argument("--recipe", default=usual.recipe)
    parser.add_argument("--seconds", type=float, default=usual.seconds)
    parser.add_argument("--calls", type=int, default=usual.calls)
    parser.add_argument("--retrying", type=float, default=usual.retrying)
    parser.add_argument("--only", default="")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    asking = Asking(given.recipe, given.seconds, given.calls, given.retrying)
    if given.child is not None:
        child(given.child, asking)
        return 0
    ended, bad = [], 0
    with tempfile.TemporaryDirectory() as folder:
        asker = Asker(people(Path(folder)), asking)
        for mode in (name for name in MODES if given.only in name):
            one = asker.ask(mode)
            wrong = one.wrong(asking) + ([f"{one.late:.2f} s late"] if one.late > LATE else [])
            bad += bool(wrong)
            ended.append(one)
            print(f"{mode:36} {one.status:9} {one.late:+6.2f} s  {one.megabytes:5.1f} MB  "
                  f"{one.requests} requests  {'; '.join(wrong)}", flush=True)  # fmt: skip
        asker.close()
    latest, largest = max(one.late for one in ended), max(one.megabytes for one in ended)
    most = max(one.requests for one in ended)
    print(f"\n{len(ended)} modes, {bad} with something wrong; latest {latest:+.2f} s, "
          f"largest {largest:.1f} MB, most requests {most} of {asking.calls}")  # fmt: skip
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
