"""Two runs over one recording leave the same trace, clocks and ids apart, with pools or without."""

from __future__ import annotations

import json
import re
from collections import ChainMap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from benchmarks.answering import Responder

from sqlwright import api
from sqlwright.llm.keeping.recording import Recorder
from sqlwright.llm.options import LlmOptions
from sqlwright.llm.scripted import Script
from sqlwright.running.trace import find_trace
from tests.llm.gates import gate
from tests.scripted import ScriptedEmbedder, scripted_models

QUESTION = "How many orders did customers from Munchen place, by state?"
SMALL = ("samples.count=4", "selection.generate_tests.tests=3")
RECIPES = {
    "chess-ir-cg-ut": SMALL,
    "chess-ir-ss-cg": (),
    "chess-agents": SMALL,
    "chase": ("samples.count=3",),
    "mag": ("samples.count=3",),
    "msc": (),
    "auto": ("samples[4].count=2", "samples[5].count=2", "selection.generate_tests.tests=3"),
}
ONE_BY_ONE = {
    "chess-ir-cg-ut": ("samples.workers=1", "parallel.workers=1"),
    "chess-ir-ss-cg": ("samples.workers=1",),
    "chess-agents": ("samples.workers=1",),
    "chase": ("samples.workers=1", "parallel.workers=1"),
    "mag": ("samples.workers=1",),
    "msc": ("samples.workers=1", "parallel.workers=1"),
    "auto": ("samples.workers=1", "parallel.workers=1"),
}
CLOCKS = re.compile(r'"((kept_)?seconds|elapsed)": [0-9.e-]+')


def trace_of(path: Path) -> str:
    """The trace without clocks and ids, and without the options of the pools."""
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    for key in ("id", "time"):
        lines[0].pop(key)
    for line in lines:
        line.pop("times", None)
    lines[0]["recipe"].pop("overrides")
    return CLOCKS.sub("", "\n".join(json.dumps(line, sort_keys=True) for line in lines))


@pytest.mark.parametrize("recipe", list(RECIPES))
def test_two_runs_leave_the_same_trace(
    recipe: str, database_files: dict[str, Path], tmp_path: Path
) -> None:
    recording = tmp_path / "run.jsonl"

    def ask(models: Any, overrides: Sequence[str], home: str, **options: Any) -> str:
        with api.open(
            database_files["shop"],
            recipe=recipe,
            overrides=(*RECIPES[recipe], *overrides),
            models=ChainMap(models, embedded),
            home=tmp_path / home,
            environ={},
            **options,
        ) as session:
            answer = session.ask(QUESTION)
        assert answer.status == "answered"
        return trace_of(find_trace(tmp_path / home / "traces", answer.trace_id))

    embedded = {k: v for k, v in scripted_models("SELECT 1").items() if k != "llm"}
    embedded["embedder"] = ScriptedEmbedder()
    script = Script(otherwise=Responder(faulty=0.4, stubborn=0.6).scripted)
    with gate(script, recorder=Recorder(recording)) as (model, _):
        first = ask({"llm": model}, (), "recorded")
    repaired = "repair.revise" in first or "repair.refine" in first
    assert repaired == (recipe != "msc")  # which repairs nothing
    assert recipe != "auto" or "selection.evaluate_tests" in first  # its last tier
    replay = {"llm": LlmOptions(replay=recording)}
    traces = [
        ask({}, overrides, f"home{number}", **replay)
        for number, overrides in enumerate([(), (), ONE_BY_ONE[recipe]])
    ]
    assert traces[0] == traces[1] == traces[2]
    assert '"unrecorded"' not in traces[0]
