"""What the papers' training sets are built from: used by `finetuning_sets.py`.

BIRD's training part as it is shared here has questions, schemas and descriptions, but no databases.
So each schema is written as a database of its own with a few made-up rows in each table: what gold
queries read is there, stored values are not BIRD's.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.large_schema import add_made, describe, read_sources
from benchmarks.new_database import new_database

from sqlwright.lab.datasets.example import Dataset
from sqlwright.lab.datasets.spider import load_split
from sqlwright.lab.evaluation.files import write_lines
from sqlwright.lab.finetuning.candidates.generators import embedded_databases
from sqlwright.lab.finetuning.candidates.lines import CandidateLine, Header, QuestionLine

ENDED = "train.json"


def bird_with_made_rows(data: Path, folder: Path, seed: int = 0) -> Path | None:
    """BIRD's training part as a folder in its layout; None where it isn't there. One that is
    written already is kept. Databases that are held back for measuring are left out."""
    text = data / "bird" / "train"
    if not (text / "train.json").is_file():
        return None
    if (folder / ENDED).exists():
        return folder
    sources = read_sources(text / "train_schemas_ddl.json")
    meanings = json.loads((text / "train_column_meaning.json").read_text("utf-8"))
    for name, tables in sources.items():
        place = folder / "train_databases" / name
        described = place / "database_description"
        described.mkdir(parents=True, exist_ok=True)
        path = place / f"{name}.sqlite"
        path.unlink(missing_ok=True)
        drawn = random.Random(f"{seed}/{name}")
        with new_database(path) as writer:
            for table in tables:
                add_made(writer, table, "", drawn)
                describe(table, "", meanings, described)
    rows = json.loads((text / "train.json").read_text("utf-8"))
    kept = [
        {"question_id": number, **row} for number, row in enumerate(rows) if row["db_id"] in sources
    ]
    write_lines(folder / ENDED, [json.dumps(kept, ensure_ascii=False)])
    return folder


def candidates_of_beams(
    data: Path, beams: Path, fold: str, out: Path, sources: Mapping[str, Dataset]
) -> Counter[str]:
    """Write the candidates of beams that `training.critic.data --within FOLD` made as a file that
    `finetune` reads; counts of questions written and of those left out, by reason.

    The parser of a fold was trained on the databases of the other folds of `fit` and on whatever
    else the shipped one was: that is what the header says. Executable candidates alone are in
    beams. `sources` are the data sets by the name that beams give them.
    """
    split = load_split(data)
    known = {
        (name, one.db_id, one.question): (dataset.name, one.id)
        for name, dataset in sources.items()
        for one in dataset.examples
    }
    model = f"parser-without-{fold.replace('/', '-of-')}"
    header = Header(
        recipe="local",
        model=model,
        fold=fold,
        folded=tuple(sorted(split.fit)),
        trained_on=tuple(sorted(embedded_databases() - split.fold(fold))),
        sources=tuple({"name": dataset.name} for dataset in sources.values()),
    )
    counted: Counter[str] = Counter()
    lines = [json.dumps(header.model_dump(mode="json"), ensure_ascii=False) + "\n"]
    for row in _beams(beams):
        found = known.get((row["kind"], row["database"], row["question"]))
        if not row["answerable"] or found is None:
            counted["of no data set here" if row["answerable"] else "unanswerable"] += 1
            continue
        name, number = found
        line = QuestionLine(
            question_id=number,
            db_id=row["database"],
            source=name,
            candidates=tuple(
                CandidateLine(sql=one["sql"], model=model) for one in row["candidates"]
            ),
        )
        lines.append(json.dumps(line.model_dump(mode="json"), ensure_ascii=False) + "\n")
        counted["written"] += 1
        counted["candidates"] += len(line.candidates)
        counted["with right and wrong ones"] += 0 < sum(row["right"]) < len(row["right"])
    write_lines(out, lines)
    return counted


def _beams(path: Path) -> Iterator[dict[str, Any]]:
    """The questions of a file of beams."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            if line.startswith('{"part"'):
                yield json.loads(line)
