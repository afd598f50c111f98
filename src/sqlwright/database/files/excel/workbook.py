"""The only module that reads workbooks by their library. Worker processes alone import it."""

from __future__ import annotations

import codecs
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import BinaryIO

import python_calamine

from sqlwright.database.failures import Failure, ReadFailed

Found = bool | int | float | str | date | datetime | time | timedelta
"""A cell as the library gives it; an empty one, and one with an error, is an empty text."""
Range = tuple[tuple[int, int], tuple[int, int]]
"""Merged cells: the first and the last, each by row and column."""

MOST_CELLS = 1_000_000
"""Cells of one sheet, and of all that one database has, at most, empty ones between them too."""
MOST_UNPACKED = 512 * 1024 * 1024
"""Bytes of what a file holds packed, at most."""
TOO_MANY = f"more than the {MOST_CELLS:,} that are loaded; save it as CSV or Parquet"
_PROTECTED = "it is protected by a password; save a copy without one"
_CHUNK = 1 << 20
"""Bytes that are read at a time."""
_ZIP, _OLE = b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED = "EncryptedPackage".encode("utf-16-le")
_ERROR = b' t="e"'
"""A cell with an error in the XML of a sheet."""
codecs.lookup("cp437")  # names within packed files; later this process may open no module
_SPREADSHEET = python_calamine.SheetTypeEnum.WorkSheet
_VISIBLE = python_calamine.SheetVisibleEnum.Visible


@dataclass(frozen=True, slots=True)
class SheetEntry:
    """A sheet as the workbook lists it."""

    name: str
    visible: bool


@dataclass(frozen=True, slots=True)
class Sheet:
    """The cells of one sheet."""

    rows: Iterator[list[Found]]
    """From the first row on, empty ones too; each from the first column that is used."""
    column: int
    """The column that rows begin with, counted from 0."""
    merged: tuple[Range, ...]


class Workbook:
    """One file, opened."""

    def __init__(self, book: python_calamine.CalamineWorkbook) -> None:
        self._book = book

    @property
    def entries(self) -> tuple[SheetEntry, ...]:
        """The sheets that may hold tables, charts and macros left out."""
        return tuple(
            SheetEntry(one.name, one.visible == _VISIBLE)
            for one in self._book.sheets_metadata
            if one.typ == _SPREADSHEET
        )

    def sheet(self, name: str) -> Sheet:
        """The cells of a sheet. Raises ReadFailed."""
        try:
            found = self._book.get_sheet_by_name(name)
        except python_calamine.CalamineError as error:
            raise _damaged(f"sheet {name}: {error}") from None
        if found.start is None:
            return Sheet(iter(()), 0, ())
        cells = found.total_height * found.width
        if cells > MOST_CELLS:
            raise ReadFailed(
                Failure("unavailable", f"sheet {name} has {cells:,} cells, {TOO_MANY}")
            )
        merged = tuple(found.merged_cell_ranges or ())
        return Sheet(found.iter_rows(), found.start[1], merged)


@contextmanager
def opened(path: str) -> Iterator[Workbook]:
    """A workbook for reading. Raises ReadFailed."""
    _require_readable(path)
    try:
        with Path(path).open("rb") as file:  # by its content: endings are often wrong
            book = python_calamine.CalamineWorkbook.from_filelike(file)
    except python_calamine.PasswordError:
        raise ReadFailed(Failure("unavailable", _PROTECTED)) from None
    except (python_calamine.CalamineError, OSError) as error:
        raise _damaged(str(error)) from None
    with book:
        yield Workbook(book)


def errors(path: str) -> int:
    """Cells with an error (#N/A, #DIV/0!) in an .xlsx file; the library gives them as empty.
    0 for others, which don't tell."""
    count = 0
    try:
        with zipfile.ZipFile(path) as packed:
            for name in packed.namelist():
                if name.startswith("xl/worksheets/") and name.endswith(".xml"):
                    with packed.open(name) as file:
                        count += _occurrences(iter(lambda: file.read(_CHUNK), b""))
    except (zipfile.BadZipFile, OSError, NotImplementedError, RuntimeError, ValueError):
        return 0
    return count


def _occurrences(chunks: Iterator[bytes]) -> int:
    count, rest = 0, b""
    for chunk in chunks:
        text = rest + chunk
        count += text.count(_ERROR)
        rest = text[-len(_ERROR) + 1 :]
    return count


def _require_readable(path: str) -> None:
    """Refuse what isn't a workbook, is encrypted, or unpacks to too much. Raises ReadFailed."""
    size = Path(path).stat().st_size
    if size > MOST_UNPACKED:
        raise _too_large(size)
    with Path(path).open("rb") as file:
        head = file.read(len(_OLE))
        if head == _OLE and any(_ENCRYPTED in block for block in _overlapping(file)):
            raise ReadFailed(Failure("unavailable", _PROTECTED))
    if head.startswith(_ZIP):
        try:
            with zipfile.ZipFile(path) as packed:
                unpacked = sum(one.file_size for one in packed.infolist())
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
            raise _damaged(str(error)) from None
        if unpacked > MOST_UNPACKED:
            raise _too_large(unpacked)
    elif head != _OLE:
        raise ReadFailed(Failure("unavailable", "it isn't a workbook, whatever its name says"))


def _overlapping(file: BinaryIO) -> Iterator[bytes]:
    """The blocks of a file, each with the end of the one before."""
    rest = b""
    while block := file.read(_CHUNK):
        yield rest + block
        rest = block[-len(_ENCRYPTED) :]


def _too_large(size: int) -> ReadFailed:
    message = f"it holds {size:,} bytes, more than the {MOST_UNPACKED:,} that are read"
    return ReadFailed(Failure("unavailable", message))


def _damaged(why: str) -> ReadFailed:
    return ReadFailed(Failure("unavailable", f"it is damaged or no workbook ({why})", "damaged"))
