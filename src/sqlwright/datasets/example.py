"""One question of a benchmark with its reference query. Never reaches inference."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from sqlwright.errors import DatasetError

Rule = Literal["spider", "bird"]
"""The published rule by which a result is right."""


@dataclass(frozen=True, slots=True)
class Example:
    """A question, the database it is asked of, and the gold SQL."""

    id: str
    db_id: str
    question: str
    gold_sql: str
    database: Path
    evidence: str = ""
    difficulty: str = ""


@dataclass(frozen=True, slots=True)
class Dataset:
    """A named list of examples, and the description folders of their databases."""

    name: str
    examples: tuple[Example, ...]
    rule: Rule = "spider"
    """The rule that its figures go by."""

    @property
    def db_ids(self) -> tuple[str, ...]:
        """The databases, in the order in which they are first asked."""
        return tuple(dict.fromkeys(example.db_id for example in self.examples))

    def only(self, db_ids: Iterable[str], name: str) -> Dataset:
        """The examples over some databases."""
        kept = set(db_ids)
        return Dataset(name, tuple(e for e in self.examples if e.db_id in kept), self.rule)


def read_json(path: Path) -> Any:
    """A JSON file's content. Raises DatasetError when it is missing or isn't JSON."""
    try:
        return json.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise DatasetError(
            f"{path} is missing", hint="Point at the folder that holds the benchmark's files."
        ) from None
    except (OSError, ValueError) as error:
        raise DatasetError(f"{path} can't be read as JSON: {error}") from None


def question_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The records of a question file, each with its position for messages. Raises DatasetError."""
    rows = read_json(path)
    if not isinstance(rows, list):
        raise DatasetError(f"{path} isn't a list of questions")
    for number, row in enumerate(rows):
        where = f"{path}, question {number}"
        if not isinstance(row, dict):
            raise DatasetError(f"{where} isn't an object")
        yield where, row


def first_present(folder: Path, names: Iterable[str]) -> Path:
    """The first of `names` that exists in `folder`. Raises DatasetError naming all of them."""
    tried = list(names)
    for name in tried:
        if (folder / name).exists():
            return folder / name
    raise DatasetError(
        f"{folder} has none of {', '.join(tried)}",
        hint="Point at the folder that holds the benchmark's files.",
    )


def text_field(row: dict[str, Any], names: Iterable[str], where: str) -> str:
    """The first of several possible fields of a record. Raises DatasetError naming them."""
    tried = list(names)
    for name in tried:
        if isinstance(row.get(name), str):
            return str(row[name])
    raise DatasetError(f"{where} has no {' or '.join(tried)}")
