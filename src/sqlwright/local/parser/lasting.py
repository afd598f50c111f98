"""Gives the numbers that spans of time are compared with the units that the question names.

The parser points at “30” where a question says “late by more than 30 minutes”. Of a column of
minutes that is right; a column of intervals compares with an interval.
"""

from __future__ import annotations

from sqlwright.english.bounds import spans_of_time
from sqlwright.local.form import nodes as f
from sqlwright.local.form.walking import changed
from sqlwright.local.form.write.kinds import Kinds, kind_of_type
from sqlwright.schema import Schema


def with_units(form: f.Query, schema: Schema, question: str) -> f.Query:
    """The form with “30 minutes” in place of 30, wherever an interval is compared with it."""
    named = spans_of_time(question)
    columns = (one for table in schema.tables for one in table.columns)
    if not named or not any(kind_of_type(one.type) == "span" for one in columns):
        return form
    kinds = Kinds(schema)

    def spanning(node: object) -> object:
        match node:
            case f.Comparison(operator, left, right):
                if _is_span(left, kinds):
                    return f.Comparison(operator, left, _lasting(right, named))
                if _is_span(right, kinds):
                    return f.Comparison(operator, _lasting(left, named), right)
            case f.Between(operand, low, high, negated) if _is_span(operand, kinds):
                return f.Between(operand, _lasting(low, named), _lasting(high, named), negated)
        return node

    return changed(form, spanning)


def _is_span(node: f.Expression, kinds: Kinds) -> bool:
    # Columns of derived tables have no kind outside their query.
    is_own = isinstance(node, f.Column) or (
        isinstance(node, f.Aggregate) and isinstance(node.operand, f.Column)
    )
    return is_own and kinds.of(node) == "span"


def _lasting(node: f.Expression, named: dict[float, str]) -> f.Expression:
    if not isinstance(node, f.Literal):
        return node
    try:
        said = named.get(float(node.value))
    except ValueError:
        return node
    return node if said is None else f.Literal(said)
