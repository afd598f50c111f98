"""Schema, stored values, results and queries as prompts show them, every piece with its origin.

CHESS shows a schema as CREATE TABLE text whose comments hold example values, counts and
descriptions (paper, appendix A.3; the published code adds the keys). So does the style `ddl` here;
`compact` says the same in a line per column. Rendering is deterministic; a seeded generator puts
tables and columns in another order where samples are to differ. What depends on how much time there
was to look into a database (`Catalog.steady`) isn't shown.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from sqlwright.cell_rendering import (
    SpanWriter,
    counted,
    flat,
    literal,
    mixture,
    render_result,
    render_sql,
    render_values,
    shortened,
)
from sqlwright.messages import Text
from sqlwright.schema import Column, ColumnRef, Detail, ForeignKey, SchemaView, Table
from sqlwright.tokens import quote_name
from sqlwright.types import Cell, DescriptionMatch, ValueMatch

if TYPE_CHECKING:
    from sqlwright.catalog.records import Catalog, ColumnProfile

__all__ = ["render_result", "render_schema", "render_sql", "render_values"]

FEW_VALUES = 20
"""Columns with fewer different values show up to MORE_EXAMPLES of them (CHESS's code)."""
MORE_EXAMPLES = 5
MOST_RETRIEVED = 10
"""Retrieved values shown of one column."""
LONGEST_TEXT = 1_000
"""Characters of a description shown."""

_DATE_FORMATS = frozenset(
    "iso_date iso_datetime date_mdy date_dmy date_ambiguous date_words date_compact year_month "  # noqa: SIM905
    "time".split()
)
_DATE_NAME = re.compile(r"date|time", re.IGNORECASE)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def render_schema(
    view: SchemaView,
    *,
    style: Literal["ddl", "compact"] = "ddl",
    values: Sequence[ValueMatch] = (),
    descriptions: Sequence[DescriptionMatch] | None = (),
    catalog: Catalog | None = None,
    examples: int = 3,
    shuffle: random.Random | None = None,
    limit_cell: int = 50,
) -> Text:
    """The tables and columns that a view shows, with their keys.

    A column in full comes with its descriptions (those given; None stands for all there are),
    counts and values of the catalog and up to `examples` values, of which retrieved ones
    (`values`) stand first and whole; a brief one with name and type only. Of a table that is shown
    the primary key and the keys that join it to others shown are there even where the view hides
    them. Examples longer than `limit_cell` characters are passed over. A database without tables
    gives an empty text.
    """
    if catalog is not None:
        catalog = catalog.steady or catalog
    known = _Known(
        None if descriptions is None else _parts(descriptions),
        _by_column(values),
        catalog,
        examples,
        limit_cell,
        view.schema.referring,
    )
    tables = list(_shown(view))
    if shuffle is not None:
        shuffle.shuffle(tables)
        tables = [replace(shown, columns=_shuffled(shown, shuffle)) for shown in tables]
    writer = SpanWriter()
    for number, shown in enumerate(tables):
        writer.add("\n\n" if number else "")
        if style == "ddl":
            _write_ddl(writer, shown, known)
        else:
            _write_compact(writer, shown, known)
    return writer.text()


@dataclass(frozen=True)
class _Table:
    """A table and what is shown of it."""

    table: Table
    columns: list[tuple[Column, bool]]
    """Each with whether it is shown in full."""
    keys: list[ForeignKey]
    elsewhere: Mapping[str, str]
    """What a column refers to in a table that isn't shown."""


def _shuffled(shown: _Table, shuffle: random.Random) -> list[tuple[Column, bool]]:
    """The columns in another order, but the primary key first and then the other keys."""
    keys = {name for key in shown.keys for name in key.columns} | set(shown.elsewhere)
    primary = shown.table.primary_key
    groups: list[list[tuple[Column, bool]]] = [[], [], []]
    for one in shown.columns:
        name = one[0].name
        groups[0 if name in primary else 1 if name in keys else 2].append(one)
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
    for key in schema.foreign_keys:
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
            detail = details.get(ColumnRef(table.name, column.name), Detail.FULL)
            ref = ColumnRef(table.name, column.name)
            if detail is not Detail.HIDDEN or ref in joining or column.name in table.primary_key:
                columns.append((column, detail is Detail.FULL))
        yield _Table(table, columns, keys.get(table.name, []), elsewhere.get(table.name, {}))


@dataclass(frozen=True)
class _Known:
    """What is known of columns: descriptions, counts, values."""

    descriptions: Mapping[ColumnRef, Mapping[str, str]] | None
    values: Mapping[ColumnRef, list[str]]
    catalog: Catalog | None
    examples: int
    limit: int
    joined: frozenset[ColumnRef]
    """Columns that refer to others."""

    def profile(self, ref: ColumnRef) -> ColumnProfile | None:
        return None if self.catalog is None else self.catalog.columns.get(ref)

    def described(self, table: str, column: Column) -> str:
        """The column's label and descriptions in one line; empty when none is shown."""
        if self.descriptions is None:
            parts = [column.label, column.description, column.value_description]
        else:
            told = self.descriptions.get(ColumnRef(table, column.name))
            if told is None:
                return ""
            parts = [told.get(part, "") for part in ("label", "description", "value_description")]
        name = _bare(column.name)
        label = _bare(parts[0]) if parts[0] else ""
        if label == name:
            parts[0] = ""
        if len(parts[1]) < 2 * max(len(label), len(name)) and _bare(parts[1]) in {label, name}:
            parts[1] = ""
        return "; ".join(shortened(flat(part), LONGEST_TEXT) for part in parts if part.strip())

    def counts(self, ref: ColumnRef, *, key: bool) -> str:
        """How many different values and NULLs a column holds; empty when it isn't known.

        A primary key's are all different, whatever a sample had; of other columns a sample tells
        no more than a least number.
        """
        profile = self.profile(ref)
        if profile is None or not profile.rows:
            return ""
        if key or profile.unique:
            return "all different"
        if profile.sampled:
            return f"at least {profile.distinct:,} different" if profile.distinct > 1 else ""
        about = "" if profile.distinct_exact else "about "
        nulls = f", {profile.nulls:,} NULL" if profile.nulls else ""
        return f"{about}{profile.distinct:,} different{nulls}"

    def guessed(self, key: ForeignKey) -> bool:
        """Whether an inferred key had no values that could have confirmed it."""
        ends = [self.profile(near) for near, _ in key.pairs]
        return any(end is not None and end.rows == end.nulls for end in ends)

    def literals(self, ref: ColumnRef, column: Column, *, key: bool) -> tuple[list[str], bool]:
        """Values to show as literals, retrieved ones first, and whether they are all there are."""
        profile = self.profile(ref)
        number = profile is not None and profile.main_storage in {"integer", "real"}
        retrieved = list(dict.fromkeys(self.values.get(ref, ())))[:MOST_RETRIEVED]
        shown = [
            value if number and _NUMBER.fullmatch(value) else literal(value, 4 * self.limit)
            for value in retrieved
        ]
        if profile is None or not self.examples or (number and (key or ref in self.joined)):
            return shown, False
        if shown and not _holds_dates(column, profile):
            return shown, False
        wanted = self.examples
        if profile.distinct < FEW_VALUES and not number:
            wanted = max(wanted, MORE_EXAMPLES)
        if shown:
            wanted = 1  # a date's format shows beside what was retrieved
        for cell, _ in profile.frequent:
            if wanted <= 0:
                break
            if _fits(cell, self.limit) and (text := literal(cell)) not in shown:
                shown.append(text)
                wanted -= 1
        textual = profile.main_storage == "text"
        odd = (cell for cell, _ in profile.frequent if isinstance(cell, str) != textual)
        other = next((literal(cell) for cell in odd if _fits(cell, self.limit)), "")
        if other and other not in shown:
            shown.append(other)  # what text there is among the numbers, or the other way
        return shown, profile.complete and len(shown) >= profile.distinct


def _parts(descriptions: Iterable[DescriptionMatch]) -> dict[ColumnRef, dict[str, str]]:
    told: dict[ColumnRef, dict[str, str]] = {}
    for match in descriptions:
        told.setdefault(match.column, {})[match.part] = match.text
    return told


def _by_column(values: Iterable[ValueMatch]) -> dict[ColumnRef, list[str]]:
    found: dict[ColumnRef, list[str]] = {}
    for match in values:
        found.setdefault(match.column, []).append(match.value)
    return found


def _write_ddl(writer: SpanWriter, shown: _Table, known: _Known) -> None:
    table = shown.table
    writer.add(f"CREATE {table.kind.upper()} {quote_name(table.name)} (")
    about = _about_table(table, known)
    writer.add(f" -- {about}" if about else "")
    simple_key = table.primary_key[0] if len(table.primary_key) == 1 else ""
    lines = len(shown.columns) + len(shown.keys) + (len(table.primary_key) > 1)
    for column, full in shown.columns:
        lines -= 1
        key = column.name == simple_key
        writer.add(f"\n  {_declared(column)}")
        writer.add(" PRIMARY KEY" if key else "" if column.nullable or not full else " NOT NULL")
        writer.add("," if lines else "")
        if full:
            _write_about(writer, shown, column, known, key=key, opening=" -- ")
    if len(table.primary_key) > 1:
        lines -= 1
        writer.add(f"\n  PRIMARY KEY ({_names(table.primary_key)}){',' if lines else ''}")
    for reference in shown.keys:
        lines -= 1
        target = f"{quote_name(reference.target_table)} ({_names(reference.target_columns)})"
        writer.add(f"\n  FOREIGN KEY ({_names(reference.columns)}) REFERENCES {target}")
        writer.add("," if lines else "")
        if reference.inferred:
            how = "guessed from the names" if known.guessed(reference) else "seen in the data"
            writer.add(f" -- not declared, {how}")
    writer.add("\n);")


def _write_compact(writer: SpanWriter, shown: _Table, known: _Known) -> None:
    table = shown.table
    about = _about_table(table, known)
    writer.add(f"{table.kind} {quote_name(table.name)}{f' ({about})' if about else ''}:")
    targets: dict[str, list[str]] = {}
    wide = []
    for reference in shown.keys:
        if len(reference.columns) > 1:
            wide.append(reference)
            continue
        target = f"{quote_name(reference.target_table)}.{quote_name(reference.target_columns[0])}"
        targets.setdefault(reference.columns[0], []).append(target)
    for column, full in shown.columns:
        writer.add(f"\n- {_declared(column)}{'' if column.type.strip() else ' (untyped)'}")
        key = table.primary_key == (column.name,)
        writer.add(", primary key" if key else "")
        for target in targets.get(column.name, ()):
            writer.add(f" = {target}")
        if full:
            _write_about(writer, shown, column, known, key=key, opening=": ", counts=False)
    if len(table.primary_key) > 1:
        writer.add(f"\n- primary key ({_names(table.primary_key)})")
    for reference in wide:
        target = f"{quote_name(reference.target_table)} ({_names(reference.target_columns)})"
        writer.add(f"\n- ({_names(reference.columns)}) = {target}")


def _write_about(
    writer: SpanWriter,
    shown: _Table,
    column: Column,
    known: _Known,
    *,
    key: bool,
    opening: str,
    counts: bool = True,
) -> None:
    """Descriptions, counts and values of a column behind it."""
    table = shown.table.name
    ref = ColumnRef(table, column.name)
    literals, every = known.literals(ref, column, key=key)
    always = every and len(literals) == 1
    target = shown.elsewhere.get(column.name, "")
    profile = known.profile(ref)
    for part in (
        known.described(table, column),
        f"refers to {target}, not shown" if target else "",
        known.counts(ref, key=key) if counts and not always else "",
        mixture(profile) if profile is not None else "",
    ):
        if part:
            writer.add(f"{opening}{part}")
            opening = "; "
    if literals:
        word = "always " if always else "one of " if every else "e.g. "
        writer.add(f"{opening}{word}")
        writer.add(", ".join(literals), "value")
        writer.add(" or NULL" if always and profile is not None and profile.nulls else "")


def _about_table(table: Table, known: _Known) -> str:
    """A table's size and description."""
    profile = known.catalog.tables.get(table.name) if known.catalog is not None else None
    parts = []
    if profile is not None and table.kind == "table" and (profile.rows or profile.rows_exact):
        parts.append(f"{'' if profile.rows_exact else 'about '}{counted(profile.rows, 'row')}")
    label = "" if _bare(table.label) == _bare(table.name) else table.label
    parts += [shortened(flat(text), LONGEST_TEXT) for text in (label, table.description) if text]
    return "; ".join(parts)


def _declared(column: Column) -> str:
    return f"{quote_name(column.name)} {flat(column.type)}".rstrip()


def _names(names: Iterable[str]) -> str:
    return ", ".join(map(quote_name, names))


def _holds_dates(column: Column, profile: ColumnProfile) -> bool:
    if any(form.name in _DATE_FORMATS for form in profile.formats):
        return True
    return bool(_DATE_NAME.search(column.type) or _DATE_NAME.search(column.name))


def _fits(cell: Cell, limit: int) -> bool:
    """Whether a cell is worth showing as an example."""
    if isinstance(cell, str):
        return 0 < len(cell) <= limit and bool(cell.strip())
    return isinstance(cell, int | float) and math.isfinite(cell)


def _bare(text: str) -> str:
    """A name without case, blanks and marks, to tell whether two say the same."""
    return re.sub(r"[\W_]+", "", text).casefold()
