"""Functions of the database's own that a setting names, as far as an engine tells them.

Where functions have namespaces a query has to write them: a name alone may be the engine's own.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from sqlwright.database.functions import stored_functions
from sqlwright.errors import ConfigError
from sqlwright.protocols import RowReader
from sqlwright.schema import fold_name
from sqlwright.sql.dialects import dialect_named
from sqlwright.sql.guards.rules import Own, rules_of
from sqlwright.types.functions import OwnFunction

_STANDARD = """
    SELECT routine_schema, routine_name, '' FROM information_schema.routines
    WHERE routine_type = 'FUNCTION'
"""
_STORED = {
    "clickhouse": "SELECT '', name, create_query FROM system.functions "
    "WHERE origin = 'SQLUserDefined'",
}
"""Statements that list an engine's own functions where there is no standard catalogue of them:
namespace, name and the statement that made each."""
_ARGUMENTS = re.compile(r"\bAS\s+\(?([\w\s,]*?)\)?\s*->")


def named_functions(
    connection: RowReader, names: Collection[str], dialect: str, usual: str, shown: str
) -> tuple[tuple[OwnFunction, ...], Own]:
    """The functions that names mean, and the names that queries may call them by. Raises ReadFailed
    where the engine doesn't tell, and ConfigError."""
    rows = connection.rows(_STORED.get(dialect, _STANDARD))
    told = {(str(space or ""), str(own)): str(about or "") for space, own, about in rows}
    spaces = {space for space, _ in told}
    found = stored_functions(names, told, "" if spaces <= {""} else usual, shown)
    blind = rules_of(dialect_named(dialect)).names == "blind"
    calls = set()
    for space, own in found:
        call = f"{space}.{own}" if space else own
        alike = [
            one for one in told if tuple(map(fold_name, one)) == (fold_name(space), fold_name(own))
        ]
        if blind and len(alike) > 1:
            raise ConfigError(
                f"{shown}: {call} can't be among the functions: there is another of that name in "
                "another case, and queries may not tell them apart."
            )
        calls.add(fold_name(call) if blind else call)
    functions = tuple(
        OwnFunction(own, space, made[1] if (made := _ARGUMENTS.search(told[space, own])) else "...")
        for space, own in found
    )
    return functions, Own(frozenset(calls))
