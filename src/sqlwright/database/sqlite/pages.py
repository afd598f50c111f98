"""A fingerprint per table from the pages that hold it, so that only changed tables are read again.

SQLite's own statistics table says which pages belong to which table; their bytes are hashed
straight from the file, at about the speed of the disk. Unlike row counts or the highest row number
this notices a value changed in place.

Not covered, and then None is returned: files with a write-ahead log or a journal beside them (the
pages in the file aren't the data), and SQLite builds without `dbstat`.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from sqlwright.database.failures import READ_FAILURES, read_failure

if TYPE_CHECKING:
    from sqlwright.database.reader import DatabaseReader
    from sqlwright.schema import Schema
    from sqlwright.sql.tree import StopReading

_RUN_PAGES = 256
"""Neighbouring pages read at once at most."""


def page_digests(
    path: Path, schema: Schema, reader: DatabaseReader, stop: StopReading
) -> dict[str, str] | None:
    """A digest of the pages of every table by its name; of what has no pages of its own (views,
    virtual tables) of all tables, listed or not, and all definitions. None when it can't be told.
    Raises `ReadFailed` when the file can't be read, and whatever `stop` raises."""
    real = path.resolve()
    if any(_has_content(real, suffix) for suffix in ("-wal", "-journal")):
        return None
    try:
        made = {
            str(name): str(sql)
            for name, sql in reader.rows(
                "SELECT name, sql FROM sqlite_schema WHERE type IN ('table', 'view') ORDER BY name"
            )
        }
        (size,) = next(iter(reader.rows("PRAGMA page_size")))
        pages: dict[str, list[int]] = {}
        for name, number in reader.rows("SELECT name, pageno FROM dbstat"):
            stop()
            if str(name) in made and isinstance(number, int):
                pages.setdefault(str(name), []).append(number)
    except READ_FAILURES as error:
        if read_failure(error).kind in {"interrupted", "unavailable"}:
            raise
        return None
    if not isinstance(size, int):
        return None
    try:
        digests = _hashed(real, size, pages, stop)
    except OSError:
        return None
    every = hashlib.sha256(repr((made, sorted(digests.items()))).encode()).hexdigest()
    return {table.name: digests.get(table.name, every) for table in schema.tables}


def _has_content(path: Path, suffix: str) -> bool:
    try:
        return path.with_name(path.name + suffix).stat().st_size > 0
    except OSError:
        return False


def _hashed(
    path: Path, size: int, pages: Mapping[str, list[int]], stop: StopReading
) -> dict[str, str]:
    digests: dict[str, str] = {}
    # Closing a descriptor drops this process's POSIX locks on the file, so this must not run
    # while a statement is open on it; callers finish theirs first.
    descriptor = os.open(path, os.O_RDONLY)
    try:
        for name, numbers in pages.items():
            digest = hashlib.blake2b(digest_size=16)
            for first, count in _runs(sorted(numbers)):
                stop()
                digest.update(first.to_bytes(8, "little"))
                digest.update(os.pread(descriptor, count * size, (first - 1) * size))
            digests[name] = digest.hexdigest()
    finally:
        os.close(descriptor)
    return digests


def _runs(numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Runs of consecutive pages as (first, count), none too long to hold."""
    first = count = 0
    for number in numbers:
        if count and number == first + count and count < _RUN_PAGES:
            count += 1
            continue
        if count:
            yield first, count
        first, count = number, 1
    if count:
        yield first, count
