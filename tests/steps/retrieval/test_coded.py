"""A question's words are found as codes, by comments of servers and by description files."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from sqlwright.prepare import open_workspace, prepare
from sqlwright.protocols import Context, Run, Workspace
from sqlwright.schema import SchemaView
from sqlwright.steps.retrieval.values import ValueRetrieval
from sqlwright.types import Question, State

STATES = "0 booked, 1 attended, 2 cancelled, 3 no-show, 9 lost"
SEXES = "Sex of the patient: F female, M male, D diverse"
TABLE = (
    "CREATE TABLE visits (id INTEGER PRIMARY KEY, state SMALLINT, sex VARCHAR(1), city VARCHAR(20))"
)
ROWS = ", ".join(f"({n}, {n % 4}, '{'FM'[n % 2]}', 'Graz')" for n in range(1, 41))
CASES = [
    ("How many visits were cancelled?", [("state", "2")]),
    ("How many no-shows were there in Graz?", [("city", "Graz"), ("state", "3")]),
    ("Visits that female patients attended", [("state", "1"), ("sex", "F")]),
    ("How many visits were lost?", []),
    ("How many diverse patients are there?", []),
    ("How many visits are there?", []),
]
"""Questions, and the columns and values found. Nine is beyond what is stored, and so is D."""


@pytest.fixture(scope="module", params=["described", "postgres", "mariadb", "duckdb"])
def visits(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Workspace]:
    folder: Path = tmp_path_factory.mktemp("visits")
    address, descriptions = str(folder / "visits.duckdb"), None
    told = (
        f"COMMENT ON COLUMN visits.state IS '{STATES}'; COMMENT ON COLUMN visits.sex IS '{SEXES}'"
    )
    script = f"{TABLE}; INSERT INTO visits VALUES {ROWS};"
    if request.param == "described":
        address, descriptions = str(folder / "visits.sqlite"), folder / "about"
        with sqlite3.connect(address) as sqlite:
            sqlite.executescript(script)
        sqlite.close()
        descriptions.mkdir()
        (descriptions / "visits.csv").write_text(
            "original_column_name,column_description,value_description\n"
            f'state,where it stands,"{STATES}"\nsex,,"{SEXES}"\n'
        )
    elif request.param == "duckdb":
        duckdb = pytest.importorskip("duckdb", reason="duckdb isn't installed")
        with duckdb.connect(address) as duck:
            duck.execute(script + told)
    elif request.param == "postgres":
        server = request.getfixturevalue("postgres_server")
        address = server.url(server.create(script + told))
    else:
        server = request.getfixturevalue("mariadb_server")
        commented = TABLE.replace("SMALLINT", f"SMALLINT COMMENT '{STATES}'").replace(
            "VARCHAR(1)", f"VARCHAR(1) COMMENT '{SEXES}'"
        )
        address = server.reader(server.create(f"{commented}; INSERT INTO visits VALUES {ROWS}"))
    prepare(address, folder=folder / "prepared", descriptions=descriptions)
    workspace = open_workspace(address, folder=folder / "prepared", descriptions=descriptions)
    yield workspace
    workspace.database.close()


@pytest.mark.parametrize(("question", "expected"), CASES)
def test_codes_are_found(visits: Workspace, question: str, expected: list[tuple[str, str]]) -> None:
    state = State(Question(question), SchemaView(visits.schema))
    found = ValueRetrieval()(state, Context(visits, Run())).values
    assert sorted((m.column.column, m.value) for m in found) == sorted(expected)
    for match in found:
        assert match.span is not None
        assert question[slice(*match.span)] == match.phrase
