"""Readings in words: what is asked back, and what each choice is called."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlwright.english.vocabulary import FUNCTION_WORDS, vocabulary
from sqlwright.english.words import Token, plural, singular, split_name, stem, tokens
from sqlwright.schema import ColumnRef, Schema
from sqlwright.sql.facts import AggregateCall, Comparison, Term
from sqlwright.steps.selection.readings.difference import Difference, Place, Statement
from sqlwright.types import Question, ValueMatch
from sqlwright.types.candidates import ReadingKind

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
        sides = [self._condition(one) for one in (difference.one, difference.other)]
        phrase = self._matched(difference)
        if not all(sides):
            sides = [f"only where {said}" if said else "all of them" for said in sides]
            return Worded(phrase, sides[0], sides[1])
        return Worded(phrase, sides[0], sides[1])

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
            for said in (difference.one, difference.other)
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
        sides = [self._shown(one) for one in (difference.one, difference.other)]
        return Worded("", sides[0], sides[1])

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
        said = difference.one or difference.other
        term = said.fact if said is not None and isinstance(said.fact, Term) else None
        key = "" if term is None else self.term(term).removeprefix("the ")
        if not key:
            return Worded("", "", "")
        sides = [f"one for each {key}" if one else "all together" for one in _there(difference)]
        return Worded("", sides[0], sides[1])

    def _first(self, difference: Difference) -> Worded:
        said = difference.one or difference.other
        limit = None if said is None else said.content[0]
        few = "only the first" if limit == 1 else f"only the first {limit}"
        sides = [few if one else "all of them" for one in _there(difference)]
        return Worded("", sides[0], sides[1])

    def _direction(self, difference: Difference) -> Worded:
        sides = []
        for said in (difference.one, difference.other):
            term = self._shown(said).removeprefix("the ")
            sides.append(f"the {'highest' if said and said.content[1] else 'lowest'} {term}")
        return Worded("", sides[0], sides[1])

    def _without(self, difference: Difference) -> Worded:
        """Rows that have no partner in a table: left out or not."""
        more = self._more_tables(difference)
        if not more:
            return Worded("", "", "")
        table = plural(singular(self.table(more)))
        both = difference.one is not None and difference.other is not None
        here = [
            said is None if not both else said is not None and more in dict(_tables(said))
            for said in (difference.one, difference.other)
        ]
        sides = [
            f"only those with {table}" if one else f"those without {table}, too" for one in here
        ]
        return Worded("", sides[0], sides[1])

    def _more_tables(self, difference: Difference) -> str:
        if difference.one is not None and difference.other is not None:
            ours, theirs = (dict(_tables(said)) for said in (difference.one, difference.other))
            return next(iter(sorted(ours.keys() ^ theirs.keys())), "")
        said = difference.one or difference.other
        pairs = said.content[0] if said is not None else frozenset()
        refs = [ref for pair in _sets(pairs) for ref in _refs(pair)]
        return refs[-1].table if refs else ""


def _there(difference: Difference) -> tuple[bool, bool]:
    return difference.one is not None, difference.other is not None


def _tables(said: Statement) -> Iterable[tuple[str, int]]:
    counted = said.content[0]
    return counted if isinstance(counted, frozenset) else ()


def _sets(pairs: object) -> Iterator[object]:
    if isinstance(pairs, frozenset):
        yield from pairs


def _refs(pair: object) -> Iterator[ColumnRef]:
    if isinstance(pair, frozenset):
        yield from sorted(ref for ref in pair if isinstance(ref, ColumnRef))
