"""Repair of queries in another dialect than SQLite's: they are read, mended and run there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sqlwright.local.steps.execution_guided import ExecutionGuidedRepair
from sqlwright.messages import HIDDEN
from sqlwright.protocols import Context, Run, Workspace
from sqlwright.schema import ColumnRef, SchemaView
from sqlwright.steps.repair.faults import error_text
from sqlwright.steps.repair.literals import LiteralRepair
from sqlwright.types import Candidate, ErrorCause, ExecutionError, Question, State, ValueMatch
from tests.steps.repair.duck import duck_workspace


@pytest.fixture(scope="module")
def duck(shop_workspace: Workspace, database_files: dict[str, Path]) -> Iterator[Workspace]:
    yield from duck_workspace(shop_workspace, database_files["shop"])


def asked(workspace: Workspace, sql: str) -> State:
    written = (Candidate(sql, "test", -1.0),)
    return State(
        Question("?"),
        SchemaView(workspace.schema),
        looked_up=("retrieval.values",),
        candidates=written,
    )


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


SQL = "SELECT nme, o.x FROM customers WHERE city = 'Rome'"
SUGGESTED = 'column "nme" does not exist\nHINT: Perhaps you meant "customers.name".'
OTHER = "It failed with an error of the query's own."
KEPT: list[tuple[ErrorCause, str, str, str]] = [
    ("unknown_column", "nme", SUGGESTED, "It failed with an error: no such column: nme"),
    ("unknown_column", "O.x", "", "It failed with an error: no such column: O.x"),
    ("unknown_column", "Rome", "", "It failed with an error: no such column."),
    ("unknown_column", "o.ssn9182", "", "It failed with an error: no such column."),
    ("unknown_table", "customers", "", "It failed with an error: no such table: customers"),
    ("syntax", "", 'at or near "Ann Alder"', "It failed with an error: its syntax is wrong."),
    ("", "", "invalid value: 'Ann Alder'", OTHER),
    ("", "", "invalid value: 'Rome'", OTHER),
    ("", "nme", "missing ): nme(", OTHER),
]


@pytest.mark.parametrize("dialect", ["postgres", "duckdb", "mysql", "oracle"])
@pytest.mark.parametrize(("cause", "name", "message", "kept"), KEPT)
def test_of_an_error_leaves_what_is_known_of_its_cause(
    dialect: str, cause: ErrorCause, name: str, message: str, kept: str
) -> None:
    candidate = Candidate(SQL, "test", by_model=True, dialect=dialect)
    error = ExecutionError("sql", message, "prepare", cause, name)
    text = error_text(error, candidate, Question("?"))
    assert str(text) == f"It failed with an error: {message}"
    assert str(text.without("value")) == kept
    # A model on this machine may have written a name once it was shown values.
    assert str(text.without("value").without("model")) == HIDDEN


def test_a_name_that_rests_on_the_data_is_kept_here() -> None:
    match = ValueMatch("nme", ColumnRef("customers", "city"), "nme", 1.0)
    candidate = Candidate('SELECT "nme"', "test", dialect="duckdb", values=(match,))
    error = ExecutionError("sql", "?", "prepare", "unknown_column", "nme")
    told = error_text(error, candidate, Question("?")).without("value")
    assert str(told) == "It failed with an error: no such column."


def test_what_our_own_check_says_is_told_whole() -> None:
    error = ExecutionError("sql", "give each JOIN its ON", "prepare", by_check=True)
    told = error_text(error, Candidate(SQL, "test", by_model=True, dialect="duckdb"), Question("?"))
    assert str(told.without("value")) == "It failed with an error: give each JOIN its ON"
