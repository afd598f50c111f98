"""CSV files: DuckDB's guesses, the user's corrections, and notes of what is left out."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from sqlwright.database.failures import READ_FAILURES, Failure, ReadFailed, read_failure
from sqlwright.database.files.corrections import Correction
from sqlwright.database.files.csv.dates import FORMATS, order_of, undecided
from sqlwright.database.files.csv.head import LOOKED_AT, header_line
from sqlwright.database.files.csv.lines import left_out
from sqlwright.database.files.csv.marks import by_column, marks_in
from sqlwright.database.files.csv.totals import total_row
from sqlwright.database.files.encodings import address_of
from sqlwright.database.files.sources import Source
from sqlwright.database.files.table import Columns, Option, TableFile, size_of, with_types, written
from sqlwright.database.reader import DatabaseReader
from sqlwright.sql.dialects import DUCKDB
from sqlwright.sql.tokens import quote_text

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
_LEFT_OUT = "Lines that don't fit its columns are left out."
_FIRST_ROWS = 100_000
"""Rows of a large table in which dates are looked at."""
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
        self._open: list[str] = []
        self._address = address_of(self._first, encoding)

    def table(self, kinds: tuple[str, ...], *, short: bool) -> TableFile:
        """The table, its columns of the types given if there are any; with `short` only what tells
        whether files are alike."""
        guessed = self._with_dates(self._guess())
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
        self._notes += self._open
        made = self._by_column(self._readable(made))
        if not self._whole:
            self._notes.append(
                "It is large, so its types are guessed from its beginning, and a line that doesn't "
                "fit makes a query fail."
            )
        else:
            made = self._without_total(self._without_blank(made, guessed.columns))
        return replace(made, notes=tuple(self._notes))

    def _guess(self) -> _Guess:
        told = self._told()
        guessed = self._with_rows(told, self._sniffed(told))
        found = self._header(guessed)
        if found is not None:
            told |= {"skip": found, "header": True}
            guessed = self._sniffed(told)
        elif len(guessed.columns) == 1 and any(c in guessed.columns[0][0] for c in _DELIMITERS):
            # Lines of different lengths look like one column to it.
            again = self._sniff(told | {"ignore_errors": True})
            guessed = again if len(again.columns) > 1 else guessed
        if isinstance(self._correction.nulls, Mapping):
            return self._as_said(told, guessed, self._correction.nulls)
        if self._correction.nulls is not None:
            return self._with_numbers(told, guessed)
        present = marks_in(self._connection, self._made(guessed))
        if not present:
            return self._with_numbers(told, guessed)
        marks = tuple(sorted({mark for those in present.values() for mark in those}))
        typed = self._with_marks(told, guessed, marks)
        # A header over texts alone is found only where some are numbers or days.
        pairs = zip(guessed.columns, typed.columns, strict=False)
        present = {name: present[before] for (before, _), (name, _) in pairs if before in present}
        changed = {name for name, kind in typed.columns if kind != "VARCHAR"} & set(present)
        used = tuple(sorted({mark for name in changed for mark in present[name]}))
        if not used:
            return self._with_numbers(told, guessed)
        texts = [name for name in present if name not in changed and present[name] & set(used)]
        kept = f", except in texts: {', '.join(texts)}" if texts else ""
        self._notes.append(f"No value is meant by {', '.join(used)}{kept}.")
        return typed if used == marks else self._with_marks(told, guessed, used)

    def _as_said(
        self, told: Options, guessed: _Guess, nulls: Mapping[str, tuple[str, ...]]
    ) -> _Guess:
        """The guess with texts that stand for no value in the columns of which the user says so."""
        marks = tuple(sorted({mark for those in nulls.values() for mark in those}))
        plain = dict(self._with_numbers(told, guessed).columns)
        typed = self._with_marks(told, guessed, marks)
        columns = (
            (name, kind if name in nulls or plain.get(name) != "VARCHAR" else "VARCHAR")
            for name, kind in typed.columns
        )
        return replace(typed, columns=tuple(columns))

    def _by_column(self, made: TableFile) -> TableFile:
        """The table with its texts that stand for no value, columns of text without them."""
        made = by_column(made, self._correction.nulls)
        if not made.missing or made.options.get("ignore_errors") or not self._whole:
            return made
        if self._attempt(made) is None:
            return made
        # What is no value in one column may be in another, where it fits no number.
        self._notes.append(_LEFT_OUT)
        return replace(made, options={**made.options, "ignore_errors": True})

    def _with_marks(self, told: Options, guessed: _Guess, marks: tuple[str, ...]) -> _Guess:
        """The guess with texts that stand for no value."""
        kept = {k: v for k, v in guessed.options.items() if k == "ignore_errors"}
        more = {**told, **kept, "nullstr": ("", *marks)}
        return self._with_dates(self._with_numbers(more, self._sniffed(more)))

    def _sniffed(self, told: Options) -> _Guess:
        try:
            return self._sniff(told)
        except READ_FAILURES as error:
            if read_failure(error).kind != "sql":
                raise
            return self._sniff({**told, "ignore_errors": True})

    def _with_rows(self, told: Options, guessed: _Guess) -> _Guess:
        """The guess, unless it leaves out more lines than it has: a line that is longer than those
        before it is no table then."""
        skipped = guessed.options.get("skip")
        if not isinstance(skipped, int) or not skipped or "skip" in told:
            return guessed
        rows = f"SELECT 1 FROM ({self._made(guessed).query()}) LIMIT {skipped}"
        if len(list(self._connection.rows(rows))) == skipped:
            return guessed
        again = self._sniffed({**told, "skip": 0, "ignore_errors": True})
        return again if len(again.columns) > 1 else guessed

    def _header(self, guessed: _Guess) -> int | None:
        """The number of lines before a header that wasn't found, since titles above it have as many
        separators. Raises ReadFailed for a file without anything."""
        blank = any(_BLANK.fullmatch(name) for name, _ in guessed.columns)
        said = self._correction.skip is not None or self._correction.header is not None
        if said or (guessed.options["header"] and not blank):
            return None
        encoding = guessed.options.get("encoding")
        more = "" if encoding is None else f", encoding={written(encoding)}"
        lines = self._connection.rows(
            f"SELECT line FROM read_csv({quote_text(self._address)}, delim='\x01', quote='', "
            "escape='', comment='', header=false, columns={'line': 'VARCHAR'}, auto_detect=false, "
            f"null_padding=true, ignore_errors=true{more}) LIMIT {LOOKED_AT}"
        )
        texts = [None if line is None else str(line) for (line,) in lines]
        if not any(text and text.strip() for text in texts):
            raise ReadFailed(Failure("unavailable", "it is empty"))
        found = header_line(
            texts, str(guessed.options["delim"]), str(guessed.options["quote"] or '"')
        )
        return found or None

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
            "nullstr": None if isinstance(one.nulls, Mapping) else one.nulls,
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
        if self._correction.decimal is not None or self._correction.thousands is not None:
            return plain
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

    def _with_dates(self, plain: _Guess) -> _Guess:
        """The guess with dates in the order that some column says; where none does, that is kept
        for the notes."""
        self._open = []
        made = self._made(plain)
        try:
            found = list(undecided(self._connection, made, None if self._whole else _FIRST_ROWS))
        except READ_FAILURES as error:
            if read_failure(error).kind != "sql":
                raise
            return plain
        open_ones = [one for one in found if one.option not in self._told()]
        said = {order_of(str(plain.options[key])) for key in FORMATS if plain.options.get(key)}
        said -= {order_of(one.format) for one in found}
        guessed = plain
        for one in open_ones:
            options = {k: v for k, v in guessed.options.items() if k != "auto_detect"}
            typed = {name for name, kind in guessed.columns if kind != "VARCHAR"}
            for other in one.others:
                tried = self._sniffed({**options, one.option: other})
                also = {name for name, kind in tried.columns if kind != "VARCHAR"}
                if also > typed or (also == typed and order_of(other) in said):
                    guessed = tried
                    break
            else:
                types = self._correction.types
                if order_of(one.format) not in said and not set(one.columns) <= set(types):
                    self._open.append(one.note)
        return guessed

    def _look_like(self, plain: _Guess, name: str, shape: re.Pattern[str]) -> bool:
        kept = self._made(plain)
        quoted = DUCKDB.quoted(name)
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
            self._notes.append(_LEFT_OUT)
            return made
        self._notes += left_out(self._connection, made)
        return made

    def _without_total(self, made: TableFile) -> TableFile:
        """The table without a last row that has the sums of the others."""
        said = self._correction.total_row
        if said is False or len(made.paths) > 1:
            return made
        names = [name for name, _ in made.columns]
        condition = total_row(self._connection, made.query(), names, said=said is True)
        if condition is None:
            return made
        if said is None:
            self._notes.append("The last row is left out: it has the sums of the others.")
        return replace(made, without=condition)

    def _without_blank(self, made: TableFile, read: Columns) -> TableFile:
        """The table without columns that have neither a name nor a value."""
        (counts,) = self._connection.rows(
            f"SELECT count(*), count(COLUMNS(*)) FROM ({made.query()})"
        )
        rows, *filled = (int(str(count)) for count in counts)
        if not rows:
            self._notes.append("It has no rows.")
        names = [name for name, _ in made.columns]
        empty = {name for name, count in zip(names, filled, strict=True) if not count}
        if made.options.get("header"):
            kept = [
                at for at, stored in enumerate(made.stored_names)
                if not (_BLANK.fullmatch(stored) and names[at] in empty and rows)
            ]  # fmt: skip
        else:
            kept = list(range(len(names)))
        blank = [stored for at, stored in enumerate(made.stored_names)
                 if _BLANK.fullmatch(stored) and at in kept]  # fmt: skip
        if blank and made.options.get("header") and self._correction.header is None:
            self._notes.append(f"Columns without a name: {', '.join(blank)}.")
        return replace(
            made, columns=tuple(made.columns[at] for at in kept),
            stored_names=tuple(made.stored_names[at] for at in kept),
            read=read, empty=frozenset(empty),
        )  # fmt: skip

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
        folded = {name.lower() for name in names}
        again = [n for n in names if (m := _AGAIN.fullmatch(n)) and m[1].lower() in folded]
        if again:
            self._notes.append(f"Names that come more than once have a number: {', '.join(again)}.")


def _given(value: object) -> str:
    """An option that the library found; it writes (empty) for nothing."""
    return "" if value in {None, "(empty)"} else str(value)
