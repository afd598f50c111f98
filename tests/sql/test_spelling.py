"""Names in another case or another dialect's quotes are those of the schema, in every recipe.

The cases are tests/cases/spelling/queries.yaml; each is asked by `baseline` on the engine itself.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from sqlwright import api
from sqlwright.api import Session
from tests.scripted import scripted_models

CASES = yaml.safe_load(
    (Path(__file__).parents[1] / "cases/spelling/queries.yaml").read_text("utf-8")
)
BY_ENGINE = [(engine, case) for case in CASES for engine in case["engines"]]
CREATED = """
CREATE TABLE "Member" ("Id" int PRIMARY KEY, "Name" text, "First Name" text, "Order" int);
INSERT INTO "Member" VALUES (1, 'Ada', 'A', 1), (2, 'Bob', 'B', 2);
CREATE TABLE orders (id int PRIMARY KEY, "MemberId" int, name text);
INSERT INTO orders VALUES (1, 1, 'x'), (2, 1, 'y');
"""

Opened = Callable[[str, str], Session]


@pytest.fixture
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Opened]:
    """Opens the tables on an engine with a model that gives a query."""
    sessions: list[Session] = []

    def at(engine: str, sql: str) -> Session:
        url = _made(engine, tmp_path, request)
        models = scripted_models(sql)
        session = api.open(url, recipe="baseline", models=models, record=False, home=tmp_path)
        sessions.append(session)
        return session

    yield at
    for session in sessions:
        session.close()


def _made(engine: str, folder: Path, request: pytest.FixtureRequest) -> Any:
    if engine == "postgres":
        server = request.getfixturevalue("postgres_server")
        return server.url(request.getfixturevalue("postgres_database")(CREATED))
    if engine == "mariadb":
        server = request.getfixturevalue("mariadb_server")
        name = request.getfixturevalue("mariadb_database")(CREATED.replace('"', "`"))
        return server.owner(name)
    path = folder / f"members.{engine}"
    if engine == "sqlite":
        with sqlite3.connect(path) as connection:
            connection.executescript(CREATED)
        connection.close()
        return path
    import duckdb

    with duckdb.connect(str(path)) as made:
        made.execute(CREATED)
    return path


@pytest.mark.parametrize(("engine", "case"), BY_ENGINE, ids=lambda each: str(each)[:60])
def test_names_are_spelt_as_the_schema_spells_them(
    opened: Opened, engine: str, case: dict[str, Any]
) -> None:
    answer = opened(engine, case["sql"]).ask("Which members are there?")
    spelt = case.get("spelt")
    assert answer.sql == (spelt or case["sql"])
    assert sorted(map(list, answer.rows)) == case["rows"]
    told = [note.text for note in answer.warnings if "as the database has them" in note.text]
    assert bool(told) == bool(spelt)
