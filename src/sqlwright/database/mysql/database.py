"""A MySQL or MariaDB server's database that can't be written through."""

from __future__ import annotations

import importlib.util
import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from sqlwright.database.address import Address
from sqlwright.database.functions import stored_functions
from sqlwright.database.guarded import SCHEMA_SECONDS, LoginRights
from sqlwright.database.mysql import LOOSELY
from sqlwright.database.mysql.introspect import (
    RECENT_SECONDS,
    Changes,
    Server,
    places,
    read_changes,
    read_schema,
    read_server,
)
from sqlwright.database.mysql.options import options_of
from sqlwright.database.reader import DatabaseReader
from sqlwright.database.served import ServedDatabase, Told
from sqlwright.database.workers.engine import Place
from sqlwright.database.workers.process import Stop
from sqlwright.errors import DatabaseUnavailable
from sqlwright.protocols import Limits, RowReader, Run
from sqlwright.schema import ColumnRef, Schema, fold_name
from sqlwright.sql.dialects import dialect_named
from sqlwright.sql.facts import QueryFacts, SelectFacts
from sqlwright.sql.guards.rules import NOTHING_OWN, Own
from sqlwright.sql.reading import read_facts
from sqlwright.sql.tree import StopReading
from sqlwright.types import ErrorCause, ExecutionResult
from sqlwright.types.functions import OwnFunction
from sqlwright.types.plans import QueryCost

PLAN_LIMITS = Limits(seconds=5.0, rows=10)
"""Nothing of a query runs when it is explained."""
_ACCESS = {
    "ALL": "every row", "index": "a whole index", "range": "a range of an index",
    "ref": "rows by an index", "eq_ref": "a row by a key", "const": "one row",
    "system": "one row", "ref_or_null": "rows by an index", "fulltext": "a full-text index",
    "index_merge": "several indexes",
}  # fmt: skip
_DEEPEST = 10
"""Levels that are indented."""
_BLOCKED = "block-nl-join"
"""MariaDB's join that reads its table once for many rows."""


def read_cost(text: str) -> QueryCost:
    """The estimate that a plan holds."""
    try:
        plan = json.loads(text)
    except ValueError:
        return QueryCost()
    if not isinstance(plan, dict):
        return QueryCost()
    block = plan.get("query_block", {})
    scanned, rows = _scanned(block)
    return QueryCost(
        rows=rows,
        scanned_rows=scanned,
        units=_units(block),
        outline=tuple(_outline(plan, 0)),
    )


def _scanned(node: Any) -> tuple[float, float | None]:
    """Rows that are read below a node, and rows that come out of its joins."""
    if isinstance(node, list):
        found = [_scanned(one) for one in node]
        return sum(read for read, _ in found), None
    if not isinstance(node, dict):
        return 0.0, None
    read, rows = 0.0, None
    for name, value in node.items():
        if name == "nested_loop" and isinstance(value, list):
            more, rows = _joined(value)
        elif name == "table" and isinstance(value, dict):
            more, rows = _table(value)
        else:
            more, inner = _scanned(value)
            rows = inner if rows is None else rows
        read += more
    return read, rows


def _joined(steps: list[Any]) -> tuple[float, float | None]:
    """Each table of a nested loop is read for every row of those before it."""
    read, rows = 0.0, 1.0
    for step in steps:
        if not isinstance(step, dict):
            continue
        blocked = step.get(_BLOCKED)
        inner = blocked if isinstance(blocked, dict) else step
        table = inner.get("table")
        if not isinstance(table, dict):
            read += _scanned(step)[0]
            continue
        own, kept = _table(table)
        read += own if blocked else own * max(rows, 1.0)
        rows *= kept or 0.0
    return read, rows


def _table(table: Mapping[str, Any]) -> tuple[float, float | None]:
    below = sum(_scanned(value)[0] for value in table.values() if isinstance(value, (dict, list)))
    own = _number(table.get("rows", table.get("rows_examined_per_scan")))
    share = _number(table.get("filtered"))
    own = 1.0 if own is None else own
    return own + below, own * (100.0 if share is None else share) / 100


def _units(block: Any) -> float | None:
    if not isinstance(block, dict):
        return None
    info = block.get("cost_info")
    return _number(info.get("query_cost") if isinstance(info, dict) else block.get("cost"))


def _number(value: object) -> float | None:
    try:
        return float(str(value)) if value is not None else None
    except ValueError:
        return None


def _outline(node: Any, depth: int) -> Iterator[str]:
    if isinstance(node, list):
        for one in node:
            yield from _outline(one, depth)
    if not isinstance(node, dict):
        return
    for name, value in node.items():
        if name == "table" and isinstance(value, dict):
            yield "  " * min(depth, _DEEPEST) + _line(value)
            yield from _outline(
                [part for part in value.values() if isinstance(part, (dict, list))], depth + 1
            )
        elif isinstance(value, (dict, list)):
            named = name in {"filesort", "temporary_table", "grouping_operation",
                             "ordering_operation", "duplicates_removal", "union_result",
                             "window_functions_computation", "materialized"}  # fmt: skip
            if named:
                yield "  " * min(depth, _DEEPEST) + name.replace("_", " ")
            yield from _outline(value, depth + named)


def _line(table: Mapping[str, Any]) -> str:
    name = table.get("table_name", "a message")
    access = str(table.get("access_type", ""))
    key = f" by {table['key']}" if table.get("key") else ""
    rows = _number(table.get("rows", table.get("rows_examined_per_scan")))
    about = "" if rows is None else f", about {rows:,.0f} rows"
    return f"{name}: {_ACCESS.get(access, access or table.get('message', ''))}{key}{about}"


# Stored functions that a setting names.
#
# A name alone may be a native function or one of a loaded library, which come before stored ones:
# so a query has to write a stored function with its database.

_STORED = """
    SELECT ROUTINE_SCHEMA, ROUTINE_NAME, DTD_IDENTIFIER, ROUTINE_COMMENT, SECURITY_TYPE, DEFINER,
        SQL_DATA_ACCESS
    FROM information_schema.ROUTINES
    WHERE ROUTINE_TYPE = 'FUNCTION' AND ROUTINE_SCHEMA IN ({places})
"""
_ARGUMENTS = """
    SELECT SPECIFIC_SCHEMA, SPECIFIC_NAME, PARAMETER_NAME, DTD_IDENTIFIER
    FROM information_schema.PARAMETERS
    WHERE ROUTINE_TYPE = 'FUNCTION' AND ORDINAL_POSITION > 0 AND SPECIFIC_SCHEMA IN ({places})
    ORDER BY SPECIFIC_SCHEMA, SPECIFIC_NAME, ORDINAL_POSITION
"""


def stored_names(connection: RowReader, server: Server) -> frozenset[str]:
    """The functions stored in the database that a name alone may reach, folded. Some bear the name
    of a function that another version of the server brings along. Raises ReadFailed."""
    if not server.usual:
        return frozenset()
    asked = _STORED.format(places=places((server.usual,)))
    return frozenset(fold_name(str(row[1])) for row in connection.rows(asked, (server.usual,)))


def named_routines(
    connection: RowReader, names: Collection[str], server: Server, shown: str
) -> tuple[tuple[OwnFunction, ...], Own]:
    """The functions that names mean, and the names that queries may call them by. Raises
    ReadFailed and ConfigError."""

    def read(sql: str) -> list[tuple[Any, ...]]:
        asked = sql.format(places=places(server.databases) or "NULL")
        return list(connection.rows(asked, server.databases))

    told = {(str(base), str(own)): rest for base, own, *rest in read(_STORED)}
    arguments: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for base, own, name, kind in read(_ARGUMENTS):
        arguments[str(base), str(own)].append(f"{name!s} {kind!s}")
    found = []
    for wanted in stored_functions(names, told, server.usual, shown):
        result, comment, security, definer, access = told[wanted]
        cautions = {
            f"it runs with the rights of {definer!s}, who defined it": security == "DEFINER",
            "it is declared to change data, which the read-only transaction refuses": (
                access == "MODIFIES SQL DATA"
            ),
        }
        base, own = wanted
        found.append(
            OwnFunction(
                own, base, ", ".join(arguments[wanted]), str(result or ""), str(comment or ""),
                tuple(words for words, holds in cautions.items() if holds),
            )
        )  # fmt: skip
    calls = frozenset(f"{one.namespace}.{fold_name(one.name)}" for one in found)
    return tuple(found), Own(calls)


_GRANT = re.compile(r"GRANT (?P<what>.+?) ON (?P<on>.+?) TO .*?(?P<more>WITH .*)?", re.DOTALL)
_ROLES = re.compile(r"GRANT (?P<roles>[`'].+?) TO ", re.DOTALL)
_OF_COLUMNS = re.compile(r"\([^()]*\)")
_READING = {
    "", "USAGE", "SELECT", "SHOW VIEW", "SHOW DATABASES", "LOCK TABLES", "PROCESS",
    "REPLICATION CLIENT", "BINLOG MONITOR", "SLAVE MONITOR",
}  # fmt: skip
"""LOCK TABLES is here because the guarded connection lets no such statement through, and nothing
that a query says can take such a lock."""
_MEANING = {
    "FILE": "read and write files of the server (LOAD_FILE, INTO OUTFILE)",
    "EXECUTE": "call stored functions and procedures, which may do anything their owner may",
    "SUPER": "change the server's settings and stop others' queries",
    "ALL PRIVILEGES": "do everything",
    "ALL": "do everything",
    "PROXY": "act as other logins",
    "CREATE USER": "make and change logins",
    "CONNECTION ADMIN": "stop others' queries",
    "CONNECTION_ADMIN": "stop others' queries",
    "SYSTEM_VARIABLES_ADMIN": "change the server's settings",
}


def read_login(connection: RowReader) -> LoginRights:
    """The rights of a connection's login besides reading. Raises ReadFailed."""
    ((name,),) = connection.rows("SELECT CURRENT_USER()")
    grants = [str(row[0]) for row in connection.rows("SHOW GRANTS")]
    return LoginRights(str(name), tuple(_more_than_reading(grants)))


def _more_than_reading(grants: Iterable[str]) -> Iterable[str]:
    for grant in grants:
        # The text may hold a password's hash after the names: only what was matched is told.
        found = _GRANT.fullmatch(grant)
        if found is None:
            roles = _ROLES.match(grant)
            if roles is not None:
                yield f"use the roles {roles['roles']}, and what they may"
            continue
        place = found["on"]
        for privilege in _OF_COLUMNS.sub("", found["what"]).split(","):
            kind = " ".join(privilege.split()).upper()
            if kind not in _READING:
                yield f"{_MEANING.get(kind, kind)} on {place}"
        if found["more"] and "GRANT OPTION" in found["more"]:
            yield f"give others what it may on {place}"


def is_determined(facts: QueryFacts, schema: Schema) -> bool:
    """True if each group of each SELECT has one value of all that it shows, orders by or compares:
    columns of its key, of a table whose primary key that holds, or equal to one by an inner join.
    False also where that can't be told."""
    return all(
        _one_value(select, facts, place, schema)
        for place, select in enumerate(facts.selects)
        if select.grouping or any(term.aggregates for term in select.shown)
    )


def _one_value(select: SelectFacts, facts: QueryFacts, place: int, schema: Schema) -> bool:
    if select.derived or len(set(select.tables)) < len(select.tables):
        return False
    known = {term.column for term in select.grouping if term.column is not None}
    pairs = [pair for join in select.joins if join.kind == "inner" for pair in join.pairs]
    before = -1
    while len(known) > before:
        before = len(known)
        known |= {ref for pair in pairs if known & set(pair) for ref in pair}
        for table in filter(None, map(schema.table, select.tables)):
            if table.primary_key and {ColumnRef(table.name, c) for c in table.primary_key} <= known:
                known |= {ColumnRef(table.name, column.name) for column in table.columns}
    terms = [*select.shown, *(key.term for key in select.order)]
    for one in facts.comparisons:
        if one.select == place and one.clause == "having":
            terms += [one.left, *one.right]
    return all(
        term.aggregate is not None
        or (bool(term.dates) and term in select.grouping)
        or (not term.queries and set(term.columns) <= known)
        for term in terms
    )


GRACE_SECONDS = 0.4
"""Seconds in which the server may stop a query that is interrupted, before the process is killed;
the server's own limit ends what a killed process leaves."""
_SIZE = """
    SELECT SUM(DATA_LENGTH + INDEX_LENGTH) FROM information_schema.TABLES
    WHERE TABLE_SCHEMA IN ({places}) AND TABLE_TYPE = 'BASE TABLE'
"""


class MysqlDatabase(ServedDatabase[Told]):
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

    look_seconds = 1.0

    def _prepare(self, address: Address) -> None:
        self._options = options_of(address)
        self._functions: tuple[OwnFunction, ...] = ()
        self._own = NOTHING_OWN
        self._open_seconds = self._options.seconds
        self.ignored = self._options.ignored

    def _begin(self, functions: Collection[str]) -> None:
        named, others = self._options.database, self._options.databases
        self._server = self._read(lambda reader: read_server(reader, named, others))
        server = self._server
        stored = self._read(lambda reader: stored_names(reader, server))
        if functions:
            self._functions, self._own = self._read(
                lambda reader: named_routines(reader, functions, server, self.url)
            )
        self._own = replace(self._own, others=stored)

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

    @property
    def functions(self) -> tuple[OwnFunction, ...]:
        return self._functions

    def table_marks(
        self, schema: Schema, stop: StopReading | None = None
    ) -> Mapping[str, str] | None:
        """Marks by the times of changes that the server tells; see `introspect`. None where it
        tells none."""
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
        return self._read(read_login, SCHEMA_SECONDS)

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
        self._wait(lambda: not self._changes().passing, RECENT_SECONDS + 2, stop)

    def _changes(self) -> Changes:
        return self._read(lambda reader: read_changes(reader, self._server), SCHEMA_SECONDS)

    def size(self) -> int | None:
        """About how many bytes the databases hold; None when it can't be told."""
        try:
            ((size,),) = self._rows(_SIZE)
        except DatabaseUnavailable:
            return None
        return None if size is None else int(str(size))

    def _rows(self, sql: str) -> list[tuple[Any, ...]]:
        databases = self._server.databases
        filled = sql.format(places=places(databases) or "NULL")
        return self._read(lambda reader: list(reader.rows(filled, databases)), SCHEMA_SECONDS)

    def _name(self, base: object, table: object) -> str:
        return str(table) if base == self._server.usual else f"{base}.{table}"

    def _look(self, reader: DatabaseReader) -> Told:
        return Told(read_schema(reader, self._address.name, self._server), self._own)

    def _run(self, what: Mapping[str, str], limits: Limits, stop: Stop) -> ExecutionResult:
        sql = what["sql"]
        if self.dialect == "mariadb" and not what["explain"] and "group" in sql.lower():
            schema = self._known_now().schema
            facts = read_facts(sql, schema)
            if facts is not None and is_determined(facts, schema):
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
