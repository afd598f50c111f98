"""Databases that change: between `prepare` and a question, and between two questions."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

import sqlwright
from sqlwright.errors import DatabaseUnavailable
from sqlwright.prepare import open_workspace, prepare
from sqlwright.running.trace import list_traces

PETS = """
    CREATE TABLE owners (id INTEGER PRIMARY KEY, name TEXT, city TEXT);
    CREATE TABLE pets (id INTEGER PRIMARY KEY, owner_id INTEGER REFERENCES owners, name TEXT,
        species TEXT, age INTEGER);
    INSERT INTO owners VALUES (1, 'Ann', 'Rome'), (2, 'Bob', 'Oslo');
    INSERT INTO pets VALUES (1, 1, 'Rex', 'dog', 3), (2, 2, 'Tom', 'cat', 5),
        (3, 2, 'Kit', 'cat', 1);
"""
Make = Callable[[str], Path]


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """A database of pets, outside of any prepared folder."""
    path = tmp_path / "pets.db"
    change(path, PETS)
    return path


def change(path: Path, script: str) -> None:
    """Run some statements in another program's connection."""
    connection = sqlite3.connect(path)
    connection.executescript(script)
    connection.commit()
    connection.close()


def test_what_is_gone_since_prepare_is_told(made: Path, tmp_path: Path) -> None:
    folder = tmp_path / "prepared"
    prepare(str(made), folder=folder)
    change(
        made,
        "ALTER TABLE pets DROP COLUMN age; ALTER TABLE owners ADD COLUMN phone TEXT;"
        " CREATE TABLE visits (day TEXT)",
    )
    workspace = open_workspace(str(made), folder=folder)
    try:
        assert workspace.notes[0].startswith(
            "The database has changed since it was prepared, visits, owners.phone are new, "
            "pets.age is gone."
        )
    finally:
        workspace.database.close()


def test_a_table_that_is_gone_is_told_without_its_columns(made: Path, tmp_path: Path) -> None:
    folder = tmp_path / "prepared"
    prepare(str(made), folder=folder)
    change(made, "DROP TABLE pets; ALTER TABLE owners DROP COLUMN city")
    workspace = open_workspace(str(made), folder=folder)
    try:
        assert "prepared, pets, owners.city are gone. " in workspace.notes[0]
        assert [match for match in workspace.values.search("cat") if match.value == "cat"] == []
    finally:
        workspace.database.close()


def test_a_column_renamed_between_two_questions(made: Path, tmp_path: Path) -> None:
    with sqlwright.open(str(made), home=tmp_path) as session:
        assert session.ask("How many pets have the species cat?").rows == ((2,),)
        change(made, "ALTER TABLE pets RENAME COLUMN species TO kind")
        answer = session.ask("How many pets have the kind cat?")
        assert answer.status == "answered"
        assert answer.rows == ((2,),)
        assert "kind" in (answer.sql or "")


def test_a_table_dropped_between_two_questions(made: Path, tmp_path: Path) -> None:
    with sqlwright.open(str(made), home=tmp_path) as session:
        assert session.ask("How many owners are there?").rows == ((2,),)
        change(made, "CREATE TABLE animals AS SELECT * FROM pets; DROP TABLE pets")
        answer = session.ask("How many cats are there?")
        assert answer.status == "answered", answer.message
        assert "animals" in (answer.sql or "")
        assert answer.rows == ((2,),)
        # What was tried on the old schema is on record, too.
        assert len(list_traces(tmp_path / "traces")) == 3


def test_a_wrong_name_in_a_query_opens_nothing_afresh(made: Path, tmp_path: Path) -> None:
    with sqlwright.open(str(made), home=tmp_path) as session:
        before = session.workspace
        assert session.sql("SELECT colour FROM pets").status == "failed"
        assert session.workspace is before


def test_a_database_that_is_gone_is_an_error(made: Path) -> None:
    with sqlwright.open(str(made)) as session:
        session.ask("How many owners are there?")
        made.unlink()
        with pytest.raises(DatabaseUnavailable):
            sqlwright.open(str(made)).ask("How many owners are there?")
