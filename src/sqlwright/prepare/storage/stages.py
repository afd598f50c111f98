"""Scans of a table's columns on disk, so that they need not be read again.

One file per group of columns: the magic, the length of a JSON header, the header (profiles, and
where each column's texts lie), the texts of each column as one UTF-8 run with their lengths and row
counts as little-endian arrays, and a SHA-256 over all of it. A file that isn't exactly so is
treated as absent.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sqlwright.catalog.encoding import profile_from_data, profile_to_data
from sqlwright.catalog.records import TableProfile
from sqlwright.catalog.scan import ColumnScan, TableScan
from sqlwright.prepare.storage.paths import write_private
from sqlwright.schema import ColumnRef

_MAGIC = b"sqlwright stage 2\n"
_HASH = 32
"""Bytes of a SHA-256 at the end of a stage's file."""


class StoredTexts(Sequence[tuple[str, int]]):
    """A column's texts with their rows, packed until they are asked for and not kept after: a
    large column is unpacked once, while it is indexed."""

    def __init__(self, count: int, blob: bytes, lengths: bytes, rows: bytes) -> None:
        self._count = count
        self._blob, self._lengths, self._rows = blob, lengths, rows

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[tuple[str, int]]:
        text = self._blob.decode("utf-8")
        ends = np.cumsum(np.frombuffer(self._lengths, "<u4"), dtype=np.int64).tolist()
        rows = np.frombuffer(self._rows, "<u8").tolist()
        for start, end, count in zip([0, *ends[:-1]], ends, rows, strict=False):
            yield text[start:end], count

    def __getitem__(self, index: Any) -> Any:
        return list(self)[index]


def save_stage(path: Path, scan: TableScan) -> None:
    """Write what was read, privately and whole. Raises `WorkspaceError`."""
    header: dict[str, Any] = {"table": _table_data(scan.profile), "columns": []}
    body: list[bytes] = []
    for column in scan.columns:
        texts = [text for text, _ in column.texts]
        blob = "".join(texts).encode("utf-8")
        lengths = np.fromiter(map(len, texts), "<u4", len(texts)).tobytes()
        rows = np.fromiter((n for _, n in column.texts), "<u8", len(texts)).tobytes()
        body += [blob, lengths, rows]
        header["columns"].append(
            {
                "ref": list(column.ref),
                "profile": profile_to_data(column.profile),
                "texts": len(texts),
                "bytes": len(blob),
            }
        )
    head = json.dumps(header, allow_nan=False, separators=(",", ":")).encode()
    content = b"".join([_MAGIC, len(head).to_bytes(8, "little"), head, *body])
    write_private(path, content + hashlib.sha256(content).digest())


def load_stage(path: Path) -> TableScan | None:
    """The scan that `save_stage` wrote; None when there is no such file or it is damaged."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    body, found = content[:-_HASH], content[-_HASH:]
    if not body.startswith(_MAGIC) or hashlib.sha256(body).digest() != found:
        return None
    try:
        return _parsed(body)
    except (ValueError, TypeError, KeyError, IndexError):
        return None


def _parsed(body: bytes) -> TableScan:
    at = len(_MAGIC) + 8
    length = int.from_bytes(body[len(_MAGIC) : at], "little")
    header = json.loads(body[at : at + length])
    at += length
    columns = []
    for entry in header["columns"]:
        count, size = int(entry["texts"]), int(entry["bytes"])
        parts = []
        for part in (size, 4 * count, 8 * count):
            if part < 0 or at + part > len(body):
                raise ValueError("a column's texts lie outside the file")
            parts.append(body[at : at + part])
            at += part
        table, name = entry["ref"]
        columns.append(
            ColumnScan(
                ColumnRef(str(table), str(name)),
                profile_from_data(entry["profile"]),
                StoredTexts(count, *parts),
            )
        )
    if at != len(body):
        raise ValueError("the file is longer than its header says")
    rows, exact, sampled, note = header["table"]
    return TableScan(TableProfile(int(rows), bool(exact), bool(sampled), str(note)), columns)


def _table_data(profile: TableProfile) -> list[Any]:
    return [profile.rows, profile.rows_exact, profile.sampled, profile.note]
