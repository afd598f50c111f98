"""Days, months and years: their bounds, and the days next to them."""

from __future__ import annotations

import pytest

from sqlwright.types.periods import Period, is_bound, period_of

BOUNDS = [
    ("2024", "2023-12-31", "2024-01-01", "2024-12-31", "2025-01-01"),
    ("2024-02", "2024-01-31", "2024-02-01", "2024-02-29", "2024-03-01"),
    ("2023-02", "2023-01-31", "2023-02-01", "2023-02-28", "2023-03-01"),
    ("1900-02", "1900-01-31", "1900-02-01", "1900-02-28", "1900-03-01"),
    ("2000-02-29", "2000-02-28", "2000-02-29", "2000-02-29", "2000-03-01"),
    ("2024-12", "2024-11-30", "2024-12-01", "2024-12-31", "2025-01-01"),
    ("2024-03-01", "2024-02-29", "2024-03-01", "2024-03-01", "2024-03-02"),
    ("0999", "0998-12-31", "0999-01-01", "0999-12-31", "1000-01-01"),
    ("0001", "", "0001-01-01", "0001-12-31", "0002-01-01"),
    ("9999-12", "9999-11-30", "9999-12-01", "9999-12-31", ""),
]


@pytest.mark.parametrize(("iso", "before", "first", "last", "after"), BOUNDS)
def test_a_time_has_bounds(iso: str, before: str, first: str, last: str, after: str) -> None:
    period = Period(iso)
    assert (period.before, period.first, period.last, period.after) == (before, first, last, after)


@pytest.mark.parametrize(
    "text", ["2023-02-29", "0000", "2024-13", "2024-00-01", "99", "2024-2", ""]
)
def test_what_is_no_time(text: str) -> None:
    assert period_of(text) is None


def test_an_equal_time_has_no_other_bound() -> None:
    assert not is_bound("1990", "=", ["1991-01-01", "1989-12-31"])
    assert not is_bound("9999", ">", [""])
