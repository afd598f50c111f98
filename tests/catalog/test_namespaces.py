"""Tables of several namespaces are called by their own names, in joins and in questions."""

from __future__ import annotations

from pathlib import Path

import pytest

import sqlwright
from sqlwright.prepare import prepare
from sqlwright.schema import Column, ForeignKey, Schema, Table

SCRIPT = """
CREATE SCHEMA ops; CREATE SCHEMA crm;
CREATE TABLE ops.sailings (id INTEGER PRIMARY KEY, port VARCHAR);
CREATE TABLE crm.bookings (id INTEGER PRIMARY KEY, sailing INTEGER, passengers INTEGER);
INSERT INTO ops.sailings SELECT i, ['Turku', 'Riga', 'Reval'][1 + i % 3] FROM range(1, 41) AS r(i);
INSERT INTO crm.bookings SELECT i, 1 + i % 40, 1 + i % 5 FROM range(1, 201) AS r(i);
"""


@pytest.fixture
def ferry(tmp_path: Path) -> str:
    duckdb = pytest.importorskip("duckdb", reason="duckdb isn't installed")
    with duckdb.connect(str(tmp_path / "ferry.duckdb")) as connection:
        connection.execute(SCRIPT)
    return str(tmp_path / "ferry.duckdb")


def test_joins_go_by_the_names_without_namespaces(ferry: str, tmp_path: Path) -> None:
    made = prepare(ferry, folder=tmp_path / "prepared")
    (key,) = made.catalog.schema.foreign_keys
    assert (key.table, key.columns) == ("crm.bookings", ("sailing",))
    assert (key.target_table, key.target_columns, key.inferred) == ("ops.sailings", ("id",), True)


def test_a_question_is_answered_across_namespaces(ferry: str, tmp_path: Path) -> None:
    with sqlwright.open(ferry, home=tmp_path / "home", record=False) as session:
        answer = session.ask("Total passengers of bookings for each port of the sailings")
    assert answer.rows is not None
    assert sum(int(str(row[1])) for row in answer.rows) == 600


@pytest.mark.parametrize(
    ("table", "spoken"),
    [
        ("people", "people"),
        ("sales.orders", "orders"),
        ("sales.people", "sales.people"),
        ("elsewhere", "elsewhere"),
    ],
)
def test_a_table_is_spoken_of_without_its_namespace_if_that_is_enough(
    table: str, spoken: str
) -> None:
    columns = (Column("id", "INTEGER"),)
    schema = Schema(
        "shop",
        (
            Table("people", columns),
            Table("sales.orders", columns, namespace="sales"),
            Table("sales.people", columns, namespace="sales"),
        ),
        (ForeignKey("sales.orders", ("id",), "people", ("id",)),),
        "postgres",
    )
    assert schema.spoken(table) == spoken
