"""Questions of our own with their SQL, and the databases they are asked of, from the folder that
`python -m training.export` writes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from training.embedded.pairs import Pair, TrainingDatabase, load_file
from training.embedded.split import Split

from sqlwright.api import open as open_database
from sqlwright.schema import Schema
from sqlwright.types import Question

Part = Literal["fit", "probabilities", "set_apart"]


def load_own_pairs(folder: Path, part: Part, split: Split | None = None) -> list[Pair]:
    """The pairs of one part. With a split, those over Spider's databases are left out unless the
    database is in the split's `fit`: so a fold trains on none of another."""
    rows = [row for row in _rows(folder / "pairs.jsonl") if row["part"] == part]
    return [
        Pair(Question(row["question"], row["evidence"]), row["sql"], row["database"], "own")
        for row in rows
        if split is None or not row["spider"] or row["database"] in split.fit
    ]


def own_fold(folder: Path, fold: str) -> frozenset[str]:
    """Of the databases of our own making that are trained on, those of one fold, such as 0/2;
    the folds of Spider's are the split's own."""
    number, _, count = fold.partition("/")
    rows = _rows(folder / "pairs.jsonl")
    names = {row["database"] for row in rows if row["part"] == "fit" and not row["spider"]}
    return frozenset(sorted(names)[int(number) :: int(count)])


def load_own_databases(folder: Path) -> dict[str, TrainingDatabase]:
    """The databases of our own making, with views and the joins that a user's database would be
    known by; Spider's come from its own folder."""
    known = {}
    for path in sorted((folder / "databases").glob("*.sqlite")):
        with open_database(path) as session:
            schema, catalog = session.workspace.schema, session.workspace.catalog
        stored = load_file(path.stem, path, Schema(path.stem, ()))
        known[path.stem] = replace(
            stored,
            schema=replace(schema, name=path.stem),
            formats={} if catalog is None else catalog.stored,
        )
    return known


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
