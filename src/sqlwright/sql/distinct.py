"""A query without its DISTINCT."""

from __future__ import annotations

from sqlwright.schema import fold_name
from sqlwright.sql.tokens import pieces


def without_distinct(sql: str) -> str:
    """The query with every DISTINCT left out, those of aggregates too; IS DISTINCT FROM stays. In
    quotes and comments nothing is changed."""
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
