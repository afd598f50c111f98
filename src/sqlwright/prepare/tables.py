"""Reading the tables of a database, each from its stages as far as they are there, within limits:
rows of a table, seconds in all, and rests between.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sqlwright.catalog.reading import OutOfTime, TimedReader, Unreadable
from sqlwright.catalog.scan import (
    ScanLimits,
    TableSample,
    TableScan,
    column_groups,
    count_values,
    joined,
    sample_table,
    scan_columns,
    unread,
    with_elements,
)
from sqlwright.catalog.statements.sampling import Sources
from sqlwright.prepare.progress import Progress, ProgressSink
from sqlwright.prepare.storage.paths import write_private
from sqlwright.prepare.storage.stages import load_stage, save_stage
from sqlwright.protocols import Database
from sqlwright.schema import Schema, Table
from sqlwright.sql.dialects import dialect_of

MOST_ROWS = 200_000
"""Rows of a table that are read by default of every engine but SQLite; of a larger one as many from
all over it, and each value of columns of texts, counted by the engine."""
PAUSE = 0.25
"""Rest after each chunk of rows from a server, as a share of the time that the chunk took."""


@dataclass(frozen=True, slots=True)
class Reach:
    """Limits of one preparation."""

    rows: int | None = None
    """Rows of each table at most; None is all of them."""
    seconds: float | None = None
    """Seconds for reading all tables; None is no limit."""
    pause: float = 0.0
    """Rest after each chunk of rows, as a share of the time that it took."""
    counting: bool = False
    """True if the engine may count the values of columns of texts of larger tables, for which it
    reads them whole."""

    @property
    def named(self) -> str:
        """The limits by which two preparations are told apart; empty without any."""
        limits = (("rows", self.rows), ("seconds", self.seconds))
        return " ".join(f"{name}={value:g}" for name, value in limits if value is not None)


def reach_into(database: Database, rows: int | None, seconds: float | None) -> Reach:
    """The limits that were asked for, and those that the engine has by default."""
    if database.dialect == "sqlite":
        return Reach(rows, seconds)
    pause = PAUSE if database.path is None else 0.0
    return Reach(MOST_ROWS if rows is None else rows, seconds, pause, counting=rows is None)


VIEW_ROWS = 100_000
"""Rows of a view that are read: each of them may cost any amount of work."""
VIEW_SECONDS = 20.0
"""Seconds that a view is read at most."""
COUNTED_VALUES = 200_000
"""Different values of a column that the engine counts at most."""
COUNT_SECONDS = 10.0
"""Seconds that it may take for each column."""
_BEGUN = "begun"
"""Marks a preparation of data that may change untold."""
_BEGUN_SECONDS = 86_400.0
"""Seconds, a day, after which what an interrupted one of these has read is read anew."""


def table_keys(
    schema: Schema, marks: Mapping[str, str], whole: str, reach: Reach
) -> dict[str, str]:
    """Names of each table's stages: the same as long as its data, its columns and how much is read
    of it are. Without a mark of its own a table changes with the `whole` database, a view too: it
    may show tables that aren't listed."""
    keys = {}
    for table in schema.tables:
        data = marks.get(table.name) or whole
        shape = [table.name, table.kind, *((c.name, c.type) for c in table.columns)]
        if reach.rows is not None:
            shape.append(f"{reach.rows} rows")
        keys[table.name] = hashlib.sha256(
            f"{shape!r}\0{data}".encode("utf-8", "surrogatepass")
        ).hexdigest()[:32]
    return keys


def attempt(stages: Path) -> str:
    """Stands for data of which nobody can tell whether it has changed: the same until a preparation
    has ended, so that one that was interrupted goes on. Raises `WorkspaceError`."""
    path = stages / _BEGUN
    try:
        if abs(time.time() - path.stat().st_mtime) < _BEGUN_SECONDS:
            return path.read_text("ascii")
    except (OSError, ValueError):
        pass
    made = secrets.token_hex(8)
    write_private(path, made.encode())
    return made


@dataclass
class TableReading:
    """The reading of all tables under way."""

    schema: Schema
    keys: Mapping[str, str]
    """Names of their stages, by table."""
    stages: Path
    """The folder with the stages."""
    reach: Reach
    reading: TimedReader
    progress: ProgressSink
    read: list[str] = field(default_factory=list)
    """Tables that were read now."""
    reused: list[str] = field(default_factory=list)
    """Tables that were kept from before."""
    used_stages: list[str] = field(default_factory=list)
    unfinished: bool = False
    """True if the time was up before all was read that may be."""
    _sample: TableSample | None = None

    def __post_init__(self) -> None:
        self._sources = Sources(self.reading, dialect_of(self.schema))

    def all(self) -> dict[str, TableScan]:
        """The scans by table, in the schema's order. With a limit of time small tables come first,
        and each has an even share of what is left."""
        tables = self.schema.tables
        if self.reach.seconds is None:
            return {table.name: self._scan(table, None) for table in tables}
        sizes = {table.name: self._size(table) for table in tables}
        found = {}
        for done, table in enumerate(sorted(tables, key=lambda one: sizes[one.name])):
            share = max(self.reading.remaining(), 0.0) / (len(tables) - done)
            found[table.name] = self._scan(table, share)
        return {table.name: found[table.name] for table in tables}

    def _size(self, table: Table) -> float:
        """Cells of a table, about; what isn't known comes last."""
        try:
            rows = self._sources.of(table).rows
        except (Unreadable, OutOfTime):
            rows = None
        return float("inf") if rows is None else float(rows * len(table.columns))

    def _scan(self, table: Table, share: float | None) -> TableScan:
        """A table from its stages as far as they are there, else from the database, within a share
        of the time."""
        limits = [seconds for seconds in (share, _view_seconds(table)) if seconds is not None]
        try:
            with self.reading.within(min(limits, default=float("inf"))):
                groups = [
                    self._scan_group(table, f"{self.keys[table.name]}-{number}", positions, share)
                    for number, positions in enumerate(
                        column_groups(table, self._sources.of(table).rows)
                    )
                ]
        except (Unreadable, OutOfTime) as error:
            self.unfinished |= isinstance(error, OutOfTime) and share is not None
            self.read.append(table.name)
            return unread(table, error)
        fresh = any(is_fresh for _, is_fresh in groups)
        (self.read if fresh else self.reused).append(table.name)
        return joined([scan for scan, _ in groups])

    def _scan_group(
        self, table: Table, stage: str, positions: range, share: float | None
    ) -> tuple[TableScan, bool]:
        """The scan of some columns of a table, and True if they had to be read."""
        path = self.stages / stage
        self.used_stages.append(stage)
        scan = load_stage(path)
        names = [table.columns[at].name for at in positions]
        if scan is not None and [column.ref.column for column in scan.columns] == names:
            return scan, False
        if self._sample is None or self._sample.table is not table:
            self._sample = sample_table(self.reading, self._sources.of(table))
        most = self.reach.rows
        if table.kind == "view":
            most = VIEW_ROWS if most is None else min(most, VIEW_ROWS)
        total = self._sample.rows
        if total is not None and most is not None:
            total = min(total, most)
        self.progress(Progress("tables", table.name, 0, total))
        count = self._rows_of(table, total)
        limits = ScanLimits(rows=most)
        scan = scan_columns(self.reading, self._sample, positions, limits, progress=count)
        scan = with_elements(self.reading, table, dialect_of(self.schema), scan, most)
        if self.reach.counting and scan.profile.sampled and table.kind == "table":
            self._count_values(scan, positions)
        if share is not None and self.reading.remaining() <= 0:
            self.unfinished = True  # more time may read the rest
        else:
            save_stage(path, scan)
        return scan, True

    def _count_values(self, scan: TableScan, positions: range) -> None:
        """Have the engine count what was only sampled of columns of texts."""
        assert self._sample is not None
        for number, position in enumerate(positions):
            if scan.columns[number].profile.indexing == "part" and self.reading.remaining() > 0:
                try:
                    counted = count_values(
                        self.reading, self._sample, position, COUNTED_VALUES, COUNT_SECONDS
                    )
                except OutOfTime:
                    return
                scan.columns[number] = counted or scan.columns[number]

    def _rows_of(self, table: Table, total: int | None) -> Callable[[int], None]:
        done = 0

        def count(rows: int) -> None:
            nonlocal done
            done += rows
            self.progress(Progress("tables", table.name, done, total))

        return count


def _view_seconds(table: Table) -> float | None:
    return VIEW_SECONDS if table.kind == "view" else None
