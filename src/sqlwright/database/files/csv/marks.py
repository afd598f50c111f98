"""Texts that stand for no value: which columns of a CSV file have some."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlwright.database.failures import READ_FAILURES, read_failure
from sqlwright.database.files.missing import MISSING
from sqlwright.database.files.table import TableFile
from sqlwright.database.reader import DatabaseReader
from sqlwright.sql.dialects import DUCKDB
from sqlwright.sql.tokens import quote_text

_ROWS = 100_000
"""Rows that are looked at."""


def marks_in(connection: DatabaseReader, made: TableFile) -> dict[str, set[str]]:
    """The texts that may stand for no value, by the columns of text that have some."""
    texts = [name for name, kind in made.columns if kind == "VARCHAR"]
    if not texts:
        return {}
    listed = ", ".join(map(quote_text, sorted(MISSING)))
    told = ", ".join(
        f"list(DISTINCT {name}) FILTER (lower(trim({name})) IN ({listed}))"
        for name in map(DUCKDB.quoted, texts)
    )
    try:
        (row,) = connection.rows(f"SELECT {told} FROM ({made.query()} LIMIT {_ROWS})")
    except READ_FAILURES as error:
        if read_failure(error).kind != "sql":
            raise
        return {}
    found = zip(texts, row, strict=True)
    return {name: set(map(str, marks)) for name, marks in found if isinstance(marks, tuple)}


def by_column(
    made: TableFile, said: Sequence[str] | Mapping[str, tuple[str, ...]] | None
) -> TableFile:
    """The table with the texts that are no value in all of its columns (`nullstr`) as those of
    the columns that aren't text, or of which the user has `said` so."""
    marks = made.options.get("nullstr")
    kinds = {name: kind for name, (_, kind) in zip(made.stored_names, made.columns, strict=True)}
    if not isinstance(marks, tuple) or not (said is None or isinstance(said, Mapping)):
        return made
    if said is None and "VARCHAR" not in kinds.values():
        return made
    guessed = {name: marks[1:] for name, kind in kinds.items() if kind != "VARCHAR"}
    options = {key: value for key, value in made.options.items() if key != "nullstr"}
    return replace(made, options=options, missing=guessed if said is None else dict(said))
