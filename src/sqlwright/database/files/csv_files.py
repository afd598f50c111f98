"""CSV files: DuckDB's guesses, the user's corrections, and notes of what is left out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlwright.database.failures import READ_FAILURES, read_failure
from sqlwright.database.files.corrections import Correction
from sqlwright.database.files.encodings import address_of
from sqlwright.database.files.sources import Source
from sqlwright.database.files.table import Option, TableFile, size_of, with_types, written
from sqlwright.database.reader import DatabaseReader
from sqlwright.sql.tokens import quote_name, quote_text

WHOLE_BYTES = 16 * 1024 * 1024
"""Bytes of text of a table that is read whole, to guess types and to find lines that can't be read.
Of a larger one only the beginning is looked at."""
_NAMED = {"latin-1": "Latin-1", "windows-1252": "Windows-1252"}
"""Encodings that are guessed because bytes aren't UTF-8."""
_DELIMITERS = ",;\t|"
_COMMA = re.compile(r"[+-]?(\d{1,3}(\.\d{3})+|\d+)(,\d+)?")
_POINT = re.compile(r"[+-]?(\d{1,3}(,\d{3})+|\d+)(\.\d+)?")
_NUMBERS: tuple[tuple[Mapping[str, str], re.Pattern[str]], ...] = (
    ({"decimal_separator": ",", "thousands": "."}, _COMMA),
    ({"thousands": ","}, _POINT),
)
"""Ways to write numbers that DuckDB has to be told of, and what they look like."""
_LOOKED_AT = 1_000
"""Values of a column that have to look like numbers of a kind."""
_BLANK = re.compile(r"column\d+")
_AGAIN = re.compile(r"(.+)_\d+")

Options = Mapping[str, Option]


@dataclass(frozen=True, slots=True)
class _Guess:
    """The options and columns that DuckDB finds in one CSV file."""

    options: Options
    columns: tuple[tuple[str, str], ...]


class CsvGuess:
    """Guesses about the CSV files of one table."""

    def __init__(
        self, connection: DatabaseReader, source: Source, correction: Correction, encoding: str
    ) -> None:
        self._connection, self._source, self._correction = connection, source, correction
        self._encoding = encoding
        self._first = source.paths[0]
        self._size = size_of(source.paths)
        self._whole = self._size <= WHOLE_BYTES
        self._notes: list[str] = []
        self._address = address_of(self._first, encoding)

    def table(self, kinds: tuple[str, ...], *, short: bool) -> TableFile:
        """The table, its columns of the types given if there are any; with `short` only what tells
        whether files are alike."""
        guessed = self._guess()
        columns = with_types(self._correction.applied(guessed.columns, self._first.name), kinds)
        made = replace(self._made(guessed), paths=self._source.paths, columns=columns)
        if short:
            return made
        if guessed.options.get("header") and self._correction.header is None:
            self._note_names([name for name, _ in guessed.columns])
        skipped = guessed.options.get("skip")
        if skipped and self._correction.skip is None:
            self._notes.append(f"Lines before the header that are left out: {skipped}.")
        if self._encoding in _NAMED and self._correction.encoding is None:
            self._notes.append(f"Its encoding isn't UTF-8; it is read as {_NAMED[self._encoding]}.")
        made = self._readable(made)
        if not self._whole:
            self._notes.append(
                "It is large, so its types are guessed from its beginning, and a line that doesn't "
                "fit makes a query fail."
            )
        return replace(made, notes=tuple(self._notes))

    def _guess(self) -> _Guess:
        told = self._told()
        try:
            guessed = self._sniff(told)
        except READ_FAILURES as error:
            if read_failure(error).kind != "sql":
                raise
            guessed = self._sniff(told | {"ignore_errors": True})
        if len(guessed.columns) == 1 and any(c in guessed.columns[0][0] for c in _DELIMITERS):
            # Lines of different lengths look like one column to it.
            again = self._sniff(told | {"ignore_errors": True})
            guessed = again if len(again.columns) > 1 else guessed
        if self._correction.decimal is None and self._correction.thousands is None:
            guessed = self._with_numbers(told, guessed)
        return guessed

    def _made(self, guessed: _Guess) -> TableFile:
        """The first file as it is guessed."""
        return TableFile(
            self._source.name, "csv", (self._first,), guessed.columns,
            tuple(name for name, _ in guessed.columns), guessed.options, self._encoding,
            size=self._size,
        )  # fmt: skip

    def _told(self) -> dict[str, Option]:
        """DuckDB's options that the user has given, and the encoding."""
        one = self._correction
        named = {
            "delim": one.delimiter, "quote": one.quote, "escape": one.escape,
            "comment": one.comment, "header": one.header, "skip": one.skip,
            "decimal_separator": one.decimal, "thousands": one.thousands,
            "dateformat": one.dateformat, "timestampformat": one.timestampformat,
            "nullstr": one.nulls,
        }  # fmt: skip
        told: dict[str, Option] = {
            name: value for name, value in named.items() if value is not None
        }
        if self._encoding in {"utf-16", "latin-1"}:
            told["encoding"] = self._encoding
        return told

    def _sniff(self, told: Options) -> _Guess:
        sample = {"sample_size": -1} if self._size <= WHOLE_BYTES // 2 else {}
        given = "".join(f", {k}={written(v)}" for k, v in {**told, **sample}.items())
        rows = list(
            self._connection.rows(
                "SELECT Delimiter, Quote, Escape, NewLineDelimiter, Comment, SkipRows, HasHeader, "
                "Columns, DateFormat, TimestampFormat "
                f"FROM sniff_csv({quote_text(self._address)}{given})"
            )
        )
        delim, quote, escape, _, comment, skip, header, columns, dates, times = rows[0]
        assert isinstance(columns, tuple)
        # A quote that the beginning doesn't have may still come.
        quoted = _given(quote) or '"'
        options: dict[str, Option] = {
            "auto_detect": False, "delim": str(delim), "quote": quoted,
            "escape": _given(escape) or quoted, "comment": _given(comment) or "",
            "skip": int(str(skip)), "header": bool(header),
        }  # fmt: skip
        for name, value in (("dateformat", dates), ("timestampformat", times)):
            if value:
                options[name] = str(value)
        parsed = [json.loads(str(column)) for column in columns]
        return _Guess(
            {**options, **told}, tuple((str(one["name"]), str(one["type"])) for one in parsed)
        )

    def _with_numbers(self, told: Options, plain: _Guess) -> _Guess:
        """The guess with numbers such as 1.234,50, if all that looks like numbers then is some."""
        texts = {name for name, kind in plain.columns if kind == "VARCHAR"}
        points = any(kind == "DOUBLE" for _, kind in plain.columns)
        for more, shape in _NUMBERS:
            if not texts or (points and "decimal_separator" in more):
                continue
            kept = {k: v for k, v in plain.options.items() if k == "ignore_errors"}
            try:
                guessed = self._sniff({**told, **kept, **more})
            except READ_FAILURES as error:
                if read_failure(error).kind != "sql":
                    raise
                continue
            changed = [
                name for name, kind in guessed.columns if name in texts and kind != "VARCHAR"
            ]
            if changed and all(self._look_like(plain, name, shape) for name in changed):
                return guessed
        return plain

    def _look_like(self, plain: _Guess, name: str, shape: re.Pattern[str]) -> bool:
        kept = self._made(plain)
        quoted = quote_name(name)
        rows = self._connection.rows(
            f"SELECT DISTINCT {quoted} FROM ({kept.query()}) WHERE {quoted} <> '' "
            f"LIMIT {_LOOKED_AT}"
        )
        return all(shape.fullmatch(str(value).strip()) for (value,) in rows)

    def _readable(self, made: TableFile) -> TableFile:
        """The table, without the lines that can't be read; those are counted where it is small."""
        if self._whole and not made.options.get("ignore_errors"):
            failed = self._attempt(made)
            if failed is None:
                return made
            made = replace(made, options={**made.options, "ignore_errors": True})
        if not made.options.get("ignore_errors"):
            return made
        if not self._whole:
            self._notes.append("Lines that don't fit its columns are left out.")
            return made
        list(
            self._connection.rows(
                "SELECT count(COLUMNS(*)) FROM "
                f"({made.query(store_rejects=True, rejects_table='left_out')})"
            )
        )
        rows = list(
            self._connection.rows("SELECT count(DISTINCT (file_id, line)), min(line) FROM left_out")
        )
        self._notes += _left_out(rows)
        return made

    def _attempt(self, made: TableFile) -> str | None:
        try:
            list(self._connection.rows(f"SELECT count(COLUMNS(*)) FROM ({made.query()})"))
        except READ_FAILURES as error:
            failure = read_failure(error)
            if failure.kind != "sql":
                raise
            return failure.message
        return None

    def _note_names(self, names: list[str]) -> None:
        blank = [name for name in names if _BLANK.fullmatch(name)]
        if blank:
            self._notes.append(f"Columns without a name: {', '.join(blank)}.")
        folded = {name.lower() for name in names}
        again = [n for n in names if (m := _AGAIN.fullmatch(n)) and m[1].lower() in folded]
        if again:
            self._notes.append(f"Names that come more than once have a number: {', '.join(again)}.")


def _left_out(rows: list[tuple[Any, ...]]) -> Iterator[str]:
    count, first = rows[0]
    if count == 1:
        yield f"1 line that doesn't fit its columns is left out: line {first}."
    elif count:
        yield f"{count:,} lines that don't fit its columns are left out, the first is line {first}."


def _given(value: object) -> str:
    """An option that the library found; it writes (empty) for nothing."""
    return "" if value in {None, "(empty)"} else str(value)
