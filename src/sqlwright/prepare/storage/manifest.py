"""The list of what is prepared for one database, written last: what it doesn't name isn't there."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from sqlwright.catalog.encoding import catalog_from_json
from sqlwright.catalog.records import Catalog
from sqlwright.errors import WorkspaceError
from sqlwright.prepare.storage.paths import MANIFEST, write_private

KIND = "sqlwright prepared database"
VERSION = 2
"""Version of the layout of a prepared folder; one of another version is prepared again."""
_HINT = "Prepare the database again."


@dataclass(frozen=True, slots=True)
class Manifest:
    """Record of a preparation: its source, its results and the files that hold them."""

    url: str
    fingerprint: str
    """The database's when the reading began."""
    descriptions: str
    """Digest of the description files' names, sizes and times; empty without any."""
    generation: str
    """Names the catalog file and the value index's folder."""
    catalog_digest: str
    """SHA-256 of the catalog file."""
    stages: tuple[str, ...]
    """Names of the stage files in use."""
    warnings: tuple[str, ...]
    """Notes worth showing with every answer."""
    program: str
    created: str
    """UTC, ISO 8601."""
    limits: str = ""
    """The limits of what was read, and "unfinished" where the time was up before; empty without
    any."""

    @property
    def catalog_file(self) -> str:
        return f"catalog-{self.generation}.json"

    @property
    def values_folder(self) -> str:
        return f"values-{self.generation}"


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Make `manifest` the one in force. Raises `WorkspaceError`."""
    data = {"kind": KIND, "version": VERSION, **asdict(manifest)}
    if not manifest.limits:
        del data["limits"]
    write_private(folder / MANIFEST, json.dumps(data, indent=1).encode())


def read_manifest(folder: Path) -> Manifest | None:
    """The manifest in force; None when there is none. Raises `WorkspaceError` when it is damaged or
    of another version."""
    try:
        content = (folder / MANIFEST).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _unreadable(folder / MANIFEST, error) from error
    try:
        data = json.loads(content)
        if data["kind"] != KIND or data["version"] != VERSION:
            raise ValueError(f"it is of version {data['version']}")
        return _from_data(data)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise WorkspaceError(f"{folder / MANIFEST} is damaged: {error}.", hint=_HINT) from error


def read_catalog(folder: Path, manifest: Manifest) -> Catalog:
    """The catalog a manifest names. Raises `WorkspaceError` when it isn't what was written."""
    path = folder / manifest.catalog_file
    try:
        content = path.read_bytes()
    except OSError as error:
        raise _unreadable(path, error) from error
    if hashlib.sha256(content).hexdigest() != manifest.catalog_digest:
        raise WorkspaceError(f"{path} is damaged.", hint=_HINT)
    return catalog_from_json(content)


def _unreadable(path: Path, error: OSError) -> WorkspaceError:
    return WorkspaceError(f"{path} can't be read: {error.strerror or error}.", hint=_HINT)


def _from_data(data: dict[str, Any]) -> Manifest:
    values = {}
    for field in fields(Manifest):
        value = data.get("limits", "") if field.name == "limits" else data[field.name]
        if field.name in {"stages", "warnings"}:
            value = tuple(map(str, value))
        elif not isinstance(value, str):
            raise TypeError(f"{field.name} is not text")
        values[field.name] = value
    if not all(char in "0123456789abcdef" for char in values["generation"]):
        raise ValueError("the generation is not hexadecimal")
    return Manifest(**values)
