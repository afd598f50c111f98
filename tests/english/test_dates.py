"""Days, months and longer times that a question names."""

from __future__ import annotations

from datetime import date

import pytest

from sqlwright.english.dates import moments, moved, with_dates

TODAY = date(2024, 5, 15)  # a Wednesday


def told(text: str) -> list[str]:
    """Each moment as its operator, first and last."""
    return [
        (m.operator or "") + (m.first if m.first == m.last else f"{m.first}..{m.last}")
        for m in moments(text, TODAY)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sold in May 1997", ["1997-05"]),
        ("sold in may of 1997?", ["1997-05"]),
        ("sold in Sept. 1997", ["1997-09"]),
        ("on January 1, 1998", ["1998-01-01"]),
        ("on 1 January 1998", ["1998-01-01"]),
        ("on the 2nd of Jan 1998", ["1998-01-02"]),
        ("on Jan 3rd 1998", ["1998-01-03"]),
        ("on 1998-2-03", ["1998-02-03"]),
        ("on 1998/02/03.", ["1998-02-03"]),
        ("since 1998-02-03", []),
        ("after the 3rd of May 1998", [">1998-05-03"]),
        ("before May 1998", ["<1998-05"]),
        ("until May 1998", ["<=1998-05"]),
        ("from May 1997 to August 1998", ["1997-05", "1998-08"]),
        ("in Q2 1997", ["1997-04..1997-06"]),
        ("in the last quarter of 1997", ["1997-10..1997-12"]),
        ("in 1997", []),
        ("in May", []),
        ("on 1998-13-01", []),
        ("version 1998-02-03.5", []),
        ("after '2005-08-23 02:06:01'", []),
        ("between 2004-01-01 and 2005-08-23", []),
    ],
)
def test_moments_are_read_as_people_write_them(text: str, expected: list[str]) -> None:
    assert told(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ordered today", ["2024-05-15"]),
        ("ordered yesterday", ["2024-05-14"]),
        ("ordered last month", ["2024-04"]),
        ("in the previous month", ["2024-04"]),
        ("before this month", ["<2024-05"]),
        ("this year and last year", ["2024", "2023"]),
        ("last week", ["2024-05-06..2024-05-12"]),
        ("this quarter", ["2024-04..2024-06"]),
        ("last quarter", ["2024-01..2024-03"]),
        ("in the last 30 days", [">=2024-04-15"]),
        ("within the past 3 months", [">=2024-02-15"]),
        ("until 2 weeks ago", ["<=2024-05-01"]),
        ("a year ago", ["2023-05-15"]),
        ("the last year of the war", []),
        ("What was the last year?", []),
        ("last month of the season", []),
        ("in the last 99999 years", []),
        ("last name", []),
    ],
)
def test_some_moments_depend_on_the_day(text: str, expected: list[str]) -> None:
    assert told(text) == expected
    assert not moments(text)


def test_a_month_later_is_its_last_day_where_it_is_shorter() -> None:
    assert moved(date(2024, 1, 31), "month", 1) == date(2024, 2, 29)
    assert moved(date(2024, 2, 29), "year", -1) == date(2023, 2, 28)
    assert moved(date(2024, 1, 1), "month", -1) == date(2023, 12, 1)


def test_a_text_with_its_dates_as_queries_write_them() -> None:
    assert with_dates("from May 3, 1997 on") == "from 1997-05-03 on"
    assert with_dates("the 3 in Q2 1997 last month") == "the 3 in 1997-04 1997-06 last month"
