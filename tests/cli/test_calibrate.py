"""`sqlwright lab calibrate`, and who tells of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from tests.cli.conftest import Outcome
from tests.llm.server import Asked, ModelServer

Command = Callable[..., Outcome]
QUESTIONS = (
    ("How many customers are there?", "SELECT count(*) FROM customers"),
    ("How many orders are there?", "SELECT count(*) FROM orders"),
    ("What are the names of all customers?", "SELECT name FROM customers"),
    ("What is the average total of the orders?", "SELECT avg(total) FROM orders"),
)


def golden(path: Path, times: int) -> Path:
    """A set in which each question comes in several wordings; a third of the golden queries are
    others, so that answers to them are wrong."""
    endings = ("", "?", "!", "..", " ?", " !", " .", "??")
    rows = [
        {"question": question + ending, "sql": sql if n % 3 else "SELECT 'something else'"}
        for n, ending in enumerate(endings[:times])
        for question, sql in QUESTIONS
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_from_set_to_answer_and_back(sqlwright: Command, shop: Path) -> None:
    before = json.loads(sqlwright("ask", shop, QUESTIONS[0][0], "--json").out)
    done = sqlwright("lab", "calibrate", golden(Path("golden.jsonl"), 8), "--database", shop)
    assert done.code == 0, done.err
    assert "local: 32 questions answered" in done.err
    assert "calibration error before" in done.err
    assert "calibration error after, of questions left out of fitting" in done.err
    after = json.loads(sqlwright("ask", shop, QUESTIONS[0][0], "--json").out)
    assert after["sql"] == before["sql"]
    assert after["confidence"] != before["confidence"]
    assert after["interval"][0] < after["confidence"] < after["interval"][1]
    assert after["basis"]["fitted_to"].startswith("32 of your own questions")
    assert "fitted to 32 of your own questions" in " ".join(
        sqlwright("ask", shop, QUESTIONS[0][0], "--explain").out.split()
    )
    doctor = sqlwright("doctor", shop)
    assert "local: fitted to 32 of your own questions" in " ".join(doctor.out.split()) + doctor.err
    assert "removed" in sqlwright("lab", "calibrate", "--reset", "-d", shop).err
    assert "there is no calibration" in sqlwright("lab", "calibrate", "--reset", "-d", shop).err
    again = json.loads(sqlwright("ask", shop, QUESTIONS[0][0], "--json").out)
    assert again["confidence"] == before["confidence"]


def test_auto_tells_of_both_kinds_of_answers(sqlwright: Command, shop: Path) -> None:
    def reply(asked: Asked) -> list[str]:
        text = str(asked.body["messages"])
        query = next(sql for question, sql in QUESTIONS if question[:-1] in text)
        return [f"```sql\n{query}\n```"]

    with ModelServer(answer=reply) as server:
        model = ("-r", "auto", "-m", "openai-compatible/m", "--base-url", server.url)
        done = sqlwright(
            "lab", "calibrate", golden(Path("golden.jsonl"), 8), "-d", shop, *model, "--sure", "1"
        )
        assert done.code == 0, done.err
        answer = json.loads(sqlwright("ask", shop, QUESTIONS[0][0], *model, "--json").out)
    assert "auto: 32 questions answered" in done.err
    assert "auto with openai-compatible/m: 32 questions answered" in done.err
    assert len(server.seen) >= 32
    assert answer["basis"]["fitted_to"].startswith("32 of your own questions")
    told = " ".join(sqlwright("doctor", shop).out.split())
    assert "auto with openai-compatible/m: fitted to 32 of your own questions" in told
    assert "removed" in sqlwright("lab", "calibrate", "--reset", "-d", shop, "-r", "auto").err
    assert "there is no calibration" in sqlwright("lab", "calibrate", "--reset", "-d", shop).err


def test_too_few_questions_say_what_is_needed(sqlwright: Command, shop: Path) -> None:
    done = sqlwright("lab", "calibrate", golden(Path("golden.jsonl"), 1), "-d", shop)
    assert done.code == 2
    assert "4 of the questions were answered" in done.err
    assert "at least 30" in done.err


def test_either_a_set_or_a_reset(sqlwright: Command, shop: Path) -> None:
    assert "either a golden set or --reset" in sqlwright("lab", "calibrate", "-d", shop).err
    assert sqlwright("lab", "calibrate", "missing.csv", "-d", shop).code == 6
