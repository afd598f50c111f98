"""KaggleDBQA: `examples/<db>.json` (db_id, query, question) beside `databases/<db>/<db>.sqlite`,
and `KaggleDBQA_tables.json` with what is known of tables and columns.

A database's questions come as a whole and divided into `<db>_test.json`, which are those to measure
on, and `<db>_fewshot.json`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlwright.catalog.descriptions import DescribedColumn
from sqlwright.errors import DatasetError
from sqlwright.lab.datasets.describing import Described, written_descriptions
from sqlwright.lab.datasets.example import Dataset, Example
from sqlwright.lab.datasets.reading import (
    database_name,
    digests,
    find_database,
    question_rows,
    read_json,
    text_field,
)
from sqlwright.lab.datasets.selection import Selection

TABLES = "KaggleDBQA_tables.json"
PARTS = ("test", "fewshot")
"""The parts of each database's questions."""


def load_kaggledbqa(folder: Path, selection: Selection) -> Dataset:
    """Read the folder: the test questions, or those of the selection's `split` (`fewshot`, `all`).
    Raises DatasetError."""
    split = selection.split or "test"
    paths = [selection.questions] if selection.questions else _files(folder, split)
    places = [folder / name for name in ("databases", "database")]
    examples = []
    for path in paths:
        for number, (where, row) in enumerate(question_rows(path)):
            db_id = database_name(row, ["db_id"], where)
            examples.append(
                Example(
                    id=f"{path.stem}-{number:05d}",
                    db_id=db_id,
                    question=text_field(row, ["question"], where),
                    gold_sql=text_field(row, ["query"], where),
                    database=find_database(places, db_id),
                )
            )
    tables = folder / TABLES
    described = described_databases(tables) if tables.exists() else {}
    asked = {example.db_id for example in examples}
    return Dataset(
        f"kaggledbqa:{split}",
        tuple(examples),
        files=digests(folder, [*paths, *([tables] if tables.exists() else [])]),
        descriptions={
            db_id: written_descriptions(columns)
            for db_id, columns in described.items()
            if db_id in asked
        },
    )


def _files(folder: Path, split: str) -> list[Path]:
    """The question files of a part; undivided ones where there are no others."""
    if split not in (*PARTS, "all"):
        raise DatasetError(f"{folder} has no {split!r}", hint=f"There are {', '.join(PARTS)}, all.")
    found = sorted((folder / "examples").glob("*.json"))
    of_part = [path for path in found if path.stem.endswith(f"_{split}")]
    parts = tuple(f"_{part}" for part in PARTS)
    whole = [path for path in found if not path.stem.endswith(parts)]
    if taken := of_part or whole:
        return taken
    raise DatasetError(
        f"{folder / 'examples'} has no questions",
        hint="Point at the folder that holds the benchmark's files.",
    )


def described_databases(path: Path) -> dict[str, Described]:
    """The descriptions of each database's columns. Raises DatasetError."""
    listed = read_json(path)
    if not isinstance(listed, list) or not all(isinstance(one, Mapping) for one in listed):
        raise DatasetError(f"{path} isn't a list of databases")
    return {
        str(one["db_id"]): tables
        for one in listed
        if "db_id" in one and (tables := _described_tables(one))
    }


def _described_tables(database: Mapping[str, Any]) -> dict[str, list[DescribedColumn]]:
    names = database.get("table_names_original") or []
    columns = database.get("column_names_original") or []
    texts = _aligned(database.get("column_descriptions"), columns)
    values = _aligned(database.get("value_enums"), columns)
    tables: dict[str, list[DescribedColumn]] = {}
    for (number, column), text, stored in zip(columns, texts, values, strict=True):
        if 0 <= number < len(names) and (text or stored):
            tables.setdefault(str(names[number]), []).append(
                DescribedColumn(str(column), "", text, stored)
            )
    return tables


def _aligned(given: Any, columns: Sequence[Any]) -> list[str]:
    """A text for each column. The list may lack one for `*`, which stands before all columns."""
    texts = [_text(one) for one in given] if isinstance(given, list) else []
    lacking = len(columns) - len(texts)
    return ["", *texts] if lacking == 1 else texts if not lacking else [""] * len(columns)


def _text(given: Any) -> str:
    """A description as one text; values with their meanings come as a mapping."""
    if isinstance(given, Mapping):
        return "; ".join(f"{value}: {meaning}" for value, meaning in given.items())
    if isinstance(given, list):  # the table's number stands before it
        return _text(given[-1]) if given else ""
    return str(given or "").strip()
