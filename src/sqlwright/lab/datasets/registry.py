"""The table of data sets by name. Only strings live here; a loader is imported when it is asked
for.

What is only another file of the same layout is a line here and an object in the layout's module.
Installed packages add data sets by the entry point group `sqlwright.lab.datasets`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import cast

from sqlwright.boundary.named import installed, loaded, unknown
from sqlwright.errors import DatasetError
from sqlwright.lab.datasets.example import Dataset
from sqlwright.lab.datasets.reading import database_digest, path_in
from sqlwright.lab.datasets.selection import Selection, chosen

DATASETS: Mapping[str, str] = {
    "spider": "sqlwright.lab.datasets.spider:SPIDER",
    "spider-test": "sqlwright.lab.datasets.spider:TEST",
    "spider-syn": "sqlwright.lab.datasets.spider:SYN",
    "spider-dk": "sqlwright.lab.datasets.spider:DK",
    "spider-realistic": "sqlwright.lab.datasets.spider:REALISTIC",
    "archer": "sqlwright.lab.datasets.spider:ARCHER",
    "bird": "sqlwright.lab.datasets.bird:BIRD",
    "bird-20251106": "sqlwright.lab.datasets.bird:REVISED",
    "bird-mini": "sqlwright.lab.datasets.bird:MINI",
    "kaggledbqa": "sqlwright.lab.datasets.kaggledbqa:load_kaggledbqa",
    "defog": "sqlwright.lab.datasets.defog:load_defog",
    "livesqlbench": "sqlwright.lab.datasets.livesqlbench:load_livesqlbench",
    "spider2-lite": "sqlwright.lab.datasets.spider2_lite:load_spider2_lite",
    "golden": "sqlwright.lab.evaluation.golden.questions:load_golden_file",
    "traces": "sqlwright.lab.evaluation.golden.judged:load_traces",
}

ENTRY_POINTS = "sqlwright.lab.datasets"

Loader = Callable[[Path, Selection], Dataset]
"""Reads a folder, or a golden set's file. It heeds `questions`, `split` and `database` of the
selection; the rest is done to what it returns. A database that isn't there is named all the same.
Raises DatasetError."""


def dataset_names() -> tuple[str, ...]:
    """Our own data sets in the order of the table, then those of installed packages by name."""
    return (*DATASETS, *sorted(set(installed(ENTRY_POINTS)) - set(DATASETS)))


def find_loader(name: str) -> Loader:
    """The loader of that name. Raises ConfigError."""
    path = DATASETS.get(name) or installed(ENTRY_POINTS).get(name)
    if path is None:
        raise unknown("data set", name, dataset_names())
    return cast("Loader", loaded(name, path))


def load_dataset(name: str, folder: Path, selection: Selection | None = None) -> Dataset:
    """The selected questions of a data set. Raises ConfigError and DatasetError."""
    loader, selection = find_loader(name), selection or Selection()
    if not folder.exists():
        raise DatasetError(
            f"{folder} isn't there", hint=f"Point at the folder that holds {name}'s files."
        )
    dataset = chosen(loader(folder, selection), selection)
    if not dataset.examples:
        raise DatasetError(
            f"{dataset.name} has no questions",
            hint=" ".join(dataset.left_out) or "Is it all there?",
        )
    whole = folder if folder.is_dir() else folder.parent
    dated = (re.search(r"(?<!\d)20\d{6}(?!\d)", name) for name in (*dataset.files, whole.name))
    release = next((found[0] for found in dated if found), "")
    files = {**dataset.files, **_databases(dataset, whole)}
    return replace(dataset, files=files, release=release)


def _databases(dataset: Dataset, folder: Path) -> dict[str, str]:
    """Size and digest of each database that is there, by its path in the folder."""
    found = {}
    for path in dict.fromkeys(example.database for example in dataset.examples):
        try:
            found[path_in(folder, path)] = database_digest(path)
        except OSError:
            continue  # the run says that it can't be opened
    return found
