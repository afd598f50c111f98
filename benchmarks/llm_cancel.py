"""Cancel a question, or let its budget run out, at random moments: how soon is the best there?

    python -m benchmarks.llm_cancel FOLDER                 20 moments each, chess-ir-cg-ut

A server on loopback, in this process so that it can be looked into, takes 0.2 to 1 s for a reply.
The time a question takes is cut into as many parts as there are moments, and one is drawn in each.
The question is cancelled there, or it has a budget of calls or tokens that is spent about then.
Afterwards no request may be under way, and cache, trace and recording must be readable to the last
line. Exit code 1 when an answer took longer than a second after the cancellation or after the last
reply, when anything is left or damaged, or when more was spent than allowed.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.answering import Responder
from benchmarks.setting import Place, load_average, prepared_demo, recipe_path, varied_questions
from tests.llm.server import Asked, ModelServer

import sqlwright
from sqlwright.errors import SqlwrightError
from sqlwright.llm.keeping.recording import read_recording
from sqlwright.llm.options import LlmOptions
from sqlwright.running.trace import find_trace, read_trace
from sqlwright.types import Answer

BAR = 1.0
RECIPE = "chess-ir-cg-ut"


def latency(asked: Asked) -> float:
    """Between 0.2 and 1 s, by the request."""
    return asked.random("latency").uniform(0.2, 1.0)


@dataclass(frozen=True)
class Stopped:
    """What became of a question that was stopped."""

    seconds: float
    """From asking to the answer."""
    late: float
    """Seconds to the answer from the cancellation or, where there was none, the last reply."""
    answer: Answer
    left: int
    """Requests under way when the answer was there, after a moment's grace."""
    damage: tuple[str, ...]


class Stage:
    """A server, and sessions that cache, trace and record into a folder."""

    def __init__(
        self, place: Place, folder: Path, server: ModelServer, overrides: Sequence[str] = ()
    ) -> None:
        self.place = place
        self.folder = folder
        self.server = server
        self.overrides = overrides

    def ask(self, question: str, *, cancel_at: float | None = None, budget: str = "") -> Stopped:
        """Ask, stopped by one or the other."""
        cancelled, times = threading.Event(), []
        home, record = self.folder / "home", self.folder / "recording.jsonl"

        def cancel() -> None:
            times.append(time.monotonic())
            cancelled.set()

        with sqlwright.open(
            self.place.database,
            recipe=recipe_path(RECIPE),
            overrides=self.overrides,
            descriptions=self.place.descriptions,
            home=home,
            model="vllm/bench",
            base_url=self.server.url,
            budget=budget or None,
            llm=LlmOptions(record=record, cache=True),
            environ={},
        ) as session:
            session.warm()
            timer = threading.Timer(cancel_at or 0.0, cancel)
            if cancel_at is not None:
                timer.start()
            began = time.monotonic()
            answer = session.ask(question, cancelled=cancelled)
            ended = time.monotonic()
            timer.cancel()
            left = 0 if self.server.idle(within=0.5) else self.server.in_flight
        last = max(served.ended for served in self.server.served) if self.server.served else ended
        late = max(0.0, ended - (times[0] if times else last))
        return Stopped(
            ended - began, late, answer, left, tuple(damage(home, record, answer.trace_id))
        )


def damage(home: Path, record: Path, trace_id: str) -> list[str]:
    """What can't be read of what was written."""
    found = []
    try:
        read = read_trace(find_trace(home / "traces", trace_id))
        if not read.answer:
            found.append("trace without an answer")
        if record.exists():
            read_recording(record)
            if not record.read_bytes().endswith(b"\n"):
                found.append("half a line in the recording")
    except SqlwrightError as error:
        found.append(str(error))
    for path in (home / "replies").rglob("*"):
        if path.is_file():
            try:
                json.loads(path.read_text("utf-8"))
            except ValueError:
                found.append(f"half a reply: {path.name}")
    return found


def told(name: str, results: Sequence[Stopped]) -> bool:
    """Print what it comes to; whether nothing is wrong."""
    late = sorted(result.late for result in results)
    left = sum(result.left for result in results)
    damaged = [text for result in results for text in result.damage]
    answered = sum(result.answer.status == "answered" for result in results)
    said = sum(any("budget" in w or "stopped" in w for w in r.answer.warnings) for r in results)
    bare = sum(r.answer.status != "answered" and r.answer.sql is None for r in results)
    print(
        f"{name}: {len(results)} times; answered {answered}, no query yet {bare}, said so {said}; "
        f"late {1000 * late[len(late) // 2]:.0f} ms median, {1000 * late[-1]:.0f} ms at most; "
        f"requests left {left}; damage {damaged or 'none'}",
        flush=True,
    )
    return late[-1] <= BAR and not left and not damaged


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path, help="for the demo database; kept")
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    draw, questions = random.Random(options.seed), varied_questions(3 * options.times + 1)
    print(load_average())
    with TemporaryDirectory() as folder, ModelServer(Responder(), latency=latency) as server:
        stage = Stage(prepared_demo(options.folder), Path(folder), server)
        whole = stage.ask(questions.pop())
        span, usage = whole.seconds, whole.answer.usage
        tokens = usage.prompt_tokens + usage.reply_tokens
        print(f"undisturbed: {span:.1f} s, {usage.calls} calls, {tokens:,} tokens")
        good = told("undisturbed", [whole])
        parts = [(n + draw.random()) / options.times for n in range(options.times)]
        good &= told(
            "cancelled", [stage.ask(questions.pop(), cancel_at=part * span) for part in parts]
        )
        over: list[str] = []
        for unit, most in (("calls", usage.calls), ("tokens", tokens)):
            allowed = [int(part * most) for part in parts]
            results = [stage.ask(questions.pop(), budget=f"{a} {unit}") for a in allowed]
            good &= told(f"out of {unit}", results)
            for amount, result in zip(allowed, results, strict=True):
                used = result.answer.usage
                spent = used.prompt_tokens + used.reply_tokens if unit == "tokens" else used.calls
                over += [f"{spent} of {amount} {unit}"] if spent > amount else []
        print(f"budgets overspent: {over or 'none'}; {load_average()}")
    return int(not good or bool(over))


if __name__ == "__main__":
    sys.exit(main())
