"""Spider and the sets that keep its fields (Syn, DK, Realistic, Archer).

Layout: a JSON list of questions (`question`, `query`, `db_id`) beside
`database/<db_id>/<db_id>.sqlite`. Spider-Syn's `SpiderSynQuestion` is taken as the question.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from sqlwright.datasets.example import (
    Dataset,
    Example,
    first_present,
    question_rows,
    read_json,
    text_field,
)
from sqlwright.datasets.split import divide
from sqlwright.errors import DatasetError

QUESTIONS = ("SpiderSynQuestion", "question")
FILES = ("dev.json", "test.json", "train_spider.json", "train.json")


def load_spider(
    folder: Path, *, questions: Path | None = None, split: str | None = None
) -> Dataset:
    """Read a folder in Spider's layout.

    `questions` names another question file over the same databases. `split` picks the databases
    that `split.json` in the folder lists under that name, or those of `fit`, `valid` or `calib`:
    our own division of what it lists under `train`. Raises DatasetError.
    """
    path = questions or first_present(folder, FILES)
    examples = []
    for number, (where, row) in enumerate(question_rows(path)):
        db_id = text_field(row, ["db_id"], where)
        examples.append(
            Example(
                id=f"{path.stem}-{number:05d}",
                db_id=db_id,
                question=text_field(row, QUESTIONS, where),
                gold_sql=text_field(row, ["query", "SQL"], where),
                database=folder / "database" / db_id / f"{db_id}.sqlite",
                evidence=str(row.get("commonsense_knowledge") or ""),
            )
        )
    dataset = Dataset(path.stem, tuple(examples))
    if split is None:
        return dataset
    return dataset.only(_databases(folder / "split.json", split), f"{path.stem}:{split}")


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
