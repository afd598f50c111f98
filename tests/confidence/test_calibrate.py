"""Fitting how sure answers are to questions of one's own: `calibrate` and its file."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import sqlwright
from sqlwright import GoldenQuestion
from sqlwright.errors import DatasetError, UserError, WorkspaceError
from sqlwright.lab.evaluation.golden.questions import load_golden
from sqlwright.llm.scripted import Script, ScriptedModel, When
from sqlwright.prepare import purge
from sqlwright.protocols import Limits
from sqlwright.recipes.loading import load_recipe
from sqlwright.session import Session
from sqlwright.settings.defaults import Defaults, Target
from tests.scripted import ScriptedCritic, scripted_models

COUNTED = "SELECT count(*) FROM customers"
NAMED = "SELECT name FROM customers"
QUESTION = "How many customers are there?"

Open = Callable[..., Session]


@pytest.fixture
def opened(database_files: dict[str, Path], tmp_path: Path) -> Open:
    """Opens the shop with a parser that counts customers whatever is asked."""

    def open_it(**options: Any) -> Session:
        models = scripted_models(COUNTED, critic=ScriptedCritic(otherwise=0.9, missing=()))
        reply = Script([When("generation.direct", f"```sql\n{COUNTED}\n```")], "no")
        models |= {"llm": ScriptedModel(reply)}
        home = tmp_path / "home"
        return sqlwright.open(
            database_files["shop"], models=models, home=home, record=False, **options
        )

    return open_it


def golden(right: int, wrong: int) -> list[GoldenQuestion]:
    """The same question throughout: the answers differ in nothing but whether they are right."""
    return [GoldenQuestion(QUESTION, COUNTED)] * right + [GoldenQuestion(QUESTION, NAMED)] * wrong


def test_answers_show_what_was_fitted_from_then_on(opened: Open) -> None:
    with opened() as shop:
        assert shop.ask(QUESTION).confidence == 0.9
        report = sqlwright.calibrate(shop, golden(12, 28))
        assert (report.recipe, report.embedded) == ("local", True)
        assert (report.questions, report.right) == (40, 12)
        assert report.before is not None
        assert report.before[0] == pytest.approx(0.6, abs=0.01)
        assert report.after[0] <= 0.15
        answer = shop.ask(QUESTION)
    with opened() as again:
        assert again.ask(QUESTION).confidence == answer.confidence
    assert answer.confidence == pytest.approx(0.3, abs=0.1)
    assert answer.interval is not None
    assert answer.interval[0] < 0.3 < answer.interval[1]
    assert answer.basis.fitted_to == "40 of your own questions (12 answered right)"


def test_a_language_models_answer_gets_a_confidence(opened: Open) -> None:
    with opened(recipe="baseline", model="openai/m", environ={"OPENAI_API_KEY": "k"}) as shop:
        assert shop.ask(QUESTION).confidence is None
        report = sqlwright.calibrate(shop, golden(30, 10))
        assert (report.embedded, report.before, report.right) == (False, None, 30)
        answer = shop.ask(QUESTION)
    assert answer.confidence == pytest.approx(0.75, abs=0.12)
    assert answer.basis.kind == "calibrated"
    assert answer.basis.of == 1


def test_it_is_of_one_recipe_and_goes_when_it_is_forgotten(opened: Open) -> None:
    with opened() as shop:
        sqlwright.calibrate(shop, golden(10, 30))
        assert not shop.calibrations.forget("baseline")
        assert shop.ask(QUESTION).confidence != 0.9
        assert shop.calibrations.forget("local")
        assert shop.ask(QUESTION).confidence == 0.9
        path = shop.calibrations.path
    assert path is not None
    assert not path.exists()


def test_too_few_questions_leave_everything_as_it_was(opened: Open) -> None:
    with opened() as shop:
        with pytest.raises(UserError, match="4 of the questions were answered") as caught:
            sqlwright.calibrate(
                shop, [*golden(2, 2), GoldenQuestion("Broken?", "SELECT nothing FROM nowhere")]
            )
        assert "at least 30" in caught.value.hint
        assert "1 have a query that doesn't run" in caught.value.hint
        assert shop.ask(QUESTION).confidence == 0.9
        assert shop.calibrations.path is not None
        assert not shop.calibrations.path.exists()


def test_elsewhere_it_is_used_where_it_is_named(opened: Open, tmp_path: Path) -> None:
    place = tmp_path / "kept.json"
    with opened() as shop:
        sqlwright.calibrate(shop, golden(20, 20), out=place)
        assert shop.ask(QUESTION).confidence == 0.9
    with opened(calibration=place) as shop:
        assert shop.ask(QUESTION).confidence == pytest.approx(0.5, abs=0.1)
    data = json.loads(place.read_text())
    data["calibrations"][0]["model"] = "another one"
    place.write_text(json.dumps(data))
    with opened(calibration=place) as shop:
        assert shop.ask(QUESTION).confidence == 0.9


@pytest.mark.parametrize("text", ["", "[]", '{"kind": "x", "version": 1}', "{"])
def test_a_damaged_file_is_told_with_a_remedy(opened: Open, tmp_path: Path, text: str) -> None:
    place = tmp_path / "kept.json"
    place.write_text(text)
    with opened(calibration=place) as shop:
        with pytest.raises(WorkspaceError, match="can't be used") as caught:
            shop.ask(QUESTION)
        assert "--reset" in caught.value.hint
        assert shop.calibrations.forget()
        assert shop.ask(QUESTION).confidence == 0.9


def test_purge_removes_it(opened: Open, database_files: dict[str, Path]) -> None:
    with opened(prepare=False) as shop:
        sqlwright.calibrate(shop, golden(20, 20))
        path = shop.calibrations.path
    assert path is not None
    assert purge(str(database_files["shop"]), folder=path.parent)
    assert not path.exists()


WRITTEN = {
    "set.yaml": "- question: How many?\n  sql: SELECT 1\n  evidence: all\n",
    "set.json": '[{"question": "How many?", "query": "SELECT 1", "evidence": "all"}]',
    "set.jsonl": '{"question": "How many?", "gold": "SELECT 1", "evidence": "all"}\n\n',
    "set.csv": "question,sql,evidence\nHow many?,SELECT 1,all\n",
}
DAMAGED = {
    "none.yaml": ("", "has no questions"),
    "text.yaml": ("How many?", "isn't a list"),
    "half.json": ("[", "can't be read"),
    "lacking.csv": ("question\nHow many?\n", "has no sql"),
    "empty.jsonl": ('{"question": " ", "sql": "SELECT 1"}', "empty question"),
    "text.txt": ("How many?", "none of the endings"),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_golden_sets_are_read_from_every_format(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(WRITTEN[name])
    assert load_golden(tmp_path / name) == (GoldenQuestion("How many?", "SELECT 1", "all"),)


@pytest.mark.parametrize("name", DAMAGED)
def test_what_is_wrong_with_a_golden_set_is_told(tmp_path: Path, name: str) -> None:
    text, told = DAMAGED[name]
    (tmp_path / name).write_text(text)
    with pytest.raises(DatasetError, match=told):
        load_golden(tmp_path / name)


def test_data_that_changes_meanwhile_keeps_no_question_from_being_compared(
    database_files: dict[str, Path], tmp_path: Path
) -> None:
    path = tmp_path / "shop.sqlite"
    shutil.copyfile(database_files["shop"], path)

    def changing(done: int, total: int) -> None:
        if done == 5:
            with closing(sqlite3.connect(path)) as connection, connection:
                connection.execute("CREATE TABLE fresh (id INTEGER)")

    with Session(
        Target(str(path), None, None),
        load_recipe("local"),
        models=scripted_models(COUNTED, critic=ScriptedCritic(otherwise=0.9, missing=())),
        defaults=Defaults(Limits(), None, 0, reopening=0),
        traces=None,
        calibration=tmp_path / "own.json",
    ) as shop:
        report = sqlwright.calibrate(shop, golden(12, 28), progress=changing)
    assert (report.questions, report.right) == (40, 12)
