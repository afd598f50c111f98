"""Things that a query shows, compares or counts; equal things are equal however they are written.

A column that refers to another one and the one referred to are the same; `SameColumns` knows which.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from sqlwright.schema import ColumnRef, Schema
from sqlwright.sql.facts import AggregateCall, QueryFacts, Term

Pair = tuple[ColumnRef, ColumnRef]


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
    near, far = pair
    table = schema.table(near.table)
    alone = table is not None and table.primary_key == (near.column,)
    other = schema.table(far.table)
    both = other is not None and other.primary_key == (far.column,)
    return (far, near) if alone and not both else (near, far)


class Subjects:
    """Tells the terms of one query as subjects."""

    def __init__(self, facts: QueryFacts, schema: Schema, same: SameColumns) -> None:
        self._facts, self._schema, self._same = facts, schema, same
        self._conditional = {
            ref
            for one in facts.comparisons
            if one.clause == "select"
            for term in (one.left, *one.right)
            for ref in term.columns
        }
        """Columns of conditions within expressions."""

    def of(self, term: Term) -> Subject:
        """A term; a query within it counts as what it shows."""
        if term.column is not None:
            return Subject((self._same.root(term.column),), text=str(term.column))
        if term.aggregate is not None:
            return self.aggregate(term.aggregate)
        if term.constant is not None:
            return Subject((), "of", text=repr(term.constant.value))
        if not term.columns and not term.aggregates and len(term.queries) == 1:
            place = term.queries[0]
            shown = self._facts.selects[place].shown if place < len(self._facts.selects) else ()
            if len(shown) == 1 and not shown[0].queries:
                return self.of(shown[0])
        part = term.dates[0].part if term.dates else ""
        names = ", ".join(map(str, term.columns))
        said = f"{part} of {names}" if part else f"a calculation with {names}" if names else ""
        if not names and term.aggregates:
            said = "a calculation with " + ", ".join(
                str(self.aggregate(c)) for c in term.aggregates
            )
        function = "of aggregates" if term.aggregates else "of"
        return Subject(self._same.roots(term.columns), function, part=part, text=said)

    def shown(self) -> Iterator[Subject]:
        """All that the query shows, `*` column by column."""
        for term in self._facts.first.shown:
            if term.star:
                yield from (Subject((self._same.root(c),), text=str(c)) for c in term.columns)
            else:
                yield self.of(term)

    def aggregate(self, call: AggregateCall) -> Subject:
        """An aggregate. Rows are counted however that is said: COUNT(*), COUNT of a column without
        NULLs, COUNT or SUM of a CASE that gives 1."""
        if not call.distinct and call.function in {"count", "sum"} and self._counts_rows(call):
            return Subject((), "count", text="count(*)")
        columns = call.argument.columns
        if call.argument.column is None:
            columns = tuple(ref for ref in columns if ref not in self._conditional) or columns
        names = ", ".join(map(str, columns))
        said = f"{call.function}({'distinct ' * call.distinct}{names or '*'})"
        roots = self._same.roots(columns)
        return Subject(roots, call.function, call.distinct, text=said)

    def _counts_rows(self, call: AggregateCall) -> bool:
        argument = call.argument
        if argument.column is not None:
            if call.function == "sum":
                return False
            return self._always_there(argument.column)
        if argument.star:
            return call.function == "count"
        if call.function == "count" and any(map(self._always_there, argument.columns)):
            return True
        return any(one.value == 1 for one in argument.constants) and not argument.aggregates

    def _always_there(self, ref: ColumnRef) -> bool:
        """True of a column without NULLs, as far as it is declared."""
        column, table = self._schema.column(ref), self._schema.table(ref.table)
        keyed = table is not None and ref.column in table.primary_key
        return keyed or (column is not None and not column.nullable)
