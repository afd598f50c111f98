"""The lists of words: numbers, places in an order, units, short forms, names of months and days."""

from __future__ import annotations

import pytest

from sqlwright.english.vocabulary import (
    ABBREVIATIONS,
    FUNCTION_WORDS,
    MONTH_NAMES,
    MONTHS,
    NUMBERS,
    ORDINALS,
    SCALES,
    STOP_WORDS,
    UNITS,
    WEEKDAY_NAMES,
    WEEKDAYS,
    WRITTEN_SHORT,
    vocabulary,
)

from .cases import cases

WRITTEN: dict[str, list[str]] = cases("written_short")
MEASURED = cases("numbers")


def test_number_words_and_places() -> None:
    assert MEASURED["numbers"].items() <= NUMBERS.items()
    assert MEASURED["places"].items() <= ORDINALS.items()
    assert [NUMBERS[scale] for scale in SCALES] == [10**3, 10**6, 10**9]


@pytest.mark.parametrize("case", MEASURED["units"], ids=str)
def test_units_of_a_kind_are_multiples(case: tuple[str, str, float]) -> None:
    larger, smaller, times = case
    of_one_kind = [
        (units[larger], units[small])
        for units in UNITS
        for small in (smaller, smaller.removesuffix("s"))
        if larger in units and small in units
    ]
    assert [round(large / small, 9) for large, small in of_one_kind[:1]] == [times]


@pytest.mark.parametrize("word", WRITTEN)
def test_words_of_names_are_written_short(word: str) -> None:
    assert [*WRITTEN_SHORT.get(word, ())] == WRITTEN[word]


def test_months_and_days_go_by_all_their_names() -> None:
    assert (MONTHS["may"], MONTHS["sept"], MONTHS["december"]) == (5, 9, 12)
    assert len(MONTH_NAMES) == 12
    assert len(WEEKDAY_NAMES) == 7
    assert {"thursday", "thurs", "thur", "thu"} <= WEEKDAYS


def test_stop_words_are_function_words_that_no_value_is_meant_by() -> None:
    assert STOP_WORDS < FUNCTION_WORDS
    assert STOP_WORDS.isdisjoint(vocabulary("done may yes off down mine"))


def test_no_short_form_stands_for_itself() -> None:
    assert [short for short, words in ABBREVIATIONS.items() if short in words] == []
