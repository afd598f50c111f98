"""Queries of several dialects: the same facts and forms, names by each dialect's rule."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from benchmarks.merge_databases import rename_tables

from sqlwright.errors import UnsupportedQuery
from sqlwright.local.form.read.sql import read_sql
from sqlwright.schema import Column, ColumnRef, ForeignKey, Schema, Table
from sqlwright.sql.calculations import calculations
from sqlwright.sql.features import features
from sqlwright.sql.in_words.query import read_query
from sqlwright.sql.neighbours import neighbours
from sqlwright.sql.reading import (
    columns_used,
    compared_texts,
    computes_within,
    format_sql,
    has_order_by,
    is_query,
    read_facts,
    tables_used,
    varies_by_itself,
)
from sqlwright.sql.shape.tree import shaped_tree
from sqlwright.sql.tied import cuts, ranked, settled_groups, settled_order, with_equal_rows

CASES = Path(__file__).parents[1] / "cases" / "dialects"
DIALECTS = ("sqlite", "postgres", "duckdb", "mysql", "mariadb", "snowflake", "bigquery", "tsql")


def cases(name: str) -> list[Any]:
    return yaml.safe_load((CASES / f"{name}.yaml").read_text("utf-8"))  # type: ignore[no-any-return]


def shop(dialect: str) -> Schema:
    def table(name: str, columns: str, namespace: str = "") -> Table:
        declared = (one.split(":") for one in columns.split())
        made = tuple(Column(own, kind) for own, kind in declared)
        whole = f"{namespace}.{name}" if namespace else name
        return Table(whole, made, ("id",), namespace=namespace)

    return Schema(
        "shop",
        (
            table("customers", "id:INTEGER name:TEXT city:TEXT joined:DATE active:BOOLEAN"),
            table(
                "orders",
                "id:INTEGER customer_id:INTEGER ordered:DATE shipped:DATE placed_at:TIMESTAMP "
                "total:REAL quantity:INTEGER note:TEXT",
            ),
            table("Fees", "id:INTEGER Rate:REAL"),
            table("orders", "id:INTEGER amount:REAL", "sales"),
        ),
        (ForeignKey("orders", ("customer_id",), "customers", ("id",)),),
        dialect,
    )


def spellings() -> Iterator[Any]:
    for case in cases("same"):
        for dialect in ("postgres", "duckdb", "mysql"):
            given = case.get(dialect, [])
            for number, sql in enumerate([given] if isinstance(given, str) else given, 1):
                name = f"{case['question']}-{dialect}-{number}"
                yield pytest.param(case["sqlite"], dialect, sql, id=name)


@pytest.mark.parametrize(("sqlite", "dialect", "sql"), list(spellings()))
def test_one_questions_query_is_the_same_in_each_dialect(
    sqlite: str, dialect: str, sql: str
) -> None:
    expected = read_facts(sqlite, shop("sqlite"))
    assert expected is not None
    assert read_facts(sql, shop(dialect)) == expected
    assert form(sql, dialect) == form(sqlite, "sqlite")


OTHERWISE_SAID = ("COUNT(1)", "CASE WHEN quantity", "(CURRENT_DATE -", "(quantity > 10)")
"""Parts of queries that words repeat as they are written."""


@pytest.mark.parametrize(("sqlite", "dialect", "sql"), list(spellings()))
def test_one_questions_query_is_told_alike_in_each_dialect(
    sqlite: str, dialect: str, sql: str
) -> None:
    if not any(part in sql for part in OTHERWISE_SAID):
        # A truth is told as it is written: 1 in SQLite, TRUE where it is one.
        told = repr(read_query(sql, shop(dialect))).replace("TRUE", "1").replace("FALSE", "0")
        assert told == repr(read_query(sqlite, shop("sqlite")))


def form(sql: str, dialect: str) -> object:
    """The form; where there is none, nothing."""
    try:
        return read_sql(sql, shop(dialect))
    except UnsupportedQuery:
        return None


def test_most_questions_are_asked_in_all_four() -> None:
    asked = [case for case in cases("same") if {"postgres", "duckdb", "mysql"} <= case.keys()]
    assert len(asked) >= 60
    assert sum(form(case["sqlite"], "sqlite") is not None for case in asked) >= 60


@pytest.mark.parametrize(
    "case", cases("names"), ids=lambda case: f"{case['dialect']}-{case['sql']}"
)
def test_names_mean_what_the_dialects_rule_says(case: dict[str, Any]) -> None:
    facts = read_facts(case["sql"], shop(case["dialect"]))
    assert facts is not None
    assert list(facts.tables) == case["tables"]
    assert [str(ref) for ref in facts.columns] == case["columns"]
    assert sorted(facts.texts) == case.get("texts", [])


@pytest.mark.parametrize("case", cases("less"), ids=lambda case: f"{case['dialect']}-{case['sql']}")
def test_what_sqlite_cant_say_is_said_less_of(case: dict[str, Any]) -> None:
    schema = shop(case["dialect"])
    facts = read_facts(case["sql"], schema)
    assert facts is not None
    joins = [join.kind for join in facts.first.joins]
    told = {
        "distinct": facts.first.distinct,
        "columns": [str(ref) for ref in facts.columns],
        "tables": list(facts.tables),
        "dates": sum(len(term.dates) for term in facts.terms()),
        "join": joins[0] if joins else "",
        "limit": facts.limit,
    }
    assert {name: told[name] for name in case["facts"]} == case["facts"]
    with pytest.raises(UnsupportedQuery, match=f"(?i){case['form']}"):
        read_sql(case["sql"], schema)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("sql", cases("unreadable"))
def test_what_no_dialect_reads_says_nothing(sql: str, dialect: str) -> None:
    schema = shop(dialect)
    assert not is_query(sql, dialect)
    assert read_facts(sql, schema) is None
    assert columns_used(sql, schema) == compared_texts(sql, schema) == ()
    assert tables_used(sql, dialect) == features(sql, dialect) == neighbours(sql, schema) == ()
    assert not has_order_by(sql, dialect)
    assert not computes_within(sql, dialect)
    assert format_sql(sql, dialect) == sql
    assert not list(cuts(sql, dialect, 1))
    assert (
        with_equal_rows(sql, dialect)
        is ranked(sql, dialect)
        is rename_tables(sql, {"a": "b"}, dialect)
        is None
    )
    assert settled_order(sql, 1, dialect, descending=True) is None
    assert settled_groups(sql, dialect, highest=True) is None
    assert calculations(sql, dialect).functions == frozenset()
    assert read_query(sql, schema) == ()


def test_the_shared_tree_stays_as_it_was() -> None:
    sql = "SELECT EXTRACT(YEAR FROM ordered) FROM orders WHERE total::numeric / 2 > 1"
    before = shaped_tree(sql, "postgres")
    read_facts(sql, shop("postgres"))
    again = shaped_tree(sql, "postgres")
    assert before is again
    assert is_query(sql, "postgres")
    assert format_sql(sql, "postgres").startswith("SELECT\n  EXTRACT(YEAR FROM ordered)")


TEXTS = [
    (
        "postgres",
        "SELECT id FROM orders WHERE note ILIKE 'a%' AND note <> E'it\\'s'",
        ["a%", "it's"],
    ),
    (
        "postgres",
        "SELECT id FROM orders WHERE note = $$x$$ OR note IN ('p', 'q''r')",
        ["x", "p", "q'r"],
    ),
    ("mysql", 'SELECT id FROM orders WHERE note = "a\\"b" AND note LIKE \'%c\'', ['a"b', "%c"]),
    ("duckdb", "SELECT id /* 'no' */ FROM orders WHERE note = 'x' -- 'no'", ["x"]),
]


@pytest.mark.parametrize(("dialect", "sql", "texts"), TEXTS)
def test_texts_that_columns_are_compared_with_are_found_where_they_stand(
    dialect: str, sql: str, texts: list[str]
) -> None:
    found = compared_texts(sql, shop(dialect))
    assert [one.text for one in found] == texts
    assert {one.column for one in found} == {ColumnRef("orders", "note")}
    for one in found:
        changed = f"{sql[: one.start]}'else'{sql[one.end :]}"
        others = [text for text in texts if text != one.text]
        assert [each.text for each in compared_texts(changed, shop(dialect))].count("else") == 1
        assert {each.text for each in compared_texts(changed, shop(dialect))} == {*others, "else"}


VARYING = {
    "postgres": ["SELECT now()", "SELECT CURRENT_DATE", "SELECT random()", "SELECT age(a) FROM t"],
    "duckdb": ["SELECT today()", "SELECT random()", "SELECT uuid()", "SELECT now()"],
    "mysql": ["SELECT CURDATE()", "SELECT RAND()", "SELECT NOW()", "SELECT SYSDATE()"],
}


@pytest.mark.parametrize("dialect", VARYING)
def test_what_varies_by_itself(dialect: str) -> None:
    assert all(varies_by_itself(sql, dialect) for sql in VARYING[dialect])
    assert not varies_by_itself("SELECT ordered FROM orders WHERE note = 'now'", dialect)
    assert not varies_by_itself("SELECT EXTRACT(YEAR FROM ordered) FROM orders", dialect)


WRITTEN = [
    (
        "postgres",
        "SELECT name FROM customers WHERE name ILIKE 'a%' ORDER BY joined LIMIT 2",
        "ILIKE",
    ),
    ("mysql", "SELECT `name` FROM `customers` ORDER BY `joined` LIMIT 2", "`name`"),
]


@pytest.mark.parametrize(("dialect", "sql", "kept"), WRITTEN)
def test_queries_made_of_others_are_in_their_dialect(dialect: str, sql: str, kept: str) -> None:
    schema = shop(dialect)
    made = [
        next(cuts(sql, dialect, 1)).sql,
        with_equal_rows(sql, dialect),
        settled_order(sql, 1, dialect, descending=True),
        rename_tables(sql, {"customers": "people"}, dialect),
        *neighbours(sql, schema),
    ]
    assert len(made) > 6
    assert all(one is not None and is_query(one, dialect) for one in made)
    assert all(kept in (one or "") for one in made[:3])


def test_namespaces_are_told_with_the_table() -> None:
    sql = "SELECT a.id FROM sales.orders AS a JOIN public.customers AS b ON TRUE"
    assert tables_used(sql, "postgres") == ("sales.orders", "customers")
    assert tables_used("SELECT 1 FROM main.orders", "duckdb") == ("orders",)


WORDS = [
    (
        "postgres",
        "SELECT name FROM customers WHERE EXTRACT(YEAR FROM joined) = 2023 AND active "
        "ORDER BY joined DESC LIMIT 3",
        ["year of customers.joined = '2023'", "customers.active = 1",
         "by customers.joined, descending, only the first 3 rows"],
    ),
    (
        "postgres",
        "SELECT DISTINCT ON (city) name FROM customers ORDER BY city, joined DESC NULLS LAST",
        ["the first row for each customers.city",
         "by customers.city, then by customers.joined, descending"],
    ),
    (
        "mysql",
        "SELECT `name` FROM `customers` WHERE `name` LIKE '%ann%' AND MONTH(joined) IN (6, 7)",
        ["customers.name contains 'ann'", "month of customers.joined in ('06', '07')"],
    ),
    (
        "postgres",
        "SELECT id FROM orders WHERE placed_at >= DATE '2024-02-01' AND placed_at < DATE "
        "'2024-03-01' AND NOT (ordered >= '2023-01-01' AND ordered < '2024-01-01') AND total > 1 "
        "AND (shipped >= DATE '2020-01-01' AND shipped < DATE '2023-01-01' OR shipped IS NULL)",
        ["orders.placed_at is in February 2024", "orders.ordered is not in 2023",
         "orders.total > 1", "either orders.shipped is from 2020 to 2022",
         "or orders.shipped is null"],
    ),
    (
        "mysql",
        "SELECT id FROM orders WHERE placed_at >= DATE '2024-02-29' AND placed_at < DATE "
        "'2024-03-01' AND shipped < DATE '2024-04-01' AND shipped >= DATE '2023-12-01' "
        "AND ordered >= '2024-03-02' AND ordered < '2024-03-01'",
        ["orders.placed_at is on 2024-02-29", "orders.shipped is before April 2024",
         "orders.ordered >= '2024-03-02'", "orders.ordered < '2024-03-01'"],
    ),
    (
        "postgres",
        "SELECT id FROM orders WHERE ordered >= DATE '1991-01-01' OR NOT shipped >= DATE "
        "'1990-01-01' OR shipped >= DATE '2024-05-02' OR shipped >= '1991-01-01'",
        ["either orders.ordered is in 1991 or later", "or orders.shipped is before 1990",
         "or orders.shipped >= '2024-05-02'", "or orders.shipped >= '1991-01-01'"],
    ),
    (
        "duckdb",
        "SELECT id FROM orders WHERE ordered >= DATE '2024-05-04' AND ordered < DATE '2024-05-06' "
        "AND shipped >= DATE '2023-12-01' AND shipped < DATE '2024-02-01' AND quantity >= 3",
        ["orders.ordered is from 2024-05-04 to 2024-05-05",
         "orders.shipped is from December 2023 to January 2024", "orders.quantity >= 3"],
    ),
    (
        "duckdb",
        "SELECT * EXCLUDE (note) FROM orders WHERE total / quantity > 2",
        ["CAST(orders.total AS REAL) / orders.quantity > 2"],
    ),
]  # fmt: skip


@pytest.mark.parametrize(("dialect", "sql", "told"), WORDS)
def test_queries_of_other_dialects_in_words(dialect: str, sql: str, told: list[str]) -> None:
    texts = [part.text for part in read_query(sql, shop(dialect))]
    assert [text for text in told if text not in texts] == [], texts
