"""Questions that name days, on every engine and over every way of storing times.

Each third question is asked, of one database in turn; `python -m benchmarks.days` asks all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from sqlwright.api import Session
from tests.form.notation import cases

from .built import TABLES, WAYS, alike, asked, csv_file, opened, script, sqlite_file, wanted

ENGINES = ("duckdb", "csv", "postgres", "mariadb")
KINDS = (*WAYS, *ENGINES)
ASKS = cases("days/asks.yaml")[::3]
Opening = Callable[[str, str], Session]


@pytest.fixture(scope="module")
def session_of(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Opening]:
    """Gives the session over a table, by its name, in a way or on an engine."""
    folder = tmp_path_factory.mktemp("days")
    kept: dict[tuple[str, str], Session] = {}
    with ExitStack() as stack:

        def session(name: str, kind: str) -> Session:
            if (name, kind) not in kept:
                url = made(name, kind, folder, request)
                kept[name, kind] = stack.enter_context(opened(url, folder / "home"))
            return kept[name, kind]

        yield session


def made(name: str, kind: str, folder: Path, request: pytest.FixtureRequest) -> str | Path:
    """A database with a table."""
    if kind in WAYS:
        return sqlite_file(name, kind, folder / f"{name}_{kind}.sqlite")
    if kind == "csv":
        (folder / name).mkdir()
        return csv_file(name, folder / name / f"{TABLES[name]['table']}.csv")
    if kind == "duckdb":
        duckdb = pytest.importorskip("duckdb", reason="duckdb isn't installed")
        path = folder / f"{name}.duckdb"
        with duckdb.connect(path) as connection:
            connection.execute(script(name))
        return path
    server: Any = request.getfixturevalue(f"{kind}_server")
    database = server.create(script(name, "TIMESTAMP" if kind == "postgres" else "DATETIME"))
    url: str = server.url(database) if kind == "postgres" else server.reader(database)
    return url


@pytest.mark.parametrize(
    ("place", "case"), list(enumerate(ASKS)), ids=[case["ask"] for case in ASKS]
)
def test_whole_days_are_meant(place: int, case: dict[str, Any], session_of: Opening) -> None:
    answer = asked(session_of(case["of"], KINDS[place % len(KINDS)]), case["ask"])
    ordered = case.get("ordered", False)
    told = [str(note) for note in answer.warnings] + [answer.doubt]
    rows = alike(wanted(case["of"], case["sql"]), ordered=ordered)
    assert alike(answer.rows, ordered=ordered) == rows or (
        "unsure" in case and (answer.confidence or 0.0) < 0.5
    ), answer.sql
    assert any(case.get("told", "") in text for text in told), told
