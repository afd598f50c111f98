"""The signatures of the value index that CHESS published, kept beside our own index."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import get_args

from sqlwright.errors import ConfigError
from sqlwright.indexes.minhash import Library
from sqlwright.indexes.published import signatures_of
from sqlwright.indexes.values.index import open_value_index
from sqlwright.prepare.storage.manifest import read_manifest
from sqlwright.protocols import Run


def keep_signatures(
    folder: Path, asked: Library | None, run: Run, progress: Callable[[int, int], None]
) -> None:
    """Make the signatures of what is prepared in `folder`, by the library asked for and by those
    that made some before, unless they are there. Raises ConfigError, WorkspaceError, Cancelled."""
    libraries = [
        library
        for library in get_args(Library)
        if library == asked or any(folder.glob(f"minhash-{library}-*"))
    ]
    manifest = read_manifest(folder) if libraries else None
    if manifest is not None:
        columns = open_value_index(folder / manifest.values_folder).column_values()
        for library in libraries:
            try:
                signatures_of(columns, library, folder, run, progress)
            except ConfigError:
                if library == asked:  # others are made again where they are asked for
                    raise
