from __future__ import annotations

import json
from pathlib import Path

import pytest
from training.embedded.critic.refusal import impossible, without_columns
from training.embedded.linker.data import (
    LinkExample,
    bird_examples,
    bird_schema,
    in_merged,
    merge,
    merged_examples,
)
from training.embedded.linker.gold import used
from training.embedded.pairs import Pair
from training.embedded.split import HELD_BACK

from sqlwright.schema import Column, ColumnRef, ForeignKey, Schema, Table
from sqlwright.types import Question, ValueMatch

DDL = """
CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT, born INTEGER);
CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT, author_id INTEGER REFERENCES author (id));
"""
BOOKS = bird_schema("books", DDL)


def refs(*names: str) -> frozenset[ColumnRef]:
    return frozenset(ColumnRef(*name.split(".")) for name in names)


@pytest.mark.parametrize(
    ("sql", "tables", "columns", "joining"),
    [
        (
            "SELECT T1.title FROM book AS T1 JOIN author AS T2 ON T1.author_id = T2.id "
            "WHERE T2.name = 'Ann'",
            {"book", "author"},
            refs("book.title", "author.name"),
            refs("book.author_id", "author.id"),
        ),
        ("SELECT count(*) FROM BOOK", {"book"}, refs(), refs()),
        (
            "SELECT name FROM author WHERE id NOT IN (SELECT author_id FROM book)",
            {"author", "book"},
            refs("author.name", "author.id", "book.author_id"),
            refs(),
        ),
        ('SELECT title FROM book WHERE title = "Emma"', {"book"}, refs("book.title"), refs()),
        (
            "SELECT born FROM author UNION SELECT id FROM book ORDER BY 1",
            {"author", "book"},
            refs("author.born", "book.id"),
            refs(),
        ),
    ],
)
def test_what_a_gold_query_uses(
    sql: str, tables: set[str], columns: set[ColumnRef], joining: set[ColumnRef]
) -> None:
    found = used(sql, BOOKS)
    assert found is not None
    assert (found.tables, found.columns, found.joining) == (tables, columns, joining)


def test_text_in_either_quotes_is_a_literal_of_its_column() -> None:
    for literal in ("'Emma'", '"Emma"'):
        found = used(f"SELECT id FROM book WHERE title = {literal}", BOOKS)
        assert found is not None
        assert found.literals == {(ColumnRef("book", "title"), "Emma")}


@pytest.mark.parametrize("sql", ["", "SELECT FROM WHERE", "SELECT a FROM nowhere"])
def test_what_is_no_query_over_the_schema_gives_nothing(sql: str) -> None:
    assert used(sql, BOOKS) is None


def bird_folder(root: Path, names: list[str]) -> Path:
    train = root / "bird" / "train"
    train.mkdir(parents=True)
    rows = [
        {
            "db_id": name,
            "question": "Which titles?",
            "evidence": "",
            "SQL": "SELECT title FROM book",
        }
        for name in names
    ]
    (train / "train.json").write_text(json.dumps(rows))
    (train / "train_schemas_ddl.json").write_text(json.dumps(dict.fromkeys(names, DDL)))
    (train / "train_column_meaning.json").write_text(json.dumps({"books|book|title": "The title"}))
    return root


def test_databases_held_back_for_measuring_are_never_learnt_from(tmp_path: Path) -> None:
    folder = bird_folder(tmp_path, ["books", *sorted(HELD_BACK)])
    examples = bird_examples(folder)
    assert {example.database for example in examples} == {"books"}


def example() -> LinkExample:
    text = "Which books did Ann write?"
    needed = used("SELECT title FROM book JOIN author ON author_id = author.id", BOOKS)
    assert needed is not None
    hit = ValueMatch("Ann", ColumnRef("author", "name"), "Ann", 1.0)
    return LinkExample(Question(text), BOOKS, (hit,), needed, "books", "test")


def test_a_merged_schema_keeps_every_column_and_moves_what_is_needed() -> None:
    other = Schema("films", (Table("book", (Column("pages"),)),), ())
    schema, renamed = merge([other, BOOKS])
    assert schema.column_count == other.column_count + BOOKS.column_count
    assert renamed["books"] == {"author": "author", "book": "books_book"}
    assert ForeignKey("books_book", ("author_id",), "author", ("id",)) in schema.foreign_keys
    moved = in_merged(example(), schema, renamed["books"])
    assert moved.used.tables == {"books_book", "author"}
    assert moved.used.columns == refs("books_book.title")
    assert all(schema.column(ref) for ref in moved.used.columns | moved.used.joining)


def test_merged_examples_are_as_many_as_asked_for() -> None:
    assert len(merged_examples([example()], columns=100, count=3, seed=1)) == 3


def test_columns_are_taken_out_with_their_keys() -> None:
    without = without_columns(BOOKS, refs("author.id"))
    assert without.column(ColumnRef("author", "id")) is None
    assert without.foreign_keys == ()
    assert without.table("author") is not None
    assert without_columns(BOOKS, frozenset(BOOKS.columns)).tables == ()


def test_impossible_questions_are_of_all_kinds_and_repeatable() -> None:
    zoo = Schema("zoo", (Table("animal", (Column("name"), Column("weight"))),))
    pairs = [
        Pair(
            Question("List the weight of every animal"),
            "SELECT weight FROM animal",
            "zoo",
            "spider",
        ),
        Pair(Question("When was each author born?"), "SELECT born FROM author", "books", "spider"),
    ]
    schemas = {"books": BOOKS, "zoo": zoo}

    def explains(schema: Schema, phrase: str) -> float:
        return float(any(ref.column in phrase for ref in schema.columns))

    found = impossible(pairs, schemas, explains, each=10, seed=3)
    assert found == impossible(pairs, schemas, explains, each=10, seed=3)
    kinds = {one.kind for one in found}
    assert {"removed", "foreign", "world"} <= kinds
    assert kinds & {"property", "thing"}
    removed = next(one for one in found if one.kind == "removed" and one.database == "zoo")
    assert removed.removed == refs("animal.weight")
