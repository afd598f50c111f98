"""Answered questions as a small table without their words, to judge a calibration by quickly."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from training.embedded.confidence.measures import EMBEDDED

from sqlwright.confidence.fitting import Sample
from sqlwright.confidence.wording import Wording

DIGITS = 4
FIRST = ("family", "cluster", "weight", "right")


def write_recorded(samples: Sequence[Sample], wording: Wording, path: Path) -> None:
    """One line for each answer: its family, what it shares with others, and its measures."""
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow([*FIRST, *EMBEDDED])
        for one in samples:
            told = {**one.measures, **wording.measures(one.question)}
            numbers = [f"{told.get(name, 0.0):.{DIGITS}g}" for name in EMBEDDED]
            rows.writerow([one.family, one.cluster, one.weight, int(one.right), *numbers])


def read_recorded(path: Path) -> list[Sample]:
    """The answers of such a table; their measures have those of the wording in them."""
    with path.open(encoding="utf-8", newline="") as file:
        return [
            Sample(
                {name: float(row[name]) for name in row if name not in FIRST},
                row["right"] == "1",
                row["family"],
                row["cluster"],
                weight=float(row["weight"]),
            )
            for row in csv.DictReader(file)
        ]
