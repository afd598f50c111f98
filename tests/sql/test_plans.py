"""Plans in plain words: each sentence is held against the plan and the query it is about."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest
import yaml

from sqlwright.database import open_database
from sqlwright.database.sqlite.database import SqliteDatabase
from sqlwright.prompts.demonstrations import database_script
from sqlwright.protocols import Run
from sqlwright.sql.plans.outline import outline_text, read_outline
from sqlwright.sql.plans.reading import read_plan
from sqlwright.sql.plans.unreadable import UnreadablePlan
from sqlwright.sql.plans.words import plan_text
from sqlwright.types.plans import EnginePlan, PlanNode, StoredOrder
from tests.sql.outline_claims import outline_faults
from tests.sql.plan_claims import faults

CASES = Path(__file__).parents[1] / "cases" / "plans"
QUERIES = yaml.safe_load((CASES / "queries.yaml").read_text("utf-8"))
ALL = [pytest.param(name, sql, id=f"{name}-{n}")
       for name, queries in QUERIES.items() for n, sql in enumerate(queries, 1)]  # fmt: skip


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


# The short form


UNREADABLE = yaml.safe_load((CASES / "unreadable.yaml").read_text("utf-8"))
REFUSED = [pytest.param(name, one["sql"], one["why"], id=f"{name}-{n}")
           for name, cases in UNREADABLE.items() for n, one in enumerate(cases, 1)]  # fmt: skip
OUTLINED = [*ALL, *(pytest.param(name, sql, id=f"refused-{name}-{n}")
            for name, cases in UNREADABLE.items()
            for n, sql in enumerate((one["sql"] for one in cases), 1))]  # fmt: skip


def outlined(database: SqliteDatabase, sql: str) -> tuple[EnginePlan, str]:
    plan = database.plan(sql, Run())
    assert plan.error is None, plan.error
    return plan, outline_text(read_outline(plan))


@pytest.mark.parametrize(("name", "sql", "why"), REFUSED)
def test_bytecode_that_cannot_be_told_is_refused(
    name: str, sql: str, why: str, databases: dict[str, SqliteDatabase]
) -> None:
    with pytest.raises(UnreadablePlan, match=why):
        read_plan(databases[name].plan(sql, Run()))


@pytest.mark.parametrize(("name", "sql"), OUTLINED)
def test_each_sentence_of_the_short_form_is_a_line_of_the_outline(
    name: str, sql: str, databases: dict[str, SqliteDatabase]
) -> None:
    plan, prose = outlined(databases[name], sql)
    assert outline_faults(prose, plan, sql, VIEWS.get(name, {})) == []


@pytest.mark.parametrize(("name", "sql"), OUTLINED)
def test_a_sentence_of_the_short_form_that_is_changed_is_found(
    name: str, sql: str, databases: dict[str, SqliteDatabase]
) -> None:
    plan, prose = outlined(databases[name], sql)
    others = [line.strip().partition(". ")[2] for query in OF_ALL_KINDS
              for line in outlined(databases["bakery"], query)[1].splitlines()]  # fmt: skip
    lines = [line.partition(". ")[::2] for line in prose.splitlines()]
    changed = [[*lines[:n], *lines[n + 1 :]] for n in range(len(lines))]
    changed += [
        [*lines[:n], (number, other), *lines[n + 1 :]]
        for n, (number, text) in enumerate(lines)
        for other in others
        if other != text
    ]
    changed += [
        [*lines[:n], (one[0], other[1]), (other[0], one[1]), *lines[n + 2 :]]
        for n, (one, other) in enumerate(pairwise(lines))
        if one[1] != other[1]
    ]
    texts = ["\n".join(". ".join(line) for line in mutant) for mutant in changed]
    views = VIEWS.get(name, {})
    assert [text for text in texts if not outline_faults(text, plan, sql, views)] == []


OF_ALL_KINDS = (
    "SELECT DISTINCT kind FROM products ORDER BY price",
    "SELECT h.town, COUNT(s.staff_id) FROM shops h LEFT JOIN staff s ON s.shop_id = h.shop_id "
    "GROUP BY h.shop_id",
    "SELECT title FROM products WHERE price > (SELECT AVG(price) FROM products)",
    "SELECT code FROM products EXCEPT SELECT product_code FROM sales",
    "SELECT title FROM products WHERE rowid = 3 OR code = 'P01'",
)


@pytest.mark.parametrize(
    "detail",
    ["FROBNICATE t", "SCAN", "SEARCH t USING INDEX no_such (a=?)", "SCAN t USING INDEX t_a (a=?)",
     "SEARCH t USING INDEX t_a (a~?)", "USE TEMP B-TREE FOR SORCERY", ""],
)  # fmt: skip
def test_a_line_of_an_unknown_form_is_refused(detail: str) -> None:
    stored = (StoredOrder(2, "t", "", ("a",)), StoredOrder(3, "t", "t_a", ("a", "rowid")))
    with pytest.raises(UnreadablePlan):
        read_outline(EnginePlan(outline=(PlanNode(1, 0, detail),), stored=stored))


@pytest.mark.parametrize(
    ("detail", "text"),
    [
        ("SEARCH t USING INDEX t_a (ANY(a) AND b>?)",
         "Look up t by each a in turn and a lower bound on b, through its index on (a, b)."),
        ("SEARCH t USING INDEX t_a ((a,b)>(?,?))",
         "Look up t by a lower bound on (a, b), through its index on (a, b)."),
        ("SEARCH t USING INDEX t_e (<expr>=?)",
         "Look up t by an expression, through its index on an expression."),
        ("REUSE LIST SUBQUERY 2", "Use subquery 2 again."),
        ("UNION USING TEMP B-TREE", "Add the rows that aren't there yet of the next query:"),
        ("USING INDEX t_a FOR IN-OPERATOR",
         "Look up the values of the list in the index of t on (a, b)."),
        ("USING ROWID SEARCH ON TABLE t FOR IN-OPERATOR",
         "Look up the values of the list among the row numbers of t."),
    ],
)  # fmt: skip
def test_lines_that_few_queries_bring_about(detail: str, text: str) -> None:
    stored = (StoredOrder(2, "t", "", ("a", "b")), StoredOrder(3, "t", "t_a", ("a", "b", "rowid")),
              StoredOrder(4, "t", "t_e", ("", "rowid")))  # fmt: skip
    (step,) = read_outline(EnginePlan(outline=(PlanNode(1, 0, detail),), stored=stored))
    assert step.text == text
