"""The line of a CSV file that is its header, where titles above it have as many separators."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence

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
