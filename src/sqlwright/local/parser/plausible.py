"""Rejects implausible queries: tautologies, duplicates and comparisons of different types.

They are grammatical, yet never what was asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import permutations

from sqlwright.english.vocabulary import NAMING_WORDS
from sqlwright.english.words import split_name
from sqlwright.local.form import nodes as f
from sqlwright.local.form.sequence.symbols import DATE_PARTS as LATER_PARTS
from sqlwright.local.form.walking import inside
from sqlwright.schema import ColumnRef, Schema
from sqlwright.sql.declared_types import type_feature
from sqlwright.types.periods import period_of

_YEAR = re.compile(r"(?:1[6-9]|20)\d\d")
_TEXTS = frozenset({*NAMING_WORDS, "description", "address", "city", "country", "email", "type"})
"""Words of names that hold texts and nothing else, however they are stored."""
DATE_PARTS = frozenset({"year", "month", "day", "date", "strftime", *LATER_PARTS})
"""Functions that give a part of a date."""
WHOLE = frozenset({"date", "start_of_month", "start_of_year"})
"""Those that give a date again."""


def is_senseless(query: f.Query) -> bool:
    """True if a query repeats an item or a condition, shows a text of the question or the part of
    a date that it doesn't group by, compares a thing with itself, or the same two things twice, has
    a range of one value, or combines a query with the same query."""
    if isinstance(query, f.SetOperation):
        return query.left == query.right or is_senseless(query.left) or is_senseless(query.right)
    if len(set(query.items)) < len(query.items) or len(set(query.group_by)) < len(query.group_by):
        return True
    if any(isinstance(item, f.Literal) and isinstance(item.value, str) for item in query.items):
        return True
    if query.group_by and any(
        _is_date(item) and item not in query.group_by for item in query.items
    ):
        return True
    expressions = [term.expression for term in query.order_by]
    if len(set(expressions)) < len(expressions):
        return True
    conditions = [c for c in (query.where, query.having) if c is not None]
    return any(_senseless_condition(condition) for condition in conditions) or any(
        is_senseless(inner) for inner in query.derived
    )


def _is_date(item: f.Expression | f.Star) -> bool:
    return isinstance(item, f.Function) and item.name in DATE_PARTS


def _senseless_condition(condition: f.Condition) -> bool:
    match condition:
        case f.And(operands) | f.Or(operands):
            sides = [(c.left, c.right) for c in operands if isinstance(c, f.Comparison)]
            repeated = len(set(operands)) < len(operands) or len(set(sides)) < len(sides)
            return repeated or any(map(_senseless_condition, operands))
        case f.Not(operand):
            return _senseless_condition(operand)
        case f.Between(operand, low, high):
            return low == high or operand in {low, high}
        case f.InList(_, values):
            return len(set(values)) < len(values)
        case f.InQuery(_, query) | f.Exists(query):
            return is_senseless(query)
        case f.Comparison(_, left, right):
            return left == right or any(is_senseless(query) for query in _queries(left, right))
    return False


def works_out_nonsense(query: f.Query, schema: Schema) -> bool:
    """True if a query works with constants alone or with a year as a factor, calculates with texts,
    takes a part of a date of a constant, of another part or of what is named as a text, or holds
    keys against each other that have nothing to do with one another."""
    if any(_senseless_operands(one, schema) for one in inside(query, f.Arithmetic)):
        return True
    calls = list(inside(query, f.Function))
    if any(_is_named_text(one, schema) or _is_of_no_date(one) for one in calls):
        return True
    pairs: list[tuple[f.Expression, f.Expression]] = []
    pairs += [(one.left, one.right) for one in inside(query, f.Join)]
    pairs += [(one.left, one.right) for one in inside(query, f.Comparison) if one.operator == "="]
    return any(_apart(left, right, schema) for left, right in pairs)


def _senseless_operands(node: f.Arithmetic, schema: Schema) -> bool:
    sides = (node.left, node.right)
    literals = [side.value for side in sides if isinstance(side, f.Literal)]
    if len(literals) == len(sides):
        return True
    if node.operator == "||":
        return False
    if any(isinstance(value, str) or _YEAR.fullmatch(str(value)) for value in literals):
        return node.operator not in {"+", "-"} or any(isinstance(one, str) for one in literals)
    return any(isinstance(side, f.Column) and _is_text(side.ref, schema) for side in sides)


def _is_text(ref: ColumnRef, schema: Schema) -> bool:
    """True of a column declared as text whose name is one for texts."""
    column = schema.column(ref)
    if column is None or type_feature(column.type) != "text-type":
        return False
    return bool(_TEXTS & set(split_name(ref.column)))


def _is_named_text(call: f.Function, schema: Schema) -> bool:
    if call.name not in DATE_PARTS or not call.arguments:
        return False
    column = call.arguments[-1]
    return isinstance(column, f.Column) and _is_text(column.ref, schema)


def _is_of_no_date(call: f.Function) -> bool:
    if call.name not in DATE_PARTS or not call.arguments:
        return False
    dated = call.arguments[-1]
    if isinstance(dated, f.Literal):
        return period_of(str(dated.value)[:10]) is None
    return isinstance(dated, f.Function) and dated.name in DATE_PARTS - WHOLE


def _queries(*expressions: f.Expression) -> Iterator[f.Query]:
    for expression in expressions:
        if isinstance(expression, f.Subquery):
            yield expression.query


def mixes_types(query: f.Query, schema: Schema) -> bool:
    """True if a query looks for texts among numbers, or for one thing's number among another's:
    `IN`, `INTERSECT` or `EXCEPT` between columns of which one is declared as text and the other as
    a number, or between numbers that are keys of different tables, with no common name."""
    if isinstance(query, f.SetOperation):
        pairs = zip(_first(query.left).items, query.right.items, strict=False)
        if not query.operator.startswith("union") and any(
            _apart(left, right, schema) for left, right in pairs
        ):
            return True
        return mixes_types(query.left, schema) or mixes_types(query.right, schema)
    return query.where is not None and _mixes(query.where, schema)


def _mixes(condition: f.Condition, schema: Schema) -> bool:
    match condition:
        case f.And(operands) | f.Or(operands):
            return any(_mixes(operand, schema) for operand in operands)
        case f.Not(operand):
            return _mixes(operand, schema)
        case f.InQuery(operand, query):
            return _apart(operand, _first(query).items[0], schema) or mixes_types(query, schema)
    return False


def _first(query: f.Query) -> f.Select:
    while isinstance(query, f.SetOperation):
        query = query.left
    return query


def _apart(left: f.Expression | f.Star, right: f.Expression | f.Star, schema: Schema) -> bool:
    if not (isinstance(left, f.Column) and isinstance(right, f.Column)):
        return False
    if left.ref.column.casefold() == right.ref.column.casefold():
        return False
    ends = {left.ref, right.ref}
    if any(pair in schema.key_pairs for pair in permutations(ends)):
        return False
    columns = (schema.column(left.ref), schema.column(right.ref))
    kinds = {type_feature(column.type) for column in columns if column}
    if kinds == {"number-type"} and ends <= schema.all_keys:
        return len({_root(end, schema) for end in ends}) > 1
    return kinds == {"text-type", "number-type"}


def _root(ref: ColumnRef, schema: Schema) -> ColumnRef:
    """The key that a column refers to in the end."""
    referred = {near: far for key in schema.foreign_keys for near, far in key.pairs}
    seen = set()
    while ref in referred and ref not in seen:
        seen.add(ref)
        ref = referred[ref]
    return ref
