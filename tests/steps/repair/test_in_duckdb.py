"""Repair of queries in another dialect than SQLite's: they are read, mended and run there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sqlwright.protocols import Context, Run, Workspace
from sqlwright.schema import SchemaView
from sqlwright.steps.repair.execution_guided import ExecutionGuidedRepair
from sqlwright.steps.repair.faults import error_text
from sqlwright.steps.repair.literals import LiteralRepair
from sqlwright.types import Candidate, ErrorCause, ExecutionError, Question, State
from tests.steps.repair.duck import duck_workspace


@pytest.fixture(scope="module")
def duck(shop_workspace: Workspace, database_files: dict[str, Path]) -> Iterator[Workspace]:
    yield from duck_workspace(shop_workspace, database_files["shop"])


def asked(workspace: Workspace, sql: str) -> State:
    written = (Candidate(sql, "test", -1.0),)
    return State(Question("?"), SchemaView(workspace.schema), candidates=written)


LITERALS = {
    "SELECT name FROM customers WHERE city = 'Munchen'::VARCHAR":
        "SELECT name FROM customers WHERE city = 'München'::VARCHAR",
    "SELECT name FROM main.customers WHERE city ILIKE '%munchen%' -- 'x'":
        "SELECT name FROM main.customers WHERE city ILIKE '%München%' -- 'x'",
    "SELECT count(*)::VARCHAR FROM orders WHERE status = 'Canceled' HAVING count(*) > 0":
        "SELECT count(*)::VARCHAR FROM orders WHERE status = 'cancelled' HAVING count(*) > 0",
}  # fmt: skip


@pytest.mark.parametrize("sql", LITERALS)
def test_a_text_that_is_not_stored_is_replaced_in_the_text_of_the_query(
    duck: Workspace, sql: str
) -> None:
    (mended,) = LiteralRepair()(asked(duck, sql), Context(duck, Run())).candidates
    assert mended.sql == LITERALS[sql]
    assert mended.dialect == "duckdb"
    assert mended.parent is not None
    assert mended.parent.sql == sql
    assert mended.result is not None
    assert mended.result.rows


def test_execution_guided_repair_reads_and_writes_the_dialect(duck: Workspace) -> None:
    sql = "SELECT name FROM customers WHERE city = 'Copenhaagen' AND name ILIKE '%a%'"
    (mended,) = ExecutionGuidedRepair()(asked(duck, sql), Context(duck, Run())).candidates
    assert mended.parent is not None, mended.result
    assert "'Copenhagen'" in mended.sql
    assert "ILIKE" in mended.sql
    assert mended.result is not None
    assert mended.result.ok


def told(message: str, cause: ErrorCause, dialect: str) -> set[str]:
    sql = "SELECT nme FROM customers WHERE city = 'Rome'"
    candidate = Candidate(sql, "test", by_model=True, dialect=dialect)
    error = ExecutionError("sql", message, "prepare", cause)
    text = error_text(error, candidate, Question("?"))
    return {span.origin for span in text.spans if message in span.text}


SUGGESTED = 'column "nme" does not exist\nHINT: Perhaps you meant "customers.name".'


def test_names_that_an_engine_suggests_are_no_stored_values() -> None:
    assert told(SUGGESTED, "unknown_column", "postgres") == {"model"}
    assert told(SUGGESTED, "unknown_column", "sqlite") == {"value"}
    assert told("invalid value: 'Ann Alder'", "", "postgres") == {"value"}
    assert told("invalid value: 'Rome'", "", "mysql") == {"model"}
