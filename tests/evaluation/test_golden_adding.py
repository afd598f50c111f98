"""Questions added to golden sets: `tests/cases/golden/adding.yaml`, and what makes a result fit to
be stored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from sqlwright.boundary.yaml_text import read_yaml, write_yaml
from sqlwright.database import open_database
from sqlwright.errors import DatasetError, UnsafeQuery
from sqlwright.lab.datasets.example import Expected
from sqlwright.lab.evaluation.golden.adding import NewQuestion, add_question, stored_result
from sqlwright.lab.evaluation.golden.questions import load_golden_set

CASES = yaml.safe_load(
    (Path(__file__).parents[1] / "cases" / "golden" / "adding.yaml").read_text("utf-8")
)
NEW = NewQuestion(
    "How many are open: all?",
    "SELECT COUNT(*) FROM orders WHERE status = 'open'",
    "open means 'open'",
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_question_is_added_and_the_rest_stays(case: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / case["name"]
    path.write_bytes(case["before"].encode())
    path.chmod(0o640)
    if "refused" in case:
        with pytest.raises(DatasetError, match=case["refused"]):
            add_question(path, NEW)
        assert path.read_bytes().decode() == case["before"]
    else:
        add_question(path, NEW)
        assert path.read_bytes().decode() == case["after"]
        assert load_golden_set(path, database=tmp_path).examples[-1].question == NEW.question
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", ["new.yaml", "new.json", "new.jsonl", "new.csv"])
def test_a_file_is_made_and_read_back_with_all_that_was_told(name: str, tmp_path: Path) -> None:
    rows = ((1, 0.1, None, "ü 'x'"), (2, 1e300, "", " two\nlines"))
    expected = Expected(("a", "b", "c", "d"), rows, ordered=True)
    whole = NewQuestion(
        "Was heißt “-- no”?\n#1: {x}", "SELECT 1,\n  2 -- \U0001f600", "- e", expected=expected,
        database=str(tmp_path / "data" / "shop.sqlite"), tags={"team": "sales"},
    )  # fmt: skip
    add_question(tmp_path / name, whole)
    add_question(tmp_path / name, NEW)
    first, second = load_golden_set(tmp_path / name, database=tmp_path / "other.sqlite").examples
    assert (first.question, first.gold_sql) == (whole.question, whole.sql)
    assert (first.evidence, first.expected) == (whole.evidence, expected)
    assert first.database.resolve() == tmp_path / "data" / "shop.sqlite"
    assert dict(first.tags) == {"team": "sales"}
    assert (second.question, second.gold_sql, second.evidence) == (
        NEW.question, NEW.sql, NEW.evidence,
    )  # fmt: skip


def test_a_database_stands_as_a_path_from_the_file(tmp_path: Path) -> None:
    (tmp_path / "ci").mkdir()
    path = tmp_path / "ci" / "mine.jsonl"
    add_question(path, NewQuestion("Who?", "SELECT 1", database=f"sqlite:///{tmp_path}/shop.db"))
    assert json.loads(path.read_text())["database"] == "../shop.db"


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.jsonl").write_text("")
    (tmp_path / "mine.jsonl").symlink_to("real.jsonl")
    add_question(tmp_path / "mine.jsonl", NEW)
    assert (tmp_path / "mine.jsonl").is_symlink()
    assert NEW.question in (tmp_path / "real.jsonl").read_text()


@pytest.mark.parametrize("sql", ["DELETE FROM orders", "SELECT 1; SELECT 2", ""])
def test_what_is_not_one_query_that_only_reads_is_refused(sql: str, tmp_path: Path) -> None:
    with pytest.raises(UnsafeQuery):
        add_question(tmp_path / "mine.yaml", NewQuestion("Who?", sql))
    assert list(tmp_path.iterdir()) == []


MANY = (
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 101) SELECT i FROM n"
)


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("SELECT nothere FROM customers", "the query fails: no such column"),
        (MANY, "more than 100 rows"),
        ("SELECT x'00'", "binary data"),
        ("SELECT 9e999", "number too large"),
        ("SELECT printf('%01001d', 1)", "very long text"),
    ],
)
def test_a_result_that_does_not_fit_a_text_file_is_refused(
    sql: str, told: str, database_files: dict[str, Path]
) -> None:
    database = open_database(str(database_files["shop"]))
    try:
        with pytest.raises(DatasetError, match=told):
            stored_result(database, sql)
        ordered = stored_result(database, "SELECT id, name FROM customers ORDER BY id LIMIT 1")
    finally:
        database.close()
    assert ordered == Expected(("id", "name"), ((1, "Ada Brandt"),), ordered=True)


@pytest.mark.parametrize(
    "data",
    [
        [{"a": "x: y", "b": "2026-01-05", "c": "null", "d": ["1", 2, 2.5, None, [True]]}],
        {"text": "two\nlines\n", "odd": "trailing \nblank", "control": "\x1b[31m", "big": 10**20},
    ],
)
def test_yaml_is_read_as_it_was_written(data: Any) -> None:
    twice = {"one": data, "other": data}  # no alias
    assert read_yaml(write_yaml(twice), "here") == twice
