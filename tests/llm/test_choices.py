"""Probabilities of a letter or a number, by the tokens that servers and tokenizers make of it."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pytest

from sqlwright.llm.choices import choice_probabilities
from sqlwright.messages import Reply, TokenLogprob

Place = str | tuple[str, Mapping[str, float]]
"""A token, or one with the probabilities of the likeliest."""
LETTERS = ("A", "B")
TWELVE = tuple(str(number) for number in range(1, 13))


def replied(*places: Place) -> Reply:
    listed = []
    for place in places:
        token, likely = place if isinstance(place, tuple) else (place, {place: 0.99})
        told = tuple((each, math.log(share)) for each, share in likely.items())
        listed.append(TokenLogprob(token, math.log(likely[token]), told))
    return Reply("x", logprobs=tuple(listed))


def chosen(reply: Reply, choices: tuple[str, ...]) -> dict[str, float]:
    """The choices with a probability."""
    found = choice_probabilities(reply, choices)
    assert found is not None
    assert list(found) == list(choices)
    assert sum(found.values()) <= 1 + 1e-9
    return {choice: share for choice, share in found.items() if share}


def test_what_none_of_the_likeliest_tokens_says_has_nothing() -> None:
    place = (' "B', {' "B': 0.6, "a": 0.3})
    found = choice_probabilities(replied("Answer", place), ["A", "B", "C"])
    assert found == pytest.approx({"A": 0.3, "B": 0.6, "C": 0.0})
    assert choice_probabilities(replied("Answer"), ["A"]) is None
    assert choice_probabilities(Reply("A"), ["A"]) is None


@pytest.mark.parametrize(
    ("said", "other"),
    [("A", "B"), (" A", " B"), ("▁A", "▁B"), ("ĠA", "ĠB"), ("ĊA", "B"), ("a", "b"), ("(A", "B.")],
)
def test_spellings_of_a_letter_are_the_same_answer(said: str, other: str) -> None:
    reply = replied((said, {said: 0.7, other: 0.2, "The": 0.1}))
    assert chosen(reply, LETTERS) == pytest.approx({"A": 0.7, "B": 0.2})


def test_spellings_at_one_place_are_added_up() -> None:
    reply = replied(("A", {"A": 0.5, " A": 0.2, "▁A": 0.1, "B": 0.2}))
    assert chosen(reply, LETTERS) == pytest.approx({"A": 0.8, "B": 0.2})


@pytest.mark.parametrize(
    "before",
    [("▁",), (" ",), ("Answer", ":"), ("An", "swer", ":"), ("A", "nswer", ":"), ("答案是",)],
)
def test_the_letter_is_looked_for_among_whole_words(before: tuple[str, ...]) -> None:
    reply = replied(*before, ("B", {"B": 0.6, "A": 0.4}), ".")
    assert chosen(reply, LETTERS) == pytest.approx({"A": 0.4, "B": 0.6})


def test_a_letter_inside_of_a_word_is_no_answer() -> None:
    assert choice_probabilities(replied("C", "A", "T"), LETTERS) is None


def test_numbers_of_one_token_are_as_they_are() -> None:
    reply = replied(("12", {"12": 0.5, "3": 0.3, "11": 0.2}))
    assert chosen(reply, TWELVE) == pytest.approx({"12": 0.5, "3": 0.3, "11": 0.2})


@pytest.mark.parametrize("first", ["1", " 1", "▁1"])
def test_a_number_that_goes_on_is_read_to_its_end(first: str) -> None:
    """Digit by digit: the probability of the first one is shared by what follows it."""
    reply = replied((first, {first: 0.8, "2": 0.2}), ("2", {"2": 0.5, "0": 0.25, "<end>": 0.25}))
    found = chosen(reply, TWELVE)
    assert found == pytest.approx({"12": 0.4, "10": 0.2, "1": 0.2, "2": 0.2})


@pytest.mark.parametrize("end", [".", "<end>", "\n", " is"])
def test_a_number_that_could_have_gone_on_and_did_not(end: str) -> None:
    reply = replied(("1", {"1": 0.8, "2": 0.2}), (end, {end: 0.75, "1": 0.25}))
    assert chosen(reply, TWELVE) == pytest.approx({"1": 0.6, "11": 0.2, "2": 0.2})


def test_without_a_place_after_it_the_number_is_what_was_said() -> None:
    reply = replied(("1", {"1": 0.8, "2": 0.2}))
    assert chosen(reply, TWELVE) == pytest.approx({"1": 0.8, "2": 0.2})


def test_a_beginning_that_was_not_taken_is_shared_by_all_numbers_that_begin_so() -> None:
    reply = replied(("3", {"3": 0.6, "1": 0.4}))
    found = chosen(reply, TWELVE)
    assert found == pytest.approx({"3": 0.6, "1": 0.1, "10": 0.1, "11": 0.1, "12": 0.1})
    assert chosen(reply, TWELVE[:9]) == pytest.approx({"3": 0.6, "1": 0.4})


def test_a_number_that_is_no_choice_is_passed_over_as_a_whole() -> None:
    reply = replied("Of", " 1", "9", ":", (" 4", {" 4": 0.9, " 2": 0.1}))
    assert chosen(reply, TWELVE) == pytest.approx({"4": 0.9, "2": 0.1})
    assert choice_probabilities(replied("1", "9"), TWELVE) is None


def test_a_word_of_several_tokens_is_the_answer_it_says() -> None:
    reply = replied(("y", {"y": 0.5, "no": 0.4}), ("es", {"es": 0.9, "ep": 0.1}))
    assert chosen(reply, ("yes", "no")) == pytest.approx({"yes": 0.45, "no": 0.4})
