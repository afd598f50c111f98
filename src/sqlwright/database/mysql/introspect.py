"""Statements about tables: schema and comments, from information_schema in four statements
however many tables there are, only what the login may select; and texts that change with data and
definitions, for all of it and for each table.

The server tells the second of each table's last change, and what it tells is true of two storage
engines only: InnoDB notes the time when a transaction ends, MyISAM writes its files at once. Aria
tells of a change when its pages reach the disk, MEMORY and others never. Nor is there one where
partitions are emptied or exchanged.

A second is long: what was changed once more in the same one bears the same time. So a time is
believed only when its second has passed. InnoDB keeps the times in memory, for as long as the
server runs and a table stays in its cache of definitions; none is told of a table that wasn't
changed since, and of one that was dropped from the cache after a change. The first is believed only
where nothing can have been dropped, since fewer definitions were ever opened than half of what the
cache holds; partitions count there and aren't counted here.

MariaDB's TRUNCATE leaves the times as they are, so whether a table is held to be empty goes with
them. Not noticed: TRUNCATE of a few rows that the server, since it was started again, holds to be
none, and a file put in the place of a table's (IMPORT TABLESPACE).
"""

from __future__ import annotations

import hashlib
import re
import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlwright.database.failures import READ_FAILURES, read_failure
from sqlwright.database.functions import MOST_LABELS, labels_told
from sqlwright.database.reader import DatabaseReader
from sqlwright.protocols import RowReader
from sqlwright.schema import Column, ForeignKey, Schema, Table, fold_name
from sqlwright.sql.dialects import MYSQL

_SYSTEM = tuple(MYSQL.catalogs)
_DATABASES = """
    SELECT SCHEMA_NAME FROM information_schema.SCHEMATA ORDER BY SCHEMA_NAME
"""
_TABLES = """
    SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE, TABLE_COMMENT
    FROM information_schema.TABLES
    WHERE TABLE_SCHEMA IN ({places}) AND TABLE_TYPE NOT IN ('SYSTEM VIEW', 'SEQUENCE')
    ORDER BY TABLE_SCHEMA, TABLE_NAME
"""
_COLUMNS = """
    SELECT TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME, COLUMN_TYPE, IS_NULLABLE, COLUMN_COMMENT, EXTRA,
        PRIVILEGES
    FROM information_schema.COLUMNS
    WHERE TABLE_SCHEMA IN ({places})
    ORDER BY TABLE_SCHEMA, TABLE_NAME, ORDINAL_POSITION
"""
_KEYS = """
    SELECT TABLE_SCHEMA, TABLE_NAME, CONSTRAINT_NAME, COLUMN_NAME,
        REFERENCED_TABLE_SCHEMA, REFERENCED_TABLE_NAME, REFERENCED_COLUMN_NAME
    FROM information_schema.KEY_COLUMN_USAGE
    WHERE TABLE_SCHEMA IN ({places})
        AND (CONSTRAINT_NAME = 'PRIMARY' OR REFERENCED_TABLE_NAME IS NOT NULL)
    ORDER BY TABLE_SCHEMA, TABLE_NAME, CONSTRAINT_NAME, ORDINAL_POSITION
"""
_VIEWS = """
    SELECT TABLE_SCHEMA, TABLE_NAME, VIEW_DEFINITION
    FROM information_schema.VIEWS WHERE TABLE_SCHEMA IN ({places})
"""
LONGEST_DEFINITION = 4_000
"""Characters of a view's query that is kept; half of a longer one would mislead."""
_LISTED = re.compile(r"(enum|set)\((.*)\)", re.IGNORECASE | re.DOTALL)
_LABEL = re.compile(r"'((?:[^'\\]|''|\\.)*)'", re.DOTALL)

Rows = Iterable[tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Server:
    """A server, and the databases of it that are asked."""

    dialect: str
    usual: str
    """The database that names without one are looked for in; empty where there is none."""
    databases: tuple[str, ...]


def read_server(connection: RowReader, named: str, others: Collection[str]) -> Server:
    """The server, the database that the URL names and the others that it asks for; where it names
    none, all that the login sees."""
    ((version,),) = connection.rows("SELECT VERSION()")
    dialect = "mariadb" if "mariadb" in str(version).lower() else "mysql"
    if named:
        return Server(dialect, named, (named, *others))
    seen = [str(name) for (name,) in connection.rows(_DATABASES)]
    databases = tuple(others) or tuple(n for n in seen if fold_name(n) not in _SYSTEM)
    return Server(dialect, databases[0] if len(databases) == 1 else "", databases)


def read_schema(connection: RowReader, name: str, server: Server) -> Schema:
    """The whole schema: the usual database's tables first, by name."""
    if not server.databases:
        return Schema(name, (), (), server.dialect)
    definitions = {
        (base, table): str(query)
        for base, table, query in _each(connection, _VIEWS, server)
        if query and len(query) <= LONGEST_DEFINITION
    }
    columns: dict[tuple[str, str], list[Column]] = defaultdict(list)
    for base, table, *column in _each(connection, _COLUMNS, server):
        if "select" in str(column[-1]).lower().split(","):
            columns[base, table].append(_column(*column[:-1]))
    keys: dict[tuple[str, str, str], list[tuple[Any, ...]]] = defaultdict(list)
    for base, table, constraint, *parts in _each(connection, _KEYS, server):
        keys[base, table, constraint].append(tuple(parts))
    tables = []
    for base, table, kind, comment in _each(connection, _TABLES, server):
        held = columns.get((base, table))
        if not held:
            continue
        view = str(kind) == "VIEW"
        primary = tuple(str(part[0]) for part in keys.get((base, table, "PRIMARY"), ()))
        made = Table(
            name=_name(base, table, server),
            columns=tuple(held),
            primary_key=primary if {c.name for c in held} >= set(primary) else (),
            kind="view" if view else "table",
            namespace="" if base == server.usual else str(base),
            description="" if view else str(comment or "").strip(),
            definition=definitions.get((base, table), ""),
        )
        tables.append(made)
    tables.sort(key=lambda table: table.namespace != "")  # the sort keeps the names' order
    schema = Schema(name, tuple(tables), (), server.dialect)
    found = tuple(_foreign_keys(keys, schema, server))
    return Schema(name, schema.tables, found, server.dialect)


def places(databases: Sequence[str]) -> str:
    """As many parameters as there are databases."""
    return ", ".join("?" * len(databases))


def _each(connection: RowReader, sql: str, server: Server) -> Rows:
    return connection.rows(sql.format(places=places(server.databases)), server.databases)


def _name(base: object, table: object, server: Server) -> str:
    return str(table) if base == server.usual else f"{base}.{table}"


def _column(name: str, declared: str, nullable: str, comment: str, extra: str) -> Column:
    listed = _LISTED.fullmatch(declared)
    kind = listed[1].lower() if listed else ""
    labels = _labels(listed[2]) if listed else ()
    told = labels_told(labels).replace("one", "any") + ", with commas" if kind == "set" else ""
    return Column(
        name=str(name),
        type=kind or str(declared),
        nullable=nullable == "YES",
        generated="GENERATED" in str(extra).upper().replace("DEFAULT_GENERATED", ""),
        description=str(comment or "").strip(),
        value_description=labels_told(labels) if kind == "enum" else told,
        labels=labels[:MOST_LABELS] if kind == "enum" else (),
    )


def _labels(text: str) -> tuple[str, ...]:
    """The values of an enumeration or a set."""
    return tuple(
        re.sub(r"''|\\(.)", lambda found: found[1] or "'", label, flags=re.DOTALL)
        for label in _LABEL.findall(text)
    )


def _foreign_keys(
    keys: Mapping[tuple[str, str, str], list[tuple[Any, ...]]], schema: Schema, server: Server
) -> Iterator[ForeignKey]:
    for (base, own, constraint), parts in keys.items():
        if constraint == "PRIMARY":
            continue
        table = schema.table(_name(base, own, server))
        target = schema.table(_name(parts[0][1], parts[0][2], server))
        if table is None or target is None:
            continue
        near = _stored(table, [part[0] for part in parts])
        far = _stored(target, [part[3] for part in parts])
        if near and far:
            yield ForeignKey(table.name, near, target.name, far)


def _stored(table: Table, names: Sequence[object]) -> tuple[str, ...]:
    columns = [table.column(str(name)) for name in names]
    return () if None in columns else tuple(column.name for column in columns if column)


RECENT_SECONDS = 1
"""Whole seconds after that of a change in which its time isn't believed yet: another change may
bear the same one, and be seen a moment later."""
_TELLING = ("InnoDB", "MyISAM")
"""Storage engines whose time of the last change is true."""
_STORED = ("BASE TABLE", "SYSTEM VERSIONED")
_STATE = f"""
    SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE, ENGINE, UPDATE_TIME IS NOT NULL,
        CREATE_OPTIONS LIKE '%partitioned%', GREATEST(COALESCE(UPDATE_TIME, CREATE_TIME),
            COALESCE(CREATE_TIME, UPDATE_TIME)) >= NOW() - INTERVAL {RECENT_SECONDS} SECOND,
        CREATE_TIME, UPDATE_TIME, AUTO_INCREMENT, TABLE_ROWS = 0
    FROM information_schema.TABLES WHERE TABLE_SCHEMA IN ({{places}})
    ORDER BY TABLE_SCHEMA, TABLE_NAME
"""
_VIEWS_NOW = """
    SELECT TABLE_SCHEMA, TABLE_NAME, MD5(VIEW_DEFINITION) FROM information_schema.VIEWS
    WHERE TABLE_SCHEMA IN ({places}) ORDER BY TABLE_SCHEMA, TABLE_NAME
"""
_STATUS = {
    "mariadb": "information_schema.GLOBAL_STATUS",
    "mysql": "performance_schema.global_status",
}
_SERVER = """
    SELECT UNIX_TIMESTAMP() - MAX(CASE UPPER(VARIABLE_NAME) WHEN 'UPTIME' THEN
            CAST(VARIABLE_VALUE AS UNSIGNED) END),
        MAX(CASE UPPER(VARIABLE_NAME) WHEN 'OPENED_TABLE_DEFINITIONS' THEN
            CAST(VARIABLE_VALUE AS UNSIGNED) END) < @@GLOBAL.table_definition_cache / 2
    FROM {status} WHERE VARIABLE_NAME IN ('Uptime', 'Opened_table_definitions')
"""
"""The second in which the server started, and whether its cache can have dropped nothing."""


@dataclass(frozen=True, slots=True)
class Changes:
    """Changes as the server tells of them."""

    fingerprint: str
    """Changes when the stored data may have changed; empty where that can't be told of every
    table."""
    marks: Mapping[tuple[str, str], str]
    """Likewise of each table and view by database and name; empty where it can't be told. Of a
    view it never can: it may show tables that the login doesn't see."""
    passing: bool
    """True if it can't be told only because something was changed a moment ago."""


def read_changes(reader: DatabaseReader, server: Server) -> Changes:
    """Read all of it. Raises ReadFailed."""
    if not server.databases:
        return Changes("", {}, passing=False)
    among = places(server.databases)
    try:
        status = _STATUS[server.dialect]
        ((started, roomy),) = list(reader.rows(_SERVER.format(status=status)))
    except READ_FAILURES as error:
        if read_failure(error).kind not in {"sql", "unsafe"}:
            raise
        started = roomy = None  # the login may not read it
    rows = list(reader.rows(_STATE.format(places=among), server.databases))
    views = list(reader.rows(_VIEWS_NOW.format(places=among), server.databases))
    marks: dict[tuple[str, str], str] = {}
    told, passing = started is not None, False
    for base, table, kind, engine, changed, partitioned, recent, *times in rows:
        name = (str(base), str(table))
        if kind == "VIEW":
            marks[name] = ""
        if kind not in _STORED:
            continue
        known = engine in _TELLING and not partitioned and (changed or roomy)
        told, passing = told and bool(known), passing or bool(recent)
        believed = known and not recent and started is not None
        marks[name] = _digest((engine, times, started)) if believed else ""
    state = [row[:4] + row[7:] for row in rows]
    moment = time.time_ns() if passing else None
    fingerprint = _digest((state, views, started, moment)) if told else ""
    return Changes(fingerprint, marks, passing)


def _digest(state: object) -> str:
    return hashlib.sha256(repr(state).encode()).hexdigest()[:32]
