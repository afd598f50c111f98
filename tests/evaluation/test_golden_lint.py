"""Faults of a golden set: `tests/cases/golden`; second readings are the embedded models'."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

import sqlwright
from sqlwright.api import Session
from sqlwright.errors import ModelUnavailable
from sqlwright.lab.evaluation.golden.lint import RULES, Fault, Lint
from sqlwright.lab.evaluation.golden.questions import load_golden_set
from sqlwright.local.models import EmbeddedModels

CASES = Path(__file__).parents[1] / "cases"
QUESTIONS: list[dict[str, Any]] = yaml.safe_load(
    (CASES / "golden" / "faults.yaml").read_text("utf-8")
)
READINGS: list[dict[str, Any]] = yaml.safe_load(
    (CASES / "golden" / "readings.yaml").read_text("utf-8")
)
WANTED = [one.get("faults", {}) for one in QUESTIONS]


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("lint") / "office.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript((CASES / "asking_back" / "office.sql").read_text("utf-8"))
    return path


def lint(questions: list[dict[str, Any]], office: Path, *, readings: bool) -> list[list[Fault]]:
    """The faults of each question."""
    models = EmbeddedModels()

    def opened(url: str) -> Session:
        return sqlwright.open(
            url, recipe="local", models=models, home=office.parent, prepare=False, record=False
        )

    fields = ("question", "sql", "evidence", "expected")
    rows = [{name: one[name] for name in fields if name in one} for one in questions]
    file = office.with_name("mine.yaml")
    file.write_text(yaml.safe_dump(rows))
    dataset = replace(load_golden_set(file, database=office), rule="spider")
    places = {example.id: number for number, example in enumerate(dataset.examples)}
    faults: list[list[Fault]] = [[] for _ in rows]
    for fault in Lint(dataset, opened, readings).faults():
        faults[places[fault.id]].append(fault)
    return faults


@pytest.fixture(scope="module")
def found(office: Path) -> list[list[Fault]]:
    return lint(QUESTIONS, office, readings=False)


@pytest.fixture(scope="module")
def read(office: Path) -> list[list[Fault]]:
    try:
        return lint(READINGS, office, readings=True)
    except ModelUnavailable as error:
        pytest.skip(f"this checkout lacks an embedded model: {error}")


@pytest.mark.parametrize("number", range(len(QUESTIONS)), ids=lambda n: QUESTIONS[n]["question"])
def test_a_question_has_the_faults_that_are_told(number: int, found: list[list[Fault]]) -> None:
    told = {fault.rule: fault.shown_by for fault in found[number]}
    assert set(told) == set(WANTED[number]), told
    assert all(part in told[rule] for rule, part in WANTED[number].items()), told


@pytest.mark.parametrize("number", range(len(READINGS)), ids=lambda n: READINGS[n]["question"])
def test_a_question_has_the_second_reading_that_is_told(
    number: int, read: list[list[Fault]]
) -> None:
    told = [fault.shown_by for fault in read[number] if fault.rule == "readings"]
    wanted = READINGS[number].get("told")
    assert [wanted in text for text in told] == ([True] if wanted else []), told


def test_each_rule_has_a_case() -> None:
    rules = {rule for wanted in WANTED for rule in wanted}
    assert rules == set(RULES) - {"database", "readings"}


def test_a_database_that_cannot_be_opened_is_a_fault_of_each_of_its_questions(
    office: Path,
) -> None:
    faults = lint(QUESTIONS[:2], office.with_name("none.sqlite"), readings=False)
    assert [[fault.rule for fault in one] for one in faults] == [["database"], ["database"]]
    assert "none.sqlite" in faults[0][0].shown_by
