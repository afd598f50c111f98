"""Joins inferred from names and confirmed by values."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from sqlwright.catalog.join_names import words
from sqlwright.catalog.joins import infer_joins, with_joins
from sqlwright.catalog.scan import ScanLimits, scan_table
from sqlwright.protocols import Run
from sqlwright.schema import MANY_GROUPS, ForeignKey

from .conftest import Opened

CASES = Path(__file__).parents[1] / "cases" / "joins" / "inferred.yaml"
CROWDED = CASES.with_name("crowded.yaml")


def inferred(opened: Opened, caps: ScanLimits | None = None) -> tuple[ForeignKey, ...]:
    schema, reading = opened
    caps = caps or ScanLimits()
    columns = [c for table in schema.tables for c in scan_table(reading, table, caps).columns]
    return infer_joins(schema, {c.ref: c.profile for c in columns}, reading)


def written(key: ForeignKey) -> str:
    if len(key.columns) > 1:
        return f"{key.table} ({', '.join(key.columns)}) → {key.target_table}"
    return f"{key.table}.{key.columns[0]} → {key.target_table}.{key.target_columns[0]}"


@pytest.mark.parametrize(
    "case", [pytest.param(c, id=c["name"]) for c in yaml.safe_load(CASES.read_text("utf-8"))]
)
def test_inferred(case: dict[str, Any], opened: Callable[..., Opened]) -> None:
    keys = inferred(opened(case["script"]))
    assert sorted(map(written, keys)) == sorted(case["joins"])
    assert all(key.inferred for key in keys)
    for words_of_it in case.get("evidence", ()):
        assert any(words_of_it in key.evidence for key in keys)


CROWD = "".join(
    f"CREATE TABLE thing{n} (thing{n}_id INTEGER PRIMARY KEY, label TEXT);"
    f"CREATE TABLE part{n} (part{n}_id INTEGER PRIMARY KEY, t INTEGER REFERENCES thing{n});"
    f"INSERT INTO thing{n} VALUES (1, 'a'), (2, 'b'); INSERT INTO part{n} VALUES (1, 2);"
    for n in range(MANY_GROUPS)
)
"""So many groups of tables side by side that small numbers agree by chance."""


@pytest.mark.parametrize("around", ["alone", "crowded"])
@pytest.mark.parametrize(
    "case", [pytest.param(c, id=c["name"]) for c in yaml.safe_load(CROWDED.read_text("utf-8"))]
)
def test_inferred_in_a_crowd(
    case: dict[str, Any], around: str, opened: Callable[..., Opened]
) -> None:
    """Alone, and among many groups of tables that declared keys hold together."""
    keys = inferred(opened((CROWD if around == "crowded" else "") + case["script"]))
    assert sorted(map(written, keys)) == sorted(case[around])


def test_inferred_ones_stand_behind_declared_ones(opened: Callable[..., Opened]) -> None:
    schema, reading = opened(
        "CREATE TABLE a (id INTEGER PRIMARY KEY);"
        "CREATE TABLE b (a_id INTEGER REFERENCES a, other_a_id INTEGER);"
        "INSERT INTO a VALUES (1), (2); INSERT INTO b VALUES (1, 2), (2, 1)"
    )
    keys = with_joins(schema, inferred((schema, reading))).foreign_keys
    assert [key.inferred for key in keys] == [False, True]


@pytest.mark.parametrize(
    ("last", "joins"),
    [
        ("999", []),
        ("4000 + n % 2", ["orders.customer_id → customers.id"]),
        ("NULL", ["orders.customer_id → customers.id"]),
    ],
)
def test_a_sample_of_nulls_is_no_empty_column(
    last: str, joins: list[str], opened: Callable[..., Opened]
) -> None:
    """The values are all in the last rows, which the sample doesn't reach."""
    made = opened(
        "CREATE TABLE customers (id INTEGER PRIMARY KEY);"
        "CREATE TABLE orders (no INTEGER PRIMARY KEY, customer_id INTEGER);"
        "INSERT INTO customers VALUES (4000), (4001);"
        "WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < 9000)"
        f" INSERT INTO orders SELECT n, CASE WHEN n > 8990 THEN {last} END FROM i"
    )
    (profile,) = (
        column.profile
        for column in scan_table(made[1], made[0].tables[1], ScanLimits(rows=200)).columns
        if column.ref.column == "customer_id"
    )
    assert profile.sampled
    assert profile.rows == profile.nulls
    assert [written(key) for key in inferred(made, ScanLimits(rows=200))] == joins


def test_no_time_no_joins(opened: Callable[..., Opened]) -> None:
    schema, reading = opened(
        "CREATE TABLE a (id INTEGER PRIMARY KEY); CREATE TABLE b (a_id); INSERT INTO a VALUES (1)"
    )
    columns = [
        c for table in schema.tables for c in scan_table(reading, table, ScanLimits()).columns
    ]
    reading.seconds = 0
    reading.__post_init__()
    assert infer_joins(schema, {c.ref: c.profile for c in columns}, reading) == ()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("OrderItems_ID", ("order", "item", "id")),
        ("customerID", ("customer", "id")),
        ("HTTPServer", ("http", "server")),
        ("club_id_2", ("club", "id", "2")),
        ("größeÉtage", ("grösse", "étage")),
        ("", ()),
    ],
)
def test_words_of_a_name(name: str, expected: tuple[str, ...]) -> None:
    assert words(name) == expected


def test_cancelling_is_noticed(opened: Callable[..., Opened]) -> None:
    from sqlwright.errors import Cancelled

    run = Run()
    schema, reading = opened(
        "CREATE TABLE a (id INTEGER PRIMARY KEY); CREATE TABLE b (a_id); INSERT INTO a VALUES (1);"
        "INSERT INTO b VALUES (1)",
        run=run,
    )
    columns = [
        c for table in schema.tables for c in scan_table(reading, table, ScanLimits()).columns
    ]
    run.cancelled.set()
    with pytest.raises(Cancelled):
        infer_joins(schema, {c.ref: c.profile for c in columns}, reading)
