"""Names of columns: those that engines add to every table, and those that may call a function."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import TYPE_CHECKING

from sqlwright.schema import fold_name
from sqlwright.sql.guards.nodes import called_name
from sqlwright.sql.guards.rules import Own, Rules
from sqlwright.sql.tokens import UnreadableQuery

if TYPE_CHECKING:
    from sqlglot import exp

_OF_FUNCTIONS = frozenset({"key", "ordinality", "value"})
"""Columns of what PostgreSQL's own table functions give."""


def check_columns(tree: exp.Expr, rules: Rules, columns: Container[str] | None, own: Own) -> None:
    """Raise UnreadableQuery for columns that are none.

    In PostgreSQL `t.f` calls f on the row of t where t has no column f, or on t's value where t is
    what a function gives. So after the alias of a function stands a column that the alias names, or
    that a function of the database's own is known to give; after any other, where the columns of
    the listed tables are known, one of these or a name that the query gives itself, and no function
    of the database's own that takes a row. Of PostgreSQL's own functions those that take a row are
    harmless, all but some whose names begin with pg_."""
    from sqlglot import exp

    given = {_folded(alias.args["alias"], rules) for alias in tree.find_all(exp.Alias)}
    given |= {name for alias in tree.find_all(exp.TableAlias) for name in _columns(alias, rules)}
    sources = _sources(tree, rules, own) if rules.attributes_call else {}
    for column in tree.find_all(exp.Column):
        if not isinstance(column.this, exp.Identifier):
            continue  # all columns, or a function behind its namespace
        name = _folded(column.this, rules)
        known = name not in rules.own_columns or name in given
        if rules.attributes_call and column.table:
            of_function = sources.get(_folded(column.args["table"], rules), frozenset[str]())
            if of_function is not None:
                known = name in of_function or name in _OF_FUNCTIONS
            else:
                known &= fold_name(name) not in own.of_rows
                known &= columns is None or name in given or name in columns
                known &= not rules.own_tables.fullmatch(name)
        if not known:
            written = f"{column.table}.{column.name}" if column.table else column.name
            raise UnreadableQuery(
                f"no such column: {written}", cause="unknown_column", name=written
            )


def _folded(part: object, rules: Rules) -> str:
    """A name as the engine looks it up."""
    quoted = bool(getattr(part, "quoted", False))
    name = str(getattr(part, "name", part))
    return name if quoted and rules.names == "lower" else fold_name(name)


def _sources(tree: exp.Expr, rules: Rules, own: Own) -> dict[str, frozenset[str] | None]:
    """The names that columns may stand after, each with None where it is a table or query, and with
    its columns where it is a function. One that is both is a function; one that several functions
    have, since a query may use it again within, has the columns that they share."""
    found: dict[str, frozenset[str] | None] = {}
    for name, columns in _named_sources(tree, rules, own):
        earlier = found.get(name)
        found[name] = columns if columns is None or earlier is None else earlier & columns
    return found


def _named_sources(
    tree: exp.Expr, rules: Rules, own: Own
) -> Iterator[tuple[str, frozenset[str] | None]]:
    """The same one by one, tables and queries first."""
    from sqlglot import exp

    kinds = (exp.Table, exp.Subquery, exp.CTE, exp.Values, exp.Lateral, exp.Unnest)
    found = [(_is_function(node), node) for node in tree.find_all(*kinds)]
    for called, node in sorted(found, key=lambda one: one[0]):
        alias = node.args.get("alias")
        named = node.this if alias is None else alias.this
        given = _given(node, own)
        if given and isinstance(named, exp.Anonymous):
            named = named.args["this"]  # without an alias the function's name is one
        if named is None or isinstance(named, (exp.Query, exp.Func)):
            continue
        name = _folded(named, rules)
        given |= {name, *(_columns(alias, rules) if alias is not None else ())}
        offset = node.args.get("offset")
        given |= {_folded(offset, rules)} if isinstance(offset, exp.Expr) else set()
        yield name, given if called else None


def _given(node: exp.Expr, own: Own) -> frozenset[str]:
    """The columns of a function of the database's own that a node reads like a table."""
    from sqlglot import exp

    called = node.this.expression if isinstance(node.this, exp.Dot) else node.this
    if not isinstance(called, exp.Anonymous):
        return frozenset()
    return own.columns.get(called_name(called), frozenset())


def _is_function(node: exp.Expr) -> bool:
    from sqlglot import exp

    if isinstance(node, exp.Unnest):
        return True
    if isinstance(node, exp.Lateral):
        return not isinstance(node.this, exp.Subquery)
    return isinstance(node, exp.Table) and isinstance(node.this, exp.Func)


def _columns(alias: exp.Expr, rules: Rules) -> Iterator[str]:
    from sqlglot import exp

    for column in alias.args.get("columns") or ():
        yield _folded(column.this if isinstance(column, exp.ColumnDef) else column, rules)
