"""A query read so that what is equal is equal however it is written: what it shows, asks for,
joins, aggregates and groups by.

A column that refers to another one and the one referred to are the same; IN is as many equalities,
BETWEEN two bounds, NOT is resolved, a LIKE without a wildcard an equality, a year of a date the
same however its limits are named.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from sqlwright.schema import ColumnRef, Schema
from sqlwright.sql.calculations import Calculations, calculations
from sqlwright.sql.declared_types import affinity
from sqlwright.sql.facts import AggregateCall, Comparison, QueryFacts, Term

Pair = tuple[ColumnRef, ColumnRef]
EXTREMES = frozenset({"min", "max"})
_NEGATED = {
    "=": "!=", "!=": "=", "<": ">=", ">": "<=", "<=": ">", ">=": "<",
    "like": "not like", "null": "not null", "matches": "doesn't match",
}  # fmt: skip


class SameColumns:
    """Columns that hold the same by a key: a referring column stands for the one referred to.

    Where a table refers to another one twice (from, to) the two aren't the same, and neither are
    the ends of a key within one table.
    """

    def __init__(self, schema: Schema, joined: Iterable[Pair] = ()) -> None:
        pairs = dict.fromkeys([*schema.key_pairs, *(_from_child(pair, schema) for pair in joined)])
        doubled = Counter((near.table, far) for near, far in pairs)
        self._target = {
            near: far
            for near, far in pairs
            if near.table != far.table and doubled[near.table, far] == 1
        }

    def root(self, ref: ColumnRef) -> ColumnRef:
        """The column that stands for it."""
        seen = {ref}
        while (target := self._target.get(ref)) is not None and target not in seen:
            ref = target
            seen.add(ref)
        return ref

    def roots(self, refs: Iterable[ColumnRef]) -> tuple[ColumnRef, ...]:
        """The columns that stand for these, sorted, each once."""
        return tuple(sorted({self.root(ref) for ref in refs}))


def _from_child(pair: Pair, schema: Schema) -> Pair:
    """The pair with the column that refers first, where a key of one table says which it is."""
    tables = [schema.table(ref.table) for ref in pair]
    alone, both = (
        table is not None and table.primary_key == (ref.column,)
        for table, ref in zip(tables, pair, strict=True)
    )
    return pair[::-1] if alone and not both else pair


@dataclass(frozen=True, slots=True)
class Subject:
    """A column, an aggregate or another expression."""

    columns: tuple[ColumnRef, ...]
    """Those in it, sorted, each as the one it refers to."""
    function: str = ""
    """Empty for a column; an aggregate's name; `of` for any other expression, `of aggregates` if
    there are some in it."""
    distinct: bool = False
    part: str = ""
    """The part of a date that is taken."""
    text: str = field(default="", compare=False)
    """For a reader, by the names in the query."""

    def __str__(self) -> str:
        return self.text or "a value worked out in FROM"

    @property
    def is_unknown(self) -> bool:
        """True of a value that a query in FROM works out: nothing tells what it is."""
        return self.function == "of" and not self.columns and not self.part and not self.text

    @property
    def is_column(self) -> bool:
        return not self.function and not self.part and len(self.columns) == 1


Value = str | float | Subject | None


@dataclass(frozen=True, slots=True)
class Condition:
    """A subject compared with one value."""

    subject: Subject
    operator: str
    value: Value = None
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


def _plain(value: Value) -> str:
    if isinstance(value, float):
        return f"{value:.12g}"
    return f"'{value}'" if isinstance(value, str) else str(value)


class Reading:
    """A query, read."""

    def __init__(self, sql: str, facts: QueryFacts, schema: Schema, same: SameColumns) -> None:
        self.sql, self.facts, self.schema, self.same = sql, facts, schema, same
        self.within: set[Condition] = set()
        """Conditions that stand within an expression, as of CASE, and drop no row."""
        self.pairs = {pair for one in facts.selects for join in one.joins for pair in join.pairs}
        """Columns set equal, by JOIN, WHERE, IN or a query for each row."""
        self.apart: set[Pair] = set()
        """Columns that are not to find one another, by NOT IN."""
        self.excludes = any(one.operator == "except" for one in facts.operations)
        """True if rows are left out that another query, or an outer join, finds."""
        self._ends: dict[tuple[Subject, bool], str] = {}
        found: dict[Condition, None] = {}
        for comparison in facts.comparisons:
            for condition in self._taken(comparison):
                found[condition] = None
                if comparison.clause == "select":
                    self.within.add(condition)
        for keys in facts.extremes:
            if 1 in facts.limits and keys[0].term.constant is None:
                self._ends.setdefault((self.subject(keys[0].term), keys[0].descending), "order")
        kept = [one for one in found if not self._unmatched(one)]
        self.excludes |= len(kept) < len(found)
        self.conditions: dict[Condition, None] = dict.fromkeys(_with_years(kept))
        """All that it asks of its rows, conditions within expressions included."""

    def subject(self, term: Term) -> Subject:
        """A term; a query within it counts as what it shows."""
        if term.column is not None:
            return Subject((self.same.root(term.column),), text=str(term.column))
        if term.aggregate is not None:
            return self.aggregate(term.aggregate)
        if term.constant is not None:
            return Subject((), "of", text=repr(term.constant.value))
        if not term.columns and not term.aggregates and len(term.queries) == 1:
            shown = self._shown_by(term)
            if len(shown) == 1 and not shown[0].queries:
                return self.subject(shown[0])
        part = term.dates[0].part if term.dates else ""
        names = ", ".join(map(str, term.columns))
        aggregates = ", ".join(str(self.aggregate(call)) for call in term.aggregates)
        said = f"{part} of {names}" if part else ""
        if not (said and (names or not aggregates)) and (names or aggregates):
            said = f"a calculation with {names or aggregates}"
        function = "of aggregates" if term.aggregates else "of"
        return Subject(self.same.roots(term.columns), function, part=part, text=said)

    def aggregate(self, call: AggregateCall) -> Subject:
        """An aggregate. Rows are counted however that is said: COUNT(*), COUNT of a column without
        NULLs, COUNT or SUM of a CASE that gives 1."""
        if not call.distinct and call.function in {"count", "sum"} and self._counts_rows(call):
            return Subject((), "count", text="count(*)")
        columns = call.argument.columns
        if call.argument.column is None:
            columns = tuple(ref for ref in columns if ref not in self._compared_within) or columns
        names = ", ".join(map(str, columns))
        said = f"{call.function}({'distinct ' * call.distinct}{names or '*'})"
        return Subject(self.same.roots(columns), call.function, call.distinct, text=said)

    @cached_property
    def _compared_within(self) -> set[ColumnRef]:
        """Columns of conditions within expressions."""
        within = [one for one in self.facts.comparisons if one.clause == "select"]
        return {ref for one in within for term in (one.left, *one.right) for ref in term.columns}

    def _counts_rows(self, call: AggregateCall) -> bool:
        argument = call.argument
        if argument.column is not None:
            return call.function == "count" and self._always_there(argument.column)
        if argument.star:
            return call.function == "count"
        if call.function == "count" and any(map(self._always_there, argument.columns)):
            return True
        return any(one.value == 1 for one in argument.constants) and not argument.aggregates

    def _always_there(self, ref: ColumnRef) -> bool:
        """True of a column without NULLs, as far as it is declared."""
        column, table = self.schema.column(ref), self.schema.table(ref.table)
        keyed = table is not None and ref.column in table.primary_key
        return keyed or (column is not None and not column.nullable)

    @cached_property
    def calculated(self) -> Calculations:
        return calculations(self.sql, self.schema.dialect)

    @cached_property
    def date_parts(self) -> set[str]:
        """The parts of dates that are taken outside of conditions."""
        terms = [term for one in self.facts.selects for term in (*one.shown, *one.grouping)]
        terms += [key.term for keys in self.facts.orders for key in keys]
        return {date.part for term in terms for date in term.dates}

    @cached_property
    def shown(self) -> tuple[Subject, ...]:
        """All that is shown, `*` column by column; the first row by an order counts as its highest
        or lowest."""
        shown: list[Subject] = []
        for term in self.facts.first.shown:
            columns = term.columns if term.star else ()
            shown += [Subject((self.same.root(ref),), text=str(ref)) for ref in columns]
            shown += [] if term.star else [self.subject(term)]
        for highest, function in ((True, "max"), (False, "min")):
            if len(shown) == 1 and (shown[0], highest) in self._ends:
                text = f"{function}({shown[0].text})"
                return (Subject(shown[0].columns, function, text=text),)
        return tuple(shown)

    @cached_property
    def extremes(self) -> dict[tuple[Subject, bool], str]:
        """Subjects that are to be the highest (True) or lowest, and how that is said: `compared`
        with MAX or MIN, the first row by `order`, or by a shown `aggregate`."""
        found = dict(self._ends)
        compared = {subject.columns for subject, _ in found}
        for call in self.facts.aggregates:
            if call.function in EXTREMES and call.argument.columns:
                subject = self.subject(call.argument)
                if subject.columns not in compared:
                    found[subject, call.function == "max"] = "aggregate"
        return found

    @cached_property
    def aggregates(self) -> dict[Subject, None]:
        """The aggregates, MAX and MIN apart; AVG counts as SUM divided by COUNT does."""
        calls = [call for call in self.facts.aggregates if call.function not in EXTREMES]
        return dict.fromkeys(self.aggregate(call) for call in calls)

    @property
    def order(self) -> list[tuple[Subject, bool]]:
        """The keys of its order, True where it falls."""
        return [(self.subject(key.term), key.descending) for key in self.facts.order]

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

    @property
    def _grouped(self) -> set[ColumnRef]:
        return {ref for one in self.facts.selects for term in one.grouping for ref in term.columns}

    def _settled(self, refs: Iterable[ColumnRef]) -> frozenset[ColumnRef]:
        found = set(refs)
        keys = {t.name: {ColumnRef(t.name, c) for c in t.primary_key} for t in self.schema.tables}
        settled = {name for name, key in keys.items() if key and key <= found}
        kept = {ref for ref in found if ref.table not in settled or ref in keys[ref.table]}
        return frozenset(self.same.roots(kept))

    @cached_property
    def read(self) -> frozenset[ColumnRef]:
        """Columns read for themselves, not only to join tables."""
        terms = {ref for term in self.facts.terms() for ref in term.columns}
        joined = {ref for pair in self.pairs for ref in pair}
        own = {ref for one in self.facts.selects[:1] for term in one.shown for ref in term.columns}
        compared = {
            ref
            for one in self.facts.comparisons
            for term in (one.left, *one.right)
            if not (one.operator == "=" and one.left.column and one.right[0].column)
            and not (one.operator == "in" and one.right[0].queries)
            for ref in term.columns
        }
        return frozenset((terms - joined) | own | compared | self._grouped)

    @property
    def crosses(self) -> bool:
        """True if tables stand beside one another that nothing joins."""
        joined = {ref.table for pair in self.pairs for ref in pair}
        selects = self.facts.selects
        return any(len(one.tables) > 1 and not set(one.tables) & joined for one in selects)

    @property
    def keeps_lonely(self) -> bool:
        """True if an outer join keeps rows that no condition drops again."""
        asked = {ref.table for one in self.facts.selects for ref in one.where}
        return any(
            (far if far != one.tables[0] else near) not in asked
            for one in self.facts.selects
            for join in (one.joins if one.tables else ())
            if join.kind == "left"
            for near, far in [(pair[0].table, pair[1].table) for pair in join.pairs]
        )

    @property
    def either(self) -> bool:
        """True if conditions on different things are alternatives; on one column they are a
        list."""
        if any(one.operator in {"union", "union_all"} for one in self.facts.operations):
            return True
        alternatives = sum(one.alternatives for one in self.facts.selects)
        subjects = [one.subject for one in self.conditions if one.operator in {"=", "like"}]
        return alternatives > len(subjects) - len(set(subjects))

    @property
    def once(self) -> bool:
        """True if its rows are different anyway."""
        combined = any(one.operator != "union_all" for one in self.facts.operations)
        return combined or self.facts.first.distinct or bool(self.facts.first.grouping)

    def _taken(self, one: Comparison) -> Iterator[Condition]:
        """The conditions that a comparison is, if it isn't a join, an extreme or an exclusion."""
        right = one.right[0] if len(one.right) == 1 else None
        if one.operator == "exists":
            self.excludes |= one.negated
        elif one.operator == "in" and right is not None and right.queries:
            self.excludes |= one.negated
            shown = self._shown_by(right)
            if one.left.column is not None and len(shown) == 1 and shown[0].column is not None:
                (self.apart if one.negated else self.pairs).add((one.left.column, shown[0].column))
        elif not one.negated and right is not None and self._is_end(one, right):
            return
        elif one.operator == "=" and not one.negated and one.left.column and right and right.column:
            self.pairs.add((one.left.column, right.column))
        else:
            subject = self.subject(one.left)
            for operator, value in self._parts(one):
                each, held = self._settled_part(one.left.column, operator, value)
                written = f"{operator} {_plain(value)}" if each != operator else ""
                yield Condition(subject, each, held, written)

    def _shown_by(self, term: Term) -> Sequence[Term]:
        place = term.queries[0]
        return self.facts.selects[place].shown if place < len(self.facts.selects) else ()

    def _is_end(self, one: Comparison, right: Term) -> bool:
        """True if something is compared with the MAX or MIN that another query finds."""
        shown = self._shown_by(right) if right.queries else ()
        call = shown[0].aggregate if len(shown) == 1 else None
        if one.operator not in {"=", "<=", ">="} or call is None or call.function not in EXTREMES:
            return False
        self._ends[self.subject(one.left), call.function == "max"] = "compared"
        return True

    def _parts(self, one: Comparison) -> Iterator[tuple[str, Value]]:
        """Operators with one value each."""
        values = [self._constant(one.left.column, term) for term in one.right]
        if one.operator == "between":
            low, high = (">=", "<=") if not one.negated else ("<", ">")
            yield from ((low, values[0]), (high, values[-1]))
        elif one.operator == "in":
            yield from (("!=" if one.negated else "=", value) for value in values)
        elif one.operator == "true":
            yield ("=" if one.negated else "!=", 0.0)
        else:
            operator = _NEGATED.get(one.operator, one.operator) if one.negated else one.operator
            yield operator, values[0] if values else None

    def _constant(self, column: ColumnRef | None, term: Term) -> Value:
        """A constant as a column takes it: one of numbers takes '5' for 5."""
        if term.constant is None:
            return self.subject(term)
        value = term.constant.value
        numeric = column is not None and self._affinity(column) in {"integer", "real", "numeric"}
        try:
            return float(value) if numeric or not isinstance(value, str) else value
        except ValueError:
            return str(value)

    def _affinity(self, column: ColumnRef) -> str:
        return affinity(self.schema, column)

    def _settled_part(
        self, column: ColumnRef | None, operator: str, value: Value
    ) -> tuple[str, Value]:
        """Operator and value, those that mean the same alike."""
        if (
            operator in {"like", "not like"}
            and isinstance(value, str)
            and not {"%", "_"} & {*value}
        ):
            operator = "=" if operator == "like" else "!="
        if column is not None and isinstance(value, float) and self._affinity(column) == "integer":
            if value.is_integer() and operator in {"<", ">"}:
                return (">=", value + 1) if operator == ">" else ("<=", value - 1)
            if operator == "!=" and value == 0.0:
                return "=", 1.0  # of a column of yes and no
        return operator, value

    def _unmatched(self, one: Condition) -> bool:
        """True of a condition that keeps the rows for which an outer join finds nothing."""
        outer = {
            ref.table
            for select in self.facts.selects
            for join in select.joins
            for pair in join.pairs
            for ref in pair
            if join.kind == "left"
        }
        null = one.operator == "null" and one.subject.is_column
        return null and one.subject.text.rpartition(".")[0] in outer


def _with_years(held: Sequence[Condition]) -> Iterator[Condition]:
    """The conditions, those that keep one year of a date told as its year."""
    for one in held:
        year = _year_named(one)
        others = [other for other in held if other.subject == one.subject]
        for other in others if year is None else ():
            year = year or _year_between(one, other) or _year_between(other, one)
        subject = Subject(one.subject.columns, "of", part="%Y", text=one.subject.text)
        yield one if year is None else Condition(subject, "=", year)


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
