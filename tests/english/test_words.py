"""The rules about words: tokens, split_name, singular, plural, stem, abbreviations."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest

from sqlwright.english.words import (
    is_abbreviation,
    name_spans,
    phrases,
    plural,
    singular,
    split_name,
    stem,
    tokens,
)

from .cases import cases

SINGULAR: dict[str, str] = cases("singular")
SPLIT: dict[str, list[str]] = cases("split")
TOKENS: dict[str, list[str]] = cases("tokens")


@pytest.mark.parametrize("forms", cases("stem")["same"], ids=lambda forms: forms[0])
def test_forms_of_a_word_share_a_stem(forms: list[str]) -> None:
    assert {stem(form) for form in forms} == {stem(forms[0])}


@pytest.mark.parametrize("words", cases("stem")["different"], ids=lambda words: words[0])
def test_other_words_do_not(words: list[str]) -> None:
    assert all(stem(one) != stem(other) for one, other in combinations(words, 2))


@pytest.mark.parametrize("word", SINGULAR)
def test_a_word_in_the_singular(word: str) -> None:
    assert singular(word) == SINGULAR[word]
    assert singular(SINGULAR[word]) == SINGULAR[word]


@pytest.mark.parametrize("word", sorted({*SINGULAR.values()} - {"news", "species", "series"}))
def test_what_is_put_in_the_plural_comes_back(word: str) -> None:
    if plural(word) != word:
        assert singular(plural(word)) == word


@pytest.mark.parametrize("name", SPLIT)
def test_names_are_split_into_words(name: str) -> None:
    assert list(split_name(name)) == SPLIT[name]
    assert [name[start:end].lower() for start, end in name_spans(name)] == SPLIT[name]


@pytest.mark.parametrize("text", TOKENS)
def test_texts_are_split_into_words_and_numbers(text: str) -> None:
    found = tokens(text)
    assert [token.text for token in found] == TOKENS[text]
    for token in found:
        said = text[token.start : token.end].lower().replace("’", "'")
        assert said.startswith(token.text)
        assert token.within((token.start, token.end))
        assert not token.within((token.start + 1, token.end))
        assert not token.within((token.start, token.end - 1))
        assert token.is_number is said[0].isdigit()


@pytest.mark.parametrize("case", cases("abbreviations"), ids=lambda case: case["short"])
def test_abbreviations(case: dict[str, Any]) -> None:
    assert is_abbreviation(case["short"], case["for"]) is case["is"]


def test_phrases_do_not_begin_or_end_with_dull_words() -> None:
    assert set(phrases(tokens("date of birth"))) == {(0, 1), (2, 3), (0, 3)}
    assert set(phrases(tokens("red 7 room"))) == {(0, 1), (2, 3), (0, 3)}
    assert set(phrases(tokens("a b c d e"), 2, frozenset())) == {
        *((at, at + 1) for at in range(5)),
        *((at, at + 2) for at in range(4)),
    }
