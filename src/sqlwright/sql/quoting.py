"""Texts as literals of any dialect."""

from __future__ import annotations

from sqlglot import exp

from sqlwright.sql.tokens import quote_text
from sqlwright.sql.tree import node_text


def written_text(text: str, dialect: str) -> str:
    """A text as a literal of a dialect, whose backslashes may escape. SQL ends it at a NUL; what may
    hold one goes by `form.write`."""
    if dialect == "sqlite":
        return quote_text(text)
    return node_text(exp.Literal.string(text), dialect)
