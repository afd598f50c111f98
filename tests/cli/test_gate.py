"""`evaluate` as a check in CI: exit codes, baseline and JUnit, with the embedded models."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.cli.conftest import Outcome

Run = Callable[..., Outcome]
RIGHT = [
    ("How many customers are there?", "SELECT COUNT(*) FROM customers"),
    ("How many orders are there?", "SELECT COUNT(*) FROM orders"),
    ("What are the names of all customers?", "SELECT name FROM customers"),
]
WRONG = ("How many orders are open?", "SELECT COUNT(*) FROM orders WHERE status = 'SHIPPED'")


@pytest.fixture
def questions(shop: Path) -> Callable[..., list[str]]:
    """Writes a golden set over the shop; gives the command that measures it."""

    def written(*asked: tuple[str, str]) -> list[str]:
        rows = [{"question": question, "sql": sql} for question, sql in asked]
        Path("mine.json").write_text(json.dumps(rows))
        return ["evaluate", "mine.json", "--database", shop.name]

    return written


@pytest.mark.parametrize(
    ("least", "code", "told"),
    [("0.75", 0, "not under 75.0%"), ("76%", 14, ": under 76.0%")],
)
def test_too_few_right_answers_fail_the_check(
    sqlwright: Run, questions: Callable[..., list[str]], least: str, code: int, told: str
) -> None:
    outcome = sqlwright(*questions(*RIGHT, WRONG), "--fail-under", least)
    assert outcome.code == code, outcome.err
    assert "3 of all 4 questions right, 75.0% (30.1% to 95.4%)" in outcome.out
    assert told in outcome.out


def test_a_baseline_is_written_then_held(
    sqlwright: Run, questions: Callable[..., list[str]]
) -> None:
    command = questions(*RIGHT)
    assert sqlwright(*command, "--write-baseline", "last.json").code == 0
    same = sqlwright(*command, "--baseline", "last.json")
    assert same.code == 0
    assert "0 broken, 0 mended, 0 with another query, 0 new, 0 gone" in same.out

    questions(RIGHT[0], (RIGHT[1][0], WRONG[1]), RIGHT[2], WRONG)  # a query that was right isn't
    broken = sqlwright(*command, "--baseline", "last.json", "--out", "run", "--junit", "ci.xml")
    assert broken.code == 15
    assert "1 broken, 0 mended, 0 with another query, 1 new, 0 gone" in broken.out
    assert "How many orders are there?: condition: " in broken.out
    assert sqlwright(*command, "--baseline", "last.json", "--allow-lost", "1").code == 0

    suite = ET.parse("ci.xml").getroot()[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("4", "2", "0")

    questions(*RIGHT, WRONG)
    mended = sqlwright(*command, "--baseline", "run", "--json")
    assert mended.code == 0, mended.err
    since = json.loads(mended.out)["gate"]["since_baseline"]
    assert [one["question"] for one in since["mended"]] == ["How many orders are there?"]


@pytest.mark.parametrize(
    ("options", "code", "told"),
    [
        (["--fail-under", "1.5"], 2, "share from 0 to 1"),
        (["--fail-under", "most"], 2, "share from 0 to 1"),
        (["--allow-lost", "1"], 2, "--allow-lost needs a baseline"),
        (["--baseline", "x.json", "--allow-lost", "-1"], 2, "0 or more"),
        (["--baseline", "none.json"], 6, "none.json is missing"),
        (["--junit", "nowhere/ci.xml"], 2, "nowhere/ci.xml can't be written"),
        (["--write-baseline", "."], 2, "can't be written"),
        (["--write-baseline", "b.json", "--limit", "1"], 2, "keeps every question"),
    ],
)
def test_options_that_do_not_fit_are_told_before_anything_is_asked(
    sqlwright: Run, questions: Callable[..., list[str]], options: list[str], code: int, told: str
) -> None:
    outcome = sqlwright(*questions(*RIGHT), *options)
    assert (outcome.code, outcome.out) == (code, "")
    assert told in outcome.err
