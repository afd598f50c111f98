"""A query's conditions, told so that equal ones are equal however written.

IN is as many equalities, BETWEEN two bounds, NOT is resolved, a LIKE without a wildcard an
equality, a year of a date the same however its limits are named.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from sqlwright.lab.evaluation.error_classes.reading.subjects import Pair, Subject, Subjects
from sqlwright.schema import ColumnRef, Schema
from sqlwright.sql.declared_types import affinity
from sqlwright.sql.facts import Comparison, QueryFacts, Term

Value = str | float
_NEGATED = {
    "=": "!=", "!=": "=", "<": ">=", ">": "<=", "<=": ">", ">=": "<",
    "like": "not like", "null": "not null", "matches": "doesn't match",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Condition:
    """A subject compared with one value."""

    subject: Subject
    operator: str
    value: Value | Subject | None = None
    written: str = field(default="", compare=False)
    """Operator and value as they stand in the query, where they are told otherwise here."""

    def __str__(self) -> str:
        if self.value is None:
            return f"{self.subject} is {self.operator}"
        return f"{self.subject} {self.written or f'{self.operator} {self.said}'}"

    @property
    def said(self) -> str:
        """The value for a reader."""
        return _plain(self.value)


def _plain(value: Value | Subject | None) -> str:
    if isinstance(value, float):
        return f"{value:.12g}"
    return f"'{value}'" if isinstance(value, str) else str(value)


@dataclass
class Conditions:
    """All that a query asks of its rows."""

    conditions: dict[Condition, None] = field(default_factory=dict)
    within: set[Condition] = field(default_factory=set)
    """Those of them that stand within an expression, as of CASE, and drop no row."""
    pairs: set[Pair] = field(default_factory=set)
    """Columns set equal, by JOIN, WHERE, IN or a query for each row."""
    apart: set[Pair] = field(default_factory=set)
    """Columns that are not to find one another, by NOT IN."""
    extremes: dict[tuple[Subject, bool], str] = field(default_factory=dict)
    """Subjects that are to be the highest (True) or lowest, and how that is said: `compared` with
    MAX or MIN, or the first row by `order`."""
    excludes: bool = False
    """True if rows are left out that another query, or an outer join, finds."""


def read_conditions(facts: QueryFacts, schema: Schema, subjects: Subjects) -> Conditions:
    """The conditions of a query, those within expressions included."""
    reader = _Reader(facts, schema, subjects)
    for join in (join for one in facts.selects for join in one.joins):
        reader.found.pairs.update(join.pairs)
    for comparison in facts.comparisons:
        reader.read(comparison)
    for keys in facts.extremes:
        if 1 in facts.limits and keys[0].term.constant is None:
            subject = subjects.of(keys[0].term)
            reader.found.extremes.setdefault((subject, keys[0].descending), "order")
    reader.found.excludes |= any(one.operator == "except" for one in facts.operations)
    for one in _unmatched(facts, reader.found.conditions):
        del reader.found.conditions[one]
        reader.found.excludes = True
    reader.found.conditions = dict.fromkeys(_with_years(reader.found.conditions))
    return reader.found


class _Reader:
    def __init__(self, facts: QueryFacts, schema: Schema, subjects: Subjects) -> None:
        self._facts, self._schema, self._subjects = facts, schema, subjects
        self.found = Conditions()

    def read(self, one: Comparison) -> None:
        """Take in one comparison."""
        if one.operator == "exists":
            self.found.excludes |= one.negated
            return
        if one.operator == "in" and len(one.right) == 1 and one.right[0].queries:
            self.found.excludes |= one.negated
            self._linked(one.left, self._shown_by(one.right[0]), negated=one.negated)
            return
        if not one.negated and self._is_extreme(one):
            return
        right = one.right[0].column if len(one.right) == 1 else None
        if one.operator == "=" and not one.negated and one.left.column is not None and right:
            self.found.pairs.add((one.left.column, right))
            return
        subject = self._subjects.of(one.left)
        for operator, value in self._parts(one):
            for each, held in self._settled(one.left.column, operator, value):
                written = f"{operator} {_plain(value)}" if each != operator else ""
                condition = Condition(subject, each, held, written)
                self.found.conditions[condition] = None
                if one.clause == "select":
                    self.found.within.add(condition)

    def _linked(self, left: Term, shown: Sequence[Term], *, negated: bool) -> None:
        if left.column is not None and len(shown) == 1 and shown[0].column is not None:
            into = self.found.apart if negated else self.found.pairs
            into.add((left.column, shown[0].column))

    def _shown_by(self, term: Term) -> tuple[Term, ...]:
        place = term.queries[0]
        return self._facts.selects[place].shown if place < len(self._facts.selects) else ()

    def _is_extreme(self, one: Comparison) -> bool:
        """True if something is compared with the MAX or MIN that another query finds."""
        if one.operator not in {"=", "<=", ">="} or len(one.right) != 1 or not one.right[0].queries:
            return False
        shown = self._shown_by(one.right[0])
        call = shown[0].aggregate if len(shown) == 1 else None
        if call is None or call.function not in {"min", "max"}:
            return False
        self.found.extremes[self._subjects.of(one.left), call.function == "max"] = "compared"
        return True

    def _parts(self, one: Comparison) -> Iterator[tuple[str, Value | Subject | None]]:
        """Operators with one value each."""
        values = [self._value(one.left.column, term) for term in one.right]
        if one.operator == "between":
            low, high = (">=", "<=") if not one.negated else ("<", ">")
            yield from ((low, values[0]), (high, values[-1]))
        elif one.operator == "in":
            yield from (("!=" if one.negated else "=", value) for value in values)
        elif one.operator == "true":
            yield ("=" if one.negated else "!=", 0.0)
        elif one.operator == "null":
            yield ("not null" if one.negated else "null", None)
        else:
            operator = _NEGATED.get(one.operator, one.operator) if one.negated else one.operator
            yield operator, values[0] if values else None

    def _value(self, column: ColumnRef | None, term: Term) -> Value | Subject:
        """A constant as a column takes it: one of numbers takes '5' for 5."""
        if term.constant is None:
            return self._subjects.of(term)
        value = term.constant.value
        if not isinstance(value, str):
            return float(value)
        if column is not None and self._numeric(column):
            try:
                return float(value)
            except ValueError:
                return value
        return value

    def _numeric(self, column: ColumnRef) -> bool:
        return affinity(self._schema, column) in {"integer", "real", "numeric"}

    def _settled(
        self, column: ColumnRef | None, operator: str, value: Value | Subject | None
    ) -> Iterator[tuple[str, Value | Subject | None]]:
        pattern = isinstance(value, str) and bool({"%", "_"} & set(value))
        if operator in {"like", "not like"} and isinstance(value, str) and not pattern:
            operator = "=" if operator == "like" else "!="
        whole = column is not None and affinity(self._schema, column) == "integer"
        if whole and isinstance(value, float) and value.is_integer() and operator in {"<", ">"}:
            yield (">=", value + 1) if operator == ">" else ("<=", value - 1)
            return
        if operator == "!=" and value == 0.0 and whole:
            yield "=", 1.0  # of a column of yes and no
            return
        yield operator, value


def _unmatched(facts: QueryFacts, conditions: Iterable[Condition]) -> list[Condition]:
    """Conditions that keep the rows for which an outer join finds nothing."""
    outer = {
        ref.table
        for one in facts.selects
        for join in one.joins
        for pair in join.pairs
        for ref in pair
        if join.kind == "left"
    }
    nulls = [one for one in conditions if one.operator == "null" and one.subject.is_column]
    return [one for one in nulls if one.subject.text.rpartition(".")[0] in outer]


def _with_years(conditions: Iterable[Condition]) -> Iterator[Condition]:
    """The conditions, those that keep one year of a date told as its year."""
    held = list(conditions)
    for one in held:
        year = _year_named(one)
        others = [other for other in held if other.subject == one.subject]
        for other in others if year is None else ():
            year = year or _year_between(one, other) or _year_between(other, one)
        yield one if year is None else _in_year(one, year)


def _in_year(one: Condition, year: str) -> Condition:
    subject = Subject(one.subject.columns, "of", part="%Y", text=one.subject.text)
    return Condition(subject, "=", year)


def _year_named(one: Condition) -> str | None:
    """The year that a pattern or a part of a date keeps."""
    value = one.value
    if not isinstance(value, str) or one.operator not in {"like", "="}:
        return None
    if one.operator == "=":
        return value if one.subject.part == "%Y" else None
    year = value.rstrip("-%")
    pattern = one.subject.is_column and value.endswith("%") and year.isdigit() and len(year) == 4
    return year if pattern else None


def _year_between(low: Condition, high: Condition) -> str | None:
    """The year that two bounds keep, from its first to its last day."""
    if not (low.subject.is_column and isinstance(low.value, str) and isinstance(high.value, str)):
        return None
    year = low.value[:4]
    if low.operator != ">=" or not year.isdigit() or not low.value.startswith(f"{year}-01-01"):
        return None
    last = high.operator == "<=" and high.value.startswith(f"{year}-12-31")
    first = high.operator == "<" and high.value.startswith(f"{int(year) + 1}-01-01")
    return year if last or first else None
