"""What the tree check accepts reads and calls, by the engine's own analysis, only what it told of.

`benchmarks/guard_fuzz.py --engine NAME` does the same with as many texts as you like.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sqlwright.errors import UnsafeQuery
from sqlwright.sql.guard import check_query
from tests.servers.postgres import PostgresServer
from tests.sql.guards import attacks, harmless, readable
from tests.sql.guards.fuzzing import Fuzzer
from tests.sql.guards.judges import Judge, judging_duckdb, judging_mariadb, judging_postgres
from tests.sql.guards.oracles import COLUMNS

TEXTS = 1_000


@pytest.fixture(scope="module", params=["postgres", "mariadb", "duckdb"])
def judge(request: pytest.FixtureRequest) -> Iterator[Judge]:
    if request.param == "duckdb":
        pytest.importorskip("duckdb", reason="needs the package duckdb")
        opened = judging_duckdb()
    elif request.param == "mariadb":
        opened = judging_mariadb(request.getfixturevalue("mariadb_server"))
    else:
        opened = judging_postgres(request.getfixturevalue("postgres_server"))
    with opened as found:
        yield found


def test_the_engine_reads_and_calls_nothing_that_the_check_does_not_know_of(judge: Judge) -> None:
    dialect = judge.dialect
    found, analysed = [], 0
    for sql in Fuzzer(1, harmless(dialect), attacks(dialect)).texts(TEXTS):
        try:
            told = check_query(sql, dialect, readable=readable(dialect), columns=COLUMNS)
        except UnsafeQuery:
            continue
        problem = judge.problem(sql, told)
        analysed += problem is not None
        if problem:
            found.append((problem, sql))
    assert found == []
    assert analysed > TEXTS / 20


def test_the_engine_tells_what_was_overlooked(judge: Judge) -> None:
    for sql in (
        "SELECT * FROM secrets",
        "SELECT evil(1)",
        "WITH x AS (SELECT id FROM secrets) SELECT * FROM x, orders",
    ):
        assert judge.problem(sql, ["orders", "x"]), sql
    assert judge.problem("SELECT lower(status) FROM orders", ["orders"]) == ""
    assert judge.problem("SELECT FROM WHERE", ["orders"]) is None


def test_postgres_tells_what_is_called_without_a_parenthesis(
    postgres_server: PostgresServer,
) -> None:
    with judging_postgres(postgres_server) as judge:
        for sql in (
            "SELECT g.pg_read_file FROM unnest(ARRAY['x']) AS g",
            "SELECT o.evil FROM orders AS o",
            "SELECT system(1)",
            "SELECT * FROM JSON_TABLE('[1]', '$[*]' COLUMNS (a regclass PATH '$')) AS t",
            "SELECT * FROM orders FOR UPDATE",
            "SELECT current_user",
        ):
            assert judge.problem(sql, ["orders"]), sql
