"""Renaming keeps question, schema and values consistent."""

from __future__ import annotations

import random

from training.embedded.questions.augment import Rates, abbreviate, shown_question, shown_schema
from training.embedded.questions.renaming import NamedExample, NamePool, rename

from sqlwright.english.as_trained import split_name
from sqlwright.schema import Column, Schema, Table
from sqlwright.types import Question, ValueMatch
from tests.local.singers import COUNTRY, SINGERS

NAMES = NamePool(
    {
        "table": [("vendor",), ("bus",)],
        "number-type": [("salary",), ("room", "count")],
        "text-type": [("color",)],
    }
)


def labels(schema: Schema) -> set[str]:
    return {item.label for table in schema.tables for item in (table, *table.columns) if item.label}


def test_question_and_schema_change_together() -> None:
    question = Question("What is the age of all singers?")
    seen = set()
    for seed in range(40):
        shown = rename(NamedExample(question, SINGERS, ()), NAMES, random.Random(seed), most=1)
        assert shown.schema.foreign_keys == SINGERS.foreign_keys
        assert [t.name for t in shown.schema.tables] == [t.name for t in SINGERS.tables]
        for label in labels(shown.schema):
            assert any(word in shown.question.text for word in label.split())
        seen.add(shown.question.text)
    assert "What is the salary of all singers?" in seen
    assert "What is the age of all vendors?" in seen


def test_a_word_within_names_changes_everywhere() -> None:
    question = Question("How many concerts are there?")
    found = [
        shown.schema
        for seed in range(20)
        if (
            shown := rename(NamedExample(question, SINGERS, ()), NAMES, random.Random(seed))
        ).question
        != question
    ]
    assert found
    for schema in found:
        concert = schema.tables[1]
        assert concert.label in {"vendor", "bus"}
        assert concert.columns[0].label == f"{concert.label} id"
        assert concert.columns[1].label == f"{concert.label} name"


def test_spans_of_values_move_with_the_text() -> None:
    text = "age of singers from France"
    match = ValueMatch("France", COUNTRY, "France", 1.0, 1, (20, 26))
    for seed in range(20):
        shown = rename(NamedExample(Question(text), SINGERS, (match,)), NAMES, random.Random(seed))
        span = shown.values[0].span
        assert span is not None
        assert shown.question.text[span[0] : span[1]] == "France"


def test_a_name_inside_a_value_stays() -> None:
    text = "the singer named Age"
    match = ValueMatch("singer named Age", COUNTRY, "Singer Named Age", 1.0, 1, (4, 20))
    shown = NamedExample(Question(text), SINGERS, (match,))
    assert rename(shown, NAMES, random.Random(0)).question.text == text


def test_names_are_collected_by_kind() -> None:
    schema = Schema("s", (Table("book_shop", (Column("Unit_Price", "real"), Column("id", "int"))),))
    names = NamePool.collect([schema])
    assert names.by_kind["table"] == [("book", "shop")]
    assert names.by_kind["number-type"] == [("unit", "price")]


def test_shown_schemas_keep_stored_names() -> None:
    for seed in range(10):
        shown = shown_schema(SINGERS, Rates(), random.Random(seed))
        assert set(shown.columns) == set(SINGERS.columns)


def test_positions_survive_changes_of_the_question() -> None:
    question = Question("Is İstanbul in Turkey?")
    for seed in range(20):
        text = shown_question(question, Rates(), random.Random(seed)).text
        assert len(text) in {len(question.text), len(question.text) - 1}


def test_abbreviations_are_shorter_and_never_empty() -> None:
    for seed in range(30):
        short = abbreviate(["department", "number"], random.Random(seed))
        assert 0 < len(short) < len("department number")
        assert split_name(short)
