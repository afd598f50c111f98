"""Spider and the sets that keep its fields (Syn, DK, Realistic, Archer).

Layout: a JSON list of questions (`question`, `query`, `db_id`) beside
`database/<db_id>/<db_id>.sqlite`. Spider-Syn's `SpiderSynQuestion` is taken as the question. A
variant that ships questions alone finds its databases in a folder `spider` beside its own.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sqlwright.errors import DatasetError
from sqlwright.lab.datasets.example import Dataset, Example
from sqlwright.lab.datasets.reading import (
    database_name,
    digests,
    find_database,
    first_present,
    question_rows,
    read_json,
    text_field,
)
from sqlwright.lab.datasets.selection import Selection

QUESTIONS = ("SpiderSynQuestion", "question")


@dataclass(frozen=True, slots=True)
class SpiderLayout:
    """A data set in Spider's layout, as a loader."""

    files: tuple[str, ...]
    """Question files by their paths in the folder; the first that is there is read."""
    databases: tuple[str, ...] = ("database", "databases", "../spider/database")

    def __call__(self, folder: Path, selection: Selection) -> Dataset:
        """Read the folder. The selection's `split` picks the databases that `split.json` in the
        folder lists under that name, or those of `fit`, `valid` or `calib`: our own division of
        what it lists under `train`. Without a `split.json` it picks the question file of that name.
        Raises DatasetError.
        """
        split, listed = selection.split, folder / "split.json"
        path = selection.questions or first_present(
            folder,
            self.files
            if split is None or listed.exists()
            else (f"{split}.json", f"{split}/dev.json"),
        )
        places = [folder / name for name in self.databases]
        examples = []
        for number, (where, row) in enumerate(question_rows(path)):
            db_id = database_name(row, ["db_id"], where)
            examples.append(
                Example(
                    id=f"{path.stem}-{number:05d}",
                    db_id=db_id,
                    question=text_field(row, QUESTIONS, where),
                    gold_sql=text_field(row, ["query", "SQL"], where),
                    database=find_database(places, db_id),
                    evidence=str(row.get("commonsense_knowledge") or ""),
                    tags=_tags(row),
                )
            )
        dataset = Dataset(path.stem, tuple(examples), files=digests(folder, [path]))
        if split is None or not listed.exists():
            return dataset
        return replace(
            dataset.only(_databases(listed, split), f"{path.stem}:{split}"),
            files=digests(folder, [path, listed]),
        )


SPIDER = SpiderLayout(("dev.json", "test.json", "train_spider.json", "train.json"))
TEST = SpiderLayout(("test_data/dev.json", "test.json"), ("test_database", "database"))
SYN = SpiderLayout(("dev_syn.json", "dev.json", "train.json"))
DK = SpiderLayout(("Spider-DK.json", "dev.json"))
REALISTIC = SpiderLayout(("spider-realistic.json", "dev.json"))
ARCHER = SpiderLayout(("archer_dev.json", "archer_train.json", "dev.json", "train.json"))


def load_spider(
    folder: Path, *, questions: Path | None = None, split: str | None = None
) -> Dataset:
    """Read a folder in Spider's layout, as `SpiderLayout` does. Raises DatasetError."""
    return SPIDER(folder, Selection(questions=questions, split=split))


def _tags(row: Mapping[str, Any]) -> dict[str, str]:
    """Archer's reasoning types: operators of arithmetic, C for commonsense, H for hypothetical."""
    kinds = str(row.get("reasoning_type") or "").split()
    if not kinds:
        return {}
    named = {"commonsense": "C", "hypothetical": "H"}
    tags = {name: "yes" if letter in kinds else "no" for name, letter in named.items()}
    return {"reasoning_type": " ".join(sorted(kinds)), **tags}


def _databases(path: Path, split: str) -> Iterable[str]:
    parts = read_json(path)
    if not isinstance(parts, dict) or not all(isinstance(part, list) for part in parts.values()):
        raise DatasetError(f"{path} doesn't list databases by split")
    known: dict[str, Iterable[str]] = parts
    if "train" in parts:
        division = divide({"dev": (), **parts})
        known = {"fit": division.fit, "valid": division.valid, "calib": division.calib, **parts}
    if split not in known:
        raise DatasetError(f"{path} has no {split!r}", hint=f"There are {', '.join(known)}.")
    return known[split]


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
    """Divide the databases listed under `train` by seed; those under `dev` stay apart.

    The division is by database: `fit` is trained on, `valid` chooses between checkpoints and
    settings, `calib` fits probabilities. Nothing trains on the development databases; they
    have been read many times, and what was read led to changes.
    """
    names = sorted(parts["train"])
    random.Random(SEED).shuffle(names)  # noqa: S311 - to be repeatable, not secret
    valid = frozenset(names[:VALID_COUNT])
    calib = frozenset(names[VALID_COUNT : VALID_COUNT + CALIB_COUNT])
    fit = frozenset(names[VALID_COUNT + CALIB_COUNT :])
    return Split(fit, valid, calib, frozenset(parts["dev"]))
