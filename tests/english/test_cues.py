"""What the words of a question ask for."""

from __future__ import annotations

from typing import Any

import pytest

from sqlwright.english import cues
from sqlwright.english.cues import one_of, orders, whole_words

from .cases import cases

CASES = cases("cues")
GROUPS = {
    "count": cues.COUNT, "high": cues.HIGH_END, "low": cues.LOW_END, "average": cues.AVERAGE,
    "total": cues.TOTAL, "time": cues.TIME, "name": cues.NAME, "key": cues.KEY,
    "each": cues.EACH, "not": cues.NOT, "bound": cues.BOUND,
}  # fmt: skip


def test_the_linker_has_an_input_for_each_group_in_this_order() -> None:
    assert tuple(GROUPS.values()) == cues.KINDS


@pytest.mark.parametrize("case", CASES["kinds"], ids=lambda case: case["ask"])
def test_groups_of_words_that_a_question_has(case: dict[str, Any]) -> None:
    found = [
        name for name, group in GROUPS.items() if whole_words(one_of(group)).search(case["ask"])
    ]
    assert found == case["for"]


@pytest.mark.parametrize("case", CASES["orders"], ids=lambda case: case["ask"])
def test_an_order_in_other_words(case: dict[str, Any]) -> None:
    assert [told for _, _, told in orders(case["ask"])] == [f"in {order}" for order in case["in"]]


@pytest.mark.parametrize("case", CASES["each_year"], ids=lambda case: case["ask"])
def test_units_of_time_are_told_as_years(case: dict[str, Any]) -> None:
    text = case["ask"]
    for start, end, told in sorted(cues.each_year(text), reverse=True):
        text = text[:start] + told + text[end:]
    assert text == case["as"]


@pytest.mark.parametrize("case", CASES["negated"], ids=lambda case: case["before"])
def test_what_excludes_the_next_phrase(case: dict[str, Any]) -> None:
    assert bool(cues.NEGATION_BEFORE.search(case["before"])) is case["is"]


@pytest.mark.parametrize("case", CASES["both"], ids=lambda case: case["between"])
def test_what_joins_two_values(case: dict[str, Any]) -> None:
    assert bool(cues.BETWEEN_EQUALS.fullmatch(case["between"])) is case["is"]


@pytest.mark.parametrize("case", CASES["later_place"], ids=lambda case: case["ask"])
def test_a_later_place_in_an_order(case: dict[str, Any]) -> None:
    found = cues.LATER_PLACE.search(case["ask"])
    assert (cues.LATER_PLACES[found["place"]] if found else None) == case["is"]


@pytest.mark.parametrize("case", CASES["rounded"], ids=lambda case: case["ask"])
def test_how_many_decimals_are_wanted(case: dict[str, Any]) -> None:
    found = cues.ROUNDED.search(case["ask"])
    assert (found["digits"] or "" if found else None) == case["to"]


@pytest.mark.parametrize("case", CASES["properties"], ids=lambda case: case["word"])
def test_columns_that_hold_what_a_word_asks_for(case: dict[str, Any]) -> None:
    known = cues.PROPERTIES.get(case["word"], ())
    assert set(case["columns"]) <= set(known)
    assert bool(known) is bool(case["columns"])
