"""Questions about dates and amounts that are stored in ways of their own."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import sqlwright
from sqlwright.api import Session
from tests.form.notation import cases

SEED = 3
WRITTEN = {"dmy": "%d/%m/%Y", "mdy": "%m/%d/%Y", "points": "%d.%m.%Y", "compact": "%Y%m%d"}


def days() -> list[datetime]:
    """300 days, each another time of day."""
    chance = random.Random(SEED)
    first = datetime(2022, 1, 1, 9, 5, tzinfo=UTC)
    return [first + timedelta(days=place * 3, hours=chance.randrange(12)) for place in range(300)]


def stored(then: datetime, way: str) -> str | int:
    """A day as a column stores it."""
    if way in {"seconds", "milliseconds"}:
        return int(then.timestamp()) * (1000 if way == "milliseconds" else 1)
    text = then.strftime(WRITTEN[way])
    return int(text) if way == "compact" else text


@pytest.fixture(scope="module", params=[*WRITTEN, "seconds", "milliseconds"])
def asked(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Session, sqlite3.Connection]]:
    """Orders whose days are stored in one way, opened, and the same with ISO dates."""
    way: str = request.param
    folder = tmp_path_factory.mktemp(way)
    path = folder / "orders.sqlite"
    name = "order_time" if "seconds" in way else "order_date"
    kind = "INTEGER" if way in {"compact", "seconds", "milliseconds"} else "TEXT"
    told, made = sqlite3.connect(":memory:"), sqlite3.connect(path)
    told.execute("CREATE TABLE orders (id, d, amount)")
    made.execute(
        f"CREATE TABLE orders (id INTEGER PRIMARY KEY, {name} {kind}, amount TEXT, city TEXT)"
    )
    for number, then in enumerate(days(), 1):
        amount = number * 37.25
        told.execute("INSERT INTO orders VALUES (?, ?, ?)", (number, str(then.date()), amount))
        row = (number, stored(then, way), f"${amount:,.2f}", ("Leeds", "York")[number % 2])
        made.execute("INSERT INTO orders VALUES (?, ?, ?, ?)", row)
    made.commit()
    made.close()
    with sqlwright.open(path, home=folder, record=False) as session:
        yield session, told
    told.close()


@pytest.mark.parametrize("case", cases("local/dressed_asks.yaml"), ids=lambda case: case["asks"])
def test_questions_are_answered_over_every_way(
    case: dict[str, str], asked: tuple[Session, sqlite3.Connection]
) -> None:
    session, told = asked
    answer = session.ask(case["asks"])
    wanted: list[tuple[Any, ...]] = told.execute(case["sql"]).fetchall()
    assert _rounded(answer.rows) == _rounded(wanted), answer.sql
    if "date" in case["asks"]:
        assert any(note.kind == "converted" for note in answer.warnings)


def _rounded(rows: Iterable[Sequence[Any]]) -> list[tuple[Any, ...]]:
    return sorted(
        tuple(round(cell, 6) if isinstance(cell, float) else cell for cell in row) for row in rows
    )
