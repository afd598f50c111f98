"""The databases that a generator was trained on, as far as that is known."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

from sqlwright.errors import DatasetError
from sqlwright.evaluation.folder.whole_files import read_object

EMBEDDED = "embedded"
"""Name of the shipped embedded models as a generator."""


def embedded_databases() -> frozenset[str]:
    """The databases that the shipped embedded models were trained on: `fit` of Spider's training
    part, BIRD's training part and our own."""
    text = files(__package__).joinpath("embedded.json").read_text("utf-8")
    listed: dict[str, list[str]] = json.loads(text)
    return frozenset(name for part in listed.values() for name in part)


def trained_databases(run: Path) -> frozenset[str]:
    """The databases of the set that a run of ours was trained on: the run's folder has set.json, or
    names the set's folder in run.json. Raises DatasetError."""
    record = read_object(run / "run.json")
    named: Any = record.get("set")
    told = named.get("folder", named.get("path")) if isinstance(named, dict) else named
    places = [run / "set.json"]
    if isinstance(told, str):
        places.append(run / told / "set.json")
    about: dict[str, Any] = next((found for at in places if (found := read_object(at))), {})
    listed = about.get("databases")
    if not isinstance(listed, dict) or not isinstance(listed.get("train"), list):
        raise DatasetError(
            f"{run} doesn't tell the databases that it was trained on",
            hint="It takes the set.json of its set, in the folder or where run.json says.",
        )
    return frozenset(map(str, listed["train"]))
