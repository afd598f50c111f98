"""Small data sets in Spider's layout over the test databases, and sets built from them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlwright.lab.datasets.example import Dataset
from sqlwright.lab.datasets.registry import load_dataset
from sqlwright.lab.finetuning.building.build import BuildPlan, Progress, Source, build
from sqlwright.lab.finetuning.building.set_folder import SetFolder
from sqlwright.lab.finetuning.example import TrainingExample, read_examples

CASES = Path(__file__).parents[1] / "cases" / "finetuning"
QUESTIONS: Mapping[str, str] = {
    "Who lives in Germany?": "SELECT name FROM customers WHERE country = 'Germany'",
    "How many orders are open?": "SELECT count(*) FROM orders WHERE status = 'open';",
    "Which customers ordered a lamp?": (
        "SELECT T1.name FROM Customers AS T1 JOIN orders AS T2 ON T1.id = T2.customer_id "
        "JOIN lines AS T3 ON T3.order_id = T2.id WHERE T3.product = 'Lamp'"
    ),
}


def data_set(
    folder: Path,
    databases: Mapping[str, Path],
    questions: Mapping[str, str] = QUESTIONS,
    *,
    name: str = "",
) -> Dataset:
    """The same questions of each database, which is copied under its id."""
    folder.mkdir(parents=True)
    items = []
    for db_id, file in databases.items():
        place = folder / "database" / db_id
        place.mkdir(parents=True)
        if file.exists():
            (place / f"{db_id}.sqlite").write_bytes(file.read_bytes())
        items += [{"question": q, "query": sql, "db_id": db_id} for q, sql in questions.items()]
    (folder / "dev.json").write_text(json.dumps(items))
    loaded = load_dataset("spider", folder)
    return replace(loaded, name=name) if name else loaded


def changed(file: Path, path: Path, *statements: str) -> Path:
    """A copy of a database after some statements."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(file.read_bytes())
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()
    return path


def plan_of(
    role: str, datasets: Sequence[Dataset], out: Path, recipe: str = "tuned", **options: Any
) -> BuildPlan:
    """A plan over data sets; nothing is prepared nor held out unless it says so."""
    options.setdefault("share_held_out", 0.0)
    options.setdefault("prepare", False)
    return BuildPlan(
        role=role,
        datasets=[Source(f"spider:{one.name}", one) for one in datasets],
        recipe=str(CASES / f"{recipe}.yaml"),
        out=out,
        home=out.parent / "home",
        **options,
    )


def quietly(_done: int, _whole: int) -> None:
    """Progress that nobody follows."""


def made(plan: BuildPlan, progress: Progress = quietly) -> tuple[SetFolder, list[TrainingExample]]:
    """The set of a plan, and its examples to train on."""
    folder = build(plan, progress=progress)
    return folder, list(read_examples(folder.train))


def files_of(folder: Path) -> dict[str, str]:
    """The text of the files of a folder by their names."""
    return {one.name: one.read_text() for one in folder.iterdir() if one.suffix != ""}
