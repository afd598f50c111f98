"""Stored functions that a setting names.

A name alone may be a native function or one of a loaded library, which come before stored ones: so
a query has to write a stored function with its database.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from typing import Any

from sqlwright.database.functions import stored_functions
from sqlwright.database.mysql.introspect import Server, places
from sqlwright.protocols import RowReader
from sqlwright.schema import fold_name
from sqlwright.sql.guards.rules import Own
from sqlwright.types.functions import OwnFunction

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
