"""Finds description files; limits the values of the index to the room there is."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from sqlwright.catalog.descriptions import (
    Descriptions,
    describe,
    find_descriptions,
    only_for,
    read_descriptions,
)
from sqlwright.catalog.scan import ColumnScan
from sqlwright.errors import ConfigError, DatabaseUnavailable
from sqlwright.protocols import Database
from sqlwright.schema import ColumnRef, Schema

SCHEMA_SECONDS = 60.0
"""Seconds for reading a schema at most; engines may give it less."""


def description_folder(database: Database, given: Path | None) -> Path | None:
    """The folder of description files: the one given, else the one beside the database."""
    if given is not None or database.path is None:
        return given
    return find_descriptions(database.path)


def descriptions_digest(folder: Path | None) -> str:
    """Changes when a description file may have changed; empty without a folder."""
    if folder is None:
        return ""
    digest = hashlib.sha256(str(folder.resolve()).encode("utf-8", "surrogateescape"))
    try:
        for path in sorted(folder.iterdir()):
            found = path.stat()
            digest.update(
                f"{path.name}\0{found.st_size}\0{found.st_mtime_ns}\n".encode(
                    "utf-8", "surrogateescape"
                )
            )
    except OSError:
        return ""
    return digest.hexdigest()


def require_tables(database: Database, schema: Schema) -> None:
    """Raise DatabaseUnavailable where there is nothing to ask about, and ConfigError where that is
    so because no table may be read."""
    if schema.tables:
        return
    if database.tables is not None:
        raise ConfigError(
            f"no table of {database.path or database.url} may be read: tables lists none",
            hint="List those that may be read, or leave the setting out.",
        )
    raise DatabaseUnavailable(
        f"{database.path or database.url} has no tables, so there is nothing to ask about.",
        hint="Check that it is the file you mean; else make and fill its tables first.",
    )


def described_schema(
    database: Database, described: Path | None, seconds: float = SCHEMA_SECONDS
) -> tuple[Schema, tuple[str, ...]]:
    """The schema read afresh within so many seconds, with descriptions, and notes on those that
    don't fit."""
    schema = database.schema(seconds=min(seconds, SCHEMA_SECONDS))
    found = read_descriptions(described) if described else Descriptions({})
    return describe(schema, found if database.tables is None else only_for(schema, found))


def within_room(columns: Iterable[ColumnScan], room: int) -> dict[ColumnRef, ColumnScan]:
    """The columns with at most `room` texts in all. Small columns stay whole; those with most
    share what is left, each keeping its most frequent texts."""
    by_ref = {column.ref: column for column in columns}
    left = room
    ordered = sorted(by_ref.values(), key=lambda column: len(column.texts))
    for position, column in enumerate(ordered):
        share = left // (len(ordered) - position)
        if len(column.texts) > share:
            texts = sorted(column.texts, key=lambda pair: -pair[1])[:share]
            by_ref[column.ref] = ColumnScan(
                column.ref, replace(column.profile, indexing="part"), texts
            )
        left -= min(len(column.texts), share)
    return by_ref
