"""Prices: a dated table, the user's own before it, unknown where nobody knows."""

from __future__ import annotations

from pathlib import Path

import pytest

from sqlwright.errors import ConfigError
from sqlwright.llm.endpoint import Completion
from sqlwright.llm.metering import SpendingMeter, prompt_tokens
from sqlwright.llm.prices import FREE, Price, load_prices
from sqlwright.messages import Reply
from sqlwright.spending import Budget, Spending
from tests.llm.doubles import ask


def test_the_table_has_sensible_prices() -> None:
    prices = load_prices()
    assert len(prices.table) >= 30
    for name, price in prices.table.items():
        assert name.count("/") == 1
        if "embedding" not in name:
            assert price.prompt <= price.reply, name
        assert price.prompt > 0, name
        assert price.cached is None or 0 < price.cached < price.prompt, name
        assert price.long is None or price.long.prompt > price.prompt, name


@pytest.mark.parametrize(
    ("model", "same_as"),
    [
        ("openai/gpt-4o-2024-08-06", "openai/gpt-4o"),
        ("anthropic/claude-3-5-haiku-20241022", "anthropic/claude-3-5-haiku"),
        ("anthropic/claude-3-5-haiku-latest", "anthropic/claude-3-5-haiku"),
        ("openai/gpt-4o-2024-05-13", None),
    ],
)
def test_a_dated_revision_costs_what_its_model_does_unless_listed(
    model: str, same_as: str | None
) -> None:
    prices = load_prices()
    assert prices.of(model) == prices.table[same_as or model]


@pytest.mark.parametrize(
    "model", ["openai/gpt-4o-audio", "openai/gpt-99", "ollama/gpt-4o", "gpt-4o", ""]
)
def test_what_is_not_listed_is_unknown_never_guessed(model: str) -> None:
    assert load_prices().of(model) is None


def test_a_request_costs_its_tokens_with_those_in_the_vendors_cache_cheaper() -> None:
    price = Price(prompt=2.0, reply=8.0, cached=0.5)
    assert price.cost(1_000_000, 500_000) == pytest.approx(6.0)
    assert price.cost(1_000_000, 0, cached_tokens=400_000) == pytest.approx(1.4)
    assert price.cost(100, 0, cached_tokens=900) == pytest.approx(100 * 0.5 / 1e6)
    assert Price(2.0, 8.0).cost(100, 0, cached_tokens=50) == pytest.approx(100 * 2.0 / 1e6)
    assert FREE.cost(10**9, 10**9) == 0


def test_what_is_written_to_the_vendors_cache_has_its_price_and_is_reckoned_with() -> None:
    price = Price(prompt=2.0, reply=8.0, cached=0.5, written=2.5)
    assert price.cost(1_000_000, 0, 400_000, 100_000) == pytest.approx(1.0 + 0.2 + 0.25)
    assert price.highest(1_000_000, 0) == pytest.approx(2.5)
    assert Price(2.0, 8.0).highest(1_000_000, 0) == pytest.approx(2.0)
    long = Price(1.0, 10.0, above=10, long=Price(2.0, 15.0, written=3.0))
    assert long.cost(100, 0, 0, 100) == pytest.approx(100 * 3.0 / 1e6)


def test_a_request_is_booked_with_its_reasoning_and_its_parts_of_the_prefix_cache() -> None:
    price = Price(prompt=2.0, reply=8.0, cached=0.5, written=2.5)
    spending, call = Spending(Budget(cost=1.0)), ask("q" * 3_000, max_tokens=500)
    meter = SpendingMeter(spending, "s", price)
    assert meter.reserve(call)
    left = spending.left().cost
    assert left == pytest.approx(1.0 - price.highest(prompt_tokens(call), 500))
    found = Completion(
        (Reply("yes"),),
        prompt_tokens=1_000,
        reply_tokens=400,
        cached_prompt_tokens=600,
        written_prompt_tokens=300,
        reasoning_tokens=390,
    )
    meter.settle(call, found)
    used = spending.total
    assert (used.cached_prompt_tokens, used.written_prompt_tokens) == (600, 300)
    assert (used.reply_tokens, used.reasoning_tokens) == (400, 390)
    assert used.cost == pytest.approx((100 * 2 + 600 * 0.5 + 300 * 2.5 + 400 * 8) / 1e6)


def test_the_shipped_prices_say_when_and_where_they_were_looked_up() -> None:
    prices = load_prices()
    assert all(price.date >= "2026-11-22" and price.source for price in prices.table.values())
    assert prices.of("anthropic/claude-opus-5") == Price(5, 25, cached=0.5, written=6.25)
    assert prices.of("anthropic/claude-mythos-5-1") is None  # nobody lists it


def test_a_long_prompt_costs_more_as_a_whole() -> None:
    price = Price(1.0, 10.0, above=200_000, long=Price(2.0, 15.0))
    assert price.cost(200_000, 0) == pytest.approx(0.2)
    assert price.cost(200_001, 1) == pytest.approx((200_001 * 2 + 15) / 1e6)


def test_the_users_own_prices_come_first(tmp_path: Path) -> None:
    own = tmp_path / "prices.toml"
    own.write_text(
        'date = "2027-01-01"\n[models."openai/gpt-4o"]\nprompt = 1\nreply = 2\n'
        'date = "2027-02-03"\nsource = "a letter"\n'
        '[models."openai-compatible/mine"]\nprompt = 0\nreply = 0.5\n'
    )
    prices = load_prices(own)
    assert prices.of("openai/gpt-4o") == Price(1, 2)
    assert prices.of("openai-compatible/mine") == Price(0, 0.5)
    assert prices.of("openai/gpt-4o-mini") == load_prices().of("openai/gpt-4o-mini")
    dates = {name: price.date for name, price in prices.table.items()}
    assert (dates["openai/gpt-4o"], prices.table["openai/gpt-4o"].source) == (
        "2027-02-03",
        "a letter",
    )
    assert dates["openai-compatible/mine"] == "2027-01-01"
    assert dates["openai/gpt-4o-mini"] == load_prices().table["openai/gpt-4o-mini"].date


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("not toml", "not readable as TOML"),
        ('[models."a/b"]\nprompt = -1\nreply = 1', r"models\.a/b\.prompt"),
        ('[models."a/b"]\nprompt = 1', r"models\.a/b\.reply"),
        ('[models."a/b"]\nprompt = inf\nreply = 1', r"models\.a/b\.prompt"),
        ('[models."a/b"]\nprompt = 1\nreply = 1\nouput = 2', r"models\.a/b\.ouput"),
        ('["a/b"]\nprompt = 1\nreply = 1', "a/b"),
    ],
)
def test_prices_that_do_not_fit_are_refused(tmp_path: Path, text: str, says: str) -> None:
    own = tmp_path / "prices.toml"
    own.write_text(text)
    with pytest.raises(ConfigError, match=says):
        load_prices(own)


def test_prices_that_are_not_there_are_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="can't be read"):
        load_prices(tmp_path / "absent.toml")
