"""Schemas as prompts show them, every piece with its origin.

CHESS shows a schema as CREATE TABLE text whose comments hold example values, counts and
descriptions (paper, appendix A.3; the published code adds the keys). So does the style `ddl` here;
`compact` says the same in a line per column, and `soft`, MAG-SQL's, says it of the columns in full
alone, behind all others in brief. Rendering is deterministic; a seeded generator puts
tables and columns in another order where samples are to differ. What depends on how much time there
was to look into a database (`Catalog.steady`) isn't shown.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from sqlwright.messages import Span, Text
from sqlwright.prompts.cells import render_result, render_sql
from sqlwright.prompts.columns import ColumnKnowledge, described_parts, values_by_column
from sqlwright.prompts.dialects.names import Names
from sqlwright.prompts.styles.compact import compact
from sqlwright.prompts.styles.ddl import ddl
from sqlwright.prompts.styles.laid import LaidTable, Line, ShownTable
from sqlwright.prompts.styles.soft import soft, soft_closing
from sqlwright.schema import ColumnRef, Detail, ForeignKey, SchemaView, fold_name
from sqlwright.types import ColumnExamples, DescriptionMatch, ValueMatch

if TYPE_CHECKING:
    from sqlwright.protocols import Catalog

__all__ = ["SchemaLayout", "SchemaStyle", "render_result", "render_schema", "render_sql"]

SchemaStyle = Literal["ddl", "compact", "soft"]
_STYLES: Mapping[SchemaStyle, Callable[[ShownTable, ColumnKnowledge], LaidTable]] = {
    "ddl": ddl,
    "compact": compact,
    "soft": soft,
}


def render_schema(
    view: SchemaView,
    *,
    style: SchemaStyle = "ddl",
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
        style: SchemaStyle = "ddl",
        values: Sequence[ValueMatch] = (),
        descriptions: Sequence[DescriptionMatch] | None = (),
        catalog: Catalog | None = None,
        examples: int = 3,
        drawn: Callable[[ColumnRef], random.Random] | None = None,
        every_description: bool = False,
        given: Sequence[ColumnExamples] = (),
        frequent: bool = False,
    ) -> None:
        if catalog is not None:
            catalog = catalog.steady or catalog
        known = ColumnKnowledge(
            described_parts(descriptions or ()),
            every_description or descriptions is None,
            values_by_column(() if style == "soft" else values),
            catalog,
            examples,
            view.schema.foreign_key_columns,
            frozenset(fold_name(name) for ref in view.schema.columns for name in ref),
            Names(view.schema),
            drawn,
            {of_column.column: of_column for of_column in given},
            frequent,
        )
        shown = list(_shown(view))
        self._tables = [_STYLES[style](table, known) for table in shown]
        self._closing = soft_closing(shown, known) if style == "soft" else Text()
        self._between = "\n" if style == "soft" else "\n\n"
        self._stored: Text | None = None

    def text(self, shuffle: random.Random | None = None) -> Text:
        """The schema in its stored order, or in another one."""
        if shuffle is not None:
            tables = self._tables.copy()
            shuffle.shuffle(tables)
            shuffled = ((table, _shuffled(table, shuffle)) for table in tables)
            return _joined(shuffled, self._between) + self._closing
        if self._stored is None:
            stored = ((table, table.lines) for table in self._tables)
            self._stored = _joined(stored, self._between) + self._closing
        return self._stored


def _joined(tables: Iterable[tuple[LaidTable, Sequence[Line]]], gap: str) -> Text:
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
        between = gap
        last = len(lines) - (not table.separated)
        for number, line in enumerate(lines, start=1):
            schema.append(line.declared + table.separator if number <= last else line.declared)
            put(line.about)
        put(table.closing)
    if any(schema):
        spans.append(Span("".join(schema), "schema"))
    return Text(tuple(spans))


def _shuffled(table: LaidTable, shuffle: random.Random) -> list[Line]:
    """The columns in another order, but the primary key first and then the other keys; a view's
    stay in the order of its query."""
    if table.ordered:
        return table.lines
    groups: list[list[Line]] = [[], [], []]
    for line in table.lines:
        groups[line.group].append(line)
    for group in groups[1:]:
        shuffle.shuffle(group)
    return [*groups[0], *groups[1], *groups[2]]


def _shown(view: SchemaView) -> Iterator[ShownTable]:
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
            target = Names(schema).column(key.pairs[0][1])
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
        yield ShownTable(table, columns, keys.get(table.name, []), elsewhere.get(table.name, {}))
