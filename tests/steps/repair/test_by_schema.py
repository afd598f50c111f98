"""Queries that fail, mended by what the schema says: tests/cases/mended, on every engine.

`mended` has queries whose rows are gold's once they are mended, `left` those with no meaning or
several. An engine under `except` runs the query as it is.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from sqlwright.api import Session
from sqlwright.candidates import execute, history, same_result, valid
from sqlwright.llm.scripted import Script, ScriptedModel, When
from sqlwright.prepare import open_workspace
from sqlwright.protocols import Context, Run, Workspace
from sqlwright.schema import SchemaView
from sqlwright.steps.repair.by_schema import SOURCE, mended
from sqlwright.steps.repair.execute import ExecuteCandidates
from sqlwright.steps.repair.refine import Refine
from sqlwright.steps.repair.revise import Revise
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


FAILS = "SELECT placed FROM customers WHERE country = 'Germany'"
MEANT = "orders.placed FROM customers JOIN orders ON customers.id = orders.customer_id"
STEPS: dict[str, Any] = {"repair.revise": Revise, "repair.refine": Refine}


def asked_once(
    workspace: Workspace, step: str, written: str, reply: str, **options: Any
) -> tuple[Candidate, list[str]]:
    """The candidate after one round of a step that asks a model, and what the model was told."""
    model = ScriptedModel(Script([When(step, f"```sql\n{reply}\n```")]))
    context = Context(workspace, Run(), {"llm": model})
    candidates = (Candidate(written, "test", by_model=True),)
    state = State(Question("Who?"), SchemaView(workspace.schema), candidates=candidates)
    (after,) = STEPS[step](**options)(state, context).candidates
    return after, [str(request.messages[-1].text) for _, request in model.requests]


@pytest.mark.parametrize("step", STEPS)
def test_no_model_is_asked_about_what_the_schema_mends(
    shop_workspace: Workspace, step: str
) -> None:
    after, told = asked_once(shop_workspace, step, FAILS, "SELECT 1")
    assert (told, after.source, after.by_model) == ([], SOURCE, True)
    assert MEANT in after.sql
    (note,) = after.warnings
    assert str(note) == "placed is a column of orders, joined by orders.customer_id"
    # Switched off, the model is asked, and told nothing of whose column it is.
    after, told = asked_once(shop_workspace, step, FAILS, FAILS, by_schema=False)
    assert after.sql == FAILS
    assert "placed is a column of" not in told[0]


@pytest.mark.parametrize("step", STEPS)
def test_a_reply_is_mended_too(shop_workspace: Workspace, step: str) -> None:
    after, told = asked_once(shop_workspace, step, "SELECT nme FROM customers", FAILS)
    assert len(told) == 1
    assert [one.source for one in history(after)] == [SOURCE, step, "test"]
    assert MEANT in after.sql


@pytest.mark.parametrize("step", STEPS)
def test_a_model_is_told_which_tables_have_a_column(shop_workspace: Workspace, step: str) -> None:
    written = "SELECT sum(quantity), nme FROM customers"
    _, told = asked_once(shop_workspace, step, written, "SELECT 1")
    assert "quantity is a column of lines." in told[0]


def test_executing_mends_unless_it_is_switched_off(shop_workspace: Workspace) -> None:
    candidates = (Candidate(FAILS, "test"), Candidate("SELECT name FROM customers", "test"))
    state = State(Question("Who?"), SchemaView(shop_workspace.schema), candidates=candidates)
    context = Context(shop_workspace, Run())
    first, second = ExecuteCandidates()(state, context).candidates
    assert (first.source, second.source) == (SOURCE, "test")
    first, _ = ExecuteCandidates(by_schema=False)(state, context).candidates
    assert first.source == "test"


def test_an_answer_says_that_its_query_was_mended(open_scripted: Callable[..., Session]) -> None:
    answer = open_scripted(FAILS, recipe="baseline", record=False).ask("When did Germans order?")
    assert answer.status == "answered"
    assert [note.text for note in answer.warnings if note.kind == "mended"]
    assert any(not sign.favours and "was mended" in sign.text for sign in answer.basis.signs)
