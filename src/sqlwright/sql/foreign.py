"""Another engine's functions in a dialect's own, beyond what the parser's library writes."""

from __future__ import annotations

from sqlglot import exp

from sqlwright.sql.dialects import Dialect
from sqlwright.sql.pieces import pieces

FOREIGN = ("mysql", "tsql", "sqlite", "postgres", "duckdb")
"""Dialects that a query may be written in by who doesn't know the database's, as the parser names
them."""
_NOW = frozenset({"now", "getdate", "sysdate"})
_TODAY = frozenset({"curdate", "today"})
_FORMATS = {"year": "%Y", "month": "%m", "day": "%d", "hour": "%H", "minute": "%M", "second": "%S"}
"""Parts of a date by SQLite's formats."""


def in_own_words(tree: exp.Expr, own: Dialect, reader: Dialect) -> exp.Expr:
    """A tree that was read in one dialect with what its functions are in another one."""
    if reader is not own:
        # Who names no place for NULL has none in mind: it stays where the engine puts it.
        for node in tree.find_all(exp.Ordered):
            first = own.nulls != "last" and (own.nulls == "small") != bool(node.args.get("desc"))
            node.set("nulls_first", first)
    return tree.transform(lambda node: _written(node, own.name == "sqlite"))


def keeps_all(tree: exp.Expr, text: str, reader: Dialect) -> bool:
    """True if a tree has all that a text says: the library leaves out an argument that a dialect's
    function doesn't have, and takes a format for the day that is to be formatted."""
    formatted = (node.this for node in tree.find_all(exp.TimeToStr))
    if any(isinstance(one, exp.Literal) and "%" in one.name for one in formatted):
        return False
    said = sum(piece.kind in {"text", "number"} for piece in pieces(text, reader.name))
    return said <= sum(1 for _ in tree.find_all(exp.Literal))


def _written(node: exp.Expr, in_sqlite: bool) -> exp.Expr:
    if isinstance(node, exp.Anonymous) and not node.expressions:
        name = node.name.lower()
        if name in _NOW | _TODAY:
            return exp.CurrentTimestamp() if name in _NOW else exp.CurrentDate()
    if isinstance(node, exp.ToChar):  # the library would leave out a format that it can't read
        return exp.Anonymous(this="TO_CHAR", expressions=list(node.iter_expressions()))
    if not in_sqlite:
        return node
    part = node.name if isinstance(node, exp.Extract) else type(node).__name__
    if isinstance(node, (exp.Extract, exp.Year, exp.Month, exp.Day)) and part.lower() in _FORMATS:
        day = node.expression if isinstance(node, exp.Extract) else node.this
        day = day.this if isinstance(day, exp.TsOrDsToDate) else day
        taken = exp.func("STRFTIME", exp.Literal.string(_FORMATS[part.lower()]), day)
        return exp.cast(exp.Anonymous(this="STRFTIME", expressions=taken.expressions), "INTEGER")
    if isinstance(node, exp.Left):
        return exp.Substring(this=node.this, start=exp.Literal.number(1), length=node.expression)
    return _moved(node)


def _moved(node: exp.Expr) -> exp.Expr:
    """Today, so many days or months before or after, as SQLite says it; others as they are."""
    back = isinstance(node, (exp.Sub, exp.DateSub))
    if not isinstance(node, (exp.Add, exp.Sub, exp.DateAdd, exp.DateSub)):
        return node
    step, unit = node.expression, node.args.get("unit")
    if isinstance(step, exp.Interval):
        step, unit = step.this, step.args.get("unit")
    if not isinstance(node.this, exp.CurrentDate) or not isinstance(step, exp.Literal) or not unit:
        return node
    moved = exp.Literal.string(f"{'-' if back else '+'}{step.name} {unit.name.lower()}")
    return exp.Anonymous(this="DATE", expressions=[exp.Literal.string("now"), moved])
