"""Files that say their columns themselves: Parquet and JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from sqlwright.database.files.cells.reading import Said, read_columns
from sqlwright.database.files.corrections import Correction
from sqlwright.database.files.csv.guess import FIRST_ROWS, WHOLE_BYTES
from sqlwright.database.files.encodings import address_of
from sqlwright.database.files.json.whole_numbers import whole_numbers
from sqlwright.database.files.sources import Source
from sqlwright.database.files.table import (
    Columns,
    Doubt,
    Option,
    TableFile,
    size_of,
    with_types,
    written,
)
from sqlwright.database.reader import DatabaseReader
from sqlwright.sql.dialects import DUCKDB
from sqlwright.sql.tokens import quote_text

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
