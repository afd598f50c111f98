"""What a query says, in words: queries as data, and that no literal of a query is passed over."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from sqlglot import exp

from sqlwright.database import open_database
from sqlwright.schema import Column, ColumnRef, Schema, Table
from sqlwright.sql.in_words.query import read_query
from sqlwright.sql.tree import query_tree
from sqlwright.types import QueryPart, ValueMatch
from sqlwright.types.periods import period_of

CASES = Path(__file__).parents[1] / "cases"
READING: list[dict[str, Any]] = [
    case
    for file in sorted((CASES / "reading").glob("*.yaml"))
    for case in yaml.safe_load(file.read_text(encoding="utf-8"))
]
DATA = os.environ.get("SQLWRIGHT_DATA")


@pytest.fixture(scope="module")
def schemas(database_files: dict[str, Path]) -> dict[str, Schema]:
    found = {}
    for name, file in database_files.items():
        database = open_database(str(file))
        found[name] = database.schema()
        database.close()
    return found


def matches(case: dict[str, Any]) -> list[ValueMatch]:
    return [
        ValueMatch(phrase, ColumnRef(*column.split(".")), value, 0.9, rows)
        for phrase, column, value, rows in case.get("values", ())
    ]


def said(part: QueryPart) -> str:
    """As the cases have it: set in by its depth, the phrases behind it in front."""
    phrases = [match.phrase for match in part.condition.matches] if part.condition else []
    before = ", ".join(f'"{phrase}"' for phrase in phrases)
    return "  " * part.depth + (f"{before} -> " if before else "") + part.text


def untold(sql: str, told: str) -> list[str]:
    """The literals of a query that stand nowhere in a text.

    Formats of STRFTIME, types, places in ORDER BY and GROUP BY and what an EXISTS selects are
    no values; the days between which a value is may be told as the month or year that they are.
    """
    tree = query_tree(sql)
    assert tree is not None
    return [
        node.name
        for node in tree.find_all(exp.Literal)
        if not isinstance(node.parent, (exp.TimeToStr, exp.Ordered, exp.Group))
        and not (isinstance(node.parent, (exp.GTE, exp.LT)) and period_of(node.name))
        and node.find_ancestor(exp.DataType) is None
        and not (isinstance(node.parent, exp.Select) and isinstance(node.parent.parent, exp.Exists))
        and node.name.strip("%").replace("'", "''") not in told
    ]


@pytest.mark.parametrize("case", READING, ids=lambda case: case["sql"])
def test_a_query_says(case: dict[str, Any], schemas: dict[str, Schema]) -> None:
    schema = schemas[case.get("database", "shop")]
    parts = read_query(case["sql"], schema, matches(case))
    assert [said(part) for part in parts] == case["says"]


@pytest.mark.parametrize("case", READING, ids=lambda case: case["sql"])
def test_every_literal_is_told(case: dict[str, Any], schemas: dict[str, Schema]) -> None:
    parts = read_query(case["sql"], schemas[case.get("database", "shop")])
    if query_tree(case["sql"]) is not None:
        assert not untold(case["sql"], "\n".join(part.text for part in parts))


@pytest.mark.parametrize("case", READING, ids=lambda case: case["sql"])
def test_a_part_stands_at_most_one_step_deeper_than_the_one_before(
    case: dict[str, Any], schemas: dict[str, Schema]
) -> None:
    parts = read_query(case["sql"], schemas[case.get("database", "shop")])
    for before, part in zip((QueryPart("other", "", -1), *parts), parts, strict=False):
        assert part.depth <= before.depth + 1
        assert part.depth <= before.depth or part.depth == 0 or before.text.endswith(":")


def test_the_cases_are_many() -> None:
    assert len(READING) >= 100


def test_a_condition_is_told_in_its_pieces(schemas: dict[str, Schema]) -> None:
    sql = "SELECT SUM(total) FROM orders WHERE 'open' != status HAVING COUNT(*) NOT BETWEEN 1 AND 3"
    match = ValueMatch("open", ColumnRef("orders", "status"), "open", 1.0, 2)
    where, shown, having = read_query(sql, schemas["shop"], [match])
    assert (where.kind, shown.kind, having.kind) == ("where", "shown", "having")
    assert shown.condition is None
    assert where.condition is not None
    assert where.condition.subject == "orders.status"
    assert where.condition.operator == "!="
    assert where.condition.operands == ("'open'",)
    assert where.condition.columns == (ColumnRef("orders", "status"),)
    assert where.condition.matches == (match,)
    assert having.condition is not None
    assert having.condition.operator == "not between"
    assert having.condition.operands == ("1", "3")
    assert having.condition.object == "1 and 3"


def test_an_enormous_query_is_told_all_the_same(schemas: dict[str, Schema]) -> None:
    long = " AND ".join(f"id <> {number}" for number in range(2_000))
    parts = read_query(f"SELECT name FROM customers WHERE {long}", schemas["shop"])
    assert len(parts) == 2_000
    deep = "SELECT id FROM orders WHERE id IN (" * 60 + "SELECT 7" + ")" * 60
    assert "7" in read_query(deep, schemas["shop"])[-1].text


def queries_of_other_tests() -> Iterator[str]:
    yield from yaml.safe_load((CASES / "guard" / "accepted.yaml").read_text(encoding="utf-8"))
    for file in (CASES / "attacks").glob("*.yaml"):
        for case in yaml.safe_load(file.read_text(encoding="utf-8")):
            yield case if isinstance(case, str) else str(case.get("sql"))


@pytest.mark.parametrize("sql", sorted(set(queries_of_other_tests())))
def test_any_text_can_be_read(sql: str, schemas: dict[str, Schema]) -> None:
    parts = read_query(sql, schemas["shop"])
    if query_tree(sql) is not None:
        assert not untold(sql, "\n".join(part.text for part in parts))


def spider_schema(entry: dict[str, Any]) -> Schema:
    tables = [
        Table(name, tuple(Column(c) for place, c in entry["column_names_original"] if place == n))
        for n, name in enumerate(entry["table_names_original"])
    ]
    return Schema(entry["db_id"], tuple(tables))


@pytest.mark.skipif(not DATA, reason="SQLWRIGHT_DATA names no folder with data sets")
def test_every_literal_of_many_queries_is_told() -> None:
    folder = Path(DATA or "") / "spider"
    schemas = {
        entry["db_id"]: spider_schema(entry)
        for entry in json.loads((folder / "tables.json").read_text(encoding="utf-8"))
    }
    examples = json.loads((folder / "train_spider.json").read_text(encoding="utf-8"))
    missing = []
    for database, sql in sorted({(one["db_id"], one["query"]) for one in examples}):
        told = "\n".join(part.text for part in read_query(sql, schemas[database]))
        missing += [(sql, text) for text in untold(sql, told)]
    assert not missing


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("paid = FALSE", "bills.paid = FALSE"),
        ("paid IN (TRUE, NULL)", "bills.paid in (TRUE, NULL)"),
        ("coalesce(paid, FALSE) = TRUE", "COALESCE(bills.paid, FALSE) = TRUE"),
        ("state = 0", "bills.state = 0"),
    ],
)
def test_truth_values_of_other_dialects_are_told_as_they_are_written(
    condition: str, said: str
) -> None:
    columns = (Column("paid", "BOOLEAN"), Column("state", "INTEGER"))
    schema = Schema("bills", (Table("bills", columns),), dialect="duckdb")
    (part,) = read_query(f"SELECT count(*) FROM bills WHERE {condition}", schema)[:1]
    assert part.text == said
