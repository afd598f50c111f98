"""What is written runs, and says exactly what the form says."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sqlwright.errors import UnsupportedQuery
from sqlwright.local.form import nodes as f
from sqlwright.local.form.read.sql import read_sql
from sqlwright.local.form.sequence.grammar import delinearize, linearize
from sqlwright.local.form.write.expressions import quote_literal
from sqlwright.local.form.write.sql import write_sql
from sqlwright.schema import ColumnRef
from sqlwright.sql.tokens import quote_name
from tests.form.walks import APART, ONE, make_database

texts = st.text(st.characters(codec="utf-8"))
# SQLite itself reads decimals near the ends of a double's range back one digit off.
magnitudes = st.floats(1e-200, 1e200)
numbers = (
    st.integers(-(2**63), 2**63 - 1) | magnitudes | magnitudes.map(lambda x: -x) | st.just(0.0)
)


@pytest.fixture(scope="module")
def memory() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:")) as connection:
        yield connection


@given(value=texts | numbers)
def test_constants_are_exact(memory: sqlite3.Connection, value: str | float) -> None:
    (found,) = memory.execute(f"SELECT {quote_literal(value)}").fetchone()
    assert type(found) is type(value)
    assert found == value


@given(name=texts.filter(lambda name: name and "\0" not in name))
def test_names_are_exact(memory: sqlite3.Connection, name: str) -> None:
    memory.execute("DROP TABLE IF EXISTS t")
    memory.execute(f"CREATE TABLE t ({quote_name(name)} TEXT)")
    assert memory.execute("SELECT name FROM pragma_table_info('t')").fetchone() == (name,)


def test_half_a_surrogate_pair_is_refused() -> None:
    with pytest.raises(UnsupportedQuery, match="Unicode"):
        quote_literal("\ud800")


@given(texts.filter(lambda text: "\0" not in text), texts.filter(lambda text: "\0" not in text))
def test_plain_phrases_have_no_wildcards(phrase: str, stored: str) -> None:
    column = f.Column(ColumnRef("people", "name"))
    with closing(make_database(ONE)) as connection:
        check_phrases(connection, column, phrase, stored)


def check_phrases(
    connection: sqlite3.Connection, column: f.Column, phrase: str, stored: str
) -> None:
    for name in (stored, phrase, f"a{phrase}b"):
        connection.execute("INSERT INTO people (name) VALUES (?)", (name,))
    for kind, holds in (
        ("contains", lambda name: fold(phrase) in fold(name)),
        ("starts", lambda name: fold(name).startswith(fold(phrase))),
        ("ends", lambda name: fold(name).endswith(fold(phrase))),
    ):
        form = f.Select((column,), where=f.Like(kind, column, f.Literal(phrase)))
        assert delinearize(linearize(form)) == form or phrase == ""
        found = {name for (name,) in connection.execute(write_sql(form, ONE))}
        assert found == {name for name in (stored, phrase, f"a{phrase}b") if holds(name)}


def fold(text: str) -> str:
    """Case as SQLite's LIKE folds it: ASCII only."""
    return "".join(letter.lower() if letter.isascii() else letter for letter in text)


def test_tables_without_a_key_are_not_joined_silently() -> None:
    form = f.Select((f.Column(ColumnRef("a", "y")), f.Column(ColumnRef("b", "z"))))
    with pytest.raises(UnsupportedQuery, match="no key joins"):
        write_sql(form, APART)
    crossed = read_sql("SELECT a.y, b.z FROM a, b", APART)
    assert write_sql(crossed, APART) == "SELECT a.y, b.z FROM a CROSS JOIN b"
