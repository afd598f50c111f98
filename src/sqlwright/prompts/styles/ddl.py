"""The style `ddl`: CREATE TABLE text whose comments hold what is known."""

from __future__ import annotations

from sqlwright.messages import Span
from sqlwright.prompts.cells import SpanWriter
from sqlwright.prompts.columns import ColumnKnowledge
from sqlwright.prompts.styles.about import key_told, typed_name, write_about
from sqlwright.prompts.styles.laid import LaidTable, Line, ShownTable
from sqlwright.prompts.tables import about_table, table_opening
from sqlwright.prompts.views import made_of, view_query


def ddl(shown: ShownTable, known: ColumnKnowledge) -> LaidTable:
    """A table as the statement that makes it."""
    table = shown.table
    about = about_table(table, known)
    simple_key = table.primary_key[0] if len(table.primary_key) == 1 else ""
    lines = []
    for column, full in shown.columns:
        key = column.name == simple_key
        rule = " PRIMARY KEY" if key else "" if column.nullable or not full else " NOT NULL"
        writer = SpanWriter()
        if full:
            write_about(writer, shown, column, known, key=key, opening=" -- ")
        typed = table.kind != "view"  # SQLite's CREATE VIEW has no types
        own = known.written
        told = typed_name(column, own) if typed else own.own(column.name)
        declared = f"\n  {told}{rule}"
        lines.append(Line(shown.group(column.name), declared, writer.text().spans))
    closing = _closing(shown, known)
    return LaidTable(
        table_opening(
            f"CREATE {table.kind.upper()} {known.written.table(table.name)} (", " -- ", about, ""
        ),
        lines,
        tuple(closing),
        ",",
        separated=len(table.primary_key) > 1 or bool(shown.keys),
        ordered=table.kind == "view",
    )


def _closing(shown: ShownTable, known: ColumnKnowledge) -> list[Span]:
    """Keys, each with what is to be known of it, and the query of a view."""
    table = shown.table
    ends: list[tuple[str, str, str]] = []  # the clause, its comment, and what may be told of that
    if len(table.primary_key) > 1:
        ends.append((f"PRIMARY KEY ({known.written.listed(table.primary_key)})", "", ""))
    for reference in shown.keys:
        far = known.written.listed(reference.target_columns)
        target = f"{known.written.table(reference.target_table)} ({far})"
        clause = f"FOREIGN KEY ({known.written.listed(reference.columns)}) REFERENCES {target}"
        comment, rough = key_told(reference, known)
        ends.append((clause, comment, rough))
    spans: list[Span] = []
    for number, (clause, comment, rough) in enumerate(ends, start=1):
        comma = "," if number < len(ends) else ""
        spans.append(Span(f"\n  {clause}{comma}{' -- ' if comment else ''}", "schema"))
        if comment:
            spans.append(Span(comment, "schema" if comment == rough else "value", rough))
    query = view_query(table, known)
    if query:
        return [*spans, Span("\n) AS\n", "schema"), *query, Span(";", "schema")]
    made = made_of(table, known)
    return [*spans, Span(f"\n);{f' -- made of {made}' if made else ''}", "schema")]
