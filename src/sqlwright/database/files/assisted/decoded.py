"""Text files in encodings that DuckDB doesn't know, handed to it as UTF-8. The doorway to fsspec in
workers: DuckDB reads from what looks like one of its file systems."""

from __future__ import annotations

import codecs
import io
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fsspec import AbstractFileSystem

from sqlwright.database.failures import Failure, ReadFailed
from sqlwright.database.files.encodings import DECODED, SCHEME

if TYPE_CHECKING:
    from sqlwright.database.duckdb.connection import Filled

MOST_BYTES = 64 * 1024 * 1024
"""Bytes of one file at most: it is held in memory as a whole."""

for _name in DECODED:
    codecs.lookup(_name)  # later this process may open no module


def add_decoded(connection: Filled) -> None:
    """Let a connection read files whose addresses `encodings.address_of` made."""
    connection.register_filesystem(_Decoded())


class _Decoded(AbstractFileSystem):  # type: ignore[misc]
    """Files as UTF-8, whatever they are in."""

    protocol = SCHEME
    cachable = False

    def open(self, path: str, mode: str = "rb", **_: Any) -> io.BytesIO:
        """The whole file, decoded. Raises OSError."""
        if mode != "rb":
            raise PermissionError(path)
        return io.BytesIO(_utf8(path))

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        """The size that DuckDB asks for."""
        return {"name": path, "size": len(_utf8(path)), "type": "file"}

    def glob(self, path: str, **_: Any) -> list[str]:
        """The path itself: it is no pattern."""
        return [path]

    def exists(self, path: str, **_: Any) -> bool:
        return Path(_parts(path)[1]).exists()

    def isfile(self, path: str) -> bool:
        return self.exists(path)

    def modified(self, path: str) -> datetime:
        return datetime.fromtimestamp(Path(_parts(path)[1]).stat().st_mtime, UTC)


def _parts(address: str) -> tuple[str, str]:
    """The encoding and the path of an address."""
    rest = address.removeprefix(f"{SCHEME}://")
    encoding, _, path = rest.partition("/")
    return encoding, f"/{path}"


def _utf8(address: str) -> bytes:
    encoding, path = _parts(address)
    file = Path(path)
    if file.stat().st_size > MOST_BYTES:
        message = f"its encoding is {encoding}, and it is too large for that: save it as UTF-8"
        raise ReadFailed(Failure("unavailable", message))
    text = file.read_bytes().decode(encoding, errors="replace").removeprefix("\ufeff")
    return text.replace("\r\n", "\n").replace("\r", "\n").encode()
