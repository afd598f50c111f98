"""Marks by which a database is recognised though its file has moved, its name or its rows are
others."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from sqlwright.database import open_database
from sqlwright.errors import DatabaseUnavailable
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


def fingerprints(
    dataset: Dataset, *, seen: Callable[[str], None] = lambda _db_id: None
) -> dict[str, Fingerprint]:
    """The marks of every database of a data set, by id; `seen` is told each."""
    found = {}
    places = {one.db_id: one.database for one in dataset.examples}
    for db_id, path in places.items():
        found[db_id] = fingerprint(db_id, path)
        seen(db_id)
    return found


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
