"""A query told so that what is equal is equal however written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from sqlwright.lab.evaluation.error_classes.reading.conditions import Conditions, read_conditions
from sqlwright.lab.evaluation.error_classes.reading.subjects import SameColumns, Subject, Subjects
from sqlwright.schema import ColumnRef, Schema
from sqlwright.sql.calculations import Calculations, calculations
from sqlwright.sql.facts import QueryFacts

EXTREMES = frozenset({"min", "max"})


@dataclass(frozen=True)
class Said:
    """A query, read."""

    sql: str
    facts: QueryFacts
    schema: Schema
    same: SameColumns

    @cached_property
    def subjects(self) -> Subjects:
        return Subjects(self.facts, self.schema, self.same)

    @cached_property
    def asked(self) -> Conditions:
        return read_conditions(self.facts, self.schema, self.subjects)

    @cached_property
    def calculated(self) -> Calculations:
        return calculations(self.sql, self.schema.dialect)

    @cached_property
    def shown(self) -> tuple[Subject, ...]:
        """All that is shown; the first row by an order counts as its highest or lowest."""
        shown = tuple(self.subjects.shown())
        if len(shown) == 1 and (shown[0], True) in self.asked.extremes:
            return (_extreme(shown[0], "max"),)
        if len(shown) == 1 and (shown[0], False) in self.asked.extremes:
            return (_extreme(shown[0], "min"),)
        return shown

    @cached_property
    def extremes(self) -> dict[tuple[Subject, bool], str]:
        """Subjects that are to be the highest (True) or lowest, by a shown MAX or MIN, too."""
        found = dict(self.asked.extremes)
        compared = {subject.columns for subject, _ in found}
        for call in self.facts.aggregates:
            if call.function in EXTREMES and call.argument.columns:
                subject = self.subjects.of(call.argument)
                if subject.columns not in compared:
                    found[subject, call.function == "max"] = "aggregate"
        return found

    @cached_property
    def aggregates(self) -> dict[Subject, None]:
        """The aggregates, MAX and MIN apart; AVG counts as SUM divided by COUNT does."""
        calls = [call for call in self.facts.aggregates if call.function not in EXTREMES]
        return dict.fromkeys(self.subjects.aggregate(call) for call in calls)

    @cached_property
    def grouping(self) -> frozenset[ColumnRef]:
        """Columns that rows are grouped by, those left out that a key among them settles. Groups
        that only do away with doubled rows are none."""
        return self._settled(
            ref
            for one in self.facts.selects
            if one.aggregates or one.has_having or any(k.term.aggregates for k in one.order)
            for term in one.grouping
            for ref in term.columns
        )

    @cached_property
    def grouped(self) -> frozenset[ColumnRef]:
        """The same, those included that only do away with doubled rows."""
        return self._settled(self._grouped)

    def _settled(self, refs: Iterable[ColumnRef]) -> frozenset[ColumnRef]:
        found = set(refs)
        keys = {t.name: {ColumnRef(t.name, c) for c in t.primary_key} for t in self.schema.tables}
        settled = {name for name, key in keys.items() if key and key <= found}
        kept = {ref for ref in found if ref.table not in settled or ref in keys[ref.table]}
        return frozenset(self.same.roots(kept))

    @cached_property
    def read(self) -> frozenset[ColumnRef]:
        """Columns read for themselves, not only to join tables."""
        terms = (column for term in self.facts.terms() for column in term.columns)
        joined = {ref for pair in self.asked.pairs for ref in pair}
        own = {ref for one in self.facts.selects[:1] for term in one.shown for ref in term.columns}
        compared = {
            ref
            for one in self.facts.comparisons
            for term in (one.left, *one.right)
            if not (one.operator == "=" and one.left.column and one.right[0].column)
            and not (one.operator == "in" and one.right[0].queries)
            for ref in term.columns
        }
        return frozenset((set(terms) - joined) | own | compared | self._grouped)

    @property
    def _grouped(self) -> set[ColumnRef]:
        return {ref for one in self.facts.selects for term in one.grouping for ref in term.columns}


def _extreme(subject: Subject, function: str) -> Subject:
    return Subject(subject.columns, function, text=f"{function}({subject.text})")
