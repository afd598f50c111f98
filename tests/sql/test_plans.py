"""Plans in plain words: each sentence is held against the plan and the query it is about."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest
import yaml
from scripts.demonstration_plans import plans

from sqlwright.database import open_database
from sqlwright.database.probe import engine_version
from sqlwright.database.sqlite import SqliteDatabase
from sqlwright.prompts.demonstrations import database_script, read_demonstrations
from sqlwright.protocols import Run
from sqlwright.sql.plans.reading import read_plan
from sqlwright.sql.plans.words import plan_text
from sqlwright.types.plans import EnginePlan
from tests.sql.plan_claims import claims_of, faults

CASES = Path(__file__).parents[1] / "cases" / "plans"
QUERIES = yaml.safe_load((CASES / "queries.yaml").read_text("utf-8"))
ALL = [pytest.param(name, sql, id=f"{name}-{n}")
       for name, queries in QUERIES.items() for n, sql in enumerate(queries, 1)]  # fmt: skip


WRITTEN_BY = "3.54."
"""The SQLite by which the worked examples' plans were written."""
VIEWS = {"indexed": {"heavy": "SELECT parcel_id, town FROM parcels WHERE weight > 10"}}
"""What the views of a database are, for who reads queries without it."""


@pytest.fixture(scope="module")
def databases(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, SqliteDatabase]]:
    folder = tmp_path_factory.mktemp("plans")
    opened = {}
    for name in QUERIES:
        own = CASES / f"{name}.sql"
        script = own.read_text("utf-8") if own.exists() else database_script(name)
        with closing(sqlite3.connect(folder / f"{name}.sqlite")) as connection:
            connection.executescript(script)
        opened[name] = open_database(str(folder / f"{name}.sqlite"))
    yield opened
    for database in opened.values():
        database.close()


def told(database: SqliteDatabase, sql: str) -> tuple[EnginePlan, str]:
    plan = database.plan(sql, Run())
    assert plan.error is None, plan.error
    return plan, plan_text(read_plan(plan))


def columns(database: SqliteDatabase) -> dict[str, dict[str, str]]:
    return {
        table.name: {column.name: column.type for column in table.columns}
        for table in database.schema().tables
        if table.kind != "view"
    }


def test_there_are_a_hundred_queries() -> None:
    assert len({sql for queries in QUERIES.values() for sql in queries}) >= 100


@pytest.mark.parametrize(("name", "sql"), ALL)
def test_all_that_is_said_is_so_and_all_that_is_so_is_said(
    name: str, sql: str, databases: dict[str, SqliteDatabase]
) -> None:
    database = databases[name]
    plan, prose = told(database, sql)
    assert faults(prose, plan, sql, columns(database), VIEWS.get(name)) == []


def mutants(prose: str, others: list[str]) -> Iterator[tuple[str, str]]:
    """The prose with a sentence left out, said twice, in another's place or from another plan."""
    lines = prose.splitlines()
    said = [n for n, line in enumerate(lines) if line.startswith("  ")]
    texts = [lines[n].partition(". ")[2] for n in said]
    for n in range(len(texts)):
        yield f"without {texts[n]}", numbered(texts[:n] + texts[n + 1 :])
        for other in others:
            if other != texts[n]:
                yield f"{other} for {texts[n]}", numbered([*texts[:n], other, *texts[n + 1 :]])
    for n, (one, other) in enumerate(pairwise(texts)):
        if one.split()[:2] != other.split()[:2]:  # of two conditions either may come first
            swapped = [*texts[:n], other, one, *texts[n + 2 :]]
            yield f"{other} before {one}", numbered(swapped)


def numbered(texts: list[str]) -> str:
    return "\n".join(f"  {n}. {text}" for n, text in enumerate(texts, 1))


MUTATED = [
    ("bakery", "SELECT title FROM products WHERE price > 2 AND price <= 10"),
    ("bakery", "SELECT product_code, SUM(pieces) AS n FROM sales GROUP BY product_code "
               "HAVING SUM(pieces) > 5 ORDER BY n DESC"),
    ("bakery", "SELECT full_name FROM staff ORDER BY monthly_pay DESC, full_name LIMIT 2 OFFSET 1"),
    ("bakery", "SELECT h.town, COUNT(s.staff_id) FROM shops h LEFT JOIN staff s "
               "ON s.shop_id = h.shop_id GROUP BY h.shop_id"),
    ("bakery", "SELECT title FROM products WHERE price > (SELECT AVG(price) FROM products)"),
    ("library", "SELECT t.title FROM titles t JOIN copies c ON c.title_id = t.title_id JOIN "
                "branches b ON b.branch_code = c.branch_code WHERE b.quarter = 'Docks'"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "sql"), MUTATED)
def test_a_sentence_that_is_changed_is_found(
    name: str, sql: str, databases: dict[str, SqliteDatabase]
) -> None:
    database = databases[name]
    plan, prose = told(database, sql)
    schema = columns(database)
    assert faults(numbered([line.partition(". ")[2] for line in prose.splitlines()
                            if line.startswith("  ")]), plan, sql, schema) == []  # fmt: skip
    others = [
        line.partition(". ")[2]
        for _, query in MUTATED[:3]
        for line in told(databases["bakery"], query)[1].splitlines()
        if line.startswith("  ")
    ]
    missed = [what for what, text in mutants(prose, others) if not faults(text, plan, sql, schema)]
    assert missed == []


def test_worked_examples_have_the_plan_of_the_engine() -> None:
    """The file is what `scripts/demonstration_plans.py` writes with the SQLite it was written by;
    another one may compile a query otherwise, and then the plans it tells have to be right."""
    if engine_version().startswith(WRITTEN_BY):
        stated = [entry["reasoning"].strip() for entry in read_demonstrations("query_plan")]
        assert stated == plans()
    else:
        assert all(claims_of(plan) for plan in plans())
