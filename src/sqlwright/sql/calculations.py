"""The calculations of a query: functions, operators and numbers, wherever they stand in it."""

from __future__ import annotations

from typing import NamedTuple

from sqlwright.sql.shape.tree import shaped_tree


class Calculations(NamedTuple):
    """Things done with values; aggregates, comparisons and parts of dates apart."""

    functions: frozenset[str]
    """Names in lower case, and the operators + - * / % ||. CASE and CAST are none."""
    numbers: frozenset[float]
    """Numbers added, multiplied or divided by, but for 1."""
    whole_division: bool
    """True if something is divided without either side being made real."""


def calculations(sql: str, dialect: str = "sqlite") -> Calculations:
    """The calculations of a query; none where the text is no query."""
    from sqlglot import exp

    from sqlwright.sql.shape.values import is_real
    from sqlwright.sql.tree_facts.nodes import aggregate_of, date_part_of, value_of

    tree = shaped_tree(sql, dialect)
    if tree is None:
        return Calculations(frozenset(), frozenset(), whole_division=False)
    signs: dict[type[exp.Expr], str] = {
        exp.Add: "+",
        exp.Sub: "-",
        exp.Mul: "*",
        exp.Div: "/",
        exp.Mod: "%",
        exp.DPipe: "||",
    }
    functions: set[str] = set()
    numbers: set[float] = set()
    whole = False
    skipped = (exp.Case, exp.If, exp.Cast, exp.Connector, exp.Exists, exp.TsOrDsToTimestamp)
    for node in tree.walk():
        if type(node) in signs:
            functions.add(signs[type(node)])
            sides = [side.unnest() for side in (node.this, node.expression)]
            values = [value_of(s) for s in sides if isinstance(s, exp.Literal) and not s.is_string]
            numbers.update(float(v) for v in values if not isinstance(v, str) and v != 1)
            whole = whole or (isinstance(node, exp.Div) and not is_real(node))
        elif not isinstance(node, exp.Func) or isinstance(node, skipped):
            continue
        elif aggregate_of(node) is None and date_part_of(node) is None:
            named = node.name if isinstance(node, exp.Anonymous) else node.sql_name()
            functions.add(named.lower())
    return Calculations(frozenset(functions), frozenset(numbers), whole)
