"""Spider 2.0-lite: `spider2-lite.jsonl` (instance_id, db, question, external_knowledge), documents
by name, and gold as results in CSV (`<id>.csv`, or several, `<id>_a.csv` and so on) or as SQL.

Only its questions over SQLite are taken, `local...`; the others need accounts with vendors of
databases. `spider2lite_eval.jsonl` says which columns of a result count and whether order does.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlwright.boundary.text import counted
from sqlwright.errors import DatasetError
from sqlwright.lab.datasets.example import Dataset, Example, Expected
from sqlwright.lab.datasets.reading import (
    database_name,
    digests,
    find_database,
    first_present,
    path_in,
    question_rows,
    read_text,
    text_field,
)
from sqlwright.lab.datasets.selection import Selection
from sqlwright.types import Cell

FILES = ("spider2-lite.jsonl", "spider2-lite/spider2-lite.jsonl")
DOCUMENTS = ("resource/documents", "documents")
DATABASES = (
    "resource/databases/spider2-localdb",
    "resource/databases/sqlite",
    "spider2-localdb",
    "databases",
)
GOLD = ("evaluation_suite/gold", "gold", "../evaluation_suite/gold")
LOCAL = "local"
"""Beginning of the ids of questions over SQLite."""
ELSEWHERE = {"bq": "BigQuery", "ga": "BigQuery", "sf": "Snowflake"}

_NUMBER = re.compile(r"[+-]?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|[+-]?\.\d+")


def load_spider2_lite(folder: Path, selection: Selection) -> Dataset:
    """Read the folder. Raises DatasetError, also where no question has gold."""
    path = selection.questions or first_present(folder, FILES)
    whole = path.parent if selection.questions is None else folder
    gold = next((whole / name for name in GOLD if (whole / name).is_dir()), whole / GOLD[0])
    rules, files = _rules(gold), [path]
    examples, without = [], Counter[str]()
    for where, row in question_rows(path):
        name = text_field(row, ["instance_id"], where)
        if not name.startswith(LOCAL):
            engine = next((ELSEWHERE[key] for key in ELSEWHERE if name.startswith(key)), "others")
            without[f"over {engine}"] += 1
            continue
        results = sorted((gold / "exec_result").glob(f"{_plain(name, where)}*.csv"))
        results = [one for one in results if re.fullmatch(rf"{re.escape(name)}(_\w)?", one.stem)]
        query = gold / "sql" / f"{name}.sql"
        if not results and not query.exists():
            without["without gold"] += 1
            continue
        files += [*results, *([query] if query.exists() else [])]
        expected = _expected(results, rules.get(name, {}))
        db_id = database_name(row, ["db", "db_id"], where)
        examples.append(
            Example(
                id=name,
                db_id=db_id,
                question=text_field(row, ["question", "instruction"], where),
                gold_sql=read_text(query).strip().rstrip(";") if query.exists() else "",
                database=find_database([whole / place for place in DATABASES], db_id),
                evidence=_document(row.get("external_knowledge"), whole, where),
                expected=expected[0] if expected else None,
                also_expected=expected[1:],
            )
        )
    if not examples and without["without gold"]:
        raise DatasetError(
            f"{gold} has no gold for {counted(without['without gold'], 'question')} over SQLite",
            hint="It takes the results (exec_result/*.csv) or queries (sql/*.sql) there.",
        )
    return Dataset(
        path.stem,
        tuple(examples),
        rule="spider2",
        files=digests(folder, files),
        left_out=tuple(
            f"{counted(count, 'question')} {why} left out" for why, count in without.items()
        ),
    )


def _plain(name: str, where: str) -> str:
    """An id that can be part of a file's name and of nothing else."""
    if re.fullmatch(r"\w+", name):
        return name
    raise DatasetError(f"{where} has the id {name!r}, which is no plain name")


def _document(name: Any, whole: Path, where: str) -> str:
    """The text of the document that a question names. Raises DatasetError where it isn't there."""
    if not isinstance(name, str) or not name.strip():
        return ""
    places = [whole / place for place in DOCUMENTS if (whole / place).is_dir()]
    for place in places:
        path = place / name
        if path.is_file() and not path_in(place.resolve(), path.resolve()).startswith(".."):
            return read_text(path).strip()
    raise DatasetError(f"{where} names the document {name!r}, which isn't in {DOCUMENTS[0]}")


def _rules(gold: Path) -> dict[str, dict[str, Any]]:
    """The settings by which each question's result is compared, by its id."""
    path = gold / "spider2lite_eval.jsonl"
    if not path.exists():
        return {}
    return {str(row.get("instance_id")): row for _, row in question_rows(path)}


def _expected(paths: Sequence[Path], rule: Mapping[str, Any]) -> tuple[Expected, ...]:
    """The results that are right, each with the columns that count."""
    listed = rule.get("condition_cols") or []
    nested = bool(listed) and all(isinstance(one, list) for one in listed)
    ordered = rule.get("ignore_order") is False
    found = []
    for number, path in enumerate(paths):
        counted = (listed[number] if number < len(listed) else []) if nested else listed
        found.append(_result(path, counted, ordered=ordered))
    return tuple(found)


def _result(path: Path, counted: Sequence[Any], *, ordered: bool) -> Expected:
    """A stored result with those of its columns that count, all of them where none is named."""
    header, *rows = list(csv.reader(io.StringIO(read_text(path), newline=""))) or [[]]
    rows = [row for row in rows if row]
    if any(len(row) != len(header) for row in rows):
        raise DatasetError(f"{path} has rows that aren't as wide as its header")
    wanted = [place for place in counted if isinstance(place, int) and 0 <= place < len(header)]
    places = wanted or range(len(header))
    columns = [_typed([row[place] for row in rows]) for place in places]
    return Expected(
        tuple(header[place] for place in places),
        tuple(zip(*columns, strict=True)) if rows else (),
        ordered=ordered,
    )


def _typed(texts: Sequence[str]) -> list[Cell]:
    """A column's values: numbers where all are, and empty cells as NULL."""
    given = [text for text in texts if text]
    read: Callable[[str], Cell] = str
    if given and all(map(_NUMBER.fullmatch, given)):
        read = int if all(map(_is_whole, given)) else float
    return [read(text) if text else None for text in texts]


def _is_whole(text: str) -> bool:
    return text.lstrip("+-").isdigit()
