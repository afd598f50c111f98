"""Readings of files: guesses, the user's corrections, and notes of what is left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

from sqlwright.database.address import COMPRESSED
from sqlwright.database.failures import READ_FAILURES, Failure, ReadFailed, read_failure
from sqlwright.database.files.cells import Said, read_columns
from sqlwright.database.files.corrections import NAME, Correction, Corrections
from sqlwright.database.files.delimited import FIRST_ROWS, WHOLE_BYTES, CsvGuess
from sqlwright.database.files.encodings import DECODED, Encoding, address_of, encoding_of
from sqlwright.database.files.excel.sheets import sheet_tables
from sqlwright.database.files.sources import Source, parted, readable_name, unique
from sqlwright.database.files.table import (
    Columns,
    Doubt,
    Option,
    TableFile,
    size_of,
    together,
    union,
    with_types,
    written,
)
from sqlwright.database.reader import DatabaseReader
from sqlwright.errors import DatabaseUnavailable
from sqlwright.sql.dialects import DUCKDB
from sqlwright.sql.tokens import quote_text

_KEPT = 15
"""Digits of a whole number that every real number keeps."""
_WHOLE_BYTES = 64 * 1024 * 1024
"""Bytes of files that are looked through; of larger ones only the first rows are."""
_FIRST_ROWS = 20_480
"""Rows of larger files that are looked at; as many as DuckDB guesses by."""
_HELD = 38
"""Digits that a HUGEINT holds."""


def whole_numbers(
    connection: DatabaseReader, call: str, columns: Columns, size: int
) -> tuple[Columns, tuple[str, ...]]:
    """The columns that a call of DuckDB's reader gives, those of whole numbers as HUGEINT, and
    notes on those with numbers that are rounded. Files (`size` in bytes) are read once where there
    are real numbers."""
    real = [name for name, kind in columns if kind == "DOUBLE"]
    if not real:
        return columns, ()
    told = ", ".join(f"{quote_text(name)}: 'JSON'" for name in real)
    asked = ", ".join(
        f"bool_and(regexp_full_match({name}, '-?[0-9]+')), "
        f"max(length(ltrim({name}, '-'))) FILTER (regexp_full_match({name}, '-?[0-9]+'))"
        for name in (f"CAST({DUCKDB.quoted(name)} AS VARCHAR)" for name in real)
    )
    all_rows = size <= _WHOLE_BYTES
    query = f"FROM {call.removesuffix(')')}, columns={{{told}}})"
    rows = query if all_rows else f"FROM ({query} LIMIT {_FIRST_ROWS})"
    (found,) = connection.rows(f"SELECT {asked} {rows}")
    kinds, notes = dict(columns), []
    for name, whole, digits in zip(real, found[::2], found[1::2], strict=True):
        if whole and all_rows and int(str(digits)) <= _HELD:
            kinds[name] = "HUGEINT"
        elif int(str(digits or 0)) > _KEPT:
            notes.append(f"{name}: whole numbers of more than {_KEPT} digits are rounded.")
    return tuple(kinds.items()), tuple(notes)


_DEEPEST = 4
"""Levels of objects within objects whose fields become columns."""
_MOST = 1_000
"""Columns at most that objects are taken apart into."""


def described(
    connection: DatabaseReader, source: Source, correction: Correction, kinds: tuple[str, ...],
    encoding: str = "utf-8",
) -> TableFile:  # fmt: skip
    """A table of files that say their columns themselves; texts in JSON are read as what they
    say."""
    options: dict[str, Option] = {}
    size = size_of(source.paths)
    if source.kind == "json" and source.paths[0].name.lower().rstrip(".gzst").endswith("l"):
        options["format"] = "newline_delimited"
    if source.kind == "parquet" and any("=" in part for part in source.paths[0].parent.parts):
        options["hive_partitioning"] = True
    paths = ", ".join(quote_text(address_of(path, encoding)) for path in source.paths)
    whole = {"sample_size": -1} if source.kind == "json" and size <= WHOLE_BYTES else {}
    told = "".join(f", {key}={written(value)}" for key, value in (options | whole).items())
    call = f"read_{source.kind}([{paths}]{told})"
    read, notes = _columns(connection, f"FROM {call}"), tuple[str, ...]()
    if source.kind == "json":
        read, notes = whole_numbers(connection, call, read, size)
    fields: dict[str, str] = {}
    stored = tuple(_flat(connection, call, read, fields))
    names = tuple(name for name, _ in stored)
    made = TableFile(
        source.name, source.kind, source.paths, stored, names, options, encoding, size=size,
        read=read, fields=fields, notes=notes,
    )  # fmt: skip
    if source.kind == "json":
        rows = None if whole else FIRST_ROWS
        made = _with_texts(connection, made, correction, rows)
    columns = with_types(correction.applied(stored, source.paths[0].name), kinds)
    named = [name for name, _ in columns]
    doubts = tuple(replace(doubt, column=named[names.index(doubt.column)]) for doubt in made.doubts)
    kept = {name: one.kind for name, one in made.cells.items()} if not kinds else {}
    return replace(
        made, doubts=doubts,
        columns=tuple(
            (name, kept.get(own, kind)) for own, (name, kind) in zip(names, columns, strict=True)
        ),
        casts=source.kind == "parquet"
        and any(kind != stored[at][1] for at, (_, kind) in enumerate(columns)),
    )  # fmt: skip


def _with_texts(
    connection: DatabaseReader, made: TableFile, correction: Correction, rows: int | None
) -> TableFile:
    """The table with readings of its columns of texts."""
    texts = [name for name, kind in made.columns if kind == "VARCHAR"]
    if not texts:
        return made
    types = {name: kind for name, kind in correction.types.items() if name in texts}
    said = Said(types, correction.nulls, correction.decimal, correction.thousands,
                correction.dateformat, correction.timestampformat, correction.unfit)  # fmt: skip
    query = f"SELECT {', '.join(map(DUCKDB.quoted, texts))} FROM ({made.query()})"
    cells = read_columns(connection, query, texts, said, rows)
    doubts = tuple(Doubt(text, name) for name, one in cells.items() for text in one.doubts)
    details = tuple(text for one in cells.values() for text in one.details)
    marked = {n: one.marks for n, one in cells.items() if one.kind != "VARCHAR" and one.marks}
    notes = (f"{name}: {', '.join(marks)} counts as no value." for name, marks in marked.items())
    return replace(made, cells=cells, doubts=doubts, details=details, notes=(*made.notes, *notes))


def _columns(connection: DatabaseReader, query: str) -> Columns:
    rows = connection.rows(f"SELECT column_name, column_type FROM (DESCRIBE {query})")
    return tuple((str(name), str(kind)) for name, kind in rows)


def _flat(
    connection: DatabaseReader,
    call: str,
    columns: Columns,
    fields: dict[str, str],
    *,
    within: tuple[str, ...] = (),
    taken: set[str] | None = None,
) -> Iterator[tuple[str, str]]:
    """The columns, each field of an object (STRUCT) one of its own, named after both; `fields` gets
    their expressions."""
    taken = taken or {name.lower() for name, _ in columns}
    for name, kind in columns:
        path = (*within, name)
        expression = ".".join(map(DUCKDB.quoted, path))
        inside = kind.startswith("STRUCT(") and kind.endswith(")") and len(path) < _DEEPEST
        if inside and len(fields) < _MOST:
            apart = _columns(connection, f"SELECT unnest({expression}) FROM {call}")
            yield from _flat(connection, call, apart, fields, within=path, taken=taken)
            continue
        flat = "_".join(path)
        if within:
            while flat.lower() in taken:
                flat += "_"
            taken.add(flat.lower())
            fields[flat] = f"({expression})"
        yield flat, kind


_ALIKE = 50
"""Files of a table whose shape is compared at first."""
_MOST_LOOKED_AT = 400
"""Files that are all looked at where some of them differ."""

Asking = Callable[[Mapping[str, Any]], AbstractContextManager[DatabaseReader]]
"""Reads by a connection whose opening has these entries, too."""


class TooSlow(Exception):
    """Looking through a file was stopped; its path."""


def guess(
    ask: Asking, sources: tuple[Source, ...], corrections: Corrections
) -> tuple[tuple[TableFile, ...], tuple[str, ...]]:
    """The tables that files make, and notes of those that can't be read. Raises ConfigError, and
    DatabaseUnavailable where none can be."""
    texts = (path for one in sources if one.kind in {"csv", "json"} for path in one.paths)
    decoded = [address_of(path, code) for path in texts for code in DECODED]
    with ask({}) as connection, ask({"decoded": decoded}) as decoding:
        return _Guesses(ask, connection, decoding, corrections).all(sources)


@dataclass(frozen=True, slots=True)
class _Guesses:
    ask: Asking
    connection: DatabaseReader
    decoding: DatabaseReader
    """Reads files in encodings that DuckDB doesn't know."""
    corrections: Corrections

    def all(self, sources: tuple[Source, ...]) -> tuple[tuple[TableFile, ...], tuple[str, ...]]:
        found: list[TableFile] = []
        failed: list[tuple[Source, Failure]] = []
        notes: list[str] = []
        for source in unique(self._corrected(sources)):
            try:
                if source.kind == "excel":
                    made, told = sheet_tables(self.ask, source, self.corrections)
                    found += made
                    notes += told
                else:
                    found += self._tables(source)
            except READ_FAILURES as error:
                failure = read_failure(error)
                if failure.kind == "interrupted":
                    raise TooSlow(source.paths[0]) from None
                failed.append((source, failure))
        if failed and not found:
            source, failure = failed[0]
            raise DatabaseUnavailable(
                f"{source.paths[0]} can't be read{self._as_said(source)}: {failure.message}.",
                hint="Check that it is what its name says, or correct how it is read in a file "
                f"{NAME} beside it.",
            )
        notes += (
            f"{source.paths[0].name} is left out, it can't be read{self._as_said(source)}: "
            f"{failure.message}."
            for source, failure in failed
        )
        apart = _told_apart(found)
        names = unique(Source(one.name, one.kind, one.paths) for one in apart)
        tables = (replace(one, name=named.name) for one, named in zip(found, names, strict=True))
        return tuple(tables), tuple(notes)

    def _as_said(self, source: Source) -> str:
        """Words on the corrections of a file that can't be read, which may be why."""
        said = self.corrections.of(source.paths[0]).model_fields_set
        return f" as {NAME} says ({', '.join(sorted(said))})" if said else ""

    def _corrected(self, sources: tuple[Source, ...]) -> Iterator[Source]:
        """The sources without what is left out, those of one table's name together."""
        named: dict[tuple[str, str], Source] = {}
        for source in sources:
            paths = tuple(p for p in source.paths if not self.corrections.of(p).leave_out)
            if not paths:
                continue
            name = self.corrections.of(paths[0]).table
            if name is None:
                yield replace(source, paths=paths)
                continue
            known = named.get((name, source.kind))
            before = known.paths if known is not None else ()
            named[name, source.kind] = Source(name, source.kind, before + paths)
        yield from named.values()

    def _tables(self, source: Source) -> Iterator[TableFile]:
        """One table of files that are alike; else one of each."""
        correction = self.corrections.of(source.paths[0])
        if len(source.paths) == 1:
            yield self._one(source, correction)
            return
        alone = [self._group(source, group) for group in self._groups(source)]
        whole = alone[0] if len(alone) == 1 else together(alone, said=correction.table is not None)
        if whole is not None:
            note = f"{len(source.paths):,} files are one table."
            yield replace(whole, notes=(*whole.notes, note))
            return
        for part in parted(source):
            yield self._one(part, self.corrections.of(part.paths[0]))

    def _groups(self, source: Source) -> list[list[TableFile]]:
        """The files of a table by the way in which they are read, each looked at alone; of many
        files only some are, as long as those are alike."""
        step = max(1, len(source.paths) // _ALIKE)
        for paths in (source.paths[::step], source.paths):
            groups: dict[object, list[TableFile]] = {}
            for path in paths:
                one = replace(source, paths=(path,))
                made = self._one(one, self.corrections.of(path), short=True)
                groups.setdefault(_shape(made), []).append(made)
            if len(groups) == 1:
                (alone,) = groups.values()
                return [[replace(alone[0], paths=source.paths), *alone[1:]]]
            if step == 1 or len(source.paths) > _MOST_LOOKED_AT:
                break
        return [
            [replace(group[0], paths=tuple(one.paths[0] for one in group)), *group[1:]]
            for group in groups.values()
        ]

    def _group(self, source: Source, alone: Sequence[TableFile]) -> TableFile:
        """One table of files that are read in the same way; the first has the paths of all."""
        first = alone[0]
        kinds: tuple[str, ...] = ()
        if any(one.columns != first.columns for one in alone):
            # A column that is empty in some has no type there; who reads them whole knows.
            whole = [
                self._one(replace(source, paths=one.paths[:1]), self.corrections.of(one.paths[0]))
                for one in alone
            ]
            known = dict(union(whole))
            kinds = tuple(known.get(name, "VARCHAR") for name, _ in first.columns)
        correction = self.corrections.of(first.paths[0])
        return self._one(replace(source, paths=first.paths), correction, kinds=kinds)

    def _one(
        self, source: Source, correction: Correction,
        *, kinds: tuple[str, ...] = (), short: bool = False,
    ) -> TableFile:  # fmt: skip
        """One table, its columns of the types given if there are any; with `short` only what tells
        whether files are alike."""
        if source.kind not in {"csv", "json"}:
            return described(self.connection, source, correction, kinds)
        csv = source.kind == "csv"
        encoding = (
            Encoding(correction.encoding) if correction.encoding
            else encoding_of(source.paths[0], csv=csv)
        )  # fmt: skip
        if encoding.name in DECODED and source.paths[0].name.lower().endswith(COMPRESSED):
            message = f"its encoding is {encoding.name}, and it is packed: save it as UTF-8"
            raise ReadFailed(Failure("unavailable", message))
        reader = self.decoding if encoding.name in DECODED else self.connection
        if csv:
            return CsvGuess(reader, source, correction, encoding).table(kinds, short=short)
        made = described(reader, source, correction, kinds, encoding.name)
        return replace(made, quoting=encoding.notes)


def _told_apart(tables: Sequence[TableFile]) -> Iterator[TableFile]:
    """The tables, sheets that are called like another table after their files, too."""
    count = Counter(one.name.lower() for one in tables)
    for one in tables:
        if one.sheets and count[one.name.lower()] > 1:
            part = one.sheets[0]
            yield replace(one, name=readable_name(f"{part.path.stem} {part.sheet}"))
        else:
            yield one


def _shape(one: TableFile) -> object:
    names = tuple(name for name, _ in one.columns)
    if one.kind != "csv":
        return names
    said = tuple((what, tuple(told)) for what, told in sorted(one.said().items()))
    return names, tuple(sorted(one.options.items())), one.encoding, said
