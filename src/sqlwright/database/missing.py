"""The error for a file that isn't there, with those in its folder that may be meant."""

from __future__ import annotations

import difflib
import itertools
import os
from collections.abc import Iterable
from pathlib import Path

from sqlwright.database.address import DATA_ENDINGS, DUCKDB_ENDINGS, begins_as_duckdb
from sqlwright.errors import DatabaseUnavailable

HEADER = b"SQLite format 3\x00"
ENDINGS = (".db", ".sqlite", ".sqlite3", ".db3")
_NEAR = 0.7
"""Names at least so alike are proposed for one that isn't there."""
_PROPOSED = 3
"""Similar file names proposed at most where a database isn't found."""
_LOOKED_INTO = 500
"""Files of a folder that are opened at most, to see which are databases."""


def missing(path: Path) -> DatabaseUnavailable:
    """The error for a path of nothing."""
    if not path.parent.exists():
        return DatabaseUnavailable(
            f"{path} doesn't exist, nor does its folder.", hint="Check the path's spelling."
        )
    near = nearest(path)
    hint = f"Did you mean {' or '.join(near)}?" if near else "Check the path's spelling."
    return DatabaseUnavailable(f"{path} doesn't exist.", hint=hint)


def nearest(path: Path) -> list[str]:
    """The names of databases and files of data in a path's folder that are most like its own."""
    alike = ((_likeness(path.name, name), name) for name in file_names(path.parent))
    ranked = sorted((pair for pair in alike if pair[0] >= _NEAR), key=lambda pair: -pair[0])
    return databases(path.parent, [name for _, name in ranked])


def databases(folder: Path, names: Iterable[str]) -> list[str]:
    """The first few that can be asked, by what they begin with; files of data, and what can't be
    read, by their ending."""
    found: list[str] = []
    for name in itertools.islice(names, _LOOKED_INTO):
        ours = name.lower().endswith(DATA_ENDINGS)
        try:
            with (folder / name).open("rb") as file:
                ours = ours or file.read(len(HEADER)) == HEADER
        except OSError:
            ours = name.lower().endswith((*ENDINGS, *DUCKDB_ENDINGS))
        if ours or begins_as_duckdb(folder / name):
            found.append(name)
        if len(found) == _PROPOSED:
            break
    return found


def file_names(folder: Path, most: int = 2_000) -> list[str]:
    """The names of the files in a folder, in order."""
    names: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if len(names) >= most:
                    break
                if entry.is_file():
                    names.append(entry.name)
    except OSError:
        return []
    return sorted(names)


def _likeness(name: str, other: str) -> float:
    """Similarity of two file names, 0 to 1, in letters of either case; that of the names without
    their endings counts, too."""
    pairs = [(name, other), (Path(name).stem, Path(other).stem)]
    return max(difflib.SequenceMatcher(None, a.casefold(), b.casefold()).ratio() for a, b in pairs)
