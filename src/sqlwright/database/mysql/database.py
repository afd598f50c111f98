"""A MySQL or MariaDB server's database that can't be written through."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from sqlwright.database.address import Address
from sqlwright.database.guarded import SCHEMA_SECONDS, named_tables
from sqlwright.database.mysql import LOOSELY
from sqlwright.database.mysql.grouping import is_determined
from sqlwright.database.mysql.introspect import Server, places, read_schema, read_server
from sqlwright.database.mysql.login import read_login
from sqlwright.database.mysql.marks import RECENT_SECONDS, Changes, read_changes
from sqlwright.database.mysql.options import options_of
from sqlwright.database.mysql.planning import PLAN_LIMITS, read_cost
from sqlwright.database.mysql.routines import named_routines, stored_names
from sqlwright.database.rights import LoginRights
from sqlwright.database.served import ServedDatabase
from sqlwright.database.workers.engine import Place
from sqlwright.database.workers.process import Stop
from sqlwright.errors import DatabaseUnavailable
from sqlwright.protocols import Limits, Run
from sqlwright.schema import Schema
from sqlwright.sql.dialects import dialect_named
from sqlwright.sql.guard import check_query
from sqlwright.sql.guards.rules import NOTHING_OWN, Readable
from sqlwright.sql.reading import read_facts
from sqlwright.sql.tokens import UnreadableQuery
from sqlwright.sql.tree import StopReading
from sqlwright.types import ErrorCause, ExecutionResult
from sqlwright.types.functions import OwnFunction
from sqlwright.types.plans import QueryCost

GRACE_SECONDS = 0.4
"""Seconds in which the server may stop a query that is interrupted, before the process is killed;
the server's own limit ends what a killed process leaves."""
NAMES_SECONDS = 1.0
"""Names of tables that are younger than this aren't read again for a query that names another."""
_SETTLE_SECONDS = 0.2
"""Seconds between two looks at whether the second of the last change has passed."""
_SIZE = """
    SELECT SUM(DATA_LENGTH + INDEX_LENGTH) FROM information_schema.TABLES
    WHERE TABLE_SCHEMA IN ({places}) AND TABLE_TYPE = 'BASE TABLE'
"""
_COUNTS = """
    SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_ROWS FROM information_schema.TABLES
    WHERE TABLE_SCHEMA IN ({places}) AND TABLE_ROWS IS NOT NULL
        AND TABLE_TYPE IN ('BASE TABLE', 'SYSTEM VERSIONED')
"""


class MysqlDatabase(ServedDatabase):
    """`protocols.Database` over one server. All methods may be called from any thread."""

    hints: ClassVar[Mapping[ErrorCause, str]] = {
        **ServedDatabase.hints,
        "locked": "Another program changes its tables: try again in a moment.",
        "refused": "Is the server running there, and are host and port right? "
        "Write mysql://user@host:3306/database.",
        "unknown_host": "Is the host's name right, and does the network reach it?",
        "not_admitted": "Check user and password in the URL (%40 for an @) or in ~/.my.cnf, and "
        "that the server admits this user from here.",
        "not_encrypted": "Check ssl_mode and ssl_ca in the URL: "
        "mysql://user@host/database?ssl_mode=verify_identity&ssl_ca=FILE.",
        "crowded": "The server, or this login, has no connection free: end others, or raise "
        "max_connections or the login's MAX_USER_CONNECTIONS.",
        "lost": "Check that the server runs and the network holds, then try again.",
        "slow": "The server is busy, or far away: try again, or name tables.",
    }
    hint = "Check that the server runs, and the host, port, user, password and database of the URL."

    def __init__(
        self,
        address: Address,
        tables: Collection[str] | None = None,
        functions: Collection[str] = (),
    ) -> None:
        """With `tables` the tree check refuses all others; of stored functions it lets `functions`
        pass. Raises DatabaseUnavailable and ConfigError."""
        self.check_address(address)
        self._options = options_of(address)
        self._read_last = Schema("", ())
        self._named_at = float("-inf")
        self._functions: tuple[OwnFunction, ...] = ()
        self._own = NOTHING_OWN
        super().__init__(address)
        self._open_seconds = self._options.seconds
        self.ignored = self._options.ignored
        try:
            named, others = self._options.database, self._options.databases
            self._server = self._read(lambda reader: read_server(reader, named, others))
            server = self._server
            stored = self._read(lambda reader: stored_names(reader, server))
            if functions:
                self._functions, self._own = self._read(
                    lambda reader: named_routines(reader, functions, server, self.url)
                )
            self._own = replace(self._own, others=stored)
            if tables is not None:
                self._tables = named_tables(tables, self._whole(SCHEMA_SECONDS), self.url)
        except BaseException:
            self.close()
            raise

    @classmethod
    def at(
        cls,
        address: Address,
        tables: Collection[str] | None = None,
        functions: Collection[str] = (),
    ) -> MysqlDatabase:
        return cls(address, tables, functions)

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

    @property
    def functions(self) -> tuple[OwnFunction, ...]:
        return self._functions

    def row_counts(self) -> Mapping[str, int]:
        """About how many rows each table has, as the server keeps it. Raises
        DatabaseUnavailable."""
        found = {self._name(base, table): int(str(n)) for base, table, n in self._rows(_COUNTS)}
        return {n: rows for n, rows in found.items() if self._tables is None or n in self._tables}

    def table_marks(
        self, schema: Schema, stop: StopReading | None = None
    ) -> Mapping[str, str] | None:
        """Marks by the times of changes that the server tells; see `marks`. None where it tells
        none."""
        if stop is not None:
            stop()
        try:
            found = self._changes()
        except DatabaseUnavailable:
            return None
        named = {self._name(base, table): mark for (base, table), mark in found.marks.items()}
        return {name: mark for name, mark in named.items() if schema.table(name) is not None}

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
        """Changes when the stored data may have changed. Empty where that can't be told of every
        table. Raises DatabaseUnavailable."""
        return self._changes().fingerprint

    def settle(self, stop: StopReading, *, kept: bool) -> None:
        """Wait until the second of the last change has passed, a few at most."""
        del kept  # what is read now is kept under the time of its last change
        until = time.monotonic() + RECENT_SECONDS + 2
        while self._changes().passing and time.monotonic() < until:
            stop()
            time.sleep(_SETTLE_SECONDS)

    def _changes(self) -> Changes:
        return self._read(lambda reader: read_changes(reader, self._server), SCHEMA_SECONDS)

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

    def _whole(self, seconds: float, stop: StopReading | None = None) -> Schema:
        name, server = self._address.name, self._server
        schema = self._read(lambda reader: read_schema(reader, name, server), seconds, stop)
        with self._lock:
            self._read_last = schema
            self._named_at = time.monotonic()
        return schema

    def _check(self, sql: str, stop: StopReading | None) -> None:
        readable = self._readable(float("inf"), stop)
        try:
            check_query(sql, self.dialect, readable=readable, own=self._own, stop=stop)
        except UnreadableQuery as error:
            newer = self._readable(NAMES_SECONDS, stop)
            if error.cause != "unknown_table" or newer == readable:
                raise
            check_query(sql, self.dialect, readable=newer, own=self._own, stop=stop)

    def _readable(self, age: float, stop: StopReading | None) -> Readable:
        """Names of the tables that may be read, no older than that."""
        with self._lock:
            schema, read = self._read_last, self._named_at
        if time.monotonic() - read > age or not schema.tables:
            schema = self._whole(SCHEMA_SECONDS, stop)
        listed = self._tables
        return frozenset(
            table.path for table in schema.tables if listed is None or table.name in listed
        )

    def _run(self, what: Mapping[str, str], limits: Limits, stop: Stop) -> ExecutionResult:
        sql = what["sql"]
        if self.dialect == "mariadb" and not what["explain"] and "group" in sql.lower():
            facts = read_facts(sql, self._read_last)
            if facts is not None and is_determined(facts, self._read_last):
                what = {**what, "explain": LOOSELY}
        return super()._run(what, limits, stop)

    def _request(self, limits: Limits) -> dict[str, Any]:
        server = getattr(self, "_server", None)
        opening = self._options.opening
        if isinstance(server, Server) and server.usual:
            opening["database"] = server.usual
        return self._limited(limits) | {
            "place": Place("mysql", ("pymysql",), "", grace=GRACE_SECONDS),
            "opening": opening,
        }
