from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from sqlwright.steps.retrieval.request import MAX_CHARACTERS, screen_request
from sqlwright.types import Question

CASES = Path(__file__).parents[2] / "cases" / "request"


def cases() -> list[object]:
    found = []
    for path in sorted(CASES.glob("*.yaml")):
        found += [
            pytest.param(case["ask"], case["refuse"], id=f"{path.stem}: {case['ask'][:60]}")
            for case in yaml.safe_load(path.read_text("utf-8"))
        ]
    return found


@pytest.mark.parametrize(("ask", "reason"), cases())
def test_a_request_is_refused_for_the_right_reason_or_let_through(
    ask: str, reason: str | None
) -> None:
    refusal = screen_request(Question(ask))
    assert (refusal.reason if refusal else None) == reason


def test_a_question_may_have_ten_thousand_characters_and_no_more() -> None:
    longest = "How many customers are there? ".ljust(MAX_CHARACTERS, "x")
    assert screen_request(Question(longest)) is None
    refusal = screen_request(Question(longest + "x"))
    assert refusal is not None
    assert refusal.reason == "too_long"
    assert "10,001" in refusal.message


def test_a_refused_write_suggests_to_look_instead() -> None:
    refusal = screen_request(Question("Please delete all orders from 2019."))
    assert refusal is not None
    assert refusal.suggestion.endswith("show all orders from 2019")


def test_every_refusal_says_what_to_do() -> None:
    for ask in ("", "hello", "drop table x", "Wie viele Kunden gibt es?", "x" * 20_000):
        refusal = screen_request(Question(ask))
        assert refusal is not None
        assert refusal.message
        assert refusal.suggestion


def test_screening_hostile_text_takes_no_long_search() -> None:
    for piece in ("please ", "update the ", "find and then ", "give a ", '"', "create a ", "hi "):
        screen_request(Question(piece * (MAX_CHARACTERS // len(piece))))
