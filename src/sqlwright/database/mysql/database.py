"""A MySQL or MariaDB server's database that can't be written through."""

from __future__ import annotations

import hashlib
import importlib.util
import time
from collections.abc import Collection, Mapping
from typing import Any, ClassVar

from sqlwright.database.address import Address
from sqlwright.database.guarded import SCHEMA_SECONDS, ServedDatabase, named_tables
from sqlwright.database.mysql.introspect import Server, places, read_schema, read_server
from sqlwright.database.mysql.login import read_login
from sqlwright.database.mysql.options import options_of
from sqlwright.database.mysql.planning import PLAN_LIMITS, read_cost
from sqlwright.database.rights import LoginRights
from sqlwright.database.workers.engine import Place
from sqlwright.errors import DatabaseUnavailable
from sqlwright.protocols import Limits, Run
from sqlwright.schema import Schema
from sqlwright.sql.dialects import dialect_named
from sqlwright.sql.guard import check_query
from sqlwright.sql.tokens import UnreadableQuery
from sqlwright.sql.tree import StopReading
from sqlwright.types import ErrorCause
from sqlwright.types.plans import QueryCost

GRACE_SECONDS = 0.4
"""Seconds in which the server may stop a query that is interrupted, before the process is killed;
the server's own limit ends what a killed process leaves."""
NAMES_SECONDS = 1.0
"""Names of tables that are younger than this aren't read again for a query that names another."""
_TOLD_ENGINES = ("InnoDB", "Aria", "MyISAM", "MEMORY")
"""Storage engines that tell when a table was last changed."""
_STORED = ("BASE TABLE", "SYSTEM VERSIONED")
_SIZE = """
    SELECT SUM(DATA_LENGTH + INDEX_LENGTH) FROM information_schema.TABLES
    WHERE TABLE_SCHEMA IN ({places}) AND TABLE_TYPE = 'BASE TABLE'
"""
_COUNTS = """
    SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_ROWS FROM information_schema.TABLES
    WHERE TABLE_SCHEMA IN ({places}) AND TABLE_ROWS IS NOT NULL
        AND TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED')
"""
_STATE = """
    SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE, ENGINE, CREATE_TIME, UPDATE_TIME, AUTO_INCREMENT
    FROM information_schema.TABLES WHERE TABLE_SCHEMA IN ({places})
    ORDER BY TABLE_SCHEMA, TABLE_NAME
"""
_STARTED = {
    "mariadb": "SELECT UNIX_TIMESTAMP() - VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS "
    "WHERE VARIABLE_NAME = 'UPTIME'",
    "mysql": "SELECT UNIX_TIMESTAMP() - VARIABLE_VALUE FROM performance_schema.global_status "
    "WHERE VARIABLE_NAME = 'Uptime'",
}
"""The second in which the server started: the times of changes are forgotten with it."""


class MysqlDatabase(ServedDatabase):
    """`protocols.Database` over one server. All methods may be called from any thread."""

    hints: ClassVar[Mapping[ErrorCause, str]] = {
        **ServedDatabase.hints,
        "locked": "Another program changes its tables: try again in a moment.",
        "refused": "Is the server running there, and are host and port right? "
        "Write mysql://user@host:3306/database.",
        "unknown_host": "Is the host's name right, and does the network reach it?",
        "not_admitted": "Check user and password in the URL (%40 for an @), and that the server "
        "admits this user from here.",
        "not_encrypted": "Check ssl_mode and ssl_ca in the URL: "
        "mysql://user@host/database?ssl_mode=verify_identity&ssl_ca=FILE.",
        "lost": "Check that the server runs and the network holds, then try again.",
        "slow": "The server is busy, or far away: try again, or name tables.",
    }
    hint = "Check that the server runs, and the host, port, user, password and database of the URL."

    def __init__(self, address: Address, tables: Collection[str] | None = None) -> None:
        """With `tables` the tree check refuses all others. Raises DatabaseUnavailable and
        ConfigError."""
        self.check_address(address)
        self._options = options_of(address)
        self._names: frozenset[str] = frozenset()
        self._named_at = float("-inf")
        super().__init__(address)
        try:
            named, others = self._options.database, self._options.databases
            self._server = self._read(lambda reader: read_server(reader, named, others))
            if tables is not None:
                self._tables = named_tables(tables, self._whole(SCHEMA_SECONDS), self.url)
        except BaseException:
            self.close()
            raise

    @classmethod
    def at(cls, address: Address, tables: Collection[str] | None = None) -> MysqlDatabase:
        return cls(address, tables)

    @classmethod
    def check_address(cls, address: Address) -> None:
        """Raise DatabaseUnavailable where the driver isn't installed or the URL can't be read."""
        if importlib.util.find_spec("pymysql") is None:
            raise DatabaseUnavailable(
                "MySQL and MariaDB are asked by PyMySQL, which isn't installed.",
                hint="pip install 'sqlwright[mysql]'",
            )
        options_of(address)

    @property
    def dialect(self) -> str:
        """`mysql` or `mariadb`, as the server says."""
        return self._server.dialect

    def schema(self, *, seconds: float = SCHEMA_SECONDS) -> Schema:
        """Tables, views, columns, keys and comments that the login may select, read afresh. Raises
        DatabaseUnavailable, also when that takes longer than so many seconds."""
        schema = self._whole(seconds)
        return schema if self._tables is None else schema.only(self._tables)

    def row_counts(self) -> Mapping[str, int]:
        """About how many rows each table has, as the server keeps it. Raises
        DatabaseUnavailable."""
        found = {self._name(base, table): int(str(n)) for base, table, n in self._rows(_COUNTS)}
        return {n: rows for n, rows in found.items() if self._tables is None or n in self._tables}

    def table_marks(
        self, schema: Schema, stop: StopReading | None = None
    ) -> Mapping[str, str] | None:
        """A mark of each table by its name, which changes when its rows may have changed; views
        have none. None where a storage engine doesn't tell, or the server."""
        if stop is not None:
            stop()
        if not self._server.databases:
            return {}
        try:
            state = self._rows(_STATE)
            started = self._rows(_STARTED[self.dialect], ())
        except DatabaseUnavailable:
            return None
        marks = {}
        for base, table, kind, engine, *times in state:
            name = self._name(base, table)
            if kind not in _STORED or schema.table(name) is None:
                continue
            if engine not in _TOLD_ENGINES:
                return None
            marks[name] = _digest((engine, times, started))
        return marks

    def rights(self) -> LoginRights:
        """The rights of the login besides reading. Raises DatabaseUnavailable."""
        schema, listed = self.schema(), self._tables is not None
        return self._read(
            lambda reader: read_login(reader, schema, self._server.databases, listed),
            SCHEMA_SECONDS,
        )

    def cost(self, sql: str, run: Run) -> QueryCost:
        """The server's estimate of a query, nothing of which runs. Every failure is in it."""
        plan = self._answer(sql, run, PLAN_LIMITS, dialect_named(self.dialect).plan)
        if plan.error is not None:
            return QueryCost(error=plan.error)
        return read_cost(str(plan.rows[0][0])) if plan.rows else QueryCost()

    def fingerprint(self) -> str:
        """Changes when the stored data may have changed. Empty where a table's storage engine
        doesn't tell. Raises DatabaseUnavailable."""
        if not self._server.databases:
            return ""
        state = self._rows(_STATE)
        try:
            started = self._rows(_STARTED[self.dialect], ())
        except DatabaseUnavailable:
            return ""
        if any(kind in _STORED and engine not in _TOLD_ENGINES for _, _, kind, engine, *_ in state):
            return ""
        return _digest((state, started))

    def size(self) -> int | None:
        """About how many bytes the databases hold; None when it can't be told."""
        try:
            ((size,),) = self._rows(_SIZE)
        except DatabaseUnavailable:
            return None
        return None if size is None else int(str(size))

    def _rows(self, sql: str, parameters: tuple[str, ...] | None = None) -> list[tuple[Any, ...]]:
        databases = self._server.databases if parameters is None else parameters
        filled = sql.format(places=places(databases) or "NULL")
        return self._read(lambda reader: list(reader.rows(filled, databases)), SCHEMA_SECONDS)

    def _name(self, base: object, table: object) -> str:
        return str(table) if base == self._server.usual else f"{base}.{table}"

    def _whole(self, seconds: float) -> Schema:
        name, server = self._address.name, self._server
        schema = self._read(lambda reader: read_schema(reader, name, server), seconds)
        with self._lock:
            self._names = frozenset(table.name for table in schema.tables)
            self._named_at = time.monotonic()
        return schema

    def _check(self, sql: str, stop: StopReading | None) -> None:
        readable = self._readable(float("inf"))
        try:
            check_query(sql, self.dialect, readable=readable, stop=stop)
        except UnreadableQuery as error:
            newer = self._readable(NAMES_SECONDS)
            if error.cause != "unknown_table" or newer == readable:
                raise
            check_query(sql, self.dialect, readable=newer, stop=stop)

    def _readable(self, age: float) -> frozenset[str]:
        """Names of the tables that may be read, no older than that."""
        with self._lock:
            names, read = self._names, self._named_at
        if time.monotonic() - read > age or not names:
            self._whole(SCHEMA_SECONDS)
            with self._lock:
                names = self._names
        return names if self._tables is None else names.intersection(self._tables)

    def _request(self, limits: Limits) -> dict[str, Any]:
        server = getattr(self, "_server", None)
        opening = self._options.opening
        if isinstance(server, Server) and server.usual:
            opening["database"] = server.usual
        return self._limited(limits) | {
            "place": Place("mysql", ("pymysql",), "", grace=GRACE_SECONDS),
            "opening": opening,
        }


def _digest(state: object) -> str:
    return hashlib.sha256(repr(state).encode()).hexdigest()[:32]
