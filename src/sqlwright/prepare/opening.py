"""Opening a workspace: what is prepared if it is fresh, what is prepared if it is stale, else what
can be learnt at once."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from sqlwright.catalog.joins import with_joins
from sqlwright.catalog.records import Catalog, ColumnProfile
from sqlwright.database import open_database
from sqlwright.errors import WorkspaceError
from sqlwright.indexes.values.index import ColumnValues, open_value_index
from sqlwright.prepare.descriptions import stored_vectors
from sqlwright.prepare.notes import listed, pressing_notes, unreadable
from sqlwright.prepare.quick import scan_quickly
from sqlwright.prepare.sources import (
    described_schema,
    description_folder,
    descriptions_digest,
    require_tables,
)
from sqlwright.prepare.storage.manifest import Manifest, read_catalog, read_manifest
from sqlwright.prepare.storage.paths import prepared_folder, untrusted
from sqlwright.prepare.texts import prepared_texts
from sqlwright.prepare.unasked import LONGER, prepare_unasked
from sqlwright.protocols import Database, Run, ValueIndex, Workspace
from sqlwright.schema import ColumnRef, Schema
from sqlwright.types import ValueMatch

SMALL_FILE = 20_000_000
"""Bytes up to which a file is small; see `FIRST_SECONDS`."""
FIRST_SECONDS = (2.0, 4.0)
"""Time for a never-seen database, small and large; about half of it goes into reading. On an idle
machine a small one takes a fraction."""
_ATTEMPTS = 2
"""Attempts at most to read what is prepared."""


@dataclass(frozen=True, slots=True)
class FilteredIndex:
    """A value index seen through today's schema: matches in columns that are gone are left out,
    and counts that come from a sample are not shown."""

    index: ValueIndex
    columns: frozenset[ColumnRef] | None
    """Columns that still exist; None is all of them."""
    uncounted: frozenset[ColumnRef] = frozenset()

    def search(self, phrase: str, k: int = 10, *, per_column: int = 3) -> list[ValueMatch]:
        """At most `k` matches, best first, at most `per_column` from any one column."""
        return self.search_many([phrase], k, per_column=per_column)[0]

    def search_many(
        self, phrases: Sequence[str], k: int = 10, *, per_column: int = 3
    ) -> list[list[ValueMatch]]:
        """`search` for each phrase."""
        found = self.index.search_many(phrases, k, per_column=per_column)
        return [
            [self._shown(match) for match in matches if self._exists(match)] for matches in found
        ]

    def column_values(self, most: int | None = None) -> list[ColumnValues]:
        """Every column's texts, of an index that can list them; see `DiskValueIndex`."""
        listed: list[ColumnValues] = self.index.column_values(most)  # type: ignore[attr-defined]
        return [match for match in listed if self.columns is None or match.column in self.columns]

    def frequent(self, column: ColumnRef, most: int) -> list[tuple[str, int]]:
        """The texts of a column that stand in most rows, of an index that can tell."""
        if self.columns is not None and column not in self.columns:
            return []
        listed: list[tuple[str, int]] = self.index.frequent(column, most)  # type: ignore[attr-defined]
        return listed

    @property
    def beside(self) -> Path | None:
        """The folder with all that is prepared of this database; None in memory."""
        return getattr(self.index, "beside", None)

    def _exists(self, match: ValueMatch) -> bool:
        return self.columns is None or match.column in self.columns

    def _shown(self, match: ValueMatch) -> ValueMatch:
        return replace(match, row_count=None) if match.column in self.uncounted else match


def open_workspace(
    url: str,
    *,
    folder: Path | None = None,
    descriptions: Path | None = None,
    tables: Collection[str] | None = None,
    functions: Collection[str] = (),
    prepare: bool = False,
    seconds: float | None = None,
    run: Run | None = None,
) -> Workspace:
    """Open a database with what is known about it, or about some `tables` of it; queries may call
    `functions` of its own.

    Prepared and unchanged: at once. Prepared and changed since: the same, with a fresh schema and a
    note on what is new and gone. Where the engine can't tell, it is held to be unchanged as long as
    its schema is, with a note after a day. Never prepared, or the prepared folder can't be used:
    what can be learnt within `seconds` (default 2, for large files 4), held in memory, with notes
    on what that leaves out. With `prepare` the last two are prepared first where that takes next to
    no time. Raises `DatabaseUnavailable` (no tables included), `ConfigError` (tables or functions
    that aren't there), `WorkspaceError` (only for a description folder that was given and isn't
    there), `Cancelled`.
    """
    run = run or Run()
    database = open_database(url, tables=tables, functions=functions, run=run)
    try:
        described = description_folder(database, descriptions)
        folder = prepared_folder(url) if folder is None else folder
        opened, problem, fresh = _prepared(database, folder, described, run)
        if prepare and not fresh:
            why = prepare_unasked(url, folder, descriptions, run)
            if why is None:
                opened, problem, _ = _prepared(database, folder, described, run)
            elif why:
                problem = problem or f"{why} To prepare it: {_command(database)}"
        if opened is not None:
            require_tables(database, opened.schema)
            return opened
        if seconds is None:
            seconds = FIRST_SECONDS[(database.size() or 0) > SMALL_FILE]
        seconds = min(seconds, run.remaining() * 0.6)  # the question itself needs time, too
        return _unprepared(database, described, run, seconds, problem)
    except BaseException:
        database.close()
        raise


def _prepared(
    database: Database, folder: Path, described: Path | None, run: Run
) -> tuple[Workspace | None, str, bool]:
    """The prepared workspace, or why there is none to use (empty when nothing was prepared), and
    whether it is what the database holds today."""
    if not folder.exists():
        return None, "", False
    if reason := untrusted(folder):
        return None, f"What is prepared in {folder} was not used: {reason}.", False
    problem = ""
    for _ in range(_ATTEMPTS):  # a prepare finishing meanwhile replaces the files a manifest names
        try:
            manifest = read_manifest(folder)
            if manifest is None:
                return None, "", False
            catalog = read_catalog(folder, manifest)
            index = open_value_index(folder / manifest.values_folder)
        except WorkspaceError as error:
            problem = f"What was prepared can't be used: {error}"
            continue
        fresh = _fresh(database, manifest, described)
        if fresh and manifest.fingerprint:
            opened = _whole(database, catalog, index, manifest.warnings)
        else:
            schema, notes = described_schema(database, described, run.remaining())
            if fresh := fresh and same_shape(schema, _seen(database, catalog.schema)):
                known = replace(catalog, schema=_joined_as(schema, catalog.schema))
                warnings = (*manifest.warnings, *_aged(database, manifest.created))
                opened = _whole(database, known, index, warnings)
            else:
                opened = _stale(database, catalog, index, schema, notes)
        described_by = stored_vectors(folder, opened.schema)
        return replace(opened, descriptions=described_by, texts=prepared_texts(folder)), "", fresh
    return None, problem, False


def _whole(
    database: Database, catalog: Catalog, index: ValueIndex, warnings: tuple[str, ...]
) -> Workspace:
    """The prepared workspace without what may not be read."""
    if database.tables is None:
        return Workspace(database, catalog.schema, index, catalog, warnings)
    schema = catalog.schema.only(database.tables)
    seen = frozenset(schema.columns)
    profiles = {ref: profile for ref, profile in catalog.columns.items() if ref in seen}
    about = {name: profile for name, profile in catalog.tables.items() if schema.table(name)}
    among = set(schema.foreign_keys)
    unmatched = {key: told for key, told in catalog.unmatched.items() if key in among}
    known = Catalog(schema, about, profiles, unmatched=unmatched)
    return Workspace(
        database, schema, FilteredIndex(index, seen), known, pressing_notes(known, sampled=False)
    )


def _seen(database: Database, schema: Schema) -> Schema:
    """The part of a schema that may be known."""
    return schema if database.tables is None else schema.only(database.tables)


def same_shape(schema: Schema, other: Schema) -> bool:
    """True if two schemas have the same tables, columns and declared keys, whatever describes
    them."""
    return _shape(schema) == _shape(other)


def _shape(schema: Schema) -> tuple[object, ...]:
    tables = {
        table.name: (table.kind, table.primary_key, [(c.name, c.type) for c in table.columns])
        for table in schema.tables
    }
    return tables, {key.pairs for key in schema.foreign_keys if not key.inferred}


def _aged(database: Database, created: str) -> tuple[str, ...]:
    """The days since it was prepared, where nobody can tell whether it has changed since."""
    try:
        days = (datetime.now(UTC) - datetime.fromisoformat(created)).days
    except (ValueError, TypeError):
        return ()
    if days < 1:
        return ()
    return (
        f"The database was prepared {days} day{'' if days == 1 else 's'} ago; whether it has "
        f"changed since can't be told. To find new values: {_command(database)}",
    )


def _fresh(database: Database, manifest: Manifest, described: Path | None) -> bool:
    """True if nothing tells that the database or what describes it has changed."""
    return (
        manifest.fingerprint == database.fingerprint()
        and manifest.descriptions == descriptions_digest(described)
    )


def _joined_as(schema: Schema, known: Schema) -> Schema:
    """Today's schema with the joins that were inferred, as far as they still fit."""
    exists = frozenset(schema.columns)
    inferred = [
        key
        for key in known.foreign_keys
        if key.inferred
        and all(ref in exists for pair in key.pairs for ref in pair)
        and schema.foreign_key_columns.isdisjoint(near for near, _ in key.pairs)
    ]
    return with_joins(schema, inferred)


def _told(names: Sequence[str], what: str) -> str:
    """Part of a sentence about names, if there are any."""
    return f", {listed(names)} {'is' if len(names) == 1 else 'are'} {what}" if names else ""


def _stale(
    database: Database,
    catalog: Catalog,
    index: ValueIndex,
    schema: Schema,
    notes: tuple[str, ...],
) -> Workspace:
    """The prepared workspace, as far as it still fits the schema of today."""
    schema = _joined_as(schema, catalog.schema)
    exists = frozenset(schema.columns)
    current = Catalog(
        schema,
        {name: profile for name, profile in catalog.tables.items() if schema.table(name)},
        _marked_sampled(catalog, exists),
        # What was noted then may be of tables that aren't to be known of now.
        notes if database.tables is not None else (*notes, *catalog.notes),
    )  # which keys don't match may have changed
    known = _seen(database, catalog.schema)
    more = _told(schema.gone_from(known), "new") + _told(known.gone_from(schema), "gone")
    changed = (
        f"The database has changed since it was prepared{more}. "
        f"To find new values, too: {_command(database)}"
    )
    return Workspace(
        database,
        schema,
        FilteredIndex(index, exists),
        current,
        (changed, *notes, *pressing_notes(current, sampled=False)),
    )


def _marked_sampled(
    catalog: Catalog, exists: frozenset[ColumnRef]
) -> Mapping[ColumnRef, ColumnProfile]:
    """Profiles of columns that still exist. They describe other data than today's, so nothing in
    them is complete any more."""
    return {
        ref: replace(profile, sampled=True, distinct_exact=False)
        for ref, profile in catalog.columns.items()
        if ref in exists
    }


def _command(database: Database) -> str:
    """The command that prepares a database."""
    return f"sqlwright prepare {shlex.quote(str(database.path or database.url))}"


def _unprepared(
    database: Database, described: Path | None, run: Run, seconds: float, problem: str
) -> Workspace:
    schema, notes = described_schema(database, described, run.remaining())
    require_tables(database, schema)
    scan = scan_quickly(database, schema, run, seconds)
    catalog = replace(scan.catalog, notes=(*notes, *scan.catalog.notes))
    warnings = [problem] if problem else []
    if not scan.whole and LONGER not in problem:
        warnings.append(
            f"not all values of this database are known yet; to learn them: {_command(database)}"
        )
    values: ValueIndex = scan.values
    if scan.uncounted:
        values = FilteredIndex(values, None, scan.uncounted)
    # That a part was looked at is said already; which part, the catalog's own notes tell.
    pressing = pressing_notes(catalog) if scan.whole else unreadable(catalog.tables.values())
    return Workspace(database, catalog.schema, values, catalog, (*warnings, *notes, *pressing))
