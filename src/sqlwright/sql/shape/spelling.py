"""Names of the schema that a query writes in another case or in quotes of another dialect.

Who writes a query may not know that PostgreSQL looks for `member` where `Member` is written, or
that backticks are MySQL's. A name that names nothing as it is written stands for the name of the
schema that it is like, if there is one alone. SQLite takes all of these as they are.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from sqlwright.schema import Schema, Table
from sqlwright.sql.dialects import Dialect, dialect_of
from sqlwright.sql.pieces import pieces
from sqlwright.sql.tree import query_tree

if TYPE_CHECKING:
    from sqlglot import exp

_FOREIGN = {"`": "`", "[": "]", '"': '"'}
"""Opening and closing quotes around names in one dialect or another."""


class Respelled(NamedTuple):
    """A query with the schema's names, and each one as it was written and as it is spelt."""

    sql: str
    names: tuple[tuple[str, str], ...] = ()


def respelled(sql: str, schema: Schema) -> Respelled:
    """The query with its names as the schema has them; the text itself where nothing is to be
    changed, or where it is no query then either."""
    if schema.dialect == "sqlite":
        return Respelled(sql)
    dialect = dialect_of(schema)
    written, edits = _apply(sql, _foreign_quotes(sql, schema, dialect))
    tree = query_tree(written, schema.dialect)
    if tree is None:
        return Respelled(sql)
    found = {}
    for node, stored in _misspelt(tree, schema, dialect):
        start, end = node.meta.get("start", -1), node.meta.get("end", -1)
        if written[start : end + 1].strip('"`') == node.name:
            found[start] = (end + 1, dialect.quoted(stored))
    respelt, more = _apply(written, found)
    if query_tree(respelt, schema.dialect) is None:
        return Respelled(sql)
    return Respelled(respelt, tuple(dict.fromkeys(edits + more)))


def _apply(sql: str, edits: dict[int, tuple[int, str]]) -> tuple[str, tuple[tuple[str, str], ...]]:
    """The text with parts replaced, which are given by their starts with their ends."""
    made = []
    for start, (end, text) in sorted(edits.items(), reverse=True):
        made.append((sql[start:end], text))
        sql = sql[:start] + text + sql[end:]
    return sql, tuple(reversed(made))


def _foreign_quotes(sql: str, schema: Schema, dialect: Dialect) -> dict[int, tuple[int, str]]:
    """Names in quotes that the dialect doesn't have, in a text that is no query because of them."""
    tree = query_tree(sql, schema.dialect)
    texts = [piece for piece in pieces(sql, schema.dialect) if piece.kind != "space"]
    names = {name.casefold() for table in schema.tables for name in _names(table)}
    if tree is not None and not any(
        after.text[:1] == '"'
        and after.kind == "text"
        and before.text.lower() in {"from", "join", "."}
        for before, after in pairwise(texts)
    ):
        return {}
    edits: dict[int, tuple[int, str]] = {}
    at = -1
    for piece in texts:
        closing = _FOREIGN.get(piece.text[:1], "")
        if piece.start < at or not closing or piece.text[0] == dialect.quotes[0]:
            continue
        whole = piece.kind in {"text", "quoted"}  # in one piece, as MySQL's texts are
        at = piece.start + len(piece.text) if whole else sql.find(closing, piece.start + 1) + 1
        name = sql[piece.start + 1 : at - 1]
        if at > 0 and (closing == "`" or name.casefold() in names):
            edits[piece.start] = (at, dialect.quoted(name))
    return edits


def _misspelt(
    tree: exp.Expr, schema: Schema, dialect: Dialect
) -> Iterator[tuple[exp.Identifier, str]]:
    """The names that name nothing, and the only ones of the schema that they can stand for."""
    from sqlglot import exp

    def meant(node: object, known: Collection[str], given: Collection[str] = ()) -> str:
        """The only one of the known names that a name is like but isn't; empty without one."""
        if not isinstance(node, exp.Identifier):
            return ""
        name = _looked_for(node, dialect)
        like = {one for one in known if one.casefold() == name.casefold()}
        return like.pop() if name not in {*known, *given} and len(like) == 1 else ""

    given = [(_looked_for(one, dialect), select) for one, select in _given(tree)]
    read: list[tuple[str, Table, int]] = []
    for node in tree.find_all(exp.Table):
        if not isinstance(node.this, exp.Identifier):
            continue
        own, spaces = ({t.own_name for t in schema.tables}, {t.namespace for t in schema.tables})
        stored = meant(node.this, own, [name for name, _ in given])
        if stored and (dialect.case != "blind" or dialect.parser == "mysql"):
            yield node.this, stored
        name, alias = stored or _looked_for(node.this, dialect), node.args.get("alias")
        called = name if alias is None else _looked_for(alias.this, dialect)
        read += [(called, t, id(node.parent_select)) for t in schema.tables if t.own_name == name]
        if space := meant(node.args.get("db"), spaces):
            yield node.args["db"], space
    for part in tree.find_all(exp.Column, exp.Join) if dialect.case != "blind" else ():
        around, is_sorted = _around(part)
        place = part.args.get("table")
        at = meant(place, {called for called, _, _ in read})
        if at and isinstance(place, exp.Identifier):
            yield place, at
        called = at or ("" if place is None else _looked_for(place, dialect))
        tables = [
            t for name, t, select in read if called == name or (not called and select in around)
        ]
        hidden = set(around[is_sorted:])
        seen = [] if called else [name for name, select in given if select not in hidden]
        columns = {column.name for table in tables for column in table.columns}
        used = part.args.get("using") or () if isinstance(part, exp.Join) else (part.this,)
        for one in used:
            if stored := meant(one, columns, seen):
                yield one, stored


def _given(tree: exp.Expr) -> Iterator[tuple[exp.Identifier, int]]:
    """The names that the query gives itself; of shown expressions with the identity of their
    SELECT, else 0."""
    from sqlglot import exp

    for node in tree.find_all(exp.Alias, exp.TableAlias):
        named = [node.args.get("alias"), *(node.args.get("columns") or ())]
        named.append(node.this if isinstance(node, exp.TableAlias) else None)
        select = id(node.parent) if isinstance(node.parent, exp.Select) else 0
        yield from ((one, select) for one in named if isinstance(one, exp.Identifier))


def _around(node: exp.Expr) -> tuple[list[int], bool]:
    """The identities of the SELECTs around a name, the inner ones first, and whether the name can
    be one that the first of them gives."""
    from sqlglot import exp

    found: list[int] = []
    is_sorted = False
    while node.parent is not None:
        if isinstance(node.parent, exp.Select):
            is_sorted |= not found and node.arg_key in {"order", "group", "having", "distinct"}
            found.append(id(node.parent))
        node = node.parent
    return found, is_sorted


def _looked_for(node: exp.Identifier, dialect: Dialect) -> str:
    """The name that an engine looks for."""
    folds = not node.args.get("quoted") and dialect.case != "blind"
    name = str(node.name)
    return (name.lower() if dialect.case == "lower" else name.upper()) if folds else name


def _names(table: Table) -> Iterator[str]:
    yield from (table.own_name, table.namespace, *(column.name for column in table.columns))
