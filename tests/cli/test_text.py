import sqlite3

import pytest

from sqlwright.boundary.text import readable
from sqlwright.cli.terminal.text import clean, clean_block, portable_sql
from tests.cli.hostile import acting, texts

TEXTS = texts()


@pytest.mark.parametrize("name", TEXTS)
def test_nothing_that_acts_gets_through(name: str) -> None:
    assert not acting(clean(TEXTS[name]))
    assert acting(clean_block(TEXTS[name])) <= {"\n"}


@pytest.mark.parametrize("name", TEXTS)
def test_cleaning_twice_changes_nothing_more(name: str) -> None:
    once = clean(TEXTS[name], 10_000_000)
    assert clean(once, 100_000_000) == once


@pytest.mark.parametrize(
    "text", ["plain", "Müller", "שלום", "漢字", "👩‍👩‍👧‍👦", "a\\x1b", "[red]", "é"]
)
def test_harmless_text_stays_as_it_is(text: str) -> None:
    assert clean(text) == text


def test_escapes_are_visible_and_exact() -> None:
    assert clean("a\x1b[31m\n\t\r\u202e\U000e0041\ud83d") == (
        "a\\x1b[31m\\n\\t\\r\\u202e\\U000e0041\\ud83d"
    )


def test_a_long_text_says_how_much_is_missing() -> None:
    assert clean("A" * 1_000_000, 10) == "AAAAAAAAAA... (+999,990 characters)"


def test_a_block_keeps_its_lines() -> None:
    assert clean_block("one\r\n\ttwo\x07\nthree") == "one\n    two\\x07\nthree"


def test_readable_drops_what_was_no_utf8() -> None:
    assert readable(b"caf\xe9".decode("utf-8", "surrogateescape")) == "caf\ufffd"


@pytest.mark.parametrize("name", [name for name in TEXTS if "megabyte" not in name])
def test_portable_sql_means_the_same_and_is_harmless(name: str) -> None:
    stored = TEXTS[name].encode("utf-8", "replace").decode("utf-8").replace("\0", "")
    sql = "SELECT 'a' || '" + stored.replace("'", "''") + "' || 'z'"
    safe = portable_sql(sql)
    assert acting(safe) <= {"\n"}
    with sqlite3.connect(":memory:") as connection:
        assert connection.execute(safe).fetchone()[0] == f"a{stored}z"


def test_portable_sql_leaves_ordinary_queries_alone() -> None:
    sql = "SELECT \"odd name\"\nFROM t\nWHERE a = 'it''s' -- fine"
    assert portable_sql(sql) == sql
