"""A user's own golden set: questions, each with a query that answers it.

A YAML or JSON list, JSON a line (`.jsonl`), or CSV with a header. Fields: `question`, `sql` (or
`query`, `gold`), `evidence` where there is any.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from sqlwright.boundary.yaml_text import read_yaml
from sqlwright.confidence.refitting import GoldenQuestion
from sqlwright.datasets.example import text_field
from sqlwright.errors import ConfigError, DatasetError

QUERIES = ("sql", "SQL", "query", "gold")
FORMATS = ".yaml, .yml, .json, .jsonl and .csv"


def load_golden(path: Path) -> tuple[GoldenQuestion, ...]:
    """The questions of a golden set. Raises DatasetError."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise DatasetError(f"{path} is missing", hint="Name a file with your questions.") from None
    except (OSError, ValueError) as error:
        raise DatasetError(f"{path} can't be read: {error}") from None
    found = []
    for number, row in enumerate(_rows(text, path), 1):
        where = f"{path}, question {number}"
        if not isinstance(row, Mapping):
            raise DatasetError(f"{where} isn't an object", hint="It takes question and sql.")
        given = {str(key).strip(): value for key, value in row.items()}
        question = text_field(given, ["question"], where).strip()
        sql = text_field(given, QUERIES, where).strip()
        if not question or not sql:
            raise DatasetError(f"{where} has an empty question or query")
        found.append(GoldenQuestion(question, sql, str(given.get("evidence") or "")))
    return tuple(found)


def _rows(text: str, path: Path) -> Iterable[Any]:
    kind = path.suffix.lower()
    try:
        if kind == ".csv":
            return list(csv.DictReader(io.StringIO(text), strict=True))
        if kind == ".jsonl":
            return [json.loads(line) for line in text.splitlines() if line.strip()]
        if kind == ".json":
            return _listed(json.loads(text), path)
        if kind in {".yaml", ".yml"}:
            return _listed(read_yaml(text, str(path)), path)
    except ConfigError as error:
        raise DatasetError(str(error)) from None
    except (ValueError, csv.Error) as error:
        raise DatasetError(f"{path} can't be read: {error}") from None
    raise DatasetError(f"{path} has none of the endings {FORMATS}")


def _listed(data: Any, path: Path) -> list[Any]:
    if not isinstance(data, list):
        raise DatasetError(f"{path} isn't a list of questions", hint="It takes question and sql.")
    return data
