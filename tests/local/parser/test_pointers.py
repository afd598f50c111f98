"""From words of the question to constants, and from gold constants to words."""

from __future__ import annotations

from pathlib import Path

import pytest
from tokenizers import Tokenizer

from sqlwright.english.as_trained import Word, split_words
from sqlwright.local.form.nodes import Literal
from sqlwright.local.form.sequence.grammar import GrammarState
from sqlwright.local.form.sequence.symbols import BY_NAME, Symbol
from sqlwright.local.models import WEIGHTS
from sqlwright.local.parser.constants import Grounding, compared_column
from sqlwright.local.parser.encode import encode
from sqlwright.local.parser.nodes import WordPieces
from sqlwright.local.parser.pointers import FIRST_NODE, Span, find_span, number_of, to_tokens
from sqlwright.schema import Column, ColumnRef, Schema, Table
from sqlwright.types import Question, ValueMatch
from tests.local.singers import AGE, COUNTRY, MALE, SINGERS, YEAR


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("2", 2),
        ("two", 2),
        ("1,000", 1000),
        ("5k", 5000),
        ("1.5m", 1_500_000.0),
        ("3.50", 3.5),
        ("-4", -4),
        ("$20", 20),
        ("15%", 15),
        ("k", None),
        ("x", None),
        ("1.2.3", None),
        ("²", None),
        ("", None),
    ],
)
def test_numbers_are_read_as_people_write_them(text: str, number: float | None) -> None:
    found = number_of(text)
    assert found == number
    assert type(found) is type(number)


def symbols(*parts: str | Symbol) -> list[Symbol]:
    return [BY_NAME[part] if isinstance(part, str) else part for part in parts]


def state_after(parts: list[Symbol]) -> GrammarState:
    state = GrammarState()
    for part in parts:
        state = state.advance(part)
    return state


def ground(
    text: str, said: str, parts: list[Symbol], values: tuple[ValueMatch, ...] = ()
) -> str | float:
    question = Question(text)
    words = split_words(text)
    span = find_span(said, words, question)
    assert span is not None
    grounding = Grounding(question, words, SINGERS, values, {MALE: ("T", "F")})
    return grounding.literal(span, parts, state_after(parts).allowed()).value


def test_a_number_compared_with_a_number_column_is_a_number() -> None:
    parts = symbols("select", AGE, "where", AGE, ">")
    assert ground("older than 20", "20", parts) == 20
    assert ground("older than twenty", "twenty", parts) == 20


def test_a_number_compared_with_a_text_column_stays_text() -> None:
    parts = symbols("select", AGE, "where", YEAR, "=")
    assert ground("in 2014", "2014", parts) == "2014"


def test_a_year_compared_with_a_date_is_a_text() -> None:
    schema = Schema("s", (Table("staff", (Column("hired", "datetime"),)),))
    hired = ColumnRef("staff", "hired")
    parts = symbols("select", hired, "where", hired, ">")
    words = split_words("after 1993")
    grounding = Grounding(Question("after 1993"), words, schema, (), {})
    assert grounding.literal(Span(1, 1), parts, state_after(parts).allowed()).value == "1993"


@pytest.mark.parametrize(
    ("compared", "said", "value"),
    [
        (("year", AGE, "="), "1997", "1997"),
        (("year", AGE, "between", "2"), "1997", "1997"),
        (("month", AGE, ">"), "5", "05"),
        (("month", AGE, "="), "May", "05"),
        (("strftime", Literal("%d"), AGE, "="), "9", "09"),
        (("year", "second", AGE, "="), "1997", "1997"),
        (("substr_to", AGE, "1", "4", "="), "1997", "1997"),
        (("length", AGE, "="), "5", 5),
        (("select", "max", AGE, "where", "year", AGE, "=", "0", "end", ">"), "5", 5),
    ],
)
def test_a_part_of_a_date_is_compared_as_a_text(
    compared: tuple[str | Symbol, ...], said: str, value: str | int
) -> None:
    parts = symbols("select", AGE, "where", *compared)
    assert ground(f"in {said} or so", said, parts) == value


def test_a_number_compared_with_a_count_of_texts_is_a_number() -> None:
    parts = symbols("select", COUNTRY, "group", COUNTRY, "having", "count", YEAR, ">")
    assert ground("more than 3", "3", parts) == 3


def test_a_compared_text_takes_its_stored_spelling() -> None:
    parts = symbols("select", AGE, "where", COUNTRY, "=")
    match = ValueMatch("united states", COUNTRY, "United States", 1.0, 1, (13, 26))
    assert ground("singers from united states", "united states", parts, (match,)) == "United States"
    assert ground("singers from the states", "states", parts, (match,)) == "United States"
    parts = symbols("select", AGE, "where", MALE, "=")
    assert ground("who are t", "t", parts) == "T"


def test_a_pattern_keeps_the_words_of_the_question() -> None:
    parts = symbols("select", AGE, "where", COUNTRY, "contains")
    match = ValueMatch("united", COUNTRY, "United States", 0.9, 1, (9, 15))
    assert ground("contains united", "united", parts, (match,)) == "united"


def test_a_limit_is_a_whole_number() -> None:
    parts = symbols("select", AGE, "desc", AGE, "limit")
    assert ground("the five oldest", "five", parts) == 5


@pytest.mark.parametrize(
    ("column", "word", "single"), [(AGE, "20", True), (AGE, "old", False), (YEAR, "20", False)]
)
def test_only_numbers_for_number_columns_are_one_word(
    column: ColumnRef, word: str, single: bool
) -> None:
    parts = symbols("select", AGE, "where", column, ">")
    words = split_words("20 and old")
    grounding = Grounding(Question("20 and old"), words, SINGERS, (), {})
    first = [w.text for w in words].index(word)
    assert grounding.is_single(first, parts, state_after(parts).allowed()) is single


def test_the_compared_column_is_found_behind_lists_and_bounds() -> None:
    assert compared_column(symbols("where", COUNTRY, "in", Literal("x"))) == (COUNTRY, "in")
    assert compared_column(symbols("where", AGE, "between", "1")) == (AGE, "between")
    assert compared_column(symbols("having", "max", AGE, ">")) == (None, ">")
    assert compared_column(symbols("select")) == (None, "")


def test_spans_are_found_by_text_then_by_number() -> None:
    question = Question("Is New York larger than 1000?")
    words = split_words(question.text)
    span = find_span("new york", words, question)
    assert span is not None
    assert [words[i].text for i in range(span.first, span.last + 1)] == ["New", "York"]
    place = [word.text for word in words].index("1000")
    assert find_span("1000.0", words, question) == Span(place, place)
    assert find_span("absent", words, question) is None


CONSTANT = [
    ("longer than 5 minutes", Literal(60000), [BY_NAME["number_60000"].position]),
    ("longer than 5 minutes", Literal(61000), None),
    ("more than 1000 of them", Literal(1000), [1000]),
    ("on a Sunday", Literal("0"), [BY_NAME["text_0"].position]),
]


@pytest.mark.parametrize(("text", "literal", "expected"), CONSTANT)
def test_a_constant_that_nobody_says_has_a_keyword(
    text: str, literal: Literal, expected: list[int] | None
) -> None:
    path = Path(WEIGHTS) / "tokenizer.json"
    if not path.exists():
        pytest.skip("the weights aren't there")
    question = Question(text)
    pieces = WordPieces(Tokenizer.from_file(str(path)))
    encoded = encode(question, SINGERS, (), {}, pieces)
    said = [node.text if isinstance(node, Word) else "" for node in encoded.nodes]
    if expected == [1000]:
        expected = [FIRST_NODE + said.index("1000")] * 2
    parts = symbols("select", AGE, "where", AGE, ">", literal, "end")
    tokens = to_tokens(parts, encoded, question)
    assert (tokens and list(tokens[5])) == expected


def test_a_phrase_is_always_pointed_at() -> None:
    path = Path(WEIGHTS) / "tokenizer.json"
    if not path.exists():
        pytest.skip("the weights aren't there")
    question = Question("names with a dash")
    encoded = encode(question, SINGERS, (), {}, WordPieces(Tokenizer.from_file(str(path))))
    parts = symbols("select", AGE, "where", AGE, "contains", Literal("-"), "end")
    assert to_tokens(parts, encoded, question) is None


def test_parts_of_dates_are_compared_as_texts() -> None:
    at = symbols("select", AGE, "where", "hour", YEAR, ">=")
    assert ground("from 9 on", "9", at) == "09"
    of = symbols("select", AGE, "where", "year", "from_dmy", YEAR, "=")
    assert ground("in 2014", "2014", of) == "2014"
    within = symbols("select", AGE, "where", "quarter", YEAR, "=")
    assert ground("in quarter 3", "3", within) == 3
