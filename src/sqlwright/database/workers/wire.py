"""Length-prefixed frames between the caller and the worker process.

A frame is 4 bytes of length (big endian, the body's) and the body. A request body is JSON. A reply
body is a JSON head, its length in front of it, and then the rows, packed column by column.

A column of one kind is packed by C code: integers as an array of int64, real numbers as an
array of doubles, texts and whatever has an exact text (decimals, dates, moments, UUIDs) as
texts with NUL between. NULLs among the latter are a mask in front. Anything else is JSON, in
which a value that JSON lacks is an object of one entry: its kind and its text. A moment with a
time zone arrives with that zone's distance from UTC; the zone's name is lost.

Kinds are told by their names, and modules are imported where a value of theirs is at hand: a
process whose engine has none of them starts sooner, and one that may open no file any more can
still pack what its driver gave it.
"""

from __future__ import annotations

import json
import struct
from array import array
from collections.abc import Callable, Sequence
from importlib import import_module
from operator import methodcaller
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from datetime import timedelta

    from sqlwright.types import Cell

    Row = tuple[Cell, ...]

_BLOB = "builtins.bytes"
_MASKED = "?"
"""Before the kind of a column that has NULLs: a byte for each row comes first."""


def _duration_text(cell: timedelta) -> str:
    return f"{cell.days} {cell.seconds} {cell.microseconds}"


_TEXTS: dict[str, Callable[[Any], str]] = {
    "decimal.Decimal": str,
    "datetime.datetime": methodcaller("isoformat"),
    "datetime.date": methodcaller("isoformat"),
    "datetime.time": methodcaller("isoformat"),
    "datetime.timedelta": _duration_text,
    "uuid.UUID": str,
}
"""Types that have an exact text."""


def pack_column(cells: tuple[Cell, ...]) -> tuple[str, bytes]:
    """A column's kind and its bytes."""
    kinds = set(map(type, cells))
    if len(kinds) == 2 and type(None) in kinds and not _TEXTS.keys().isdisjoint(map(_name, kinds)):
        mask = bytes(cell is not None for cell in cells)
        kind, data = pack_column(tuple(cell for cell in cells if cell is not None))
        return _MASKED + kind, mask + data
    if len(kinds) == 1:
        packed = _packed(kinds.pop(), cells)
        if packed is not None:
            return packed
    return "j", json.dumps(cells, default=tagged, ensure_ascii=False).encode()


def unpack_column(kind: str, data: bytes, count: int) -> Sequence[Cell]:
    """The values that `pack_column` packed."""
    if kind.startswith(_MASKED):
        mask = data[:count]
        present = iter(unpack_column(kind[1:], data[count:], sum(mask)))
        return [next(present) if there else None for there in mask]
    if kind in {"i", "f"}:
        numbers = array("q" if kind == "i" else "d")
        numbers.frombytes(data)
        return numbers.tolist()
    if kind == "n":
        return [None] * count
    if kind == "b":
        return list(map(bool, data))
    if kind == "t":
        return data.decode().split("\0")
    if kind in _TEXTS:
        return list(map(_reader(kind), data.decode().split("\0")))
    return list(map(_arrays, json.loads(data, object_hook=untagged)))


def tagged(cell: object) -> dict[str, str]:
    """A value that JSON lacks, as an object of its kind and its text."""
    if isinstance(cell, bytes):
        return {_BLOB: cell.hex()}
    kind = _name(type(cell))
    if kind not in _TEXTS:
        raise TypeError(f"no kind of value of a result: {kind}")
    return {kind: _TEXTS[kind](cell)}


def untagged(fields: dict[str, Any]) -> Any:
    """The value that `tagged` made an object of; any other object as it is."""
    if len(fields) != 1:
        return fields
    ((kind, text),) = fields.items()
    return _reader(kind)(text) if kind in _TEXTS or kind == _BLOB else fields


def cell_size(cell: Any) -> int:
    """A value's bytes; those of a text as it is stored and sent, in UTF-8."""
    if isinstance(cell, str):
        return len(cell) if cell.isascii() else len(cell.encode())
    if cell is None or isinstance(cell, float):
        return 8
    if isinstance(cell, int):
        return max(8, cell.bit_length() // 8)
    if isinstance(cell, bytes):
        return len(cell)
    if isinstance(cell, tuple):
        return 8 + sum(map(cell_size, cell))
    return len(str(cell)) if _name(type(cell)) == "decimal.Decimal" else 8


def cut_cell(cell: Any, most: int) -> Any:
    """A text, a blob or an array of at most so many bytes, cut at its end; the very same value
    where nothing is cut. What can't be cut stays whole."""
    if isinstance(cell, bytes):
        return cell if len(cell) <= most else cell[:most]
    if isinstance(cell, str):
        data = cell[: most + 1].encode()
        return cell if len(data) <= most else data[:most].decode(errors="ignore")
    if isinstance(cell, tuple) and cell_size(cell) > most:
        return tuple(_first(cell, most))
    return cell


def _first(cells: tuple[Any, ...], most: int) -> list[Any]:
    kept = []
    for cell in cells:
        if most <= 0:
            break
        kept.append(cut_cell(cell, most))
        most -= cell_size(kept[-1])
    return kept


def _packed(kind: type, cells: tuple[Cell, ...]) -> tuple[str, bytes] | None:
    """A column of one kind; None where it has no packing of its own."""
    if kind is int:
        try:
            return "i", array("q", cast("tuple[int, ...]", cells)).tobytes()
        except OverflowError:  # an integer of more than 64 bits
            return None
    if kind is float:
        return "f", array("d", cast("tuple[float, ...]", cells)).tobytes()
    if kind is type(None):
        return "n", b""
    if kind is bool:
        return "b", bytes(cast("tuple[bool, ...]", cells))
    if kind is str:
        text = "\0".join(cast("tuple[str, ...]", cells))
        return ("t", text.encode()) if text.count("\0") == len(cells) - 1 else None
    name = _name(kind)
    return (name, "\0".join(map(_TEXTS[name], cells)).encode()) if name in _TEXTS else None


def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _reader(kind: str) -> Callable[[str], Any]:
    """The function that reads the exact text of a kind."""
    module, _, name = kind.rpartition(".")
    if kind == _BLOB:
        return bytes.fromhex
    found: Any = getattr(import_module(module), name)
    if name == "timedelta":
        return lambda text: found(*map(int, text.split()))
    return cast("Callable[[str], Any]", getattr(found, "fromisoformat", found))


def _arrays(cell: Any) -> Any:
    """JSON's lists as the arrays they stand for."""
    return tuple(map(_arrays, cell)) if type(cell) is list else cell


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
