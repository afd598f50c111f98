"""LiveSQLBench over SQLite: `livesqlbench_data_sqlite.jsonl` (instance_id, selected_database,
query, sol_sql, external_knowledge, category, difficulty_tier) beside a folder for each database
with the file itself, `<db>_kb.jsonl` (knowledge by id) and `<db>_column_meaning_base.json`.

The public file comes without gold. Tasks that change the database aren't questions and are left
out.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from sqlwright.boundary.text import counted
from sqlwright.catalog.descriptions import DescribedColumn
from sqlwright.errors import DatasetError
from sqlwright.lab.datasets.describing import written_descriptions
from sqlwright.lab.datasets.example import Dataset, Example
from sqlwright.lab.datasets.reading import (
    database_name,
    digests,
    find_database,
    first_present,
    question_rows,
    read_json,
    text_field,
)
from sqlwright.lab.datasets.selection import Selection

FILES = ("livesqlbench_data_sqlite.jsonl", "livesqlbench_data.jsonl")
FOLDERS = (".", "database", "databases", "dev_databases")
WITHHELD = "without gold (sol_sql)"
CHANGING = "that would change the database or take several statements"


def load_livesqlbench(folder: Path, selection: Selection) -> Dataset:
    """Read the folder. Raises DatasetError, also where no question has gold."""
    path = selection.questions or first_present(folder, FILES)
    examples, without, files = [], Counter[str](), [path]
    known: dict[str, Mapping[str, str]] = {}
    for where, row in question_rows(path):
        db_id = database_name(row, ["selected_database", "db_id"], where)
        reason = _reason(row)
        if reason:
            without[reason] += 1
            continue
        if db_id not in known:
            known[db_id], read = _knowledge(folder, db_id)
            files += read
        examples.append(
            Example(
                id=text_field(row, ["instance_id"], where),
                db_id=db_id,
                question=text_field(row, ["query", "question"], where),
                gold_sql=_statements(row["sol_sql"])[0],
                database=_database(folder, db_id),
                evidence=_evidence(row.get("external_knowledge"), known[db_id]),
                difficulty=str(row.get("difficulty_tier") or ""),
                tags=_tags(row),
            )
        )
    if not examples and without[WITHHELD]:
        raise DatasetError(
            f"{path} has no gold: sol_sql is empty in all of {without[WITHHELD]:,}",
            hint="Its makers send it on request; put the whole file in the folder, or name it with "
            "--questions.",
        )
    return Dataset(
        path.stem,
        tuple(examples),
        rule="bird",
        files=digests(folder, files),
        descriptions=_descriptions(folder, known),
        left_out=tuple(
            f"{counted(count, 'task')} {why} left out" for why, count in without.items()
        ),
    )


def _reason(row: Mapping[str, Any]) -> str:
    """The reason why a task isn't asked; empty where it is."""
    if str(row.get("category") or "Query").casefold() != "query" or row.get("preprocess_sql"):
        return CHANGING
    statements = _statements(row.get("sol_sql"))
    return "" if len(statements) == 1 else CHANGING if statements else WITHHELD


def _statements(given: Any) -> list[str]:
    listed = given if isinstance(given, list) else [given]
    return [one.strip() for one in listed if isinstance(one, str) and one.strip()]


def _tags(row: Mapping[str, Any]) -> dict[str, str]:
    tags = {"category": str(row.get("category") or "Query")}
    if isinstance(row.get("high_level"), bool):
        tags["high_level"] = "yes" if row["high_level"] else "no"
    return tags


def _place(folder: Path, db_id: str) -> Path | None:
    """The folder of one database."""
    places = (folder / name / db_id for name in FOLDERS)
    return next((place for place in places if place.is_dir()), None)


def _database(folder: Path, db_id: str) -> Path:
    places = [folder / name for name in FOLDERS]
    found = find_database(places, db_id)
    template = next(
        (p for place in places if (p := place / db_id / f"{db_id}_template.sqlite").exists()), None
    )
    return found if found.exists() or template is None else template


def _knowledge(folder: Path, db_id: str) -> tuple[dict[str, str], list[Path]]:
    """The knowledge about a database, a text by id, and the file that it was read from."""
    place = _place(folder, db_id)
    path = None if place is None else place / f"{db_id}_kb.jsonl"
    if path is None or not path.exists():
        return {}, []
    found = {}
    for _, row in question_rows(path):
        told = str(row.get("definition") or row.get("description") or "")
        found[str(row.get("id"))] = f"{row.get('knowledge') or ''}: {told}".strip(": ")
    return found, [path]


def _evidence(ids: Any, known: Mapping[str, str]) -> str:
    listed = ids if isinstance(ids, list) else []
    return "\n".join(known[str(one)] for one in listed if str(one) in known)


def _descriptions(folder: Path, db_ids: Iterable[str]) -> dict[str, Path]:
    """Folders of description files, where there are meanings of columns."""
    found = {}
    for db_id in db_ids:
        place = _place(folder, db_id)
        path = None if place is None else place / f"{db_id}_column_meaning_base.json"
        if path is None or not path.exists():
            continue
        tables: dict[str, list[DescribedColumn]] = {}
        meanings = read_json(path)
        for key, meaning in meanings.items() if isinstance(meanings, Mapping) else ():
            _, table, column = ("||" + key).rsplit("|", 2)
            tables.setdefault(table, []).append(_described(column, meaning))
        if tables:
            found[db_id] = written_descriptions(tables)
    return found


def _described(column: str, meaning: Any) -> DescribedColumn:
    """A column's meaning; of one that holds JSON its fields' meanings, too."""
    if not isinstance(meaning, Mapping):
        return DescribedColumn(column, "", str(meaning))
    fields = json.dumps(meaning.get("fields_meaning") or {}, ensure_ascii=False)
    told = str(meaning.get("column_meaning") or "")
    return DescribedColumn(column, "", told, "" if fields == "{}" else f"JSON fields: {fields}")
