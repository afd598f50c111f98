"""One question of a benchmark with its reference query. Never reaches inference."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sqlwright.errors import DatasetError
from sqlwright.types import Cell


@dataclass(frozen=True, slots=True)
class Expected:
    """A result that is right, in place of a query."""

    columns: tuple[str, ...]
    """Names of the columns; empty where only rows are given."""
    rows: tuple[tuple[Cell, ...], ...]
    ordered: bool = False
    """True if the rows are to stand in this order."""


@dataclass(frozen=True, slots=True)
class Example:
    """A question, the database it is asked of, and the gold SQL."""

    id: str
    db_id: str
    question: str
    gold_sql: str
    """Empty where the question has an `expected` result alone."""
    database: Path
    evidence: str = ""
    difficulty: str = ""
    """By the data set itself; empty where it gives none."""
    also: tuple[str, ...] = ()
    """Further queries; an answer is right that agrees with any."""
    expected: Expected | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    """Further facts of the data set about the question, such as its category; strata and
    breakdowns go by them."""
    engine: str = "sqlite"

    @property
    def golds(self) -> tuple[str, ...]:
        """Every query that is right."""
        return (self.gold_sql, *self.also) if self.gold_sql else self.also


@dataclass(frozen=True, slots=True)
class Dataset:
    """A named list of examples, and the description folders of their databases."""

    name: str
    examples: tuple[Example, ...]
    rule: str = "spider"
    """Name of the rule that its figures go by, its headline."""
    files: Mapping[str, str] = field(default_factory=dict)
    """The files that questions were read from, by their paths in the folder, each with its
    SHA-256."""
    descriptions: Mapping[str, Path] = field(default_factory=dict)
    """Folders of description files by database."""

    @property
    def db_ids(self) -> tuple[str, ...]:
        """The databases, in the order in which they are first asked."""
        return tuple(dict.fromkeys(example.db_id for example in self.examples))

    def only(self, db_ids: Iterable[str], name: str) -> Dataset:
        """The examples over some databases."""
        kept = set(db_ids)
        return replace(self, name=name, examples=tuple(e for e in self.examples if e.db_id in kept))


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
