"""The files that an address means, and the tables that they make."""

from __future__ import annotations

import glob
import importlib.util
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from sqlwright.database.address import DATA_ENDINGS, WORKBOOK_ENDINGS
from sqlwright.database.missing import missing
from sqlwright.errors import DatabaseUnavailable

Kind = Literal["csv", "parquet", "json", "excel"]

LIBRARY = "python_calamine"
"""Package that a worker imports for workbooks."""
HINT = "Install what reads them: pip install 'sqlwright[excel]'"
MOST_FILES = 5_000
"""Files of one address at most."""
_COMPRESSED = (".gz", ".zst")
_KINDS: dict[str, Kind] = {
    ".csv": "csv", ".tsv": "csv", ".parquet": "parquet", ".json": "json", ".jsonl": "json",
    ".ndjson": "json", **dict.fromkeys(WORKBOOK_ENDINGS, "excel"),
}  # fmt: skip
_PARTITION = re.compile(r"^[^=]+=.*$")
"""A folder that holds the rows of one value of a column, as Hive names it."""
VARYING = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\d+", re.IGNORECASE
)
"""The parts of names that tell the files of one table apart: numbers, dates, identifiers."""
_MEANINGLESS = frozenset({"", "c", "data", "export", "file", "part"})
"""Names of files that say nothing once their numbers are taken out."""
_WORDS = re.compile(r"\W+")


@dataclass(frozen=True, slots=True)
class Source:
    """One table to be: its files, whose shape nobody has looked at yet."""

    name: str
    kind: Kind
    paths: tuple[Path, ...]
    """Resolved, in order."""


@dataclass(frozen=True, slots=True)
class Found:
    """The tables that an address makes, and what was left out."""

    folder: Path
    """All files are below it; resolved."""
    sources: tuple[Source, ...]
    notes: tuple[str, ...] = ()

    @property
    def paths(self) -> tuple[Path, ...]:
        return tuple(path for source in self.sources for path in source.paths)


def find(text: str) -> Found:
    """The tables that a path or pattern stands for. Raises DatabaseUnavailable."""
    path = Path(text)
    try:
        if path.is_dir():
            return _grouped(path.resolve(), list(_in_folder(path)), path.name)
        if path.exists():
            return _one(path)
        if glob.has_magic(text):
            return _of_pattern(text)
    except OSError as error:
        raise DatabaseUnavailable(f"{text} can't be read: {error.strerror}.") from None
    raise missing(path)


def parted(source: Source) -> tuple[Source, ...]:
    """The same files as a table each."""
    taken: set[str] = set()
    return tuple(
        Source(
            _free(readable_name(_without_endings(path)), source.kind, taken), source.kind, (path,)
        )
        for path in source.paths
    )


def unique(sources: Iterable[Source]) -> tuple[Source, ...]:
    """The same with names that differ by more than case."""
    taken: set[str] = set()
    return tuple(
        replace(one, name=_free(one.name, _ending(one.paths[0])[1:], taken)) for one in sources
    )


def _one(path: Path) -> Found:
    if not path.is_file():
        raise DatabaseUnavailable(f"{path} is not a regular file.")
    kind = kind_of(path)
    if kind is None:
        raise DatabaseUnavailable(
            f"{path}: files of this kind can't be read.",
            hint=f"These can: {', '.join(DATA_ENDINGS)}.",
        )
    if kind == "excel" and not is_installed():
        raise DatabaseUnavailable(
            f"{path}: workbooks need the package python-calamine, which isn't installed.", hint=HINT
        )
    real = path.resolve()
    return Found(real.parent, (Source(readable_name(_without_endings(path)), kind, (real,)),))


def _of_pattern(pattern: str) -> Found:
    fixed = Path(*_before_magic(Path(pattern).parts))
    if not fixed.is_dir():
        raise DatabaseUnavailable(f"{pattern}: there is no folder {fixed}.", hint="Check the path.")
    matched = glob.iglob(pattern, recursive=True)  # noqa: PTH207 - the text is the pattern
    files = [Path(name) for name in _bounded(matched, pattern)]
    found = _grouped(fixed.resolve(), sorted(files), fixed.name)
    if not found.sources:
        raise DatabaseUnavailable(f"{pattern}: no file matches.", hint="Check the pattern.")
    return found


def _before_magic(parts: Iterable[str]) -> Iterator[str]:
    for part in parts:
        if glob.has_magic(part):
            return
        yield part


def _in_folder(folder: Path) -> Iterator[Path]:
    """The folder's own files and those in folders of partitions."""
    found = []
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if _PARTITION.match(name))
        found += [Path(place) / name for name in names]
        _require_few(len(found), str(folder))
    yield from sorted(found)


def _bounded(names: Iterable[str], what: str) -> Iterator[str]:
    for number, name in enumerate(names, 1):
        _require_few(number, what)
        yield name


def _require_few(number: int, what: str) -> None:
    if number > MOST_FILES:
        raise DatabaseUnavailable(
            f"{what}: more than {MOST_FILES:,} files.", hint="Give a pattern that matches fewer."
        )


def _grouped(folder: Path, files: list[Path], name: str) -> Found:
    groups: dict[tuple[str, str], list[Path]] = {}
    names: dict[tuple[str, str], str] = {}
    notes = []
    for path in files:
        kind = kind_of(path)
        if kind is None or not path.is_file() or path.name.startswith((".", "_", "~$")):
            continue
        real = path.resolve()
        if kind == "excel" and not is_installed():
            missing = "workbooks need the package python-calamine, which isn't installed"
            notes.append(f"{path.name} is left out: {missing}. {HINT}.")
        elif not real.is_relative_to(folder):
            notes.append(f"{path.name} is left out: it is a link to a file elsewhere.")
        else:
            own_name = _without_endings(path)
            places = [part for part in path.parent.parts if not _PARTITION.match(part)]
            key = ("/".join([*places, VARYING.sub("#", own_name).lower()]), _ending(path))
            groups.setdefault(key, []).append(real)
            said = _words(VARYING.sub(" ", own_name))
            own = said if said.lower() not in _MEANINGLESS else (places or [name])[-1]
            names[key] = own if len(groups[key]) > 1 or "=" in str(path.parent) else own_name
    sources = [
        Source(readable_name(names[key]), _KINDS[_ending(paths[0])], tuple(dict.fromkeys(paths)))
        for key, paths in groups.items()
    ]
    if not sources:
        notes_text = " ".join(notes)
        raise DatabaseUnavailable(
            f"{folder}: there is no file that can be read as a table. {notes_text}".strip(),
            hint=f"These can: {', '.join(DATA_ENDINGS)}, also with .gz and .zst.",
        )
    return Found(folder, unique(sources), tuple(notes))


def kind_of(path: Path) -> Kind | None:
    """The kind of file by its name."""
    return _KINDS.get(_ending(path))


def _ending(path: Path) -> str:
    name = path.name.lower()
    for ending in _COMPRESSED:
        name = name.removesuffix(ending)
    return Path(name).suffix


def _without_endings(path: Path) -> str:
    name = path.name
    for ending in _COMPRESSED:
        if name.lower().endswith(ending):
            name = name[: -len(ending)]
    return Path(name).stem


def readable_name(own_name: str) -> str:
    """A name for a table: words joined by underscores."""
    return _words(own_name) or "table"


def _words(own_name: str) -> str:
    return _WORDS.sub("_", own_name).strip("_")


def _free(name: str, ending: str, taken: set[str]) -> str:
    tried, number = name, 1
    while tried.lower() in taken:
        tried = f"{name}_{ending}" if number == 1 else f"{name}_{number}"
        number += 1
    taken.add(tried.lower())
    return tried


def is_installed() -> bool:
    """True if workbooks can be read."""
    return importlib.util.find_spec(LIBRARY) is not None
