"""Sentences about tables that models wrote: in memory, and on disk beside what is prepared.

Each is kept under a digest of all it depends on: the table as declared and described, the model,
the prompt, and whether stored values were shown. So a change of any of them has it written anew,
and no sentence that may tell of values is read where values mayn't be shown.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from sqlwright.llm.keeping.cache import write_aside
from sqlwright.protocols import Run
from sqlwright.schema import Schema, Table

FILE = "summaries-{}.json"
POLL = 0.05
"""Seconds between looks at whether the run was cancelled while another question asks."""
_VERSION = 1
"""Version of the file; sentences of another version are written anew."""


def maker_digest(maker: Sequence[object]) -> str:
    """Digest of who writes the sentences, and how."""
    return _digest([_VERSION, *maker])


def table_digests(schema: Schema, maker: str) -> dict[str, str]:
    """For each table the digest that its sentence is kept under."""
    return {table.name: _digest([maker, _declared(schema, table)]) for table in schema.tables}


class KeptSummaries:
    """Sentences by digest; thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: dict[str, str] = {}

    @contextlib.contextmanager
    def turn(self, run: Run) -> Iterator[None]:
        """One question at a time, so that nothing is asked for twice; in a wait that can end.
        Raises Cancelled."""
        while not self._lock.acquire(timeout=POLL):
            run.check()
        try:
            yield
        finally:
            self._lock.release()

    def find(self, digests: Sequence[str], maker: str, folder: Path | None) -> dict[str, str]:
        """The sentences that are known, by digest."""
        if folder is not None and any(digest not in self._known for digest in digests):
            self._known |= _read(_place(folder, maker))
        return {digest: self._known[digest] for digest in digests if digest in self._known}

    def keep(self, written: Mapping[str, str], maker: str, folder: Path | None) -> None:
        """Keep sentences by digest; those that another process has kept meanwhile stay."""
        self._known |= written
        if folder is None or not written:
            return
        place = _place(folder, maker)
        content = {"version": _VERSION, "summaries": {**_read(place), **written}}
        with contextlib.suppress(OSError):  # a disk that can't be written costs calls, no answer
            write_aside(place, json.dumps(content, indent=1, sort_keys=True).encode())


def _place(folder: Path, maker: str) -> Path:
    return folder / FILE.format(maker[:24])


def _read(place: Path) -> dict[str, str]:
    """The sentences in a file; nothing where there is none or it is damaged."""
    try:
        found = json.loads(place.read_bytes())
        kept = found["summaries"] if found["version"] == _VERSION else {}
        return {digest: text for digest, text in kept.items() if isinstance(text, str)}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _declared(schema: Schema, table: Table) -> list[object]:
    """All that is declared and described of a table."""
    keys = [asdict(key) for key in schema.foreign_keys if key.table == table.name]
    columns = [asdict(column) for column in table.columns]
    own = [table.name, table.kind, table.label, table.description, table.definition]
    return [own, columns, list(table.primary_key), keys]


def _digest(about: object) -> str:
    text = json.dumps(about, ensure_ascii=True, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
