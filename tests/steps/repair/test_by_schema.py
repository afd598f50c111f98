"""Queries that fail, mended by what the schema says: tests/cases/mended, on every engine.

`mended` has queries whose rows are gold's once they are mended, `left` those with no meaning or
several. An engine under `except` runs the query as it is.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from sqlwright.candidates import execute, same_result, valid
from sqlwright.prepare import open_workspace
from sqlwright.protocols import Context, Run, Workspace
from sqlwright.schema import SchemaView
from sqlwright.steps.repair.by_schema import SOURCE, mended
from sqlwright.types import Candidate, Question, State

ENGINES = ("sqlite", "duckdb", "postgres", "mariadb")
FILES = {
    path.stem: yaml.safe_load(path.read_text("utf-8"))
    for path in sorted((Path(__file__).parents[2] / "cases" / "mended").glob("*.yaml"))
}


class Case(NamedTuple):
    engine: str
    file: str
    question: str
    sql: str
    gold: str = ""
    told: str = ""


def cases(part: str) -> list[Any]:
    return [
        pytest.param(
            Case(engine, name, one["question"], one["sql"], one.get("gold", ""),
                 one.get("told", "")),
            id=f"{engine}-{name}-{place}",
        )
        for engine in ENGINES
        for name, file in FILES.items()
        for place, one in enumerate(file[part], start=1)
        if engine not in one.get("except", ())
    ]  # fmt: skip


@pytest.fixture(scope="module")
def workspaces(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[tuple[str, str], Workspace]]:
    """Every database by its engine and name, opened when it is first asked for."""
    yield (opened := _Opened(request, tmp_path_factory.mktemp("mended")))
    for workspace in opened.values():
        workspace.database.close()


class _Opened(dict[tuple[str, str], Workspace]):
    def __init__(self, request: pytest.FixtureRequest, folder: Path) -> None:
        super().__init__()
        self._request, self._folder = request, folder

    def __missing__(self, key: tuple[str, str]) -> Workspace:
        engine, name = key
        address = self._made(engine, name, FILES[name]["database"])
        self[key] = open_workspace(address, folder=self._folder / "prepared" / engine / name)
        return self[key]

    def _made(self, engine: str, name: str, script: str) -> str:
        path = self._folder / f"{name}.{engine}"
        if engine == "sqlite":
            with sqlite3.connect(path) as connection:
                connection.executescript(script)
        elif engine == "duckdb":
            duckdb = pytest.importorskip("duckdb")
            with duckdb.connect(str(path)) as connection:
                connection.execute(script)
        elif engine == "postgres":
            server = self._request.getfixturevalue("postgres_server")
            return str(server.url(server.create(script)))
        else:
            server = self._request.getfixturevalue("mariadb_server")
            return str(server.owner(server.create(script.replace('"', "`"))))
        return str(path)


def run(case: Case, workspaces: dict[tuple[str, str], Workspace]) -> tuple[Candidate, Candidate]:
    """The query as it failed, and as it was mended."""
    workspace = workspaces[case.engine, case.file]
    context = Context(workspace, Run())
    state = State(Question(case.question), SchemaView(workspace.schema))
    (failed,) = execute([Candidate(case.sql, "test")], workspace.database, context.run)
    return failed, mended(failed, state, context)


@pytest.mark.parametrize("case", cases("mended"))
def test_a_query_with_one_meaning_gives_the_rows_that_are_meant(
    case: Case, workspaces: dict[tuple[str, str], Workspace]
) -> None:
    failed, new = run(case, workspaces)
    assert not valid(failed)
    assert new.parent is failed, failed.result and failed.result.error
    assert new.source == SOURCE
    gold = case.gold.replace('"', "`") if case.engine == "mariadb" else case.gold
    database = workspaces[case.engine, case.file].database
    (right,) = execute([Candidate(gold, "gold")], database, Run())
    assert valid(right), right.result
    assert same_result(new, right), (new.sql, new.result, right.result)
    assert case.told.casefold() in new.note.casefold()
    assert [note.text for note in new.warnings if note.kind == "mended"]


@pytest.mark.parametrize("case", cases("left"))
def test_a_query_with_no_meaning_or_several_is_left(
    case: Case, workspaces: dict[tuple[str, str], Workspace]
) -> None:
    failed, new = run(case, workspaces)
    assert not valid(failed)
    assert new is failed, new.sql
