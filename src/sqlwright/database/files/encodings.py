"""Encodings of text files: guessed by their bytes, since DuckDB guesses everything but that."""

from __future__ import annotations

import codecs
import gzip
import zlib
from pathlib import Path
from typing import BinaryIO, cast

SCHEME = "decoded"
"""Scheme of addresses by which DuckDB is handed a file as UTF-8."""
OWN = ("utf-8", "utf-16", "latin-1")
"""Encodings that DuckDB reads by itself."""
DECODED = (
    "windows-1250", "windows-1251", "windows-1252", "windows-1253", "windows-1254", "iso-8859-2",
    "iso-8859-15", "cp437", "cp850", "mac-roman", "shift-jis", "gb18030", "big5", "euc-kr",
)  # fmt: skip
"""Encodings that files are handed to it in as UTF-8."""
_MOST_BYTES = 256 * 1024 * 1024
"""Bytes of a file that are looked at."""
_MOST_UNPACKED = 16 * 1024 * 1024
"""Bytes of a file that are looked at where it has to be unpacked."""
_CHUNK = 1 << 20
"""Bytes that are read at a time."""
_WINDOWS = bytes(range(0x80, 0xA0))


def address_of(path: Path, encoding: str) -> str:
    """The name by which DuckDB reads a text file."""
    return f"{SCHEME}://{encoding}{path}" if encoding in DECODED else str(path)


def encoding_of(path: Path) -> str:
    """UTF-8 unless the bytes say otherwise: then UTF-16 by its mark, else Latin-1, to which every
    byte is a character; "windows-1252" where bytes are used that are none in Latin-1."""
    if path.suffix.lower() == ".zst":
        return "utf-8"
    packed = path.suffix.lower() == ".gz"
    try:
        with cast("BinaryIO", gzip.open(path) if packed else path.open("rb")) as file:
            return _of(file, _MOST_UNPACKED if packed else _MOST_BYTES)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        return "utf-8"  # DuckDB says what is wrong with it


def _of(file: BinaryIO, left: int) -> str:
    decoder = codecs.getincrementaldecoder("utf-8")()
    valid, windows = True, False
    chunk = file.read(_CHUNK)
    if chunk.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    while chunk and left > 0:
        left -= len(chunk)
        if valid:
            try:
                decoder.decode(chunk)
            except UnicodeDecodeError:
                valid = False
        windows = windows or any(byte in chunk for byte in _WINDOWS)
        chunk = file.read(_CHUNK)
    if valid:
        return "utf-8"
    return "windows-1252" if windows else "latin-1"
