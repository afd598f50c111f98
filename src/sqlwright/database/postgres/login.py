"""Rights of a login on its server beside reading, were it not for sqlwright. This is the answer to
"what if everything else failed"."""

from __future__ import annotations

from collections.abc import Iterator

from sqlwright.database.guarded import LoginRights
from sqlwright.database.reader import DatabaseReader

MOST_NAMES = 20
"""Names of tables, namespaces or functions that are listed of each kind."""
_FLAGS = {
    "it is a superuser: nothing on the server is out of its reach": "r.rolsuper",
    "it may create roles": "r.rolcreaterole",
    "it may create databases": "r.rolcreatedb",
    "it may replicate the whole server": "r.rolreplication",
    "it ignores row security": "r.rolbypassrls",
    "it may create namespaces": (
        "pg_catalog.has_database_privilege(pg_catalog.current_database(), 'CREATE')"
    ),
}
_ROLE = f"""
    SELECT r.rolname, {", ".join(_FLAGS.values())}
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
    SELECT n.nspname || '.' || c.relname
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'v', 'f')
        AND n.nspname NOT IN ('pg_catalog', 'information_schema')
        AND n.nspname !~ '^pg_t(oast|emp)' AND NOT c.relispartition
        AND (pg_catalog.has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')
            OR pg_catalog.has_any_column_privilege(c.oid, 'INSERT, UPDATE'))
        {more}
    ORDER BY n.nspname, c.relname
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
_LISTS = {
    "it has the roles": _ROLES,
    "it may write to": _WRITABLE.format(more=""),
    "it owns": _WRITABLE.format(more="AND pg_catalog.pg_has_role(c.relowner, 'USAGE')"),
    "it may create tables in": _CREATES,
    "it may call": _FUNCTIONS,
}


def read_login(connection: DatabaseReader) -> LoginRights:
    """The rights of the login that the connection has. Raises ReadFailed."""
    name, *flags = next(connection.rows(_ROLE))
    held = [words for words, holds in zip(_FLAGS, flags, strict=True) if holds]
    return LoginRights(str(name), (*held, *_listed(connection)))


def _listed(connection: DatabaseReader) -> Iterator[str]:
    for words, sql in _LISTS.items():
        names = [str(name) for (name,) in connection.rows(sql)]
        if names:
            more = " and more" if len(names) > MOST_NAMES else ""
            yield f"{words} {', '.join(names[:MOST_NAMES])}{more}"
