"""What the embedded parser is shown of a question and a schema."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer

from sqlwright.english.as_trained import Word, akin, split_name, split_words, stem
from sqlwright.local.models import WEIGHTS
from sqlwright.local.parser.encode import encode
from sqlwright.local.parser.nodes import (
    BIT,
    COLUMN,
    RELATION,
    RELATIONS,
    TABLE,
    VALUE,
    WORD,
    Budget,
    Encoded,
    TableNode,
    ValueNode,
    WordPieces,
)
from sqlwright.schema import Column, ColumnRef, Schema, Table
from sqlwright.sql.declared_types import type_feature
from sqlwright.types import Question, ValueMatch
from tests.local.singers import AGE, COUNTRY, MALE, NAME, SINGERS


@pytest.fixture(scope="module")
def pieces() -> WordPieces:
    path = Path(WEIGHTS) / "tokenizer.json"
    if not path.exists():
        pytest.skip("the weights aren't there")
    return WordPieces(Tokenizer.from_file(str(path)))


def relation(encoded: Encoded, row: object, column: object) -> str:
    """The name of the relation of two nodes; a question word is named by its text."""
    places = {n.text if isinstance(n, Word) else n: i for i, n in enumerate(encoded.nodes)}
    return RELATIONS[encoded.relations[places[row], places[column]]]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("StuID", ["student", "id"]),
        ("dept_name", ["department", "name"]),
        ("HTTPServer", ["http", "server"]),
        ("line2", ["line", "2"]),
        ("naïveName", ["naïve", "name"]),
        ("名前", ["名前"]),
        ("__", ["__"]),
        ("", ["?"]),
    ],
)
def test_names_come_apart_into_words(name: str, words: list[str]) -> None:
    assert split_name(name) == words


def test_words_keep_their_places() -> None:
    text = "Who's in 'New York' since 2015-06-02, with unit_price >= 1,000.50?"
    words = split_words(text)
    assert [text[word.start : word.end] for word in words] == [word.text for word in words]
    assert {"Who's", "2015-06-02", "unit_price", "1,000.50", ">"} <= {word.text for word in words}


def test_stems_unite_forms_of_a_word_but_not_neighbours() -> None:
    assert stem("cities") == stem("city")
    assert stem("ordered") == stem("ordering") == stem("orders")
    assert akin(stem("nation"), stem("nationality"))
    assert not akin(stem("page"), stem("pages") + "x")
    assert not akin("car", "card")


def test_question_words_are_related_to_what_they_name(pieces: WordPieces) -> None:
    question = Question("What is the age of each singer and the name of the concert?")
    encoded = encode(question, SINGERS, (), {}, pieces)
    assert relation(encoded, "age", AGE) == "word-column:exact"
    assert relation(encoded, AGE, "age") == "column-word:exact"
    assert relation(encoded, "singer", TableNode("singer")) == "word-table:exact"
    assert relation(encoded, "name", ColumnRef("concert", "concert_Name")) == "word-column:partial"
    assert relation(encoded, "of", AGE) == "word-column"


def test_compound_names_in_the_text_match_as_a_whole(pieces: WordPieces) -> None:
    question = Question("How many?", evidence="born refers to concert_Name = 'x'")
    encoded = encode(question, SINGERS, (), {}, pieces)
    name = ColumnRef("concert", "concert_Name")
    assert relation(encoded, "concert_Name", name) == "word-column:exact"


def test_values_hang_on_their_column_and_their_words(pieces: WordPieces) -> None:
    question = Question("singers from New York")
    match = ValueMatch("New York", COUNTRY, "New York", 1.0, 3, (13, 21))
    near = ValueMatch("York", NAME, "Yorke", 0.9, 1, (17, 21))
    encoded = encode(question, SINGERS, (near, match), {}, pieces)
    value, other = ValueNode(COUNTRY, "New York", match), ValueNode(NAME, "Yorke", near)
    assert relation(encoded, "New", value) == "word-value:exact"
    assert relation(encoded, "York", other) == "word-value:fuzzy"
    assert relation(encoded, "New", COUNTRY) == "word-column:value"
    assert relation(encoded, value, COUNTRY) == "value-column:own"
    assert relation(encoded, "singers", value) == "word-value"
    place = encoded.nodes.index(COUNTRY)
    assert encoded.node_features[place] & BIT["has-hit"]


def test_the_very_spelling_beats_a_near_one(pieces: WordPieces) -> None:
    near = ValueMatch("Luís", NAME, "Luis", 1.0, 1, (5, 9))
    same = ValueMatch("Luís", NAME, "Luís", 1.0, 1, (5, 9))
    encoded = encode(Question("is a Luís here?"), SINGERS, (near, same), {}, pieces)
    assert [n.value for n in encoded.nodes if isinstance(n, ValueNode)] == ["Luís"]


def test_all_values_of_a_small_column_are_shown_once(pieces: WordPieces) -> None:
    match = ValueMatch("T", MALE, "T", 1.0, 3, (0, 1))
    encoded = encode(Question("T"), SINGERS, (match,), {MALE: ("T", "F")}, pieces)
    shown = [node for node in encoded.nodes if isinstance(node, ValueNode)]
    assert shown == [ValueNode(MALE, "T", match), ValueNode(MALE, "F")]


def test_keys_relate_tables_and_columns(pieces: WordPieces) -> None:
    encoded = encode(Question("x"), SINGERS, (), {}, pieces)
    near, far = ColumnRef("concert", "singerId"), ColumnRef("singer", "Singer_ID")
    assert relation(encoded, near, far) == "column-column:to"
    assert relation(encoded, far, near) == "column-column:from"
    assert relation(encoded, TableNode("concert"), TableNode("singer")) == "table-table:to"
    assert relation(encoded, TableNode("singer"), far) == "table-column:primary"
    assert relation(encoded, AGE, NAME) == "column-column:sibling"
    assert relation(encoded, AGE, AGE) == "column-column:same"


def test_pieces_belong_to_nodes_in_order(pieces: WordPieces) -> None:
    encoded = encode(Question("Average age?"), SINGERS, (), {}, pieces)
    owners = encoded.node_of_piece[encoded.node_of_piece >= 0]
    assert (np.diff(owners) >= 0).all()
    assert set(owners.tolist()) == set(range(len(encoded.nodes)))
    kinds = encoded.node_kinds.tolist()
    assert kinds.count(WORD) == 3
    assert kinds.count(TABLE) == 2
    assert kinds.count(COLUMN) == 9
    assert kinds.count(VALUE) == 0


def test_a_label_is_shown_instead_of_the_name(pieces: WordPieces) -> None:
    schema = Schema("s", (Table("t", (Column("A1", "text", label="birth place"),)),))
    encoded = encode(Question("the birth place"), schema, (), {}, pieces)
    assert relation(encoded, "birth", ColumnRef("t", "A1")) == "word-column:exact"


def test_a_wide_schema_keeps_what_the_question_names(pieces: WordPieces) -> None:
    tables = tuple(
        Table(f"table{t}", tuple(Column(f"column{t}x{c}", "int") for c in range(40)))
        for t in range(20)
    )
    schema = Schema("wide", (*tables, *SINGERS.tables), SINGERS.foreign_keys)
    question = Question("What is the age of singers from France?")
    match = ValueMatch("France", COUNTRY, "France", 1.0, 3, (32, 38))
    budget = Budget(pieces=120, nodes=60)
    encoded = encode(question, schema, (match,), {}, pieces, budget=budget)
    assert len(encoded.pieces) <= 120
    assert len(encoded.nodes) <= 60
    assert {AGE, COUNTRY, TableNode("singer")} <= set(encoded.nodes)


def test_given_priorities_decide_what_a_wide_schema_keeps(pieces: WordPieces) -> None:
    columns = tuple(Column(f"c{number}", "int") for number in range(200))
    schema = Schema("wide", (Table("t", columns),))
    wanted = ColumnRef("t", "c150")
    budget = Budget(pieces=40, nodes=30)
    encoded = encode(Question("sum"), schema, (), {}, pieces, budget=budget, priority={wanted: 1.0})
    assert wanted in encoded.nodes


def test_values_of_unknown_columns_are_left_out(pieces: WordPieces) -> None:
    match = ValueMatch("x", ColumnRef("nowhere", "c"), "x", 1.0, 1, (0, 1))
    encoded = encode(Question("x"), SINGERS, (match,), {}, pieces)
    assert not any(isinstance(node, ValueNode) for node in encoded.nodes)


@pytest.mark.parametrize(
    ("declared", "feature"),
    [
        ("VARCHAR(20)", "text-type"),
        ("Decimal(10,2)", "number-type"),
        ("timestamp", "time-type"),
        ("year", "time-type"),
        ("", "other-type"),
    ],
)
def test_declared_types_fall_into_four_classes(declared: str, feature: str) -> None:
    assert type_feature(declared) == feature


def test_the_vocabularies_fit_their_integers() -> None:
    assert len(RELATION) == len(RELATIONS) <= 256
    assert max(BIT.values()) < 2**32


DESCRIBED_SHOP = Schema(
    "shop",
    (
        Table(
            "ord",
            (
                Column("id", "int"),
                Column("st", "text", description="state of the order; C means cancelled"),
                Column("amt", "real", description="the amount"),
            ),
        ),
    ),
)
STATE = ColumnRef("ord", "st")


@pytest.mark.parametrize(("described", "found"), [(False, "word-column"), (True, "partial")])
def test_words_of_a_description_name_its_column(
    described: bool, found: str, pieces: WordPieces
) -> None:
    question = Question("how many cancelled ones")
    encoded = encode(question, DESCRIBED_SHOP, (), {}, pieces, described=described)
    plain = encode(question, DESCRIBED_SHOP, (), {}, pieces)
    assert found in relation(encoded, "cancelled", STATE)
    assert (len(encoded.pieces) > len(plain.pieces)) is described


@pytest.mark.parametrize(
    ("further", "pieces_left", "listed"), [(True, 352, 5), (False, 352, 0), (True, 12, 0)]
)
def test_values_of_a_column_with_few_are_shown_while_there_is_room(
    further: bool, pieces_left: int, listed: int, pieces: WordPieces
) -> None:
    states = {STATE: ("C", "N", "P", "S", "X")}
    budget = Budget(pieces=pieces_left, nodes=176)
    encoded = encode(
        Question("how many"), DESCRIBED_SHOP, (), states, pieces, budget=budget, further=further
    )
    values = [node for node in encoded.nodes if isinstance(node, ValueNode)]
    assert len(values) == listed
    assert all(node.column == STATE and node.match is None for node in values)
