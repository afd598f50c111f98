"""Budgets are hard: what doesn't fit isn't reserved."""

from __future__ import annotations

import threading

import pytest

from sqlwright.errors import ConfigError
from sqlwright.spending import (
    Budget,
    Reservation,
    Spending,
    minus,
    parse_budget,
)
from sqlwright.types import Usage


@pytest.mark.parametrize(
    ("budget", "fits"),
    [
        (Budget(), True),
        (Budget(calls=2), True),
        (Budget(calls=1), False),
        (Budget(tokens=200), True),
        (Budget(tokens=199), False),
        (Budget(cost=0.02), True),
        (Budget(cost=0.019), False),
    ],
)
def test_a_second_request_fits_or_not(budget: Budget, fits: bool) -> None:
    spending = Spending(budget)
    one = Reservation(1, 100, 0.01)
    assert spending.reserve(one)
    assert spending.reserve(one) is fits


def test_what_was_reserved_and_not_used_is_free_again() -> None:
    spending = Spending(Budget(tokens=150))
    first = Reservation(1, 100)
    assert spending.reserve(first)
    spending.settle("step", first, Usage(1, 30, 20, 0.0))
    assert spending.reserve(Reservation(1, 100))
    assert spending.by_step == {"step": Usage(1, 30, 20, 0.0)}
    assert spending.total == Usage(1, 30, 20, 0.0)


def test_an_unknown_price_never_fits_under_a_limit_of_money() -> None:
    assert not Spending(Budget(cost=1.0)).reserve(Reservation(1, 100, None))
    assert Spending(Budget(calls=1)).reserve(Reservation(1, 100, None))


def test_many_threads_never_get_more_than_there_is() -> None:
    spending = Spending(Budget(calls=50))
    given: list[bool] = []
    threads = [
        threading.Thread(
            target=lambda: given.extend(spending.reserve(Reservation()) for _ in range(20))
        )
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(given) == 50


@pytest.mark.parametrize(
    ("text", "budget"),
    [
        ("$0.05", Budget(cost=0.05)),
        ("0.05 usd", Budget(cost=0.05)),
        ("20 calls", Budget(calls=20)),
        ("1 call", Budget(calls=1)),
        ("50k tokens", Budget(tokens=50_000)),
        ("50,000 tokens", Budget(tokens=50_000)),
        ("1.5M tokens, $1, 3 calls", Budget(3, 1_500_000, 1.0)),
    ],
)
def test_a_budget_is_read_as_people_write_it(text: str, budget: Budget) -> None:
    assert parse_budget(text) == budget
    assert parse_budget(str(budget)) == budget


@pytest.mark.parametrize(
    "text", ["", "5", "calls", "$5 calls", "$1, $2", "0.5 calls", "-1 calls", "$1.2.3", "lots"]
)
def test_what_is_no_budget_is_refused_with_examples(text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_budget(text)
    assert "20 calls" in caught.value.hint


def test_what_is_left_is_neither_spent_nor_reserved() -> None:
    spending = Spending(Budget(10, 1_000, 1.0))
    spending.book("first", Usage(2, 100, 50, 0.25))
    one = Reservation(1, 200, 0.5)
    assert spending.reserve(one)
    assert spending.left() == Budget(7, 650, 0.25)
    assert spending.held
    spending.settle("second", one, Usage(1, 10, 10, None))
    assert spending.left() == Budget(7, 830, 0.0)
    assert not spending.wait(1)


def test_what_came_on_top_is_the_difference() -> None:
    assert minus(Usage(3, 50, 9, 0.5), Usage(1, 20, 9, 0.25)) == Usage(2, 30, 0, 0.25)
    assert minus(Usage(3, cost=None), Usage(1)).cost is None


def test_replies_have_a_limit_of_their_own_unless_a_budget_names_tokens() -> None:
    spending = Spending(Budget(calls=9).capped(100))
    assert str(spending.budget) == "9 calls, 100 tokens of replies, unless --budget names tokens"
    first = Reservation(1, 5_000, 0.0, 80)
    assert spending.reserve(first)
    assert not spending.reserve(Reservation(1, 5_000, 0.0, 30))
    spending.settle("step", first, Usage(1, 4_900, 40, 0.0))
    assert spending.left() == Budget(calls=8, replies=60)
    assert spending.reserve(Reservation(1, 5_000, 0.0, 60))
    assert Budget(tokens=5).capped(100) == Budget(tokens=5)
    assert not Budget().capped(0).limited
