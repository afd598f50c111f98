"""A sampling in a process of its own, which kills itself behind some questions.

python -m tests.finetuning.sampling_child DATABASE OUT HOME QUESTIONS_UNTIL_THE_KILL
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from sqlwright import api
from sqlwright.lab.datasets.example import Dataset, Example
from sqlwright.lab.finetuning.candidates.sampling import SamplingPlan, SamplingReport, sample
from sqlwright.recipes.loading import load_recipe
from sqlwright.session import Session
from tests.scripted import scripted_models

WRITTEN = ("SELECT count(*) FROM customers", "SELECT count(*) FROM orders")
COUNT = 12


def questions(database: Path) -> Dataset:
    examples = [
        Example(f"q{n}", "shop", f"How many customers are there after {n}?", WRITTEN[0], database)
        for n in range(COUNT)
    ]
    return Dataset("many", tuple(examples))


def sampled(database: Path, out: Path, home: Path, kill_after: int = COUNT + 1) -> SamplingReport:
    def opened(example: Example) -> Session:
        return api.open(example.database, models=scripted_models(*WRITTEN), home=home, record=False)

    def progress(done: int, _of: int) -> None:
        if done >= kill_after:
            with out.open("ab") as file:  # a kill may come in the middle of a line
                file.write(b'{"question_id": "q')
            os.kill(os.getpid(), signal.SIGKILL)

    plan = SamplingPlan(questions(database), load_recipe("local"), "", out)
    return sample(plan, opened, progress=progress)


if __name__ == "__main__":
    sampled(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]))
