"""Protocols of a database engine inside a worker process. Implementations: the module `engine` of
each engine's folder, whose `ENGINE` is one."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, runtime_checkable

from sqlwright.database.workers.confinement import confine_client

if TYPE_CHECKING:
    from sqlwright.database.failures import Failure
    from sqlwright.types import Cell

    Row = tuple[Cell, ...]


class Place(NamedTuple):
    """The engine and the files that a worker is started for. It serves no other place."""

    engine: str
    """Name of the engine's folder below `sqlwright.database`."""
    libraries: tuple[str, ...]
    """Top-level names of the packages that the engine imports, or folders that they are in."""
    folder: str
    """The folder whose files it may read; empty for a server."""
    device: int = 0
    """The folder's device and inode: another folder of the same path is another place."""
    inode: int = 0
    grace: float = 0.06
    """Seconds that an interrupted query may take to stop before the process is killed."""
    light_bytes: int = 128 * 1024 * 1024
    """Memory that every query may take. One that needs more runs again, and only one does at a
    time, so that all workers together take no more than the limit of one query and three times
    this."""


class Connection(Protocol):
    """A connection inside a worker. One thread uses it, any may interrupt it."""

    def interrupt(self) -> None:
        """Stop the running query soon, from any thread."""
        ...

    def close(self) -> None: ...


class Guarded(Connection, Protocol):
    """A connection that answers generated SQL, and nothing that writes."""

    @property
    def phase(self) -> Literal["prepare", "run"]:
        """Stage that the last query reached: only prepared, or run, from the moment that the engine
        may have read a row. An error of the first stage quotes none."""
        ...

    def execute(self, sql: str, explain: str = "") -> tuple[tuple[str, ...], Iterator[Row]]:
        """Column names and a lazy iterator of rows; with `explain`, words of the engine that ask
        for a plan, those of the plan. Raises `Refused` or one of the engine's `failures`."""
        ...

    def finish(self) -> None:
        """End what the last query began: its cursor, its transaction."""
        ...


class Trusted(Connection, Protocol):
    """A read-only connection for SQL that sqlwright itself wrote."""

    def rows(self, sql: str, parameters: Sequence[Cell] = ()) -> Iterator[Row]:
        """Rows one by one. Raises one of the engine's `failures`."""
        ...

    def shown(self, tables: Collection[str]) -> dict[str, list[str]]:
        """Listed tables by what they show of tables that aren't listed."""
        ...


class Engine(Protocol):
    """One database engine, inside a worker process."""

    @property
    def failures(self) -> tuple[type[BaseException], ...]:
        """Exceptions of running a query, besides `Refused`."""
        ...

    @property
    def threads(self) -> int:
        """Threads of its own that work at once; 0 if it starts none."""
        ...

    @property
    def addresses(self) -> int:
        """Bytes of addresses that it sets aside and never uses."""
        ...

    @property
    def idle_bytes(self) -> int:
        """Memory that a process may hold after a query; it would keep most of it, so one that holds
        more is ended."""
        ...

    def start(self, folder: str) -> Sequence[str]:
        """Load what is needed and give up what isn't; the names of what holds now."""
        ...

    def guarded(self, opening: Mapping[str, Any]) -> Guarded:
        """A connection for generated SQL. `opening` is what the caller put into the request under
        that name; a connection is kept as long as it stays the same. Raises one of `failures`."""
        ...

    def trusted(self, opening: Mapping[str, Any]) -> Trusted:
        """A connection for SQL that sqlwright itself wrote, likewise."""
        ...

    def explain(self, error: BaseException) -> Failure:
        """The failure that one of `failures` or `Refused` stands for."""
        ...

    def needs_copy(self, error: BaseException) -> bool:
        """True if the file can only be read as a copy."""
        ...

    def set_memory(self, size: int) -> None:
        """Cap what the engine may take in this process, in bytes."""
        ...


class OfServer:
    """The part that engines on servers have in common."""

    threads = 0

    def start(self, folder: str) -> Sequence[str]:
        """Give up everything but the network and reading of files."""
        del folder
        return confine_client()

    def needs_copy(self, error: BaseException) -> bool:
        """A server's rows can't be copied."""
        del error
        return False

    def set_memory(self, size: int) -> None:
        """Nothing: the system holds this process to its limit, and the rows come in chunks."""


@runtime_checkable
class KeepsTime(Protocol):
    """An engine that stops a statement by itself, too, should nobody interrupt it."""

    def set_seconds(self, seconds: float) -> None:
        """Tell the time that the next statement may take."""
        ...
