"""A second question in one text is told; what belongs to one request isn't."""

import pytest

from sqlwright.english.second_question import second_question

from .cases import cases

ONE: list[str] = cases("one_question")
TWO: dict[str, str] = cases("second_question")


@pytest.mark.parametrize("text", ONE)
def test_one_request_in_several_sentences_is_one(text: str) -> None:
    assert second_question(text) == ""


@pytest.mark.parametrize("text", TWO)
def test_a_second_question_is_noticed(text: str) -> None:
    assert second_question(text) == TWO[text]


@pytest.mark.parametrize("text", ["", "?", "? ?", "a" * 100_000, "? " * 50_000, '"' * 9_999])
def test_any_text_will_do(text: str) -> None:
    assert second_question(text) == ""
