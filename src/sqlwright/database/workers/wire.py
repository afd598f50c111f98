"""Length-prefixed frames between the caller and the worker process.

A frame is 4 bytes of length (big endian, the body's) and the body. A request body is JSON. A reply
body is a JSON head, its length in front of it, and then the rows column by column, so that C code
does the work: a column of integers is an array of int64, of floats an array of doubles, of texts
the texts with NUL between; anything else is JSON with blobs as hexadecimal digits.
"""

from __future__ import annotations

import json
import struct
from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from sqlwright.types import Cell

    Row = tuple[Cell, ...]

LENGTH = struct.Struct(">I")
RECEIVED = LENGTH.pack(0)
"""An empty frame: the request has arrived, its reply will follow."""
_BLOB = "x"


def frame(body: bytes) -> bytes:
    """The body with its length in front."""
    return LENGTH.pack(len(body)) + body


def pack_request(fields: dict[str, Any]) -> bytes:
    """One request as a frame."""
    return frame(json.dumps(fields, default=_pack_blob).encode("ascii"))


def unpack_request(body: bytes) -> dict[str, Any]:
    """The request that `pack_request` packed; `body` is without the length."""
    fields: dict[str, Any] = json.loads(body, object_hook=_unpack_request)
    return fields


def pack_reply(head: dict[str, Any], rows: Sequence[Row]) -> bytes:
    """Head and rows as a frame."""
    columns = [_pack_column(column) for column in zip(*rows, strict=True)]
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
        columns.append(_unpack_column(kind, body[start : start + size], head["count"]))
        start += size
    rows: tuple[Row, ...] = tuple(zip(*columns, strict=True))
    return head, rows


def _pack_column(cells: tuple[Cell, ...]) -> tuple[str, bytes]:
    kinds = set(map(type, cells))
    if len(kinds) == 1:
        kind = kinds.pop()
        if kind is int:
            return "i", array("q", cast("tuple[int, ...]", cells)).tobytes()
        if kind is float:
            return "f", array("d", cast("tuple[float, ...]", cells)).tobytes()
        if kind is type(None):
            return "n", b""
        if kind is str:
            text = "\0".join(cast("tuple[str, ...]", cells))
            if text.count("\0") == len(cells) - 1:
                return "t", text.encode()
    text = json.dumps(cells, default=_pack_blob, ensure_ascii=False)
    return "j", text.encode()


def _unpack_column(kind: str, data: bytes, count: int) -> Sequence[Cell]:
    if kind in "if":
        numbers = array("q" if kind == "i" else "d")
        numbers.frombytes(data)
        return numbers.tolist()
    if kind == "n":
        return [None] * count
    if kind == "t":
        return data.decode().split("\0")
    cells: list[Cell] = json.loads(data, object_hook=_unpack_blob)
    return cells


def _pack_blob(cell: bytes) -> dict[str, str]:
    return {_BLOB: cell.hex()}


def _unpack_request(fields: dict[str, Any]) -> Any:
    return _unpack_blob(fields) if set(fields) == {_BLOB} else fields


def _unpack_blob(fields: dict[str, str]) -> bytes:
    return bytes.fromhex(fields[_BLOB])
