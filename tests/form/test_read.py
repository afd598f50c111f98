"""SQL is read as the intended symbols, and what the form can't express is refused."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml

from sqlwright.errors import UnsupportedQuery
from sqlwright.local.form.read.sql import read_sql
from sqlwright.local.form.sequence.grammar import delinearize, linearize
from sqlwright.local.form.write.sql import write_sql
from sqlwright.schema import ForeignKey, Schema
from tests.form.walks import ODD, SHOP, make_database, table

CASES = Path(__file__).parents[1] / "cases" / "form"


def cases(name: str) -> list[Any]:
    found: list[Any] = yaml.safe_load((CASES / name).read_text("utf-8"))
    return found


@pytest.mark.parametrize("case", cases("reading.yaml"), ids=lambda case: case["name"])
def test_reads_as_symbols(case: dict[str, str]) -> None:
    form = read_sql(case["sql"], SHOP)
    assert " ".join(map(str, linearize(form))) == case["symbols"]


@pytest.mark.parametrize("case", cases("reading.yaml"), ids=lambda case: case["name"])
def test_reading_what_was_written_changes_nothing(case: dict[str, str]) -> None:
    form = read_sql(case["sql"], SHOP)
    assert delinearize(linearize(form)) == form
    again = read_sql(write_sql(form, SHOP), SHOP)
    assert write_sql(again, SHOP) == write_sql(form, SHOP)


@pytest.mark.parametrize("sql", cases("refused.yaml"))
def test_refuses(sql: str) -> None:
    with pytest.raises(UnsupportedQuery):
        read_sql(sql, SHOP)


@pytest.mark.parametrize("case", cases("writing.yaml"), ids=lambda case: case["name"])
def test_writes(case: dict[str, str]) -> None:
    assert write_sql(read_sql(case["sql"], SHOP), SHOP) == case["written"]


def test_odd_names_and_composite_keys_survive() -> None:
    sql = (
        'SELECT o."a b", p."rowid x" FROM "order" o JOIN order_2 p '
        'ON o."group" = p."é" AND o."select" = p."Ünï" WHERE o."say ""x""" = 3'
    )
    form = read_sql(sql, ODD)
    assert "join" not in map(str, linearize(form))
    written = write_sql(form, ODD)
    assert '"order"."group" = order_2."é" AND "order"."select" = order_2."Ünï"' in written
    with closing(make_database(ODD)) as connection:
        connection.execute(written)


def test_half_of_a_composite_key_is_another_join() -> None:
    sql = 'SELECT o."a b", p."rowid x" FROM "order" o JOIN order_2 p ON o."group" = p."é"'
    symbols = list(map(str, linearize(read_sql(sql, ODD))))
    assert "join" in symbols


def test_a_column_of_another_type_is_not_swapped_for_its_parent() -> None:
    schema = Schema(
        "mixed",
        (table("parent", "id", kind="INTEGER"), table("child", "parent_id", "x", kind="TEXT")),
        (ForeignKey("child", ("parent_id",), "parent", ("id",)),),
    )
    form = read_sql(
        "SELECT child.parent_id, child.x FROM child JOIN parent ON parent_id = id", schema
    )
    assert str(linearize(form)[1]) == "child.parent_id"


def test_a_declared_key_is_preferred_to_an_inferred_one() -> None:
    tables = (table("a", "x", "y"), table("b", "x", "y"))
    inferred = ForeignKey("a", ("x",), "b", ("x",), inferred=True)
    declared = ForeignKey("a", ("y",), "b", ("y",))
    schema = Schema("two", tables, (inferred, declared))
    written = write_sql(read_sql("SELECT a.x, b.x FROM a JOIN b ON a.y = b.y", schema), schema)
    assert written == "SELECT a.x, b.x FROM a JOIN b ON a.y = b.y"


def test_two_keys_between_two_tables_keep_the_right_one() -> None:
    schema = Schema(
        "flights",
        (table("flight", "source", "target", "no"), table("airport", "code", "city")),
        (
            ForeignKey("flight", ("source",), "airport", ("code",)),
            ForeignKey("flight", ("target",), "airport", ("code",)),
        ),
    )
    sql = "SELECT no FROM flight JOIN airport ON target = code WHERE city = 'Rome'"
    form = read_sql(sql, schema)
    assert "flight.target = airport.code" in write_sql(form, schema)


@pytest.mark.data
@pytest.mark.parametrize("arguments", [("--split", "calib"), ("--split", "calib", "--archer")])
def test_benchmark_golds_keep_their_rows(arguments: tuple[str, ...]) -> None:
    folder = os.environ.get("SQLWRIGHT_DATA")
    if not folder:
        pytest.skip("SQLWRIGHT_DATA names no folder with the benchmark data")
    script = Path(__file__).parents[2] / "benchmarks" / "round_trip.py"
    command = [sys.executable, str(script), "--data", folder, *arguments, "--at-least", "0.95"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
