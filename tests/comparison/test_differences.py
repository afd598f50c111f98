"""What one query says and another doesn't, whatever way they are written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from sqlwright.lab.comparison.asking import differences
from sqlwright.protocols import Workspace
from sqlwright.types import Candidate

FILE = Path(__file__).parents[1] / "cases" / "comparison" / "differences.yaml"
CASES: list[dict[str, Any]] = yaml.safe_load(FILE.read_text("utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["about"])
def test_what_two_queries_say_differently(case: dict[str, Any], shop_workspace: Workspace) -> None:
    queries = {name: Candidate(case[name], "test") for name in ("first", "second")}
    told = differences(queries, shop_workspace.schema)
    found = {one.aspect: [list(one.own[name]) for name in queries] for one in told}
    assert found == case.get("differ", {})


def test_what_all_say_is_told_apart_from_what_each_says(shop_workspace: Workspace) -> None:
    begin = "SELECT id FROM orders WHERE status = 'open'"
    queries = {
        name: Candidate(begin + more, "test")
        for name, more in (("a", ""), ("b", " AND total > 50"), ("c", " AND total > 60"))
    }
    (one,) = differences(queries, shop_workspace.schema)
    assert one.shared == ("orders.status = 'open'",)
    assert one.own == {"a": (), "b": ("orders.total > 50",), "c": ("orders.total > 60",)}


def test_one_query_differs_from_none(shop_workspace: Workspace) -> None:
    assert differences({"a": Candidate("SELECT 1", "test")}, shop_workspace.schema) == ()
