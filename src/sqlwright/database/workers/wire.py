"""Length-prefixed frames between the caller and the worker process.

A frame is 4 bytes of length (big endian, the body's) and the body. A request body is JSON. A reply
body is a JSON head, its length in front of it, and then the rows column by column (`cells.py`).
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sqlwright.database.workers.cells import pack_column, tagged, unpack_column, untagged

if TYPE_CHECKING:
    from sqlwright.types import Cell

    Row = tuple[Cell, ...]

LENGTH = struct.Struct(">I")
RECEIVED = LENGTH.pack(0)
"""An empty frame: the request has arrived, its reply will follow."""
OPENING_STATUS = 75
"""Exit status of a worker that was told to stop while it opened a connection."""


def frame(body: bytes) -> bytes:
    """The body with its length in front."""
    return LENGTH.pack(len(body)) + body


def pack_request(fields: dict[str, Any]) -> bytes:
    """One request as a frame."""
    return frame(json.dumps(fields, default=tagged).encode("ascii"))


def unpack_request(body: bytes) -> dict[str, Any]:
    """The request that `pack_request` packed; `body` is without the length."""
    fields: dict[str, Any] = json.loads(body, object_hook=untagged)
    return fields


def pack_reply(head: dict[str, Any], rows: Sequence[Row]) -> bytes:
    """Head and rows as a frame."""
    columns = [pack_column(column) for column in zip(*rows, strict=True)]
    head = {
        **head,
        "count": len(rows),
        "columns_packed": [(kind, len(data)) for kind, data in columns],
    }
    text = json.dumps(head).encode("ascii")
    return frame(b"".join([LENGTH.pack(len(text)), text, *(data for _, data in columns)]))


def unpack_reply(body: bytes) -> tuple[dict[str, Any], tuple[Row, ...]]:
    """Head and rows back from a frame's body."""
    start = LENGTH.size + LENGTH.unpack_from(body)[0]
    head: dict[str, Any] = json.loads(body[LENGTH.size : start])
    columns = []
    for kind, size in head.pop("columns_packed"):
        columns.append(unpack_column(kind, body[start : start + size], head["count"]))
        start += size
    rows: tuple[Row, ...] = tuple(zip(*columns, strict=True))
    return head, rows
