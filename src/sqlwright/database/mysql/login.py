"""The rights of a MySQL login besides reading, and statements that make one that only reads."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from sqlwright.database.rights import LoginRights
from sqlwright.protocols import RowReader
from sqlwright.schema import Schema
from sqlwright.sql.dialects import dialect_of

READER = "sqlwright_reader"
"""The login that the statements make."""
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


def read_login(
    connection: RowReader, schema: Schema, databases: Sequence[str], tables: bool
) -> LoginRights:
    """The login of a connection. With `tables` the statements allow the schema's tables alone."""
    ((name,),) = connection.rows("SELECT CURRENT_USER()")
    grants = [str(row[0]) for row in connection.rows("SHOW GRANTS")]
    return LoginRights(
        str(name), tuple(_more_than_reading(grants)), _statements(schema, databases, tables)
    )


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


def _statements(schema: Schema, databases: Sequence[str], tables: bool) -> tuple[str, ...]:
    dialect = dialect_of(schema)
    who = f"'{READER}'@'%'"
    made = [f"CREATE USER {who} IDENTIFIED BY 'choose a password';"]
    if not tables:
        made += [f"GRANT SELECT, SHOW VIEW ON {dialect.quoted(n)}.* TO {who};" for n in databases]
        return tuple(made)
    usual = databases[0] if databases else ""
    for table in schema.tables:
        place = f"{dialect.quoted(table.namespace or usual)}.{dialect.quoted(table.own_name)}"
        made.append(f"GRANT SELECT, SHOW VIEW ON {place} TO {who};")
    return tuple(made)
