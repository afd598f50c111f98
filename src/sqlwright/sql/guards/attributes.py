"""Names of columns: those that engines add to every table, and those that may call a function."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import TYPE_CHECKING

from sqlwright.schema import fold_name
from sqlwright.sql.guards.rules import Rules
from sqlwright.sql.tokens import UnreadableQuery

if TYPE_CHECKING:
    from sqlglot import exp

_OF_FUNCTIONS = frozenset({"key", "ordinality", "value"})
"""Columns of what PostgreSQL's own table functions give."""


def check_columns(tree: exp.Expr, rules: Rules, columns: Container[str] | None) -> None:
    """Raise UnreadableQuery for columns that are none.

    In PostgreSQL `t.f` calls f on the row of t where t has no column f, or on t's value where t is
    what a function gives. So after the alias of a function stands a column that the alias names;
    after any other, where the columns of the listed tables are known, one of these or a name that
    the query gives itself; never the name of a function that is refused."""
    from sqlglot import exp

    given = {str(alias.alias) for alias in tree.find_all(exp.Alias) if alias.alias}
    given |= {name for alias in tree.find_all(exp.TableAlias) for name in _columns(alias)}
    if rules.own_columns:
        for column in tree.find_all(exp.Column):
            if column.name in rules.own_columns and column.name not in given:
                raise UnreadableQuery(f"no such column: {column.name}", cause="unknown_column",
                                      name=column.name)  # fmt: skip
    if not rules.attributes_call:
        return
    sources = dict(_sources(tree))
    for column in tree.find_all(exp.Column):
        name = column.name
        if not column.table or isinstance(column.this, exp.Star):
            continue
        of_function = sources.get(fold_name(column.table), frozenset[str]())
        if of_function is not None:
            known = name in of_function or fold_name(name) in _OF_FUNCTIONS
        else:
            known = columns is None or name in given or name in columns
            known = known and not rules.dangerous.fullmatch(fold_name(name))
        if not known:
            written = f"{column.table}.{name}"
            raise UnreadableQuery(
                f"no such column: {written}", cause="unknown_column", name=written
            )


def _sources(tree: exp.Expr) -> Iterator[tuple[str, frozenset[str] | None]]:
    """The folded names that columns may stand after, each with None where it is a table or query,
    and with the columns that it names where it is a function. One that is both is a function."""
    from sqlglot import exp

    for kind in (False, True):
        for node in tree.find_all(
            exp.Table, exp.Subquery, exp.CTE, exp.Values, exp.Lateral, exp.Unnest
        ):
            called = _is_function(node)
            if called is not kind:
                continue
            alias = node.args.get("alias")
            name = node.alias_or_name
            if name:
                named = {name, *(_columns(alias) if alias is not None else ())}
                offset = node.args.get("offset")
                named |= {offset.name} if isinstance(offset, exp.Expr) else set()
                yield fold_name(name), frozenset(named) if called else None


def _is_function(node: exp.Expr) -> bool:
    from sqlglot import exp

    if isinstance(node, exp.Unnest):
        return True
    if isinstance(node, exp.Lateral):
        return not isinstance(node.this, exp.Subquery)
    return isinstance(node, exp.Table) and isinstance(node.this, exp.Func)


def _columns(alias: exp.Expr) -> Iterator[str]:
    for column in alias.args.get("columns") or ():
        yield str(column.name)
