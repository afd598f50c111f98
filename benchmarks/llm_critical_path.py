"""Wall time against the critical path: how much longer than its calls does a question take?

    python -m benchmarks.llm_critical_path FOLDER                   latencies as they are: minutes
    python -m benchmarks.llm_critical_path FOLDER --scale 0.1       a tenth of them
    python -m benchmarks.llm_critical_path FOLDER --recipe chase --steady --bar 1.15 --at-once 1 \\
        --concurrency 64 --questions 3                              CHASE, 1 s a call
    python -m benchmarks.llm_critical_path FOLDER --at-once 32 --concurrency 16 64

The server's latencies are log-normal with a median of 1 s and a 99th percentile of 8 s, dealt by
the request. From them and the recipe's structure follows for every question the longest chain of
dependent calls: steps one after another, each as long as its slowest call, and of the candidates
the slowest chain of writing and revising. With more calls than the endpoint takes at once, what is
possible is found by dealing its slots with no loss at all (`schedule`); the bound below which
nothing can go is the longest chain, or all work divided by the slots. The server is a process of
its own. Exit code 1 when the time is more than 1.10 times that schedule's.
"""

from __future__ import annotations

import argparse
import heapq
import itertools
import multiprocessing
import statistics
import sys
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.answering import Responder
from benchmarks.setting import (
    Watched,
    load_average,
    model_on,
    open_session,
    prepared_demo,
    varied_questions,
)
from tests.llm.server import ModelServer, constant, long_tail

import sqlwright
from sqlwright.events import ModelCalled, StepStarted
from sqlwright.llm.endpoint import Throttle

BAR = 1.10
MEDIAN, P99 = 1.0, 8.0
CHAIN = frozenset({"generation.direct", "repair.execute", "repair.revise"})
"""Steps of a candidate's chain; the first one begins a new chain."""
OWN = frozenset({
    "schema_linking.filter_columns", "schema_linking.select_tables",
    "schema_linking.select_columns", "generation.make_examples",
})  # fmt: skip
"""Steps that, behind other chains, belong to a branch of their own: its chains wait for them, the
chains beside it don't. Examples by SQL feature and the linking that ends in examples over linked
columns are two ways beside each other."""

Latencies = Mapping[tuple[tuple[str, ...], int], float]
"""By the request's messages and seed."""

Stage = list[list[float]]
"""Chains side by side, each a list of calls one after another."""


@dataclass(frozen=True)
class Remote:
    """A server in a process of its own, as far as a client needs it."""

    url: str


@contextmanager
def remote_server(scale: float, seed: int, *, steady: bool = False) -> Iterator[tuple[Remote, Any]]:
    """A server in another process, and the pipe on which it tells at the end what it dealt. With
    `steady` every reply takes `scale` seconds."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, scale, seed, steady), daemon=True)
    process.start()
    try:
        yield Remote(ours.recv()), ours
    finally:
        process.terminate()
        process.join()


def _serve(pipe: Any, scale: float, seed: int, steady: bool) -> None:
    latency = constant(scale) if steady else long_tail(MEDIAN * scale, P99 * scale, seed)
    with ModelServer(answer=Responder(), latency=latency) as server:
        pipe.send(server.url)
        pipe.recv()
        pipe.send([
            (tuple(m["content"] for m in s.asked.body["messages"]), s.asked.body.get("seed"),
             s.latency, s.ended - s.began)
            for s in server.served
        ])  # fmt: skip


def stages(watched: Watched, latencies: Latencies) -> list[Stage]:
    """A question's calls as they depend on each other."""
    found: list[Stage] = []
    inside = False
    own: list[list[list[float]]] = []
    made = False
    for event in watched.kept:
        if isinstance(event, StepStarted):
            step = event.step
            if step in OWN and (inside or own):
                if made or not own:
                    own.append([])
                own[-1].append([])
                made = step == "generation.make_examples"
                continue
            if step == "generation.direct":
                if not inside:
                    found.append([])
                ways = ([max(calls) for calls in way if calls] for way in own)
                found[-1].append(list(max(ways, key=sum, default=[])))
            inside = step in CHAIN
            if not inside:
                found.append([])
                own, made = [], False
        elif isinstance(event, ModelCalled):
            texts = tuple(str(message.text) for message in event.messages)
            took = latencies[texts, event.seed]
            if own and event.step in OWN:
                own[-1][-1].append(took)
            elif inside:
                found[-1][-1].append(took)
            else:
                found[-1].append([took])
    return [stage for stage in found if stage]


def longest(question: Sequence[Stage]) -> float:
    """The longest chain of dependent calls."""
    return sum(max(sum(chain) for chain in stage) for stage in question)


def work(question: Sequence[Stage]) -> float:
    """All calls one after another."""
    return sum(sum(chain) for stage in question for chain in stage)


def schedule(questions: Sequence[Sequence[Stage]], slots: int) -> float:
    """When all are done if nothing but calls takes time and questions get slots in turn."""
    waiting: deque[tuple[int, int, int, int]] = deque()  # question, stage, chain, call
    running: list[tuple[float, int, tuple[int, int, int, int]]] = []
    left = [len(question[0]) if question else 0 for question in questions]
    order, now = itertools.count(), 0.0
    opening = [[(q, 0, c, 0) for c in range(left[q])] for q in range(len(questions))]
    for turn in itertools.zip_longest(*opening):
        waiting.extend(task for task in turn if task is not None)
    while waiting or running:
        while waiting and len(running) < slots:
            task = waiting.popleft()
            q, s, c, n = task
            heapq.heappush(running, (now + questions[q][s][c][n], next(order), task))
        now, _, (q, s, c, n) = heapq.heappop(running)
        if n + 1 < len(questions[q][s][c]):
            waiting.append((q, s, c, n + 1))
            continue
        left[q] -= 1
        if not left[q] and s + 1 < len(questions[q]):
            left[q] = len(questions[q][s + 1])
            waiting.extend((q, s + 1, chain, 0) for chain in range(left[q]))
    return now


@dataclass
class Group:
    """Questions asked together, and how long they took."""

    seconds: float
    watched: list[Watched]


def measure(options: argparse.Namespace, recipe: str, at_once: int, slots: int) -> bool:
    """Ask in groups of so many; print the ratios; say whether the bar is kept."""
    place = prepared_demo(options.folder)
    throttle = Throttle(concurrency=slots, seconds=600.0)
    count = options.questions if at_once == 1 else at_once
    questions = varied_questions(count + at_once)
    with (
        remote_server(options.scale, options.seed, steady=options.steady) as (server, pipe),
        model_on(server, throttle) as (model, _),  # type: ignore[arg-type]
        open_session(place, recipe, model, record=False, seed=options.seed) as session,
        ThreadPoolExecutor(at_once) as pool,
    ):
        session.warm()
        session.ask("How many?")  # imports, templates, worker processes
        groups = []
        for start in range(0, count, at_once):
            began = time.monotonic()
            watched = list(pool.map(lambda q: _ask(session, q), questions[start : start + at_once]))
            groups.append(Group(time.monotonic() - began, watched))
        pipe.send("done")
        dealt = pipe.recv()
    latencies = {(texts, seed): latency for texts, seed, latency, _ in dealt}
    overdue = [took - latency for _, _, latency, took in dealt]
    return report(recipe, groups, latencies, slots, options.scale, overdue, options.bar)


def _ask(session: sqlwright.Session, question: str) -> Watched:
    watched = Watched()
    session.ask(question, on_event=watched)
    return watched


def report(
    recipe: str,
    groups: Sequence[Group],
    latencies: Latencies,
    slots: int,
    scale: float,
    overdue: Sequence[float],
    bar: float = BAR,
) -> bool:
    """Print what it comes to."""
    ratios, bounds, walls, ideals, calls = [], [], [], [], 0
    for group in groups:
        asked = [stages(watched, latencies) for watched in group.watched]
        calls += sum(len(chain) for q in asked for stage in q for chain in stage)
        bound = max(*map(longest, asked), sum(map(work, asked)) / slots)
        ideal = schedule(asked, slots)
        walls.append(group.seconds)
        ideals.append(ideal)
        ratios.append(group.seconds / ideal)
        bounds.append(group.seconds / bound)
    over = sum(walls) / sum(ideals)
    lost = statistics.mean(w - i for w, i in zip(walls, ideals, strict=True))
    at_once = len(groups[0].watched)
    print(
        f"{recipe}, latencies x {scale:g}, {at_once} at once, {slots} slots: "
        f"{len(groups)} x {at_once} questions, {calls} calls\n"
        f"  wall {statistics.mean(walls):.2f} s, possible {statistics.mean(ideals):.2f} s, "
        f"{1000 * lost:.0f} ms more; {1000 * lost / at_once:.0f} ms per question\n"
        f"  ratio {over:.3f} (median {statistics.median(ratios):.3f}, max {max(ratios):.3f}); "
        f"to the bound {sum(walls) / sum(w / b for w, b in zip(walls, bounds, strict=True)):.3f}\n"
        f"  the server itself late by {1000 * statistics.mean(overdue):.1f} ms per call (mean), "
        f"{1000 * max(overdue):.0f} ms at most",
        flush=True,
    )
    return over <= bar


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path, help="for the demo database; kept")
    parser.add_argument("--recipe", action="append", default=[])
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--at-once", type=int, nargs="+", default=[1, 32])
    parser.add_argument("--concurrency", type=int, nargs="+", default=[16])
    parser.add_argument("--questions", type=int, default=8, help="when asked one at a time")
    parser.add_argument("--steady", action="store_true", help="every reply takes SCALE seconds")
    parser.add_argument("--bar", type=float, default=BAR)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    good = True
    print(load_average())
    for recipe in options.recipe or ["chess-ir-cg-ut", "chess-ir-ss-cg"]:
        for at_once in options.at_once:
            for slots in options.concurrency:
                good &= measure(options, recipe, at_once, slots)
    print(f"{load_average()}; bar {options.bar:.2f} {'kept' if good else 'missed'}")
    return int(not good)


if __name__ == "__main__":
    sys.exit(main())
