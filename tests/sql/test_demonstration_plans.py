"""The plans that worked examples show, against two engines: ours, and the one Python comes with."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from functools import cache
from typing import Any

import pytest
from scripts.demonstration_plans import FORMS, engine_plans, plan_texts

from sqlwright.database.sqlite.probe import engine_version
from sqlwright.prompts.demonstrations import database_script, read_demonstrations
from sqlwright.types.plans import EnginePlan, Instruction, PlanNode
from tests.sql.outline_claims import outline_faults
from tests.sql.plan_claims import faults, query_faults

WRITTEN_BY = "3.54."
"""The SQLite by which the worked examples' plans were written."""
ENTRIES = read_demonstrations("query_plan")
EACH = pytest.mark.parametrize("place", range(len(ENTRIES)), ids=lambda n: ENTRIES[n]["question"])
ENGINES = pytest.mark.parametrize("engine", ["ours", "Python's"])

ours = cache(lambda: tuple(engine_plans()))


def plan_of(place: int, engine: str) -> tuple[EnginePlan, dict[str, dict[str, str]]]:
    """A worked example's plan by an engine, and the columns of its tables."""
    entry, plan = ENTRIES[place], ours()[place]
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(database_script(entry["database"]))
        tables = {one.table for one in plan.stored}
        schema = {
            table: {row[1]: row[2] for row in connection.execute(f"PRAGMA table_info({table})")}
            for table in tables
        }
        if engine != "ours":
            rows = connection.execute(f"EXPLAIN {entry['sql']}").fetchall()
            code = tuple(Instruction(*row[:5], row[5] or "", row[6]) for row in rows)
            lines = connection.execute(f"EXPLAIN QUERY PLAN {entry['sql']}").fetchall()
            nodes = tuple(PlanNode(line[0], line[1], line[3]) for line in lines)
            plan = EnginePlan(code, nodes, plan.stored)
    return plan, schema


def ways(plan: EnginePlan) -> list[str]:
    """How a plan goes over its tables; quick filters, which come and go with the version, apart."""
    return [node.detail for node in plan.outline if "BLOOM FILTER" not in node.detail]


@EACH
@ENGINES
def test_what_a_plan_says_is_so_on_each_engine(place: int, engine: str) -> None:
    entry = ENTRIES[place]
    plan, schema = plan_of(place, engine)
    said = plan_texts(plan)
    assert faults(said["reasoning"], plan, entry["sql"], schema) == []
    assert outline_faults(said["outline"], plan, entry["sql"], {}) == []


@EACH
@ENGINES
def test_what_a_worked_example_says_is_so_on_each_engine(place: int, engine: str) -> None:
    """The query's facts on any; those of the plan where the engine goes the same way."""
    entry: dict[str, Any] = ENTRIES[place]
    plan, schema = plan_of(place, engine)
    if ways(plan) == ways(ours()[place]):
        assert faults(entry["reasoning"], plan, entry["sql"], schema) == []
    assert query_faults(entry["reasoning"], entry["sql"], schema) == []


def test_a_worked_example_of_another_query_is_found() -> None:
    """The facts tell examples apart."""
    found = {
        (place, other): bool(
            query_faults(ENTRIES[other]["reasoning"], ENTRIES[place]["sql"], schema)
        )
        for place in range(len(ENTRIES))
        for schema in [plan_of(place, "ours")[1]]
        for other in range(len(ENTRIES))
    }
    assert all(faulty == (place != other) for (place, other), faulty in found.items())


@pytest.mark.skipif(not engine_version().startswith(WRITTEN_BY), reason="another SQLite")
def test_worked_examples_have_the_plan_of_the_engine() -> None:
    """The file is what `scripts/demonstration_plans.py` writes."""
    stated = [{form: entry[form].strip() for form in FORMS} for entry in ENTRIES]
    assert stated == [plan_texts(plan) for plan in ours()]
