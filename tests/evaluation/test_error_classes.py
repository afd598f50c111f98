"""Classes of wrong answers by code: cases over several databases, scored as `evaluate` scores."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import yaml

from sqlwright.demo.business import write_business
from sqlwright.lab.datasets.example import Example
from sqlwright.lab.evaluation.error_classes.origins import (
    CLASSES,
    MEANINGS,
    Finding,
    ranked,
)
from sqlwright.lab.evaluation.records import Record
from sqlwright.lab.evaluation.rules.rule import find_rule
from sqlwright.lab.evaluation.scoring import Scorer
from sqlwright.prepare import open_workspace
from sqlwright.protocols import Workspace
from sqlwright.schema import SchemaView
from sqlwright.types import Answer, Question, State

FOLDER = Path(__file__).parents[1] / "cases" / "errors"
CASES: list[tuple[str, dict[str, Any]]] = [
    (path.stem, case)
    for path in sorted(FOLDER.glob("*.yaml"))
    for case in yaml.safe_load(path.read_text("utf-8"))
]


@pytest.fixture(scope="module")
def workspaces(
    database_files: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Workspace]]:
    folder = tmp_path_factory.mktemp("opened")
    write_business(folder / "business.sqlite")
    files = {name: database_files[name] for name, _ in CASES if name in database_files}
    files["business"] = folder / "business.sqlite"
    for script in FOLDER.glob("*.sql"):
        files[script.stem] = folder / f"{script.stem}.sqlite"
        with closing(sqlite3.connect(files[script.stem])) as connection:
            connection.executescript(script.read_text("utf-8"))
    opened = {
        name: open_workspace(str(path), folder=folder / f"{name}-absent")
        for name, path in files.items()
    }
    yield opened
    for workspace in opened.values():
        workspace.database.close()


def scored(workspace: Workspace, case: dict[str, Any]) -> Record:
    example = Example(
        "1", "db", case.get("question", "?"), case["gold"], Path("db"), case.get("evidence", "")
    )
    sql = case["query"]
    status = "failed" if sql is None else "answered"
    answer = Answer(status, example.question, sql, "sqlite")
    state = State(Question(example.question, example.evidence), SchemaView(workspace.schema))
    scorer = Scorer(workspace.database, workspace.schema, find_rule(case.get("rule", "spider")))
    return scorer.score(example, answer, state, 0.0)


@pytest.mark.parametrize(
    ("database", "case"), CASES, ids=[f"{name}: {case['title']}" for name, case in CASES]
)
def test_the_classes_of_a_case(
    workspaces: dict[str, Workspace], database: str, case: dict[str, Any]
) -> None:
    record = scored(workspaces[database], case)
    if case.get("right"):
        assert record.right(case.get("rule", "spider"))
        assert record.errors is None
        return
    assert record.status != "gold", record.message
    assert not record.right(case.get("rule", "spider"))
    assert record.errors is not None
    found = [one["class"] for one in record.errors]
    assert list(dict.fromkeys(found)) == case["classes"], record.errors
    # Of what the evidence names it is told beside the main class, if there is another.
    told = [one["shown_by"] for one in record.errors]
    beside = case.get("says", "").startswith("the evidence")
    assert case.get("says", "") in ("; ".join(told) if beside else told[0])


def test_there_are_enough_cases() -> None:
    assert len(CASES) >= 60
    assert len({name for name, _ in CASES}) >= 3
    assert len([case for _, case in CASES if "naive" in case]) >= 15
    held = {name for _, case in CASES for name in case.get("classes", ())}
    assert held == set(CLASSES)


def test_every_label_has_a_meaning() -> None:
    assert set(MEANINGS) == set(CLASSES)


def test_the_page_lists_the_classes_in_their_order() -> None:
    page = (Path(__file__).parents[2] / "docs" / "measuring.md").read_text("utf-8")
    table = page.partition("| class | holds when |")[2].partition("\n\n")[0]
    rows = [line.split("|")[1].strip() for line in table.splitlines()[2:]]
    assert [name for row in rows for name in row.split(", ")] == list(CLASSES)


def test_a_doubt_that_explains_nothing_comes_last() -> None:
    weak, strong = Finding("gold", "empty", weak=True), Finding("shape", "fewer")
    assert [one.error for one in ranked([weak, strong, strong])] == ["shape", "gold"]
    assert ranked([strong, Finding("gold", "chance")])[0].error == "gold"
