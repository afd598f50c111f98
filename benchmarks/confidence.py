"""How sure answers of `local` are shown, by families of questions left out of fitting.

    python -m benchmarks.confidence [TABLE] [--analysts QUESTIONS DATA]

TABLE is what `training.embedded.confidence.fit --record` wrote, by default the one that the tests
hold: for each family the calibration error, AUROC and how many are right of those shown at 80 % or
more, by the critic's own probability and by a calibration fitted without the family; intervals by
drawing databases or templates anew. With `--analysts` the questions of `benchmarks.analysts` are
asked, too, with the calibration that ships: nothing was fitted to them.
"""

from __future__ import annotations

import argparse
import json
from itertools import groupby
from pathlib import Path

import numpy as np
from benchmarks.analysts import asked
from benchmarks.refusal import SAMPLES
from training.embedded.confidence.fit import left_out, table
from training.embedded.confidence.measures import EMBEDDED
from training.embedded.confidence.recorded import read_recorded

from sqlwright.confidence.figures import auroc, calibration_error, with_interval

TABLE = Path(__file__).parent.parent / "tests" / "cases" / "confidence" / "answers.csv"
SURE = 0.8


def analysts(questions: Path, data: Path) -> str:
    """The figures of questions that nothing was fitted to."""
    listed = sorted(json.loads(questions.read_text("utf-8")), key=lambda one: one["db"])
    answers = [
        answer
        for name, group in groupby(listed, lambda one: one["db"])
        for answer in asked(data / SAMPLES[name], list(group), prepared=True)
    ]
    shown = [one for one in answers if one["status"] == "answered"]
    sure = np.array([one["confidence"] for one in shown])
    good = np.array([float(one["right"]) for one in shown])
    high = sure >= SURE
    return (
        f"analysts: {len(shown)} answered, {int(good.sum())} right; calibration error "
        f"{with_interval(calibration_error, sure, good)}, AUROC {auroc(sure, good):.3f}, "
        f"shown at 80 %: {int(good[high].sum())} of {int(high.sum())} right"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", type=Path, nargs="?", default=TABLE)
    parser.add_argument("--analysts", type=Path, nargs=2, metavar=("QUESTIONS", "DATA"))
    options = parser.parse_args()
    print(table(left_out(read_recorded(options.table), EMBEDDED, None)))
    if options.analysts:
        print(analysts(*options.analysts))


if __name__ == "__main__":
    main()
