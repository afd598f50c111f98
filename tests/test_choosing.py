"""Choosing one of the readings that an answer asks back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import sqlwright
from sqlwright import GoldenQuestion
from sqlwright.errors import UserError
from sqlwright.running.trace import find_trace, read_trace
from sqlwright.session import Session
from tests.conftest import build_database
from tests.readings import JOINED

FOLDER = Path(__file__).parent / "cases" / "asking_back"
QUESTION = "name and phone for Oslo"


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    path = build_database(FOLDER / "office.sql", tmp_path / "office.sqlite")
    recipe = str(FOLDER / "recipe.yaml")
    with sqlwright.open(path, recipe=recipe, allow_code=True, home=tmp_path / "home") as opened:
        yield opened


def test_the_likelier_reading_is_answered_and_the_question_is_there(session: Session) -> None:
    answer = session.ask(QUESTION)
    assert (answer.status, answer.rows[0]) == ("answered", ("Acme", "11"))
    assert answer.question_back is not None
    assert [one.text for one in answer.question_back.choices] == [
        "the customer's name",
        "the contact's name",
    ]
    assert "assumed: “name” is taken as the customer's name" in str(answer)


def test_a_choice_gives_its_answer_and_asks_nothing_more(session: Session) -> None:
    answer = session.ask(QUESTION)
    chosen = session.choose(answer, 2)
    assert chosen.rows[0] == ("Ada Berg", "11")
    assert chosen.question_back is None
    assert chosen.confidence == pytest.approx(0.7)  # one of 0.5 and 0.4
    assert chosen.used_tables == ("customers", "contacts")
    assert chosen.question == QUESTION
    assert session.choose(answer, 1).rows == answer.rows


def test_times_stay_those_of_the_search(session: Session) -> None:
    answer = session.ask(QUESTION)
    chosen = session.choose(answer, 2)
    assert (chosen.times, chosen.seconds, chosen.usage) == (
        answer.times,
        answer.seconds,
        answer.usage,
    )


def golden(right: int, wrong: int) -> list[GoldenQuestion]:
    meant = ["customers"] * right + ["contacts"] * wrong
    return [
        GoldenQuestion(QUESTION, f"SELECT {table}.name, phone {JOINED} WHERE city = 'Oslo'")
        for table in meant
    ]


def test_what_is_sure_by_ones_own_calibration_isnt_asked(session: Session) -> None:
    assert session.ask(QUESTION).question_back is not None
    sqlwright.calibrate(session, golden(100, 0))
    answer = session.ask(QUESTION)
    assert answer.confidence is not None
    assert answer.confidence > 0.85
    assert answer.question_back is None


def test_choices_go_by_calibrated_probabilities(session: Session) -> None:
    sqlwright.calibrate(session, golden(16, 24))
    answer = session.ask(QUESTION)
    assert answer.confidence is not None
    assert answer.confidence < 0.45  # the step says 0.5
    assert answer.question_back is not None
    taken, other = answer.question_back.choices
    assert taken.candidate.confidence == answer.confidence
    assert other.candidate.confidence is not None
    chosen = session.choose(answer, 2)
    assert chosen.confidence is not None
    assert answer.confidence < chosen.confidence < answer.confidence + other.candidate.confidence
    assert chosen.basis.fitted_to == "40 of your own questions (16 answered right)"
    assert answer.interval is not None
    assert chosen.interval is not None
    assert answer.interval[0] < chosen.interval[0] < chosen.confidence < chosen.interval[1]
    assert all(one.confidence == 0.0 for one in chosen.alternatives)


def test_the_trace_has_the_choice(session: Session, tmp_path: Path) -> None:
    answer = session.ask(QUESTION)
    chosen = session.choose(answer, 2)
    folder = next(path.parent for path in tmp_path.rglob(f"{chosen.trace_id}.jsonl"))
    trace = read_trace(find_trace(folder, chosen.trace_id))
    made = next(event for event in trace.events if event["kind"] == "choice")
    assert (made["of"], made["number"], made["text"]) == (
        answer.trace_id,
        2,
        "the contact's name",
    )
    assert trace.answer["sql"] == chosen.sql


def test_the_question_is_in_the_json(session: Session) -> None:
    asked = json.loads(session.ask(QUESTION).to_json())["question_back"]
    assert list(asked) == ["text", "kind", "phrase", "assumed", "choices"]
    assert asked["kind"] == "column"
    assert [(one["number"], one["gives"]) for one in asked["choices"]] == [
        (1, "3 rows, first Acme, 11"),
        (2, "3 rows, first Ada Berg, 11"),
    ]
    assert sum(one["share"] for one in asked["choices"]) == pytest.approx(1.0)


@pytest.mark.parametrize("number", [0, 3])
def test_a_choice_that_isnt_there(session: Session, number: int) -> None:
    with pytest.raises(UserError, match=f"no choice {number}"):
        session.choose(session.ask(QUESTION), number)


def test_nothing_to_choose(session: Session) -> None:
    answer = session.ask("How many customers are there?")
    assert answer.question_back is None
    with pytest.raises(UserError, match="no choice 1") as told:
        session.choose(answer, 1)
    assert "asked back" in told.value.hint
