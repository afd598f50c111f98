"""The query of a view, as prompts show it."""

from __future__ import annotations

from sqlwright.messages import Span
from sqlwright.prompts.cells import WORDS, SpanWriter, sql_pieces, typed
from sqlwright.prompts.columns import ColumnKnowledge
from sqlwright.schema import Table, fold_name
from sqlwright.sql.reading import tables_used

LONGEST = 1_500
"""Characters of a view's query that is shown; half of one would mislead."""
LONGEST_COMPACT = 300
"""The same where a schema is shown in a line per column."""


def view_query(table: Table, known: ColumnKnowledge, longest: int = LONGEST) -> tuple[Span, ...]:
    """A view's query on one line, without comments; nothing for a table.

    What its author compared columns with may come from the data: such constants have the origin of
    values. A query of more than `longest` characters isn't shown.
    """
    writer = SpanWriter()
    written = 0
    space = False
    for piece in sql_pieces(table.definition, known.written.schema.dialect):
        if piece.kind in {"space", "comment"}:
            space = written > 0
            continue
        text = piece.text if piece.text.isprintable() else " ".join(piece.text.split())
        named = piece.kind == "quoted" and fold_name(piece.text[1:-1]) in known.names
        ours = piece.kind in WORDS or named or typed(piece, "")
        writer.add(" " if space else "")
        writer.add(text, "schema" if ours else "value")
        written += len(text) + space
        space = False
    return writer.text().spans if written <= longest else ()


def made_of(table: Table, known: ColumnKnowledge) -> str:
    """The tables that a view's query reads, for one that is too long to be shown; empty for a
    table."""
    if not table.definition:
        return ""
    used = tables_used(table.definition, known.written.schema.dialect)
    read = (name for name in used if fold_name(name) in known.names)
    return ", ".join(map(known.written.table, read))
