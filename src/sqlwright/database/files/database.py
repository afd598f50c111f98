"""Files as a database that can't be written through."""

from __future__ import annotations

import hashlib
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from sqlwright.boundary.yaml_text import write_yaml
from sqlwright.database.address import Address, file_of
from sqlwright.database.duckdb.database import (
    GRACE_SECONDS,
    LIGHT_BYTES,
    DuckdbBased,
    file_token,
)
from sqlwright.database.duckdb.driver import LIBRARIES, require_driver
from sqlwright.database.duckdb.introspect import read_schema
from sqlwright.database.files.corrections import NAME, ONE_TYPE, Corrections, read_corrections
from sqlwright.database.files.guessing import TooSlow, guess
from sqlwright.database.files.sources import LIBRARY, VARYING, Found, find, is_installed
from sqlwright.database.files.table import TableFile
from sqlwright.database.functions import no_functions
from sqlwright.database.guarded import (
    SCHEMA_SECONDS,
    Readings,
    TableReading,
    no_such_table,
    stop_at,
)
from sqlwright.database.reader import DatabaseReader
from sqlwright.database.workers.engine import Place
from sqlwright.database.workers.process import WorkerStopped
from sqlwright.errors import DatabaseUnavailable
from sqlwright.protocols import Limits, Run
from sqlwright.schema import Schema, fold_name
from sqlwright.sql.guards.rules import NOTHING_OWN, Own, Readable
from sqlwright.sql.tree import StopReading

_MOST = 32
"""Readings that are kept at most, the latest ones."""
_MORE = 2.0
"""Times the seconds that were too few, from which on it is tried again."""


@dataclass(frozen=True, slots=True)
class Guessed:
    """The outcome of looking through files."""

    sources: tuple[TableFile, ...] = ()
    notes: tuple[str, ...] = ()
    failure: DatabaseUnavailable | None = None
    seconds: float = 0.0
    """The time that was too short; 0 for another failure."""


class _Readings:
    """Outcomes by what was read and when it last changed. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, str], Guessed] = OrderedDict()

    def of(self, name: str, token: str, seconds: float) -> Guessed | None:
        """The outcome for files that haven't changed since; None where there is none, or where so
        many seconds may be enough now."""
        with self._lock:
            found = self._kept.get((name, token))
        if found is None or (found.seconds and seconds > _MORE * found.seconds):
            return None
        return found

    def keep(self, name: str, token: str, guessed: Guessed) -> None:
        """Keep an outcome."""
        with self._lock:
            self._kept[name, token] = guessed
            self._kept.move_to_end((name, token))
            while len(self._kept) > _MOST:
                self._kept.popitem(last=False)


REMEMBERED = _Readings()


_KEYS = {
    "delim": "delimiter", "quote": "quote", "escape": "escape", "comment": "comment",
    "header": "header", "skip": "skip",
}  # fmt: skip
"""Options of DuckDB's reader of CSV files, and what corrections call them."""
_MAGIC = re.compile(r"[*?\[]")


def as_corrections(tables: Sequence[TableFile], place: Path) -> str:
    """The text of a file of corrections."""
    files: dict[str, dict[str, object]] = {}
    for table in tables:
        for name, told in _said(table):
            known = files.setdefault(name, {})
            sheets = told.get("sheets")
            if isinstance(sheets, dict) and isinstance(known.get("sheets"), dict):
                known["sheets"] = {**known["sheets"], **sheets}  # type: ignore[dict-item]
            else:
                known |= told
    return (
        "# What was guessed. Keep the lines that are wrong, put them right, and save them as\n"
        f"# {place}\n"
    ) + write_yaml({"files": files})


def _said(table: TableFile) -> Iterator[tuple[str, dict[str, object]]]:
    """Names of files, which may have wildcards, and what was guessed of them."""
    if table.sheets:
        for part in table.sheets:
            told = {"table": table.name, "header": part.header is not None}
            if part.header is not None:
                told["skip"] = part.header
            kinds = dict(table.columns)
            told["types"] = {
                stored: kinds[name] for stored, name in zip(part.stored, part.names, strict=True)
            }
            yield _literal(part.path.name), {"sheets": {_literal(part.sheet): told}}
        return
    for one in table.parts or (table,):
        yield _pattern(one.paths), {"table": table.name, **_settings(one)}


def _settings(part: TableFile) -> dict[str, object]:
    told: dict[str, object] = {}
    if part.kind == "csv":
        told["encoding"] = part.encoding
        told |= {
            key: list(value) if isinstance(value, tuple) else value
            for option, key in _KEYS.items()
            if (value := part.options.get(option)) not in {None, ""}
        }
    said = part.said()
    named = {"decimal": "decimal", "thousands": "thousands", "dates": "dateformat",
             "timestamps": "timestampformat"}  # fmt: skip
    told |= {key: said[what][0] for what, key in named.items() if len(said.get(what, ())) == 1}
    if nulls := {name: list(one.marks) for name, one in part.cells.items() if one.marks}:
        told["nulls"] = nulls
    if part.without:
        told["total_row"] = True
    pairs = zip(part.stored_names, part.columns, strict=True)
    told["types"] = {stored: kind for stored, (_, kind) in pairs if ONE_TYPE.fullmatch(kind)}
    return told


def _pattern(paths: Sequence[Path]) -> str:
    """The name that files have in common, their numbers left open."""
    if len(paths) == 1:
        return _literal(paths[0].name)
    return _literal(VARYING.sub("\0", paths[0].name)).replace("\0", "*")


def _literal(name: str) -> str:
    return _MAGIC.sub(lambda found: f"[{found[0]}]", name)


GUESS_SECONDS = 60.0
"""The time that guessing how files are read may take."""
LOADED_BYTES = 16 * 1024 * 1024
"""Bytes of all CSV and JSON files that workers load instead of reading them for every query."""

ASSISTED_BYTES = 512 * 1024 * 1024
"""Memory that every query may take over files that DuckDB can't read by itself: the library of
workbooks needs it to load them, and ends the process where it gets none."""


class FilesDatabase(DuckdbBased):
    """`protocols.Database` over files. All methods may be called from any thread.

    Files that change, come or go are noticed by the next query.
    """

    hint = "Check that the files may be read and are what their names say."

    def __init__(
        self, text: str, *, name: str, path: Path, tables: Collection[str] | None = None
    ) -> None:
        """The files that a path or a pattern means, which `begin` looks through. With `tables` the
        others aren't opened. Raises DatabaseUnavailable."""
        require_driver(text)
        self._text, self._name, self._path = text, name, path
        self._listed = tables
        self._found = find(text)
        self._sources: tuple[TableFile, ...] = ()
        self._failed: tuple[str, ...] = ()
        self._token = ""
        self._private = self._neutral = False
        super().__init__()

    @classmethod
    def at(
        cls,
        address: Address,
        tables: Collection[str] | None = None,
        functions: Collection[str] = (),
    ) -> FilesDatabase:
        if functions:
            raise no_functions(address.text, "files hold no functions")
        return cls(address.text, name=address.name, path=file_of(address), tables=tables)

    @classmethod
    def check_address(cls, address: Address) -> None:
        """Raise DatabaseUnavailable when there is plainly no file to read."""
        require_driver(address.text)
        find(address.text)

    def begin(self, run: Run | None) -> None:
        """Look through the files. Where values mayn't leave the machine, names that may be values
        are hidden."""
        run = run or Run()
        self._private = run.privacy == "schema-only"
        seconds = min(GUESS_SECONDS, run.remaining())
        try:
            self._look(stop_at(time.monotonic() + seconds, replace(run, seconds=None)), seconds)
        except DatabaseUnavailable:
            if run.cancelled.is_set():
                run.check()
            raise

    @property
    def path(self) -> Path:
        """The file or folder, absolute; of a pattern, the folder below which it looks."""
        return self._path if self._path.exists() else self._found.folder

    @property
    def url(self) -> str:
        return self._text

    @property
    def identity(self) -> str:
        return str(Path(self._text).resolve())

    @property
    def sources(self) -> tuple[TableFile, ...]:
        """The tables, how their files are read, and what was noticed."""
        self._look()
        return self._sources

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes, for people, of what was left out or read in another way than the files say."""
        own = tuple(f"{one.name}: {note}" for one in self.sources for note in one.all_notes)
        return (*self._found.notes, *self._failed, *own)

    def noticed(self, tables: Collection[str]) -> tuple[str, ...]:
        """Notes of what was left out of tables, or read in another way than their files say."""
        return tuple(f"{one.name}: {note}" for one in self._among(tables) for note in one.all_notes)

    def doubted(
        self, tables: Collection[str], columns: Collection[tuple[str, str]]
    ) -> tuple[str, ...]:
        """Reasons why whatever is read of tables, or of columns of theirs, may be wrong."""
        read = {(fold_name(table), fold_name(column)) for table, column in columns}
        return tuple(
            f"{one.name}: {doubt.text}"
            for one in self._among(tables)
            for doubt in one.doubts
            if not doubt.column or (fold_name(one.name), fold_name(doubt.column)) in read
        )

    def _among(self, tables: Collection[str]) -> Iterator[TableFile]:
        """The tables of these names, as they were when the files were last looked at."""
        wanted = set(map(fold_name, tables))
        with self._lock:
            sources = self._sources
        return (one for one in sources if fold_name(one.name) in wanted)

    def readings(self) -> Readings:
        """The tables, how their files are read, and what was noticed."""
        sources = self.sources
        place = self._found.folder / NAME
        tables = tuple(
            TableReading(one.name, one.told, one.columns, one.all_notes, one.details)
            for one in sources
        )
        left_out = (*self._found.notes, *self._failed)
        return Readings(tables, left_out, as_corrections(sources, place), place)

    def schema(self, *, seconds: float = SCHEMA_SECONDS) -> Schema:
        """The tables and their columns. Raises DatabaseUnavailable, also when that takes longer
        than so many seconds."""
        self._look(stop_at(time.monotonic() + seconds), min(seconds, GUESS_SECONDS))
        told = {one.name: one for one in self._sources}
        with self.reader(seconds=seconds) as connection, self._reading_errors():
            schema = read_schema(connection, self._name)
        by_name = {table.name: table for table in schema.tables}
        tables = tuple(
            replace(
                by_name[name], kind="table", definition="",
                description=" ".join((one.told, *one.notes)),
            )
            for name, one in told.items() if name in by_name
        )  # fmt: skip
        return Schema(schema.name, tables, dialect=schema.dialect)

    def fingerprint(self) -> str:
        """Changes when a file was written, came or went, or how they are read was corrected."""
        token = self._now()
        # What is prepared with names that may be values isn't for those that mayn't be shown any.
        return f"{token}-neutral" if self._neutral else token

    def _now(self) -> str:
        found = find(self._text)
        correction = found.folder / NAME
        return _digest(self._told([*found.paths, *[correction] * correction.exists()]))

    def table_marks(
        self, schema: Schema, stop: StopReading | None = None
    ) -> Mapping[str, str] | None:
        """A digest of each table's files as the file system tells of them, and of how they are
        read, with what corrects it."""
        self._look()
        with self._lock:
            sources = self._sources
        marks = {}
        for one in sources:
            if stop is not None:
                stop()
            if schema.table(one.name) is not None:
                marks[one.name] = _digest([one.reading, *self._told(one.paths)])
        return marks

    def size(self) -> int:
        """Bytes of all files."""
        return sum(path.stat().st_size for path in self._found.paths)

    def _told(self, paths: Iterable[Path]) -> list[str]:
        """Files as the file system tells of them. Raises DatabaseUnavailable."""
        try:
            return [f"{path}:{file_token(path)}" for path in paths]
        except OSError as error:
            raise DatabaseUnavailable(f"{self._text}: {error.strerror}.") from None

    def check(self, sql: str, stop: StopReading | None = None) -> None:
        self._look(stop)
        super().check(sql, stop)

    def _look(self, stop: StopReading | None = None, seconds: float = GUESS_SECONDS) -> None:
        """Guess anew how the files are read if any has changed, in so many seconds at most."""
        token = self._now()
        with self._lock:
            if token == self._token:
                return
        found = find(self._text)
        corrections = read_corrections(found.folder)
        guessed = REMEMBERED.of(self.identity, token, seconds)
        if guessed is None:
            bounds = _Bounds(seconds, stop)
            guessed = self._guessed(found, corrections, bounds)
            if not guessed.seconds or bounds.left <= 0:  # it wasn't cancelled before
                REMEMBERED.keep(self.identity, token, guessed)
        if guessed.failure is not None:
            raise guessed.failure
        if not guessed.sources:
            raise DatabaseUnavailable(f"{self._text}: all files are left out by {NAME}.")
        sources = self._only_listed(guessed.sources)
        self._neutral = self._private and any(one.unsure_header for one in sources)
        if self._neutral:
            sources = tuple(one.neutral() for one in sources)
        with self._lock:
            self._found, self._sources, self._token = found, sources, token
            self._failed = (*guessed.notes, *corrections.unused(found.paths))
            self._checked.clear()
            if self._listed is not None:
                self._tables = tuple(one.name for one in sources)

    def _guessed(self, found: Found, corrections: Corrections, bounds: _Bounds) -> Guessed:
        try:
            with self._reading_errors():
                asking = partial(self._asking, found, bounds)
                return Guessed(*guess(asking, found.sources, corrections))
        except TooSlow as error:
            failure = DatabaseUnavailable(
                f"{error}: looking through it takes longer than {bounds.seconds:.3g} s.",
                hint="Allow more time, name fewer files, or save it as Parquet.",
            )
            return Guessed(failure=failure, seconds=bounds.seconds)
        except DatabaseUnavailable as error:
            return Guessed(failure=error)

    def _only_listed(self, sources: tuple[TableFile, ...]) -> tuple[TableFile, ...]:
        if self._listed is None:
            return sources
        wanted = {fold_name(name) for name in self._listed}
        known = {fold_name(one.name) for one in sources}
        for name in self._listed:
            if fold_name(name) not in known:
                raise no_such_table(name, (one.name for one in sources), self._text)
        return tuple(one for one in sources if fold_name(one.name) in wanted)

    @contextmanager
    def _asking(
        self, found: Found, bounds: _Bounds, more: Mapping[str, Any]
    ) -> Iterator[DatabaseReader]:
        """Reads files of which no table was made yet."""
        paths = [str(path) for path in found.paths]
        opening = {"paths": paths, "views": [], "token": "guessing", **more}
        opening["paths"] = [*paths, *more.get("decoded", ())]
        request = self._base(found, opening, Limits())
        with closing(DatabaseReader(self._pool, request, bounds.left, bounds.stop)) as reader:
            yield reader

    def _request(self, limits: Limits) -> dict[str, Any]:
        with self._lock:
            found, sources, token = self._found, self._sources, self._token
        read = [one for one in sources if one.kind != "excel"]
        texts = sum(one.size for one in read if one.kind != "parquet")
        loaded = texts <= LOADED_BYTES
        opening = {
            "paths": [address for one in read for address in one.addresses],
            "decoded": any(one.decoded for one in read),
            "views": [one.created(loaded=loaded and one.kind != "parquet") for one in read],
            "sheets": [one.filled() for one in sources if one.kind == "excel"],
            "token": token,
        }
        return self._base(found, opening, limits)

    def _base(self, found: Found, opening: dict[str, Any], limits: Limits) -> dict[str, Any]:
        folder = found.folder.stat()
        assisted = any(opening.get(key) for key in ("decoded", "workbook", "sheets"))
        libraries = (*LIBRARIES, "fsspec", *([LIBRARY] if is_installed() else []))
        place = Place(
            "files" if assisted else "duckdb", libraries if assisted else LIBRARIES,
            str(found.folder), folder.st_dev, folder.st_ino, GRACE_SECONDS,
            ASSISTED_BYTES if assisted else LIGHT_BYTES,
        )  # fmt: skip
        return self._limited(limits) | {"place": place, "opening": opening}

    def _readable(self) -> tuple[Readable, Own]:
        return frozenset((one.name,) for one in self._sources), NOTHING_OWN


class _Bounds:
    """The time for looking through files, and whoever may end it before."""

    def __init__(self, seconds: float, stop: StopReading | None) -> None:
        self.seconds, self._stop = seconds, stop
        self._until = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return max(self._until - time.monotonic(), 0.0)

    def stop(self) -> str | None:
        """The reason to stop, if there is any."""
        return None if self._stop is None else _reason(self._stop)


def _reason(stop: StopReading) -> str | None:
    try:
        stop()
    except WorkerStopped as error:
        return str(error)
    return None


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:32]
