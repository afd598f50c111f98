"""Spider and the sets that keep its fields (Syn, DK, Realistic, Archer).

Layout: a JSON list of questions (`question`, `query`, `db_id`) beside
`database/<db_id>/<db_id>.sqlite`. Spider-Syn's `SpiderSynQuestion` is taken as the question.
"""

from __future__ import annotations

from pathlib import Path

from sqlwright.datasets.example import (
    Dataset,
    Example,
    first_present,
    question_rows,
    read_json,
    text_field,
)
from sqlwright.errors import DatasetError

QUESTIONS = ("SpiderSynQuestion", "question")
FILES = ("dev.json", "test.json", "train_spider.json", "train.json")


def load_spider(
    folder: Path, *, questions: Path | None = None, split: str | None = None
) -> Dataset:
    """Read a folder in Spider's layout.

    `questions` names another question file over the same databases. `split` picks the databases
    that `split.json` in the folder lists under that name. Raises DatasetError.
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
    splits = read_json(folder / "split.json")
    if split not in splits:
        raise DatasetError(f"{folder / 'split.json'} has no {split!r}; it has {', '.join(splits)}")
    return dataset.only(splits[split], f"{path.stem}:{split}")
