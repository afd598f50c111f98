"""Tiers beside strict accuracy: answers that people accept and a strict rule doesn't.

A tier is 1.0 or 0.0. An answer that is right by the data set's rule is in every tier; one without
a whole result is in none. Each tier forgives one thing, and in all else is as strict as the rule:

- `tier:columns`: columns too many, if each of them labels the rows. A column does that if the query
  shows a stored column there, and it is part of its table's primary key, or is declared as text, or
  is one that the outermost SELECT groups by. A column that gold has may not be missing.
- `tier:order`: columns in another order, and rows in another order where the question asks for
  none (by its words; in doubt it asks).
- `tier:rounding`: a number with a fraction that is the other one rounded to its own decimals
  (`alike.rounded_alike`), either of them.
- `tier:any`: all of these together.

None of them goes into execution accuracy. With several gold results one is enough.
"""

from __future__ import annotations

from dataclasses import replace

from sqlwright.english.cues import asks_for_order
from sqlwright.lab.evaluation.metrics.alike import Leave, alike
from sqlwright.lab.evaluation.metrics.metric import Judged, Metric
from sqlwright.schema import Schema
from sqlwright.sql.declared_types import type_class
from sqlwright.sql.facts import SelectFacts, Term
from sqlwright.sql.reading import read_facts


def _measure(
    judged: Judged, *, columns: bool = False, order: bool = False, rounding: bool = False
) -> float:
    """1.0 if the answer is right but for what is forgiven."""
    if judged.right or not judged.comparable or judged.sql is None:
        return float(judged.right)
    width = len(judged.result.rows[0]) if judged.result.rows else 0
    extra = labels(judged.sql, judged.schema, width) if columns else frozenset()
    for one in judged.references:
        leave = replace(_strict(judged, one.sql), extra=extra, rounding=rounding)
        if order:
            asked = asks_for_order(judged.example.question)
            leave = replace(leave, columns_in_order=False, ordered=leave.ordered and asked)
        if alike(judged.result.rows, one.result.rows, leave):
            return 1.0
    return 0.0


def _strict(judged: Judged, gold_sql: str) -> Leave:
    rule, dialect = judged.rule, judged.schema.dialect
    return Leave(rule.counts_order(gold_sql, dialect), rule.columns_in_order, rule.repeats_count)


def labels(sql: str, schema: Schema, width: int) -> frozenset[int]:
    """Places of the columns that a query shows to label its rows, of `width` columns; none where
    a star shows more than can be told."""
    facts = read_facts(sql, schema)
    if facts is None:
        return frozenset()
    shown: list[Term] = []
    for term in facts.first.shown:
        if term.star:
            shown += [Term(column=ref, columns=(ref,)) for ref in term.columns]
        else:
            shown.append(term)
    if len(shown) != width:
        return frozenset()
    return frozenset(i for i, term in enumerate(shown) if _labels(term, facts.first, schema))


def _labels(term: Term, select: SelectFacts, schema: Schema) -> bool:
    ref = term.column
    table = schema.table(ref.table) if ref is not None else None
    column = schema.column(ref) if ref is not None else None
    if ref is None or table is None or column is None:
        return False
    grouped = any(key.column == ref for key in select.grouping)
    return grouped or ref.column in table.primary_key or type_class(column.type) == "text"


def _columns(judged: Judged) -> float:
    return _measure(judged, columns=True)


def _order(judged: Judged) -> float:
    return _measure(judged, order=True)


def _rounding(judged: Judged) -> float:
    return _measure(judged, rounding=True)


def _any(judged: Judged) -> float:
    return _measure(judged, columns=True, order=True, rounding=True)


COLUMNS = Metric("tier:columns", "right but for columns more that label the rows", _columns)
ORDER = Metric("tier:order", "right but for an order that the question doesn't ask for", _order)
ROUNDING = Metric("tier:rounding", "right but for rounding", _rounding)
ANY = Metric("tier:any", "right but for such columns, order and rounding", _any)
