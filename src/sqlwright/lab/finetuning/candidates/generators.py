"""The databases that a generator was trained on, as far as that is known, and databases divided
into folds: what a generator is trained on, and what it writes candidates for.

A fold such as 0/2 is the first of two. The generator of a fold is trained on all other databases
and writes candidates for those of the fold. The rule is that of the embedded models' folds.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path
from typing import Any

from sqlwright.errors import ConfigError, DatasetError
from sqlwright.lab.datasets.spider import Split
from sqlwright.lab.evaluation.files import read_object

EMBEDDED = "embedded"
"""Name of the shipped embedded models as a generator."""


def embedded_databases() -> frozenset[str]:
    """The databases that the shipped embedded models were trained on: `fit` of Spider's training
    part, BIRD's training part and our own."""
    text = files(__package__).joinpath("embedded.json").read_text("utf-8")
    listed: dict[str, list[str]] = json.loads(text)
    return frozenset(name for part in listed.values() for name in part)


def trained_databases(run: Path) -> frozenset[str]:
    """The databases of the set that a run of ours was trained on, by the set's folder that run.json
    names, or by a set.json beside it. Raises DatasetError."""
    record = read_object(run / "run.json")
    folder, digests = record.get("set_folder"), record.get("set")
    places = [run / "set.json"]
    if isinstance(folder, str):
        places.append(run / folder / "set.json")
    about: dict[str, Any] = next((found for at in places if (found := read_object(at))), {})
    listed = about.get("databases")
    if not isinstance(listed, dict) or not isinstance(listed.get("train"), list):
        raise DatasetError(
            f"{run} doesn't tell the databases that it was trained on",
            hint="It takes the set.json of its set, in the folder or where run.json says.",
        )
    if digests is not None and about.get("digests") != digests:
        raise DatasetError(
            f"{run} was trained on another set than the one that is in {folder} now",
            hint="Put the set.json of its set into the run's folder.",
        )
    return frozenset(map(str, listed["train"]))


def fold_of(databases: Iterable[str], fold: str) -> frozenset[str]:
    """The databases of one fold. Raises ConfigError."""
    none = frozenset[str]()
    try:
        return Split(frozenset(databases), none, none, none).fold(fold)
    except ValueError as error:
        raise ConfigError(str(error), hint="Name the fold and their number, as 0/2.") from None


def outside(databases: Iterable[str], fold: str) -> frozenset[str]:
    """The databases that the generator of a fold is trained on: those of all other folds. Raises
    ConfigError."""
    listed = frozenset(databases)
    return listed - fold_of(listed, fold)
