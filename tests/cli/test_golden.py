"""`sqlwright lab golden`: a set examined, and questions added to it from traces and chats."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from sqlwright.lab.evaluation.golden.questions import load_golden_set
from tests.cli.conftest import Outcome

Run = Callable[..., Outcome]
FINE = {"question": "How many customers are there?", "sql": "SELECT COUNT(*) FROM customers"}
NOBODY = {
    "question": "Who lives in Bergen?",
    "sql": "SELECT name FROM customers WHERE city = 'Bergen'",
}
BROKEN = {"question": "Who\x1b[31m is there?", "sql": "SELECT title FROM customers"}


def golden(*rows: dict[str, Any]) -> Path:
    path = Path("mine.yaml")
    path.write_text(yaml.safe_dump([{**row, "database": "shop.sqlite"} for row in rows]))
    return path


@pytest.mark.parametrize(
    ("rows", "options", "code", "told"),
    [
        ([FINE], [], 0, "nothing wrong in 1 question"),
        ([FINE, NOBODY], [], 0, "1 warning in 2 questions"),
        ([FINE, NOBODY], ["--strict"], 12, "1 warning in 2 questions"),
        ([FINE, NOBODY, BROKEN], [], 12, "1 error and 1 warning in 3 questions"),
    ],
)
def test_errors_end_with_a_code_of_their_own_and_warnings_if_asked(
    sqlwright: Run, shop: Path, rows: list[dict[str, Any]], options: list[str], code: int, told: str
) -> None:
    outcome = sqlwright("lab", "golden", "lint", golden(*rows), "--no-readings", *options)
    assert outcome.code == code, outcome.err
    assert outcome.out.rstrip().split("\n")[-1] == told
    assert "\x1b[31m" not in outcome.out


def test_each_fault_is_told_with_its_question_and_what_shows_it(sqlwright: Run, shop: Path) -> None:
    outcome = sqlwright("lab", "golden", "lint", golden(FINE, NOBODY, BROKEN), "--no-readings")
    lines = [" ".join(line.split()) for line in outcome.out.split("\n")]
    assert lines[0].endswith("Who lives in Bergen?")
    assert lines[1].startswith("nothing warning gold says nothing")
    assert lines[1].endswith("it gives no rows: SELECT name FROM customers WHERE city = 'Bergen'")
    assert lines[3].startswith("fails error a gold query fails")
    assert "no such column: title: SELECT title FROM customers" in lines[3]


def test_faults_as_json(sqlwright: Run, shop: Path) -> None:
    outcome = sqlwright("lab", "golden", "lint", golden(FINE, NOBODY), "--json")
    told = json.loads(outcome.out)
    assert (told["file"], told["questions"]) == ("mine.yaml", 2)
    assert (told["errors"], told["warnings"]) == (0, 1)
    (fault,) = told["faults"]
    assert (fault["rule"], fault["severity"]) == ("nothing", "warning")
    assert fault["question"] == NOBODY["question"]


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (["lint", "none.yaml"], 6, "none.yaml is missing"),
        (["add", "mine.yaml"], 2, "name one question"),
        (["add", "mine.yaml", "--last", "--trace", "2026"], 2, "name one question"),
        (["add", "mine.yaml", "--last"], 5, "no traces yet"),
        (["add", "mine.yaml", "--trace", "x/y.jsonl"], 5, "can't be read"),
        (["mend"], 2, "Commands: lint, add"),
    ],
)
def test_what_cannot_be_done_is_told(
    sqlwright: Run, shop: Path, words: list[str], code: int, told: str
) -> None:
    outcome = sqlwright("lab", "golden", *words)
    assert outcome.code == code
    assert told in outcome.err
    assert not Path("mine.yaml").exists()


def test_the_question_asked_last_is_added_with_its_rows(sqlwright: Run, shop: Path) -> None:
    question = "How many orders are there?"
    assert sqlwright("ask", shop, question, "--evidence", "An order is a row.").code == 0
    Path("ci").mkdir()
    added = sqlwright("lab", "golden", "add", "ci/mine.yaml", "--last", "--with-result")
    assert added.code == 0, added.err
    assert f"added to ci/mine.yaml, with 1 row: {question}" in added.err
    (example,) = load_golden_set(Path("ci/mine.yaml")).examples
    assert (example.question, example.evidence) == (question, "An order is a row.")
    assert example.database.resolve() == shop
    assert example.expected is not None
    assert example.expected.rows == ((4,),)
    assert sqlwright("lab", "golden", "lint", "ci/mine.yaml", "--no-readings").code == 0

    again = sqlwright("lab", "golden", "add", "ci/mine.yaml", "--last")
    assert again.code == 6
    assert "has this question already: number 1" in again.err
    other = sqlwright(
        "lab", "golden", "add", "other.jsonl", "--last", "--sql", "SELECT COUNT(id) FROM orders"
    )
    assert other.code == 0
    assert load_golden_set(Path("other.jsonl")).examples[0].gold_sql.startswith("SELECT COUNT(id)")
    assert (
        sqlwright("lab", "golden", "add", "x.yaml", "--last", "--sql", "DROP TABLE orders").code
        == 7
    )


def test_a_question_without_an_answer_needs_a_query(sqlwright: Run, shop: Path, home: Path) -> None:
    assert sqlwright("ask", shop, "Delete all customers.").code == 10
    refused = sqlwright("lab", "golden", "add", "mine.yaml", "--last")
    assert refused.code == 5
    assert "has no answer" in refused.err
    (trace,) = (home / "traces").glob("*.jsonl")
    named = sqlwright("lab", "golden", "add", "mine.yaml", "--trace", trace, "--sql", "SELECT 1")
    assert named.code == 0, named.err


def test_a_chat_keeps_a_question_with_the_query_shown_last(
    sqlwright: Run, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [
        ":golden mine.yaml",
        "How many orders are there?",
        ":golden",
        ":golden mine.yaml",
        ":golden mine.yaml",
        ":new",
        "What are the names of all customers?",
        ":run SELECT name FROM customers ORDER BY name",
        ":golden mine.yaml",
    ]
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(lines) + "\n"))
    outcome = sqlwright("chat", shop)
    assert "nothing has been asked yet" in outcome.err
    assert "write a file after :golden" in outcome.err
    assert "has this question already" in outcome.err
    first, second = load_golden_set(Path("mine.yaml")).examples
    assert first.question == "How many orders are there?"
    assert second.question == "What are the names of all customers?"
    assert second.gold_sql == "SELECT name FROM customers ORDER BY name"
