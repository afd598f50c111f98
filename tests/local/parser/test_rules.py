"""The parser's rules about constants, operands and sense, by example."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sqlwright.english.as_trained import split_words
from sqlwright.local.form.read.sql import read_sql
from sqlwright.local.form.sequence.grammar import GrammarState
from sqlwright.local.parser.constants import Grounding, compared_column, compared_function
from sqlwright.local.parser.plausible import is_senseless, mixes_types
from sqlwright.local.parser.pointers import Span, find_span, fold, number_of, span_text
from sqlwright.local.parser.search import Operands
from sqlwright.schema import Column, ColumnRef, ForeignKey, Schema, Table
from sqlwright.types import Question, ValueMatch
from tests.form.notation import cases, symbols_of
from tests.local.singers import MALE, SINGERS

SENSES: Any = cases("local/senseless.yaml")
NUMBERS = (
    "sale.quantity", "sale.total", "product.unit_price", "customer.credit_limit",
    "shop.tax_rate", "shop.headcount",
)  # fmt: skip
KEYED = Schema(
    "keyed",
    tuple(
        Table(
            name, tuple(Column(one, "TEXT" if one == "name" else "INTEGER") for one in own), ("id",)
        )
        for name, own in (
            ("a", ("id", "name", "n")),
            ("b", ("id", "a_id", "name", "code")),
            ("c", ("id", "b_id", "a_ref", "n")),
        )
    ),
    (
        ForeignKey("b", ("a_id",), "a", ("id",)),
        ForeignKey("c", ("b_id",), "b", ("id",)),
        ForeignKey("c", ("a_ref",), "a", ("id",)),
    ),
)


def ref(name: str) -> ColumnRef:
    return ColumnRef(*name.split("."))


@pytest.mark.parametrize("case", cases("local/numbers.yaml"), ids=lambda case: repr(case["text"]))
def test_numbers_as_people_write_them(case: dict[str, Any]) -> None:
    found = number_of(case["text"])
    assert found == case["number"]
    assert type(found) is type(case["number"])


@pytest.mark.parametrize(
    ("text", "folded"),
    [(" 'New  York'. ", "new york"), ('"x"', "x"), ("50%", "50"), ("a?!;:,b", "a?!;:,b"), ("", "")],
)
def test_texts_are_compared_without_signs_around_them(text: str, folded: str) -> None:
    assert fold(text) == folded


@pytest.mark.parametrize(
    "case", cases("local/spans.yaml"), ids=lambda case: f"{case['asked']} {case['constant']}"
)
def test_constants_are_found_among_the_words(case: dict[str, Any]) -> None:
    question = Question(case["asked"], evidence=case.get("evidence", ""))
    words = split_words(question.text) + split_words(question.evidence, evidence=True)
    span = find_span(case["constant"], words, question)
    assert (span and span_text(span, words, question)) == case["words"]


@pytest.mark.parametrize(
    "case", cases("local/constants.yaml"), ids=lambda case: f"{case['after']} {case['said']}"
)
def test_words_become_constants(case: dict[str, Any]) -> None:
    question = Question(case["asked"])
    words = split_words(question.text)
    values = []
    for said, column, text, score in case.get("values", ()):
        start = question.text.index(said)
        span = (start, start + len(said))
        values.append(ValueMatch(said, ref(column), text, score, 1, span))
    span = find_span(case["said"], words, question)
    assert span is not None
    symbols = symbols_of(case["after"])
    state = GrammarState()
    for symbol in symbols:
        state = state.advance(symbol)
    grounding = Grounding(question, words, SINGERS, values, {MALE: ("T", "F")})
    found = grounding.literal(span, symbols, state.allowed()).value
    assert found == case["constant"]
    assert type(found) is type(case["constant"])


def test_words_of_the_evidence_are_no_words_of_the_question() -> None:
    question = Question("from here", evidence="here means xyz")
    words = split_words(question.text) + split_words(question.evidence, evidence=True)
    value = ValueMatch("here", ref("singer.Country"), "United States", 0.8, 1, (0, 14))
    grounding = Grounding(question, words, SINGERS, [value], {})
    symbols = symbols_of("select singer.Age where singer.Country =")
    state = GrammarState()
    for symbol in symbols:
        state = state.advance(symbol)
    last = len(words) - 1
    assert grounding.literal(Span(last, last), symbols, state.allowed()).value == "xyz"
    assert grounding.literal(Span(1, 1), symbols, state.allowed()).value == "United States"


@pytest.mark.parametrize("case", cases("local/compared.yaml"), ids=lambda case: case["after"])
def test_what_a_constant_is_compared_with(case: dict[str, Any]) -> None:
    symbols = symbols_of(case["after"])
    column, comparison = compared_column(symbols)
    assert (column and str(column)) == case["column"]
    assert comparison == case["comparison"]
    assert compared_function(symbols) == case["function"]


@pytest.mark.parametrize(
    ("sql", "senseless"),
    [*((sql, True) for sql in SENSES["senseless"]), *((sql, False) for sql in SENSES["sensible"])],
)
def test_queries_that_say_nothing_are_told(sql: str, senseless: bool) -> None:
    assert is_senseless(read_sql(sql, SINGERS)) is senseless


@pytest.mark.parametrize("case", cases("local/mixed_types.yaml"), ids=lambda case: case["sql"])
def test_one_thing_is_not_looked_for_among_others(case: dict[str, Any]) -> None:
    assert mixes_types(read_sql(case["sql"], KEYED), KEYED) is case["mixed"]


@pytest.mark.parametrize("case", cases("local/operands.yaml"), ids=lambda case: case["after"])
def test_what_can_be_worked_out_with(case: dict[str, Any]) -> None:
    nodes = [ref("sale.sold_on"), *map(ref, NUMBERS)]
    kind = {nodes[0]: "time-type"}
    operands = Operands(nodes, lambda column: kind.get(column, "number-type"))
    found = operands.possible(symbols_of(case["after"]))
    wanted = NUMBERS if case["possible"] == "numbers" else case["possible"]
    if wanted is None:
        assert found is None
    else:
        assert found is not None
        assert [str(nodes[at]) for at in np.flatnonzero(found)] == list(wanted)
