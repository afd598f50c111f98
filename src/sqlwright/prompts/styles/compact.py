"""The style `compact`: a line for each column."""

from __future__ import annotations

from sqlwright.messages import Span
from sqlwright.prompts.cells import SpanWriter
from sqlwright.prompts.columns import ColumnKnowledge
from sqlwright.prompts.styles.about import typed_name, write_about
from sqlwright.prompts.styles.laid import LaidTable, Line, ShownTable
from sqlwright.prompts.tables import about_table, table_opening
from sqlwright.prompts.views import LONGEST_COMPACT, made_of, view_query


def compact(shown: ShownTable, known: ColumnKnowledge) -> LaidTable:
    """A table with a line for each column."""
    table = shown.table
    about = about_table(table, known)
    targets: dict[str, list[str]] = {}
    wide = []
    for reference in shown.keys:
        if len(reference.columns) > 1:
            wide.append(reference)
            continue
        target = known.written.column(reference.pairs[0][1])
        targets.setdefault(reference.columns[0], []).append(target)
    lines = []
    for column, full in shown.columns:
        key = table.primary_key == (column.name,)
        untyped = " (untyped)" if table.kind != "view" and not column.type.strip() else ""
        declared = f"\n- {typed_name(column, known.written)}{untyped}"
        declared += ", primary key" if key else ""
        declared += "".join(f" = {target}" for target in targets.get(column.name, ()))
        writer = SpanWriter()
        if full:
            write_about(writer, shown, column, known, key=key, opening=": ", counts_too=False)
        lines.append(Line(shown.group(column.name), declared, writer.text().spans))
    closing = ""
    if len(table.primary_key) > 1:
        closing = f"\n- primary key ({known.written.listed(table.primary_key)})"
    for reference in wide:
        far = known.written.listed(reference.target_columns)
        target = f"{known.written.table(reference.target_table)} ({far})"
        closing += f"\n- ({known.written.listed(reference.columns)}) = {target}"
    spans = [Span(closing, "schema")] if closing else []
    query = view_query(table, known, LONGEST_COMPACT)
    if query:
        spans += [Span("\n- it is: ", "schema"), *query]
    elif made := made_of(table, known):
        spans.append(Span(f"\n- it is made of: {made}", "schema"))
    opening = table_opening(f"{table.kind} {known.written.table(table.name)}", " (", about, ")")
    opening += (Span(":", "schema"),)
    view = table.kind == "view"
    return LaidTable(opening, lines, tuple(spans), "", separated=True, ordered=view)
