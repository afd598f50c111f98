"""Replies kept on disk, so that the same request isn't paid for twice.

One small JSON file per reply, named by a digest of everything that decides it: the request as it
was sent, the number of the sample, temperature, seed, the model's name, address and revision. A
prompt that differs by one stored value is another one, so a changed database is never answered
from what was said about the old one.

With a reply is kept what it took when it was made, so that a run of replies at hand can tell what a
fresh one takes; files of earlier versions lack it.

Files hold the replies and nothing of the prompts. A reply can quote what its prompt held, so they
are as private as traces: 0600 in folders only the owner can enter. They are written aside and then
renamed, so that several processes may share a folder; a file that is damaged counts as absent. A
disk that can't be written costs the cache, not the answer.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import threading
from pathlib import Path
from typing import Any

from sqlwright.boundary.home import make_private
from sqlwright.llm.keeping.digest import reply_form, reply_from
from sqlwright.messages import Reply

VERSION = 1
"""Version of the form of a stored reply; files of another version are ignored."""
LARGEST = 256 * 1024 * 1024
"""Bytes a folder may grow to."""
SHARE = 0.9
"""Fraction of `LARGEST` that is kept when the oldest replies are removed."""
LOOKED = 200
"""New replies between two looks at how much there is."""
ONE = 4 * 1024 * 1024
"""Bytes of the largest file that is read."""


class ReplyCache:
    """Replies under one folder. `problem` says why nothing (more) is kept; empty while all is well.

    Safe to use from any thread and by any number of processes at once.
    """

    def __init__(self, folder: Path, *, largest: int = LARGEST) -> None:
        self.folder = folder
        self.problem = ""
        self._largest = largest
        self._lock = threading.Lock()
        self._new = 0

    def get(self, key: str, *, revision: str = "") -> Reply | None:
        """The reply under a key; None without one, or where it is of another revision of the model
        than the one given and either is known."""
        found = self.find(key)
        if found is None or (revision and found[1] not in {"", revision}):
            return None
        return found[0]

    def find(self, key: str) -> tuple[Reply, str] | None:
        """The reply under a key and the revision of the model that gave it, if it is known."""
        try:
            with self._path(key).open("rb") as file:
                found = json.loads(file.read(ONE))
        except (OSError, ValueError):
            return None
        if not isinstance(found, dict) or found.get("version") != VERSION:
            return None
        reply, revision = reply_from(found.get("reply")), found.get("revision")
        return None if reply is None else (reply, revision if isinstance(revision, str) else "")

    def put(self, key: str, reply: Reply, *, revision: str = "") -> None:
        """Keep a reply and the revision of the model that gave it."""
        kept = {"version": VERSION, "revision": revision, "reply": reply_form(reply)}
        with self._lock:
            if self.problem:
                return
            try:
                self._write(self._path(key), kept)
                if self._new % LOOKED == 0:
                    self._prune()
                self._new += 1
            except OSError as error:
                self.problem = error.strerror or str(error)

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.json"

    def _write(self, path: Path, content: Any) -> None:
        for folder in (self.folder.parent, self.folder, path.parent):  # the first names databases
            make_private(folder)
        write_aside(path, json.dumps(content, ensure_ascii=True).encode("ascii"))

    def _prune(self) -> None:
        """Let the oldest go when there is too much; another process may be doing the same."""
        found: list[tuple[float, int, Path]] = []
        for path in self.folder.glob("??/*"):
            try:
                about = path.stat()
            except FileNotFoundError:
                continue
            found.append((about.st_mtime, about.st_size, path))
        total = sum(size for _, size, _ in found)
        if total <= self._largest:
            return
        for _, size, path in sorted(found):
            path.unlink(missing_ok=True)
            total -= size
            if total <= self._largest * SHARE:
                return


def write_aside(path: Path, content: bytes) -> None:
    """Write a file only its owner can read under another name, then rename it: a reader sees the
    old one or the new one. Raises OSError, leaving nothing behind."""
    aside = path.with_name(f".aside-{path.stem[:16]}-{secrets.token_hex(4)}")
    handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with open(handle, "wb") as file:  # noqa: PTH123 - from a descriptor
            file.write(content)
        aside.replace(path)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise


def forget(folder: Path) -> int:
    """Remove the replies kept under a folder, and nothing else; how many there were."""
    gone = 0
    for path in folder.glob("??/*"):
        if len(path.parent.name) == 2 and (path.suffix == ".json" or path.name.startswith(".")):
            path.unlink(missing_ok=True)
            gone += path.suffix == ".json"
    for path in (*folder.glob("??"), folder):
        with contextlib.suppress(OSError):  # not ours alone, or not there
            path.rmdir()
    return gone
