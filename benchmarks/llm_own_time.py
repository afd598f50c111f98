"""How long sqlwright itself takes for a question, the time of language models left out.

    SQLWRIGHT_DATA=... python -m benchmarks.llm_own_time FOLDER
    python -m benchmarks.llm_own_time FOLDER --columns 60 --profile      the demo; where it goes

Two ways, over databases with 100 and with 4,337 columns (`large_schema.py`) that are prepared:

`replay`  every reply comes from a recording at once, so all of the wall time is ours, that of
          running the queries included.
`http`    a server in another process takes 0.2 s for each reply; from the wall time goes what the
          server had in hand along the longest chain of dependent calls (`llm_critical_path.py`).
          What is left includes HTTP, the vendor's client and waiting for each other.

Processor time is told too: on a busy machine the wall time says more about the neighbours.
"""

from __future__ import annotations

import argparse
import cProfile
import os
import pstats
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.answering import Responder
from benchmarks.large_schema import make_large_schema
from benchmarks.llm_critical_path import longest, remote_server, stages
from benchmarks.setting import (
    Place,
    Watched,
    load_average,
    model_on,
    open_session,
    prepared,
    prepared_demo,
    questions_about,
    varied_questions,
)

from sqlwright.llm.endpoint import Throttle
from sqlwright.llm.gate import Connection, GatedModel
from sqlwright.llm.keeping.recording import Recorder, read_recording
from sqlwright.llm.scripted import Script, ScriptedEndpoint
from sqlwright.llm.sending.engine import Engine

BARS = {100: 0.150, 4_337: 0.500}
LATENCY = 0.2
DEMO = 60
"""Columns that stand for the demo."""
EMBEDDED = ("schema_linking.filter_columns.form=embedded",)
PLANS: dict[str, tuple[str, tuple[str, ...]]] = {
    "ss-cg, embedded filter": ("chess-ir-ss-cg", EMBEDDED),
    "ss-cg": ("chess-ir-ss-cg", ()),
    "cg-ut": ("chess-ir-cg-ut", ()),
}
WARM = 2
"""Questions that aren't counted: templates, embedded models and worker processes are loaded."""


def made(folder: Path, columns: int) -> tuple[Place, list[str]]:
    """A prepared database of about so many columns and questions about it."""
    if columns == DEMO:
        return prepared_demo(folder), varied_questions(200)
    data = os.environ.get("SQLWRIGHT_DATA")
    if not data:
        raise SystemExit("set SQLWRIGHT_DATA: the schemas are made from BIRD's training part")
    database = make_large_schema(Path(data), folder, columns)
    place = prepared(database, folder / "home", database.parent / "database_description")
    return place, questions_about(database, 200)


Times = tuple[list[float], list[float]]
"""Wall and processor seconds of each question."""


def replayed(
    place: Place,
    plan: str,
    questions: Sequence[str],
    folder: Path,
    profile: cProfile.Profile | None,
) -> Times:
    """Wall and processor seconds of each question whose replies are on record."""
    recipe, overrides = PLANS[plan]
    path = folder / "own_time.jsonl"
    path.unlink(missing_ok=True)
    engine = Engine()
    endpoint = ScriptedEndpoint(Script(otherwise=Responder().scripted))
    model = GatedModel(
        endpoint.name,
        endpoint.capabilities,
        Connection(lambda: endpoint, engine),
        recorder=Recorder(path),
    )
    with open_session(place, recipe, model, overrides, record=False) as session:
        for question in questions:
            session.ask(question)
    engine.close()
    walls, processor = [], []
    again = GatedModel("scripted/model", endpoint.capabilities, None, replay=read_recording(path))
    with open_session(place, recipe, again, overrides, record=False) as session:
        session.warm()
        for number, question in enumerate(questions):
            if profile is not None and number == WARM:
                profile.enable()
            wall, cpu = time.perf_counter(), time.process_time()
            session.ask(question)
            walls.append(time.perf_counter() - wall)
            processor.append(time.process_time() - cpu)
        if profile is not None:
            profile.disable()
    path.unlink()
    return walls[WARM:], processor[WARM:]


def over_http(place: Place, plan: str, questions: Sequence[str]) -> Times:
    """Wall time less the server's on the longest chain, and processor time, of each question."""
    recipe, overrides = PLANS[plan]
    walls, processor, watches = [], [], []
    with (
        remote_server(LATENCY, 0, steady=True) as (server, pipe),
        model_on(server, Throttle(concurrency=128, seconds=600)) as (model, _),  # type: ignore[arg-type]
        open_session(place, recipe, model, overrides, record=False) as session,
    ):
        session.warm()
        for question in questions:
            watched = Watched()
            wall, cpu = time.perf_counter(), time.process_time()
            session.ask(question, on_event=watched)
            walls.append(time.perf_counter() - wall)
            processor.append(time.process_time() - cpu)
            watches.append(watched)
        pipe.send("done")
        dealt = {(texts, seed): took for texts, seed, _, took in pipe.recv()}
    own = [w - longest(stages(e, dealt)) for w, e in zip(walls, watches, strict=True)]
    return own[WARM:], processor[WARM:]


def told(name: str, times: Times, bar: float | None) -> bool:
    """Print median and 95th percentile; say whether the bar is kept."""
    seconds, processor = times
    median = statistics.median(seconds)
    p95 = sorted(seconds)[int(0.95 * (len(seconds) - 1))]
    verdict = "" if bar is None else f"; bar {1000 * bar:.0f} {'ok' if median <= bar else 'MISSED'}"
    print(f"  {name:32} {1000 * median:6.0f} ms median, {1000 * p95:6.0f} p95; processor "
          f"{1000 * statistics.median(processor):6.0f}{verdict}", flush=True)  # fmt: skip
    return bar is None or median <= bar


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path, help="for the databases; kept")
    parser.add_argument("--columns", type=int, nargs="+", default=list(BARS))
    parser.add_argument("--plan", action="append", choices=list(PLANS), default=[])
    parser.add_argument("--way", choices=("replay", "http"), nargs="+", default=["replay", "http"])
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--profile", action="store_true", help="show where the time of replay goes")
    options = parser.parse_args()
    good = True
    for columns in options.columns:
        place, questions = made(options.folder, columns)
        print(f"{columns} columns, {options.questions} questions; {load_average()}")
        asked = questions[: options.questions + WARM]
        for plan in options.plan or PLANS:
            if "replay" in options.way:
                profile = cProfile.Profile() if options.profile else None
                took = replayed(place, plan, asked, options.folder, profile)
                good &= told(f"{plan}, replay", took, BARS.get(columns))
                if profile is not None:
                    pstats.Stats(profile).sort_stats("cumulative").print_stats(60)
            if "http" in options.way:
                good &= told(f"{plan}, http", over_http(place, plan, asked), BARS.get(columns))
    return int(not good)


if __name__ == "__main__":
    sys.exit(main())
