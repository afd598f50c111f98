"""The style `soft`: every column in brief, keys as lines, and what is known of those in full.

MAG-SQL, section 3.1.5 (soft schema construction). Nothing is left out of it that a view shows, so a
column that linking missed lacks its details alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlwright.messages import Span, Text
from sqlwright.prompts.cells import SpanWriter
from sqlwright.prompts.columns import ColumnKnowledge
from sqlwright.prompts.styles.about import key_told, typed_name, write_about
from sqlwright.prompts.styles.laid import LaidTable, Line, ShownTable
from sqlwright.prompts.views import made_of
from sqlwright.schema import ColumnRef


def soft(shown: ShownTable, known: ColumnKnowledge) -> LaidTable:
    """A table's columns with their types, on one line."""
    table = shown.table
    made = made_of(table, known)
    about = f" (view, made of {made})" if made else " (view)" if table.kind == "view" else ""
    lines = [
        Line(shown.group(column.name), f" {typed_name(column, known.written)}", ())
        for column, _ in shown.columns
    ]
    opening = (Span(f"{known.written.table(table.name)}{about}:", "schema"),)
    return LaidTable(opening, lines, (), ",", separated=False, ordered=table.kind == "view")


def soft_closing(shown: Sequence[ShownTable], known: ColumnKnowledge) -> Text:
    """The keys, a line for each, then the columns in full."""
    writer = SpanWriter()
    _write_keys(writer, shown, known)
    whole = all(full for table in shown for _, full in table.columns)
    heading = "\n\nIn detail:"
    for table in shown:
        for column, full in table.columns:
            if not full:
                continue
            own = SpanWriter()
            key = column.name in table.table.primary_key
            write_about(own, table, column, known, key=key, opening=": ", counts_too=False)
            about = own.text()
            if not about and (whole or key or _joins(table, column.name)):
                continue  # keys are listed above
            ref = ColumnRef(table.table.name, column.name)
            writer.add(f"{heading}\n{known.written.column(ref)}")
            heading = ""
            for span in about.spans:
                writer.add(span.text, span.origin, span.instead)
    return writer.text()


def _joins(shown: ShownTable, column: str) -> bool:
    return any(column in key.columns for key in shown.keys)


def _write_keys(writer: SpanWriter, shown: Sequence[ShownTable], known: ColumnKnowledge) -> None:
    heading = "\n\nPrimary keys:"
    for table in shown:
        if table.table.primary_key:
            name = known.written.table(table.table.name)
            writer.add(f"{heading}\n{name} ({known.written.listed(table.table.primary_key)})")
            heading = ""
    heading = "\n\nForeign keys:"
    for table in shown:
        for key in table.keys:
            column = known.written.column
            pairs = [f"{column(one)} = {column(other)}" for one, other in key.pairs]
            writer.add(f"{heading}\n{' AND '.join(pairs)}")
            heading = ""
            told, rough = key_told(key, known)
            if told:
                writer.add(" -- ")
                writer.add(told, "schema" if told == rough else "value", rough)
