"""Readings of files as a file of corrections: it says what was guessed, to be changed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from sqlwright.boundary.yaml_text import write_yaml
from sqlwright.database.files.corrections import ONE_TYPE
from sqlwright.database.files.sources import VARYING
from sqlwright.database.files.table import TableFile

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
