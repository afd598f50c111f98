"""The most that a query may read: how it is written, kept and said."""

from __future__ import annotations

from pathlib import Path

import pytest

from sqlwright.boundary.text import byte_count, row_count
from sqlwright.errors import ConfigError
from sqlwright.presentation.numbers import cost_words
from sqlwright.settings.loading import load_settings
from sqlwright.settings.scan import parse_scan
from sqlwright.types.plans import QueryCost, ScanLimit


@pytest.mark.parametrize(
    ("text", "rows", "size"),
    [
        ("10GB", None, 10e9),
        ("1.5 gb", None, 1.5e9),
        ("512 MiB", None, 512 * 2**20),
        ("5M rows", 5e6, None),
        ("5000000 rows", 5e6, None),
        ("1 row", 1, None),
        ("10GB, 5M rows", 5e6, 10e9),
        ("2 billion rows and 1TB", 2e9, 1e12),
    ],
)
def test_an_amount_is_read(text: str, rows: float | None, size: float | None) -> None:
    assert parse_scan(text) == ScanLimit(rows, size)


@pytest.mark.parametrize(
    "text", ["", "10", "much", "0 rows", "10 GB, 5 GB", "-1 rows", "5 parsecs"]
)
def test_what_is_no_amount_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="can't be"):
        parse_scan(text)


def test_flag_environment_and_file(tmp_path: Path) -> None:
    file = tmp_path / "sqlwright.toml"
    file.write_text('max_scan = "5M rows"\n')
    assert load_settings(folder=tmp_path).limits.scan == ScanLimit(5e6)
    environ = {"SQLWRIGHT_MAX_SCAN": "10GB"}
    assert load_settings(environ=environ, folder=tmp_path).limits.scan == ScanLimit(None, 10e9)
    with pytest.raises(ConfigError, match="--max-scan: "):
        load_settings({"max_scan": "much"}, folder=tmp_path)
    file.write_text('max_scan = "much"\n')
    with pytest.raises(ConfigError, match=r"sqlwright\.toml: "):
        load_settings(folder=tmp_path)


@pytest.mark.parametrize(
    ("limit", "cost", "excess"),
    [
        (ScanLimit(100), QueryCost(scanned_rows=100), ""),
        (ScanLimit(100), QueryCost(scanned_rows=2e6), "about 2.0 million rows, and 100 rows at"),
        (ScanLimit(None, 1e9), QueryCost(scanned_bytes=2.5e9), "about 2.5 GB, and 1.0 GB at most"),
        (ScanLimit(100), QueryCost(), "doesn't tell how much a query reads"),
        (ScanLimit(None, 1e6), QueryCost(scanned_rows=1), "doesn't tell how much a query reads"),
    ],
)
def test_a_cost_is_within_a_limit_or_not(limit: ScanLimit, cost: QueryCost, excess: str) -> None:
    found = limit.excess(cost)
    assert excess in found
    assert bool(excess) == bool(found)


def test_amounts_in_words() -> None:
    assert row_count(1) == "1 row"
    assert row_count(1_234) == "1,234 rows"
    assert row_count(3.2e9) == "3.2 billion rows"
    assert row_count(640e6) == "640 million rows"
    assert byte_count(12) == "12 bytes"
    assert byte_count(8_200) == "8.2 kB"
    assert cost_words(QueryCost(scanned_rows=2_060, scanned_bytes=197e3)) == "2,060 rows (197 kB)"
    assert cost_words(QueryCost()) == ""
