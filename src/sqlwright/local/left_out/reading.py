"""The input of the rules: a question with its stored values, links and profiles; parts of forms."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING

from sqlwright.english.dates import Moment, moments
from sqlwright.english.vocabulary import NAMING_WORDS
from sqlwright.english.words import Token, split_name, stem, tokens
from sqlwright.errors import UnsupportedQuery
from sqlwright.local.form import nodes as f
from sqlwright.local.form.facts import form_facts
from sqlwright.local.form.walking import inside, own, own_tables
from sqlwright.protocols import Workspace
from sqlwright.schema import ColumnRef, Schema, Table
from sqlwright.sql.declared_types import type_class
from sqlwright.sql.hazards import held
from sqlwright.types import Cell, State, ValueMatch, Veto
from sqlwright.types.candidates import VetoKind
from sqlwright.types.stored import Formats

if TYPE_CHECKING:
    from sqlwright.catalog.records import ColumnProfile

SEARCHED = 60
"""Most stored values looked at for a name that the query doesn't use; chosen."""
FOUND = 0.95
"""Least similarity, in [0, 1], of a phrase of the question and a stored value it names; chosen."""
_NAMES = tuple(map(stem, NAMING_WORDS))
NAMES = frozenset(_NAMES)
"""The stems of words for columns that name rows for people."""
SUMMABLE = frozenset({"number_text", "year"})
"""Formats of texts that SQLite adds up as the numbers they are."""

Span = tuple[int, int]
"""First character and end."""


@dataclass(frozen=True)
class Finding:
    """A fault, and the form without it where a rule can write one."""

    veto: Veto
    mended: f.Query | None = None


def fault(kind: VetoKind, told: str, done: str = "", mended: f.Query | None = None) -> Finding:
    """A fault in words; with what was done and the form without it where a rule can write one."""
    return Finding(Veto(kind, told, done), mended)


@dataclass(frozen=True)
class Reading:
    """One question and its database, as the rules see them."""

    state: State
    workspace: Workspace
    today: date | None = None
    """The day that “last month” is reckoned from; None leaves such times unread."""

    @property
    def question(self) -> str:
        return self.state.question.text

    @property
    def schema(self) -> Schema:
        return self.workspace.schema

    @cached_property
    def words(self) -> tuple[Token, ...]:
        """The question's words and numbers in reading order."""
        return tuple(tokens(self.question))

    @cached_property
    def said(self) -> frozenset[str]:
        """The question's words in lower case."""
        return frozenset(word.text for word in self.words)

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of the question's words."""
        return frozenset(map(stem, self.said))

    @cached_property
    def moments(self) -> tuple[Moment, ...]:
        """The times that the question names."""
        return moments(self.question, self.today)

    @cached_property
    def values(self) -> tuple[ValueMatch, ...]:
        """Stored values that phrases of the question resemble, best first."""
        return tuple(match for match in self.state.values if match.span is not None)

    @cached_property
    def found(self) -> tuple[ValueMatch, ...]:
        """Those that a phrase names."""
        return tuple(match for match in self.values if match.score >= FOUND)

    @cached_property
    def _linked(self) -> Mapping[ColumnRef, float]:
        return {link.column: link.score for link in self.state.columns}

    def search(self, phrase: str) -> list[ValueMatch]:
        """Stored values that a phrase resembles or is part of, best first; none where the recipe
        looks up no stored values."""
        return self.workspace.values.search(phrase, SEARCHED) if self.state.looked_up else []

    def link(self, ref: ColumnRef) -> float:
        """The linker's probability that the question needs a column, in [0, 1]."""
        return self._linked.get(ref, 0.0)

    def profile(self, ref: ColumnRef) -> ColumnProfile | None:
        """The profile of a column; None when nobody looked."""
        catalog = self.workspace.catalog
        return None if catalog is None else catalog.columns.get(ref)

    @property
    def stored(self) -> Formats:
        """Columns whose dates and amounts have to be converted."""
        catalog = self.workspace.catalog
        return {} if catalog is None else catalog.stored

    def holds_dates(self, ref: ColumnRef) -> bool | None:
        """True if the engine's functions read a column's values as dates; None when that isn't
        known: nobody looked, or it is empty."""
        catalog, profile = self.workspace.catalog, self.profile(ref)
        if catalog is None or profile is None or not profile.main_storage:
            return None
        return profile.main_storage == "text" and bool(catalog.dates.get(ref, False))

    def is_date(self, ref: ColumnRef) -> bool:
        """True if a column holds dates, by its values or, where those aren't known, as declared;
        those that have to be converted count."""
        if ref in self.stored:
            return self.stored[ref].is_date
        held = self.holds_dates(ref)
        if held is not None:
            return held
        column = self.schema.column(ref)
        return column is not None and type_class(column.type) == "date"

    def shown(self, ref: ColumnRef, value: Cell) -> str:
        """A stored value as a query of this database has it: 2, 'N', TRUE."""
        column, profile = self.schema.column(ref), self.profile(ref)
        declared = "" if column is None else column.type.casefold()
        if self.schema.dialect != "sqlite" and declared.startswith("bool"):
            return "TRUE" if value in (1, "1") else "FALSE"
        is_number = profile is not None and profile.main_storage in {"integer", "real"}
        return str(value) if is_number else repr(value)

    def knows_all(self, ref: ColumnRef) -> bool:
        """True if every text of a column is in the index of values."""
        profile = self.profile(ref)
        return (
            profile is not None and profile.indexing == "whole" and set(profile.storage) == {"text"}
        )

    def holds_words(self, ref: ColumnRef) -> bool:
        """True if a column holds texts that SQLite can't add up as numbers."""
        profile = self.profile(ref)
        if profile is None or profile.main_storage != "text":
            return False
        if (numbers := held(profile)) is not None and not numbers.styled:
            return False  # what stands among them is left out (`caveats`)
        return not profile.formats or profile.formats[0].name not in SUMMABLE

    def is_near(self, table: str, tables: frozenset[str]) -> bool:
        """True if a table is one of some, or a key joins it to one, or a table that only links
        two."""
        return table in tables or bool(self.schema.neighbours(table) & tables)


_NOT_BEFORE = re.compile(
    r"(?:\b(?:not|never|without|no|neither|nor|isnt|arent)|n['’]t)\s+(?:[\w-]+\s+){0,2}$",
    re.IGNORECASE,
)
"""A negation, and two more words at most, at the end of the text before what is negated."""


def negated_at(question: str, place: int) -> bool:
    """True if what begins at a character of a question is negated there."""
    return _NOT_BEFORE.search(question[:place]) is not None


def overlaps(span: Span, others: Iterable[Span | None]) -> bool:
    """True if a range of characters shares some with one of others; None is none."""
    return any(one is not None and one[0] < span[1] and span[0] < one[1] for one in others)


def column_words(ref: ColumnRef) -> frozenset[str]:
    """The stems of the words of a column's name."""
    return frozenset(map(stem, split_name(ref.column)))


def name_of(table: Table) -> ColumnRef | None:
    """The column that names a table's rows: the first that is called a name."""
    refs = [ColumnRef(table.name, column.name) for column in table.columns]
    return next((ref for word in _NAMES for ref in refs if word in column_words(ref)), None)


def named_words(form: f.Query, schema: Schema, base: Callable[[str], str] = stem) -> frozenset[str]:
    """All words in the names of a query's tables and columns, those it is joined by included, each
    as its stem or another `base`."""
    names = {column.ref.column for column in inside(form, f.Column)} | table_names(form)
    names |= {end.column for pair in joined(form, schema) for end in pair}
    return frozenset(base(word) for name in names for word in split_name(name))


def tables_of(select: f.Select) -> frozenset[str]:
    """The tables that a SELECT's own columns, stars and sources name."""
    return own_tables(select) | {star.table for star in own(select, f.Star) if star.table}


def with_rows_of(select: f.Select, part: object) -> frozenset[str]:
    """The tables that a SELECT's own columns and sources name, and those of which a part shows or
    counts whole rows."""
    return own_tables(select) | {star.table for star in inside(part, f.Star) if star.table}


def table_names(form: f.Query) -> frozenset[str]:
    """The same of all its SELECTs."""
    return frozenset(table for select in inside(form, f.Select) for table in tables_of(select))


def joined(form: f.Query, schema: Schema) -> tuple[tuple[ColumnRef, ColumnRef], ...]:
    """The pairs of columns that a query joins its tables by; none where no keys join them."""
    try:
        facts = form_facts(form, schema)
    except UnsupportedQuery:
        return ()
    return tuple(pair for select in facts.selects for join in select.joins for pair in join.pairs)


def compared(form: f.Query) -> Iterator[tuple[f.Comparison, f.Column, str | float]]:
    """The comparisons of a column with a constant, wherever they stand."""
    for one in inside(form, f.Comparison):
        if isinstance(one.left, f.Column) and isinstance(one.right, f.Literal):
            yield one, one.left, one.right.value


def texts(form: object) -> list[str]:
    """The texts among a form's constants, without the formats of dates."""
    formats = {
        id(call.arguments[0])
        for call in inside(form, f.Function)
        if call.name == "strftime" and call.arguments
    }
    return [
        literal.value
        for literal in inside(form, f.Literal)
        if isinstance(literal.value, str) and id(literal) not in formats
    ]


def is_plain(form: f.Query) -> bool:
    """True of a SELECT of stored tables alone, whose conditions a rule can change."""
    return isinstance(form, f.Select) and not form.derived


def conjuncts(condition: f.Condition | None) -> tuple[f.Condition, ...]:
    """The conditions that all must hold for a condition to hold; none for None."""
    if condition is None:
        return ()
    return condition.operands if isinstance(condition, f.And) else (condition,)


def excludes(part: f.Condition) -> bool:
    """True if a condition excludes something."""
    if isinstance(part, f.IsNull):
        return not part.negated
    if isinstance(part, f.InQuery | f.InList | f.Like | f.Exists | f.Between):
        return part.negated
    return isinstance(part, f.Not) or (isinstance(part, f.Comparison) and part.operator == "!=")


def with_parts(form: f.Select, parts: Iterable[f.Condition]) -> f.Select:
    """The SELECT whose rows must fulfil these conditions and no others."""
    kept = tuple(parts)
    return replace(form, where=f.And(kept) if len(kept) > 1 else kept[0] if kept else None)


def with_condition(form: f.Query, condition: f.Condition) -> f.Query | None:
    """The query whose rows must fulfil a condition, too; None for those that no rule mends."""
    if not isinstance(form, f.Select) or form.derived:
        return None
    return with_parts(form, (*conjuncts(form.where), condition))
