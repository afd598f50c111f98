"""DuckDB inside a worker process, helped with workbooks and with encodings that it doesn't know:
text files in those are handed to it as UTF-8. The doorway to fsspec in workers: DuckDB reads from
what looks like one of its file systems."""

from __future__ import annotations

import codecs
import io
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fsspec import AbstractFileSystem

from sqlwright.database.duckdb.connection import Filled
from sqlwright.database.duckdb.engine import DuckdbEngine
from sqlwright.database.failures import Failure, ReadFailed
from sqlwright.database.files.encodings import DECODED, SCHEME
from sqlwright.database.files.sources import is_installed

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


if is_installed():  # before the process is confined
    from sqlwright.database.files.excel import loading


def fill(connection: Filled, opening: Mapping[str, Any]) -> None:
    """Give a connection what an opening asks for beyond DuckDB's own readers. Raises ReadFailed."""
    if opening.get("decoded"):
        add_decoded(connection)
    if opening.get("workbook") or opening.get("sheets"):
        loading.fill(connection.execute, opening)


ENGINE = DuckdbEngine(fill=fill)
