"""SQL in quiet colours of the terminal's own palette."""

from __future__ import annotations

from rich.text import Text

from sqlwright.presentation.sql_text import Cut, sql_pieces


def highlighted(sql: str, cut: Cut) -> Text:
    """`sql`, which must be clean already, with its words coloured; nothing else changes."""
    text = Text(sql)
    for piece in sql_pieces(sql, cut):
        text.stylize(f"sql.{piece.kind}", piece.start, piece.end)
    return text
