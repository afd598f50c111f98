"""Schemas as prompts show them, every piece with its origin.

CHESS shows a schema as CREATE TABLE text whose comments hold example values, counts and
descriptions (paper, appendix A.3; the published code adds the keys). So does the style `ddl` here;
`compact` says the same in a line per column. Rendering is deterministic; a seeded generator puts
tables and columns in another order where samples are to differ. What depends on how much time there
was to look into a database (`Catalog.steady`) isn't shown.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from sqlwright.messages import HIDDEN, Span, Text
from sqlwright.prompts.cells import (
    SpanWriter,
    flat,
    render_result,
    render_sql,
)
from sqlwright.prompts.columns import (
    ColumnKnowledge,
    described_parts,
    values_by_column,
)
from sqlwright.prompts.measures import counts, least_and_greatest, missing, mixture, written
from sqlwright.prompts.tables import about_table, table_opening
from sqlwright.prompts.views import LONGEST_COMPACT, made_of, view_query
from sqlwright.schema import Column, ColumnRef, Detail, ForeignKey, SchemaView, Table, fold_name
from sqlwright.sql.tokens import quote_name
from sqlwright.types import ColumnExamples, DescriptionMatch, ValueMatch

if TYPE_CHECKING:
    from sqlwright.catalog.records import ColumnProfile
    from sqlwright.protocols import Catalog

__all__ = ["SchemaLayout", "render_result", "render_schema", "render_sql"]


def render_schema(
    view: SchemaView,
    *,
    style: Literal["ddl", "compact"] = "ddl",
    values: Sequence[ValueMatch] = (),
    descriptions: Sequence[DescriptionMatch] | None = (),
    catalog: Catalog | None = None,
    examples: int = 3,
    shuffle: random.Random | None = None,
    drawn: Callable[[ColumnRef], random.Random] | None = None,
) -> Text:
    """The tables and columns that a view shows, with their keys.

    A column in full comes with its descriptions (of the columns given; None stands for all),
    counts and range of the catalog and its values: all of a small column, else up to `examples`
    (one, drawn at random, where `drawn` is given) beside those retrieved (`values`), which are
    marked. A brief one has name and type only. Of a table that is shown the primary key and the
    keys that join it to others shown are there even where the view hides them. A database without
    tables gives an empty text.
    """
    layout = SchemaLayout(
        view,
        style=style,
        values=values,
        descriptions=descriptions,
        catalog=catalog,
        examples=examples,
        drawn=drawn,
    )
    return layout.text(shuffle)


class SchemaLayout:
    """Rendered lines of a schema, so that many orders of them cost one rendering of each column.

    Safe to use from any thread."""

    def __init__(
        self,
        view: SchemaView,
        *,
        style: Literal["ddl", "compact"] = "ddl",
        values: Sequence[ValueMatch] = (),
        descriptions: Sequence[DescriptionMatch] | None = (),
        catalog: Catalog | None = None,
        examples: int = 3,
        drawn: Callable[[ColumnRef], random.Random] | None = None,
        every_description: bool = False,
        given: Sequence[ColumnExamples] = (),
    ) -> None:
        if catalog is not None:
            catalog = catalog.steady or catalog
        known = ColumnKnowledge(
            described_parts(descriptions or ()),
            every_description or descriptions is None,
            values_by_column(values),
            catalog,
            examples,
            view.schema.foreign_key_columns,
            frozenset(fold_name(name) for ref in view.schema.columns for name in ref),
            drawn,
            {of_column.column: of_column for of_column in given},
        )
        laid_out = _ddl if style == "ddl" else _compact
        self._tables = [laid_out(shown, known) for shown in _shown(view)]
        self._stored: Text | None = None

    def text(self, shuffle: random.Random | None = None) -> Text:
        """The schema in its stored order, or in another one."""
        if shuffle is not None:
            tables = self._tables.copy()
            shuffle.shuffle(tables)
            return _joined((table, _shuffled(table, shuffle)) for table in tables)
        if self._stored is None:
            self._stored = _joined((table, table.lines) for table in self._tables)
        return self._stored


@dataclass(frozen=True)
class _Table:
    """A table and what is shown of it."""

    table: Table
    columns: list[tuple[Column, bool]]
    """Each with whether it is shown in full."""
    keys: list[ForeignKey]
    elsewhere: Mapping[str, str]
    """The target of a column that refers to a table that isn't shown."""

    def group(self, column: str) -> int:
        """Rank of a column in another order: the primary key first, then the other keys."""
        if column in self.table.primary_key:
            return 0
        foreign_key_columns = column in self.elsewhere or any(
            column in key.columns for key in self.keys
        )
        return 1 if foreign_key_columns else 2


@dataclass(frozen=True)
class _Line:
    """A column as it is shown, whatever the order."""

    group: int
    declared: str
    about: tuple[Span, ...]


@dataclass(frozen=True)
class _Laid:
    """A table's pieces."""

    opening: tuple[Span, ...]
    lines: list[_Line]
    closing: tuple[Span, ...]
    separator: str
    """Behind what is declared of each column but the last, which has it if more than columns
    follows."""
    separated: bool
    """True if more follows."""
    ordered: bool
    """True for a view: its columns are in the order of its query, and stay so."""


def _joined(tables: Iterable[tuple[_Laid, Sequence[_Line]]]) -> Text:
    spans: list[Span] = []
    schema: list[str] = []  # the span that is being written

    def put(those: Iterable[Span]) -> None:
        for span in those:
            if span.origin == "schema":
                schema.append(span.text)
            else:
                spans.extend((Span("".join(schema), "schema"), span))
                schema.clear()

    between = ""
    for table, lines in tables:
        schema.append(between)
        put(table.opening)
        between = "\n\n"
        last = len(lines) - (not table.separated)
        for number, line in enumerate(lines, start=1):
            schema.append(line.declared + table.separator if number <= last else line.declared)
            put(line.about)
        put(table.closing)
    if any(schema):
        spans.append(Span("".join(schema), "schema"))
    return Text(tuple(spans))


def _shuffled(table: _Laid, shuffle: random.Random) -> list[_Line]:
    """The columns in another order, but the primary key first and then the other keys; a view's
    stay in the order of its query."""
    if table.ordered:
        return table.lines
    groups: list[list[_Line]] = [[], [], []]
    for line in table.lines:
        groups[line.group].append(line)
    for group in groups[1:]:
        shuffle.shuffle(group)
    return [*groups[0], *groups[1], *groups[2]]


def _shown(view: SchemaView) -> Iterator[_Table]:
    """The tables with at least one column that isn't hidden, with the keys among them."""
    schema, details = view.schema, view.details
    names = {table.name for table in view.visible_schema().tables}
    keys: dict[str, list[ForeignKey]] = {}
    joining: set[ColumnRef] = set()
    elsewhere: dict[str, dict[str, str]] = {}
    views = {table.name for table in schema.tables if table.definition}
    for key in schema.foreign_keys:
        if not views.isdisjoint((key.table, key.target_table)):
            continue  # its query says what a view joins
        if key.table in names and key.target_table in names:
            keys.setdefault(key.table, []).append(key)
            joining.update(ref for pair in key.pairs for ref in pair)
        elif key.table in names and len(key.columns) == 1:
            target = f"{quote_name(key.target_table)}.{quote_name(key.target_columns[0])}"
            elsewhere.setdefault(key.table, {})[key.columns[0]] = target
    for table in schema.tables:
        if table.name not in names:
            continue
        columns = []
        for column in table.columns:
            ref = ColumnRef(table.name, column.name)
            detail = details.get(ref, Detail.FULL)
            if detail is not Detail.HIDDEN or ref in joining or column.name in table.primary_key:
                columns.append((column, detail is Detail.FULL))
        yield _Table(table, columns, keys.get(table.name, []), elsewhere.get(table.name, {}))


def _ddl(shown: _Table, known: ColumnKnowledge) -> _Laid:
    table = shown.table
    about = about_table(table, known)
    simple_key = table.primary_key[0] if len(table.primary_key) == 1 else ""
    lines = []
    for column, full in shown.columns:
        key = column.name == simple_key
        rule = " PRIMARY KEY" if key else "" if column.nullable or not full else " NOT NULL"
        writer = SpanWriter()
        if full:
            _write_about(writer, shown, column, known, key=key, opening=" -- ")
        typed = table.kind != "view"  # SQLite's CREATE VIEW has no types
        declared = f"\n  {_declared(column) if typed else quote_name(column.name)}{rule}"
        lines.append(_Line(shown.group(column.name), declared, writer.text().spans))
    closing = _ddl_closing(shown, known)
    return _Laid(
        table_opening(f"CREATE {table.kind.upper()} {quote_name(table.name)} (", " -- ", about, ""),
        lines,
        tuple(closing),
        ",",
        separated=len(table.primary_key) > 1 or bool(shown.keys),
        ordered=table.kind == "view",
    )


def _ddl_closing(shown: _Table, known: ColumnKnowledge) -> list[Span]:
    """Keys, each with what is to be known of it, and the query of a view."""
    table = shown.table
    ends: list[tuple[str, str, str]] = []  # the clause, its comment, and what may be told of that
    if len(table.primary_key) > 1:
        ends.append((f"PRIMARY KEY ({_names(table.primary_key)})", "", ""))
    for reference in shown.keys:
        target = f"{quote_name(reference.target_table)} ({_names(reference.target_columns)})"
        clause = f"FOREIGN KEY ({_names(reference.columns)}) REFERENCES {target}"
        comment = rough = known.unmatched(reference)
        if reference.inferred:
            comment = rough = (
                "not declared, "
                f"{'guessed from the names' if known.guessed(reference) else 'seen in the data'}"
            )
        elif comment:
            rough = "its values are seldom found there"
        ends.append((clause, comment, rough))
    spans: list[Span] = []
    for number, (clause, comment, rough) in enumerate(ends, start=1):
        comma = "," if number < len(ends) else ""
        spans.append(Span(f"\n  {clause}{comma}{' -- ' if comment else ''}", "schema"))
        if comment:
            spans.append(Span(comment, "schema" if comment == rough else "value", rough))
    query = view_query(table, known.names)
    if query:
        return [*spans, Span("\n) AS\n", "schema"), *query, Span(";", "schema")]
    made = made_of(table, known.names)
    return [*spans, Span(f"\n);{f' -- made of {made}' if made else ''}", "schema")]


def _compact(shown: _Table, known: ColumnKnowledge) -> _Laid:
    table = shown.table
    about = about_table(table, known)
    targets: dict[str, list[str]] = {}
    wide = []
    for reference in shown.keys:
        if len(reference.columns) > 1:
            wide.append(reference)
            continue
        target = f"{quote_name(reference.target_table)}.{quote_name(reference.target_columns[0])}"
        targets.setdefault(reference.columns[0], []).append(target)
    lines = []
    for column, full in shown.columns:
        key = table.primary_key == (column.name,)
        untyped = " (untyped)" if table.kind != "view" and not column.type.strip() else ""
        declared = f"\n- {_declared(column)}{untyped}"
        declared += ", primary key" if key else ""
        declared += "".join(f" = {target}" for target in targets.get(column.name, ()))
        writer = SpanWriter()
        if full:
            _write_about(writer, shown, column, known, key=key, opening=": ", counts_too=False)
        lines.append(_Line(shown.group(column.name), declared, writer.text().spans))
    closing = ""
    if len(table.primary_key) > 1:
        closing = f"\n- primary key ({_names(table.primary_key)})"
    for reference in wide:
        target = f"{quote_name(reference.target_table)} ({_names(reference.target_columns)})"
        closing += f"\n- ({_names(reference.columns)}) = {target}"
    spans = [Span(closing, "schema")] if closing else []
    query = view_query(table, known.names, LONGEST_COMPACT)
    if query:
        spans += [Span("\n- it is: ", "schema"), *query]
    elif made := made_of(table, known.names):
        spans.append(Span(f"\n- it is made of: {made}", "schema"))
    opening = table_opening(f"{table.kind} {quote_name(table.name)}", " (", about, ")")
    opening += (Span(":", "schema"),)
    view = table.kind == "view"
    return _Laid(opening, lines, tuple(spans), "", separated=True, ordered=view)


def _write_about(
    writer: SpanWriter,
    shown: _Table,
    column: Column,
    known: ColumnKnowledge,
    *,
    key: bool,
    opening: str,
    counts_too: bool = True,
) -> None:
    """Descriptions, counts and values of a column behind it."""
    table = shown.table.name
    ref = ColumnRef(table, column.name)
    profile = known.profile(ref)
    listed = known.listed(ref, profile, key=key)
    always = listed.every and len(listed.literals) == 1
    target = shown.elsewhere.get(column.name, "")
    about, of_values = known.described(table, column)
    spans = [
        Span(about, "schema"),
        Span(of_values, "value"),
        Span(f"refers to {target}, not shown" if target else "", "schema"),
    ]
    if profile is not None:
        spans += _measured(profile, key=key, always=always, all_of_it=counts_too)
        if not key and ref not in known.joined:
            ranged = counts_too and not listed.every
            kind = written(profile, ranged=ranged)
            span = least_and_greatest(profile) if ranged else ""
            spans.append(Span(" ".join(filter(None, (kind, span))), "value", kind))
    for number, part in enumerate(part for part in spans if part.text):
        if number and not part.instead:  # what is withheld without a mark takes its "; " along
            writer.add(f"{opening}{part.text}", part.origin, "")
        else:
            writer.add(opening)
            writer.add(part.text, part.origin, part.instead or HIDDEN)
        opening = "; "
    if listed.literals:
        absent = always and profile is not None and bool(missing(profile))
        word = "one of " if listed.every else "e.g. "
        if always:
            word = "otherwise always " if absent else "always "
        writer.add(f"{opening}{word}")
        writer.add(", ".join(listed.literals), "value", listed.instead)


def _measured(
    profile: ColumnProfile, *, key: bool, always: bool, all_of_it: bool
) -> Iterator[Span]:
    """Numbers of values, and the kinds of them where they are several."""
    if always or not all_of_it:
        told = missing(profile, nulls=always)
        yield Span(told, "value", missing(profile, nulls=always, rough=True))
    elif all_of_it:
        few = counts(profile, key=key, rough=True)
        yield Span(counts(profile, key=key), "value", few)
    yield Span(mixture(profile), "value", mixture(profile, rough=True))


def _declared(column: Column) -> str:
    return f"{quote_name(column.name)} {flat(column.type)}".rstrip()


def _names(names: Iterable[str]) -> str:
    return ", ".join(map(quote_name, names))
