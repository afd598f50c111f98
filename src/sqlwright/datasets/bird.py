"""BIRD: `dev.json` (question_id, db_id, question, evidence, SQL, difficulty) beside
`dev_databases/<db_id>/<db_id>.sqlite`, or `questions.json` beside `databases/`."""

from __future__ import annotations

from pathlib import Path

from sqlwright.datasets.example import (
    Dataset,
    Example,
    first_present,
    question_rows,
    text_field,
)

FILES = ("dev.json", "train.json", "questions.json")
FOLDERS = ("dev_databases", "train_databases", "databases", "database")


def load_bird(folder: Path, *, questions: Path | None = None) -> Dataset:
    """Read a folder in BIRD's layout. Raises DatasetError."""
    path = questions or first_present(folder, FILES)
    databases = first_present(folder, FOLDERS)
    examples = []
    for number, (where, row) in enumerate(question_rows(path)):
        db_id = text_field(row, ["db_id"], where)
        inside = databases / db_id / f"{db_id}.sqlite"
        examples.append(
            Example(
                id=str(row.get("question_id", number)),
                db_id=db_id,
                question=text_field(row, ["question"], where),
                gold_sql=text_field(row, ["SQL", "query"], where),
                database=inside if inside.exists() else databases / f"{db_id}.sqlite",
                evidence=str(row.get("evidence") or ""),
                difficulty=str(row.get("difficulty") or ""),
            )
        )
    return Dataset(path.stem, tuple(examples), rule="bird")
