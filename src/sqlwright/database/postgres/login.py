"""Rights of a login on its server, were it not for sqlwright, and the statements that make a login
which can only read. This is the answer to "what if everything else failed"."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from sqlwright.database.reader import DatabaseReader
from sqlwright.sql.dialects import POSTGRES
from sqlwright.types import Cell

MOST_NAMES = 20
"""Names of tables, namespaces or functions that are listed of each kind."""
_ROLE = """
    SELECT r.rolname, r.rolsuper, r.rolbypassrls, r.rolcreaterole, r.rolcreatedb, r.rolreplication,
        pg_catalog.has_database_privilege(pg_catalog.current_database(), 'CREATE'),
        pg_catalog.has_database_privilege(pg_catalog.current_database(), 'TEMPORARY'),
        pg_catalog.current_database()
    FROM pg_catalog.pg_roles r WHERE r.rolname = current_user
"""
_ROLES = """
    SELECT r.rolname FROM pg_catalog.pg_roles r
    WHERE r.rolname IN ('pg_read_server_files', 'pg_write_server_files',
            'pg_execute_server_program', 'pg_signal_backend', 'pg_write_all_data',
            'pg_maintain', 'pg_checkpoint', 'pg_create_subscription')
        AND pg_catalog.pg_has_role(r.oid, 'MEMBER') ORDER BY 1
"""
_WRITABLE = """
    SELECT n.nspname, c.relname, pg_catalog.pg_has_role(c.relowner, 'USAGE')
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'v', 'f')
        AND n.nspname NOT IN ('pg_catalog', 'information_schema')
        AND n.nspname !~ '^pg_t(oast|emp)' AND NOT c.relispartition
        AND (pg_catalog.has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')
            OR pg_catalog.has_any_column_privilege(c.oid, 'INSERT, UPDATE'))
    ORDER BY 1, 2
"""
_CREATES = """
    SELECT n.nspname FROM pg_catalog.pg_namespace n
    WHERE n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
        AND pg_catalog.has_schema_privilege(n.oid, 'CREATE') ORDER BY 1
"""
_FUNCTIONS = """
    SELECT DISTINCT p.proname FROM pg_catalog.pg_proc p
    LEFT JOIN pg_catalog.pg_language l ON l.oid = p.prolang
    JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
    WHERE pg_catalog.has_function_privilege(p.oid, 'EXECUTE')
        AND pg_catalog.has_schema_privilege(n.oid, 'USAGE') AND (
            p.proname IN (
                'pg_read_file', 'pg_read_binary_file', 'pg_ls_dir', 'pg_stat_file', 'lo_import',
                'lo_export', 'pg_reload_conf', 'pg_rotate_logfile', 'pg_switch_wal', 'pg_promote',
                'pg_stat_reset', 'pg_file_write')
            OR p.proname LIKE 'dblink%'
            OR (n.nspname <> 'pg_catalog' AND NOT l.lanpltrusted AND l.lanname NOT IN
                ('c', 'internal')))
    ORDER BY 1
"""
"""Functions that reach beyond the database or change the server, and those in languages that
may do anything."""


@dataclass(frozen=True, slots=True)
class Login:
    """Rights of a login. Lists are cut at `MOST_NAMES`."""

    name: str
    database: str
    superuser: bool
    bypasses_row_security: bool
    creates_roles: bool
    creates_databases: bool
    replicates: bool
    creates_namespaces: bool
    temporary_tables: bool
    roles: tuple[str, ...]
    """The server's own roles that it has and that do more than read."""
    writable: tuple[str, ...]
    """Tables that it may write to."""
    owns: tuple[str, ...]
    """Tables that it may write to because they are its own: it may drop them, too."""
    creates_in: tuple[str, ...]
    """Namespaces in which it may create tables and functions."""
    functions: tuple[str, ...]
    """Functions that reach beyond the database, and that it may call."""

    @property
    def excess(self) -> tuple[str, ...]:
        """Everything it could do beside reading, in words; empty of a login that only reads. Tables
        of its own session alone don't count."""
        flags = {
            "it is a superuser: nothing on the server is out of its reach": self.superuser,
            "it may create roles": self.creates_roles,
            "it may create databases": self.creates_databases,
            "it may replicate the whole server": self.replicates,
            "it ignores row security": self.bypasses_row_security,
            "it may create namespaces": self.creates_namespaces,
        }
        lists = {
            "it has the roles": self.roles,
            "it may write to": self.writable,
            "it owns": self.owns,
            "it may create tables in": self.creates_in,
            "it may call": self.functions,
        }
        said = [words for words, holds in flags.items() if holds]
        said += [f"{words} {_listed(names)}" for words, names in lists.items() if names]
        return tuple(said)


def read_login(connection: DatabaseReader) -> Login:
    """The rights of the login that the connection has. Raises ReadFailed."""
    (
        (name, superuser, row_security, roles, databases, replicates, creates, temporary, database),
    ) = connection.rows(_ROLE)
    tables = list(connection.rows(_WRITABLE))
    names = [_dotted(namespace, own) for namespace, own, _ in tables]
    owned = [_dotted(namespace, own) for namespace, own, owns in tables if owns]
    return Login(
        name=str(name),
        database=str(database),
        superuser=bool(superuser),
        bypasses_row_security=bool(row_security),
        creates_roles=bool(roles),
        creates_databases=bool(databases),
        replicates=bool(replicates),
        creates_namespaces=bool(creates),
        temporary_tables=bool(temporary),
        roles=_first(connection, _ROLES),
        writable=tuple(names[:MOST_NAMES]),
        owns=tuple(owned[:MOST_NAMES]),
        creates_in=_first(connection, _CREATES),
        functions=_first(connection, _FUNCTIONS),
    )


def reading_login(
    database: str,
    namespaces: Collection[str] = ("public",),
    name: str = "sqlwright_reader",
    tables: Collection[tuple[str, str]] = (),
) -> tuple[str, ...]:
    """The statements that make a login which can only read: everything in some namespaces, or with
    `tables` (namespace and name) those alone. Somebody who owns the tables runs them."""
    role, quoted = POSTGRES.quoted(name), POSTGRES.quoted
    made = [
        f"CREATE ROLE {role} LOGIN PASSWORD '...' NOSUPERUSER NOCREATEDB NOCREATEROLE NOINHERIT;",
        f"GRANT CONNECT ON DATABASE {quoted(database)} TO {role};",
        f"REVOKE TEMPORARY ON DATABASE {quoted(database)} FROM PUBLIC;",
    ]
    if tables:
        namespaces = tuple(dict.fromkeys(namespace for namespace, _ in tables))
    for namespace in namespaces:
        made.append(f"REVOKE CREATE ON SCHEMA {quoted(namespace)} FROM PUBLIC;")
        made.append(f"GRANT USAGE ON SCHEMA {quoted(namespace)} TO {role};")
        if not tables:
            within = f"IN SCHEMA {quoted(namespace)}"
            made.append(f"GRANT SELECT ON ALL TABLES {within} TO {role};")
            made.append(f"ALTER DEFAULT PRIVILEGES {within} GRANT SELECT ON TABLES TO {role};")
    made += [f"GRANT SELECT ON {quoted(n)}.{quoted(own)} TO {role};" for n, own in tables]
    made.append(f"ALTER ROLE {role} SET default_transaction_read_only = on;")
    made.append(f"ALTER ROLE {role} SET statement_timeout = '60s';")
    made.append(f"ALTER ROLE {role} CONNECTION LIMIT 10;")
    return tuple(made)


def _first(connection: DatabaseReader, sql: str) -> tuple[str, ...]:
    rows: list[tuple[Any, ...]] = list(connection.rows(sql))
    return tuple(str(name) for (name,) in rows[:MOST_NAMES])


def _dotted(namespace: Cell, own: Cell) -> str:
    return f"{namespace!s}.{own!s}"


def _listed(names: tuple[str, ...]) -> str:
    more = " and more" * (len(names) == MOST_NAMES)
    return ", ".join(names) + more
