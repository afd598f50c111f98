"""A step that ends its process, or doesn't end itself, where the question says so."""

from __future__ import annotations

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from sqlwright.protocols import Context, Step
from sqlwright.types import Candidate, State
from tests.evaluation.sets import GERMAN, SWEDISH

RECIPE = """
name: ending
steps:
  - tests.evaluation.ending:Ending: {seconds: SECONDS}
  - repair.execution_guided
  - selection.first_valid
"""


@dataclass(frozen=True)
class Ending(Step):
    """Answers about Germans and Swedes. "ends" kills the process, "ends once: FILE" only while the
    file isn't there, "raises" is a mistake in a step, "hangs" goes on without an end."""

    seconds: float = 0.0

    reads = frozenset({"question"})
    writes = frozenset({"candidates"})

    def __call__(self, state: State, context: Context) -> State:
        text = state.question.text
        time.sleep(self.seconds)
        before, _, mark = text.partition("ends once: ")
        if mark and not Path(mark).exists():
            Path(mark).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        if "ends" in before and not mark:
            os.kill(os.getpid(), signal.SIGKILL)
        if "raises" in text:
            raise RuntimeError("a mistake in a step")
        while "hangs" in text:
            time.sleep(1)
        sql = GERMAN if "German" in text else SWEDISH
        return state.evolve(candidates=(Candidate(sql, "ending"),))


def ending_recipe(folder: Path, seconds: float = 0.0) -> str:
    """The path of a recipe of that step."""
    path = folder / "ending.yaml"
    path.write_text(RECIPE.replace("SECONDS", str(seconds)))
    return str(path)
