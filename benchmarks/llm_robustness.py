"""CHESS against an endpoint that misbehaves: is any question lost, is any candidate dropped?

    python -m benchmarks.llm_robustness FOLDER               100 questions, each recipe, 20% bad
    python -m benchmarks.llm_robustness FOLDER --each 20     and 20 with each kind of fault alone
    python -m benchmarks.llm_robustness FOLDER --recipe chess-agents --questions 30 --share 0.4

The demo's questions in several wordings are asked through a real HTTP server on loopback, first of
one that behaves, then of one of whose replies a share is bad. The embedded parser may not stand in
for the model. A question is lost when the clean run answers it and the other one doesn't. A
candidate is at hand when a reply with a query in it came; all of those must be in the final state,
apart from those that an agent's tool wrote again in a later run: such a query is taken once.
Delays between attempts are short, so that it ends soon: what is measured is what gets lost, not how
long it takes. Exit code 1 when something did.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from benchmarks.answering import Responder
from benchmarks.setting import (
    Place,
    Watched,
    load_average,
    model_on,
    open_session,
    prepared_demo,
    varied_questions,
)
from tests.llm.server import Fault, ModelServer, some_bad, well

from sqlwright.candidates import history, normalized_sql
from sqlwright.errors import MalformedReply
from sqlwright.events import ModelCalled, StepEnded
from sqlwright.llm.endpoint import Throttle
from sqlwright.messages import Missing
from sqlwright.prompts.replies import sql_from
from sqlwright.types import Candidate, Note

KINDS = ("rate_limit", "server_error", "drop", "cut", "slow", "stall", "truncated", "html", "few",
         "many", "empty", "prose")  # fmt: skip
AGENTS = "chess-agents"
SMALL = ("samples.count=2", "selection.generate_tests.tests=3")
PLANS = {
    "chess-ir-cg-ut": SMALL,
    "chess-ir-ss-cg": ("schema_linking.select_columns.sampling={temperature: 0.5, n: 3}",),
    AGENTS: SMALL,
}
"""Recipes with overrides: 2+2 candidates and 3 tests; several samples where there is just one call,
so that a wrong number of choices can do harm."""
WRITER = "generation.direct"


@dataclass(frozen=True)
class Asked:
    """What became of one question."""

    question: str
    status: str
    message: str
    candidates: int
    """In the final state, by the language model."""
    at_hand: int
    """Replies to the writer that hold a query."""
    again: int
    """Of these the ones that hold a query with which a candidate begins, and aren't its own."""
    missing: int
    """Replies to the writer that never came."""
    warnings: tuple[Note, ...]
    steps: frozenset[str]


@dataclass
class Outcome:
    """What became of all questions with one recipe and one server."""

    asked: list[Asked]
    faults: Counter[str]
    requests: int
    seconds: float
    steps: set[str] = field(default_factory=set)


def run(
    place: Place,
    recipe: str,
    questions: Sequence[str],
    fault: Fault,
    overrides: Sequence[str],
    at_once: int,
) -> Outcome:
    """Ask all questions of one server."""
    throttle = Throttle(first_delay=0.01, longest_delay=0.05, seconds=4.0)
    server = ModelServer(answer=Responder(), faults=fault, retry_after=0.01)
    started = time.monotonic()
    with (
        server,
        model_on(server, throttle) as (model, _),
        open_session(place, recipe, model, overrides, record=False, stand_in=False) as session,
        ThreadPoolExecutor(at_once) as pool,
    ):
        session.warm()
        asked = list(pool.map(partial(_ask, session), questions))
        assert server.idle()
    faults = Counter(served.fault for served in server.served)
    steps = set().union(*(one.steps for one in asked))
    return Outcome(asked, faults, len(server.served), time.monotonic() - started, steps)


def _ask(session: object, question: str) -> Asked:
    watched = Watched()
    answer, state = session.run(question, on_event=watched)  # type: ignore[attr-defined]
    replies = [r for call in watched.of(ModelCalled) if call.step == WRITER for r in call.replies]
    missing = sum(isinstance(reply, Missing) for reply in replies)
    at_hand = Counter(_query(r.text) for r in replies if not isinstance(r, Missing))
    del at_hand[""]
    begun = Counter(
        normalized_sql(first.sql) for first in map(_first, state.candidates)
        if first.source == WRITER
    )  # fmt: skip
    again = sum(count for query, count in (at_hand - begun).items() if query in begun)
    steps = frozenset(event.step for event in watched.of(StepEnded))
    return Asked(
        question, answer.status, answer.message, begun.total(), at_hand.total(), again, missing,
        answer.warnings, steps,
    )  # fmt: skip


def _first(candidate: Candidate) -> Candidate:
    """The version that its author wrote."""
    return list(history(candidate))[-1]


def _query(text: str) -> str:
    """The query that a reply holds, normalized; empty without one."""
    try:
        return normalized_sql(sql_from(text))
    except MalformedReply:
        return ""


def compare(name: str, clean: Outcome, bad: Outcome) -> bool:
    """Print both and say whether nothing was lost."""
    pairs = list(zip(clean.asked, bad.asked, strict=True))
    lost = sum(c.status == "answered" != b.status for c, b in pairs)
    again = sum(b.again for b in bad.asked) if name.startswith(AGENTS) else 0
    dropped = sum(b.at_hand - b.candidates for b in bad.asked) - again
    faults = sum(count for fault, count in bad.faults.items() if fault)
    kinds = ", ".join(f"{kind} {n}" for kind, n in sorted(bad.faults.items()) if kind)
    fewer = sum(c.candidates - b.candidates for c, b in pairs)
    warned = Counter(note.kind for b in bad.asked for note in b.warnings)
    print(f"\n{name}: {len(pairs)} questions, {bad.requests:,} requests ({clean.requests:,} clean)")
    print(f"  bad replies   {faults} = {faults / bad.requests:.1%}: {kinds}")
    print(f"  answered      {_answered(bad)} (clean {_answered(clean)}); lost {lost}")
    for before, after in pairs:
        if before.status == "answered" != after.status:
            print(f"  lost          {after.question} ({after.status}: {after.message})")
    print(f"  candidates    {sum(b.candidates for b in bad.asked)} of "
          f"{sum(b.at_hand for b in bad.asked)} at hand, {again} written again; dropped {dropped}; "
          f"never came {sum(b.missing for b in bad.asked)}; {fewer} fewer than clean")  # fmt: skip
    print(f"  warnings      {dict(warned) or 'none'}")
    print(f"  steps         {', '.join(sorted(bad.steps))}")
    print(f"  seconds       {bad.seconds:.1f} (clean {clean.seconds:.1f})", flush=True)
    return not lost and not dropped


def _answered(outcome: Outcome) -> int:
    return sum(one.status == "answered" for one in outcome.asked)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path, help="for the demo database; kept")
    parser.add_argument("--recipe", action="append", default=[], choices=list(PLANS))
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--share", type=float, default=0.2)
    parser.add_argument("--each", type=int, default=0, help="questions with each fault alone")
    parser.add_argument("--full", type=int, default=0, help="questions of cg-ut at full size")
    parser.add_argument("--at-once", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    place, good = prepared_demo(options.folder), True
    print(load_average())
    sizes = [(r, PLANS[r], options.questions) for r in options.recipe or PLANS]
    if options.full:
        sizes.append(("chess-ir-cg-ut", (), options.full))
    for recipe, overrides, count in sizes:
        questions = varied_questions(count)
        ask = partial(run, place, recipe, overrides=overrides, at_once=options.at_once)
        clean = ask(questions, well)
        name = recipe + (" at full size" if not overrides else "")
        bad = ask(questions, some_bad(options.share, KINDS, options.seed))
        good &= compare(name, clean, bad)
        for kind in KINDS if options.each else ():
            some = questions[: options.each]
            clean_part = Outcome(clean.asked[: options.each], clean.faults, clean.requests, 0.0)
            alone = ask(some, some_bad(options.share, (kind,), options.seed))
            good &= compare(f"{recipe}, {kind} alone", clean_part, alone)
    print(f"\n{load_average()}; {'nothing was lost' if good else 'something was lost'}")
    return int(not good)


if __name__ == "__main__":
    sys.exit(main())
