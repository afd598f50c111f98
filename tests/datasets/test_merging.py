"""Databases merged into one: names, keys, rows, descriptions, and the questions over them."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from benchmarks.merge_databases import merge, rename_tables

from sqlwright.errors import DatasetError
from sqlwright.lab.datasets.bird import load_bird
from sqlwright.lab.datasets.example import Dataset
from sqlwright.lab.datasets.spider import load_spider

SHOP = """
CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
CREATE TABLE orders
    (id INTEGER PRIMARY KEY, buyer INTEGER REFERENCES people, total REAL, more BLOB);
CREATE VIEW dear AS SELECT * FROM orders WHERE total > 9;
INSERT INTO people VALUES (1, 'Ada'), (2, 'Ben');
INSERT INTO orders VALUES (1, 1, 10.5, x'00ff'), (2, 1, NULL, NULL), (3, 2, 5, NULL);
"""
ZOO = """
CREATE TABLE People (nr TEXT, part TEXT, "full name" TEXT, PRIMARY KEY (nr, part));
CREATE TABLE cages (nr TEXT, part TEXT, FOREIGN KEY (nr, part) REFERENCES People (nr, part));
INSERT INTO People VALUES ('1', 'a', 'Zoe');
INSERT INTO cages VALUES ('1', 'a');
"""
QUESTIONS = [
    (
        "shop",
        "SELECT people.name, orders.total FROM orders JOIN people ON people.id = orders.buyer",
    ),
    ("shop", "SELECT count(*) FROM dear"),
    ("shop", "SELECT nothing FROM nowhere"),
    ("zoo", 'SELECT p."full name" FROM people AS p JOIN cages USING (nr, part)'),
    ("zoo", "SELECT People.nr FROM People WHERE nr IN (SELECT cages.nr FROM cages)"),
    ("gone", "SELECT 1"),
]


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    for name, script in (("shop", SHOP), ("zoo", ZOO)):
        place = tmp_path / "set" / "dev_databases" / name
        (place / "database_description").mkdir(parents=True)
        with closing(sqlite3.connect(place / f"{name}.sqlite")) as connection:
            connection.executescript(script)
    described = tmp_path / "set/dev_databases/zoo/database_description/people.csv"
    described.write_text("original_column_name,column_description\nnr,the number\n")
    rows = [
        {
            "question_id": place,
            "db_id": db_id,
            "question": f"Q{place}?",
            "evidence": "e",
            "SQL": sql,
        }
        for place, (db_id, sql) in enumerate(QUESTIONS)
    ]
    (tmp_path / "set" / "dev.json").write_text(json.dumps(rows))
    return load_bird(tmp_path / "set")


def read(path: Path, sql: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(sql).fetchall()


def test_questions_are_kept_where_their_queries_give_the_same_rows(
    dataset: Dataset, tmp_path: Path
) -> None:
    merged = merge(dataset, tmp_path / "out", seed=1)
    assert (merged.databases, merged.tables, merged.columns, merged.questions) == (2, 4, 11, 3)
    said = "\n".join(merged.left_out)
    assert "gone is left out" in said
    assert "1 question left out: the query gives other rows over the merged tables" in said
    assert "1 question left out: the query doesn't run" in said
    as_bird, as_spider = load_bird(tmp_path / "out"), load_spider(tmp_path / "out")
    assert {example.db_id for example in as_bird.examples} == {"merged"}
    assert sorted(example.id for example in as_bird.examples) == ["0", "3", "4"]
    pairs = zip(as_bird.examples, as_spider.examples, strict=True)
    assert all(bird.gold_sql == spider.gold_sql for bird, spider in pairs)
    for example in as_bird.examples:
        db_id, sql = QUESTIONS[int(example.id)]
        own = tmp_path / "set" / "dev_databases" / db_id / f"{db_id}.sqlite"
        assert read(example.database, example.gold_sql) == read(own, sql)
        assert (example.question, example.evidence) == (f"Q{example.id}?", "e")


def test_names_keys_rows_and_descriptions_go_along(dataset: Dataset, tmp_path: Path) -> None:
    merge(dataset, tmp_path / "out", prefix=True)
    place = tmp_path / "out" / "database" / "merged"
    path = place / "merged.sqlite"
    tables = {name for (name,) in read(path, "SELECT name FROM sqlite_schema WHERE type = 'table'")}
    assert tables == {"shop_people", "shop_orders", "zoo_People", "zoo_cages"}
    assert read(path, "SELECT * FROM shop_orders") == [
        (1, 1, 10.5, b"\x00\xff"), (2, 1, None, None), (3, 2, 5.0, None),
    ]  # fmt: skip
    keys = 'SELECT "table", "from", "to" FROM pragma_foreign_key_list(?)'
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute(keys, ("shop_orders",)).fetchall() == [
            ("shop_people", "buyer", "id")
        ]
        assert len(connection.execute(keys, ("zoo_cages",)).fetchall()) == 2
    assert "the number" in (place / "database_description" / "zoo_People.csv").read_text()
    names = json.loads((tmp_path / "out" / "names.json").read_text())
    assert names["zoo"] == {"People": "zoo_People", "cages": "zoo_cages"}


def test_as_many_are_merged_as_the_columns_take(dataset: Dataset, tmp_path: Path) -> None:
    few = merge(dataset, tmp_path / "few", columns=5)
    assert few.databases == 1
    many = merge(dataset, tmp_path / "many", columns=500)
    assert "all databases together have 11 columns, not 500" in many.left_out


def test_a_folder_that_holds_something_is_left_alone(dataset: Dataset, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").touch()
    with pytest.raises(DatasetError, match="isn't empty"):
        merge(dataset, tmp_path / "out")
    assert (tmp_path / "out" / "mine.txt").exists()


@pytest.mark.parametrize(
    ("sql", "renamed"),
    [
        ("SELECT a FROM t", 'SELECT a FROM "x_t" AS "t"'),
        ("SELECT T.a FROM T", 'SELECT T.a FROM "x_t" AS "T"'),
        ("SELECT b.a FROM t AS b", 'SELECT b.a FROM "x_t" AS b'),
        ("WITH t AS (SELECT 1 AS a) SELECT a FROM t", "WITH t AS (SELECT 1 AS a) SELECT a FROM t"),
        ("SELECT a FROM other WHERE b = 't'", "SELECT a FROM other WHERE b = 't'"),
        ("DELETE FROM t", None),
    ],
)
def test_tables_are_renamed_and_keep_their_names_as_aliases(sql: str, renamed: str | None) -> None:
    assert rename_tables(sql, {"t": "x_t", "other": "other"}) == renamed
