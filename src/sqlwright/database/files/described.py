"""Files that say their columns themselves: Parquet and JSON."""

from __future__ import annotations

from collections.abc import Iterator

from sqlwright.database.files.corrections import Correction
from sqlwright.database.files.json.whole_numbers import whole_numbers
from sqlwright.database.files.sources import Source
from sqlwright.database.files.table import (
    Columns,
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
    connection: DatabaseReader, source: Source, correction: Correction, kinds: tuple[str, ...]
) -> TableFile:
    """A table of files that say their columns themselves."""
    options: dict[str, Option] = {}
    if source.kind == "json" and source.paths[0].name.lower().rstrip(".gzst").endswith("l"):
        options["format"] = "newline_delimited"
    if source.kind == "parquet" and any("=" in part for part in source.paths[0].parent.parts):
        options["hive_partitioning"] = True
    paths = ", ".join(quote_text(str(path)) for path in source.paths)
    told = "".join(f", {key}={written(value)}" for key, value in options.items())
    call = f"read_{source.kind}([{paths}]{told})"
    read, notes, size = (
        _columns(connection, f"FROM {call}"),
        tuple[str, ...](),
        size_of(source.paths),
    )
    if source.kind == "json":
        read, notes = whole_numbers(connection, call, read, size)
    fields: dict[str, str] = {}
    stored = tuple(_flat(connection, call, read, fields))
    columns = with_types(correction.applied(stored, source.paths[0].name), kinds)
    return TableFile(
        source.name, source.kind, source.paths, columns, tuple(name for name, _ in stored),
        options, size=size, read=read, fields=fields, notes=notes,
        casts=any(kind != stored[at][1] for at, (_, kind) in enumerate(columns))
        and source.kind == "parquet",
    )  # fmt: skip


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
