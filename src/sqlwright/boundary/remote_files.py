"""The doorway to fsspec: files at URLs such as `s3://bucket/name`, loaded only where one is named.

SQLite reads files of this machine, and a run's folder grows line by line, which object stores don't
do. So databases are copied here before they are opened, and runs are written here and copied there.
"""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sqlwright.boundary.home import home as default_home
from sqlwright.boundary.home import make_private
from sqlwright.boundary.secrets import mask
from sqlwright.errors import ConfigError, DatabaseUnavailable, UserError, WorkspaceError

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

_URL = re.compile(r"(?!sqlite:)[A-Za-z][A-Za-z0-9+.-]+(::[A-Za-z][A-Za-z0-9+.-]+)*://")


def is_remote(text: str) -> bool:
    """True of a URL that fsspec reads; a path isn't one, nor is `sqlite:///`."""
    return _URL.match(text) is not None


def fetched(url: str, home: Path | None = None) -> Path:
    """A copy of the file at a URL in a folder of ours, fetched if there is none of it as it is
    today. Raises DatabaseUnavailable, and ConfigError where what reads such URLs isn't
    installed."""
    with _told(url, DatabaseUnavailable):
        system, path = _system(url)
        version = f"{url}\n{system.ukey(path)}"
        digest = hashlib.sha256(version.encode()).hexdigest()[:16]
        place = (home or default_home()) / "fetched" / digest / path.rsplit("/", 1)[-1]
        if not place.exists():
            make_private(place.parent)
            aside = place.with_name(f"{place.name}.{uuid.uuid4().hex}.part")
            try:
                system.get_file(path, str(aside))
                aside.replace(place)
            finally:
                aside.unlink(missing_ok=True)
        return place


class RemoteFolder:
    """A folder at a URL. Raises WorkspaceError where it can't be read or written."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        with _told(url, WorkspaceError):
            self._system, self._path = _system(self.url)

    def names(self) -> list[str]:
        """The files in it, by their paths below it, sorted."""
        with _told(self.url, WorkspaceError):
            self._system.invalidate_cache()
            if not self._system.exists(self._path):
                return []
            root = self._path.rstrip("/") + "/"
            found = self._system.find(self._path)
            return sorted(name[len(root) :] for name in found if name.startswith(root))

    def get(self, name: str, to: Path) -> None:
        """Copy a file here."""
        with _told(self.url, WorkspaceError):
            to.parent.mkdir(parents=True, exist_ok=True)
            aside = to.with_name(to.name + ".part")
            self._system.get_file(self._inside(name), str(aside))
            aside.replace(to)

    def put(self, content: bytes, name: str) -> None:
        """Write a small file there."""
        with _told(self.url, WorkspaceError):
            path = self._inside(name)
            self._system.makedirs(path.rsplit("/", 1)[0], exist_ok=True)
            self._system.pipe_file(path, content)

    def put_file(self, path: Path, name: str) -> None:
        """Copy a file there."""
        with _told(self.url, WorkspaceError):
            there = self._inside(name)
            self._system.makedirs(there.rsplit("/", 1)[0], exist_ok=True)
            self._system.put_file(str(path), there)

    def remove(self, name: str) -> None:
        """Remove a file there."""
        with _told(self.url, WorkspaceError):
            self._system.rm_file(self._inside(name))

    def _inside(self, name: str) -> str:
        return f"{self._path.rstrip('/')}/{name}"


def _system(url: str) -> tuple[AbstractFileSystem, str]:
    from fsspec.core import url_to_fs

    system, path = url_to_fs(url)
    return system, str(path)


@contextmanager
def _told(url: str, kind: type[UserError]) -> Iterator[None]:
    """Turn what goes wrong into an error that names the URL."""
    shown = mask(url)
    try:
        yield
    except ImportError as error:
        raise ConfigError(
            f"{shown} can't be read: {error}",
            hint="pip install 'sqlwright[ray]', and what fsspec needs for it (s3fs, gcsfs, adlfs).",
        ) from None
    except (OSError, ValueError) as error:
        raise kind(
            f"{shown} can't be read or written: {str(error) or type(error).__name__}"
        ) from error
