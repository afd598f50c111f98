"""The names in a statement, by DuckDB's own parse tree: the first of the two ways in which a
connection holds generated SQL, and it knows nothing of the guard's parser.

The library has no authorizer, so its own parser says (as JSON) which tables and functions a query
names. A kind of node that isn't listed here is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlwright.database.duckdb.allowed import FUNCTIONS, TABLE_FUNCTIONS
from sqlwright.database.failures import Failure, ReadFailed, Refused

Tree = Mapping[str, Any]

_EXPRESSIONS = frozenset({
    "BETWEEN", "CASE", "CAST", "COLLATE", "COLUMN_REF", "COMPARISON", "CONJUNCTION", "CONSTANT",
    "FUNCTION", "LAMBDA", "LAMBDA_REF", "OPERATOR", "POSITIONAL_REFERENCE", "STAR", "SUBQUERY",
    "TYPE", "WINDOW",
})  # fmt: skip
_OTHERS = frozenset({
    "SELECT_NODE", "SET_OPERATION_NODE", "RECURSIVE_CTE_NODE", "CTE_NODE", "BASE_TABLE", "EMPTY",
    "EXPRESSION_LIST", "JOIN", "PIVOT", "SUBQUERY", "TABLE_FUNCTION", "ORDER_MODIFIER",
    "LIMIT_MODIFIER", "LIMIT_PERCENT_MODIFIER", "DISTINCT_MODIFIER",
})  # fmt: skip
"""Kinds of queries, of what they read and of what stands after them."""
_CONSTANT = frozenset({"value", "literal"})
"""Parts of a constant: data, not SQL."""


@dataclass(frozen=True)
class Names:
    """The names that a statement may use; all folded."""

    tables: frozenset[tuple[str, str]]
    """Namespace and name of each table and view."""
    defined: frozenset[str] = frozenset()
    """Functions that the database itself defines: they take the place of others of that name."""
    named: frozenset[tuple[str, str]] = frozenset()
    """Namespace and name of those among them that may be called."""
    usual: str = "main"
    """The namespace of names without one."""
    catalog: str = ""
    """The name by which the file is known to the connection."""


def check_tree(tree: Tree, names: Names) -> None:
    """Raise Refused unless every part of a query is allowed, and ReadFailed for a table that isn't
    there or may not be read, which is told apart by nothing."""
    waiting: list[tuple[Any, frozenset[str]]] = [(tree.get("statements"), frozenset())]
    while waiting:
        part, known = waiting.pop()
        if isinstance(part, list):
            waiting += ((one, known) for one in part)
        elif isinstance(part, dict):
            waiting += _parts(part, known, names)


def tables_read(tree: Tree) -> set[tuple[str, str]]:
    """Namespace and name of every table that a query names, its own expressions included."""
    found: set[tuple[str, str]] = set()
    waiting: list[Any] = [tree]
    while waiting:
        part = waiting.pop()
        if isinstance(part, list):
            waiting += part
        elif isinstance(part, dict):
            if part.get("type") == "BASE_TABLE":
                found.add((_folded(part, "schema_name"), _folded(part, "table_name")))
            waiting += part.values()
    return found


def functions_called(tree: Tree) -> set[tuple[str, str]]:
    """Folded namespaces and names of the functions that a query calls."""
    found: set[tuple[str, str]] = set()
    waiting: list[Any] = [tree]
    while waiting:
        part = waiting.pop()
        if isinstance(part, list):
            waiting += part
        elif isinstance(part, dict):
            if isinstance(part.get("function_name"), str):
                found.add((_folded(part, "schema"), _folded(part, "function_name")))
            waiting += part.values()
    return found


def _parts(
    part: dict[str, Any], known: frozenset[str], names: Names
) -> Iterable[tuple[Any, frozenset[str]]]:
    """The parts of a node that are left to check, each with the names of common table expressions
    that it sees."""
    kind, group = part.get("type"), part.get("class")
    if isinstance(group, str):
        _require(group, _EXPRESSIONS)
        if group in {"FUNCTION", "WINDOW"}:
            _check_function(part, FUNCTIONS, names)
        if group == "CONSTANT":
            return [(v, known) for k, v in part.items() if k not in _CONSTANT]
    elif isinstance(kind, str) and not _is_plain(part):
        _require(kind, _OTHERS)
        if kind == "BASE_TABLE":
            _check_table(part, known, names)
        elif kind == "TABLE_FUNCTION":
            called = part.get("function") or {}
            _check_function(called, TABLE_FUNCTIONS, names)
            return [(called.get("arguments") or called.get("children"), known)]
    expressions = part.get("cte_map")
    if not isinstance(expressions, dict):
        return [(value, known) for value in part.values()]
    seen = known
    waiting: list[tuple[Any, frozenset[str]]] = []
    for entry in expressions.get("map") or []:
        waiting.append((entry.get("value"), seen))
        seen |= {str(entry.get("key", "")).lower()}
    for key, value in part.items():
        if key == "right" and kind == "RECURSIVE_CTE_NODE":
            # Only what is repeated sees itself; what it begins with sees a stored table.
            waiting.append((value, seen | {_folded(part, "cte_name")}))
        elif key != "cte_map":
            waiting.append((value, seen))
    return waiting


def _is_plain(part: Mapping[str, Any]) -> bool:
    """True for what says more about a type or a sample, and names nothing."""
    kind = str(part["type"])
    if kind in _OTHERS or kind.endswith(("_NODE", "_MODIFIER", "_REF")):
        return False
    return kind.endswith("_TYPE_INFO") or not {"query_location", "modifiers", "alias"} & part.keys()


def _require(kind: str, allowed: Collection[str]) -> None:
    if kind not in allowed:
        raise Refused(f"{kind.replace('_', ' ').lower()} is not allowed in a query")


def _check_function(part: Mapping[str, Any], allowed: Collection[str], names: Names) -> None:
    name = _folded(part, "function_name")
    space = _folded(part, "schema") or names.usual
    if (space, name) in names.named and _folded(part, "catalog") in {"", names.catalog}:
        return
    if name in names.defined:
        raise Refused(f"the function {name} is the database's own and not allowed")
    if name in allowed or not any(map(str.isalnum, name)) or name == "!__postfix":
        return
    raise Refused(f"the function {name} is not allowed")


def _check_table(part: Mapping[str, Any], known: frozenset[str], names: Names) -> None:
    catalog, space = _folded(part, "catalog_name"), _folded(part, "schema_name")
    own = _folded(part, "table_name")
    if part.get("at_clause"):
        raise Refused("reading an earlier state is not allowed")
    if not catalog and not space and own in known:
        return
    if catalog in {"", names.catalog} and (space or names.usual, own) in names.tables:
        return
    written = ".".join(
        str(part[key]) for key in ("catalog_name", "schema_name", "table_name") if part.get(key)
    )
    message = f"Table with name {part.get('table_name')} does not exist!"
    raise ReadFailed(Failure("sql", message, "unknown_table", written))


def _folded(part: Mapping[str, Any], key: str) -> str:
    return str(part.get(key) or "").lower()
