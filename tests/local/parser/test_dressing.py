"""Queries over dates and amounts that are stored in ways of their own."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import sqlwright
from sqlwright.local.form.read.sql import read_sql
from sqlwright.local.form.write.sql import write_sql
from sqlwright.local.parser.dressing.dress import dress
from sqlwright.local.parser.dressing.undress import undress
from sqlwright.schema import ColumnRef, Schema
from sqlwright.types.stored import Formats, Stored
from tests.form.notation import cases, schema_of

DAYS = ("2022-12-31", "2023-01-01", "2023-05-31", "2023-05-05", "2024-02-29", "2021-06-15", None,
        "2023-05-31", "2023-12-31", "2024-05-13")  # fmt: skip
BACK = ("2023-01-02", "2023-01-01", "2023-06-01", "2023-05-31", "2024-03-01", "2021-06-16",
        "2022-02-02", None, "2024-01-01", "2024-05-14")  # fmt: skip
AMOUNTS = (12.5, 950.0, 1234.5, 1950.25, -7.0, 100.0, None, 12.5, 3000.0, 88.88)
WRITTEN = {
    "dmy": "%d/%m/%Y",
    "mdy": "%m-%d-%Y",
    "compact": "%Y%m%d",
    "digits": "%Y%m%d",
    "logged": "%d.%m.%Y 10:30",
}
MONEY = {
    "grouped": "{:,.2f}",
    "dollars": "${:,.2f}",
    "pounds": "£{:,.2f}",
    "share": "{:.2f}%",
}


def written(day: str | None, way: str) -> str | int | None:
    """A day as a column stores it."""
    if day is None:
        return None
    then = datetime.fromisoformat(day).replace(hour=10, minute=30, tzinfo=UTC)
    if way in {"ts", "run_ms"}:
        return int(then.timestamp()) * (1000 if way == "run_ms" else 1)
    text = then.strftime(WRITTEN[way])
    return int(text) if way == "compact" else text


def priced(amount: float | None, way: str) -> str | None:
    """An amount as a column stores it."""
    if amount is None:
        return None
    if way == "euros":
        return f"{amount:,.2f} €".translate(str.maketrans(",.", ".,"))
    text = MONEY[way].format(abs(amount))
    return f"({text})" if amount < 0 and way == "dollars" else "-" * (amount < 0) + text


@pytest.fixture(scope="module")
def trips(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Schema, Formats]]:
    """Trips whose days and amounts are stored in every way, side by side."""
    path = tmp_path_factory.mktemp("trips") / "trips.sqlite"
    days = (*WRITTEN, "ts", "run_ms")
    amounts = (*MONEY, "euros")
    columns = [*(f"{one} TEXT" for one in ("iso", "back")), "price REAL", "plain REAL"]
    numbers = {"compact", "ts", "run_ms"}
    columns += [f"{one} {'INTEGER' if one in numbers else 'TEXT'}" for one in days]
    columns += [f"{one} TEXT" for one in amounts]
    connection = sqlite3.connect(path)
    connection.execute(f"CREATE TABLE trip (id INTEGER PRIMARY KEY, {', '.join(columns)})")
    for number, (day, back, amount) in enumerate(zip(DAYS, BACK, AMOUNTS, strict=True), 1):
        row: list[Any] = [number, day, back, number * 7.0, amount]
        row += [written(day, way) for way in days]
        row += [priced(amount, way) for way in amounts]
        connection.execute(f"INSERT INTO trip VALUES ({', '.join('?' * len(row))})", row)
    connection.commit()
    connection.close()
    with sqlwright.open(path, home=path.parent, record=False) as session:
        catalog = session.workspace.catalog
        assert catalog is not None
        yield path, session.workspace.schema, catalog.stored


def rows(path: Path, sql: str) -> list[tuple[Any, ...]]:
    """Rows in any order; a number and a text of it are the same."""
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as connection:
        found = connection.execute(sql).fetchall()
    return sorted((tuple(map(_plain, row)) for row in found), key=repr)


def _plain(cell: Any) -> Any:
    number = str(cell).isdigit() or isinstance(cell, float)
    return round(float(cell), 6) if number else cell


def test_the_ways_are_recognised(trips: tuple[Path, Schema, Formats]) -> None:
    _, _, formats = trips
    ways = {ref.column: (one.way, one.timed) for ref, one in formats.items()}
    assert ways == {
        "dmy": ("dmy", False), "mdy": ("mdy", False), "compact": ("compact", False),
        "digits": ("compact", False), "logged": ("dmy", True), "ts": ("seconds", True),
        "run_ms": ("milliseconds", True), "grouped": ("amount", False),
        "dollars": ("amount", False), "pounds": ("amount", False), "share": ("amount", False),
        "euros": ("amount_comma", False),
    }  # fmt: skip


TIMED = ("logged", "ts", "run_ms")
QUERIES = [
    *((query, way) for query in cases("local/dressed.yaml") for way in (*WRITTEN, "ts", "run_ms")),
    *(
        (query, way)
        for query in cases("local/dressed_days.yaml")
        for way in set(WRITTEN) - {*TIMED}
    ),
]


@pytest.mark.parametrize(("query", "way"), sorted(QUERIES))
def test_dates_are_read_in_every_way(
    query: str, way: str, trips: tuple[Path, Schema, Formats]
) -> None:
    path, schema, formats = trips
    asked = re.sub(r"\bD\b", way, query)
    dressed = dress(read_sql(asked, schema), formats)
    meant = rows(path, re.sub(r"\bD\b", "iso", query))
    assert rows(path, write_sql(dressed, schema)) == meant


@pytest.mark.parametrize("way", [*MONEY, "euros"])
@pytest.mark.parametrize("query", cases("local/dressed_amounts.yaml"))
def test_amounts_are_numbers_in_every_way(
    query: str, way: str, trips: tuple[Path, Schema, Formats]
) -> None:
    path, schema, formats = trips
    dressed = dress(read_sql(re.sub(r"\bA\b", way, query), schema), formats)
    meant = rows(path, re.sub(r"\bA\b", "plain", query))
    assert rows(path, write_sql(dressed, schema)) == meant


@pytest.mark.parametrize("way", ["dmy", "compact", "digits", "logged", "ts", "euros"])
def test_what_is_just_shown_stays(way: str, trips: tuple[Path, Schema, Formats]) -> None:
    _, schema, formats = trips
    form = read_sql(f"SELECT {way}, COUNT(*) FROM trip GROUP BY {way}", schema)
    assert dress(form, formats) == form


@pytest.mark.parametrize(
    ("plain", "dressed"),
    [
        ("STRFTIME('%Y', compact) = '2023'", "compact BETWEEN 20230101 AND 20231231"),
        ("STRFTIME('%Y', compact) >= '2023'", "compact >= 20230101"),
        ("STRFTIME('%Y', digits) > '2023'", "digits > '20231231'"),
        ("STRFTIME('%Y-%m', compact) = '2023-02'", "compact BETWEEN 20230201 AND 20230228"),
        ("STRFTIME('%m', compact) = '05'", "compact / 100 % 100 = 5"),
        ("compact = '2023-05-31'", "compact = 20230531"),
        ("dmy = '2023-05-31'", "dmy = '31/05/2023'"),
        ("STRFTIME('%Y', dmy) = '2023'", "SUBSTR(dmy, 7, 4) = '2023'"),
        ("dmy = '31/05/2023'", "dmy = '31/05/2023'"),
        ("compact > 0", "compact > 0"),
        ("euros = '-7,00 €'", "euros = '-7,00 €'"),
        ("dmy = mdy", "SUBSTR(dmy, 7, 4) || '-' || SUBSTR(dmy, 4, 2) || '-' || SUBSTR(dmy, 1, 2) "
         "= SUBSTR(mdy, 7, 4) || '-' || SUBSTR(mdy, 1, 2) || '-' || SUBSTR(mdy, 4, 2)"),
    ],
)  # fmt: skip
def test_conditions_read_like_written_by_hand(
    plain: str, dressed: str, trips: tuple[Path, Schema, Formats]
) -> None:
    _, schema, formats = trips
    form = read_sql(f"SELECT id FROM trip WHERE {plain}", schema)
    sql = write_sql(dress(form, formats), schema)
    assert sql == f"SELECT id FROM trip WHERE {dressed}"


NAMED = schema_of(
    ["trip(dmy, mdy, compact INTEGER, digits, month, euros, dollars, price INTEGER, name)"]
)
WAYS: Formats = {
    ColumnRef("trip", "dmy"): Stored("dmy", mark="/"),
    ColumnRef("trip", "mdy"): Stored("mdy", mark="/"),
    ColumnRef("trip", "compact"): Stored("compact", number=True),
    ColumnRef("trip", "digits"): Stored("compact"),
    ColumnRef("trip", "month"): Stored("year_month"),
    ColumnRef("trip", "euros"): Stored("amount_comma"),
    ColumnRef("trip", "dollars"): Stored("amount"),
}


@pytest.mark.parametrize("case", cases("local/undressed.yaml"), ids=lambda case: case["wrote"])
def test_a_written_query_is_said_plainly(case: dict[str, str]) -> None:
    form = read_sql(f"SELECT name FROM trip WHERE {case['wrote']}", NAMED)
    says = case.get("says", case["wrote"])
    says = re.sub(r"YEAR\((\w+)\)", r"STRFTIME('%Y', \1)", says)
    says = re.sub(r"MONTH\((\w+)\)", r"STRFTIME('%Y-%m', \1)", says)
    plain = undress(form, WAYS)
    assert write_sql(plain, NAMED) == f"SELECT name FROM trip WHERE {says}"
    assert undress(dress(plain, WAYS), WAYS) == plain


@pytest.mark.parametrize(
    ("wrote", "says"),
    [
        ("compact / 10000", "STRFTIME('%Y', compact)"),
        ("compact / 100 % 100", "STRFTIME('%m', compact)"),
        ("(compact / 100 % 100 + 2) / 3", "(CAST(STRFTIME('%m', compact) AS INTEGER) + 2) / 3"),
        ("SUBSTR(dmy, 7, 4) || '-' || SUBSTR(dmy, 4, 2)", "STRFTIME('%Y-%m', dmy)"),
        ("SUBSTR(dmy, 7, 4) || '-' || SUBSTR(dmy, 4, 2) || '-' || SUBSTR(dmy, 1, 2)", "DATE(dmy)"),
        ("MAX(SUBSTR(dmy, 7, 4) || '-' || SUBSTR(dmy, 4, 2) || '-' || SUBSTR(dmy, 1, 2))",
         "MAX(dmy)"),
        ("SUM(CAST(REPLACE(REPLACE(REPLACE(euros, '.', ''), ',', '.'), ' €', '') AS REAL))",
         "SUM(euros)"),
        ("AVG(CAST(REPLACE(dollars, ',', '') AS REAL) * price)", "AVG(dollars * price)"),
        ("SUBSTR(name, 7, 4) || '-' || SUBSTR(name, 4, 2)",
         "SUBSTR(name, 7, 4) || '-' || SUBSTR(name, 4, 2)"),
    ],
)  # fmt: skip
def test_what_is_shown_is_said_plainly(wrote: str, says: str) -> None:
    plain = undress(read_sql(f"SELECT {wrote} FROM trip", NAMED), WAYS)
    assert write_sql(plain, NAMED) == f"SELECT {says} FROM trip"
    assert undress(dress(plain, WAYS), WAYS) == plain


def test_nothing_is_dressed_without_formats() -> None:
    form = read_sql("SELECT name FROM trip WHERE STRFTIME('%Y', dmy) = '2023'", NAMED)
    assert dress(form, {}) == form
    assert undress(form, {}) == form
