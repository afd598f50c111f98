"""What a conversation asked back: which lines answer it, and what is remembered."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sqlwright.cli.opening import AnswerAndState
from sqlwright.cli.views.asking_back import AskedBack, number_meant
from sqlwright.types import Candidate, Choice, QuestionBack
from tests.cli.answers import ANSWER

CHOICES = ("the total amount", "the average amount", "the number of rows")
WHOLE = QuestionBack(
    "Do you mean the total amount, the average amount or the number of rows?",
    "operation",
    "",
    tuple(Choice(text, "4", 1 / 3, Candidate("SELECT 4", "test")) for text in CHOICES),
)


def back(question: str, asked: QuestionBack = WHOLE) -> AnswerAndState:
    return AnswerAndState(replace(ANSWER, question=question, question_back=asked))


@pytest.mark.parametrize(
    ("line", "number"),
    [
        ("2", 2),
        ("average", 2),
        ("The average amount", 2),
        ("rows", 3),
        ("amount", None),
        ("0", None),
        ("4", None),
        ("٢", None),
        ("", None),
        ("median amount", None),
    ],
)
def test_the_number_that_a_line_means(line: str, number: int | None) -> None:
    assert number_meant(WHOLE, line) == number


@pytest.mark.parametrize("line", ["7", "0", "amount", "the amount"])
def test_a_reply_that_chooses_nothing_leaves_the_question_open(line: str) -> None:
    talk = AskedBack(open=back("What do orders come to?"))
    assert talk.unclear(line) is WHOLE
    assert talk.open is not None


@pytest.mark.parametrize("line", ["2", "rows", "How many orders are there?", "7 largest orders"])
def test_a_choice_or_a_new_question_is_clear(line: str) -> None:
    assert AskedBack(open=back("What do orders come to?")).unclear(line) is None
    assert AskedBack().unclear(line) is None


def test_without_a_phrase_the_choice_is_remembered_for_the_whole_question() -> None:
    question = "What do orders come to?"
    talk = AskedBack(open=back(question))
    taken = talk.take("average")
    assert taken is not None
    assert taken[1] == 2
    assert talk.remembered(WHOLE, "what do orders come to") == 2
    assert talk.remembered(WHOLE, "What do payments come to?") is None
    fewer = replace(WHOLE, choices=(WHOLE.choices[0], WHOLE.choices[2]))
    assert talk.remembered(fewer, question) is None
    reordered = replace(WHOLE, choices=WHOLE.choices[::-1])
    assert talk.remembered(reordered, question) == 2


def test_a_choice_for_a_phrase_holds_for_other_questions_with_it() -> None:
    phrased = replace(WHOLE, phrase="come to")
    talk = AskedBack(open=back("What do orders come to?", phrased))
    assert talk.take("3") is not None
    assert talk.remembered(phrased, "What do payments come to?") == 3
    assert talk.remembered(replace(phrased, kind="each"), "What do orders come to?") is None
