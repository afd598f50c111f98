"""Leakage: databases and questions that a model is both trained on and measured on.

A database has marks by which it is recognised though its file has moved, its name or its rows are
others. Whole databases are set apart, with every copy of theirs, drawn by a seed.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sqlwright.boundary.text import counted
from sqlwright.database import open_database
from sqlwright.errors import DatabaseUnavailable, DatasetError
from sqlwright.lab.datasets.example import Dataset
from sqlwright.lab.datasets.reading import database_digest
from sqlwright.schema import Schema, fold_name


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The marks of one database; those that can't be had are empty."""

    db_id: str
    content: str = ""
    """Size and digest of its file."""
    signature: str = ""
    """Digest of the names of its tables and columns."""
    tables: str = ""
    """Digest of the names of its tables alone."""

    @property
    def folded(self) -> str:
        """The id, whatever its case."""
        return self.db_id.casefold()

    @property
    def marks(self) -> frozenset[tuple[str, str]]:
        """The marks that are known, each with its kind: one in common makes two databases one."""
        marks = {("id", self.folded), ("file", self.content), ("schema", self.signature)}
        return frozenset(mark for mark in marks if mark[1])


def fingerprints(dataset: Dataset) -> dict[str, Fingerprint]:
    """The marks of every database of a data set, by id."""
    places = {one.db_id: one.database for one in dataset.examples}
    return {db_id: fingerprint(db_id, path) for db_id, path in places.items()}


def fingerprint(db_id: str, path: Path) -> Fingerprint:
    """The marks of a database; its id alone where it can't be opened."""
    try:
        content = database_digest(path)
        with open_database(str(path)) as database:
            schema = database.schema()
    except (OSError, DatabaseUnavailable):
        return Fingerprint(db_id)
    return Fingerprint(db_id, content, *signatures(schema))


def signatures(schema: Schema) -> tuple[str, str]:
    """Digests of the names of tables and columns, and of tables alone; order and case aside."""
    columns = {
        fold_name(table.name): sorted(fold_name(column.name) for column in table.columns)
        for table in schema.tables
    }
    return _digest(sorted(columns.items())), _digest(sorted(columns))


def _digest(names: Iterable[object]) -> str:
    return hashlib.sha256(json.dumps(list(names)).encode()).hexdigest()


Way = Literal["id", "file", "schema", "question"]

WAYS: Mapping[Way, str] = {
    "id": "has the same name",
    "file": "is the same file",
    "schema": "has the same tables and columns",
    "question": "is asked the same questions over the same tables",
}
"""Ways in which a database that leaks is recognised, in words."""
MENTIONED = 8
"""Databases that a message names."""


@dataclass(frozen=True, slots=True)
class Leak:
    """A database that would be trained on, and the one of an evaluation set that it is."""

    trained: str
    evaluated: str
    way: Way
    """The first way, of those in `WAYS`, in which it was recognised."""
    questions: int = 0
    """Questions that are asked of both in the same words."""


def find_leakage(
    train: Dataset,
    evaluation: Dataset,
    known: Mapping[str, Fingerprint] | None = None,
) -> list[Leak]:
    """The databases of `train` that an evaluation set uses, each once.

    A database is known by its id, whatever its case, by its file's content, by the names of its
    tables and columns, and by a question in the same words where the names of all tables agree:
    then columns were added or renamed. `known` are the marks of the first set, if they were taken.
    """
    ours = fingerprints(train) if known is None else known
    theirs = fingerprints(evaluation)
    asked, measured = _questions(train), _questions(evaluation)
    found = []
    for one in ours.values():
        leaks = [
            Leak(one.db_id, other.db_id, way, shared)
            for other in theirs.values()
            for shared in [len(asked[one.db_id] & measured[other.db_id])]
            for way in _ways(one, other, shared)
        ]
        found += sorted(leaks, key=lambda leak: list(WAYS).index(leak.way))[:1]
    return found


def refuse_leakage(
    train: Dataset, evaluation: Dataset, known: Mapping[str, Fingerprint] | None = None
) -> None:
    """Raise DatasetError, which names them, for databases that an evaluation set uses."""
    found = find_leakage(train, evaluation, known)
    if not found:
        return
    named = "; ".join(_told(leak) for leak in found[:MENTIONED])
    more = f" and {len(found) - MENTIONED} more" if len(found) > MENTIONED else ""
    listed = ",".join(leak.trained for leak in found)
    raise DatasetError(
        f"{counted(len(found), 'database')} of {train.name} would be trained on, which "
        f"{evaluation.name} measures: {named}{more}",
        hint=f"Leave out what is measured with --without {listed}, or measure on another set.",
    )


def _ways(one: Fingerprint, other: Fingerprint, shared: int) -> Iterator[Way]:
    if one.folded == other.folded:
        yield "id"
    if one.content and one.content == other.content:
        yield "file"
    if one.signature and one.signature == other.signature:
        yield "schema"
    if shared and one.tables and one.tables == other.tables:
        yield "question"


def _told(leak: Leak) -> str:
    told = f"{leak.trained} {WAYS[leak.way]}"
    if leak.trained != leak.evaluated or leak.way != "id":
        told += f" as {leak.evaluated}"
    return told + (f" ({counted(leak.questions, 'question')} alike)" if leak.questions else "")


def _questions(dataset: Dataset) -> dict[str, set[str]]:
    """The questions of each database, case and blanks aside."""
    found: dict[str, set[str]] = {}
    for one in dataset.examples:
        found.setdefault(one.db_id, set()).add(" ".join(one.question.split()).casefold())
    return found


def set_apart(
    databases: Sequence[str], marks: Iterable[Fingerprint], share: float, seed: int
) -> frozenset[str]:
    """The share of the databases that isn't trained on: at least one of two and more, never all.

    `marks` may be several for a database, one for each file by its name. Those that are the same
    database under another name are set apart together, and count for as many.
    """
    groups = _groups(databases, marks)
    wanted = max(1, round(share * len(databases))) if share else 0
    random.Random(f"{seed}/held out").shuffle(groups)  # noqa: S311 - to be repeatable
    found: set[str] = set()
    for group in groups[:-1]:
        if len(found) >= wanted:
            break
        found |= group
    return frozenset(found)


def _groups(databases: Sequence[str], marks: Iterable[Fingerprint]) -> list[set[str]]:
    """The databases, those together that have a mark in common."""
    groups = {db_id: {db_id} for db_id in sorted(set(databases))}
    first: dict[tuple[str, str], str] = {}
    for one in marks:
        for mark in sorted(one.marks):
            other = first.setdefault(mark, one.db_id)
            if groups[other] is not groups[one.db_id]:
                joined = groups[other] | groups[one.db_id]
                groups |= dict.fromkeys(joined, joined)
    unique = {min(group): group for group in groups.values()}
    return [unique[name] for name in sorted(unique)]
