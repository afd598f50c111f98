"""Queries that say nothing are told from queries that only look odd."""

from __future__ import annotations

import pytest

from sqlwright.local.form.read.sql import read_sql
from sqlwright.local.parser.plausible import is_senseless, mixes_types, works_out_nonsense
from tests.local.singers import SINGERS


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT Name, Name FROM singer",
        "SELECT 'never' FROM singer EXCEPT SELECT Name FROM singer",
        "SELECT strftime('%Y', Name), count(*) FROM singer GROUP BY strftime('%Y', Country)",
        "SELECT Name FROM singer WHERE Country = 'x' OR Country = 'x'",
        "SELECT Name FROM singer WHERE Age BETWEEN 5 AND 5",
        "SELECT Name FROM singer WHERE Age > Age",
        "SELECT Name FROM singer WHERE Age > 5 OR Age < 5",
        "SELECT Name FROM singer WHERE Country IN ('x', 'x')",
        "SELECT Name FROM singer EXCEPT SELECT Name FROM singer",
        "SELECT Name FROM singer ORDER BY Age, Age DESC",
        "SELECT Name FROM singer WHERE Age > (SELECT avg(Age) FROM singer WHERE Age = Age)",
        "SELECT Name FROM singer WHERE Singer_ID IN (SELECT singerId FROM concert WHERE Year = '1' AND Year = '1')",  # noqa: E501
    ],
)
def test_senseless(sql: str) -> None:
    assert is_senseless(read_sql(sql, SINGERS))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT Name, count(Name) FROM singer GROUP BY Name",
        "SELECT strftime('%Y', Name), count(*) FROM singer GROUP BY strftime('%Y', Name)",
        "SELECT strftime('%Y', Name) FROM singer",
        "SELECT Name FROM singer WHERE Country = 'x' OR Country = 'y'",
        "SELECT Name FROM singer WHERE Age > 5 AND Age < 7",
        "SELECT Name FROM singer EXCEPT SELECT concert_Name FROM concert",
        "SELECT max(Age), min(Age) FROM singer",
        "SELECT Name FROM singer WHERE Age > (SELECT avg(Age) FROM singer)",
    ],
)
def test_sensible(sql: str) -> None:
    assert not is_senseless(read_sql(sql, SINGERS))


@pytest.mark.parametrize(
    ("sql", "mixed"),
    [
        ("SELECT Name FROM singer EXCEPT SELECT singerId FROM concert", True),
        ("SELECT Name FROM singer WHERE Name IN (SELECT singerId FROM concert)", True),
        ("SELECT Name FROM singer UNION SELECT singerId FROM concert", False),
        ("SELECT Singer_ID FROM singer EXCEPT SELECT singerId FROM concert", False),
        ("SELECT Name FROM singer WHERE Singer_ID IN (SELECT concert_ID FROM concert)", True),
        ("SELECT Name FROM singer WHERE Age IN (SELECT concert_ID FROM concert)", False),
        ("SELECT Name FROM singer WHERE Singer_ID NOT IN (SELECT singerId FROM concert)", False),
    ],
)
def test_texts_are_not_looked_for_among_numbers(sql: str, mixed: bool) -> None:
    assert mixes_types(read_sql(sql, SINGERS), SINGERS) is mixed


@pytest.mark.parametrize(
    ("sql", "nonsense"),
    [
        ("SELECT strftime('%Y', Name) FROM singer", True),
        ("SELECT strftime('%Y', Year) FROM concert", False),
        ("SELECT sum(2 * 3) FROM singer", True),
        ("SELECT sum(2022 * Age) FROM singer", True),
        ("SELECT 2022 - Age FROM singer", False),
        ("SELECT sum(Age * 1.5) FROM singer", False),
        ("SELECT sum(Country * Age) FROM singer", True),
        ("SELECT sum(Age * 'Total') FROM singer", True),
        ("SELECT Name || ', ' || Country FROM singer", False),
        ("SELECT Name FROM singer JOIN concert ON Singer_ID = concert_ID", True),
        ("SELECT Name FROM singer JOIN concert ON Singer_ID = singerId", False),
        ("SELECT Name FROM singer WHERE Age = (SELECT max(Age) FROM singer)", False),
    ],
)
def test_nonsense_is_not_worked_out(sql: str, nonsense: bool) -> None:
    assert works_out_nonsense(read_sql(sql, SINGERS), SINGERS) is nonsense
