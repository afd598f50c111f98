"""A folder of flat arrays that opens in constant time and never yields damaged data unnoticed.

The folder holds one .npy file per array and `header.json`: a format version, each array's type,
length and the CRC-32 of every page of its data, and a checksum of the header itself. Opening reads
the header and compares file sizes; pages are checked when what they hold is about to be returned
(`PagedArray.checked`), or all at once (`verify`). Nothing is ever unpickled.

Not covered: a file that another process cuts short while it is mapped.
"""

from __future__ import annotations

import json
import mmap
import os
import shutil
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sqlwright.errors import WorkspaceError

Array = npt.NDArray[Any]

PAGE = 16_384
"""Bytes that have one checksum: a search checks only the pages that it reads."""
_TYPES = {"|u1", "<u2", "<u4", "<u8", "<f4"}
_HEADER = "header.json"
_HINT = "prepare the database again to rebuild it"


@dataclass(frozen=True, slots=True)
class PagedArray:
    """One mapped array, its pages' checksums, and which pages have been checked already."""

    name: str
    data: Array
    page_sums: Array
    seen: bytearray
    """1 for each page that has been checked."""

    def checked(self, start: int, stop: int) -> Array:
        """data[start:stop] after checking its pages. Raises WorkspaceError."""
        self.check(start, stop)
        return self.data[start:stop]

    def check(self, start: int, stop: int) -> None:
        """Check the pages of data[start:stop]. Raises WorkspaceError."""
        if not 0 <= start <= stop <= len(self.data):
            raise damaged(f"{self.name}: {start}:{stop} is outside the array")
        size = self.data.itemsize
        for page in range(start * size // PAGE, -(-stop * size // PAGE)):
            if not self.seen[page]:
                self._check(page)

    def _check(self, page: int) -> None:
        raw = memoryview(self.data.data).cast("B")[page * PAGE : (page + 1) * PAGE]
        if zlib.crc32(raw) != int(self.page_sums[page]):
            raise damaged(f"{self.name}: page {page} does not match its checksum")
        self.seen[page] = 1

    def verify(self) -> None:
        """Check every page. Raises WorkspaceError."""
        for page in range(len(self.page_sums)):
            self._check(page)


def damaged(what: str) -> WorkspaceError:
    """The error for an index that can't be trusted."""
    return WorkspaceError(f"the value index is damaged ({what})", hint=_HINT)


def in_memory(arrays: Mapping[str, Array]) -> dict[str, PagedArray]:
    """The arrays as they are, with nothing to check."""
    nothing = np.empty(0, np.uint32)
    return {
        name: PagedArray(name, data, nothing, bytearray(b"\1" * (data.nbytes // PAGE + 1)))
        for name, data in arrays.items()
    }


def _page_sums(data: Array) -> list[int]:
    raw = memoryview(np.ascontiguousarray(data).data).cast("B")
    return [zlib.crc32(raw[at : at + PAGE]) for at in range(0, len(raw), PAGE)]


def write_folder(
    folder: Path, kind: str, version: int, arrays: Mapping[str, Array], extra: Mapping[str, Any]
) -> None:
    """Write the arrays beside `folder`, then put them in its place. Raises WorkspaceError."""
    aside = folder.with_name(f".{folder.name}.{os.getpid()}.new")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir(mode=0o700)
        entries = {name: _write_array(aside / f"{name}.npy", data) for name, data in arrays.items()}
        body = {"kind": kind, "version": version, "arrays": entries, "extra": dict(extra)}
        sums = _page_sums_file(aside, arrays)
        body["sums"] = sums
        text = json.dumps(body, ensure_ascii=True, sort_keys=True)
        _write_private(
            aside / _HEADER, json.dumps({"crc": zlib.crc32(text.encode()), "body": text}).encode()
        )
        _replace_folder(aside, folder)
    except OSError as error:
        shutil.rmtree(aside, ignore_errors=True)
        raise WorkspaceError(
            f"the value index can't be written to {folder}: {error.strerror or error}",
            hint="check the free space and the rights of that folder",
        ) from error


def _page_sums_file(aside: Path, arrays: Mapping[str, Array]) -> dict[str, Any]:
    sums: list[int] = []
    starts: dict[str, int] = {}
    for name, data in arrays.items():
        starts[name] = len(sums)
        sums += _page_sums(data)
    table = np.array(sums, "<u4")
    entry = _write_array(aside / "pages.npy", table)
    return {"starts": starts, "entry": entry}


def _write_array(path: Path, data: Array) -> dict[str, Any]:
    little = np.ascontiguousarray(data, data.dtype.newbyteorder("<"))
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as handle:
        np.lib.format.write_array(handle, little, allow_pickle=False)
        size = handle.tell()
    return {
        "type": little.dtype.str,
        "length": len(little),
        "offset": size - little.nbytes,
        "bytes": size,
    }


def _write_private(path: Path, data: bytes) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as handle:
        handle.write(data)


def _replace_folder(aside: Path, folder: Path) -> None:
    """Rename; an old folder steps aside first, since a folder can't replace a full one."""
    old = folder.with_name(f".{folder.name}.{os.getpid()}.old")
    shutil.rmtree(old, ignore_errors=True)
    if folder.exists():
        folder.rename(old)
    aside.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def open_folder(
    folder: Path, kind: str, version: int, names: frozenset[str]
) -> tuple[dict[str, PagedArray], dict[str, Any]]:
    """Map the arrays of a folder. Raises WorkspaceError when they can't be what was written."""
    header = _read_header(folder)
    if header.get("kind") != kind or header.get("version") != version:
        raise WorkspaceError(
            f"{folder} holds version {header.get('version')} of {header.get('kind')!r},"
            f" not version {version} of {kind!r}",
            hint=_HINT,
        )
    try:
        entries, sums, extra = header["arrays"], header["sums"], header["extra"]
        if set(entries) != names:
            raise damaged("other arrays than expected")
        pages = _map_array(folder / "pages.npy", sums["entry"])
        arrays = {}
        for name, entry in entries.items():
            data = _map_array(folder / f"{name}.npy", entry)
            start = sums["starts"][name]
            count = -(-data.nbytes // PAGE)
            page_sums = pages[start : start + count]
            if len(page_sums) != count:
                raise damaged(f"{name}: checksums are missing")
            arrays[name] = PagedArray(name, data, page_sums, bytearray(count))
    except (KeyError, TypeError, ValueError) as error:
        raise damaged(f"header: {error}") from error
    except OSError as error:
        raise damaged(f"{error.strerror}: {error.filename}") from error
    return arrays, extra


def _read_header(folder: Path) -> dict[str, Any]:
    try:
        outer = json.loads((folder / _HEADER).read_bytes())
        text = outer["body"]
        if zlib.crc32(text.encode()) != outer["crc"]:
            raise damaged("the header does not match its checksum")
        body: dict[str, Any] = json.loads(text)
    except OSError as error:
        raise WorkspaceError(f"there is no value index in {folder}", hint=_HINT) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise damaged(f"header: {error}") from error
    return body


def _map_array(path: Path, entry: Mapping[str, Any]) -> Array:
    kind, length, offset = str(entry["type"]), int(entry["length"]), int(entry["offset"])
    if kind not in _TYPES or length < 0 or offset < 0:
        raise damaged(f"{path.name}: not a type or length that is ever written")
    dtype = np.dtype(kind)
    with path.open("rb") as handle:
        size = os.fstat(handle.fileno()).st_size
        if size != offset + length * dtype.itemsize:
            raise damaged(f"{path.name} has {size} bytes instead of {entry['bytes']}")
        if length == 0:
            return np.empty(0, dtype)
        mapped = mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ)
    return np.frombuffer(mapped, dtype, length, offset)
