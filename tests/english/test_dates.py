"""Days, months and longer times that a question names."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from sqlwright.english.bounds import bound_before
from sqlwright.english.dates import moments, moved, with_dates

from .cases import cases

TODAY = date(2024, 5, 15)  # a Wednesday
CASES = cases("dates")


def told(text: str) -> list[str]:
    """Each moment as its operator, first and last."""
    return [
        (m.operator or "") + (m.first if m.first == m.last else f"{m.first}..{m.last}")
        for m in moments(text, TODAY)
    ]


@pytest.mark.parametrize("case", CASES["absolute"], ids=lambda case: case["text"])
def test_moments_are_read_as_people_write_them(case: dict[str, Any]) -> None:
    assert told(case["text"]) == case["are"]


@pytest.mark.parametrize("case", CASES["relative"], ids=lambda case: case["text"])
def test_some_moments_depend_on_the_day(case: dict[str, Any]) -> None:
    assert told(case["text"]) == case["are"]
    assert not moments(case["text"])


@pytest.mark.parametrize("case", CASES["bounds"], ids=lambda case: case["before"])
def test_words_before_a_time_are_bounds(case: dict[str, Any]) -> None:
    assert bound_before(case["before"]) == case["is"]


def test_a_month_later_is_its_last_day_where_it_is_shorter() -> None:
    assert moved(date(2024, 1, 31), "month", 1) == date(2024, 2, 29)
    assert moved(date(2024, 2, 29), "year", -1) == date(2023, 2, 28)
    assert moved(date(2024, 1, 1), "month", -1) == date(2023, 12, 1)


def test_a_text_with_its_dates_as_queries_write_them() -> None:
    assert with_dates("from May 3, 1997 on") == "since 1997-05-03"
    assert with_dates("the 3 in Q2 1997 last month") == "the 3 in 1997-04 1997-06 last month"


@pytest.mark.parametrize("case", CASES["used"], ids=lambda case: f"{case['text']} {case['query']}")
def test_a_query_goes_by_a_moment_or_by_the_day_next_to_it(case: dict[str, Any]) -> None:
    (moment,) = moments(case["text"])
    assert moment.is_among([case["query"]]) == case["used"]
