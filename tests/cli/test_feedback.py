"""`sqlwright trace judge`: what the user says of an answer, checked, kept and shown."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Outcome

Command = Callable[..., Outcome]
QUESTION = "How many customers are there?"


@pytest.fixture
def asked(sqlwright: Command, shop: Path) -> str:
    answer = json.loads(sqlwright("ask", shop, QUESTION, "--json").out)
    assert answer["status"] == "answered"
    return str(answer["trace_id"])


def test_what_is_said_of_an_answer_is_shown_and_measured(
    sqlwright: Command, home: Path, asked: str
) -> None:
    said = sqlwright("trace", "judge", "--right")
    assert said.code == 0
    assert said.out.split()[:2] == ["feedback", "right,"]
    assert f"right  {QUESTION}" in sqlwright("trace").out
    assert json.loads(sqlwright("trace", "--json").out)[0]["feedback"] == "right"
    measured = sqlwright("evaluate", "--data", f"traces:{home / 'traces'}")
    assert measured.code == 0
    assert "1 question" in measured.out
    corrected = "SELECT COUNT(*) + 0 FROM customers"
    changed = sqlwright("trace", "judge", asked, "--wrong", "--sql", corrected)
    assert "corrected" in changed.out
    assert corrected in " ".join(changed.out.split())
    shown = sqlwright("trace", "show", asked).out
    assert "corrected" in shown
    assert json.loads(sqlwright("trace", "show", asked, "--json").out)["feedback"] == {
        "right": False, "sql": corrected,
        "time": json.loads((home / "traces" / f"{asked}.feedback.json").read_text())["time"],
    }  # fmt: skip
    assert sqlwright("purge", "--traces").code == 0
    assert list((home / "traces").glob("*")) == []


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["trace", "judge"], 2, "judge says one thing"),
        (["trace", "judge", "--right", "--wrong"], 2, "judge says one thing"),
        (["trace", "judge", "--right", "--sql", "SELECT 1"], 2, "needs no query"),
        (["trace", "show", "--right"], 2, "are for 'judge'"),
        (["trace", "judge", "--wrong", "--sql", "DROP TABLE customers"], 2, "doesn't run"),
        (["trace", "judge", "--wrong", "--sql", "SELECT nope FROM customers"], 2, "no such column"),
        (["trace", "judge", "9999", "--wrong"], 5, "no trace '9999'"),
    ],
)
def test_what_cant_be_said_is_told(
    sqlwright: Command, home: Path, asked: str, arguments: list[str], code: int, told: str
) -> None:
    outcome = sqlwright(*arguments)
    assert outcome.code == code
    assert told in outcome.err
    assert "Traceback" not in outcome.err
    assert not list((home / "traces").glob("*.feedback.json"))
