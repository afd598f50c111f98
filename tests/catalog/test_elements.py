"""Columns of arrays by their elements, on DuckDB and PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import sqlwright
from sqlwright.catalog.scan import is_array_of_texts
from sqlwright.prepare import prepare
from sqlwright.schema import Column, ColumnRef
from tests.servers.postgres import PostgresServer

SCRIPT = """
CREATE TABLE guests (id INTEGER PRIMARY KEY, name TEXT, tags TEXT[], marks INTEGER[]);
INSERT INTO guests VALUES
    (1, 'Ann', ARRAY['family', 'pets, small'], ARRAY[1, 2]),
    (2, 'Bo', ARRAY['family'], NULL),
    (3, 'Cy', NULL, ARRAY[3]),
    (4, 'Di', ARRAY['business', NULL], ARRAY[1]);
"""
TAGS, MARKS = ColumnRef("guests", "tags"), ColumnRef("guests", "marks")


@pytest.fixture(params=["duckdb", "postgres"])
def guests(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "duckdb":
        duckdb = pytest.importorskip("duckdb", reason="duckdb isn't installed")
        with duckdb.connect(str(tmp_path / "guests.duckdb")) as connection:
            connection.execute(SCRIPT)
        return str(tmp_path / "guests.duckdb")
    server: PostgresServer = request.getfixturevalue("postgres_server")
    made: Callable[[str], str] = request.getfixturevalue("postgres_database")
    return server.url(made(SCRIPT))


def test_elements_are_what_is_prepared(guests: str, tmp_path: Path) -> None:
    made = prepare(guests, folder=tmp_path / "prepared")
    profile = made.catalog.columns[TAGS]
    assert sorted(profile.frequent) == [("business", 1), ("family", 2), ("pets, small", 1)]
    assert (profile.distinct, profile.nulls, profile.indexing) == (3, 1, "whole")
    assert made.catalog.listed[TAGS] == ("family", "business", "pets, small")
    assert made.catalog.columns[MARKS].indexing == "free_text"


def test_elements_are_found_without_preparing(guests: str, tmp_path: Path) -> None:
    with sqlwright.open(guests, home=tmp_path / "home", record=False) as session:
        answer = session.ask("Which guests have the tag family?")
    assert sorted(answer.rows or ()) == [("Ann",), ("Bo",)]


@pytest.mark.parametrize(
    ("declared", "is_one"),
    [
        ("text[]", True), ("character varying(20)[]", True), ("VARCHAR[3]", True),
        ("integer[]", False), ("text", False), ("text[][]", False), ("STRUCT(a VARCHAR[])", False),
    ],
)  # fmt: skip
def test_arrays_of_texts(declared: str, is_one: bool) -> None:
    assert is_array_of_texts(Column("x", declared)) == is_one
