"""Tables, views, columns, keys and comments of MySQL databases, from information_schema: four
statements however many tables there are, and only what the login may select."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlwright.database.functions import MOST_LABELS, labels_told
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
