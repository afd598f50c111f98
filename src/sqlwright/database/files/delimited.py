"""CSV files: DuckDB's guesses of their lines, readings of all their cells, the user's corrections,
and notes of what is left out."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlwright.database.failures import READ_FAILURES, Failure, ReadFailed, read_failure
from sqlwright.database.files.cells import ColumnReading, Said, lenient, read_columns
from sqlwright.database.files.corrections import Correction
from sqlwright.database.files.encodings import OWN, Encoding, address_of
from sqlwright.database.files.sources import Source
from sqlwright.database.files.sums import LABEL, Row, left_out_totals, totals, unsure_total
from sqlwright.database.files.table import Doubt, Option, TableFile, size_of, with_types, written
from sqlwright.database.reader import DatabaseReader
from sqlwright.sql.dialects import DUCKDB
from sqlwright.sql.tokens import quote_text

_MOST = 1_000
"""Rows without what most have that are looked at; where there are more, it says nothing."""


def total_rows(
    connection: DatabaseReader, query: str, readings: Mapping[str, ColumnReading], *, said: bool
) -> tuple[str, int, list[str]]:
    """The condition of the rows of totals in a query that gives texts, how many there are, and the
    names of those that have other numbers. The last row is one if the user has `said` so."""
    quoted = [DUCKDB.quoted(name) for name in readings]
    numbers = [
        one.nearly.replace("{c}", name) or lenient(one.sql(name))
        for name, one in zip(quoted, readings.values(), strict=True)
        if one.nearly or one.kind in {"BIGINT", "HUGEINT", "DOUBLE"}
    ]
    if not (numbers or said):
        return "", 0, []
    most = max((one.filled for one in readings.values()), default=0)
    full = [name for name, one in zip(quoted, readings.values(), strict=True)
            if 2 * one.filled > most]  # fmt: skip
    label = " ".join(
        f"WHEN regexp_matches({name}, {quote_text(LABEL)}) THEN {name}" for name in quoted
    )
    lacks = " OR ".join(f"{name} IS NULL" for name in full) or "false"
    cells = [f"{name} AS c{at}" for at, name in enumerate(quoted)]
    made = [f"CAST({number} AS DOUBLE) AS n{at}" for at, number in enumerate(numbers)]
    told = [f"c{at}" for at in range(len(cells))] + [
        f"n{at}, coalesce(sum(n{at}) OVER above, 0), coalesce(sum(n{at}) OVER (), 0)"
        for at in range(len(numbers))
    ]
    rows = connection.rows(
        "SELECT nth, label, lacks, nth = count(*) OVER () AS last, "
        f"{', '.join(told)} FROM (SELECT row_number() OVER () AS nth, CASE {label} END AS label, "
        f"{lacks} AS lacks, {', '.join([*cells, *made])} FROM ({query})) WINDOW above AS "
        "(ORDER BY nth ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) QUALIFY label IS NOT NULL "
        f"OR nth = count(*) OVER () OR (lacks AND count(*) FILTER (lacks) OVER () < {_MOST}) "
        f"ORDER BY nth LIMIT {2 * _MOST}"
    )
    texts: dict[int, tuple[object, ...]] = {}
    looked: list[Row] = []
    whole: list[float] = []
    for nth, named, lacking, last, *rest in rows:
        found = [None if cell is None else float(str(cell)) for cell in rest[len(cells) :]]
        texts[int(str(nth))] = tuple(rest[: len(cells)])
        whole = [cell or 0.0 for cell in found[2::3]]
        before = tuple(cell or 0.0 for cell in found[1::3])
        looked.append(
            Row(
                int(str(nth)),
                str(named or ""),
                bool(lacking),
                bool(last),
                tuple(found[::3]),
                before,
            )
        )
    taken, unsure = totals(looked, whole)
    if said:
        taken, unsure = looked[-1:], []
    conditions = {" AND ".join(_same(quoted, texts[one.nth])) for one in taken}
    return " OR ".join(f"({one})" for one in conditions), len(taken), [one.label for one in unsure]


def _same(quoted: list[str], cells: tuple[object, ...]) -> Iterator[str]:
    for name, cell in zip(quoted, cells, strict=True):
        yield f"{name} IS NOT DISTINCT FROM {'NULL' if cell is None else quote_text(str(cell))}"


def left_out(connection: DatabaseReader, made: TableFile) -> Iterator[str]:
    """A note of the lines that are left out, if any are."""
    read = made.query(store_rejects=True, rejects_table="left_out")
    list(connection.rows(f"SELECT count(COLUMNS(*)) FROM ({read})"))
    ((count, first),) = connection.rows(
        "SELECT count(DISTINCT (file_id, line)), min(line) FROM left_out"
    )
    lines = int(str(count))
    if lines == 1:
        yield f"1 line that doesn't fit its columns is left out: line {int(str(first))}."
    elif lines:
        yield (
            f"{lines:,} lines that don't fit its columns are left out, "
            f"the first is line {int(str(first))}."
        )


LOOKED_AT = 60
"""Lines at the beginning in which the header has to be."""


def header_line(lines: Sequence[str | None], delimiter: str, quote: str) -> int | None:
    """The number of lines before the first that is about as wide as the widest, and says words
    alone; None where there is no such line."""
    if len(delimiter) != 1 or len(quote) != 1:
        return None
    rows = [_cells(line, delimiter, quote) for line in lines]
    counts = [sum(map(bool, row)) for row in rows]
    widest = max(counts, default=0)
    at = next((n for n, count in enumerate(counts) if 2 * count > widest), None)
    if at is None or widest < 2 or any(map(_is_number, rows[at])):
        return None
    return at


_NOUNS = frozenset({
    "name", "id", "code", "key", "title", "type", "kind", "class", "group", "category",
    "status", "state", "date", "day", "month", "year", "time", "city", "town", "country",
    "region", "address", "street", "email", "phone", "zip", "first", "last", "surname",
    "person", "customer", "client", "company", "product", "item", "article", "department",
    "team", "role", "language", "description", "comment", "note", "text", "word", "value",
    "label", "tag", "color", "colour", "url", "link", "file", "source", "target", "from", "to",
    "question", "answer", "artist", "author", "genre", "capital", "continent", "firma", "ort",
    "stadt", "land", "nachname", "vorname", "straße", "kunde", "nom", "prénom", "ville", "pays",
    "nombre", "ciudad", "país", "naam", "stad",
})  # fmt: skip
"""Words that name columns and are hardly ever values."""


def looks_like_data(names: Sequence[str], rows: Iterable[Sequence[object]]) -> bool:
    """True if no name is written in another way than the cells of its column: as many words, the
    same signs, the same small and large letters; and none is a word for a column."""
    if _NOUNS & {word for name in names for word in re.split(r"[\W_]+", name.lower())}:
        return False
    columns = [{_manner(str(cell)) for cell in cells if cell} for cells in zip(*rows, strict=True)]
    return bool(columns) and all(
        not cells or _manner(name) in cells for name, cells in zip(names, columns, strict=True)
    )


def _manner(text: str) -> str:
    return re.sub(r"\d+", "9", re.sub(r"[^\W\d_]+", _case, text))


def _case(word: re.Match[str]) -> str:
    return "A" if word[0].isupper() else "Aa" if word[0].istitle() else "a"


def _cells(line: str | None, delimiter: str, quote: str) -> list[str]:
    try:
        rows = list(csv.reader([line or ""], delimiter=delimiter, quotechar=quote))
    except csv.Error:
        return []
    return [cell.strip() for cell in rows[0]] if rows else []


def _is_number(cell: str) -> bool:
    return bool(cell) and not any(letter.isalpha() for letter in cell)


WHOLE_BYTES = 128 * 1024 * 1024
"""Bytes of a table's files that are read whole, to find the types of its columns and the lines that
can't be read. Of larger ones only the first rows are looked at."""
WHOLE_SECONDS = 15.0
"""Seconds that this may take; a table that takes longer is a larger one."""
FIRST_ROWS = 200_000
"""Rows of larger tables that are looked at."""
_SHORT_ROWS = 2_000
"""Rows that tell whether files are written alike."""
_DELIMITERS = ",;\t|"
_BLANK = re.compile(r"column\d+")
_AGAIN = re.compile(r"(.+)_\d+")
_LARGE = (
    "It is large, so its types are guessed from its first {0:,} rows; a cell that doesn't fit "
    "makes a query fail."
)

_GUESSED_HEADER = (
    "Its first line is taken for a header, though it looks like the others: correct by header in "
    "sqlwright-files.yaml."
)

Options = Mapping[str, Option]
Cells = dict[str, ColumnReading]


@dataclass(frozen=True, slots=True)
class _Guess:
    """The options and names of columns that DuckDB finds in one CSV file."""

    options: Options
    names: tuple[str, ...]


class CsvGuess:
    """Guesses about the CSV files of one table."""

    def __init__(
        self, connection: DatabaseReader, source: Source, correction: Correction, encoding: Encoding
    ) -> None:
        self._connection, self._source, self._correction = connection, source, correction
        self._encoding = encoding
        self._first = source.paths[0]
        self._size = size_of(source.paths)
        self._whole = self._size <= WHOLE_BYTES
        self._notes: list[str] = []
        self._doubts: list[Doubt] = []
        self._address = address_of(self._first, encoding.name)

    def table(self, kinds: tuple[str, ...], *, short: bool) -> TableFile:
        """The table, its columns of the types given if there are any; with `short` only what tells
        whether files are alike."""
        guessed = self._lines()
        self._header_guessed = False
        if short:
            made = self._texts(guessed)
            return self._read(made, self._cells(made, _SHORT_ROWS), ())
        made = replace(self._texts(guessed), paths=self._source.paths)
        made, cells = self._looked_through(made)
        made, cells = self._with_header(made, cells)
        if self._whole:
            made, cells = self._without_totals(made, cells)
        if made.options.get("header") and self._correction.header is None:
            self._note_names(made.stored_names)
        skipped = guessed.options.get("skip")
        if skipped and self._correction.skip is None:
            self._notes.append(f"Lines before the header that are left out: {skipped}.")
        if self._correction.encoding is None:
            made = replace(made, quoting=self._encoding.notes)
        if not self._whole:
            self._notes.append(_LARGE.format(FIRST_ROWS))
        made = self._read(made, cells, kinds)
        if self._whole:
            made = self._without_blank(made, cells)
        doubts = (*self._doubts, *made.doubts)
        return replace(
            made, notes=tuple(self._notes), doubts=doubts, unsure_header=self._header_guessed
        )

    def _lines(self) -> _Guess:
        """The way in which lines are written, and the header."""
        told = self._told()
        guessed = self._with_rows(told, self._sniffed(told))
        found = self._header(guessed)
        if found is not None:
            guessed = self._sniffed(told | {"skip": found, "header": True})
        elif len(guessed.names) == 1 and any(c in guessed.names[0] for c in _DELIMITERS):
            # Lines of different lengths look like one column to it.
            again = self._sniff(told | {"ignore_errors": True})
            guessed = again if len(again.names) > 1 else guessed
        return guessed

    def _looked_through(self, made: TableFile) -> tuple[TableFile, Cells]:
        """The table without the lines that can't be read, and the readings of its columns."""
        if self._whole:
            try:
                with self._connection.within(min(WHOLE_SECONDS, self._connection.left / 2)):
                    return self._readable(made, None)
            except READ_FAILURES as error:
                if read_failure(error).kind != "interrupted":
                    raise
                self._whole = False  # if its time is over altogether, the next statement says so
        return self._readable(made, FIRST_ROWS)

    def _readable(self, made: TableFile, rows: int | None) -> tuple[TableFile, Cells]:
        if not made.options.get("ignore_errors"):
            try:
                return made, self._cells(made, rows)
            except READ_FAILURES as error:
                if read_failure(error).kind != "sql" or self._correction.unfit == "stop":
                    raise
            made = replace(made, options={**made.options, "ignore_errors": True})
        if rows is None:
            self._doubts += map(Doubt, left_out(self._connection, made))
        else:
            self._doubts.append(Doubt("Lines that don't fit its columns are left out."))
        return made, self._cells(made, rows)

    def _cells(self, made: TableFile, rows: int | None) -> Cells:
        """The readings of columns by their cells."""
        one = self._correction
        said = Said(
            one.types, one.nulls, one.decimal, one.thousands, one.dateformat, one.timestampformat,
            one.unfit, separated=str(made.options["delim"]),
        )  # fmt: skip
        return read_columns(self._connection, made.query(), made.stored_names, said, rows)

    def _with_header(self, made: TableFile, cells: Cells) -> tuple[TableFile, Cells]:
        """The table, its first line a row where DuckDB took it for the header since it doesn't know
        what the cells are."""
        if self._correction.header is not None or not made.options.get("header"):
            return made, cells
        names = made.stored_names
        known = {name: one for name, one in cells.items() if one.kind != "VARCHAR"}
        rows = f"{made.query()} LIMIT 200"
        if not (known or any(one.doubts for one in cells.values())) and looks_like_data(
            names, self._connection.rows(rows)
        ):
            self._header_guessed = True
            self._doubts.append(Doubt(_GUESSED_HEADER))
        if not known or any(one.plain for one in known.values()):
            return made, cells
        tried = (f"{lenient(one.sql(quote_text(name)))} IS NULL" for name, one in known.items())
        if any(next(self._connection.rows(f"SELECT {', '.join(tried)}"))):
            return made, cells
        options = {**made.options, "header": False}
        columns = tuple((f"column{at}", "VARCHAR") for at in range(len(names)))
        stored = tuple(name for name, _ in columns)
        return self._looked_through(
            replace(made, options=options, columns=columns, stored_names=stored)
        )

    def _without_totals(self, made: TableFile, cells: Cells) -> tuple[TableFile, Cells]:
        """The table without rows that have the sums of others."""
        said = self._correction.total_row
        if said is False or len(made.paths) > 1:
            return made, cells
        condition, count, unsure = total_rows(
            self._connection, made.query(), cells, said=said is True
        )
        self._doubts += (Doubt(unsure_total(one)) for one in unsure)
        if not condition:
            return made, cells
        if said is None:
            self._notes.append(left_out_totals(count))
        made = replace(made, without=condition)
        return made, self._cells(made, None)

    def _read(self, made: TableFile, cells: Cells, kinds: tuple[str, ...]) -> TableFile:
        """The table with its columns as they are read."""
        found = tuple((name, cells[name].kind) for name in made.stored_names)
        named = self._correction.applied(found, self._first.name)
        doubts = tuple(
            Doubt(text, name)
            for stored, (name, _) in zip(made.stored_names, named, strict=True)
            for text in cells[stored].doubts
        )
        used = sorted(
            {mark for one in cells.values() if one.kind != "VARCHAR" for mark in one.marks}
        )
        if used and self._correction.nulls is None:
            texts = [name for name, one in cells.items() if {*one.unused} & {*used}]
            kept = f", except in texts: {', '.join(texts)}" if texts else ""
            self._notes.insert(0, f"No value is meant by {', '.join(used)}{kept}.")
        names = zip(named, found, strict=True)
        columns = with_types(tuple((name, kind) for (name, _), (_, kind) in names), kinds)
        return replace(
            made, columns=columns, doubts=doubts, cells=cells,
            details=tuple(text for one in cells.values() for text in one.details),
        )  # fmt: skip

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
        rows = f"SELECT 1 FROM ({self._texts(guessed).query()}) LIMIT {skipped}"
        if len(list(self._connection.rows(rows))) == skipped:
            return guessed
        again = self._sniffed({**told, "skip": 0, "ignore_errors": True})
        return again if len(again.names) > 1 else guessed

    def _header(self, guessed: _Guess) -> int | None:
        """The number of lines before a header that wasn't found, since titles above it have as many
        separators. Raises ReadFailed for a file without anything."""
        blank = any(_BLANK.fullmatch(name) for name in guessed.names)
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

    def _texts(self, guessed: _Guess) -> TableFile:
        """The first file, all of its cells texts."""
        columns = tuple((name, "VARCHAR") for name in guessed.names)
        return TableFile(
            self._source.name, "csv", (self._first,), columns, guessed.names, guessed.options,
            self._encoding.name, size=self._size,
        )  # fmt: skip

    def _told(self) -> dict[str, Option]:
        """DuckDB's options that the user has given, and the encoding."""
        one = self._correction
        named = {
            "delim": one.delimiter, "quote": one.quote, "escape": one.escape,
            "comment": one.comment, "header": one.header, "skip": one.skip,
            "encoding": self._encoding.name if self._encoding.name in OWN[1:] else None,
        }  # fmt: skip
        return {name: value for name, value in named.items() if value is not None}

    def _sniff(self, told: Options) -> _Guess:
        given = "".join(f", {key}={written(value)}" for key, value in told.items())
        (found,) = self._connection.rows(
            "SELECT Delimiter, Quote, Escape, Comment, SkipRows, HasHeader, "
            "list_transform(Columns, lambda one: one.name) "
            f"FROM sniff_csv({quote_text(self._address)}{given})"
        )
        delim, quote, escape, comment, skip, header, names = found
        assert isinstance(names, tuple)
        # A quote that the beginning doesn't have may still come.
        quoted = _given(quote) or '"'
        options: dict[str, Option] = {
            "auto_detect": False, "delim": str(delim), "quote": quoted,
            "escape": _given(escape) or quoted, "comment": _given(comment) or "",
            "skip": int(str(skip)), "header": bool(header),
        }  # fmt: skip
        return _Guess({**options, **told}, tuple(map(str, names)))

    def _without_blank(self, made: TableFile, cells: Cells) -> TableFile:
        """The table without columns that have neither a name nor a value."""
        ((rows,),) = self._connection.rows(f"SELECT count(*) FROM ({made.query()})")
        if not rows:
            self._notes.append("It has no rows.")
        read = tuple((name, "VARCHAR") for name in made.stored_names)
        empty = {name for name in made.stored_names if not cells[name].filled}
        unnamed = empty if made.options.get("header") and rows else set()
        kept = [
            at for at, stored in enumerate(made.stored_names)
            if not (_BLANK.fullmatch(stored) and stored in unnamed)
        ]  # fmt: skip
        blank = [made.stored_names[at] for at in kept if _BLANK.fullmatch(made.stored_names[at])]
        if blank and made.options.get("header") and self._correction.header is None:
            self._notes.append(f"Columns without a name: {', '.join(blank)}.")
        return replace(
            made, columns=tuple(made.columns[at] for at in kept),
            stored_names=tuple(made.stored_names[at] for at in kept),
            cells={made.stored_names[at]: made.cells[made.stored_names[at]] for at in kept},
            read=read, empty=frozenset(made.columns[at][0] for at in kept
                                       if made.stored_names[at] in empty),
        )  # fmt: skip

    def _note_names(self, names: Sequence[str]) -> None:
        folded = {name.lower() for name in names}
        again = [n for n in names if (m := _AGAIN.fullmatch(n)) and m[1].lower() in folded]
        if again:
            self._notes.append(f"Names that come more than once have a number: {', '.join(again)}.")


def _given(value: object) -> str:
    """An option that the library found; it writes (empty) for nothing."""
    return "" if value in {None, "(empty)"} else str(value)
