"""Queries rewritten as texts: without DISTINCT, on one line."""

from __future__ import annotations

from sqlwright.schema import fold_name
from sqlwright.sql.dialects import dialect_named
from sqlwright.sql.pieces import Piece, pieces
from sqlwright.sql.tokens import quote_text
from sqlwright.sql.tree import node_text, query_tree


def without_distinct(sql: str, dialect: str = "sqlite") -> str:
    """The query with every DISTINCT left out, those of aggregates too; IS DISTINCT FROM and
    DISTINCT ON stay. In quotes and comments nothing is changed."""
    if dialect != "sqlite":
        return _without_distinct(sql, dialect)
    kept: list[str] = []
    before = ("", "")
    for piece in pieces(sql):
        word = fold_name(piece.text) if piece.kind == "word" else piece.kind
        compares = before[1] == "is" or before == ("is", "not")
        if word != "distinct" or compares:
            kept.append(piece.text)
        if piece.kind not in {"space", "comment"}:
            before = (before[1], word)
    return "".join(kept)


def _without_distinct(sql: str, dialect: str) -> str:
    """The same by the parse tree of another dialect; the text itself where there is none to leave
    out, or where it is no query."""
    from sqlglot import exp

    tree = query_tree(sql, dialect)
    changed = None if tree is None else tree.copy()
    found = [] if changed is None else list(changed.find_all(exp.Distinct))
    kept = [one for one in found if one.args.get("on") is not None or len(one.expressions) > 1]
    if changed is None or len(kept) == len(found):
        return sql
    for one in found:
        if one in kept:
            continue
        if one.expressions:
            one.replace(one.expressions[0])
        else:
            one.pop()
    return node_text(changed, dialect)


def one_line(sql: str, dialect: str = "sqlite") -> str:
    """A query on one line, with what it means: line ends and comments between its parts are
    spaces, in a text they are put together of characters or escaped."""
    if not any(mark in sql for mark in ("\n", "\r", "\t", "--", "/*", "#")):
        return sql.strip()
    return "".join(_flat(piece, dialect) for piece in pieces(sql, dialect)).strip()


def _flat(piece: Piece, dialect: str) -> str:
    if piece.kind in {"space", "comment"}:
        return " "
    text = piece.text
    if piece.kind != "text" or not any(mark in text for mark in "\n\r\t"):
        return text
    if text[0] in "eE" or dialect_named(dialect).parser == "mysql":
        return text.replace("\n", r"\n").replace("\r", r"\r").replace("\t", r"\t")
    if text[0] == "$":
        tag = text[: text.index("$", 1) + 1]
        text = quote_text(text[len(tag) : -len(tag)])
    character = "char" if dialect == "sqlite" else "chr"
    for mark in "\n\r\t":
        text = text.replace(mark, f"'||{character}({ord(mark)})||'")
    return f"({text})"
