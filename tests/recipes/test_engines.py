"""Every recipe on DuckDB, PostgreSQL and MariaDB: the model replies in the engine's dialect."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from benchmarks.answering import Responder

from sqlwright import api
from sqlwright.llm.scripted import Asked, Script, ScriptedModel
from tests.scripted import scripted_models
from tests.servers.mariadb import MariadbServer
from tests.servers.postgres import PostgresServer

SHOP = """
CREATE TABLE customers (
    id INTEGER PRIMARY KEY,
    name VARCHAR(80) NOT NULL,
    "Home City" VARCHAR(80),
    joined DATE
);
CREATE TABLE orders (
    id INTEGER PRIMARY KEY,
    customer_id INTEGER NOT NULL REFERENCES customers (id),
    placed TIMESTAMP NOT NULL,
    status VARCHAR(20) NOT NULL,
    total NUMERIC(10, 2) NOT NULL
);
INSERT INTO customers VALUES
    (1, 'Ada Brandt', 'Munich', DATE '2024-05-01'),
    (2, 'Bo Carlsen', 'Copenhagen', DATE '2025-01-31'),
    (3, 'Chen Li', 'Munich', NULL);
INSERT INTO orders VALUES
    (10, 1, TIMESTAMP '2026-01-05 10:00:00', 'open', 120.50),
    (11, 1, TIMESTAMP '2026-02-11 11:30:00', 'shipped', 80),
    (12, 2, TIMESTAMP '2026-02-12 09:15:00', 'open', 10.25);
"""
QUESTION = "What is the month of each open order, and its total?"
FAULTY = "SELECT strftime('%Y-%m', placed), total FROM orders WHERE status = 'open'"
WRITTEN = """SELECT DATE_TRUNC('month', o.placed)::date AS month, o.total
FROM orders AS o
WHERE o.status ILIKE 'OPEN'
ORDER BY o.placed"""
IN_MYSQL = """SELECT CAST(DATE_FORMAT(o.placed, '%Y-%m-01') AS DATE) AS month, o.total
FROM orders AS o
WHERE o.status LIKE 'open'
ORDER BY o.placed"""
RECIPES = {
    "baseline": (),
    "chase": ("samples.count=1",),
    "chess-agents": ("samples.count=1",),
    "chess-ir-cg-ut": ("samples.count=1",),
    "chess-ir-ss-cg": (),
    "chess-tuned": (),
    "mag": (),
    "msc": (),
    "auto": (),
}
STEPS = ("generation.direct", "generation.sub_sql", "repair.revise", "repair.refine")


@pytest.fixture(params=["duckdb", "postgres", "mariadb"])
def shop(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str]:
    """The dialect of a database and its address."""
    if request.param == "duckdb":
        duckdb = pytest.importorskip("duckdb", reason="duckdb isn't installed")
        path = tmp_path / "shop.duckdb"
        with duckdb.connect(str(path)) as connection:
            connection.execute(SHOP)
        return "duckdb", str(path)
    if request.param == "mariadb":
        mariadb: MariadbServer = request.getfixturevalue("mariadb_server")
        create: Callable[[str], str] = request.getfixturevalue("mariadb_database")
        return "mariadb", mariadb.reader(create(SHOP.replace('"', "`")))
    server: PostgresServer = request.getfixturevalue("postgres_server")
    make: Callable[[str], str] = request.getfixturevalue("postgres_database")
    return "postgres", server.reader(
        make(SHOP), "USAGE ON SCHEMA public", "SELECT ON ALL TABLES IN SCHEMA public"
    )


@pytest.mark.parametrize("recipe", RECIPES)
def test_a_recipe_answers_in_the_dialect(
    recipe: str, shop: tuple[str, str], tmp_path: Path
) -> None:
    dialect, address = shop
    prompts: list[tuple[str, str]] = []
    responder = Responder(faulty=0.0)

    def reply(asked: Asked) -> Any:
        prompts.append((asked.step, asked.prompt))
        if asked.step in STEPS:
            written = IN_MYSQL if dialect == "mariadb" else WRITTEN
            return f"Months of open orders.\n```{dialect}\n{written}\n```"
        return responder.scripted(asked)

    model = ScriptedModel(Script(otherwise=reply))
    with api.open(
        address,
        recipe=recipe,
        overrides=RECIPES[recipe],
        models={**scripted_models(FAULTY, llm=model), "tuned-generator": model},
        model="scripted" if recipe == "auto" else "",
        home=tmp_path / "home",
        prepare=False,
        stand_in=False,
    ) as session:
        answer = session.ask(QUESTION)
    assert answer.status == "answered", answer.message
    assert answer.dialect == dialect
    assert [(str(month), float(total)) for month, total in answer.rows] == [  # type: ignore[arg-type]
        ("2026-01-01", 120.5),
        ("2026-02-01", 10.25),
    ]
    assert type(answer.rows[0][0]) is date
    title = {"duckdb": "DuckDB", "postgres": "PostgreSQL", "mariadb": "MariaDB"}[dialect]
    mark = "`" if dialect == "mariadb" else '"'
    asked = [prompt for step, prompt in prompts if step in STEPS]
    assert asked
    for prompt in asked:
        assert title in prompt
        assert "SQLite" not in prompt
        assert not re.search(r"strftime\('%", prompt)
        assert prompt.count("Home City") == prompt.count(f"{mark}Home City{mark}")
