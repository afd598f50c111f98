import sqlite3
from collections import Counter

import pytest

from sqlwright.demo.business import demo_questions, rows_digest, write_business


@pytest.fixture(scope="module")
def business(tmp_path_factory):
    path = tmp_path_factory.mktemp("demo") / "business.sqlite"
    write_business(path)
    connection = sqlite3.connect(path)
    yield connection
    connection.close()


def test_the_same_seed_gives_the_same_rows(tmp_path, business):
    write_business(tmp_path / "again.sqlite")
    again = sqlite3.connect(tmp_path / "again.sqlite")
    assert list(again.iterdump()) == list(business.iterdump())
    again.close()


def test_it_has_a_dozen_tables_without_dangling_references(business):
    tables = business.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    assert len(tables) == 12
    assert business.execute("PRAGMA foreign_key_check").fetchall() == []
    for (table,) in tables:
        assert business.execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0] > 0


def test_there_are_thirty_questions_of_graded_difficulty():
    assert Counter(q.level for q in demo_questions()) == {"easy": 10, "medium": 12, "hard": 8}


@pytest.mark.parametrize("question", demo_questions(), ids=lambda q: q.text)
def test_the_stored_answer_is_the_query_s(question, business):
    rows = business.execute(question.sql).fetchall()
    assert rows
    assert rows_digest(rows) == question.digest


@pytest.mark.parametrize(
    "question", [q for q in demo_questions() if "LIMIT" in q.sql], ids=lambda q: q.text
)
def test_no_tie_decides_who_is_first(question, business):
    select, ordering = question.sql.rsplit(" ORDER BY ", 1)
    key, limit = ordering.split(" DESC LIMIT ")
    keyed = select.replace("SELECT ", f"SELECT {key}, ", 1)
    keys = [row[0] for row in business.execute(f"{keyed} ORDER BY {key} DESC").fetchall()]
    assert len(set(keys[: int(limit) + 1])) == int(limit) + 1
