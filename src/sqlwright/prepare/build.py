"""Preparing a database: read every table once, infer joins, index the values, keep the result."""

from __future__ import annotations

import datetime
import hashlib
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

from sqlwright import __version__
from sqlwright.catalog.encoding import catalog_to_json
from sqlwright.catalog.joins import infer_joins, unmatched_keys, with_joins
from sqlwright.catalog.reading import TimedReader
from sqlwright.catalog.records import Catalog, ColumnProfile, TableProfile
from sqlwright.catalog.scan import ColumnScan, TableScan
from sqlwright.database import open_database
from sqlwright.database.guarded import GuardedDatabase, Readings
from sqlwright.errors import ConfigError, WorkspaceError
from sqlwright.indexes.minhash import Library
from sqlwright.indexes.published import signatures_of
from sqlwright.indexes.values.index import ColumnValues, build_value_index, open_value_index
from sqlwright.prepare.descriptions import embed_descriptions
from sqlwright.prepare.notes import catalog_notes, pressing_notes
from sqlwright.prepare.progress import Progress, ProgressSink, no_progress
from sqlwright.prepare.sources import (
    described_schema,
    description_folder,
    descriptions_digest,
    require_tables,
    within_room,
)
from sqlwright.prepare.storage.locking import locked
from sqlwright.prepare.storage.manifest import Manifest, read_catalog, read_manifest, write_manifest
from sqlwright.prepare.storage.paths import (
    STAGES,
    TEXTS,
    VALUES,
    disk_errors,
    make_private,
    prepared_folder,
    remove,
    removed_on_failure,
    write_private,
    written_paths,
)
from sqlwright.prepare.tables import Reach, TableReading, attempt, reach_into, table_keys
from sqlwright.prepare.texts import embed_texts, embed_values
from sqlwright.protocols import Database, RowReader, Run
from sqlwright.schema import ColumnRef, ForeignKey, Schema


def keep_signatures(
    folder: Path, asked: Library | None, run: Run, progress: Callable[[int, int], None]
) -> None:
    """Make the signatures of what is prepared in `folder`, by the library asked for and by those
    that made some before, unless they are there. Raises ConfigError, WorkspaceError, Cancelled."""
    libraries = [
        library
        for library in get_args(Library)
        if library == asked or any(folder.glob(f"minhash-{library}-*"))
    ]
    manifest = read_manifest(folder) if libraries else None
    if manifest is not None:
        columns = open_value_index(folder / manifest.values_folder).column_values()
        for library in libraries:
            try:
                signatures_of(columns, library, folder, run, progress)
            except ConfigError:
                if library == asked:  # others are made again where they are asked for
                    raise


MOST_TEXTS = 5_000_000
"""Texts indexed in all; beyond it the columns with most have to share what is left."""
JOIN_SECONDS = 120.0
"""Seconds for the inference of all joins."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """Result of `prepare`: what it made or found fresh."""

    folder: Path
    catalog: Catalog
    values: int
    """Distinct texts in the value index."""
    seconds: float
    read: tuple[str, ...] = ()
    """Tables that were read now."""
    reused: tuple[str, ...] = ()
    """Tables that were kept from before, unchanged."""
    notes: tuple[str, ...] = field(default=())
    readings: Readings | None = None
    """The way in which files were read as tables; None where nothing is guessed."""


def prepare(
    url: str,
    *,
    folder: Path | None = None,
    descriptions: Path | None = None,
    minhash: Library | None = None,
    vectors: bool = False,
    rows: int | None = None,
    seconds: float | None = None,
    settle: bool = True,
    progress: ProgressSink = no_progress,
    run: Run | None = None,
) -> Prepared:
    """Learn everything about a database and keep it in `folder` (default: `prepared_folder(url)`).

    With `minhash` also the value index that CHESS published, by that library, with `vectors` also
    the vectors of stored values that MSc-SQL looks up; once they are there, later calls renew them,
    too.

    Of each table at most `rows` are read, of a larger one as many from all over it (default: all of
    a SQLite file's, else `MOST_ROWS`); all of them within about `seconds`, in which the rest of the
    work is not counted. Resumes where an earlier call was stopped or out of time, and reads only
    tables that have changed since, where the engine tells; some tell it seconds later, for which
    `settle` waits.
    Raises `DatabaseUnavailable`, `WorkspaceError` (the folder can't be written, the disk is full)
    and `Cancelled`; what was prepared before stays in force then.
    """
    run = run or Run()
    started = time.monotonic()
    folder = prepared_folder(url) if folder is None else folder
    with open_database(url, run=run) as database:
        require_tables(database, database.schema())
        make_private(folder)

        def waiting(holder: str) -> None:
            progress(Progress("waiting", f"for process {holder}", 0, None))

        with locked(folder, run, waiting):
            if settle:
                progress(Progress("changes", "", 0, None))
                database.settle(run.check, kept=(folder / STAGES).exists())
            described = description_folder(database, descriptions)
            reach = reach_into(database, rows, seconds)
            found = _still_good(folder, database, described, reach)
            if found is not None:
                catalog, values = found
                # These may be missing, damaged or of an older release's weights all the same.
                embed_texts(folder, catalog.schema, _embedding_told(progress, "texts", run))
                keep_signatures(folder, minhash, run, _told(progress, "signatures"))
                embed_values(folder, vectors, _embedding_told(progress, "vectors", run))
                names = tuple(table.name for table in catalog.schema.tables)
                progress(Progress("done", str(folder), values, values))
                took = time.monotonic() - started
                readings = database.readings()
                return Prepared(folder, catalog, values, took, (), names, catalog.notes, readings)
            result = _Build(database, folder, described, reach, progress, run).run_all()
            keep_signatures(folder, minhash, run, _told(progress, "signatures"))
            embed_values(folder, vectors, _embedding_told(progress, "vectors", run))
            progress(Progress("done", str(folder), result.values, result.values))
            readings = database.readings()
    return Prepared(
        folder,
        result.catalog,
        result.values,
        time.monotonic() - started,
        tuple(result.read),
        tuple(result.reused),
        result.catalog.notes,
        readings,
    )


def _embedding_told(progress: ProgressSink, stage: str, run: Run) -> Callable[[int, int], None]:
    def told_of(done: int, total: int) -> None:
        run.check()
        progress(Progress(stage, "", done, total))

    return told_of


def _told(progress: ProgressSink, stage: str) -> Callable[[int, int], None]:
    return lambda done, total: progress(Progress(stage, "", done, total))


def _still_good(
    folder: Path, database: Database, described: Path | None, reach: Reach
) -> tuple[Catalog, int] | None:
    """The prepared catalog and number of values, if it is known to be fresh, has as much as may be
    read, and is whole to the last byte; else None."""
    try:
        manifest = read_manifest(folder)
        if (
            manifest is None
            or not manifest.fingerprint
            or manifest.fingerprint != database.fingerprint()
            or manifest.limits != reach.named
            or manifest.descriptions != descriptions_digest(described)
        ):
            return None
        catalog = read_catalog(folder, manifest)
        index = open_value_index(folder / manifest.values_folder)
        index.verify()
    except WorkspaceError:
        return None
    return catalog, len(index)


@dataclass
class _Build:
    """One preparation under way."""

    database: GuardedDatabase
    folder: Path
    described: Path | None
    reach: Reach
    progress: ProgressSink
    run: Run
    read: list[str] = field(default_factory=list)
    reused: list[str] = field(default_factory=list)
    used_stages: list[str] = field(default_factory=list)
    unfinished: bool = False
    values: int = 0
    unmatched: Mapping[ForeignKey, str] = field(default_factory=dict)
    catalog: Catalog = field(default_factory=lambda: Catalog(Schema("", ())))

    def run_all(self) -> _Build:
        fingerprint = self.database.fingerprint()
        described_digest = descriptions_digest(self.described)
        stages = self.folder / STAGES
        make_private(stages)
        self._sweep(None)
        schema, notes = described_schema(self.database, self.described)
        marks = self.database.table_marks(schema, self.run.check) or {}
        whole = fingerprint
        if not fingerprint or "" in marks.values():
            whole += attempt(stages)
        keys = table_keys(schema, marks, whole, self.reach)
        with self.database.reader() as reader:
            scans = self._scans(schema, keys, reader)
            columns = {column.ref: column for scan in scans.values() for column in scan.columns}
            profiles = {ref: column.profile for ref, column in columns.items()}
            schema = self._joined(schema, profiles, reader)
        tables = {name: scan.profile for name, scan in scans.items()}
        self._finish(schema, tables, columns, notes, (fingerprint, described_digest))
        return self

    def _scans(
        self, schema: Schema, keys: Mapping[str, str], reader: RowReader
    ) -> dict[str, TableScan]:
        reach = self.reach
        with TimedReader(reader, self.run, reach.seconds, reach.pause) as reading:
            tables = TableReading(schema, keys, self.folder / STAGES, reach, reading, self.progress)
            scans = tables.all()
        self.read, self.reused = tables.read, tables.reused
        self.used_stages, self.unfinished = tables.used_stages, tables.unfinished
        return scans

    def _joined(
        self, schema: Schema, profiles: Mapping[ColumnRef, ColumnProfile], reader: RowReader
    ) -> Schema:
        self.progress(Progress("joins", "", 0, schema.column_count))
        with TimedReader(reader, self.run, JOIN_SECONDS) as reading:
            self.unmatched = unmatched_keys(schema, schema.foreign_keys, reading)
            return with_joins(schema, infer_joins(schema, profiles, reading))

    def _finish(
        self,
        schema: Schema,
        tables: Mapping[str, TableProfile],
        columns: dict[ColumnRef, ColumnScan],
        notes: tuple[str, ...],
        identity: tuple[str, str],
    ) -> None:
        generation = secrets.token_hex(6)
        embed_texts(self.folder, schema, _embedding_told(self.progress, "texts", self.run))
        kept = within_room(columns.values(), MOST_TEXTS)
        total = sum(len(column.texts) for column in kept.values())
        values_folder = self.folder / f"values-{generation}"
        with disk_errors(self.folder), removed_on_failure(values_folder):
            build_value_index(
                (ColumnValues(ref, column.texts) for ref, column in kept.items() if column.texts),
                values_folder,
                run=self.run,
                progress=lambda done: self.progress(Progress("index", "", done, total)),
            )
        self.values = len(open_value_index(values_folder))
        described = embed_descriptions(self.folder, schema, self._count_descriptions)
        profiles = {ref: column.profile for ref, column in kept.items()}
        notes = (*notes, *catalog_notes(tables, profiles))
        if self.database.fingerprint() != identity[0]:
            notes = (*notes, "The database was changed while it was being prepared.")
        self.catalog = Catalog(schema, tables, profiles, notes, self.unmatched)
        content = catalog_to_json(self.catalog)
        manifest = Manifest(
            url=self.database.url,
            fingerprint=identity[0],
            descriptions=identity[1],
            generation=generation,
            catalog_digest=hashlib.sha256(content).hexdigest(),
            stages=tuple(self.used_stages),
            warnings=pressing_notes(self.catalog),
            program=__version__,
            created=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            limits=self.reach.named + " unfinished" * self.unfinished,
        )
        write_private(self.folder / manifest.catalog_file, content)
        write_manifest(self.folder, manifest)
        self._sweep(manifest, () if described is None else (described.path.name,))

    def _count_descriptions(self, done: int) -> None:
        self.run.check()
        self.progress(Progress("descriptions", "", done, None))

    def _sweep(self, manifest: Manifest | None, more: tuple[str, ...] = ()) -> None:
        """Remove what an interrupted preparation left, and with a new manifest what it replaces,
        `more` apart. Stages that aren't in use yet stay: they are what a resumed preparation builds
        on. So do descriptions without a new manifest: they may still be those of today."""
        if manifest is None:
            try:
                manifest = read_manifest(self.folder)
            except WorkspaceError:
                manifest = None
            keep_stages = None
        else:
            keep_stages = set(manifest.stages)
        keep = {"manifest.json", "lock", STAGES, TEXTS, VALUES}
        if manifest is not None:
            keep |= {manifest.catalog_file, manifest.values_folder}
        keep |= set(more)
        for path in written_paths(self.folder):
            early = keep_stages is None and path.name.startswith("descriptions-")
            # Found by what they were made from; `keep_signatures` sees to its own.
            by_text = path.name.startswith(("endpoint-", "minhash-", "summaries-"))
            if path.name not in keep and not early and not by_text:
                remove(path)
        for path in (self.folder / STAGES).iterdir():
            if path.name.startswith(".") or (
                keep_stages is not None and path.name not in keep_stages
            ):
                remove(path)
