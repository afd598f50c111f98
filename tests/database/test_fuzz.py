"""The second layer against SQLite's own authorizer: it knows of everything that it lets through."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from sqlwright.errors import UnsafeQuery
from sqlwright.sql.guard import check_query
from sqlwright.sql.token_check import FUNCTIONS
from tests.database.fuzzing import Fuzzer
from tests.database.oracle import Oracle, disagreement

CASES = Path(__file__).parents[1] / "cases"
TEXTS = 20_000
PARTS = 20


def seeds() -> list[str]:
    """The attacks, and queries of every kind."""
    files = [*sorted((CASES / "attacks").glob("*.yaml")), CASES / "guard" / "accepted.yaml"]
    return [str(text) for file in files for text in yaml.safe_load(file.read_text("utf-8"))]


@pytest.fixture(scope="module")
def oracle() -> Oracle:
    return Oracle()


@pytest.mark.parametrize("part", range(PARTS))
def test_sqlite_reads_nothing_that_the_check_does_not_know_of(part: int, oracle: Oracle) -> None:
    accepted = prepared = 0
    found = []
    for sql in Fuzzer(part, seeds()).texts(TEXTS // PARTS):
        try:
            names = check_query(sql, views=oracle.views)
        except UnsafeQuery:
            continue
        accepted += 1
        prepared += oracle.prepare(sql) is not None
        if problem := disagreement(sql, names, FUNCTIONS, oracle):
            found.append((problem, sql))
    assert found == []
    assert accepted > TEXTS // PARTS // 10
    assert prepared > TEXTS // PARTS // 20


@pytest.mark.parametrize(
    ("sql", "knows", "problem"),
    [
        ("SELECT * FROM orders", {"orders"}, ""),
        ("SELECT * FROM leaking", {"leaking", "orders"}, "reads ['secrets']"),
        ("SELECT (1, 2) IN 'secrets'", set(), "reads ['secrets']"),
        ("SELECT count(*) FROM kelvin", {"\u212aelvin"}, "reads ['kelvin']"),
        ("SELECT zeroblob(9)", set(), "calls ['zeroblob']"),
        ("DELETE FROM orders", {"orders"}, "does ['SQLITE_DELETE']"),
        ("SELECT * FROM", set(), ""),
    ],
)
def test_the_oracle_tells_what_was_overlooked(
    sql: str, knows: set[str], problem: str, oracle: Oracle
) -> None:
    assert disagreement(sql, frozenset(knows), FUNCTIONS, oracle) == problem
