"""A query's plan: compiled behind both layers of the guard, and nothing of it run."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from sqlwright.database.failures import Refused
from sqlwright.database.sqlite.connection import GuardedConnection
from sqlwright.database.sqlite.failures import FAILURES
from sqlwright.protocols import Run
from sqlwright.protocols.plans import TellsPlan
from tests.database.conftest import Opener, folder_state, make_database

ATTACKS = Path(__file__).parents[1] / "cases" / "attacks"


def test_a_plan_lists_instructions_outline_and_what_lies_where(shop: Path, opened: Opener) -> None:
    database = opened(shop)
    assert isinstance(database, TellsPlan)
    plan = database.plan("SELECT name FROM people WHERE age > 30", Run())
    assert plan.error is None
    assert plan.instructions[0].opcode == "Init"
    assert [node.detail for node in plan.outline] == [
        "SEARCH people USING INDEX people_age (age>?)"
    ]
    by_index = {one.index: one for one in plan.stored if one.table == "people"}
    assert (by_index[""].columns, by_index[""].rowid) == (("id", "name", "age"), "id")
    assert by_index["people_age"].columns == ("age", "id")
    opens = {i.p2 for i in plan.instructions if i.opcode == "OpenRead"}
    assert opens == {by_index[""].root, by_index["people_age"].root}


def test_columns_stand_as_a_row_holds_them(tmp_path: Path, opened: Opener) -> None:
    script = """
    CREATE TABLE lists (b TEXT, a INTEGER, c, PRIMARY KEY (a, b)) WITHOUT ROWID;
    CREATE TABLE sums (x INTEGER, y AS (x + 1) VIRTUAL, z AS (x + 2) STORED, w);
    CREATE INDEX by_length ON sums (length(w), x);
    """
    database = opened(make_database(tmp_path / "odd.db", script))
    stored = {(one.table, one.index): one for one in database.plan("SELECT 1", Run()).stored}
    assert stored["lists", ""].columns == ("a", "b", "c")
    assert stored["lists", ""].rowid == ""
    assert stored["sums", ""].columns == ("x", "z", "w")
    assert stored["sums", "by_length"].columns == ("", "x", "rowid")


def test_a_plan_runs_nothing(shop: Path, opened: Opener) -> None:
    before = folder_state(shop.parent)
    endless = "WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) SELECT max(i) FROM r"
    assert opened(shop).plan(endless, Run()).error is None
    assert folder_state(shop.parent) == before


def test_a_query_that_does_not_compile_has_an_error_for_a_plan(shop: Path, opened: Opener) -> None:
    plan = opened(shop).plan("SELECT nme FROM people", Run())
    assert plan.error is not None
    assert plan.error.cause == "unknown_column"
    assert plan.instructions == plan.outline == plan.stored == ()


def test_a_plan_tells_of_listed_tables_only(shop: Path, opened: Opener) -> None:
    from sqlwright.database import open_database

    database = open_database(str(shop), tables=["orders"])
    plan = database.plan("SELECT total FROM orders", Run())
    hidden = database.plan("SELECT name FROM people", Run())
    database.close()
    assert {one.table for one in plan.stored} == {"orders"}
    assert hidden.error is not None
    assert hidden.error.cause == "unknown_table"


@pytest.mark.parametrize("file", sorted(ATTACKS.glob("*.yaml")), ids=lambda path: path.stem)
def test_no_attack_gets_a_plan_by_either_layer(file: Path, shop: Path, opened: Opener) -> None:
    database = opened(shop)
    before = folder_state(shop.parent)
    guarded = GuardedConnection(f"file:{shop}?mode=ro")
    attacks = yaml.safe_load(file.read_text("utf-8"))
    for attack in attacks:
        sql = attack if isinstance(attack, str) else attack["sql"]
        assert database.plan(sql, Run()).error is not None, sql
        for explain in ("EXPLAIN", "EXPLAIN QUERY PLAN"):
            with pytest.raises((Refused, *FAILURES)):
                list(guarded.execute(sql, explain)[1])
    guarded.close()
    assert folder_state(shop.parent) == before
