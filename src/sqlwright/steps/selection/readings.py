"""Readings of a question: the thing in which two queries differ, by their facts, and its words.

A query's facts are laid out as statements. Two queries whose statements differ in one place, or in
several by the same exchange of one column for another, differ in one thing; all others differ in
none that could be told in a sentence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from sqlwright.english.vocabulary import FUNCTION_WORDS, vocabulary
from sqlwright.english.words import Token, plural, singular, split_name, stem, tokens
from sqlwright.schema import ColumnRef, Schema
from sqlwright.sql.facts import AggregateCall, Comparison, QueryFacts, SelectFacts, Term
from sqlwright.types import Question, ValueMatch
from sqlwright.types.candidates import ReadingKind

Place = Literal[
    "shown", "grouping", "order", "whole order", "comparison", "distinct", "limit", "left join",
    "tables", "set",
]  # fmt: skip
Content = tuple[object, ...]
BOUNDS = frozenset({"<", "<=", ">", ">="})
OPPOSITES = ({"=", "!="}, {False, True})
"""Each turns a condition into its opposite, which is no other reading."""
WRITTEN = frozenset({"where", "having"})
"""Clauses whose conditions are told; those of ON follow from the tables."""


@dataclass(frozen=True)
class Statement:
    """One thing that a query says: where it says it, and what."""

    place: Place
    select: int
    """Place among the SELECTs."""
    content: Content
    fact: Term | Comparison | None = None
    """The fact that it was laid out from, where there is one."""

    @property
    def tables(self) -> dict[str, int]:
        """The number of times that it has each table, where it lists tables."""
        counted = self.content[0]
        return dict(counted) if isinstance(counted, frozenset) else {}


@dataclass(frozen=True)
class Difference:
    """The thing in which two queries differ, as each of them has it; None for neither having it."""

    kind: ReadingKind
    one: Statement | None
    other: Statement | None
    columns: tuple[ColumnRef, ColumnRef] | None = None
    """The columns exchanged, where that is all."""

    @property
    def sides(self) -> tuple[Statement | None, Statement | None]:
        """The statement of each query."""
        return self.one, self.other

    @property
    def said(self) -> Statement:
        """Its statement; the first of two."""
        said = self.one or self.other
        assert said is not None
        return said

    @property
    def asks(self) -> tuple[object, ...]:
        """All that has to be the same for a third reading to be a choice beside these two."""
        if self.columns is not None:
            return (self.kind, self.columns[0])
        return (self.kind, (self.said.place, self.said.select, self.one))


def difference(one: QueryFacts, other: QueryFacts) -> Difference | None:
    """The one thing in which two queries differ; None if they differ in several or in none."""
    if len(one.selects) != len(other.selects) or one.operations != other.operations:
        return None
    ours, theirs = list(_statements(one)), list(_statements(other))
    left, right = _without(ours, theirs), _without(theirs, ours)
    told = [statement for statement in (*left, *right) if statement.place != "tables"]
    if not told:
        return _by_tables(left, right)
    left = [statement for statement in left if statement.place != "tables"]
    right = [statement for statement in right if statement.place != "tables"]
    if len(left) == len(right):
        return _exchanged(left, right) or (_changed(left[0], right[0]) if len(left) == 1 else None)
    added = _added(left, right)
    if added is not None and added.kind == "each" and not _works_out(added, one, other):
        return None
    return added


def _works_out(each: Difference, one: QueryFacts, other: QueryFacts) -> bool:
    """True if the query without groups works something out of all rows together."""
    ungrouped = other if each.one is not None else one
    return bool(ungrouped.selects[each.said.select].aggregates)


def _statements(facts: QueryFacts) -> Iterator[Statement]:
    for place, select in enumerate(facts.selects):
        yield from _of_select(place, select)
    for comparison in facts.comparisons:
        if comparison.clause in WRITTEN:
            yield Statement("comparison", comparison.select, _comparison(comparison), comparison)
    if facts.combines:
        for key in facts.order:
            yield Statement("whole order", 0, (_term(key.term), key.descending), key.term)
        if facts.limit is not None:
            yield Statement("limit", -1, (facts.limit,))


def _of_select(place: int, select: SelectFacts) -> Iterator[Statement]:
    for term in select.shown:
        yield Statement("shown", place, _term(term), term)
    for term in select.grouping:
        yield Statement("grouping", place, _term(term), term)
    for key in select.order:
        yield Statement("order", place, (_term(key.term), key.descending), key.term)
    if select.distinct:
        yield Statement("distinct", place, ())
    if select.limit is not None or select.offset is not None:
        yield Statement("limit", place, (select.limit, select.offset))
    for join in select.joins:
        if join.kind == "left":
            yield Statement("left join", place, (frozenset(map(frozenset, join.pairs)),))
    yield Statement("tables", place, (frozenset(Counter(select.tables).items()), select.derived))


def _term(term: Term) -> Content:
    if term.column is not None:
        return ("column", term.column)
    if term.constant is not None:
        return ("constant", term.constant.value)
    if term.star:
        return ("star",)
    if term.aggregate is not None:
        return ("aggregate", *_aggregate(term.aggregate))
    aggregates = tuple(_aggregate(call) for call in term.aggregates)
    constants = tuple(one.value for one in term.constants)
    dates = tuple((one.part, one.columns) for one in term.dates)
    return ("expression", term.columns, aggregates, constants, dates, term.queries)


def _aggregate(call: AggregateCall) -> Content:
    return (call.function, call.distinct, _term(call.argument))


def _comparison(one: Comparison) -> Content:
    right = tuple(_term(term) for term in one.right)
    return (one.clause, one.operator, one.negated, _term(one.left), right)


def _without(one: Sequence[Statement], other: Sequence[Statement]) -> list[Statement]:
    """The statements of a query that the other doesn't make."""
    known = Counter((s.place, s.select, s.content) for s in other)
    left = []
    for statement in one:
        key = (statement.place, statement.select, statement.content)
        if known[key]:
            known[key] -= 1
        else:
            left.append(statement)
    return left


def _leaves(one: object, other: object) -> list[tuple[object, object]]:
    """The pairs in which two contents of the same shape differ."""
    if one == other and type(one) is type(other):
        return []
    plain = isinstance(one, ColumnRef) or isinstance(other, ColumnRef)
    if plain or not isinstance(one, tuple) or not isinstance(other, tuple):
        return [(one, other)]
    if len(one) != len(other):
        return [(one, other)]
    return [leaf for a, b in zip(one, other, strict=True) for leaf in _leaves(a, b)]


def _exchanged(left: Sequence[Statement], right: Sequence[Statement]) -> Difference | None:
    """One column in place of another, wherever it stands."""
    pairs = set()
    for one, other in zip(left, right, strict=True):
        if (one.place, one.select) != (other.place, other.select):
            return None
        pairs.update(_leaves(one.content, other.content))
    if len(pairs) != 1:
        return None
    ours, theirs = pairs.pop()
    if not (isinstance(ours, ColumnRef) and isinstance(theirs, ColumnRef)):
        return None
    return Difference("column", left[0], right[0], (ours, theirs))


def _changed(one: Statement, other: Statement) -> Difference | None:
    """One statement in place of another."""
    if (one.place, one.select) != (other.place, other.select):
        return None
    leaves = _leaves(one.content, other.content)
    if one.place == "comparison":
        if len(leaves) == 1 and set(leaves[0]) in OPPOSITES:
            return None
        return Difference(_kind_of_comparison(one, leaves), one, other)
    if one.place in {"order", "whole order"} and leaves == [(one.content[1], other.content[1])]:
        return Difference("direction", one, other)
    if one.place == "shown" and isinstance(one.fact, Term) and isinstance(other.fact, Term):
        if leaves in ([(False, True)], [(True, False)]):
            return Difference("repeats", one, other)
        if one.fact.aggregate or other.fact.aggregate:
            return Difference("operation", one, other)
    return None


def _kind_of_comparison(
    one: Statement, leaves: Sequence[tuple[object, object]]
) -> Literal["value", "bound", "condition"]:
    operator = one.content[1]
    if len(leaves) == 1:
        ours, theirs = leaves[0]
        if ours in BOUNDS and theirs in BOUNDS:
            return "bound"
        if isinstance(ours, str) and isinstance(theirs, str) and ours != operator:
            return "value"
    return "condition"


def _added(left: Sequence[Statement], right: Sequence[Statement]) -> Difference | None:
    """A statement that one of the queries makes and the other doesn't; DISTINCT aside, for a list
    tells the same with repeats and without."""
    more, fewer = (left, right) if len(left) > len(right) else (right, left)
    if fewer or not more:
        return None
    kinds: dict[Place, ReadingKind] = {
        "comparison": "condition", "left join": "without", "limit": "first",
    }  # fmt: skip
    said = more[0]
    places = {statement.place for statement in more}
    if len(more) == 1 and said.place in kinds:
        kind = kinds[said.place]
    elif places <= {"order", "limit", "whole order"} and "limit" in places:
        kind = "first"
        said = next(statement for statement in more if statement.place == "limit")
    elif places <= {"grouping", "shown"} and "grouping" in places:
        kind = "each"
        said = next(statement for statement in more if statement.place == "grouping")
    else:
        return None
    return Difference(kind, said, None) if more is left else Difference(kind, None, said)


def _by_tables(left: Sequence[Statement], right: Sequence[Statement]) -> Difference | None:
    """A table that one of the queries joins only to leave rows out."""
    if len(left) != 1 or len(right) != 1:
        return None
    small, large = sorted(
        (left[0].tables, right[0].tables), key=lambda counts: sum(counts.values())
    )
    fits = all(large.get(name, 0) >= count for name, count in small.items())
    if not fits or sum(large.values()) != sum(small.values()) + 1:
        return None
    return Difference("without", left[0], right[0])


OPERATORS: Mapping[str, tuple[str, str]] = {
    "=": ("is", "isn't"), "!=": ("isn't", "is"),
    "<": ("is less than", "is at least"), "<=": ("is at most", "is more than"),
    ">": ("is more than", "is at most"), ">=": ("is at least", "is less than"),
    "like": ("is like", "isn't like"), "matches": ("matches", "doesn't match"),
    "in": ("is one of", "is none of"), "between": ("is between", "isn't between"),
    "null": ("is missing", "isn't missing"), "true": ("holds", "doesn't hold"),
    "exists": ("there is one", "there is none"),
}  # fmt: skip
FUNCTIONS: Mapping[str, str] = {
    "sum": "total", "total": "total", "avg": "average", "min": "smallest", "max": "largest",
}  # fmt: skip

BEFORE: Mapping[Place, str] = {
    "grouping": "one for each ",
    "order": "in the order of the ",
    "whole order": "in the order of the ",
}
"""Words before a column that another one takes the place of, where it isn't shown."""
LOOSE = vocabulary("as at by for from in of off on out since till to until up with")
"""Words that end the names of columns which take no article: ordered on, created by."""


@dataclass(frozen=True)
class Worded:
    """A difference in words."""

    phrase: str
    one: str
    other: str

    @property
    def told(self) -> bool:
        """True if there are words for both sides, and different ones."""
        return bool(self.one and self.other) and self.one != self.other


def question_text(kind: ReadingKind, phrase: str, choices: Sequence[str]) -> str:
    """The question that is asked back."""
    meant = f"{', '.join(choices[:-1])} or {choices[-1]}"
    if phrase:
        return f"By “{phrase}”, do you mean {meant}?"
    if kind == "column" and all(choice.startswith("the ") for choice in choices):
        shared = set.intersection(*({*choice.split()} - {"the"} for choice in choices))
        last = choices[0].split()[-1]
        which = f"Which {last} do you mean" if last in shared else "Do you mean"
        return f"{which}: {meant}?" if last in shared else f"{which} {meant}?"
    return f"Do you mean {meant}?"


@dataclass(frozen=True)
class Wording:
    """Puts the differences of readings of one question in words."""

    question: Question
    schema: Schema
    values: Sequence[ValueMatch]

    def worded(self, difference: Difference) -> Worded:
        """The difference in words; without words for a side where there are none."""
        if difference.columns is not None:
            ours, theirs = difference.columns
            one, other = self._columns(ours, theirs)
            phrase = self._called(ours, theirs)
            place = difference.one.place if difference.one is not None else "shown"
            if place == "comparison":
                phrase = phrase or self._matched(difference)
            before = BEFORE.get(place, "") if not phrase else ""
            names = [name.removeprefix("the ") if before else name for name in (one, other)]
            return Worded(phrase, *(f"{before}{name}" for name in names))
        say = {
            "value": self._comparisons, "condition": self._comparisons, "bound": self._comparisons,
            "operation": self._operations, "repeats": self._operations, "each": self._each,
            "without": self._without, "direction": self._direction, "first": self._first,
        }  # fmt: skip
        return say[difference.kind](difference)

    def _columns(self, one: ColumnRef, other: ColumnRef) -> tuple[str, str]:
        """Names of two columns that tell them apart."""
        names = (self.column(one), self.column(other))
        if names[0] != names[1] and one.table == other.table:
            return names
        owned = (self._owned(one), self._owned(other))
        return owned if owned[0] != owned[1] else (str(one), str(other))

    def column(self, ref: ColumnRef) -> str:
        """The name that people have for a column, else its own as words, with an article but for
        those like “ordered on”."""
        name = self._name(ref)
        return name if name.split()[-1] in LOOSE else f"the {name}"

    def _name(self, ref: ColumnRef) -> str:
        column = self.schema.column(ref)
        words = (column.label if column else "") or " ".join(split_name(ref.column))
        return words.strip() or ref.column

    def table(self, name: str) -> str:
        """The name that people have for a table, else its own as words."""
        table = self.schema.table(name)
        return (
            (table.label if table else "") or " ".join(split_name(self.schema.spoken(name))) or name
        )

    def _owned(self, ref: ColumnRef) -> str:
        column = self._name(ref)
        *before, last = self.table(ref.table).split()
        table = " ".join([*before, singular(last)])
        if column.casefold().startswith(table.casefold()):
            return f"the {column}"
        return f"the {table}'s {column}"

    def _called(self, *refs: ColumnRef) -> str:
        """The words of the question that name all of the columns; empty where none do."""
        stems = set.intersection(*(set(map(stem, self._name(ref).split())) for ref in refs))
        stems -= {stem(word) for ref in refs for word in split_name(self.schema.spoken(ref.table))}
        found = tokens(self.question.text)
        called = [t for t in found if stem(t.text) in stems and t.text not in FUNCTION_WORDS]
        return self._run(called) if called else ""

    def _run(self, called: Sequence[Token]) -> str:
        """The first words of those called that stand side by side, as they are written."""
        end = called[0].end
        for token in called[1:]:
            if self.question.text[end : token.start].strip():
                break
            end = token.end
        return self.question.text[called[0].start : end]

    def _comparisons(self, difference: Difference) -> Worded:
        sides = [self._condition(one) for one in difference.sides]
        if not all(sides):
            sides = [f"only where {said}" if said else "all of them" for said in sides]
        return Worded(self._matched(difference), *sides)

    def _condition(self, said: Statement | None) -> str:
        fact = None if said is None else said.fact
        if not isinstance(fact, Comparison):
            return ""
        subject = self.term(fact.left)
        operands = [self.term(one) for one in fact.right]
        if not subject or not all(operands):
            return ""
        operator = OPERATORS[fact.operator][fact.negated]
        joined = (" and " if fact.operator == "between" else ", ").join(operands)
        return f"{subject} {operator} {joined}".rstrip()

    def _matched(self, difference: Difference) -> str:
        """The phrase of the question that stands for a constant of either side."""
        constants = {
            one.text.strip("%").casefold()
            for said in difference.sides
            if said is not None and isinstance(said.fact, Comparison)
            for term in said.fact.right
            for one in term.constants
        }
        spoken = [m for m in self.values if m.span and m.value.casefold() in constants]
        best = max(spoken, key=lambda match: match.score, default=None)
        if best is not None:
            return best.phrase
        text = self.question.text.casefold()
        return next((one for one in sorted(constants) if len(one) > 2 and one in text), "")

    def _operations(self, difference: Difference) -> Worded:
        return Worded("", *map(self._shown, difference.sides))

    def _shown(self, said: Statement | None) -> str:
        return self.term(said.fact) if said is not None and isinstance(said.fact, Term) else ""

    def term(self, term: Term) -> str:
        """An expression in words; empty where there are none for it."""
        if term.column is not None:
            return self.column(term.column)
        if term.constant is not None:
            return f"‘{term.constant.text}’" if term.constant.is_text else term.constant.text
        if term.aggregate is not None:
            return self._aggregate(term.aggregate)
        if len(term.columns) == 1 and not term.queries and len(term.dates) == 1:
            return f"the date of {self.column(term.columns[0])}"
        return ""

    def _aggregate(self, call: AggregateCall) -> str:
        of = self.term(call.argument).removeprefix("the ")
        if call.function == "count":
            if call.argument.star:
                return "the number of rows"
            repeats = "different " if call.distinct else ""
            return f"the number of {repeats}{plural(of)}" if of else ""
        name = FUNCTIONS.get(call.function)
        name = "sum of" if name == "total" and of.startswith("total ") else name
        return f"the {name} {of}" if name and of else ""

    def _each(self, difference: Difference) -> Worded:
        key = self._shown(difference.said).removeprefix("the ")
        if not key:
            return Worded("", "", "")
        sides = [f"one for each {key}" if one else "all together" for one in difference.sides]
        return Worded("", *sides)

    def _first(self, difference: Difference) -> Worded:
        limit = difference.said.content[0]
        few = "only the first" if limit == 1 else f"only the first {limit}"
        return Worded("", *(few if one else "all of them" for one in difference.sides))

    def _direction(self, difference: Difference) -> Worded:
        sides = []
        for said in difference.sides:
            term = self._shown(said).removeprefix("the ")
            sides.append(f"the {'highest' if said and said.content[1] else 'lowest'} {term}")
        return Worded("", *sides)

    def _without(self, difference: Difference) -> Worded:
        """Rows that have no partner in a table: left out or not."""
        more = self._more_tables(difference)
        if not more:
            return Worded("", "", "")
        table = plural(singular(self.table(more)))
        both = difference.one is not None and difference.other is not None
        here = [
            said is None if not both else said is not None and more in said.tables
            for said in difference.sides
        ]
        sides = [
            f"only those with {table}" if one else f"those without {table}, too" for one in here
        ]
        return Worded("", *sides)

    def _more_tables(self, difference: Difference) -> str:
        if difference.one is not None and difference.other is not None:
            differ = difference.one.tables.keys() ^ difference.other.tables.keys()
            return min(differ, default="")
        pairs = difference.said.content[0]
        refs = [
            sorted(ref for ref in pair if isinstance(ref, ColumnRef))
            for pair in (pairs if isinstance(pairs, frozenset) else ())
            if isinstance(pair, frozenset)
        ]
        return refs[-1][-1].table if refs and refs[-1] else ""
