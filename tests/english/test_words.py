from __future__ import annotations

import pytest

from sqlwright.english.words import (
    is_abbreviation,
    phrases,
    split_name,
    stem,
    tokens,
)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("HomeTeam_ID2", ("home", "team", "id", "2")),
        ("firstName", ("first", "name")),
        ("HTMLPage", ("html", "page")),
        ("order details", ("order", "details")),
        ("Größe", ("größe",)),
        ("%%", ()),
    ],
)
def test_names_are_split_into_words(name: str, words: tuple[str, ...]) -> None:
    assert split_name(name) == words


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("countries", "country"), ("cities", "city"), ("boxes", "box"), ("stopped", "stop"),
        ("drives", "driving"), ("people", "person"), ("classes", "class"), ("prices", "priced"),
    ],
)  # fmt: skip
def test_forms_of_a_word_share_a_stem(left: str, right: str) -> None:
    assert stem(left) == stem(right)


@pytest.mark.parametrize(("left", "right"), [("city", "cite"), ("bus", "business"), ("age", "ag")])
def test_other_words_do_not(left: str, right: str) -> None:
    assert stem(left) != stem(right)


@pytest.mark.parametrize(
    ("short", "full", "expected"),
    [
        ("dept", "department", True), ("qty", "quantity", True), ("cntry", "country", True),
        ("dob", "birth", True), ("car", "carrier", True), ("cat", "chocolate", False),
        ("no", "north", False), ("department", "dept", False),
    ],
)  # fmt: skip
def test_abbreviations(short: str, full: str, expected: bool) -> None:
    assert is_abbreviation(short, full) is expected


def test_tokens_know_where_they_stand() -> None:
    text = "Bob's cars of 1999-01-02"
    found = tokens(text)
    assert [token.text for token in found] == ["bob", "cars", "of", "1999-01-02"]
    assert all(text[token.start : token.end].casefold().startswith(token.text) for token in found)


def test_phrases_do_not_begin_or_end_with_dull_words() -> None:
    found = tokens("date of birth")
    assert set(phrases(found)) == {(0, 1), (2, 3), (0, 3)}
