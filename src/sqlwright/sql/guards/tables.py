"""The tables that a query reads: those that are listed and its own common table expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlwright.errors import UnsafeQuery
from sqlwright.schema import fold_name
from sqlwright.sql.guards.rules import Readable, Rules
from sqlwright.sql.tokens import UnreadableQuery

if TYPE_CHECKING:
    from sqlglot import exp


def listed(readable: Readable, rules: Rules) -> frozenset[tuple[str, ...]]:
    """Names of tables, in parts, as they are compared with those of a query."""
    fold = fold_name if rules.names in {"blind", "upper"} else str
    parts = (name.split(".") if isinstance(name, str) else name for name in readable)
    return frozenset(tuple(map(fold, one)) for one in parts)


def read_name(node: exp.Expr, readable: frozenset[tuple[str, ...]], rules: Rules) -> str:
    """The folded name of the table that a node reads. Raises UnsafeQuery for one that is neither
    listed nor an expression of the query's own."""
    from sqlglot import exp

    parts = node.parts if isinstance(node, exp.Table) else ()
    if not parts or not all(isinstance(part, exp.Identifier) for part in parts):
        raise UnsafeQuery("a query may only read what an identifier names")
    *places, name = (_folded(part, rules) for part in parts)
    if expression_read(node, rules) is not None:
        return name
    if not places and fold_name(name) in rules.empty_tables and not parts[0].args.get("quoted"):
        return name
    written = ".".join(part.name for part in parts)
    namespaces = [fold_name(place) for place in places]
    if set(namespaces) & set(rules.dialect.catalogs) or (
        rules.own_tables.fullmatch(fold_name(name))
    ):
        raise UnsafeQuery(f"reading {written[:60]} is not allowed")
    if rules.dialect.has_one_usual and places == [rules.dialect.namespace]:
        places = []
    if (*places, name) not in readable:
        raise UnreadableQuery(f"no such table: {written}", cause="unknown_table", name=written)
    return ".".join((*places, name))


def _folded(part: exp.Expr, rules: Rules) -> str:
    name = str(part.name)
    if rules.names == "exact" or (rules.names == "lower" and part.args.get("quoted")):
        return name
    return fold_name(name)


def expression_read(node: exp.Expr, rules: Rules) -> exp.Expr | None:
    """The common table expression that a table's node reads: one of a query around the node, before
    the one that the node is in; that one itself in the recursive part of a union. None where it
    reads none."""
    from sqlglot import exp

    parts = node.parts if isinstance(node, exp.Table) else ()
    if len(parts) != 1 or not isinstance(parts[0], exp.Identifier):
        return None
    return _in_scope(node, _folded(parts[0], rules), rules)


def _in_scope(node: exp.Expr, name: str, rules: Rules) -> exp.Expr | None:
    from sqlglot import exp

    below: exp.Expr = node
    above = node.parent
    path: list[exp.Expr] = [node]
    while above is not None:
        path.append(above)
        if isinstance(above, exp.With):
            return _before(above, below, path, name, rules)
        having = above.args.get("with_")
        beside = having.expressions if having is not None and having is not below else ()
        for expression in beside:
            if _folded_alias(expression, rules) == name:
                return expression if isinstance(expression, exp.Expr) else None
        below, above = above, above.parent
    return None


def _before(
    having: exp.Expr, below: exp.Expr, path: list[exp.Expr], name: str, rules: Rules
) -> exp.Expr | None:
    """The same for a node within an expression of a WITH list: `below`."""
    for expression in having.expressions:
        if expression is below:
            itself = (
                _folded_alias(expression, rules) == name
                and bool(having.args.get("recursive"))
                and _is_recursive_part(expression, path)
            )
            query = having.parent
            if itself or query is None:
                return below if itself else None
            return _in_scope(query, name, rules)
        if _folded_alias(expression, rules) == name:
            return expression if isinstance(expression, type(below)) else None
    return None


def _is_recursive_part(expression: exp.Expr, path: list[exp.Expr]) -> bool:
    """True if the path up from a node to its expression is through the right side of the union
    that the expression is. A union by name is no recursion: there the name is a stored table's."""
    from sqlglot import exp

    body = expression.this
    while isinstance(body, (exp.Subquery, exp.Paren)):
        body = body.this
    if not isinstance(body, exp.Union) or body.args.get("by_name"):
        return False
    return any(body.expression is step for step in path)


def _folded_alias(cte: exp.Expr, rules: Rules) -> str:
    alias = cte.args.get("alias")
    identifier = alias.this if alias is not None else None
    return "" if identifier is None else _folded(identifier, rules)
