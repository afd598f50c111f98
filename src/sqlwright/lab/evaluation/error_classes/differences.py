"""Differences between two queries: tables, joins, columns shown, conditions, aggregates,
calculations, groups, order and limit, and what the evidence names and one of them lacks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from sqlwright.english.words import split_name
from sqlwright.lab.evaluation.error_classes.origins import ErrorClass, Finding
from sqlwright.lab.evaluation.error_classes.reading import Condition, Pair, Reading, Subject
from sqlwright.schema import ColumnRef

T = TypeVar("T")
End = tuple[Subject, bool]
"""A subject that is to be the highest (True) or lowest."""


def _one_sided(error: ErrorClass, told: str, gold: bool, weak: bool = False) -> Finding:
    """A thing that gold (or else the query) does and the other one doesn't."""
    first, second = ("gold", "the query") if gold else ("the query", "gold")
    return Finding(error, f"{first} {told}, {second} doesn't", weak)


def _exclusive(gold: Iterable[T], query: Iterable[T]) -> tuple[list[T], list[T]]:
    """Things that one has and the other lacks."""
    ours, theirs = list(gold), list(query)
    return [one for one in ours if one not in theirs], [one for one in theirs if one not in ours]


def tables_differ(gold: Reading, query: Reading) -> Iterator[Finding]:
    """Tables that one query reads and the other doesn't, and joins that differ.

    A table that is joined by its own key and of which nothing else is read changes nothing, and a
    table that only leads from one to another is part of the join.
    """
    missing, extra = _exclusive(gold.facts.tables, query.facts.tables)
    kinds = {name: _use(name, gold, query) for name in missing}
    kinds |= {name: _use(name, query, gold) for name in extra}
    instead = next((f" (it reads {name})" for name in extra if kinds[name] == "table"), "")
    for name in (*missing, *extra):
        ours = name in missing
        if kinds[name] == "join":
            yield _one_sided("join", f"joins {name}", ours)
        elif kinds[name] == "table":
            found = _one_sided("table", f"reads {name}", ours)
            yield Finding("table", found.evidence + instead) if ours else found
    yield from _joins_differ(gold, query)


def _use(name: str, own: Reading, other: Reading) -> str:
    """The use that a query makes of a table that only it reads: `table`, `join` or, if it changes
    nothing, empty."""
    read = {ref for ref in own.read if ref.table == name}
    elsewhere = {own.same.root(ref) for ref in other.facts.columns}
    joined = {ref.column for pair in own.pairs for ref in pair if ref.table == name}
    if not joined or any(own.same.root(ref) not in elsewhere for ref in read):
        return "table"
    table = own.schema.table(name)
    if table is not None and joined == set(table.primary_key):
        return ""
    return "table" if read else "join"


def _joins_differ(gold: Reading, query: Reading) -> Iterator[Finding]:
    ours, theirs = _wrong_pairs(gold, query), _wrong_pairs(query, gold)

    def instead(pair: Pair, others: set[Pair]) -> Pair | None:
        tables = {ref.table for ref in pair}
        return next((one for one in sorted(others) if {ref.table for ref in one} == tables), None)

    for pair in sorted(ours):
        other = instead(pair, theirs)
        if other is not None:
            yield Finding("key", f"gold joins {_equal(pair)}, the query {_equal(other)}")
        elif _is_odd(pair, gold) and {ref.table for ref in pair} <= set(query.facts.tables):
            yield _one_sided("join", f"joins {_equal(pair)}", gold=True)
    for pair in sorted(theirs):
        tables = {ref.table for ref in pair}
        if (
            _is_odd(pair, query)
            and tables <= set(gold.facts.tables)
            and instead(pair, ours) is None
        ):
            yield _one_sided("join", f"joins {_equal(pair)}", gold=False)
    both = set(gold.facts.tables) == set(query.facts.tables)
    if both and len(gold.facts.tables) > 1 and gold.crosses != query.crosses:
        yield _one_sided("join", "combines every row with every other", gold.crosses)
    if gold.keeps_lonely != query.keeps_lonely and gold.excludes == query.excludes:
        yield _one_sided("join", "keeps rows that join no other", gold.keeps_lonely)


def _wrong_pairs(one: Reading, other: Reading) -> set[Pair]:
    """Joined columns that the other query doesn't make equal, by way of a third one either, each
    pair sorted."""
    equal = [{*pair} for pair in other.pairs]
    for pair in other.pairs:
        joined = [group for group in equal if group & {*pair}]
        equal = [group for group in equal if group not in joined] + [
            set[ColumnRef]().union(*joined)
        ]
    return {
        pair
        for pair in _sorted(one.pairs) - _sorted(other.apart)
        if not any({*pair} <= group for group in equal)
    }


def _is_odd(pair: Pair, one: Reading) -> bool:
    """True if no key makes the two the same."""
    return one.same.root(pair[0]) != one.same.root(pair[1])


def _sorted(pairs: Iterable[Pair]) -> set[Pair]:
    return {(min(pair), max(pair)) for pair in pairs}


def _equal(pair: Pair) -> str:
    return f"{pair[0]} = {pair[1]}"


def shown_differ(gold: Reading, query: Reading, *, in_order: bool) -> Iterator[Finding]:
    """Other columns in the place of gold's, columns too many or too few, and their order."""
    ours, theirs = Counter(gold.shown), Counter(query.shown)
    missing, extra = list((ours - theirs).elements()), list((theirs - ours).elements())
    yield from _other_operands(missing, extra)
    _strike_wrapped(missing, extra)
    for one, other in _paired(missing, extra, lambda one, other: one.is_column and other.is_column):
        yield Finding("column", f"gold shows {one}, the query {other}")
    number, count = len(gold.shown), len(query.shown)
    if number != count:
        names = ", ".join(map(str, (missing if count < number else extra)[:4]))
        counts = f"gold shows {number} column{'s' * (number != 1)}, the query {count}"
        told = _one_sided("shape", f"shows {names}", gold=count < number)
        yield told if names else Finding("shape", counts)
    elif in_order and gold.shown != query.shown and ours == theirs:
        yield Finding("shape", "the columns are the same in another order")


def _paired(
    missing: list[T], extra: list[T], fits: Callable[[T, T], bool]
) -> Iterator[tuple[T, T]]:
    """Pairs of which one stands in the other's place, both struck out of the lists."""
    for one in list(missing):
        other = next((other for other in extra if fits(one, other)), None)
        if other is not None:
            missing.remove(one)
            extra.remove(other)
            yield one, other


def _other_operands(missing: Sequence[Subject], extra: Sequence[Subject]) -> Iterator[Finding]:
    """Calculations over other columns; aggregates are compared apart."""
    for one, other in zip(missing, extra, strict=False):
        if one.function == other.function == "of" and one.columns and other.columns:
            ours, theirs = _exclusive(one.columns, other.columns)
            if ours or theirs:
                names = ", ".join(map(str, sorted(ours or theirs)))
                yield _one_sided("column", f"calculates with {names}", bool(ours))


def _strike_wrapped(missing: list[Subject], extra: list[Subject]) -> None:
    """Strike out expressions over the same columns and aggregates: they are compared apart."""

    def over_same(one: Subject, other: Subject) -> bool:
        ours, theirs = set(one.columns), set(other.columns)
        computed = not one.is_column or not other.is_column
        return computed and (ours <= theirs or theirs <= ours)

    def computed(one: Subject, other: Subject) -> bool:
        return not one.is_column and not other.is_column

    for fits in (over_same, computed):
        for _ in _paired(missing, extra, fits):
            pass


def conditions_differ(gold: Reading, query: Reading) -> Iterator[Finding]:
    """Conditions that only one has, those that differ in one thing told together."""
    missing, extra = _exclusive(gold.conditions, query.conditions)
    for fits in (_same_but_value, _same_but_operator, _same_but_subject, _other_subject):
        for one, other in _paired(missing, extra, fits):
            yield _exchanged(one, other, fits is _same_but_value)
    for ours, theirs in ((missing, extra), (extra, missing)):
        _strike_unknown(
            ours, theirs, lambda one: one.subject, lambda one: (one.operator, one.value)
        )
    yield from (_one_sided("condition", f"asks for {one}", gold=True) for one in missing)
    yield from (_one_sided("condition", f"asks for {one}", gold=False) for one in extra)
    if gold.excludes != query.excludes:
        yield _one_sided("condition", "leaves out rows that a query finds", gold.excludes)
    elif set(gold.conditions) == set(query.conditions) and gold.either != query.either:
        word, instead = ("AND", "OR") if query.either else ("OR", "AND")
        yield Finding("condition", f"gold joins its conditions by {word}, the query by {instead}")
    # Of a part of what is counted, or of all rows: it matters where one is divided by the other.
    if all("/" in one.calculated.functions for one in (gold, query)):
        for one in sorted(gold.within ^ query.within, key=str):
            if one in gold.conditions and one in query.conditions:
                part, rows = ("gold", "the query")[:: 1 if one in gold.within else -1]
                told = f"{part} asks for {one} within a calculation, {rows} of all rows"
                yield Finding("condition", told)


def _strike_unknown(
    ours: list[T], theirs: list[T], subject: Callable[[T], Subject], rest: Callable[[T], object]
) -> None:
    """Strike out what is asked of a value worked out in FROM where the other query asks the same of
    something that it works out in place."""

    def fits(one: T, other: T) -> bool:
        in_place = not subject(other).is_column
        return subject(one).is_unknown and in_place and rest(one) == rest(other)

    for _ in _paired(ours, theirs, fits):
        pass


def _exchanged(one: Condition, other: Condition, value: bool) -> Finding:
    if value and one.operator == "=":
        second = f"with {other.said}"
        if one.subject.text != other.subject.text:
            second = f"{other.subject} {second}"
        return Finding(
            "literal", f"gold compares {one.subject} with {one.said}, the query {second}"
        )
    alone: ErrorClass = "condition" if one.subject == other.subject else "column"
    return Finding("literal" if value else alone, f"gold asks for {one}, the query for {other}")


def _same_but_value(one: Condition, other: Condition) -> bool:
    constants = all(isinstance(side.value, str | float) for side in (one, other))
    return constants and (one.subject, one.operator) == (other.subject, other.operator)


def _same_but_operator(one: Condition, other: Condition) -> bool:
    return one.subject == other.subject


def _same_but_subject(one: Condition, other: Condition) -> bool:
    if one.value is None:
        return other.value is None and one.operator == other.operator
    return one.value == other.value and not (one.subject.is_unknown or other.subject.is_unknown)


def _other_subject(one: Condition, other: Condition) -> bool:
    """True of two columns compared alike with different texts: one stands in the other's place."""
    texts = isinstance(one.value, str) and isinstance(other.value, str)
    return texts and one.operator == other.operator and one.subject.part == other.subject.part


def aggregates_differ(gold: Reading, query: Reading) -> Iterator[Finding]:
    """Aggregates, and what is to be the highest or lowest."""
    missing, extra = _exclusive(gold.aggregates, query.aggregates)
    _take_means(missing, extra, query.aggregates)
    _take_means(extra, missing, gold.aggregates)
    for error, fits in _AGGREGATES:
        for one, other in _paired(missing, extra, fits):
            yield Finding(error, f"gold takes {one}, the query {other}")
    yield from (_one_sided("aggregation", f"takes {one}", gold=True) for one in missing)
    yield from (_one_sided("aggregation", f"takes {one}", gold=False) for one in extra)
    yield from _ends_differ(gold, query)


def _distinct_alone(one: Subject, other: Subject) -> bool:
    rows = not one.columns or not other.columns
    same = one.function == other.function and one.distinct != other.distinct
    return same and (rows or one.columns == other.columns)


_AGGREGATES: tuple[tuple[ErrorClass, Callable[[Subject, Subject], bool]], ...] = (
    ("duplicates", _distinct_alone),
    ("aggregation", lambda one, other: one.columns == other.columns),
    (
        "column",
        lambda one, other: one.function == other.function and bool(one.columns and other.columns),
    ),
    ("aggregation", lambda one, other: one != other),
)
"""Pairs of aggregates that one query has in the place of the other's, the closest first."""


def _take_means(missing: list[Subject], extra: list[Subject], other: Iterable[Subject]) -> None:
    """Strike out a mean that the other query takes as a sum divided by a count."""
    for one in list(missing):
        whole = Subject(one.columns, "sum")
        counts = any(each.function == "count" for each in other)
        if one.function == "avg" and whole in other and counts:
            missing.remove(one)
            extra[:] = [each for each in extra if each != whole and each.function != "count"]


def _ends_differ(gold: Reading, query: Reading) -> Iterator[Finding]:
    missing, extra = _exclusive(gold.extremes, query.extremes)
    for ours, theirs in ((missing, extra), (extra, missing)):
        _strike_unknown(ours, theirs, lambda end: end[0], lambda end: end[1])

    def other_end(one: End, other: End) -> bool:
        return one[0] == other[0] and one[1] != other[1]

    for one, other in _paired(missing, extra, other_end):
        yield Finding("order", f"gold takes {_end(one)}, the query {_value(other[1])}")
    for one, other in _paired(missing, extra, lambda one, other: True):  # noqa: ARG005
        columns = one[0].is_column and other[0].is_column
        told = f"gold takes {_end(one)}, the query {_end(other)}"
        yield Finding("column" if columns else "order", told)
    for reading, ends in ((gold, missing), (query, extra)):
        for one in ends:
            by_order = reading.extremes[one] == "order"
            error: ErrorClass = "order" if by_order else "aggregation"
            yield _one_sided(error, f"takes {_end(one)}", reading is gold)


def _value(highest: bool) -> str:
    return f"the {'highest' if highest else 'lowest'} value"


def _end(one: End) -> str:
    return f"{_value(one[1])} of {one[0]}"


def calculations_differ(gold: Reading, query: Reading) -> Iterator[Finding]:
    """Functions, operators, numbers, parts of dates."""
    one, other = gold.calculated, query.calculated
    mean = any(call.function == "avg" for call in (*gold.aggregates, *query.aggregates))
    spared = {"/", "*"} if mean else set[str]()
    for ours, names in (
        (True, one.functions - other.functions),
        (False, other.functions - one.functions),
    ):
        for name in sorted(names - spared):
            yield _one_sided("calculation", f"uses {name}", ours)
    if one.functions == other.functions:
        for number in sorted(one.numbers ^ other.numbers):
            told = f"calculates with {number:g}"
            yield _one_sided("calculation", told, number in one.numbers)
    for part in sorted(gold.date_parts ^ query.date_parts):
        told = f"takes the part {part} of a date"
        yield _one_sided("calculation", told, part in gold.date_parts)


def rows_differ(
    gold: Reading, query: Reading, *, ordered: bool, repeats: bool
) -> Iterator[Finding]:
    """Other groups, another order, another number of rows kept; rows more than once, where
    `repeats` says that there are some."""
    if gold.grouping not in {query.grouping, query.grouped} and query.grouping != gold.grouped:
        ours, theirs = (", ".join(map(str, sorted(one.grouping))) for one in (gold, query))
        if ours and theirs:
            yield Finding("grouping", f"gold groups by {ours}, the query by {theirs}")
        else:
            yield _one_sided("grouping", f"groups by {ours or theirs}", bool(ours))
    if repeats and gold.facts.first.distinct and not query.once:
        yield _one_sided("duplicates", "shows each row once (DISTINCT)", gold=True, weak=True)
    yield from _limits_differ(gold, query)
    kept = gold.facts.limit is not None
    if not (ordered or kept) or not gold.facts.order or gold.facts.limit == 1:
        return
    keys, others = gold.order, query.order
    if others[: len(keys)] == keys:
        return
    said = _keys(keys)
    if others:
        yield Finding("order", f"gold orders by {said}, the query by {_keys(others)}")
    else:
        yield _one_sided("order", f"orders by {said}", gold=True)


def _keys(keys: Iterable[End]) -> str:
    return ", ".join(f"{subject}{' descending' * falling}" for subject, falling in keys)


def _limits_differ(gold: Reading, query: Reading) -> Iterator[Finding]:
    ours, theirs = gold.facts.limit, query.facts.limit
    if ours == theirs:
        return
    if {ours, theirs} == {1, None}:
        short, other = (gold, query) if ours == 1 else (query, gold)
        if not short.facts.order or set(short.extremes) & set(other.extremes):
            # One row of the highest, where the other may give several; a lone MAX gives one, too.
            first = other.facts.first
            if first.grouping or any(term.aggregate is None for term in first.shown):
                who, whole = ("gold", "the query")[:: 1 if short is gold else -1]
                yield Finding("limit", f"{who} keeps one row, {whole} all that are equal")
            return
        if set(short.extremes) - set(other.extremes):
            return  # told as the highest or lowest that the other one doesn't take
    if ours is None:
        yield Finding("limit", f"the query keeps {_rows(theirs)}, gold all")
    else:
        rest = "all" if theirs is None else _rows(theirs)
        yield Finding("limit", f"gold keeps {_rows(ours)}, the query {rest}")


def _rows(limit: int | None) -> str:
    if limit == -1:
        return "a number of rows that it works out"
    return f"{limit} row{'s' * (limit != 1)}"


FORMULAS = {
    "sum": ("sum",), "total": ("sum", "total"), "avg": ("avg", "average"), "count": ("count",),
    "max": ("max",), "min": ("min",),
}  # fmt: skip
"""Words for aggregates in formulas."""


def ignored_evidence(gold: Reading, query: Reading, evidence: str) -> Iterator[Finding]:
    """Columns, values and formulas that the evidence names and only gold has."""
    words = split_name(evidence)
    if not words:
        return
    # Names with an underscore whole: `first_name` doesn't name `name`.
    plain = "".join(c if c.isalnum() or c == "_" else " " for c in evidence)
    names = tuple(plain.casefold().split())
    read = {query.same.root(ref) for ref in query.facts.columns}
    doubled = {ref.column for ref in query.facts.columns}
    for ref in gold.facts.columns:
        named = ref.column.casefold() in names or _within(split_name(ref.column), names)
        if named and gold.same.root(ref) not in read and ref.column not in doubled:
            yield Finding("evidence", f"the evidence names {ref}, the query doesn't read it")
    # A double quote around a text and a number written as text say the same; > 5 and >= 6, too.
    used = {one.text.strip("%").casefold() for one in query.facts.constants}
    bounds = {one.value for one in query.conditions if isinstance(one.value, float)}
    for one in gold.facts.constants:
        text = one.text.strip("%")
        plain_one = one.is_format or (not one.is_text and one.text in {"0", "1", "100"})
        bounded = not isinstance(one.value, str) and float(one.value) in bounds
        if not (plain_one or bounded or text.casefold() in used) and _within(
            split_name(text), words
        ):
            yield Finding("evidence", f"the evidence names {text!r}, the query doesn't use it")
    formulas = "".join(evidence.casefold().split())
    taken = {"max" if highest else "min" for _, highest in query.extremes}
    taken |= {query.aggregate(call).function for call in query.facts.aggregates}
    for call in map(gold.aggregate, gold.facts.aggregates):
        name = call.function
        written = any(f"{word}(" in formulas for word in FORMULAS.get(name, ()))
        mean = name in {"sum", "count"} and "avg" in taken
        if name == "avg":
            mean = {"sum", "count"} <= taken
        if written and name not in taken and not mean:
            told = f"the evidence names {name.upper()}, the query doesn't take it"
            yield Finding("evidence", told)


def _within(name: tuple[str, ...], words: tuple[str, ...]) -> bool:
    """True if the words of a name stand one after another in the text."""
    size = len(name)
    return size > 0 and any(words[i : i + size] == name for i in range(len(words) - size + 1))
