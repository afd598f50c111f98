"""BIRD: `dev.json` (question_id, db_id, question, evidence, SQL, difficulty) beside
`dev_databases/<db_id>/<db_id>.sqlite`, or `questions.json` beside `databases/`. Description files
lie in `database_description/` beside each database."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sqlwright.catalog.descriptions import find_descriptions
from sqlwright.lab.datasets.example import Dataset, Example
from sqlwright.lab.datasets.reading import (
    database_name,
    digests,
    find_database,
    first_present,
    question_rows,
    text_field,
)
from sqlwright.lab.datasets.selection import Selection

FOLDERS = ("dev_databases", "train_databases", "databases", "database")


@dataclass(frozen=True, slots=True)
class BirdLayout:
    """A data set in BIRD's layout, as a loader."""

    files: tuple[str, ...]
    """Question files by their paths in the folder; the first that is there is read."""

    def __call__(self, folder: Path, selection: Selection) -> Dataset:
        """Read the folder; the selection's `split` picks the question file of that name, such as
        `train` or a revision of `dev`. Raises DatasetError."""
        split = selection.split
        files = self.files if split is None else (f"{split}.json", f"{split}/{split}.json")
        path = selection.questions or first_present(folder, files)
        places = [near / name for near in (folder, path.parent) for name in FOLDERS]
        present = [place for place in places if place.is_dir()]
        examples = []
        for number, (where, row) in enumerate(question_rows(path)):
            db_id = database_name(row, ["db_id"], where)
            examples.append(
                Example(
                    id=str(row.get("question_id", number)),
                    db_id=db_id,
                    question=text_field(row, ["question"], where),
                    gold_sql=text_field(row, ["SQL", "query"], where),
                    database=find_database(present or places, db_id),
                    evidence=str(row.get("evidence") or ""),
                    difficulty=str(row.get("difficulty") or ""),
                )
            )
        found = {one.db_id: one.database for one in examples}
        described = {db_id: find_descriptions(database) for db_id, database in found.items()}
        return Dataset(
            path.stem,
            tuple(examples),
            rule="bird",
            files=digests(folder, [path]),
            descriptions={db_id: place for db_id, place in described.items() if place is not None},
        )


BIRD = BirdLayout(("dev.json", "dev/dev.json", "train.json", "questions.json"))
REVISED = BirdLayout(("dev_20251106.json", "dev_20251106/dev_20251106.json"))
MINI = BirdLayout(
    ("mini_dev_sqlite.json", "MINIDEV/mini_dev_sqlite.json", "llm/data/mini_dev_sqlite.json")
)


def load_bird(folder: Path, *, questions: Path | None = None) -> Dataset:
    """Read a folder in BIRD's layout, as `BirdLayout` does. Raises DatasetError."""
    return BIRD(folder, Selection(questions=questions))
