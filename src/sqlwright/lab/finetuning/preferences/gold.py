"""The data sets that a set of examples was made of, read again for their gold queries."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sqlwright.errors import DatasetError
from sqlwright.lab.datasets.example import Dataset
from sqlwright.lab.datasets.registry import load_dataset
from sqlwright.lab.datasets.selection import Selection
from sqlwright.lab.finetuning.building.set_folder import SourceRecord


def read_gold(sources: Sequence[SourceRecord]) -> dict[str, list[Dataset]]:
    """The data sets by the names that examples have as `source`. Raises DatasetError for one that
    isn't there any more or has changed, and ConfigError."""
    found: dict[str, list[Dataset]] = {}
    for source in sources:
        kind, _, folder = source.data.partition(":")
        questions = Path(source.questions) if source.questions else None
        dataset = load_dataset(kind, Path(folder), Selection(questions, source.split))
        changed = [
            path
            for path, digest in source.files.items()
            if dataset.files.get(path, digest) != digest
        ]
        if changed:
            raise DatasetError(
                f"{folder}: {changed[0]} isn't as it was when the set was built",
                hint="Build the set anew from the data as it is.",
            )
        found.setdefault(source.name, []).append(dataset)
    return found
