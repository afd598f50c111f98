"""Division of Spider's databases into `fit`, `valid`, `calib` and development.

The division is by database: `fit` is trained on, `valid` chooses between checkpoints and settings,
`calib` fits probabilities. Nothing trains on the development databases; they have been read many
times, and what was read led to changes.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from sqlwright.lab.datasets.reading import read_json

SEED = 20261120
"""Chosen once, by date; every number about Spider depends on it."""
VALID_COUNT = 12
"""Databases in `valid`."""
CALIB_COUNT = 8
"""Databases in `calib`."""

HELD_BACK = frozenset({"retail_world", "movie_3", "bike_share_1"})
"""BIRD training databases whose stand-ins are used for measuring."""


@dataclass(frozen=True)
class Split:
    """Database ids by what they may be used for. The four sets are disjoint."""

    fit: frozenset[str]
    valid: frozenset[str]
    calib: frozenset[str]
    dev: frozenset[str]

    def check_trainable(self, database: str) -> None:
        """Raise ValueError when nothing may be learnt from this database."""
        if database in self.dev or database in HELD_BACK or database == "demo":
            raise ValueError(f"{database!r} is held back for measuring: never train on it")

    def fold(self, text: str) -> frozenset[str]:
        """The databases of one fold of `fit`: "0/2" is the first of two. Raises ValueError."""
        number, _, count = text.partition("/")
        if not (number.isdecimal() and count.isdecimal() and int(number) < int(count)):
            raise ValueError(f"{text!r} isn't a fold such as 0/2")
        return frozenset(sorted(self.fit)[int(number) :: int(count)])

    def without(self, fold: str) -> Split:
        """The same with a fold taken out of `fit`."""
        return replace(self, fit=self.fit - self.fold(fold))

    def within(self, fold: str) -> Split:
        """The same with only a fold left of `fit`."""
        return replace(self, fit=self.fold(fold))


def load_split(folder: Path) -> Split:
    """Read `spider/split.json` under the data folder and divide it. Raises DatasetError."""
    return divide(read_json(folder / "spider" / "split.json"))


def divide(parts: Mapping[str, Iterable[str]]) -> Split:
    """Divide the databases listed under `train` by seed; those under `dev` stay apart."""
    names = sorted(parts["train"])
    random.Random(SEED).shuffle(names)  # noqa: S311 - to be repeatable, not secret
    valid = frozenset(names[:VALID_COUNT])
    calib = frozenset(names[VALID_COUNT : VALID_COUNT + CALIB_COUNT])
    fit = frozenset(names[VALID_COUNT + CALIB_COUNT :])
    return Split(fit, valid, calib, frozenset(parts["dev"]))
