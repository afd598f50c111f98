"""Databases widened by others' tables: questions and gold queries stay what they were."""

import json
import sqlite3
from contextlib import closing

from benchmarks.large_schema import surround

from sqlwright.lab.datasets.bird import load_bird
from sqlwright.lab.datasets.spider import load_spider
from tests.evaluation.sets import GERMAN, spider_set

OTHERS = {
    "library": "CREATE TABLE customers (id INTEGER PRIMARY KEY, a TEXT, b TEXT, c TEXT);"
    "CREATE TABLE loans (id INTEGER REFERENCES customers (id), d DATE, e REAL);",
    "farm": "CREATE TABLE fields (id INTEGER PRIMARY KEY, f TEXT, g TEXT, h TEXT);",
    "shop1": "CREATE TABLE twin (never TEXT);",
}


def columns(path):
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(
            "SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c"
        ).fetchall()


def test_a_database_keeps_what_it_holds_and_gets_others_tables(tmp_path, database_files):
    train = tmp_path / "data" / "bird" / "train"
    train.mkdir(parents=True)
    (train / "train_schemas_ddl.json").write_text(json.dumps(OTHERS))
    (train / "train_column_meaning.json").write_text(json.dumps({"farm|fields|f": "the crop"}))
    own = spider_set(tmp_path / "set", database_files["shop"], {"Who is German?": GERMAN})
    dataset = load_spider(own)
    made = surround(tmp_path / "data", dataset, tmp_path / "out", 40)
    (as_spider,), (as_bird,) = load_spider(made).examples, load_bird(made).examples
    assert as_spider.database == as_bird.database
    assert (as_bird.question, as_bird.gold_sql) == ("Who is German?", GERMAN)
    before, after = columns(dataset.examples[0].database), columns(as_bird.database)
    assert set(before) < set(after)
    assert len(after) >= 40
    assert not any("twin" in table for table, _ in after), "a database isn't put around itself"
    with closing(sqlite3.connect(as_bird.database)) as connection:
        assert connection.execute(GERMAN).fetchall() == [("Ada Brandt",), ("Chen Li",)]
    described = as_bird.database.parent / "database_description"
    assert any("the crop" in file.read_text() for file in described.glob("*fields.csv"))
